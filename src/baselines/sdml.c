/* sdml.c - sparse metric by determinant (Qi, Tang, Zha, Chua, Zhang, ICML 2009):
 *
 *     min over M > 0 of  F(M) = tr(S M) - log det M + lambda sum over i != j of |M_ij|,
 *     S = P + eta D,     D = (1/m) sum_t y_t z_t z_t',     y_t = 1 for similar pairs, -1 for dissimilar ones.
 *
 * P^-1 is what M is without pairs (setting prior): I, or the inverse of the mean scatters of similar and of dissimilar
 * pairs together, a little of their mean variance mixed in so that constant columns leave P regular.
 *
 * It is the graphical lasso of S. The source lets eta be anything, and where S is not positive definite the problem
 * may have no solution, as it mostly has none on real data: programs then end with an error. Here eta is the share
 * sdml-balance of 1 / -lambda_min(P^-1/2 D P^-1/2), from which on S is singular, so that there is always one, and it is free
 * of units.
 *
 * Solver: proximal gradient steps with backtracking, first lengths of Barzilai and Borwein (G-ISTA: Rolfs, Rajaratnam, Guillot, Wong,
 * Maleki 2012); M stays positive definite, and its zeros are exact.
 *
 * Bound. For any W > 0 with W_ii = S_ii and |W_ij - S_ij| <= lambda, log det W + d <= F: tr(W M) <= tr(S M) + lambda sum |M_ij|,
 * and tr(W M) - log det M is least at M = W^-1. W is M^-1 with its entries brought within these limits. */
#include "baselines/pairs.h"

#include <stdlib.h>

enum { LOOK = 4 };                    /* steps between two looks at the bound */
enum { MOST_HALVINGS = 60 };          /* of a step */
static const double SHRINKAGE = 1e-3; /* of the scatter that P is, towards its mean variance */
static const double SHORTEST = 1e-10,
                    LONGEST = 1e10; /* first lengths of a step that are believed */

typedef struct sdml {
    bdml_handle *h;
    int d;
    double lambda;
    double *s, *m, *w;     /* S, M, M^-1: d x d */
    double *next, *next_w; /* the same after a step */
    double *bounded;       /* W of the bound */
    double f, bound, step;
} sdml;

static void free_sdml(sdml *a)
{
    free(a->s);
    free(a->m);
    free(a->w);
    free(a->next);
    free(a->next_w);
    free(a->bounded);
}

/* ---- the problem ----------------------------------------------------------------------------------------- */

/* In: A and B, the scatters of similar and dissimilar pairs, in s and w. Out: P in next, and P^-1/2 in next_w. */
static bdml_status make_prior(sdml *a, double *lambda, bdml_eigh_ws *eigen)
{
    int d = a->d;
    size_t size = (size_t)d * (size_t)d;
    double trace = 0.0;
    for (int j = 0; j < d; j++) trace += COL(a->s, d, j)[j] + COL(a->w, d, j)[j];
    for (size_t e = 0; e < size; e++) a->next[e] = (1.0 - SHRINKAGE) * (a->s[e] + a->w[e]);
    for (int j = 0; j < d; j++) COL(a->next, d, j)[j] += SHRINKAGE * trace / d;
    memcpy(a->bounded, a->next, sizeof *a->bounded * size);
    BDML_TRY(bdml_la_eigh(a->h, d, a->bounded, lambda, true, eigen));
    for (int k = 0; k < d; k++) /* V p^-1/4, whose square is P^-1/2 */
        for (int i = 0; i < d; i++) COL(a->bounded, d, k)[i] /= sqrt(sqrt(lambda[k]));
    bdml_la_syrk('N', d, d, 1.0, a->bounded, d, 0.0, a->next_w, d);
    bdml_la_mirror(d, a->next_w, d);
    return BDML_OK;
}

