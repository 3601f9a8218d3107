/* test_neighbors.c - neighbours against a plain double loop, to the bit; votes and confusion. */
#include "check.h"

#include <float.h>

#include "neighbors/neighbors.h"

/* ---- the independent answer: every distance, then a full sort ------------------------------------- */

typedef struct found {
    double distance;
    int32_t index;
} found;

static int nearer(const void *a, const void *b)
{
    const found *p = a, *q = b;
    if (p->distance != q->distance) return p->distance < q->distance ? -1 : 1;
    return p->index < q->index ? -1 : p->index > q->index;
}

/* One search. q NULL: the reference rows, each without itself. */
typedef struct search_case {
    int64_t n;
    int d;
    const double *x;
    int64_t ld;
    const int32_t *label;
    int64_t queries;
    const double *q;
    int64_t ldq;
    const int32_t *query_label;
    bdml_restrict which;
    int k;
} search_case;

static void plain_search(const search_case *q, int32_t *index, double *distance)
{
    int64_t queries = q->q ? q->queries : q->n;
    found *all = malloc(sizeof *all * (size_t)(q->n + 1));
    assert_non_null(all);
    for (int64_t i = 0; i < queries; i++) {
        const double *a = q->q ? q->q + i * q->ldq : q->x + i * q->ld;
        int64_t count = 0;
        for (int64_t r = 0; r < q->n; r++) {
            if (!q->q && r == i) continue;
            if (q->which != BDML_ANY_CLASS) {
                int32_t mine = q->q ? q->query_label[i] : q->label[i];
                if ((q->label[r] == mine) != (q->which == BDML_SAME_CLASS)) continue;
            }
            double s = 0.0;
            for (int j = 0; j < q->d; j++) {
                double t = a[j] - q->x[r * q->ld + j];
                double t2 = t * t;
                s += t2;
            }
            all[count++] = (found){s, (int32_t)r};
        }
        qsort(all, (size_t)count, sizeof *all, nearer);
        for (int64_t c = 0; c < q->k; c++) {
            index[i * q->k + c] = c < count ? all[c].index : -1;
            distance[i * q->k + c] = c < count ? all[c].distance : (double)INFINITY;
        }
    }
    free(all);
}

/* ---- settings under which the answer must be the same ------------------------------------------------ */

static const char *const settings[][4] = {
    /* search, candidates, memory, threads */
    {"brute", "double", "256", "1"}, {"brute", "float", "256", "1"}, {"brute", "double", "1", "3"},
    {"brute", "float", "1", "3"},    {"tree", "double", "256", "1"}, {"tree", "double", "1", "3"},
    {"auto", "float", "256", "3"},
};
enum { SETTINGS = sizeof settings / sizeof *settings };

static void use_settings(bdml_handle *h, int s)
{
    check_ok(h, bdml_set(h, "search", settings[s][0]));
    check_ok(h, bdml_set(h, "candidates", settings[s][1]));
    check_ok(h, bdml_set(h, "memory", settings[s][2]));
    check_ok(h, bdml_set(h, "threads", settings[s][3]));
}

static void check_same(const char *what, int s, const search_case *q, const int32_t *index,
                       const double *distance, const int32_t *want, const double *want_distance)
{
    int64_t queries = q->q ? q->queries : q->n;
    for (int64_t e = 0; e < queries * q->k; e++)
        if (index[e] != want[e] || memcmp(&distance[e], &want_distance[e], sizeof *distance) != 0)
            fail_msg("%s (n %lld, d %d, k %d, which %d, %s) with %s %s memory %s threads %s: query "
                     "%lld, place %lld: got %d at %.17g, wanted %d at %.17g",
                     what, (long long)q->n, q->d, q->k, (int)q->which, q->q ? "queries" : "self",
                     settings[s][0], settings[s][1], settings[s][2], settings[s][3],
                     (long long)(e / q->k), (long long)(e % q->k), index[e], distance[e], want[e],
                     want_distance[e]);
}

