/* randomisation.c - Algorithm 3: Gaussian samples with the covariance of the relaxed solution, and the choice of one.
 *
 *     atoms       Z = (q/T) sum_t vec(w_t u_t') vec(w_t u_t')':   xi = sqrt(q/T) sum_t g_t w_t u_t',  g ~ N(0, I_T)
 *     apart       Z = (root root') x I_q:                         the rows of xi are independent N(0, root root')
 *
 * No matrix of qd rows: a sample is one product of a q x T and a T x d matrix. Sample k is a function of the seed and k.
 *
 *     nu    = min_t <A_t, xi' L xi> / mu_t        zeta = max |xi A_uv xi' - b_uv|        omega = objective / its mean
 *
 * The paper takes the sample of least objective, which may well miss the margins: shrunken samples win. The
 * scale-free rule takes the largest nu/objective, so that a factor on Lambda makes it meet the margins at the least
 * cost; for nu <= 0 it goes on meaning the least contradiction for its size.
 *
 * Most samples are told from the constraints that were the worst of those before, without a look at the others. */
#include <stdlib.h>

#include "paper/relaxed.h"

/* ---- drawing ------------------------------------------------------------------------------------------------- */

static int64_t factors(const bdml_sampler *s)
{
    return s->atoms ? s->atoms->count : s->rank;
}

size_t bdml_sampler_size(const bdml_sampler *s)
{
    return (size_t)s->q * (size_t)factors(s);
}

void bdml_sample(const bdml_handle *h, const bdml_sampler *s, uint64_t seed, int64_t index,
                 double *scratch, double *xi)
{
    static const uint64_t STREAM = UINT64_C(0x7278) << 40; /* apart from other uses of the seed */
    int64_t T = factors(s);
    int q = s->q, d = s->d;
    bdml_rng rng = bdml_rng_make(seed, STREAM + (uint64_t)index);
    double scale = 1.0;
    const double *right = s->root;
    if (s->atoms) { /* W diag(g) */
        for (int64_t t = 0; t < T; t++) {
            double g = bdml_rng_normal(&rng);
            for (int i = 0; i < q; i++) COL(scratch, q, t)[i] = g * COL(s->atoms->w, q, t)[i];
        }
        scale = sqrt((double)q / (double)T);
        right = s->atoms->u;
    } else {
        for (int64_t k = 0; k < T * q; k++) scratch[k] = bdml_rng_normal(&rng);
    }
    bdml_la_gemm_tiled(h, 'N', 'T', d, q, T, scale, right, d, scratch, q, 0.0, xi, d);
}

/* ---- judging -------------------------------------------------------------------------------------------------- */

enum { SCREEN = 64 }; /* constraints that a sample is tried on first */

typedef struct judge {
    bdml_handle *h;
    bdml_operator A; /* over metrics of rank q */
    int d, q;
    const double *lambda;
    double *map;  /* d x q: rows times sqrt(lambda) */
    double *v;    /* values of the constraints */
    double *mu;   /* their margins */
    double *gram; /* q x q */
    double *root, *sigma, *spare;
    double *G; /* d x d */
    int screened;
    int64_t worst[SCREEN]; /* constraints, by ratio */
    double *far, *near;    /* their differences, d x SCREEN */
    double *mapped;        /* q x SCREEN */
    bdml_eigh_ws eigen;
} judge;

static void judge_free(judge *J)
{
    double *arrays[] = {J->map,   J->v, J->mu,  J->gram, J->root,  J->sigma,
                        J->spare, J->G, J->far, J->near, J->mapped};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
    bdml_eigh_ws_free(&J->eigen);
}

