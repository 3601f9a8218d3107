/* unseen_sets.h - the sets of the study of unseen classes, as it takes them. */
#ifndef BDML_UNSEEN_SETS_H
#define BDML_UNSEEN_SETS_H

#include "reproduce.h"

typedef struct unseen_set {
    const char *name, *path; /* path: under the data folder */
    const char *other_place; /* where the file is as well, or NULL */
    const char *label;       /* of the file; NULL: found */
    const char *scale, *pca; /* of the rows; pca "0": none */
    const char *share;       /* of the classes that are unseen */
    int rows;                /* at most, evenly spaced; 0: all */
    int splits;
    bool people; /* LFW: labels and choice of rows from images.csv */
} unseen_set;

int unseen_set_count(void);
const unseen_set *unseen_set_at(int i);
bool unseen_set_is_here(const unseen_set *s); /* its files are */
/* The rows of a set that is here, at most `most`, and its settings on the handle. Where rows are left over, PCA is fitted
 * on those, once; else by each split on what it learns from. */
bdml_status unseen_set_read(bdml_handle *h, const unseen_set *s, int most, bdml_dataset **out);

#endif