static void check_search(bdml_handle *h, const char *what, const search_case *q)
{
    size_t cells = (size_t)(q->q ? q->queries : q->n) * (size_t)q->k;
    int32_t *want = malloc(sizeof *want * (cells + 1)),
            *index = malloc(sizeof *index * (cells + 1));
    double *want_distance = malloc(sizeof *want_distance * (cells + 1));
    double *distance = malloc(sizeof *distance * (cells + 1));
    assert_true(want && index && want_distance && distance);
    plain_search(q, want, want_distance);
    for (int s = 0; s < SETTINGS; s++) {
        use_settings(h, s);
        memset(index, 77, sizeof *index * cells);
        memset(distance, 77, sizeof *distance * cells);
        check_ok(h, bdml_find_neighbors(h, q->n, q->d, q->x, q->ld, q->label, q->queries, q->q,
                                        q->ldq, q->query_label, q->which, q->k, index, distance));
        check_same(what, s, q, index, distance, want, want_distance);
    }
    free(want);
    free(index);
    free(want_distance);
    free(distance);
}

/* Self and query searches, all three restrictions. The first `queries` rows of x double as queries,
 * so that distance 0 and ties between a query and its own row occur. */
static void check_data(bdml_handle *h, const char *what, int64_t n, int d, const double *x,
                       int64_t ld, const int32_t *label, int64_t queries, const double *query,
                       int k)
{
    for (int which = BDML_ANY_CLASS; which <= BDML_OTHER_CLASS; which++) {
        search_case q = {.n = n,
                         .d = d,
                         .x = x,
                         .ld = ld,
                         .label = label,
                         .which = (bdml_restrict)which,
                         .k = k};
        check_search(h, what, &q);
        q.queries = queries;
        q.q = query;
        q.ldq = ld;
        q.query_label = label;
        check_search(h, what, &q);
    }
}

/* One index asked many times: for all rows themselves and for queries a few at a time, each third of them far
 * out, then so far that no product can hold it. */
static void check_index(bdml_handle *h, const search_case *all)
{
    enum { STEP = 7 };
    const bdml_rows rows = {all->n, all->d, all->ld, all->x, all->label, 0, NULL};
    size_t width = (size_t)all->ldq, cells = (size_t)all->queries * width;
    double *moved = malloc(sizeof *moved * cells);
    int32_t want[STEP * 9], index[STEP * 9];
    double want_distance[STEP * 9], distance[STEP * 9];
    assert_non_null(moved);
    assert_true(all->k <= 9);
    for (int64_t i = 0; i < all->queries; i++)
        for (size_t j = 0; j < width; j++)
            moved[(size_t)i * width + j] =
                all->q[(size_t)i * width + j] *
                (i / STEP % 3 == 1 ? pow(10.0, 2.0 * (double)i + 4.0) : 1.0);
    for (int s = 0; s < SETTINGS; s++) {
        bdml_index *in;
        use_settings(h, s);
        check_ok(h, bdml_index_build(h, &h->options.neighbors, &rows, &in));
        for (int64_t i = 0; i + STEP <= all->queries; i += STEP) {
            search_case q = *all;
            q.which = (bdml_restrict)(i / STEP % 2 ? i / STEP % 3 : BDML_ANY_CLASS);
            q.queries = STEP;
            q.q = moved + (size_t)i * width;
            q.query_label = all->query_label + i;
            const bdml_rows asked = {STEP, q.d, q.ldq, q.q, q.query_label, 0, NULL};
            plain_search(&q, want, want_distance);
            check_ok(h, bdml_index_query(h, in, &asked, q.which, q.k, index, distance));
            check_same("index", s, &q, index, distance, want, want_distance);
        }
        bdml_index_free(in);
    }
    free(moved);
}

/* ---- data ------------------------------------------------------------------------------------------------ */

enum { N = 450, QUERIES = 90, LD_EXTRA = 3 };

typedef double (*maker)(bdml_rng *r, int64_t i, int j);

