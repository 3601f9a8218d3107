/* lowrank.c - method bdml with a rank: M = Q' Lambda Q on the prepared points.
 *
 * Q fixed (q-step none): all is as without a rank, on the points Qx. Cross-validation chooses reference,
 * distortion, weight and passes there; Q itself has seen points, never labels.
 *
 * Q learned: distortion, weight and passes are chosen with Q at its start (reference none, or the one asked for,
 * of the points that Q maps); then Q and Lambda take turns on the constraints of that fit. What is certified is
 * the last Lambda for the last Q; the bracket over every Q and Lambda stands under "rank" of the description. */
#include "train/describe.h"

#include <stdlib.h>

/* Q, q rows of d, where it starts, for the points x of t and those of the other domain, `more`. */
static bdml_status start(bdml_handle *h, const bdml_plan *plan, int q, const bdml_training *t,
                         int d, const double *x, const double *more, double **Q)
{
    bdml_status status = BDML_OK;
    const bdml_options *o = plan->o;
    BDML_NEW(h, *Q, (size_t)q * (size_t)d);
    status = bdml_lowrank_start(h, o->rank.q_start.value, (uint64_t)o->general.seed.value, t->n, d,
                                x, more ? t->target->n : 0, more, q, *Q);
done:
    return status;
}

/* The points of t as Q maps them, to learn from. */
static bdml_training mapped_by(const bdml_training *t, int q, const double *points)
{
    bdml_training mapped = *t;
    mapped.d = q;
    mapped.x = points;
    mapped.target = NULL;
    return mapped;
}

/* ---- Q fixed ---------------------------------------------------------------------------------------------- */

static bdml_status fit_fixed(bdml_handle *h, bdml_plan *plan, const bdml_lowrank_settings *s,
                             const bdml_training *t, bdml_model *model)
{
    bdml_status status = BDML_OK;
    double *Q = NULL, *points = NULL;

    BDML_GO(start(h, plan, s->q, t, t->d, t->x, t->target ? t->target->x : NULL, &Q));
    BDML_GO(bdml_map_points(h, s->q, t->d, Q, t->n, t->x, &points));
    const bdml_training mapped = mapped_by(t, s->q, points);
    BDML_GO(bdml_fit_plan(h, plan, &mapped, (bdml_mapped){s->q, Q}, model));
    status = bdml_describe_rank(h, s, plan->o->rank.q_start.value, NULL, NAN, model);
done:
    free(Q);
    free(points);
    return status;
}

/* ---- Q learned -------------------------------------------------------------------------------------------- */

/* What the parts of a fit share. */
typedef struct joint {
    bdml_handle *h;
    bdml_plan plan; /* with Q at its start: no reference but that of all dimensions */
    const bdml_training *t;
    bdml_lowrank_settings s;
    bdml_reference reference; /* of the points that Q maps */
    const double *p;          /* those: n rows of reference.rows */
    double *own_p;
    double *Q, *points; /* q rows; n rows of q */
    bdml_training mapped;
    bdml_final final; /* with Q at its start */
    const bdml_constraints *c;
    bdml_constraints *own_c;
    double *g; /* objective on p, or NULL */
} joint;

static void joint_free(joint *f)
{
    bdml_reference_free(&f->reference);
    bdml_free_constraints(f->own_c);
    bdml_final_free(&f->final);
    free(f->own_p);
    free(f->Q);
    free(f->points);
    free(f->g);
}

static bdml_status prepare(joint *f, bdml_reference_kind kind)
{
    bdml_status status = BDML_OK;
    bdml_handle *h = f->h;
    const bdml_training *t = f->t;
    const bdml_domain *other = t->target;
    const double *more = NULL;
    double *own_more = NULL;

    BDML_GO(
        bdml_reference_make(h, &f->plan.o->methods, kind, &f->plan.file, t, NULL, &f->reference));
    BDML_GO(bdml_reference_apply(h, &f->reference, t->n, t->x, &f->p, &f->own_p));
    if (other)
        BDML_GO(bdml_reference_apply(h, &f->reference, other->n, other->x, &more, &own_more));
    int d = f->reference.rows;
    BDML_GO(start(h, &f->plan, f->s.q, t, d, f->p, more, &f->Q));
    BDML_GO(bdml_map_points(h, f->s.q, d, f->Q, t->n, f->p, &f->points));
    f->mapped = mapped_by(t, f->s.q, f->points);
done:
    free(own_more);
    return status;
}

/* The recipe with Q at its start: K, weight and passes by cross-validation, constraints of the last pass, and
 * its pull, within-class scatter, on all dimensions. */
static bdml_status choose_problem(joint *f)
{
    bdml_status status = BDML_OK;
    bdml_handle *h = f->h;
    const bdml_training *t = f->t;
    int d = f->reference.rows;
    bdml_training whole = {t->n, d, f->p, t->y, t->classes, NULL, NULL, NULL, NULL};

    BDML_GO(bdml_final_fit(h, &f->plan, &f->mapped, &f->final));
    f->c = f->final.sweep.last->c;
    f->s.solve = f->final.sweep.last->s;
    BDML_NEW(h, f->g, (size_t)d * (size_t)d);
    BDML_GO(bdml_within_covariance(h, &whole, f->g));
    for (size_t e = 0; e < (size_t)d * (size_t)d; e++) f->g[e] *= f->final.fit.g_scale;
done:
    return status;
}

