/* preparation.c - fill in, scale and project by themselves, for programs: bdml_fit_preparation. */
#include "data/data.h"

#include <stdlib.h>

#include "linalg/linalg.h"

bdml_status bdml_fit_preparation(bdml_handle *h, const bdml_dataset *data, bdml_prepare **out)
{
    if (out) *out = NULL;
    if (!h || !out) return BDML_ERR_ARGUMENT;
    if (!data)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "bdml_fit_preparation: data must not be NULL");
    BDML_TRY(bdml_la_enter(h));
    bdml_prepare *p = bdml_calloc(h, 1, sizeof *p);
    if (!p) {
        bdml_la_leave(h);
        return BDML_ERR_MEMORY;
    }
    bdml_phase previous = bdml_phase_enter(h, BDML_PHASE_PREPARE);
    bdml_status status = bdml_prepare_fit(h, &h->options, data, p);
    bdml_phase_leave(h, previous);
    bdml_la_leave(h);
    status = bdml_dataset_confirm(h, data, status, NULL);
    if (status == BDML_OK)
        *out = p;
    else
        bdml_free_preparation(p);
    return status;
}

void bdml_free_preparation(bdml_prepare *p)
{
    if (p) bdml_prepare_free(p);
    free(p);
}

int bdml_preparation_dimension(const bdml_prepare *p)
{
    return p ? p->d_out : 0;
}

double bdml_preparation_variance(const bdml_prepare *p)
{
    return p && p->basis ? p->variance : (double)NAN;
}

int bdml_preparation_fills(const bdml_prepare *p)
{
    return p && p->fill;
}

bdml_status bdml_prepare_rows(bdml_handle *h, const bdml_prepare *p, int64_t n, const double *x,
                              int64_t ld, double *z)
{
    if (!h) return BDML_ERR_ARGUMENT;
    if (!p || n < 0 || (n > 0 && (!x || !z)))
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "bdml_prepare_rows: preparation and points must not be NULL");
    if (ld < p->d_in)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "the preparation takes points of %d values, but rows are %lld apart",
                         p->d_in, (long long)ld);
    BDML_TRY(bdml_la_enter(h));
    bdml_status status = bdml_prepare_apply(h, p, n, x, ld, z);
    bdml_la_leave(h);
    return status;
}