static double make_normal(bdml_rng *r, int64_t i, int j)
{
    return (void)i, (void)j, bdml_rng_normal(r);
}
static double make_grid(bdml_rng *r, int64_t i, int j) /* many ties */
{
    return (void)i, (void)j, (double)bdml_rng_below(r, 3);
}
static double make_offset(bdml_rng *r, int64_t i, int j) /* digits are lost to the offset */
{
    return (void)i, 1e8 * (j + 1) + 1e-3 * bdml_rng_normal(r);
}
static double make_same(bdml_rng *r, int64_t i, int j) /* every row the same */
{
    return (void)r, (void)i, 0.1 * j;
}
static double make_denormal(bdml_rng *r, int64_t i, int j) /* squares underflow */
{
    return (void)i, (void)j, 1e-160 * bdml_rng_normal(r);
}
static double make_deep(bdml_rng *r, int64_t i, int j) /* denormal themselves */
{
    return (void)i, (void)j, 4e-322 * bdml_rng_normal(r);
}
static double make_small(bdml_rng *r, int64_t i, int j) /* float would underflow */
{
    return (void)i, (void)j, 1e-30 * bdml_rng_normal(r);
}
static double make_huge(bdml_rng *r, int64_t i, int j)
{
    return (void)i, (void)j, 1e150 * bdml_rng_normal(r);
}
static double make_overflow(bdml_rng *r, int64_t i, int j) /* distances of infinity are ties */
{
    return (void)j, (i % 2 ? 1e160 : 1.0) * bdml_rng_normal(r);
}
static double make_outlier(bdml_rng *r, int64_t i, int j) /* one row dwarfs the others */
{
    return (void)j, (i == 5 ? 1e120 : 1.0) * bdml_rng_normal(r);
}
static double make_scales(bdml_rng *r, int64_t i, int j) /* norms over 60 orders of magnitude */
{
    return (void)j, pow(10.0, (double)(i % 60) - 30.0) * bdml_rng_normal(r);
}
/* Every other row so small that its squares underflow, in the plain loop too, beside larger ones. */
static double make_underflow(bdml_rng *r, int64_t i, int j)
{
    return (void)j, (i % 2 ? 1e-118 : 1e-162) * bdml_rng_normal(r);
}
/* A few rows whose squares underflow in float only; too few of them to leave float. The others are
 * sparse, so that the center, a median, is 0. */
static double make_faint(bdml_rng *r, int64_t i, int j)
{
    double g = bdml_rng_normal(r), u = bdml_rng_uniform(r);
    (void)j;
    return i % 20 == 3 ? 1e-22 * g : u < 0.3 ? g : 0.0;
}
/* Distances that differ in the last bits only: points on a sphere around the first rows. */
static double make_close(bdml_rng *r, int64_t i, int j)
{
    return i < QUERIES ? 0.0 : (j == (int)(i % 5) ? 1.0 : 0.0) + 1e-15 * bdml_rng_normal(r);
}

static const struct {
    const char *name;
    maker make;
} data_sets[] = {
    {"normal", make_normal},   {"grid", make_grid},         {"offset", make_offset},
    {"same", make_same},       {"denormal", make_denormal}, {"deep", make_deep},
    {"small", make_small},     {"huge", make_huge},         {"overflow", make_overflow},
    {"outlier", make_outlier}, {"scales", make_scales},     {"underflow", make_underflow},
    {"faint", make_faint},     {"close", make_close},
};

static void fill(maker make, int64_t n, int d, int64_t ld, uint64_t stream, double *x)
{
    bdml_rng r = bdml_rng_make(11, stream);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = d; j < ld; j++) x[i * ld + j] = (double)NAN; /* must not be read */
        for (int j = 0; j < d; j++) x[i * ld + j] = make(&r, i, j);
    }
}

/* Labels 7, -3, 5 and, for queries only, 100: a class without reference rows. */
static void fill_labels(int64_t n, int32_t *label)
{
    static const int32_t classes[] = {7, -3, 5};
    bdml_rng r = bdml_rng_make(12, 0);
    for (int64_t i = 0; i < n; i++) label[i] = classes[bdml_rng_below(&r, 3)];
}