/* The problem that the settings state, among the mapped points. */
static bdml_status state_problem(joint *f)
{
    BDML_TRY(
        bdml_fit_open(f->h, &f->plan, &f->mapped, BDML_REFERENCE_NONE, NULL, true, &f->final.fit));
    return bdml_fit_constraints(&f->final.fit, NULL, NULL, &f->c, &f->own_c);
}

/* An infeasible Lambda proves something of this Q alone; the joint bound, of those searched. */
static bdml_status say_infeasible(const joint *f, const bdml_lowrank_report *report)
{
    bdml_status status = BDML_ERR_INFEASIBLE;
    if (!report->infeasible)
        return bdml_fail_context(f->h, status, "with Q at its start (another start may do)");
    if (report->whole) return bdml_fail_context(f->h, status, "with every Q of rank %d", f->s.q);
    return bdml_fail_context(f->h, status,
                             "with every Q of rank %d in the %d dimensions searched (q-span; more "
                             "may do)",
                             f->s.q, report->span);
}

/* kappa of M = Q' Lambda Q on its range: the cap bounds it where the rows of Q are orthonormal, else nothing does. */
static bdml_status measure(const joint *f, const bdml_solve_result *r, double *kappa)
{
    bdml_status status = BDML_OK;
    int q = 0, d = f->reference.rows;
    double *b = NULL, *l = NULL, *sigma = NULL, own;

    *kappa = NAN;
    if (!r->m) return BDML_OK;
    BDML_GO(bdml_metric_factor(f->h, f->s.q, r->m, &q, &b, &own));
    BDML_NEW(f->h, l, (size_t)q * (size_t)d);
    BDML_NEW(f->h, sigma, q);
    bdml_la_gemm('N', 'N', d, q, f->s.q, 1.0, f->Q, d, b, f->s.q, 0.0, l, d); /* L' = Q' B' */
    BDML_GO(bdml_la_singular_values(f->h, d, q, l, sigma));
    *kappa = pow(sigma[0] / sigma[q - 1], 2.0);
done:
    free(b);
    free(l);
    free(sigma);
    return status;
}

/* Lambda of r for Q, on the points Q R x; kappa: of M on its range. */
static bdml_status claim(joint *f, bdml_solve_result *r, double *kappa, bdml_model *model)
{
    bdml_status status = BDML_OK;
    const bdml_lowrank_settings *s = &f->s;
    bdml_reference reference = {f->reference.kind, s->q, f->reference.rows, f->Q, NULL};

    if (!s->full && r->m) BDML_TRY(bdml_widen(f->h, s->q, &r->m));
    BDML_TRY(measure(f, r, kappa));
    f->Q = NULL;
    if (f->reference.map)
        BDML_GO(
            bdml_reference_after(f->h, &reference, f->reference.rows, f->t->d, f->reference.map));
    bdml_solved solved = {&reference, f->c,         &s->solve,           r,
                          !s->full,   f->plan.pull, f->final.fit.g_scale};
    status = bdml_claim_result(f->h, &solved, model);
done:
    bdml_reference_free(&reference);
    return status;
}

static bdml_status fit_joint(bdml_handle *h, const bdml_plan *plan, const bdml_lowrank_settings *s,
                             const bdml_training *t, bdml_model *model)
{
    bdml_status status = BDML_OK;
    joint f = {.h = h, .plan = *plan, .t = t, .s = *s};
    bdml_solve_result r = {0};
    bdml_lowrank_report report;
    double kappa = NAN;

    f.plan.references = 1;
    f.plan.reference[0] = BDML_REFERENCE_NONE;
    BDML_GO(prepare(&f, plan->references == 1 ? plan->reference[0] : BDML_REFERENCE_NONE));
    BDML_GO(plan->source == BDML_FROM_RECIPE ? choose_problem(&f) : state_problem(&f));
    int d = f.reference.rows;
    BDML_GO(bdml_lowrank_fit(h, t->n, d, f.p, d, f.c, f.g, &f.s, f.Q, &r, &report));
    status = claim(&f, &r, &kappa, model);
    if (status == BDML_ERR_INFEASIBLE) status = say_infeasible(&f, &report);
    if (status != BDML_OK && status != BDML_ERR_INFEASIBLE) goto done;
    bdml_status told = bdml_describe_rank(h, s, plan->o->rank.q_start.value, &report, kappa, model);
    if (told == BDML_OK && f.final.selection.candidates > 0)
        told = bdml_describe_selection(h, &f.plan, &f.final.selection, model);
    if (told != BDML_OK) status = told;
done:
    bdml_solve_result_free(&r);
    joint_free(&f);
    return status;
}

bdml_status bdml_fit_lowrank(bdml_handle *h, bdml_plan *plan, const bdml_training *t,
                             bdml_model *model)
{
    bdml_lowrank_settings s = bdml_lowrank_from_options(plan->o);
    if (plan->o->solve.solver.value != BDML_SOLVER_ENGINE)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "rank goes with solver engine; the paper's own way to Q is q-step paper");
    if (s.q > t->d)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "rank must be at most %d, the dimension of the prepared points, got %d",
                         t->d, s.q);
    model->score = plan->score[0];
    if (s.step == BDML_Q_STEP_NONE && s.full) return fit_fixed(h, plan, &s, t, model);
    return fit_joint(h, plan, &s, t, model);
}
