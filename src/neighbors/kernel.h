/* kernel.h - the part of the brute-force search that depends on the real type. Included once with
 * REAL double and once with REAL float; internal.h has the mathematics. KERNEL(name) names the
 * functions, MASK is the integer as wide as REAL, GEMM the product. */

typedef struct KERNEL(view) {
    const REAL *low_r, *wide_r, *low_q, *wide_q;
    REAL *limit, *value, *tile, *high;
    bdml_knn_pair *pair;
} KERNEL(view);

static KERNEL(view) KERNEL(look)(const bdml_knn_brute *b, int thread)
{
    size_t block = (size_t)b->block, capacity = (size_t)b->capacity, at = (size_t)thread;
    return (KERNEL(view)){.low_r = b->low_r,
                          .wide_r = b->wide_r,
                          .low_q = b->low_q,
                          .wide_q = b->wide_q,
                          .limit = b->limit,
                          .value = b->value,
                          .tile = (REAL *)b->tile + at * block * block,
                          .high = (REAL *)b->high + at * capacity,
                          .pair = b->pair + at * capacity};
}

enum { STRIDE = 32 }; /* products compared at once: a multiple of any vector register */

/* ---- rows ------------------------------------------------------------------------------------- */

static void KERNEL(measure)(const bdml_knn_frame *f, void *low, void *wide, int64_t i, double norm2)
{
    ((REAL *)low)[i] = (REAL)(norm2 * (1.0 - 2.0 * f->e) - f->tiny);
    ((REAL *)wide)[i] = (REAL)(norm2 * (4.0 * f->e) + 2.0 * f->tiny);
}

static void KERNEL(pack)(const bdml_knn_frame *f, int d, const bdml_knn_rows *rows, int64_t first,
                         int64_t count, void *pack, int64_t at)
{
    for (int64_t i = 0; i < count; i++) {
        const double *x = bdml_knn_point(rows, first + i);
        REAL *y = COL((REAL *)pack, d, at + i);
        for (int j = 0; j < d; j++) y[j] = (REAL)((x[j] - f->center[j]) * f->scale);
    }
}

static void KERNEL(product)(const bdml_knn_brute *b, const void *pack_q, int64_t q, int nq,
                            const void *pack_r, int64_t r, int nr, int thread)
{
    int d = b->t->d;
    GEMM('T', 'N', nr, nq, d, (REAL)-2, COL((const REAL *)pack_r, d, r), d,
         COL((const REAL *)pack_q, d, q), d, (REAL)0, KERNEL(look)(b, thread).tile, nr);
}

static void KERNEL(reset)(bdml_knn_brute *b)
{
    REAL *limit = b->limit;
    for (int64_t i = 0; i < b->held; i++) {
        b->count[i] = 0;
        limit[i] = (REAL)INFINITY;
    }
}

/* ---- candidates of one query --------------------------------------------------------------------- */

/* k-th smallest of a[0..n), which is reordered. */
static REAL KERNEL(nth)(REAL *a, int n, int k)
{
    int lo = 0, hi = n - 1, target = k - 1;
    while (lo < hi) {
        REAL pivot = a[lo + (hi - lo) / 2];
        int i = lo, j = hi;
        while (i <= j) {
            while (a[i] < pivot) i++;
            while (pivot < a[j]) j--;
            if (i <= j) {
                REAL t = a[i];
                a[i++] = a[j];
                a[j--] = t;
            }
        }
        if (target > j && target < i) break;
        if (target <= j)
            hi = j;
        else
            lo = i;
    }
    return a[target];
}

/* Lower the limit to the k-th smallest upper bound and drop what lies above. */
static void KERNEL(prune)(bdml_knn_brute *b, const KERNEL(view) * w, int64_t q)
{
    size_t at = (size_t)(q - b->first), base = at * (size_t)b->capacity;
    REAL *value = w->value + base;
    int32_t *slot = b->slot + base;
    int count = b->count[at], kept = 0;

    if (count < b->t->k) return;
    for (int c = 0; c < count; c++) w->high[c] = value[c] + w->wide_q[q] + w->wide_r[slot[c]];
    REAL limit = KERNEL(nth)(w->high, count, b->t->k);
    if (limit < w->limit[at]) w->limit[at] = limit;
    limit = w->limit[at];
    for (int c = 0; c < count; c++) { /* no branches: which stay is anyone's guess */
        REAL v = value[c];
        value[kept] = v;
        slot[kept] = slot[c];
        kept += !(v > limit);
    }
    b->count[at] = kept;
}

