/* gmml.c - geometric mean metric learning (Zadeh, Hosseini, Sra 2016):
 *
 *     min over M > 0 of  <M, S> + <M^-1, D>   at t = 1/2, and in general the point
 *     M = S^-1 #_t D = S^(-1/2) (S^(1/2) D S^(1/2))^t S^(-1/2),   0 <= t <= 1,
 *
 * on the geodesic from S^-1 (t = 0) to D (t = 1), with S and D the mean of (x_i-x_j)(x_i-x_j)' over the
 * pairs of equal and of different classes. All pairs enter, none is drawn: with n_c points and covariance
 * C_c of class c and St that of all points,
 *
 *     sum over pairs in c = 2 n_c^2 C_c,   sum over all pairs = 2 n^2 St.
 *
 * S^-1 and D change with the units of the columns in opposite ways, so the prepared points are taken as
 * they are, in an orthonormal basis of their span. The regularisation of the paper with the identity as
 * prior is the ridge: S + s (tr S/r) I, D + s (tr D/r) I. */
#include "baselines/baselines.h"

#include <stdlib.h>

#include "linalg/linalg.h"

/* ---- scatter --------------------------------------------------------------------------------------- */

static void add_ridge(int r, double ridge, double *a)
{
    double trace = 0.0;
    for (int j = 0; j < r; j++) trace += COL(a, r, j)[j];
    for (int j = 0; j < r; j++) COL(a, r, j)[j] += ridge * trace / r;
}

/* Mean outer product of differences inside classes, S, and between them, D, each r x r with the ridge:
 * BDML_ERR_DATA when all rows are of one class. */
static bdml_status make_scatters(bdml_handle *h, const bdml_training *z, double ridge, double *S,
                                 double *D)
{
    bdml_status status = BDML_OK;
    size_t n = (size_t)z->n, r = (size_t)z->d;
    double *mean = NULL, *moved = NULL, *weight = NULL, *ws = NULL;
    double all = (double)n * (double)n, same = 0.0;
    const bdml_rows rows = bdml_training_rows(z);
    int64_t *count = NULL;

    BDML_GO(bdml_need_classes(h, z, "gmml"));
    BDML_NEW(h, mean, (size_t)z->classes * r);
    BDML_NEW(h, count, z->classes);
    BDML_NEW(h, weight, n);
    BDML_NEW(h, moved, n * r);
    BDML_NEW(h, ws, bdml_la_gram_size(z->d));
    BDML_GO(bdml_class_means(h, &rows, NULL, count, mean, NULL));
    for (size_t i = 0; i < n; i++) {
        size_t c = (size_t)z->y[i];
        weight[i] = (double)count[c];
        for (size_t j = 0; j < r; j++) moved[i * r + j] = z->x[i * r + j] - mean[c * r + j];
    }
    bdml_la_gram(h, z->d, z->n, moved, z->d, weight, S, ws); /* sum over classes of n_c^2 C_c */
    const bdml_training one = {z->n, z->d, z->x, NULL, 1, NULL, NULL, NULL, NULL};
    BDML_GO(bdml_within_covariance(h, &one, D));
    for (int c = 0; c < z->classes; c++) same += (double)count[c] * (double)count[c];
    for (size_t e = 0; e < r * r; e++) {
        D[e] = (all * D[e] - S[e]) / (all - same);
        S[e] /= same;
    }
    add_ridge(z->d, ridge, S);
    add_ridge(z->d, ridge, D);
done:
    free(mean);
    free(count);
    free(weight);
    free(moved);
    free(ws);
    return status;
}

/* ---- the mean ---------------------------------------------------------------------------------------- */

/* root = S^(1/2), inverse = S^(-1/2); q: r x r scratch. */
static bdml_status roots(bdml_handle *h, int r, const double *S, double *root, double *inverse,
                         double *q, double *lambda, bdml_eigh_ws *eigen)
{
    memcpy(q, S, sizeof *q * (size_t)r * (size_t)r);
    BDML_TRY(bdml_la_eigh(h, r, q, lambda, true, eigen));
    if (!(lambda[0] > 0.0))
        return bdml_fail(
            h, BDML_ERR_DATA,
            "gmml: the points of each class do not vary in every direction of the data; "
            "raise the ridge");
    for (int k = 0; k < r; k++)
        for (int j = 0; j < r; j++) COL(q, r, k)[j] *= sqrt(sqrt(lambda[k]));
    bdml_la_gemm('N', 'T', r, r, r, 1.0, q, r, q, r, 0.0, root, r);
    for (int k = 0; k < r; k++)
        for (int j = 0; j < r; j++) COL(q, r, k)[j] /= sqrt(lambda[k]);
    bdml_la_gemm('N', 'T', r, r, r, 1.0, q, r, q, r, 0.0, inverse, r);
    return BDML_OK;
}

