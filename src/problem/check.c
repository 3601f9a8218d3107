/* check.c - what is odd about the data or the constraints, told before a solver stumbles over it. */
#include "problem/problem.h"

#include <stdlib.h>

enum { NAMED = 3 }; /* cases that are named one by one; the rest is a number */

/* ---- the same vector under two labels ----------------------------------------------------------- */

typedef struct hashed {
    uint64_t hash;
    int64_t row;
} hashed;

static int by_hash(const void *a, const void *b)
{
    const hashed *p = a, *q = b;
    if (p->hash != q->hash) return p->hash > q->hash ? 1 : -1;
    return (p->row > q->row) - (p->row < q->row);
}

/* Equal vectors give equal hashes; -0 is 0. FNV-1a over words with an extra shift. */
static uint64_t hash_row(int d, const double *x)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (int r = 0; r < d; r++) {
        double v = x[r] == 0.0 ? 0.0 : x[r];
        uint64_t bits;
        memcpy(&bits, &v, sizeof bits);
        hash = (hash ^ bits) * 0x100000001b3u;
        hash ^= hash >> 29;
    }
    return hash;
}

static bool same_row(int d, const double *a, const double *b)
{
    for (int r = 0; r < d; r++)
        if (a[r] != b[r]) return false;
    return true;
}

static void name_twins(bdml_handle *h, const bdml_dataset *data, int64_t i, int64_t j)
{
    bdml_log(h, BDML_LOG_WARNING,
             "rows %lld and %lld (from 0) are the same point, once '%s' and once '%s'",
             (long long)i, (long long)j, data->class_name[data->y[i]],
             data->class_name[data->y[j]]);
}

/* Of all rows. Where they are dealt out, hashes go around instead of rows: two of n rows that differ have the same one with
 * probability n^2 / 2^65. */
static bdml_status hash_rows(bdml_handle *h, const bdml_dataset *data, hashed *list)
{
    bdml_status status = BDML_OK;
    const bdml_spread *over = data->over;
    int64_t first = bdml_spread_first(over), held = bdml_spread_held(over, data->n);
    double *each = NULL;

    for (int64_t i = 0; i < held; i++) {
        const double *x = data->x + (size_t)i * (size_t)data->d;
        list[first + i] = (hashed){hash_row(data->d, x), first + i};
    }
    if (!over) return BDML_OK;
    BDML_NEW(h, each, over->comm->size);
    for (int k = 0; k < over->comm->size; k++)
        each[k] = (double)(over->start[k + 1] - over->start[k]);
    bdml_comm_gather(over->comm, each, sizeof *list, list);
done:
    free(each);
    return status;
}

bdml_status bdml_check_twins(bdml_handle *h, const bdml_dataset *data, int64_t *count)
{
    bdml_status status = BDML_OK;
    hashed *list = NULL;
    int64_t n = data->n, head = 0;
    int d = data->d;

    *count = 0;
    BDML_NEW(h, list, n);
    BDML_GO(hash_rows(h, data, list));
    qsort(list, (size_t)n, sizeof *list, by_hash);
    for (int64_t k = 1; k < n; k++) { /* head: the first row of the vector that k repeats */
        int64_t i = list[head].row, j = list[k].row;
        bool same = list[k].hash == list[head].hash &&
                    (data->over ||
                     same_row(d, data->x + (size_t)i * (size_t)d, data->x + (size_t)j * (size_t)d));
        if (!same) {
            head = k;
        } else if (data->y[i] != data->y[j]) {
            if (++*count <= NAMED) name_twins(h, data, i, j);
        }
    }
    if (*count > NAMED)
        bdml_log(h, BDML_LOG_WARNING, "%lld rows repeat an earlier row under another label",
                 (long long)*count);
done:
    free(list);
    return status;
}

/* ---- the same vector, to be far apart --------------------------------------------------------------- */

bdml_status bdml_check_far(bdml_handle *h, const bdml_dataset *data, const bdml_constraints *c,
                           int64_t *count)
{
    unsigned char *looked = bdml_calloc(h, (size_t)c->pairs, 1);
    size_t d = (size_t)data->d;
    *count = 0;
    if (!looked) return BDML_ERR_MEMORY;
    if (data->over) { /* files of constraints are read with all rows: bdml_train_takes_parts */
        free(looked);
        return bdml_dataset_need_all(h, data, "a file of constraints");
    }
    for (int64_t t = 0; t < c->m; t++) {
        int32_t p = c->far[t];
        if (looked[p]) continue;
        looked[p] = 1;
        if (!same_row(data->d, data->x + (size_t)c->pi[p] * d, data->x + (size_t)c->pj[p] * d))
            continue;
        if (++*count <= NAMED)
            bdml_log(h, BDML_LOG_WARNING,
                     "rows %d and %d (from 0) are the same point, so no metric can part them",
                     (int)c->pi[p], (int)c->pj[p]);
    }
    if (*count > NAMED)
        bdml_log(h, BDML_LOG_WARNING, "%lld pairs of identical points are asked to be far apart",
                 (long long)*count);
    free(looked);
    return BDML_OK;
}