/* S of the pairs. */
static bdml_status make_s(sdml *a, bdml_pairset *set, bdml_prior prior, double balance)
{
    bdml_status status = BDML_OK;
    int d = a->d;
    size_t size = (size_t)d * (size_t)d;
    double m = (double)(set->similar + set->dissimilar), *lambda = NULL;
    bool scatter = prior == BDML_PRIOR_COVARIANCE;
    bdml_eigh_ws eigen = {0};

    BDML_NEW(a->h, lambda, d);
    BDML_GO(bdml_eigh_ws_init(a->h, d, &eigen));
    bdml_pairset_scatter(set, a->s, a->w);
    if (scatter) BDML_GO(make_prior(a, lambda, &eigen));
    for (size_t e = 0; e < size; e++)
        a->s[e] = ((double)set->similar * a->s[e] - (double)set->dissimilar * a->w[e]) / m;
    memcpy(a->w, a->s, sizeof *a->w * size);
    if (scatter) { /* P^-1/2 D P^-1/2 */
        bdml_la_gemm('N', 'N', d, d, d, 1.0, a->next_w, d, a->s, d, 0.0, a->bounded, d);
        bdml_la_gemm('N', 'N', d, d, d, 1.0, a->bounded, d, a->next_w, d, 0.0, a->w, d);
    }
    BDML_GO(bdml_la_eigh(a->h, d, a->w, lambda, false, &eigen));
    double least = -lambda[0], most = lambda[d - 1];
    if (!(BDML_MAX(least, most) > 0.0)) {
        status = bdml_fail(a->h, BDML_ERR_DATA, "sdml: the points of all pairs are identical");
        goto done;
    }
    /* no dissimilar spread beyond the similar one anywhere: any eta has a solution */
    double eta = balance / (least > 1e-12 * most ? least : most);
    for (size_t e = 0; e < size; e++) a->s[e] = eta * a->s[e] + (scatter ? a->next[e] : 0.0);
    for (int j = 0; j < d && !scatter; j++) COL(a->s, d, j)[j] += 1.0;
done:
    free(lambda);
    bdml_eigh_ws_free(&eigen);
    return status;
}

/* F at m, whose inverse comes into w; infinite where m is not positive definite. */
static double objective(const sdml *a, const double *m, double *w)
{
    int d = a->d;
    double log_det, sum = 0.0, size = 0.0;
    memcpy(w, m, sizeof *w * (size_t)d * (size_t)d);
    if (!bdml_la_invert_spd(d, w, &log_det)) return INFINITY;
    for (int j = 0; j < d; j++)
        for (int i = 0; i < d; i++) {
            sum += COL(a->s, d, j)[i] * COL(m, d, j)[i];
            if (i != j) size += fabs(COL(m, d, j)[i]);
        }
    return sum - log_det + a->lambda * size;
}

static void look(sdml *a)
{
    int d = a->d;
    double log_det;
    for (int j = 0; j < d; j++)
        for (int i = 0; i < d; i++) {
            double s = COL(a->s, d, j)[i], w = COL(a->w, d, j)[i];
            double near = i == j ? s : BDML_MIN(BDML_MAX(w, s - a->lambda), s + a->lambda);
            COL(a->bounded, d, j)[i] = near;
        }
    if (bdml_la_invert_spd(d, a->bounded, &log_det)) a->bound = BDML_MAX(a->bound, log_det + d);
}

/* ---- steps ------------------------------------------------------------------------------------------------ */

static double shrink(double v, double by)
{
    return v > by ? v - by : v < -by ? v + by : 0.0;
}

/* next = the proximal step of length a->step from m, halved until the quadratic model there lies above F. False: rounding. */
static bool descend(sdml *a, double *f)
{
    int d = a->d;
    for (int halvings = 0; halvings < MOST_HALVINGS; halvings++, a->step /= 2.0) {
        double linear = 0.0, square = 0.0, before = 0.0, after = 0.0;
        for (int j = 0; j < d; j++)
            for (int i = 0; i < d; i++) {
                double m = COL(a->m, d, j)[i], g = COL(a->s, d, j)[i] - COL(a->w, d, j)[i];
                double to = m - a->step * g;
                if (i != j) to = shrink(to, a->step * a->lambda);
                COL(a->next, d, j)[i] = to;
                linear += g * (to - m);
                square += (to - m) * (to - m);
                if (i != j) before += fabs(m), after += fabs(to);
            }
        double model = a->f + linear + square / (2.0 * a->step) + a->lambda * (after - before);
        *f = objective(a, a->next, a->next_w);
        if (*f <= model && *f <= a->f) return true;
    }
    return false;
}

