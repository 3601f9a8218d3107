/* gmml_choose.c - the place t of gmml by cross-validation, as its authors choose it: stratified folds of
 * the training points (of a random part when there are many), the vote of the setting "neighbors". Of the
 * places with the least error the one nearest to 1/2 is taken. */
#include "baselines/gmml.h"

#include <stdlib.h>

#include "linalg/linalg.h"

enum {
    PLACES = 11,         /* t = 0, 0.1, ... 1 */
    FOLDS = 5,           /* fewer when the points are fewer */
    MOST_POINTS = 2000,  /* more sharpen the choice little: its standard error is then below 1 % */
    STREAM = 0x676d6d6c, /* purpose of random numbers: that part of the points */
};

/* Maps learned from a fold, and their errors over the folds. */
typedef struct search {
    double *S, *D, *l; /* r x r; PLACES blocks in l */
    int64_t wrong[PLACES];
} search;

static bool two_classes(const bdml_rows *rows)
{
    for (int64_t i = 1; i < rows->n; i++)
        if (rows->y[i] != rows->y[0]) return true;
    return false;
}

static bdml_status run_folds(bdml_handle *h, const bdml_options *o, bdml_fold *fold, int folds,
                             double ridge, search *s)
{
    int r = fold->rows->d;
    double t[PLACES];
    for (int k = 0; k < PLACES; k++) t[k] = (double)k / (PLACES - 1);
    for (int f = 0; f < folds; f++) {
        BDML_TRY(bdml_progress(h, "gmml", f, folds));
        bdml_fold_take(fold, f);
        if (fold->test.n == 0 || !two_classes(&fold->learn)) continue;
        bdml_training part = bdml_training_of(&fold->learn);
        BDML_TRY(bdml_gmml_scatter(h, &part, ridge, s->S, s->D));
        BDML_TRY(bdml_gmml_means(h, r, s->S, s->D, PLACES, t, s->l));
        for (int k = 0; k < PLACES; k++) {
            int64_t wrong = 0;
            const double *l = s->l + (size_t)k * (size_t)r * (size_t)r;
            BDML_TRY(bdml_fold_errors(h, &o->neighbors, fold, r, l, &wrong));
            s->wrong[k] += wrong;
        }
    }
    return BDML_OK;
}

static double best_place(const int64_t *wrong)
{
    int best = PLACES / 2;
    for (int k = 0; k < PLACES; k++) {
        int from_middle = abs(k - PLACES / 2), best_from = abs(best - PLACES / 2);
        if (wrong[k] < wrong[best] || (wrong[k] == wrong[best] && from_middle < best_from))
            best = k;
    }
    return (double)best / (PLACES - 1);
}

bdml_status bdml_gmml_choose(bdml_handle *h, const bdml_options *o, const bdml_training *z,
                             double ridge, double *t)
{
    bdml_status status = BDML_OK;
    const bdml_rows rows = bdml_training_rows(z);
    uint64_t seed = (uint64_t)o->general.seed.value;
    int64_t count = BDML_MIN(z->n, (int64_t)MOST_POINTS), *row = NULL;
    int folds = (int)BDML_MIN((int64_t)FOLDS, count);
    size_t rr = (size_t)z->d * (size_t)z->d;
    bdml_fold fold = {0};
    search s = {0};

    BDML_NEW(h, row, z->n);
    BDML_NEW(h, s.S, rr);
    BDML_NEW(h, s.D, rr);
    BDML_NEW(h, s.l, PLACES * rr);
    for (int64_t i = 0; i < z->n; i++) row[i] = i;
    bdml_rng rng = bdml_rng_make(seed, STREAM);
    if (count < z->n) bdml_rng_shuffle(&rng, z->n, row);
    BDML_GO(bdml_fold_init(h, &rows, count, row, folds, seed, &fold));
    BDML_GO(run_folds(h, o, &fold, folds, ridge, &s));
    *t = best_place(s.wrong);
done:
    bdml_fold_free(&fold);
    free(row);
    free(s.S);
    free(s.D);
    free(s.l);
    return status;
}
