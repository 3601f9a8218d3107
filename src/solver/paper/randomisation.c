/* randomisation.c - Algorithm 3: Gaussian samples with the covariance of the relaxed solution, and the choice of one.
 *
 *     atoms       Z = (q/T) sum_t vec(w_t u_t') vec(w_t u_t')':   xi = sqrt(q/T) sum_t g_t w_t u_t',  g ~ N(0, I_T)
 *     separable   Z = (root root') x I_q:                         the rows of xi are independent N(0, root root')
 *
 * No matrix of qd rows: a sample is one product of a q x T and a T x d matrix. Sample k is a function of the seed and k.
 *
 *     nu    = min_t <A_t, xi' L xi> / mu_t        zeta = max |xi A_uv xi' - b_uv|        omega = objective / its mean
 *
 * The paper takes the sample of least objective, which may well miss the margins: shrunken samples win. The
 * scale-free rule takes the largest nu/objective, so that a factor on Lambda makes it meet the margins at the least
 * cost; for nu <= 0 it goes on meaning the least contradiction for its size. */
#include <stdlib.h>

#include "solver/paper/relaxed.h"

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

typedef struct judge {
    bdml_handle *h;
    bdml_margin *op;
    const bdml_constraints *c;
    int d, q;
    const double *lambda;
    double margin;
    double *map;  /* d x q: rows times sqrt(lambda) */
    double *v;    /* values of the constraints */
    double *gram; /* q x q */
    double *root, *sigma, *spare;
    bdml_eigh_ws eigen;
} judge;

static void judge_free(judge *J)
{
    double *arrays[] = {J->map, J->v, J->gram, J->root, J->sigma, J->spare};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
    bdml_eigh_ws_free(&J->eigen);
}

static bdml_status judge_init(judge *J)
{
    bdml_status status = BDML_OK;
    size_t d = (size_t)J->d, q = (size_t)J->q;
    BDML_NEW(J->h, J->map, d * q);
    BDML_NEW(J->h, J->v, J->c->m);
    BDML_NEW(J->h, J->gram, q * q);
    BDML_NEW(J->h, J->root, q * q);
    BDML_NEW(J->h, J->sigma, q);
    BDML_NEW(J->h, J->spare, d * q);
    BDML_GO(bdml_eigh_ws_init(J->h, J->q, &J->eigen));
done:
    return status;
}

static void value(judge *J, const double *Q, double *objective, double *nu)
{
    for (int i = 0; i < J->q; i++) {
        double root = sqrt(J->lambda[i]);
        for (int j = 0; j < J->d; j++) COL(J->map, J->d, i)[j] = root * COL(Q, J->d, i)[j];
    }
    bdml_margin_forward_low(J->op, J->q, J->map, 1.0, J->v);
    *objective = bdml_margin_target_mean(J->op);
    *nu = INFINITY;
    for (int64_t t = 0; t < J->c->m; t++) {
        double mu = J->margin * (J->c->margin ? J->c->margin[t] : 1.0);
        if (mu > 0.0) *nu = BDML_MIN(*nu, J->v[t] / mu);
    }
}

bdml_status bdml_judge(bdml_handle *h, bdml_margin *op, const bdml_constraints *c, int d, int q,
                       const double *lambda, double margin, const double *Q, double *objective,
                       double *nu)
{
    judge J = {h, op, c, d, q, lambda, margin, NULL, NULL, NULL, NULL, NULL, NULL, {0}};
    bdml_status status = judge_init(&J);
    if (status == BDML_OK) value(&J, Q, objective, nu);
    judge_free(&J);
    return status;
}

/* xi xi' (both triangles) and zeta. */
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

/* xi <- (xi xi')^(-1/2) xi, the nearest matrix with orthonormal rows, twice, for the first pass squares the
 * condition. False when xi has not full rank, to half the digits. */