static void search_equals_the_plain_loop(void **state)
{
    bdml_handle *h = *state;
    static const int dims[] = {1, 3, 33};
    static const int ks[] = {1, 4, 70};
    static double x[N * (33 + LD_EXTRA)], query[QUERIES * (33 + LD_EXTRA)];
    static int32_t label[N];
    fill_labels(N, label);
    for (size_t s = 0; s < sizeof data_sets / sizeof *data_sets; s++)
        for (size_t t = 0; t < sizeof dims / sizeof *dims; t++) {
            int64_t ld = dims[t] + LD_EXTRA;
            fill(data_sets[s].make, N, dims[t], ld, 1, x);
            fill(data_sets[s].make, QUERIES, dims[t], ld, 2, query);
            memcpy(query, x,
                   sizeof *x * (size_t)(ld * QUERIES / 2)); /* half of them are rows of x */
            int k = ks[(s + s / 3 + t) % 3];
            check_data(h, data_sets[s].name, N, dims[t], x, ld, label, QUERIES, query, k);
        }
}

/* Every row three times, shuffled: ties at every distance. */
static void an_index_serves_many_searches(void **state)
{
    bdml_handle *h = *state;
    static double x[N * 20], query[QUERIES * 20];
    int32_t label[N];
    fill_labels(N, label);
    for (int d = 2; d <= 20; d += 6) {
        fill(make_normal, N, d, d, 40 + (uint64_t)d, x);
        fill(make_normal, QUERIES, d, d, 41 + (uint64_t)d, query);
        search_case all = {N, d, x, d, label, QUERIES, query, d, label, BDML_ANY_CLASS, 3};
        check_index(h, &all);
        /* for its own rows, under each restriction in turn, as one search for each */
        const bdml_rows rows = {N, d, d, x, label, 0, NULL};
        bdml_index *in;
        int32_t want[N * 3], index[N * 3];
        double want_distance[N * 3], distance[N * 3];
        check_ok(h, bdml_index_build(h, &h->options.neighbors, &rows, &in));
        for (int which = BDML_OTHER_CLASS; which >= BDML_ANY_CLASS; which--) {
            search_case self = {.n = N, .d = d, .x = x, .ld = d, .label = label, .k = 3};
            self.which = (bdml_restrict)which;
            plain_search(&self, want, want_distance);
            check_ok(h, bdml_index_query(h, in, NULL, self.which, 3, index, distance));
            check_same("index", 0, &self, index, distance, want, want_distance);
        }
        check_fails(h,
                    bdml_index_query(h, in, &(bdml_rows){1, d + 1, d + 1, x, label, 0, NULL},
                                     BDML_ANY_CLASS, 1, index, NULL),
                    BDML_ERR_ARGUMENT, "queries have");
        bdml_index_free(in);
    }
    bdml_index_free(NULL);
}

static void duplicates_go_to_the_lower_index(void **state)
{
    bdml_handle *h = *state;
    enum { D = 20, BASE = 150 };
    static double base[BASE * D], x[3 * BASE * D];
    static int32_t label[3 * BASE];
    int64_t order[3 * BASE];
    bdml_rng r = bdml_rng_make(13, 0);
    fill(make_normal, BASE, D, D, 3, base);
    for (int i = 0; i < 3 * BASE; i++) order[i] = i % BASE;
    bdml_rng_shuffle(&r, 3 * BASE, order);
    for (int i = 0; i < 3 * BASE; i++) memcpy(x + i * D, base + order[i] * D, sizeof *x * D);
    fill_labels(3 * BASE, label);
    check_data(h, "duplicates", 3 * BASE, D, x, D, label, BASE, base, 4);
}

