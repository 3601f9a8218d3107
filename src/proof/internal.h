/* internal.h - what the files of proof/ share. */
#ifndef BDML_PROOF_INTERNAL_H
#define BDML_PROOF_INTERNAL_H

#include "proof/proof.h"

/* *b: the model's map, model->q rows, on the points that the metric acts on, so that M = B'B is allowed and
 * meets every margin that it must; the caller's to free. */
bdml_status bdml_map_inside(bdml_handle *h, const bdml_model *model, const bdml_evidence *e,
                            const bdml_proof_rows *rows, double **b);

/* The claim as text about these rows. y: of each of them, which are then all rows; or NULL. given: rows are named alone, for a
 * checker that has their numbers from elsewhere. */
bdml_status bdml_certificate_of_rows(bdml_handle *h, const bdml_model *model,
                                     const bdml_evidence *e, const bdml_proof_rows *rows,
                                     const int32_t *y, bool given, char **text, size_t *size);

/* For a checker: whether to give up, by the clock or by a user (the handle) who leaves. */
bool bdml_proof_is_late(void *user);

/* The objective is the scatter of all rows. */
static inline bool bdml_objective_is_scatter(const bdml_evidence *e)
{
    return e->claim != BDML_CLAIM_INFEASIBLE && e->pull == BDML_PULL_WITHIN;
}

/* Rows in pairs, or all. */
bdml_status bdml_proof_rows_take(bdml_handle *h, const bdml_model *model, const bdml_evidence *e,
                                 const bdml_dataset *data, bool all, bdml_proof_rows *out);
/* Where row i of the data stands among them. */
int64_t bdml_proof_rows_place(const bdml_proof_rows *r, int64_t i);
/* r->scatter of all rows of the data (scatter.c). */
bdml_status bdml_proof_rows_scatter(bdml_handle *h, const bdml_model *model, const bdml_evidence *e,
                                    const bdml_dataset *data, bdml_proof_rows *r);

#endif
