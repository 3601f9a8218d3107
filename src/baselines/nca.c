/* nca.c - neighbourhood components analysis (Goldberger, Roweis, Hinton, Salakhutdinov 2004): the map L
 * that maximises the expected share of points that the vote of one random neighbour gets right,
 *
 *     max (1/n) sum_i p_i,   p_i = sum of p_ij over j of i's class,
 *     p_ij = exp(-|L x_i - L x_j|^2) / sum over k != i of exp(-|L x_i - L x_k|^2)
 *
 * by L-BFGS, objective and gradient in nca_objective.c. It is not convex, so the start counts: the
 * prepared points as they are, their principal components, or the discriminants of lda. The latter two
 * begin at the size that does best, the first only where its own is hopeless: in units of large numbers
 * every point sees one neighbour only, and the gradient vanishes. */
#include "baselines/nca.h"

#include <stdlib.h>

#include "linalg/linalg.h"
#include "baselines/lbfgs.h"

enum {
    SIZES = 16,         /* sizes tried for the start, factors of 2 in |L|^2 */
    SIZE_POINTS = 1000, /* points they are tried on */
};

/* A step that gains no more than this share of the objective ends it. */
static const double CHANGE = 1e-8;
/* The start has a size of its own when the slope along its size, relative to f, is above this. */
static const double SLOPE = 1e-2;
/* The gradient is wanted at this share of the setting gap, which is made for brackets on an optimum. */
static const double GRADIENT = 1e-2;

/* ---- start ----------------------------------------------------------------------------------------- */

static void identity(int q, int d, double *l)
{
    for (int k = 0; k < q; k++) COL(l, d, k)[k] = 1.0;
}

/* Discriminants, as many as there are of the q rows; the others stay 0, as their gradient is. */
static bdml_status discriminants(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                                 bdml_model *model, int q, double *l)
{
    BDML_TRY(bdml_fit_lda(h, o, t, model));
    memcpy(l, model->l, sizeof *l * (size_t)BDML_MIN(q, model->q) * (size_t)t->d);
    return BDML_OK;
}

/* Mean squared distance of the mapped points, over all pairs. */
static double mean_distance(const bdml_nca *a)
{
    double sum = 0.0, *mean = a->ws;
    memset(mean, 0, sizeof *mean * (size_t)a->q);
    for (int64_t i = 0; i < a->n; i++) {
        sum += a->norm[i] / (double)a->n;
        for (int k = 0; k < a->q; k++) mean[k] += COL(a->z, a->q, i)[k] / (double)a->n;
    }
    return 2.0 * (sum - bdml_la_dot(a->q, mean, mean));
}

/* Multiply l so that a part of the points is classified best; or, when it has a size of its own, leave
 * it where the objective responds to that. */
static bdml_status best_size(bdml_handle *h, const bdml_training *t, int q, bool own, double *l)
{
    bdml_status status = BDML_OK;
    size_t size = (size_t)q * (size_t)t->d;
    /* every step-th point */
    int64_t step = BDML_MAX((t->n + SIZE_POINTS - 1) / SIZE_POINTS, (int64_t)1);
    int64_t count = (t->n + step - 1) / step, *row = NULL;
    double *x = NULL, *scaled = NULL, f, least = INFINITY, best = 1.0;
    const bdml_rows all = bdml_training_rows(t);
    int32_t *y = NULL;
    bdml_nca a = {0};

    BDML_NEW(h, row, count);
    BDML_NEW(h, x, (size_t)count * (size_t)t->d);
    BDML_NEW(h, y, count);
    for (int64_t i = 0; i < count; i++) row[i] = i * step;
    const bdml_rows some = bdml_rows_gather(&all, count, row, x, y);
    const bdml_training part = bdml_training_of(&some);
    BDML_GO(bdml_nca_init(h, &part, q, &a));
    BDML_NEW(h, scaled, size);
    BDML_GO(bdml_nca_objective(&a, l, &f, scaled));
    if (bdml_time_is_up(h)) goto done; /* as it is */
    if (own && bdml_la_norm((int)size, scaled) * bdml_la_norm((int)size, l) > SLOPE * fabs(f))
        goto done;
    double mean = mean_distance(&a);
    if (!(mean > 0.0)) {
        status = bdml_fail(h, BDML_ERR_DATA, "nca: all points are the same");
        goto done;
    }
    for (int k = 0; k < SIZES; k++) { /* mean distance 1, 2, 4, ... */
        double by = sqrt(ldexp(1.0, k) / mean);
        for (size_t e = 0; e < size; e++) scaled[e] = by * l[e];
        BDML_GO(bdml_nca_objective(&a, scaled, &f, NULL));
        if (bdml_time_is_up(h)) break;
        if (f >= least) continue;
        least = f;
        best = by;
    }
    for (size_t e = 0; e < size; e++) l[e] *= best;
done:
    bdml_nca_free(&a);
    free(row);
    free(x);
    free(y);
    free(scaled);
    return status;
}

static bdml_status start(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                         bdml_model *model, int q, double *l)
{
    int choice = o->methods.nca_start.value;
    if (choice == BDML_NCA_START_AUTO)
        choice = q == t->d        ? BDML_NCA_START_IDENTITY
                 : q < t->classes ? BDML_NCA_START_LDA
                                  : BDML_NCA_START_PCA;
    if (choice == BDML_NCA_START_IDENTITY)
        identity(q, t->d, l);
    else if (choice == BDML_NCA_START_PCA)
        BDML_TRY(bdml_principal_rows(h, t, q, l));
    else
        BDML_TRY(discriminants(h, o, t, model, q, l));
    return best_size(h, t, q, choice == BDML_NCA_START_IDENTITY, l);
}

/* ---- fit ------------------------------------------------------------------------------------------------ */

bdml_status bdml_fit_nca(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                         bdml_model *model)
{
    bdml_status status = BDML_OK;
    int q = (int)o->methods.components.value;
    bdml_lbfgs_settings s = bdml_lbfgs_defaults();
    bdml_nca a = {0};
    double *l = NULL;

    BDML_GO(bdml_need_classes(h, t, "nca"));
    if (q == 0 || q > t->d) q = t->d;
    s.what = "nca";
    s.max_iter = BDML_MIN(o->methods.nca_steps.value, o->solve.max_iter.value);
    s.gradient = GRADIENT * o->solve.gap.value;
    s.f_floor = 1e-3;
    s.change = CHANGE;
    BDML_NEW(h, l, (size_t)q * (size_t)t->d);
    BDML_GO(start(h, o, t, model, q, l));
    BDML_GO(bdml_nca_init(h, t, q, &a));
    status = bdml_learn_map(h, q, t->d, l, bdml_nca_objective, &a, &s, model);
done:
    bdml_nca_free(&a);
    free(l);
    return bdml_start_if_late(h, status, model);
}