/* More rows than one chunk holds at memory = 1: 1 MiB, 3000 rows of 100 doubles are 2.3 MiB. */
static void memory_bound_changes_nothing(void **state)
{
    bdml_handle *h = *state;
    enum { ROWS = 3000, D = 100, K = 5 };
    double *x = malloc(sizeof *x * ROWS * D), *distance[2];
    int32_t *index[2], *label = malloc(sizeof *label * ROWS);
    for (int v = 0; v < 2; v++) {
        distance[v] = malloc(sizeof **distance * ROWS * K);
        index[v] = malloc(sizeof **index * ROWS * K);
    }
    fill(make_normal, ROWS, D, D, 4, x);
    fill_labels(ROWS, label);
    check_ok(h, bdml_set(h, "search", "brute"));
    for (int which = BDML_ANY_CLASS; which <= BDML_OTHER_CLASS; which++)
        for (int apart = 0; apart < 2; apart++) {
            for (int v = 0; v < 2; v++) {
                check_ok(h, bdml_set(h, "memory", v ? "1" : "256"));
                check_ok(h, bdml_set(h, "threads", v ? "3" : "1"));
                check_ok(h, bdml_set(h, "candidates", v ? "float" : "double"));
                check_ok(h, bdml_find_neighbors(h, ROWS, D, x, D, label, apart ? ROWS : 0,
                                                apart ? x : NULL, D, apart ? label : NULL,
                                                (bdml_restrict)which, K, index[v], distance[v]));
            }
            assert_memory_equal(index[0], index[1], sizeof **index * ROWS * K);
            assert_memory_equal(distance[0], distance[1], sizeof **distance * ROWS * K);
        }
    for (int v = 0; v < 2; v++) {
        free(distance[v]);
        free(index[v]);
    }
    free(x);
    free(label);
}

/* ---- edges ------------------------------------------------------------------------------------------------ */

/* Points 0, 1, 3, 3 on a line, by hand. */
static void four_points_by_hand(void **state)
{
    bdml_handle *h = *state;
    const double x[] = {0, 1, 3, 3}, query[] = {2};
    const int32_t label[] = {0, 1, 0, 1}, query_label[] = {1};
    int32_t index[12];
    double distance[12];
    static const int32_t any[] = {1, 2, 0, 2, 3, 1, 2, 1};
    static const int32_t other[] = {1, 3, 0, 2, 3, 1, 2, 0};
    for (int s = 0; s < SETTINGS; s++) {
        use_settings(h, s);
        check_ok(h, bdml_find_neighbors(h, 4, 1, x, 1, NULL, 0, NULL, 0, NULL, BDML_ANY_CLASS, 2,
                                        index, distance));
        assert_memory_equal(index, any, sizeof any);
        check_close(distance[1], 9.0, 0.0);
        check_ok(h, bdml_find_neighbors(h, 4, 1, x, 1, label, 0, NULL, 0, NULL, BDML_OTHER_CLASS, 2,
                                        index, NULL));
        assert_memory_equal(index, other, sizeof other);
        check_ok(h, bdml_find_neighbors(h, 4, 1, x, 1, label, 0, NULL, 0, NULL, BDML_SAME_CLASS, 3,
                                        index, distance));
        assert_int_equal(index[0], 2);
        assert_int_equal(index[1], -1);
        check_true(isinf(distance[1]) && distance[1] > 0);
        check_ok(h, bdml_find_neighbors(h, 4, 1, x, 1, label, 1, query, 1, query_label,
                                        BDML_SAME_CLASS, 2, index, NULL));
        assert_int_equal(index[0], 1); /* 1 and 3 are as far from 2: the lower index */
        assert_int_equal(index[1], 3);
    }
}

static void edges_of_n_k_and_class(void **state)
{
    bdml_handle *h = *state;
    const double x[] = {1, 2, 3, 4, 5, 6};
    const int32_t label[] = {0, 0, 1}, absent[] = {9};
    search_case q = {.n = 3, .d = 2, .x = x, .ld = 2, .label = label, .k = 1000};
    check_search(h, "k > n", &q);
    q.which = BDML_SAME_CLASS;
    check_search(h, "k > n", &q);
    q.n = 1;
    check_search(h, "n = 1", &q);
    q = (search_case){.n = 3,
                      .d = 2,
                      .x = x,
                      .ld = 2,
                      .label = label,
                      .queries = 1,
                      .q = x + 1,
                      .ldq = 2,
                      .query_label = absent,
                      .which = BDML_SAME_CLASS,
                      .k = 2};
    check_search(h, "empty class", &q);
    q.which = BDML_OTHER_CLASS;
    check_search(h, "empty class", &q);
    q.n = 0;
    check_search(h, "n = 0", &q);
    q.queries = 0;
    check_search(h, "no queries", &q);
}