static bdml_status polar(judge *J, double *xi, bool *full)
{
    enum { PASSES = 2 };
    static const double DEFICIENT = 1e-12; /* of squared singular values */
    int d = J->d, q = J->q;
    for (int pass = 0; pass < PASSES; pass++) {
        double *P = J->gram;
        if (pass > 0) orthogonality(J, xi);
        BDML_TRY(bdml_la_eigh(J->h, q, P, J->sigma, true, &J->eigen));
        *full = J->sigma[0] > DEFICIENT * J->sigma[q - 1];
        if (!*full) return BDML_OK;
        for (int j = 0; j < q; j++)
            for (int i = 0; i < q; i++)
                COL(J->spare, q, j)[i] = COL(P, q, j)[i] / sqrt(J->sigma[j]);
        bdml_la_gemm_tiled(J->h, 'N', 'T', q, q, q, 1.0, J->spare, q, P, q, 0.0, J->root, q);
        bdml_la_gemm_tiled(J->h, 'N', 'N', d, q, q, 1.0, xi, d, J->root, q, 0.0, J->map, d);
        memcpy(xi, J->map, sizeof *xi * (size_t)d * (size_t)q);
    }
    return BDML_OK;
}

/* ---- choosing --------------------------------------------------------------------------------------------------- */

typedef struct choice {
    double merit, objective, nu; /* of the best so far, as it would be returned */
    double sample_nu, zeta, raw; /* of it as drawn */
    bool taken;
} choice;

/* Does any orthonormal Q that was seen meet the margins? */
static void note_achieved(double objective, double nu, bdml_relaxation_report *r)
{
    if (nu >= 1.0) r->achieved = BDML_MIN(r->achieved, objective);
}

static bdml_status consider(judge *J, const bdml_relaxation_settings *s, double *xi, choice *best,
                            double *Q, bdml_relaxation_report *r)
{
    choice now = {0};
    bool full = true;
    now.zeta = orthogonality(J, xi);
    value(J, xi, &now.raw, &now.sample_nu);
    now.objective = now.raw;
    now.nu = now.sample_nu;
    if (s->orthonormalise) {
        BDML_TRY(polar(J, xi, &full));
        if (!full) return BDML_OK; /* no Q with orthonormal rows near this one */
        value(J, xi, &now.objective, &now.nu);
        note_achieved(now.objective, now.nu, r);
    }
    now.merit = s->rule == BDML_SAMPLE_PAPER ? -now.raw : now.nu / now.objective;
    if (!(now.merit > best->merit)) return BDML_OK;
    now.taken = true;
    *best = now;
    memcpy(Q, xi, sizeof *Q * (size_t)J->d * (size_t)J->q);
    return BDML_OK;
}

bdml_status bdml_randomise(bdml_handle *h, bdml_margin *op, const bdml_constraints *c,
                           const bdml_sampler *from, const double *lambda,
                           const bdml_relaxation_settings *s, double expected, double *Q,
                           bdml_relaxation_report *r)
{
    bdml_status status = BDML_OK;
    judge J = {h,    op,   c,    from->d, from->q, lambda, s->margin,
               NULL, NULL, NULL, NULL,    NULL,    NULL,   {0}};
    double *scratch = NULL, *xi = NULL, start = bdml_now();
    choice best = {.merit = -INFINITY};

    BDML_GO(judge_init(&J));
    BDML_NEW(h, scratch, bdml_sampler_size(from));
    BDML_NEW(h, xi, (size_t)from->d * (size_t)from->q);
    value(&J, Q, &r->start_objective, &r->start_nu);
    note_achieved(r->start_objective, r->start_nu, r);
    r->objective = r->start_objective;
    r->nu = r->start_nu;
    if (s->rule == BDML_SAMPLE_SCALE_FREE) best.merit = r->start_nu / r->start_objective;
    for (int64_t k = 0; k < s->samples; k++) {
        bdml_sample(h, from, s->seed, k, scratch, xi);
        BDML_GO(consider(&J, s, xi, &best, Q, r));
        BDML_GO(bdml_progress(h, "Gaussian samples", k + 1, s->samples));
    }
    r->samples = s->samples;
    r->improved = best.taken;
    if (best.taken) {
        r->objective = best.objective;
        r->nu = best.nu;
        r->sample_nu = best.sample_nu;
        r->zeta = best.zeta;
        r->omega = best.raw / expected;
    }
done:
    r->sample_seconds = bdml_now() - start;
    free(scratch);
    free(xi);
    judge_free(&J);
    return status;
}
