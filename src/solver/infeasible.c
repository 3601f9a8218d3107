/* infeasible.c - proofs that no M in the set meets all margins (eq. 20): y >= 0 with
 *
 *     b'y > max over the set of <A*y, M>
 *
 * When that maximum over the whole cone is <= 0, the proof needs neither R nor the size of the
 * margins. The misses y = (b - v)_+ of the M that minimises their sum of squares are such a y,
 * if there is one. */
#include "solver/engine.h"

/* The inequality must hold by this share, well above the rounding of b'y. */
static const double CLEAR = 1e-9;

/* A proof that holds for every trace up to this multiple of the median mu_t/|A_t| (1 in scaled
 * units) counts as one over the whole cone: rounding does not allow to tell more, and where two
 * constraints are exact opposites the maximum is 0 itself. */
static const double EVERY_TRACE = 1e12;

/* For a proof over the cone the misses are taken at the minimiser of -PUSH trace(M) + ... instead,
 * which moves <A*y, M> from 0 to -PUSH trace(M): strictly negative. */
static const double PUSH = 1e-6;

enum {
    PUSH_STEPS = 300,  /* steps of that attempt */
    PUSH_EVERY = 10,   /* between two checks */
    PROOF_ROUNDS = 40, /* more rounds, to turn a proof for this ratio into one over the cone */
    PATIENCE = 6,      /* without a trace bound: rounds before an attempt */
};

bdml_status bdml_infeasible_test(bdml_engine *e, const double *y)
{
    double linear = 0.0;
    for (int64_t t = 0; t < e->m; t++) linear += e->b[t] * y[t];
    if (!(linear > 0.0)) return BDML_OK;
    double error = bdml_dual_error(e, y) - bdml_dual_error(e, NULL);
    bdml_engine_adjoint(e, NULL, y, e->S); /* -A*y */
    BDML_TRY(bdml_engine_eigenvalues(e, e->S, e->lambda));
    double most =
        -e->set.ops->density(&e->set, e->lambda) + error; /* of <A*y,M> per unit of trace */
    double holds =
        most > 0.0 ? linear * (1.0 - CLEAR) / most : INFINITY; /* for every trace below */
    bdml_proof proof = BDML_PROOF_NONE;
    if (holds >= EVERY_TRACE && e->set.ops->is_cone)
        proof = BDML_PROOF_CONE;
    else if (holds > e->set.trace)
        proof = BDML_PROOF_RATIO;
    if (proof <= e->proof) return BDML_OK;
    e->proof = proof;
    e->proof_trace = holds;
    for (int64_t t = 0; t < e->m; t++) e->proof_y[t] = y[t] / linear;
    return BDML_OK;
}

static double misses(const bdml_engine *e, double *y)
{
    double sum = 0.0;
    for (int64_t t = 0; t < e->m; t++) {
        y[t] = BDML_MAX(e->b[t] - e->v[t], 0.0);
        sum += y[t];
    }
    return sum;
}

/* Try for a proof over the whole cone. M and y are put back afterwards; `best` and `interior`
 * are free, since no feasible point is known. */
static bdml_status push(bdml_engine *e, double total)
{
    double *g = e->best, *saved = e->interior, *y = e->interior_v;
    memcpy(saved, e->M, sizeof *saved * e->size);
    memcpy(y, e->y, sizeof *y * (size_t)e->m);
    bdml_engine_identity(e, -PUSH * total / e->penalty_inv, g);
    for (int64_t t = 0; t < e->m; t++) e->y[t] = 0.0;
    for (int step = 0; step < PUSH_STEPS && e->proof != BDML_PROOF_CONE; step++) {
        if (bdml_limit_reached(e)) break;
        if (step % PUSH_EVERY == 0) {
            if (step > 0) bdml_engine_forward(e, e->M, e->v);
            misses(e, e->y_try);
            BDML_TRY(bdml_infeasible_test(e, e->y_try));
            if (step == 0 || bdml_active_misses(e)) {
                bdml_active_rebuild(e);
                bdml_inner_restart(e);
            }
        }
        BDML_TRY(bdml_inner_step(e, g));
    }
    memcpy(e->M, saved, sizeof *saved * e->size);
    memcpy(e->y, y, sizeof *y * (size_t)e->m);
    bdml_engine_forward(e, e->M, e->v);
    return BDML_OK;
}

/* When the M of least misses lies below the trace bound, it is that of the whole cone too, and a
 * proof for this ratio of margin and trace can be made one for every ratio. */
static bool bound_matters(const bdml_engine *e)
{
    return bdml_spectral_trace(&e->set, e->l) > 0.99 * e->set.trace;
}

bdml_status bdml_infeasible_check(bdml_engine *e)
{
    double total = misses(e, e->y_try);
    BDML_TRY(bdml_infeasible_test(e, e->y_try));
    BDML_TRY(bdml_infeasible_test(e, e->y)); /* multipliers grow along a proof too */
    bool ratio = e->proof == BDML_PROOF_RATIO, first = ratio && e->proof_rounds++ == 0;
    bool better = e->set.ops->is_cone && total > 0.0 && !(ratio && bound_matters(e)) &&
                  e->proof_rounds <= PROOF_ROUNDS;
    bool hopeless = !isfinite(e->set.trace) && e->rounds >= PATIENCE &&
                    (e->rounds & (e->rounds - 1)) == 0; /* at 8, 16, 32, ... rounds */
    if (e->proof != BDML_PROOF_CONE && better && (first || hopeless)) BDML_TRY(push(e, total));
    e->proof_final = e->proof == BDML_PROOF_CONE || (ratio && !better);
    return BDML_OK;
}