/* Exact distances of all candidates of q into pair[]. */
static void KERNEL(measure_exactly)(bdml_knn_brute *b, const KERNEL(view) * w, int64_t q)
{
    const bdml_knn_rows *rows = &b->t->reference;
    size_t at = (size_t)(q - b->first);
    const int32_t *slot = b->slot + at * (size_t)b->capacity;
    const double *a = bdml_knn_point(&b->t->query, q), *four[4];
    int count = b->count[at], c = 0, d = b->t->d;
    double distance[4];

    for (; c + 4 <= count; c += 4) {
        for (int m = 0; m < 4; m++) four[m] = bdml_knn_point(rows, slot[c + m]);
        bdml_knn_distance4(d, a, four, distance);
        for (int m = 0; m < 4; m++)
            w->pair[c + m] = (bdml_knn_pair){distance[m], bdml_knn_row(rows, slot[c + m]), c + m};
    }
    for (; c < count; c++)
        w->pair[c] = (bdml_knn_pair){bdml_knn_distance(d, a, bdml_knn_point(rows, slot[c])),
                                     bdml_knn_row(rows, slot[c]), c};
}

/* The k-th nearest of q is no farther than `distance`: the limit that follows, rounded up. */
static void KERNEL(lower)(bdml_knn_brute *b, const KERNEL(view) * w, int64_t q, double distance)
{
    size_t at = (size_t)(q - b->first);
    double scale = b->frame->scale;
    double worst = distance * scale * scale, low = (double)w->low_q[q];
    double limit = worst - low + 8.0 * ROUNDOFF * (worst + fabs(low)) + 2.0 * b->frame->tiny;
    if (limit < (double)w->limit[at]) w->limit[at] = (REAL)limit;
}

static void KERNEL(start_from)(bdml_knn_brute *b, int64_t q)
{
    KERNEL(view) w = KERNEL(look)(b, 0);
    const bdml_knn_rows *rows = &b->t->reference;
    if (b->t->within) {
        double far = b->t->within[bdml_knn_row(&b->t->query, q)];
        if (isfinite(far)) KERNEL(lower)(b, &w, q, far);
        return;
    }
    const int32_t *guess = b->t->guess + (size_t)bdml_knn_row(&b->t->query, q) * (size_t)b->t->k;
    const double *a = bdml_knn_point(&b->t->query, q);
    double worst = 0.0;
    for (int c = 0; c < b->t->k; c++) {
        if (guess[c] < 0) return;
        const double *x = rows->x + (size_t)guess[c] * (size_t)rows->ld;
        worst = BDML_MAX(worst, bdml_knn_distance(b->t->d, a, x));
    }
    KERNEL(lower)(b, &w, q, worst);
}

/* Keep the k nearest candidates by exact distance: what is left when bounds cannot tell them apart,
 * as with ties. The new limit is the k-th distance, rounded up. */
static void KERNEL(refine)(bdml_knn_brute *b, const KERNEL(view) * w, int64_t q)
{
    size_t at = (size_t)(q - b->first), base = at * (size_t)b->capacity;
    REAL *value = w->value + base;
    int32_t *slot = b->slot + base;
    int k = b->t->k, count = b->count[at];

    KERNEL(measure_exactly)(b, w, q);
    bdml_knn_select(w->pair, count, k);
    KERNEL(lower)(b, w, q, w->pair[k - 1].distance);
    /* Ascending slots, so that moving down never overwrites what is still needed. */
    for (int c = 0; c < count; c++) w->high[c] = 0;
    for (int c = 0; c < k; c++) w->high[w->pair[c].slot] = 1;
    for (int c = 0, kept = 0; c < count; c++) {
        if (w->high[c] == 0) continue;
        value[kept] = value[c];
        slot[kept++] = slot[c];
    }
    b->count[at] = k;
}

static void KERNEL(push)(bdml_knn_brute *b, const KERNEL(view) * w, int64_t q, int64_t r, REAL v)
{
    size_t at = (size_t)(q - b->first), base = at * (size_t)b->capacity;
    if (b->t->self && q == r) return;
    if (b->count[at] == b->capacity) {
        KERNEL(prune)(b, w, q);
        if (b->count[at] > (b->t->k + b->capacity) / 2) KERNEL(refine)(b, w, q);
        if (v > w->limit[at]) return;
    }
    int32_t c = b->count[at]++;
    w->value[base + (size_t)c] = v;
    b->slot[base + (size_t)c] = (int32_t)r;
}

/* ---- scan ---------------------------------------------------------------------------------------- */

/* Whole STRIDEs are compared without branches; only one with a value below a limit is looked into.
 * From place j on: the start of the first such stride, or of the rest that is shorter than one. */
static inline int KERNEL(skip_query)(const REAL *s, const REAL *low, REAL limit, int j, int n)
{
    for (; j + STRIDE <= n; j += STRIDE) {
        MASK hit = 0;
        for (int i = j; i < j + STRIDE; i++) hit |= s[i] + low[i] <= limit;
        if (hit) break;
    }
    return j;
}

/* The same when every product also counts for its reference row as a query. */
static inline int KERNEL(skip_both)(const REAL *s, const REAL *low, REAL limit, REAL mine,
                                    const REAL *other, int j, int n)
{
    for (; j + STRIDE <= n; j += STRIDE) {
        MASK hit = 0;
        for (int i = j; i < j + STRIDE; i++)
            hit |= (s[i] + low[i] <= limit) | (s[i] + mine <= other[i]);
        if (hit) break;
    }
    return j;
}