/* ---- enough points for the neighbours asked for ---------------------------------------------------- */

static const char *points(int64_t count)
{
    return count == 1 ? "point" : "points";
}

/* The largest and the smallest class. */
static void extremes(const bdml_dataset *data, const int64_t *size, int *largest, int *smallest)
{
    *largest = *smallest = -1;
    for (int c = 0; c < data->classes; c++) {
        if (size[c] == 0) continue;
        if (*largest < 0 || size[c] > size[*largest]) *largest = c;
        if (*smallest < 0 || size[c] < size[*smallest]) *smallest = c;
    }
}

static bdml_status check_targets(bdml_handle *h, const bdml_dataset *data, const int64_t *size,
                                 int largest, int targets)
{
    if (size[largest] <= targets)
        return bdml_fail(h, BDML_ERR_DATA,
                         "targets = %d needs a class of at least %lld points, but the largest, "
                         "class '%s', has %lld %s; set targets lower",
                         targets, (long long)targets + 1, data->class_name[largest],
                         (long long)size[largest], points(size[largest]));
    for (int c = 0; c < data->classes; c++)
        if (size[c] > 0 && size[c] <= targets)
            bdml_log(h, BDML_LOG_WARNING,
                     "class '%s' has %lld %s, so each has %lld of the %d targets asked for",
                     data->class_name[c], (long long)size[c], points(size[c]),
                     (long long)size[c] - 1, targets);
    return BDML_OK;
}

static bdml_status check_impostors(bdml_handle *h, const bdml_dataset *data, const int64_t *size,
                                   int smallest, int impostors)
{
    int64_t most = data->n - size[smallest];
    if (impostors > most)
        return bdml_fail(h, BDML_ERR_DATA,
                         "impostors = %d is more than any point has: outside class '%s' there are "
                         "%lld %s; set impostors lower",
                         impostors, data->class_name[smallest], (long long)most, points(most));
    for (int c = 0; c < data->classes; c++)
        if (size[c] > 0 && data->n - size[c] < impostors)
            bdml_log(h, BDML_LOG_WARNING,
                     "outside class '%s' there are %lld %s, fewer than the %d impostors asked for",
                     data->class_name[c], (long long)(data->n - size[c]), points(data->n - size[c]),
                     impostors);
    return BDML_OK;
}

bdml_status bdml_check_sizes(bdml_handle *h, const bdml_dataset *data, const bdml_mining *how)
{
    bdml_status status = BDML_OK;
    int64_t *size = NULL;
    int largest, smallest;

    if (how->rule == BDML_RULE_NEAREST) {
        if (how->targets < data->n) return BDML_OK;
        return bdml_fail(
            h, BDML_ERR_DATA,
            "targets = %d asks for more neighbours than there are: %lld points have at "
            "most %lld; set targets lower",
            how->targets, (long long)data->n, (long long)data->n - 1);
    }
    BDML_NEW(h, size, data->classes);
    for (int64_t i = 0; i < data->n; i++) size[data->y[i]]++;
    extremes(data, size, &largest, &smallest);
    BDML_GO(check_targets(h, data, size, largest, how->targets));
    if (how->rule == BDML_RULE_CLASS)
        BDML_GO(check_impostors(h, data, size, smallest, how->impostors));
done:
    free(size);
    return status;
}

/* ---- what building found ------------------------------------------------------------------------------ */

void bdml_check_report(bdml_handle *h, const bdml_constraints *c)
{
    if (c->duplicates > 0)
        bdml_log(h, BDML_LOG_INFO, "%lld repeated constraints were dropped",
                 (long long)c->duplicates);
    if (c->contradictions > 0)
        bdml_log(
            h, BDML_LOG_WARNING,
            "%lld contradictions: pairs that are to be near and far, or points under two labels",
            (long long)c->contradictions);
    bdml_log(h, BDML_LOG_INFO, "%lld constraints on %lld pairs, %lld target pairs", (long long)c->m,
             (long long)c->pairs, (long long)c->targets);
}
