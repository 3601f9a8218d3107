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

/* A proof that holds for every trace up to this multiple of the largest mu_t/|A_t|, less than which no margin
 * takes, ends the search: where two constraints are opposites, exactly or nearly, the maximum is 0 but for
 * rounding, which does not allow to tell more. */
static const double FAR_TRACE = 1e12;

/* For a proof over the cone the misses are taken at the minimiser of -PUSH trace(M) + ... instead,
 * which moves <A*y, M> from 0 to -PUSH trace(M): strictly negative. */
static const double PUSH = 1e-6;

enum {
    PUSH_STEPS = 300,  /* steps of that attempt */
    PUSH_EVERY = 10,   /* between two checks */
    PROOF_ROUNDS = 40, /* more rounds, to turn a proof for this ratio into one over the cone */
    PATIENCE = 6,      /* without a trace bound: rounds before an attempt */
};

/* far: a proof up to this trace is one for TRACE, where no smaller bound is asked for. */
static bdml_status test(bdml_engine *e, const double *y, double far)
{
    const bdml_terms *terms = &e->scaled.terms;
    const bdml_spectral *set = &e->scaled.set;
    bdml_refutation *known = &e->proof;
    double linear = bdml_terms_linear(terms, y);
    if (!(linear > 0.0)) return BDML_OK;
    double error =
        bdml_dual_error(&e->scaled, e->X.r, y) - bdml_dual_error(&e->scaled, e->X.r, NULL);
    bdml_engine_adjoint(e, NULL, y, e->at.S); /* -A*y */
    BDML_TRY(e->X.ops->eigenvalues(&e->X, e->at.S, e->X.lambda));
    double most = -set->ops->density(set, e->X.lambda) + error; /* of <A*y,M> per unit of trace */
    double holds =
        most > 0.0 ? linear * (1.0 - CLEAR) / most : INFINITY; /* for every trace below */
    bdml_proof proof = BDML_PROOF_NONE;
    if (!isfinite(holds) && set->ops->is_cone)
        proof = BDML_PROOF_CONE;
    else if (holds >= far && set->ops->is_cone)
        proof = BDML_PROOF_TRACE;
    else if (holds > set->trace)
        proof = BDML_PROOF_RATIO;
    if (proof <= known->kind) return BDML_OK;
    known->kind = proof;
    known->trace = holds;
    bdml_cvec_divide(&terms->space, y, linear, known->y);
    return BDML_OK;
}

bdml_status bdml_infeasible_test(bdml_engine *e, const double *y)
{
    return test(e, y, FAR_TRACE * e->scaled.needed);
}

/* A constraint between identical points, or identical pairs, asks 0 >= mu. One between pairs that differ by rounding
 * is no better: with |A_t| below rounding/sqrt(r) times what A_t is summed from,
 *
 *     <A_t,M> <= |A_t| |M| <= |A_t| sqrt(r) l_max <= rounding rough_t l_max,
 *
 * and no M could be told to meet it (bdml_certify_upper). y = e_t proves that none does up to a trace that is
 * out of all proportion to what other constraints take. */
bdml_status bdml_infeasible_row(bdml_engine *e)
{
    const bdml_operator *A = &e->p->A;
    const bdml_terms *terms = &e->scaled.terms;
    double share = bdml_rounding(e->X.r) / sqrt(e->X.r), *y = e->dual.y_try;
    int64_t t;
    if (bdml_cvec_find_absurd(&terms->space, A->norm, A->rough, 0.0, terms->b, &t)) {
        e->proof.kind = BDML_PROOF_CONE;
        e->proof.trace = INFINITY;
        if (t >= 0) e->proof.y[t] = 1.0 / terms->b[t];
        return BDML_OK;
    }
    if (!bdml_cvec_find_absurd(&terms->space, A->norm, A->rough, share, terms->b, &t))
        return BDML_OK;
    bdml_cvec_fill(&terms->space, 0.0, y);
    if (t >= 0) y[t] = 1.0 / terms->b[t];
    double bound = e->scaled.set.trace;
    return test(e, y, isfinite(bound) ? bound : 0.0);
}

/* Try for a proof over the whole cone. M and y are put back afterwards; `best` and `interior`
 * are free, since no feasible point is known. */
static bdml_status push(bdml_engine *e, double total)
{
    const bdml_terms *terms = &e->scaled.terms;
    bdml_iterate *at = &e->at;
    bdml_dual *dual = &e->dual;
    double *g = e->bounds.best, *saved = e->bounds.interior, *y = e->bounds.interior_v;
    memcpy(saved, at->M, sizeof *saved * e->X.size);
    bdml_cvec_copy(&terms->space, dual->y, y);
    bdml_matrix_identity(&e->X, -PUSH * total / dual->penalty_inv, g);
    bdml_cvec_fill(&terms->space, 0.0, dual->y);
    for (int step = 0; step < PUSH_STEPS && e->proof.kind != BDML_PROOF_CONE; step++) {
        if (bdml_limit_reached(e)) break;
        if (step % PUSH_EVERY == 0) {
            if (step > 0) bdml_engine_forward(e, at->M, dual->v);
            bdml_terms_misses(terms, dual->v, dual->y_try);
            BDML_TRY(bdml_infeasible_test(e, dual->y_try));
            if (step == 0 || bdml_active_misses(e)) {
                bdml_active_rebuild(e);
                bdml_inner_restart(e);
            }
        }
        BDML_TRY(bdml_inner_step(e, g));
    }
    memcpy(at->M, saved, sizeof *saved * e->X.size);
    bdml_cvec_copy(&terms->space, y, dual->y);
    bdml_engine_forward(e, at->M, dual->v);
    return BDML_OK;
}

/* When the M of least misses lies below the trace bound, it is that of the whole cone too, and a
 * proof for this ratio of margin and trace can be made one for every ratio. */
static bool bound_matters(const bdml_engine *e)
{
    const bdml_spectral *set = &e->scaled.set;
    return bdml_spectral_trace(set, e->X.l) > 0.99 * set->trace;
}

bdml_status bdml_infeasible_check(bdml_engine *e)
{
    const bdml_spectral *set = &e->scaled.set;
    bdml_refutation *known = &e->proof;
    int64_t rounds = e->course.rounds;
    double total = bdml_terms_misses(&e->scaled.terms, e->dual.v, e->dual.y_try);
    BDML_TRY(bdml_infeasible_test(e, e->dual.y_try));
    BDML_TRY(bdml_infeasible_test(e, e->dual.y)); /* multipliers grow along a proof too */
    bool ratio = known->kind == BDML_PROOF_RATIO, far = known->kind == BDML_PROOF_TRACE;
    bool first = (ratio || far) && known->rounds++ == 0;
    bool better = set->ops->is_cone && total > 0.0 && !(ratio && bound_matters(e)) &&
                  known->rounds <= PROOF_ROUNDS;
    bool hopeless = !isfinite(set->trace) && rounds >= PATIENCE &&
                    (rounds & (rounds - 1)) == 0; /* at 8, 16, 32, ... rounds */
    if (known->kind != BDML_PROOF_CONE && better && (first || hopeless)) BDML_TRY(push(e, total));
    known->final = known->kind >= BDML_PROOF_TRACE || (ratio && !better);
    return BDML_OK;
}
