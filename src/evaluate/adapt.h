/* adapt.h - domain adaptation: learn on one domain, classify another. Private to evaluate.
 *
 *     bdml_adapt          the splits, side by side                      adapt.c
 *       adapt_splits      which rows are trained on and tested          adapt_splits.c, adapt_file.c
 *       adapt_prepare     rows, columns, PCA, length                    adapt_prepare.c
 *       adapt_write       the result as JSON                            adapt_report.c */
#ifndef BDML_ADAPT_H
#define BDML_ADAPT_H

#include "evaluate/evaluate.h"

/* ---- splits ----------------------------------------------------------------------------------------- */

/* Rows from 0. source: to learn from; target: labelled ones of the target domain, used when
 * semi-supervised; test: tested when semi-supervised (otherwise every target row is). */
typedef struct adapt_split {
    int64_t sources, targets, tests;
    int64_t *source, *target, *test;
} adapt_split;

typedef struct adapt_splits {
    int count;
    adapt_split *split;
} adapt_splits;

/* From the file of the setting splits-file, or at random by source-per-class and target-per-class; the
 * first "trials" of them. y: classes of the target rows in the source's numbering. */
bdml_status adapt_splits_make(bdml_handle *h, const bdml_options *o, const bdml_dataset *source,
                              const bdml_dataset *target, adapt_splits *out);
bdml_status adapt_splits_read(bdml_handle *h, const char *path, int most, adapt_splits *out);
bdml_status adapt_splits_random(bdml_handle *h, const bdml_options *o, const bdml_dataset *source,
                                const bdml_dataset *target, int count, adapt_splits *out);
void adapt_splits_free(adapt_splits *s);

/* ---- preparation ------------------------------------------------------------------------------------ */

/* The rows of a split, prepared: source rows of the split, and all target rows. */
typedef struct adapt_points {
    int64_t ns, nt;
    int d, q;         /* scaled dimension; dimension after PCA */
    double *xs, *xt;  /* scaled: ns and nt rows of d; for methods with subspaces of their own */
    double *zs, *zt;  /* reduced by PCA: ns and nt rows of q */
    const int32_t *y; /* classes of the target rows */
} adapt_points;

/* The setting "rows", on all rows of a domain at once: in place. */
bdml_status adapt_rows(bdml_handle *h, const bdml_adapt_options *o, bdml_dataset *data);
/* The settings column-scale, column-scale-of, dimensions, pca-domain and unit, fitted on the split's source rows
 * and all target rows without their labels. */
bdml_status adapt_prepare(bdml_handle *h, const bdml_options *o, const bdml_dataset *source,
                          const bdml_dataset *target, const adapt_split *split, adapt_points *out);
void adapt_points_free(adapt_points *p);

/* ---- result ----------------------------------------------------------------------------------------- */

typedef struct adapt_result {
    const bdml_dataset *source, *target;
    const adapt_splits *splits;
    int64_t tested; /* rows, of the first split */
    int methods;
    const bdml_score *score;
} adapt_result;

bdml_status adapt_write(bdml_handle *h, const bdml_options *o, const adapt_result *r, char **json);

#endif
