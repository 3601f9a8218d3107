/* gmml_choose.c - the place t of gmml by cross-validation, as its authors choose it: stratified folds of
 * the training points (of a random part when there are many), the vote of the setting "neighbors". Of the
 * places with the least error the one nearest to 1/2 is taken. */
#include "baselines/gmml.h"

#include <stdlib.h>

#include "linalg/linalg.h"

enum {
    PLACES = 11,        /* t = 0, 0.1, ... 1 */
    FOLDS = 5,          /* fewer when the points are fewer */
    MOST_POINTS = 2000, /* more sharpen the choice little: its standard error is then below 1 % */
};

typedef struct search {
    bdml_training train, test; /* rows gathered for the fold, room for all */
    double *S, *D, *l;         /* PLACES blocks in l */
    double *mapped_train, *mapped_test, *ws;
    int32_t *index, *votes;
    int64_t wrong[PLACES];
} search;

static void gather(const bdml_training *z, int64_t count, const int64_t *row, const int32_t *fold,
                   int tested, search *s)
{
    size_t r = (size_t)z->d;
    s->train.n = s->test.n = 0;
    for (int64_t i = 0; i < count; i++) {
        bdml_training *side = fold[i] == tested ? &s->test : &s->train;
        memcpy((double *)side->x + (size_t)side->n * r, z->x + (size_t)row[i] * r,
               r * sizeof(double));
        ((int32_t *)side->y)[side->n++] = z->y[row[i]];
    }
}

/* Errors of the vote at place k, added to wrong[k]. */
static bdml_status count_errors(bdml_handle *h, const bdml_neighbor_options *o, search *s, int k)
{
    int r = s->train.d, votes = (int)BDML_MIN(o->neighbors.value, s->train.n);
    const double *l = s->l + (size_t)k * (size_t)r * (size_t)r;
    bdml_la_map_rows(h, r, r, l, s->train.n, s->train.x, r, s->mapped_train, s->ws);
    bdml_la_map_rows(h, r, r, l, s->test.n, s->test.x, r, s->mapped_test, s->ws);
    bdml_knn_query query = {.n = s->train.n,
                            .d = r,
                            .x = s->mapped_train,
                            .ld = r,
                            .queries = s->test.n,
                            .q = s->mapped_test,
                            .ldq = r,
                            .which = BDML_ANY_CLASS,
                            .k = votes};
    BDML_TRY(bdml_knn_search(h, &query, s->index, NULL));
    for (int64_t i = 0; i < s->test.n; i++)
        s->wrong[k] += bdml_knn_vote(votes, s->index + i * votes, s->train.y, s->train.classes,
                                     s->votes) != s->test.y[i];
    return BDML_OK;
}

static bool two_classes(const bdml_training *t)
{
    for (int64_t i = 1; i < t->n; i++)
        if (t->y[i] != t->y[0]) return true;
    return false;
}

static bdml_status run_folds(bdml_handle *h, const bdml_options *o, const bdml_training *z,
                             int64_t count, const int64_t *row, const int32_t *fold, int folds,
                             double ridge, search *s)
{
    double t[PLACES];
    for (int k = 0; k < PLACES; k++) t[k] = (double)k / (PLACES - 1);
    for (int f = 0; f < folds; f++) {
        BDML_TRY(bdml_progress(h, "gmml", f, folds));
        gather(z, count, row, fold, f, s);
        if (s->test.n == 0 || !two_classes(&s->train)) continue;
        BDML_TRY(bdml_gmml_scatter(h, &s->train, ridge, s->S, s->D));
        BDML_TRY(bdml_gmml_means(h, z->d, s->S, s->D, PLACES, t, s->l));
        for (int k = 0; k < PLACES; k++) BDML_TRY(count_errors(h, &o->neighbors, s, k));
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
    uint64_t seed = (uint64_t)o->general.seed.value;
    int64_t count = BDML_MIN(z->n, (int64_t)MOST_POINTS), *row = NULL;
    int folds = (int)BDML_MIN((int64_t)FOLDS, count);
    size_t r = (size_t)z->d, rr = r * r;
    int32_t *fold = NULL, *label = NULL, *train_y = NULL, *test_y = NULL;
    double *train_x = NULL, *test_x = NULL;
    search s = {0};

    BDML_NEW(h, row, z->n);
    BDML_NEW(h, fold, count);
    BDML_NEW(h, label, count);
    BDML_NEW(h, train_x, (size_t)count * r);
    BDML_NEW(h, test_x, (size_t)count * r);
    BDML_NEW(h, train_y, count);
    BDML_NEW(h, test_y, count);
    BDML_NEW(h, s.S, rr);
    BDML_NEW(h, s.D, rr);
    BDML_NEW(h, s.l, PLACES * rr);
    BDML_NEW(h, s.mapped_train, (size_t)count * r);
    BDML_NEW(h, s.mapped_test, (size_t)count * r);
    BDML_NEW(h, s.ws, bdml_la_map_size(z->d, z->d));
    BDML_NEW(h, s.index, count * BDML_MIN(o->neighbors.neighbors.value, count));
    BDML_NEW(h, s.votes, z->classes);
    s.train = (bdml_training){0, z->d, train_x, train_y, z->classes, NULL, NULL};
    s.test = (bdml_training){0, z->d, test_x, test_y, z->classes, NULL, NULL};
    for (int64_t i = 0; i < z->n; i++) row[i] = i;
    bdml_rng rng = bdml_rng_make(seed, 0x676d6d6c);
    if (count < z->n) bdml_rng_shuffle(&rng, z->n, row);
    for (int64_t i = 0; i < count; i++) label[i] = z->y[row[i]];
    BDML_GO(bdml_split_folds(h, count, label, folds, seed, 0, fold));
    BDML_GO(run_folds(h, o, z, count, row, fold, folds, ridge, &s));
    *t = best_place(s.wrong);
done:
    free(row);
    free(fold);
    free(label);
    free(train_x);
    free(test_x);
    free(train_y);
    free(test_y);
    free(s.S);
    free(s.D);
    free(s.l);
    free(s.mapped_train);
    free(s.mapped_test);
    free(s.ws);
    free(s.index);
    free(s.votes);
    return status;
}
