/* warm.h - a training that starts from a model: setting "warm". Private to train.
 *
 *     open      the model, whether it fits, and what it was set to and chose, as far as nothing else is given   warm.c
 *     choice    its reference, cap, effort and votes instead of cross-validation                              warm.c
 *     metric    its metric on the points of this training                                                     warm_start.c
 *     y         its multipliers, of the constraints that are still there                                      warm_start.c
 *
 * The problem is the one that a training without a start would make of these choices: the last solve begins elsewhere and
 * is over sooner. What is claimed of the result is proven as ever. It hangs on the handle while the training lasts. */
#ifndef BDML_WARM_H
#define BDML_WARM_H

#include "train/plan.h"

typedef struct bdml_warm {
    const bdml_model *model;
    bdml_model *own; /* the model, or NULL: the caller's */
    const bdml_dataset *data;
    bool chosen; /* what was left open is taken from its choice */
    /* A: the model on prepared points of this training, model->q rows of d */
    int d;
    double *map;
    int32_t *row; /* of each row of its data the same one here, or -1; NULL: not looked for */
    int64_t kept; /* multipliers that were taken over */
} bdml_warm;

/* By the setting "warm": h->warm stays NULL when it is not set. o: settings of the model come into it, texts borrowed
 * from h->warm. BDML_ERR_ARGUMENT: a model of other data, another method or task. */
bdml_status bdml_warm_open(bdml_handle *h, const bdml_dataset *data, const bdml_constraints *given,
                           bdml_options *o);
void bdml_warm_close(bdml_handle *h);
/* A hash of its map and multipliers. */
void bdml_warm_fingerprint(const bdml_warm *w, char text[24]);

/* The candidate that it chose, and its votes (0: none); false: it chose none of these, or a choice is asked for. */
bool bdml_warm_choice(const bdml_warm *w, const bdml_plan *plan, bdml_candidate *at, int *votes);

/* w->map, for rows prepared like this. */
bdml_status bdml_warm_prepared(bdml_handle *h, const bdml_prepare *p);
/* *m, r x r: its metric on the points of r, for margins like these; the caller's. */
bdml_status bdml_warm_metric(bdml_handle *h, const bdml_reference *r, double margin, double **m);
/* *y: its multipliers for these constraints, the caller's; NULL: none is known, or they would not be read. */
bdml_status bdml_warm_multipliers(bdml_handle *h, const bdml_constraints *c,
                                  const bdml_solve_settings *s, double **y);

#endif