static bdml_status judge_init(judge *J, bdml_handle *h, bdml_margin *op, const bdml_constraints *c,
                              int rows, int columns, const double *lambda, double margin)
{
    bdml_status status = BDML_OK;
    size_t d = (size_t)columns, q = (size_t)rows;
    *J = (judge){.h = h, .d = columns, .q = rows, .lambda = lambda};
    J->A = bdml_operator_low_rank(op, c, columns, rows);
    BDML_NEW(J->h, J->map, J->A.size);
    BDML_NEW(J->h, J->v, c->m);
    BDML_NEW(J->h, J->mu, c->m);
    BDML_NEW(J->h, J->gram, q * q);
    BDML_NEW(J->h, J->root, q * q);
    BDML_NEW(J->h, J->sigma, q);
    BDML_NEW(J->h, J->spare, d * q);
    BDML_NEW(J->h, J->G, d * d);
    BDML_NEW(J->h, J->far, d * SCREEN);
    BDML_NEW(J->h, J->near, d * SCREEN);
    BDML_NEW(J->h, J->mapped, q * SCREEN);
    BDML_GO(bdml_eigh_ws_init(J->h, J->q, &J->eigen));
    bdml_operator_margins(&J->A, margin, J->mu);
    J->A.ops->objective(&J->A, J->G);
done:
    return status;
}

/* The map of a Q, for the functions below. */
static void set_map(judge *J, const double *Q)
{
    for (int i = 0; i < J->q; i++) {
        double root = sqrt(J->lambda[i]);
        for (int j = 0; j < J->d; j++) COL(J->map, J->d, i)[j] = root * COL(Q, J->d, i)[j];
    }
}

/* <G, map map'> */
static double objective_of(judge *J)
{
    double sum = 0.0;
    int d = J->d;
    bdml_la_gemm_tiled(J->h, 'N', 'N', d, J->q, d, 1.0, J->G, d, J->map, d, 0.0, J->spare, d);
    for (int i = 0; i < J->q; i++) sum += bdml_la_dot(d, COL(J->spare, d, i), COL(J->map, d, i));
    return sum;
}

static double nu_of(judge *J)
{
    bdml_operator_forward(&J->A, J->map, J->v);
    return bdml_cvec_least_ratio(&J->A.space, 1.0, J->v, J->mu);
}

/* Squared lengths of the screened differences under the map are added to v, times sign. */
static void add_screened(judge *J, const double *differences, double sign, double *v)
{
    bdml_la_gemm('T', 'N', J->q, J->screened, J->d, 1.0, J->map, J->d, differences, J->d, 0.0,
                 J->mapped, J->q);
    for (int k = 0; k < J->screened; k++) {
        const double *z = COL(J->mapped, J->q, k);
        v[k] += sign * bdml_la_dot(J->q, z, z);
    }
}

/* nu over the screened constraints alone: never less than nu, but for rounding. */
static double nu_screened(judge *J)
{
    double v[SCREEN] = {0.0}, nu = INFINITY;
    if (J->screened == 0) return nu;
    add_screened(J, J->far, 1.0, v);
    add_screened(J, J->near, -1.0, v);
    for (int k = 0; k < J->screened; k++) nu = BDML_MIN(nu, v[k] / J->mu[J->worst[k]]);
    return nu;
}

/* The constraints of least v/mu, in order, from the values of nu_of. */
static void set_screen(judge *J)
{
    const bdml_constraints *c = J->A.c;
    double ratio[SCREEN];
    J->screened = 0;
    for (int64_t t = 0; t < J->A.space.count; t++) {
        double mu = J->mu[t], here = J->v[t] / mu;
        if (!(mu > 0.0) || (J->screened == SCREEN && !(here < ratio[SCREEN - 1]))) continue;
        int k = BDML_MIN(J->screened, SCREEN - 1);
        for (; k > 0 && ratio[k - 1] > here; k--)
            ratio[k] = ratio[k - 1], J->worst[k] = J->worst[k - 1];
        ratio[k] = here, J->worst[k] = t;
        J->screened = BDML_MIN(J->screened + 1, SCREEN);
    }
    memset(J->near, 0, sizeof *J->near * (size_t)J->d * SCREEN);
    for (int k = 0; k < J->screened; k++) {
        int64_t t = J->worst[k];
        bdml_margin_difference(J->A.margin, c->far[t], COL(J->far, J->d, k));
        if (c->near[t] >= 0) bdml_margin_difference(J->A.margin, c->near[t], COL(J->near, J->d, k));
    }
}