static void arguments_are_checked(void **state)
{
    bdml_handle *h = *state;
    double x[] = {1, 2, 3, 4};
    const int32_t label[] = {0, 1};
    int32_t index[8];
#define FIND(n, d, x, ld, label, q, ldq, ql, which, k, index) \
    bdml_find_neighbors(h, n, d, x, ld, label, 2, q, ldq, ql, which, k, index, NULL)
    assert_int_equal(bdml_find_neighbors(NULL, 2, 2, x, 2, NULL, 0, NULL, 0, NULL, BDML_ANY_CLASS,
                                         1, index, NULL),
                     BDML_ERR_ARGUMENT);
    check_fails(h, FIND(-1, 2, x, 2, NULL, NULL, 2, NULL, BDML_ANY_CLASS, 1, index),
                BDML_ERR_ARGUMENT, "rows must be");
    check_fails(h, FIND(2, 0, x, 2, NULL, NULL, 2, NULL, BDML_ANY_CLASS, 1, index),
                BDML_ERR_ARGUMENT, "d must be at least 1, got 0");
    check_fails(h, FIND(2, 2, x, 2, NULL, NULL, 2, NULL, BDML_ANY_CLASS, 0, index),
                BDML_ERR_ARGUMENT, "k must be at least 1, got 0");
    check_fails(h, FIND(2, 2, x, 1, NULL, NULL, 2, NULL, BDML_ANY_CLASS, 1, index),
                BDML_ERR_ARGUMENT, "leading dimensions");
    check_fails(h, FIND(2, 2, NULL, 2, NULL, NULL, 2, NULL, BDML_ANY_CLASS, 1, index),
                BDML_ERR_ARGUMENT, "must not be NULL");
    check_fails(h, FIND(2, 2, x, 2, NULL, NULL, 2, NULL, BDML_ANY_CLASS, 1, NULL),
                BDML_ERR_ARGUMENT, "must not be NULL");
    check_fails(h, FIND(2, 2, x, 2, NULL, NULL, 2, NULL, BDML_SAME_CLASS, 1, index),
                BDML_ERR_ARGUMENT, "needs the labels");
    check_fails(h, FIND(2, 2, x, 2, label, x, 2, NULL, BDML_OTHER_CLASS, 1, index),
                BDML_ERR_ARGUMENT, "needs the labels");
    check_fails(h, FIND(2, 2, x, 2, label, NULL, 2, NULL, (bdml_restrict)3, 1, index),
                BDML_ERR_ARGUMENT, "bdml_restrict");
    x[3] = (double)INFINITY;
    check_fails(h, FIND(2, 2, x, 2, NULL, NULL, 2, NULL, BDML_ANY_CLASS, 1, index), BDML_ERR_DATA,
                "reference row 1, column 1 holds inf");
#undef FIND
}

/* ---- failure and cancellation ------------------------------------------------------------------------------- */

static void every_failed_allocation_is_survived(void **state)
{
    bdml_handle *h = *state;
    enum { ROWS = 300, D = 6, K = 3 };
    static double x[ROWS * D], distance[ROWS * K];
    static int32_t label[ROWS], index[ROWS * K];
    fill(make_normal, ROWS, D, D, 5, x);
    fill_labels(ROWS, label);
    for (int s = 0; s < SETTINGS; s++)
        for (int which = BDML_ANY_CLASS; which <= BDML_OTHER_CLASS; which++)
            for (int apart = 0; apart < 2; apart++) {
                use_settings(h, s);
                bdml_status status = BDML_ERR_MEMORY;
                for (int fail = 1; status == BDML_ERR_MEMORY; fail++) {
                    assert_true(fail < 100);
                    h->fail_alloc = fail;
                    status = bdml_find_neighbors(h, ROWS, D, x, D, label, ROWS, apart ? x : NULL, D,
                                                 label, (bdml_restrict)which, K, index, distance);
                    bool reached = h->fail_alloc == 0;
                    h->fail_alloc = 0;
                    assert_int_equal(status, reached ? BDML_ERR_MEMORY : BDML_OK);
                }
            }
}

typedef struct watcher {
    bdml_handle *h;
    int calls;
} watcher;

