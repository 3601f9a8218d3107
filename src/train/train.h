/* train.h - the one table of methods, and training: prepare, mine, fit, keep.
 *
 * Called by evaluate and the command; calls baselines, solver, model, problem and below. */
#ifndef BDML_TRAIN_H
#define BDML_TRAIN_H

#include "baselines/baselines.h"

typedef struct bdml_method {
    const char *name, *help;
    int uses; /* BDML_USES_... */
    bdml_status (*fit)(bdml_handle *h, const bdml_training *t, bdml_model *model);
} bdml_method;

/* The method of that name, or NULL with BDML_ERR_ARGUMENT and the list of names on the handle. */
const bdml_method *bdml_method_find(bdml_handle *h, const char *name, size_t length);
/* Train with this method whatever the setting says. */
bdml_status bdml_train_method(bdml_handle *h, const bdml_method *method, const bdml_dataset *data,
                              const bdml_constraints *constraints, bdml_model **out);

/* Find the threshold of a model learned from these pairs, unless it has one or they are triplets. */
bdml_status bdml_calibrate(bdml_handle *h, const bdml_dataset *data, const bdml_constraints *c,
                           bdml_model *model);

#endif
