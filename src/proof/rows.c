/* rows.c - the rows of the data that a claim names. */
#include "proof/internal.h"

#include <stdlib.h>

void bdml_proof_rows_free(bdml_proof_rows *r)
{
    free(r->row);
    free(r->own);
    free(r->scatter);
    *r = (bdml_proof_rows){0};
}

int64_t bdml_proof_rows_place(const bdml_proof_rows *r, int64_t i)
{
    int64_t from = 0, to = r->count;
    if (r->count == r->n) return i;
    while (from < to) {
        int64_t middle = from + (to - from) / 2;
        if (r->row[middle] < i)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

bdml_status bdml_proof_rows_take(bdml_handle *h, const bdml_model *model, const bdml_evidence *e,
                                 const bdml_dataset *data, bool all, bdml_proof_rows *out)
{
    bdml_status status = BDML_OK;
    const bdml_constraints *c = e->constraints;
    const double *fill = model->prepare.fill;
    size_t d = (size_t)data->d;
    unsigned char *used = NULL;
    int64_t at = 0;

    *out = (bdml_proof_rows){.n = data->n, .d = data->d, .x = data->x, .single = data->single.x};
    BDML_NEW(h, used, data->n);
    for (int64_t k = 0; k < c->pairs; k++) used[c->pi[k]] = used[c->pj[k]] = 1;
    for (int64_t i = 0; i < data->n; i++) out->count += used[i] |= all;
    BDML_NEW(h, out->row, out->count);
    for (int64_t i = 0; i < data->n; i++)
        if (used[i]) out->row[at++] = i;
    if (!data->over && !fill) goto done; /* they are where they are: wide rows are not copied */
    out->own = bdml_alloc(h, (size_t)out->count * d, sizeof *out->own);
    if (!out->own) BDML_GO(BDML_ERR_MEMORY);
    const bdml_rows from = bdml_dataset_view(data);
    if (data->over)
        BDML_GO(bdml_spread_fetch(h, data->over, data->d, data->x, data->d, out->count, out->row,
                                  out->own));
    else
        bdml_rows_copy(&from, out->count, out->row, 0, out->own);
    for (size_t v = 0; fill && v < (size_t)out->count * d; v++)
        if (isnan(out->own[v])) out->own[v] = fill[v % d];
done:
    free(used);
    if (status != BDML_OK) bdml_proof_rows_free(out);
    return status;
}

bdml_status bdml_proof_rows_make(bdml_handle *h, const bdml_model *model, const bdml_evidence *e,
                                 const bdml_dataset *data, bdml_proof_rows *out)
{
    BDML_TRY(bdml_proof_rows_take(h, model, e, data, false, out));
    if (!bdml_objective_is_scatter(e)) return BDML_OK;
    bdml_status status = bdml_proof_rows_scatter(h, model, e, data, out);
    if (status != BDML_OK) bdml_proof_rows_free(out);
    return status;
}