/* l (r rows of r) with l'l = S^-1 #_t D for `count` values of t, one r x r block of l each. */
static bdml_status make_means(bdml_handle *h, int r, const double *S, const double *D, int count,
                              const double *t, double *l)
{
    bdml_status status = BDML_OK;
    size_t rr = (size_t)r * (size_t)r;
    double *root = NULL, *inverse = NULL, *lambda = NULL, *q = NULL, *scaled = NULL;
    bdml_eigh_ws eigen = {0};

    BDML_NEW(h, root, rr);
    BDML_NEW(h, inverse, rr);
    BDML_NEW(h, q, rr);
    BDML_NEW(h, scaled, rr);
    BDML_NEW(h, lambda, r);
    BDML_GO(bdml_eigh_ws_init(h, r, &eigen));
    BDML_GO(roots(h, r, S, root, inverse, q, lambda, &eigen));
    bdml_la_gemm('N', 'N', r, r, r, 1.0, root, r, D, r, 0.0, scaled, r);
    bdml_la_gemm('N', 'N', r, r, r, 1.0, scaled, r, root, r, 0.0, q, r);
    BDML_GO(bdml_la_eigh(h, r, q, lambda, true, &eigen));
    double floor = lambda[r - 1] * 1e-300; /* D may be singular: 0^0 is 1, the limit */
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < r; k++)
            for (int j = 0; j < r; j++) COL(scaled, r, k)
        [j] = COL(q, r, k)[j] * pow(BDML_MAX(lambda[k], floor), 0.5 * t[i]);
        bdml_la_gemm('N', 'N', r, r, r, 1.0, inverse, r, scaled, r, 0.0, l + (size_t)i * rr, r);
    }
done:
    bdml_eigh_ws_free(&eigen);
    free(root);
    free(inverse);
    free(q);
    free(scaled);
    free(lambda);
    return status;
}

/* ---- the place t -------------------------------------------------------------------------------------- */

/* By cross-validation, as the authors choose it: stratified folds of the training points (of a random part when
 * there are many), the vote of the setting "neighbors". Of the places with the least error the one nearest to
 * 1/2 is taken. */
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
        BDML_TRY(make_scatters(h, &part, ridge, s->S, s->D));
        BDML_TRY(make_means(h, r, s->S, s->D, PLACES, t, s->l));
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

static bdml_status choose_place(bdml_handle *h, const bdml_options *o, const bdml_training *z,
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

/* ---- fit ----------------------------------------------------------------------------------------------- */

/* basis (d x r, orthonormal) of the span, and the points in it, n rows of r. */
static bdml_status orthonormal(bdml_handle *h, const bdml_training *t, bdml_span *span,
                               double **basis, double **p)
{
    bdml_status status = BDML_OK;
    int d = t->d, r = span->r;
    double *turn = NULL, *ws = NULL;

    BDML_NEW(h, *basis, (size_t)d * (size_t)r);
    BDML_NEW(h, *p, (size_t)t->n * (size_t)r);
    BDML_NEW(h, turn, (size_t)r * (size_t)r);
    BDML_NEW(h, ws, bdml_la_map_size(r, r));
    memcpy(*basis, span->lift, sizeof(double) * (size_t)d * (size_t)r);
    BDML_GO(bdml_la_orth(h, d, r, *basis));
    bdml_la_gemm('T', 'N', r, r, d, 1.0, span->lift, d, *basis, d, 0.0, turn, r);
    bdml_la_map_rows(h, r, r, turn, t->n, span->z, r, *p, ws); /* p = basis' lift z */
done:
    free(turn);
    free(ws);
    return status;
}

bdml_status bdml_fit_gmml(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                          bdml_model *model)
{
    bdml_status status = BDML_OK;
    double ridge = o->methods.ridge.value, place = o->methods.gmml_t.value;
    double *S = NULL, *D = NULL, *l = NULL, *basis = NULL, *p = NULL, *whole = NULL;
    bdml_span span = {0};

    BDML_GO(bdml_need_classes(h, t, "gmml"));
    BDML_GO(bdml_span_make(h, t, &span));
    int r = span.r;
    BDML_GO(orthonormal(h, t, &span, &basis, &p));
    BDML_NEW(h, S, (size_t)r * (size_t)r);
    BDML_NEW(h, D, (size_t)r * (size_t)r);
    BDML_NEW(h, l, (size_t)r * (size_t)r);
    BDML_NEW(h, whole, (size_t)r * (size_t)t->d);
    const bdml_training z = {t->n, r, p, t->y, t->classes, NULL, NULL, NULL, NULL};
    BDML_GO(make_scatters(h, &z, ridge, S, D));
    if (o->methods.gmml_t.automatic) BDML_GO(choose_place(h, o, &z, ridge, &place));
    BDML_GO(make_means(h, r, S, D, 1, &place, l));
    bdml_la_gemm('N', 'N', t->d, r, r, 1.0, basis, t->d, l, r, 0.0, whole, t->d);
    BDML_GO(bdml_model_set_map(h, model, r, whole));
    status = bdml_model_tell(h, model, "gmml_t", json_real(place));
done:
    bdml_span_free(&span);
    free(S);
    free(D);
    free(l);
    free(basis);
    free(p);
    free(whole);
    return status;
}
