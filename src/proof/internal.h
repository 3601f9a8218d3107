/* internal.h - what the files of proof/ share. */
#ifndef BDML_PROOF_INTERNAL_H
#define BDML_PROOF_INTERNAL_H

#include "proof/proof.h"

/* *b: the model's map, model->q rows, on the points that the metric acts on, so that M = B'B is allowed and
 * meets every margin that it must; the caller's to free. */
bdml_status bdml_map_inside(bdml_handle *h, const bdml_model *model, const bdml_evidence *e,
                            const bdml_dataset *data, double **b);

#endif