bdml_status bdml_judge(bdml_handle *h, bdml_margin *op, const bdml_constraints *c, int d, int q,
                       const double *lambda, double margin, const double *Q, double *objective,
                       double *nu)
{
    judge J;
    bdml_status status = judge_init(&J, h, op, c, q, d, lambda, margin);
    if (status == BDML_OK) {
        set_map(&J, Q);
        *objective = objective_of(&J);
        *nu = nu_of(&J);
    }
    judge_free(&J);
    return status;
}

/* ---- orthonormal rows -------------------------------------------------------------------------------------------- */

/* xi xi' (both triangles) into J->gram, and zeta. */
static double orthogonality(judge *J, const double *xi)
{
    int q = J->q;
    double zeta = 0.0;
    bdml_la_gemm_tiled(J->h, 'T', 'N', q, q, J->d, 1.0, xi, J->d, xi, J->d, 0.0, J->gram, q);
    for (int j = 0; j < q; j++) {
        zeta = BDML_MAX(zeta, fabs(COL(J->gram, q, j)[j] - 1.0));
        for (int i = j + 1; i < q; i++) zeta = BDML_MAX(zeta, 2.0 * fabs(COL(J->gram, q, j)[i]));
    }
    return zeta;
}

/* xi <- J->root xi */
static void multiply_rows(judge *J, double *xi)
{
    int d = J->d, q = J->q;
    bdml_la_gemm_tiled(J->h, 'N', 'N', d, q, q, 1.0, xi, d, J->root, q, 0.0, J->spare, d);
    memcpy(xi, J->spare, sizeof *xi * (size_t)d * (size_t)q);
}

/* xi <- (xi xi')^(-1/2) xi, the nearest matrix with orthonormal rows. That squares the condition, so steps
 * xi <- (3 - xi xi')/2 xi follow, which square the error that is left. J->gram holds xi xi'. *full false: xi has not
 * full rank, to half the digits. */
static bdml_status polar(judge *J, double *xi, bool *full)
{
    enum { STEPS = 4 };
    static const double DEFICIENT = 1e-12; /* of squared singular values */
    static const double GOOD = 1e-14;
    int q = J->q;
    double *P = J->gram;
    BDML_TRY(bdml_la_eigh(J->h, q, P, J->sigma, true, &J->eigen));
    *full = J->sigma[0] > DEFICIENT * J->sigma[q - 1];
    if (!*full) return BDML_OK;
    for (int j = 0; j < q; j++)
        for (int i = 0; i < q; i++) COL(J->spare, q, j)[i] = COL(P, q, j)[i] / sqrt(J->sigma[j]);
    bdml_la_gemm_tiled(J->h, 'N', 'T', q, q, q, 1.0, J->spare, q, P, q, 0.0, J->root, q);
    multiply_rows(J, xi);
    for (int k = 0; k < STEPS && orthogonality(J, xi) > GOOD * q; k++) {
        for (int j = 0; j < q; j++)
            for (int i = 0; i < q; i++)
                COL(J->root, q, j)[i] = (i == j ? 1.5 : 0.0) - 0.5 * COL(J->gram, q, j)[i];
        multiply_rows(J, xi);
    }
    return BDML_OK;
}

/* ---- choosing --------------------------------------------------------------------------------------------------- */

typedef struct choice {
    int64_t sample; /* -1: the start */
    double merit, objective, nu;
} choice;