/* Callbacks come ten times a second at most; setting the clock back makes the next step call. */
static int stop_inside(void *user, const char *phase, int64_t done, int64_t total)
{
    watcher *w = user;
    (void)phase;
    w->calls++;
    w->h->progress_last = -1e9;
    return done > 0 && done < total;
}

static void search_can_be_cancelled(void **state)
{
    bdml_handle *h = *state;
    enum { ROWS = 2000, D = 10, K = 3 };
    static double x[ROWS * D];
    static int32_t index[ROWS * K];
    fill(make_normal, ROWS, D, D, 6, x);
    for (int s = 0; s < SETTINGS; s++)
        for (int apart = 0; apart < 2; apart++) {
            watcher w = {.h = h};
            use_settings(h, s);
            check_ok(h, bdml_set(h, "threads", "1"));
            bdml_set_progress(h, stop_inside, &w);
            check_fails(h,
                        bdml_find_neighbors(h, ROWS, D, x, D, NULL, ROWS, apart ? x : NULL, D, NULL,
                                            BDML_ANY_CLASS, K, index, NULL),
                        BDML_ERR_CANCELLED, "neighbors");
            assert_int_equal(w.calls, 2); /* at 0, and where it stopped */
            bdml_set_progress(h, NULL, NULL);
            check_ok(h, bdml_find_neighbors(h, 10, D, x, D, NULL, 0, NULL, 0, NULL, BDML_ANY_CLASS,
                                            K, index, NULL)); /* the handle is usable again */
        }
}

/* Guesses from nearly right to absurd, of rows that lie apart or by the hundred in one place, change nothing. */
static void a_guess_changes_nothing(void **state)
{
    enum { ROWS = 700, Q = 90, D = 5, K = 15 };
    bdml_handle *h = *state;
    static double x[ROWS * D], q[Q * D];
    static int32_t index[Q * K], right[Q * K], guess[Q * K];
    bdml_rng r = bdml_rng_make(8, 0);
    /* Of so few columns a tree would search, and has no use for guesses. */
    check_ok(h, bdml_set(h, "search", "brute"));
    for (int kind = 0; kind < 3;
         kind++) { /* apart; in 7 places; in 7 that are far for their width */
        double width = kind == 0 ? 1.0 : kind == 1 ? 0.0 : 1e-4;
        for (int i = 0; i < ROWS * D; i++)
            x[i] = width * bdml_rng_normal(&r) + (kind ? i / D % 7 : 0);
        for (int i = 0; i < Q * D; i++) q[i] = x[i * 3] + 0.3 * width * bdml_rng_normal(&r);
        const bdml_rows rows = {ROWS, D, D, x, NULL, 0, NULL}, asked = {Q, D, D, q, NULL, 0, NULL};
        check_ok(h, bdml_knn_search(h, &h->options.neighbors, &rows, &asked, BDML_ANY_CLASS, K,
                                    right, NULL));
        for (int how = 0; how < 5; how++) {
            for (int i = 0; i < Q * K; i++) {
                int row = i / K, c = i % K;
                guess[i] = how == 0   ? right[row * K + K - 1 - c]
                           : how == 1 ? (c < K - 1 ? right[i] : ROWS - 1 - right[i] % 2)
                           : how == 2 ? (row * 7 + c) % ROWS
                           : how == 3 ? -1
                                      : (row % 2 ? right[i] : -1);
            }
            memset(index, 0, sizeof index);
            check_ok(h, bdml_knn_search_from(h, &h->options.neighbors, &rows, &asked, K, guess,
                                             index));
            assert_memory_equal(index, right, sizeof right);
        }
    }
}

/* ---- vote and confusion ---------------------------------------------------------------------------------------- */

static void vote_ties_go_to_the_nearest(void **state)
{
    (void)state;
    const int32_t label[] = {2, 0, 0, 1, 1, 2};
    int32_t count[3];
    const int32_t majority[] = {3, 1, 2}, tie[] = {5, 1, 3, 2, 4}, few[] = {4, -1, -1},
                  none[] = {-1};
    assert_int_equal(bdml_knn_vote(3, majority, label, 3, count), 0); /* 1 0 0 */
    assert_int_equal(bdml_knn_vote(5, tie, label, 3, count), 0); /* 2 0 1 0 1: 0 comes before 1 */
    assert_int_equal(bdml_knn_vote(3, tie, label, 3, count), 2); /* one each: the nearest */
    assert_int_equal(bdml_knn_vote(3, few, label, 3, count), 1);
    assert_int_equal(bdml_knn_vote(1, none, label, 3, count), -1);
}