/* Length of the next step by the last one, (m - old)'(m - old) / (m - old)'(g - old g), the gradients being S - M^-1. */
static void set_step(sdml *a)
{
    size_t size = (size_t)a->d * (size_t)a->d;
    double square = 0.0, product = 0.0;
    for (size_t e = 0; e < size; e++) {
        double change = a->next[e] - a->m[e];
        square += change * change;
        product += change * (a->w[e] - a->next_w[e]);
    }
    double step = product > 0.0 ? square / product : 1.0;
    a->step = BDML_MIN(BDML_MAX(step, SHORTEST), LONGEST);
}

static void swap(double **p, double **q)
{
    double *one = *p;
    *p = *q;
    *q = one;
}

static bdml_status solve(sdml *a, const bdml_solve_options *o, bdml_solution *told)
{
    double f;
    bool stuck = false;
    int d = a->d;
    for (int j = 0; j < d; j++) COL(a->m, d, j)[j] = 1.0 / COL(a->s, d, j)[j];
    a->f = objective(a, a->m, a->w);
    a->bound = -INFINITY;
    a->step = 1.0;
    for (told->iterations = 0;; told->iterations++) {
        bool last = stuck || bdml_pairs_limit(a->h, o, told->iterations);
        if (told->iterations % LOOK == 0 || last) look(a);
        told->gap = (a->f - a->bound) / d;
        told->done = told->gap <= o->gap.value;
        if (told->done || last) return BDML_OK;
        BDML_TRY(bdml_progress(a->h, "sdml", told->iterations, 0));
        stuck = !descend(a, &f); /* rounding: the bound is looked at once more */
        if (stuck) continue;
        set_step(a);
        swap(&a->m, &a->next);
        swap(&a->w, &a->next_w);
        a->f = f;
    }
}

/* ---- the method -------------------------------------------------------------------------------------------- */

static bdml_status init(sdml *a)
{
    bdml_status status = BDML_OK;
    size_t size = (size_t)a->d * (size_t)a->d;
    BDML_NEW(a->h, a->s, size);
    BDML_NEW(a->h, a->m, size);
    BDML_NEW(a->h, a->w, size);
    BDML_NEW(a->h, a->next, size);
    BDML_NEW(a->h, a->next_w, size);
    BDML_NEW(a->h, a->bounded, size);
done:
    return status;
}

bdml_status bdml_fit_sdml(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                          bdml_model *model)
{
    bdml_status status = BDML_OK;
    bdml_pairset set = {0};
    bdml_solution told = {.rank = t->d};
    sdml a = {.h = h, .d = t->d, .lambda = o->methods.sdml_sparsity.value};
    int64_t entries = 0;

    BDML_GO(bdml_pairset_new(h, o, "sdml", t, false, &set));
    BDML_GO(init(&a));
    BDML_GO(make_s(&a, &set, (bdml_prior)o->methods.prior.value, o->methods.sdml_balance.value));
    BDML_GO(solve(&a, &o->solve, &told));
    BDML_GO(bdml_model_set_metric(h, model, a.m));
    for (int j = 0; j < t->d; j++)
        for (int i = 0; i < j; i++) entries += COL(a.m, t->d, j)[i] != 0.0;
    told.objective = a.f;
    told.bound = a.bound;
    told.similar = set.similar;
    told.dissimilar = set.dissimilar;
    json_t *more = json_pack("{s:I}", "entries", (json_int_t)entries);
    status = bdml_solution_record(h, &told, more, model);
done:
    free_sdml(&a);
    bdml_pairset_free(&set);
    return status;
}