/* Compiled again for wider registers, where the processor has them. */
BDML_KNN_WIDE static int KERNEL(skip_query_wide)(const REAL *s, const REAL *low, REAL limit, int j,
                                                 int n)
{
    return KERNEL(skip_query)(s, low, limit, j, n);
}
BDML_KNN_WIDE static int KERNEL(skip_both_wide)(const REAL *s, const REAL *low, REAL limit,
                                                REAL mine, const REAL *other, int j, int n)
{
    return KERNEL(skip_both)(s, low, limit, mine, other, j, n);
}

/* Which of a stride's values j .. end - 1 are below the limit, in their order: without branches, as above. */
static inline int KERNEL(hits)(const REAL *s, const REAL *low, REAL limit, int j, int end,
                               int found[STRIDE])
{
    int count = 0;
    for (; j < end; j++) {
        found[count] = j;
        count += s[j] + low[j] <= limit;
    }
    return count;
}

/* Products s[0..n) of query q with reference positions r.. */
static void KERNEL(scan_query)(bdml_knn_brute *b, const KERNEL(view) * w, int64_t q, int64_t r,
                               int n, const REAL *s)
{
    const REAL *low = w->low_r + r, *limit = w->limit + (q - b->first);
    for (int j = 0; j < n;) {
        j = b->wide ? KERNEL(skip_query_wide)(s, low, *limit, j, n)
                    : KERNEL(skip_query)(s, low, *limit, j, n);
        int found[STRIDE], end = BDML_MIN(j + STRIDE, n);
        int count = KERNEL(hits)(s, low, *limit, j, end, found);
        for (int c = 0; c < count; c++) { /* pushing lowers the limit */
            REAL v = s[found[c]] + low[found[c]];
            if (v <= *limit) KERNEL(push)(b, w, q, r + found[c], v);
        }
        j = end;
    }
}

static void KERNEL(scan_both)(bdml_knn_brute *b, const KERNEL(view) * w, int64_t q, int64_t r,
                              int n, const REAL *s)
{
    const REAL *low = w->low_r + r, *other = w->limit + (r - b->first);
    const REAL *limit = w->limit + (q - b->first), mine = w->low_q[q];
    for (int j = 0; j < n;) {
        j = b->wide ? KERNEL(skip_both_wide)(s, low, *limit, mine, other, j, n)
                    : KERNEL(skip_both)(s, low, *limit, mine, other, j, n);
        for (int end = BDML_MIN(j + STRIDE, n); j < end; j++) {
            if (s[j] + low[j] <= *limit) KERNEL(push)(b, w, q, r + j, s[j] + low[j]);
            if (s[j] + mine <= other[j]) KERNEL(push)(b, w, r + j, q, s[j] + mine);
        }
    }
}

/* Positions from .. to - 1 of the tile column of query q. */
static void KERNEL(scan_range)(bdml_knn_brute *b, const KERNEL(view) * w, int64_t q, const REAL *s,
                               int64_t r, int64_t from, int64_t to)
{
    if (from >= to) return;
    if (b->both)
        KERNEL(scan_both)(b, w, q, from, (int)(to - from), s + (from - r));
    else
        KERNEL(scan_query)(b, w, q, from, (int)(to - from), s + (from - r));
}

static void KERNEL(scan)(bdml_knn_brute *b, int64_t q, int nq, int64_t r, int nr, int thread)
{
    KERNEL(view) w = KERNEL(look)(b, thread);
    const bdml_knn_rows *rows = &b->t->query;
    for (int i = 0; i < nq; i++) {
        const REAL *s = COL(w.tile, nr, i);
        /* On the diagonal each pair of rows comes once, from the later one. */
        int64_t end = b->both && q == r ? r + i : r + nr;
        if (b->t->which == BDML_ANY_CLASS) {
            KERNEL(scan_range)(b, &w, q + i, s, r, r, end);
            continue;
        }
        int64_t from = rows->from[q + i], to = rows->to[q + i];
        if (b->t->which == BDML_SAME_CLASS) {
            KERNEL(scan_range)(b, &w, q + i, s, r, BDML_MAX(r, from), BDML_MIN(end, to));
        } else {
            KERNEL(scan_range)(b, &w, q + i, s, r, r, BDML_MIN(end, from));
            KERNEL(scan_range)(b, &w, q + i, s, r, BDML_MAX(r, to), end);
        }
    }
}

static void KERNEL(finish)(bdml_knn_brute *b, int64_t q, int thread)
{
    KERNEL(view) w = KERNEL(look)(b, thread);
    KERNEL(prune)(b, &w, q);
    int64_t count = b->count[q - b->first], kept = BDML_MIN(count, (int64_t)b->t->k);
    KERNEL(measure_exactly)(b, &w, q);
    bdml_knn_select(w.pair, count, kept);
    bdml_knn_sort(w.pair, kept);
    bdml_knn_emit(b->t, bdml_knn_row(&b->t->query, q), w.pair, kept);
}
