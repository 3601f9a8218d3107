/* train.h - the one table of methods, and training: prepare, mine, fit, keep.
 *
 * Called by evaluate and the command; calls baselines, solver, model, problem and below. */
#ifndef BDML_TRAIN_H
#define BDML_TRAIN_H

#include "baselines/baselines.h"

typedef struct bdml_method {
    const char *name, *help;
    int uses; /* BDML_USES_... */
    /* Memory that fit will take beside the data; NULL: of a classifier. */
    bdml_need (*need)(const bdml_handle *h, const bdml_options *o, const bdml_training *t);
    bdml_status (*fit)(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                       bdml_model *model);
    /* Instead of fit, a method that is no metric: classes of n rows of the target domain. */
    bdml_status (*classify)(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                            int64_t n, const double *x, int32_t *label);
} bdml_method;

const bdml_method *bdml_method_at(int i); /* NULL when i is out of range */
/* The method of that name, or NULL with BDML_ERR_ARGUMENT and the list of names on the handle. */
const bdml_method *bdml_method_find(bdml_handle *h, const char *name, size_t length);
/* Its fit, unless it would take more memory than the setting "memory" allows: that is told before it begins. */
bdml_status bdml_fit_within(bdml_handle *h, const bdml_options *o, const bdml_method *method,
                            const bdml_training *t, bdml_model *model);
/* Train with this method whatever the setting says, without checkpoints. */
bdml_status bdml_train_method(bdml_handle *h, const bdml_options *o, const bdml_method *method,
                              const bdml_dataset *data, const bdml_constraints *constraints,
                              bdml_model **out);
/* The same with points of a second domain, prepared as the data are after scale and pca (which are none
 * here); target NULL: there is none. */
bdml_status bdml_train_adapted(bdml_handle *h, const bdml_options *o, const bdml_method *method,
                               const bdml_dataset *data, const bdml_domain *target,
                               bdml_model **out);

/* ---- the setting "grid" (grid.c) ---- */

enum { BDML_GRID_MOST = 100 };
/* Distortions, ascending, each at least 1. */
typedef struct bdml_grid {
    int count;
    double K[BDML_GRID_MOST];
} bdml_grid;
bdml_status bdml_grid_read(bdml_handle *h, const bdml_path_options *o, bdml_grid *g);

/* ---- scale = auto, neighbors = auto (auto.c) ---- */

bool bdml_auto_wanted(const bdml_options *o);
/* Settle them in `o` by cross-validation inside the data. */
bdml_status bdml_auto_choose(bdml_handle *h, bdml_options *o, const bdml_method *method,
                             const bdml_dataset *data, const bdml_constraints *constraints);

/* ---- rows as they are, or of length 1 (lengths.c) ---- */

/* Settle the scale of `chosen` where `asked` leaves it open to the recipe. */
bdml_status bdml_lengths_choose(bdml_handle *h, const bdml_options *asked,
                                const bdml_method *method, const bdml_dataset *data,
                                const bdml_constraints *constraints, bdml_options *chosen);

/* The settings that differ from their defaults and say what is computed, not how (threads, memory, files, ...);
 * NULL: out of memory. */
json_t *bdml_settings_json(const bdml_handle *h, const bdml_options *o);

/* Find the threshold of a model learned from these pairs, unless it has one or they are triplets. */
bdml_status bdml_calibrate(bdml_handle *h, const bdml_dataset *data, const bdml_constraints *c,
                           bdml_model *model);

#endif