/* One sample in xi; full evaluation only where it can win, or be the best that meets the margins. */
static bdml_status consider(judge *J, const bdml_relaxation_settings *s, int64_t sample, double *xi,
                            choice *best, double *Q, bdml_relaxation_report *r)
{
    choice now = {.sample = sample};
    bool paper = !s->value && s->rule == BDML_SAMPLE_PAPER, full = true;
    double raw = 0.0;
    if (paper) {
        set_map(J, xi);
        raw = objective_of(J);
    }
    if (s->orthonormalise) {
        orthogonality(J, xi);
        BDML_TRY(polar(J, xi, &full));
        if (!full) return BDML_OK; /* no Q with orthonormal rows near this one */
    }
    set_map(J, xi);
    now.objective = objective_of(J);
    double most = nu_screened(J);
    double value = s->value ? s->value(s->user, xi) : raw;
    bool could_win = s->value || paper ? -value > best->merit : most / now.objective > best->merit;
    bool could_serve = s->orthonormalise && most >= 1.0 && now.objective < r->achieved;
    if (!could_win && !could_serve) return BDML_OK;
    now.nu = nu_of(J);
    set_screen(J);
    if (s->orthonormalise && now.nu >= 1.0) r->achieved = BDML_MIN(r->achieved, now.objective);
    now.merit = s->value || paper ? -value : now.nu / now.objective;
    if (!(now.merit > best->merit)) return BDML_OK;
    *best = now;
    memcpy(Q, xi, sizeof *Q * (size_t)J->d * (size_t)J->q);
    return BDML_OK;
}

/* The start: judged, and by the scale-free rule a candidate. */
static void consider_start(judge *J, const bdml_relaxation_settings *s, const double *Q,
                           choice *best, bdml_relaxation_report *r)
{
    set_map(J, Q);
    r->objective = r->start_objective = objective_of(J);
    r->nu = r->start_nu = nu_of(J);
    set_screen(J);
    /* the start of a later turn is a sample itself */
    if (s->orthonormalise && r->nu >= 1.0) r->achieved = BDML_MIN(r->achieved, r->objective);
    static const double MORE =
        1e-12; /* a sample that differs by rounding alone does not replace the start */
    double merit = s->value ? -s->value(s->user, Q) : r->nu / r->objective;
    bool candidate = s->value || s->rule == BDML_SAMPLE_SCALE_FREE;
    *best = (choice){.sample = -1, .merit = candidate ? merit + MORE * fabs(merit) : -INFINITY};
}

/* What Theorem 2 speaks of: the chosen sample as it was drawn. */
static void describe(judge *J, const double *xi, double expected, bdml_relaxation_report *r)
{
    r->zeta = orthogonality(J, xi);
    set_map(J, xi);
    r->omega = objective_of(J) / expected;
    r->sample_nu = nu_of(J);
}

bdml_status bdml_randomise(bdml_handle *h, bdml_margin *op, const bdml_constraints *c,
                           const bdml_sampler *from, const double *lambda,
                           const bdml_relaxation_settings *s, double expected, double *Q,
                           bdml_relaxation_report *r)
{
    bdml_status status = BDML_OK;
    judge J;
    double *scratch = NULL, *xi = NULL, start = bdml_now();
    choice best;

    BDML_GO(judge_init(&J, h, op, c, from->q, from->d, lambda, s->margin));
    BDML_NEW(h, scratch, bdml_sampler_size(from));
    BDML_NEW(h, xi, (size_t)from->d * (size_t)from->q);
    consider_start(&J, s, Q, &best, r);
    for (int64_t k = 0; k < s->samples; k++) {
        bdml_sample(h, from, s->seed, k, scratch, xi);
        BDML_GO(consider(&J, s, k, xi, &best, Q, r));
        BDML_GO(bdml_progress(h, "Gaussian samples", k + 1, s->samples));
    }
    r->samples = s->samples;
    r->improved = best.sample >= 0;
    if (r->improved) {
        r->objective = best.objective;
        r->nu = best.nu;
        bdml_sample(h, from, s->seed, best.sample, scratch, xi);
        describe(&J, xi, expected, r);
    }
done:
    r->sample_seconds = bdml_now() - start;
    free(scratch);
    free(xi);
    judge_free(&J);
    return status;
}
