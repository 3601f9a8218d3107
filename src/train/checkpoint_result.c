/* checkpoint_result.c - the result of a finished solve as numbers, and back.
 *
 *     the scalars of FIELDS, in order;  M where there is one;  y;  the constraints of the proof;  the history */
#include "train/checkpoint.h"

#include <stdlib.h>

/* WHOLE: from 0 to a limit. A result that was cut short is not kept, and the paper's solvers keep none. */
#define FIELDS(WHOLE, REAL)                      \
    WHOLE(outcome, bdml_outcome, BDML_STOPPED)   \
    WHOLE(stop, bdml_stop, BDML_STOP_STALLED)    \
    WHOLE(iterations, int64_t, 1e15)             \
    WHOLE(d, int, 46340)                         \
    WHOLE(rank, int, 46340)                      \
    WHOLE(diagonal, bool, 1)                     \
    WHOLE(proof, bdml_proof, BDML_PROOF_CONE)    \
    WHOLE(contradicting, int64_t, (double)m)     \
    WHOLE(collapsed, bool, 1)                    \
    WHOLE(history.count, int, BDML_HISTORY_ROWS) \
    REAL(lower)                                  \
    REAL(upper)                                  \
    REAL(gap)                                    \
    REAL(kappa)                                  \
    REAL(trace)                                  \
    REAL(seconds)                                \
    REAL(proof_trace)                            \
    REAL(C)                                      \
    REAL(C0)

#define ONE_WHOLE(field, type, most) 1,
#define ONE_REAL(field)              1,
enum { SCALARS = sizeof((char[]){FIELDS(ONE_WHOLE, ONE_REAL)}), HISTORY_COLUMNS = 3 };

static int64_t metric_size(const bdml_solve_result *r)
{
    return r->diagonal ? r->d : (int64_t)r->d * r->d;
}

/* Numbers beside the metric. */
static int64_t least_count(const bdml_solve_result *r, int64_t m)
{
    return SCALARS + m + r->contradicting + (int64_t)r->history.count * HISTORY_COLUMNS;
}

bdml_status bdml_kept_pack(bdml_handle *h, int64_t m, const bdml_solve_result *r,
                           bdml_kept_solve *kept)
{
    bdml_status status = BDML_OK;
    const bdml_history *v = &r->history;
    int64_t metric = r->m ? metric_size(r) : 0;
    double *x;

    kept->count = least_count(r, m) + metric;
    BDML_NEW(h, kept->number, kept->count);
    x = kept->number;
#define PACK_WHOLE(field, type, most) *x++ = (double)r->field;
#define PACK_REAL(field)              *x++ = r->field;
    FIELDS(PACK_WHOLE, PACK_REAL)
    for (int64_t i = 0; i < metric; i++) *x++ = r->m[i];
    for (int64_t t = 0; t < m; t++) *x++ = r->y[t];
    for (int64_t t = 0; t < r->contradicting; t++) *x++ = (double)r->important[t];
    for (int i = 0; i < v->count; i++) {
        *x++ = v->iteration[i];
        *x++ = v->lower[i];
        *x++ = v->upper[i];
    }
done:
    return status;
}

static bool whole_below(double x, double most)
{
    return x >= 0.0 && x <= most && x == floor(x);
}

/* The scalars; false: they are no result of a problem of m constraints. */
static bool unpack_scalars(const double *x, int64_t m, bdml_solve_result *r)
{
#define UNPACK_WHOLE(field, type, most)                 \
    if (!whole_below(*x, (double)(most))) return false; \
    r->field = (type)*x++;
#define UNPACK_REAL(field) r->field = *x++;
    FIELDS(UNPACK_WHOLE, UNPACK_REAL)
    return r->rank <= r->d;
}

/* The arrays; false: one holds what none of a result does. */
static bool unpack_arrays(const double *x, int64_t metric, int64_t m, bdml_solve_result *r)
{
    bool fine = true;
    for (int64_t i = 0; i < metric; i++) fine = isfinite(r->m[i] = *x++) && fine;
    for (int64_t t = 0; t < m; t++) fine = isfinite(r->y[t] = *x++) && fine;
    for (int64_t t = 0; t < r->contradicting; t++, x++) {
        if (!whole_below(*x, (double)(m - 1))) return false;
        r->important[t] = (int64_t)*x;
    }
    for (int i = 0; i < r->history.count; i++) {
        r->history.iteration[i] = *x++;
        r->history.lower[i] = *x++;
        r->history.upper[i] = *x++;
    }
    return fine;
}

bdml_status bdml_kept_unpack(bdml_handle *h, const bdml_kept_solve *kept, int64_t m,
                             bdml_solve_result *r)
{
    bdml_status status = BDML_OK;

    memset(r, 0, sizeof *r);
    bool fine = kept->count >= SCALARS && unpack_scalars(kept->number, m, r);
    int64_t metric = fine ? kept->count - least_count(r, m) : 0;
    fine = fine && (metric == 0 || metric == metric_size(r));
    if (fine) {
        if (metric > 0) BDML_NEW(h, r->m, metric);
        BDML_NEW(h, r->y, m);
        BDML_NEW(h, r->important, r->contradicting);
        fine = unpack_arrays(kept->number + SCALARS, metric, m, r);
    }
    if (!fine)
        status = bdml_fail(h, BDML_ERR_FORMAT, "the checkpoint is damaged: begin without it");
done:
    if (status != BDML_OK) bdml_solve_result_free(r);
    return status;
}