/* On a line 0 1 2 | 10 11 12 of two classes, but for 2 which is of the other one. */
static void errors_of_votes_by_hand(void **state)
{
    bdml_handle *h = *state;
    const double x[] = {0, 1, 2, 10, 11, 12}, at[] = {-1, 9, 2.4};
    const int32_t y[] = {0, 0, 1, 1, 1, 1}, is[] = {0, 1, 0};
    const bdml_rows voters = {6, 1, 1, x, y, 2, NULL}, asked = {3, 1, 1, at, is, 2, NULL};
    const int votes[] = {1, 3, 5, 100};
    const bdml_neighbor_options *o = &h->options.neighbors;
    int64_t wrong[4];
    check_ok(h, bdml_vote_errors(h, o, &voters, &asked, 4, votes, wrong));
    assert_int_equal(wrong[0], 1); /* 2.4 is next to 2 */
    assert_int_equal(wrong[1], 0);
    assert_int_equal(wrong[2], 2); /* -1 and 2.4: 0 0 1 1 1 */
    assert_int_equal(wrong[3], 2); /* all vote: class 1 */
    /* each without itself: 2 has the neighbour 1 (and then 0) of the other class; 0 and 1 see 1 1 0, 1 0 1 */
    check_ok(h, bdml_vote_errors(h, o, &voters, NULL, 2, votes, wrong));
    assert_int_equal(wrong[0], 1);
    assert_int_equal(wrong[1], 3);
}

static void confusion_counts(void **state)
{
    bdml_handle *h = *state;
    bdml_confusion c;
    check_ok(h, bdml_confusion_init(h, 3, &c));
    assert_true(isnan(bdml_confusion_error(&c)));
    bdml_confusion_add(&c, 0, 0);
    bdml_confusion_add(&c, 0, 1);
    bdml_confusion_add(&c, 1, 1);
    bdml_confusion_add(&c, 0, 0);
    bdml_confusion_add(&c, 1, -1); /* no prediction: wrong */
    check_close(bdml_confusion_error(&c), 40.0, 1e-13);
    check_close(bdml_confusion_recall(&c, 0), 2.0 / 3.0, 1e-15);
    assert_int_equal(c.count[0 * 3 + 1], 1);
    assert_true(isnan(bdml_confusion_recall(&c, 2)) && isnan(bdml_confusion_recall(&c, 3)));
    bdml_confusion_free(&c);
    /* of many classes there are recalls, and no table of zeros */
    check_ok(h, bdml_confusion_init(h, BDML_CONFUSION_MOST + 1, &c));
    assert_null(c.count);
    bdml_confusion_add(&c, BDML_CONFUSION_MOST, BDML_CONFUSION_MOST);
    bdml_confusion_add(&c, BDML_CONFUSION_MOST, 0);
    check_close(bdml_confusion_recall(&c, BDML_CONFUSION_MOST), 0.5, 0.0);
    check_close(bdml_confusion_error(&c), 50.0, 1e-13);
    bdml_confusion_free(&c);
    h->fail_alloc = 1;
    assert_int_equal(bdml_confusion_init(h, 3, &c), BDML_ERR_MEMORY);
    bdml_confusion_free(&c); /* nothing to free is fine */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(search_equals_the_plain_loop),
        handle_test(an_index_serves_many_searches),
        handle_test(duplicates_go_to_the_lower_index),
        handle_test(memory_bound_changes_nothing),
        handle_test(four_points_by_hand),
        handle_test(a_guess_changes_nothing),
        handle_test(edges_of_n_k_and_class),
        handle_test(arguments_are_checked),
        handle_test(every_failed_allocation_is_survived),
        handle_test(search_can_be_cancelled),
        cmocka_unit_test(vote_ties_go_to_the_nearest),
        handle_test(errors_of_votes_by_hand),
        handle_test(confusion_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
