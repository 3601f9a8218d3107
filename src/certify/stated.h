/* stated.h - the problem that the settings of a model state, and its comparison with the one in the file, a
 * subject a file. Private to certify. */
#ifndef BDML_STATED_H
#define BDML_STATED_H

#include "certify/plain.h"

/* Where constraints come from. */
typedef enum bdml_origin {
    BDML_ORIGIN_UNKNOWN,  /* the file does not say */
    BDML_ORIGIN_GIVEN,    /* by the program that called: they stand in no file */
    BDML_ORIGIN_RELEVANT, /* mined from the positives of a file that the settings name */
    BDML_ORIGIN_FILES,    /* the files that the settings name */
    BDML_ORIGIN_RULE,     /* mined from the classes by the rule of the settings */
    BDML_ORIGIN_RECIPE    /* mined by the recipe: nearest targets, random impostors */
} bdml_origin;

/* What the weight of missed margins is a multiple of. */
typedef enum bdml_threshold {
    BDML_THRESHOLD_CAP,      /* that of the cap K */
    BDML_THRESHOLD_IDENTITY, /* that of M = tI; where there is none, as above */
    BDML_THRESHOLD_ALIKE /* that of M = tI; where there is none, of the smallest cap that has one */
} bdml_threshold;

typedef struct bdml_stated {
    bdml_handle *own; /* holds the settings */
    const bdml_options *o;
    bdml_origin origin;
    bool chosen; /* cross-validation chose some of what follows; its word is taken for which */
    bool given;  /* constraints came with the points: from a program, or a file of pairs alone */
    bool pairs;  /* and are pairs whose cap is left open: classes count for nothing */
    const char *reference; /* a kind, or the name of a file */
    double K, softness;
    int passes; /* times that neighbours were mined */
    bdml_threshold threshold;
    bdml_pull pull;
    bool hard, diagonal, squared;
    double margin, R, gap;
} bdml_stated;

/* From the description of the model. BDML_OK with s->own NULL: the settings are none, and a check says so. */
bdml_status bdml_stated_open(bdml_handle *h, bdml_plain *w, bdml_stated *s);
void bdml_stated_close(bdml_stated *s);

/* fill, scale, PCA (preparation.c) */
bdml_status bdml_check_preparation(bdml_handle *h, bdml_plain *w, const bdml_stated *s);
/* the reference metric (reference.c) */
bdml_status bdml_check_reference(bdml_handle *h, bdml_plain *w, const bdml_stated *s);
/* scale of the objective, weight of missed margins (weight.c) */
bdml_status bdml_check_weight(bdml_handle *h, bdml_plain *w, const bdml_stated *s);
/* constraints from files (given.c) */
bdml_status bdml_check_given(bdml_plain *w, const bdml_stated *s);
/* constraints from classes (mining.c) */
bdml_status bdml_check_mining(bdml_handle *h, bdml_plain *w, const bdml_stated *s);
/* score and threshold of a model learned from pairs (threshold.c) */
bdml_status bdml_check_threshold(bdml_handle *h, bdml_plain *w, const bdml_stated *s);

/* Fields of the evidence that hold the constraints. */
#define BDML_CONSTRAINT_FIELDS                                                                \
    "constraints evidence.pair_i evidence.pair_j evidence.target evidence.far evidence.near " \
    "evidence.margin evidence.weight"

/* Eigenvalues, ascending, and orthonormal eigenvectors, as rows of v, of the symmetric a (d x d, destroyed), by
 * Jacobi's rotations (eigenvectors.c). */
bool bdml_plain_eigenvectors(int d, long double *a, long double *lambda, long double *v);

/* The map of near rows for the n points p of d, d x d (local.c), and the relative error of one that is made in doubles: *error in:
 * that of the points; INFINITY: nothing can be told. At most so many rows have a say. */
enum { BDML_PLAIN_LOCAL_ROWS = 700 };
bdml_status bdml_plain_local(bdml_handle *h, int64_t n, int d, const long double *p,
                             const int32_t *y, long double across, long double *l, double *error);

#endif
