/* lowrank.c - method bdml with a rank: M = Q' Lambda Q on the prepared points.
 *
 * Q fixed (q-step none): all is as without a rank, on the points Qx. Cross-validation chooses reference,
 * distortion, weight and passes there; Q itself has seen points, never labels.
 *
 * Q learned: distortion, weight and passes are chosen with Q at its start (reference none, or the one asked for,
 * of the points that Q maps); then Q and Lambda take turns on the constraints of that fit. What is certified is
 * the last Lambda for the last Q; the bracket over every Q and Lambda stands under "rank" of the description. */
#include <stdlib.h>

#include "linalg/linalg.h"
#include "lowrank/lowrank.h"
#include "train/checkpoint.h"

static const char *const step_names[] = {[BDML_Q_STEP_MANIFOLD] = "manifold",
                                         [BDML_Q_STEP_HULL] = "hull",
                                         [BDML_Q_STEP_PAPER] = "paper",
                                         [BDML_Q_STEP_NONE] = "none"};

static json_t *number_or_null(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

/* "relaxation": rho_sdp <= rho_qp <= achieved for the Lambda of that turn; of the sample as drawn nu, zeta and omega,
 * which are gamma, epsilon and omega of Theorem 2. */
static json_t *describe_relaxation(const bdml_relaxation_report *r)
{
    if (r->infeasible) return json_pack("{s:b}", "infeasible", 1);
    double none = r->improved ? 1.0 : NAN; /* no sample was taken */
    return json_pack("{s:o, s:o, s:b, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:I}",
                     "sdp_lower", number_or_null(r->sdp_lower), "sdp_upper",
                     number_or_null(r->sdp_upper), "sdp_upper_proven", (int)r->exact, "qp_achieved",
                     number_or_null(r->achieved), "improved", (int)r->improved, "start_ratio",
                     number_or_null(r->start_objective / r->start_nu), "ratio",
                     number_or_null(r->objective / r->nu), "nu",
                     number_or_null(none * r->sample_nu), "zeta", number_or_null(none * r->zeta),
                     "omega", number_or_null(none * r->omega), "average_nu",
                     number_or_null(r->average_nu), "average_orthogonality",
                     number_or_null(r->orthogonality), "covariance_rank", (json_int_t)r->rank,
                     "rounds", (json_int_t)r->rounds, "samples", (json_int_t)r->samples);
}

/* "rank": what was learned, and the bracket [joint lower bound, achieved] where there is one. */
static bdml_status describe(bdml_handle *h, const bdml_lowrank_settings *s,
                            const bdml_lowrank_report *r, bdml_model *model)
{
    json_t *o = json_pack("{s:i, s:s, s:s, s:o}", "rank", s->q, "lambda",
                          s->full ? "full" : "diagonal", "q_step", step_names[s->step], "q_start",
                          bdml_json_text(bdml_opt_text(h, BDML_OPT_Q_START)));
    int bad = !o;
    if (o && r) {
        bad |= json_object_set_new(o, "turns", json_integer(r->turns));
        bad |= json_object_set_new(o, "dimensions_searched", json_integer(r->span));
        bad |= json_object_set_new(o, "start", number_or_null(r->start));
        bad |= json_object_set_new(o, "achieved", number_or_null(r->achieved));
        bad |= json_object_set_new(o, "joint_lower", number_or_null(r->lower));
        if (isfinite(r->lower_q)) {
            bad |= json_object_set_new(o, "q_lower", json_real(r->lower_q));
            bad |= json_object_set_new(o, "q_upper", json_real(r->upper_q));
        }
        if (r->relaxed)
            bad |= json_object_set_new(o, "relaxation", describe_relaxation(&r->relaxation));
        bad |= json_object_set_new(o, "searched_all_dimensions", json_boolean(r->whole));
        if (r->infeasible)
            bad |= json_object_set_new(o,
                                       r->whole ? "infeasible_for_every_q"
                                                : "infeasible_where_searched",
                                       json_true());
    }
    if (bad || json_object_set_new(model->info, "low_rank", o) != 0)
        return bdml_fail(h, BDML_ERR_MEMORY, "out of memory while describing the model");
    return BDML_OK;
}

/* The training points as Q maps them; *points is the caller's. */
static bdml_status map_points(bdml_handle *h, int64_t n, int d, const double *x, int q,
                              const double *Q, double **points)
{
    bdml_status status = BDML_OK;
    double *ws = NULL;
    BDML_NEW(h, *points, (size_t)n * (size_t)q);
    BDML_NEW(h, ws, bdml_la_map_size(q, d));
    bdml_la_map_rows(h, q, d, Q, n, x, d, *points, ws);
done:
    free(ws);
    return status;
}

/* ---- Q fixed -------------------------------------------------------------------------------------------- */

static bdml_status fit_fixed(bdml_handle *h, const bdml_training *t, const bdml_lowrank_settings *s,
                             bool stated, bdml_model *model)
{
    bdml_status status = BDML_OK;
    const bdml_domain *other = t->target;
    double *Q = NULL, *points = NULL;

    BDML_NEW(h, Q, (size_t)s->q * (size_t)t->d);
    BDML_GO(bdml_lowrank_start(h, h->options.rank.q_start.value,
                               (uint64_t)h->options.general.seed.value, t->n, t->d, t->x,
                               other ? other->n : 0, other ? other->x : NULL, s->q, Q));
    BDML_GO(map_points(h, t->n, t->d, t->x, s->q, Q, &points));
    bdml_training mapped = *t;
    mapped.d = s->q;
    mapped.x = points;
    mapped.target = NULL;
    bdml_mapped by = {s->q, Q};
    BDML_GO(stated ? bdml_fit_single(h, &mapped, by, model)
                   : bdml_fit_recipe(h, &mapped, by, model));
    status = describe(h, s, NULL, model);
done:
    free(Q);
    free(points);
    return status;
}

/* ---- Q learned ------------------------------------------------------------------------------------------ */

/* What the parts of a fit share. */
typedef struct joint {
    bdml_handle *h;
    const bdml_training *t;
    bdml_lowrank_settings s;
    bdml_reference reference; /* of the points that Q maps */
    double *p;                /* those: n rows of reference.rows */
    double *Q, *mapped;       /* q rows; n rows of q */
    bdml_constraints *c;
    double *g; /* objective on p, or NULL */
    double g_scale;
    json_t *selection;
} joint;

static void joint_free(joint *f)
{
    bdml_reference_free(&f->reference);
    bdml_free_constraints(f->c);
    json_decref(f->selection);
    free(f->p);
    free(f->Q);
    free(f->mapped);
    free(f->g);
}

static bdml_status prepare(joint *f)
{
    bdml_status status = BDML_OK;
    bdml_handle *h = f->h;
    const bdml_training *t = f->t;
    const bdml_domain *other = t->target;
    double *more = NULL;

    BDML_GO(bdml_reference_make(h, bdml_reference_asked(h), t, &f->reference));
    BDML_GO(bdml_reference_apply(h, &f->reference, t->n, t->d, t->x, &f->p));
    if (other) BDML_GO(bdml_reference_apply(h, &f->reference, other->n, t->d, other->x, &more));
    BDML_NEW(h, f->Q, (size_t)f->s.q * (size_t)f->reference.rows);
    BDML_GO(bdml_lowrank_start(h, h->options.rank.q_start.value,
                               (uint64_t)h->options.general.seed.value, t->n, f->reference.rows,
                               f->p, other ? other->n : 0, more, f->s.q, f->Q));
    status = map_points(h, t->n, f->reference.rows, f->p, f->s.q, f->Q, &f->mapped);
done:
    free(more);
    return status;
}

/* Constraints given, or mined among the mapped points; pull towards the target pairs. */
static bdml_status state_problem(joint *f, bdml_model *model)
{
    const bdml_training *t = f->t;
    bdml_dataset points = {.n = t->n,
                           .d = f->s.q,
                           .x = f->mapped,
                           .y = (int32_t *)t->y,
                           .classes = t->y ? t->classes : 0,
                           .class_name = model->class_name};
    f->g_scale = 1.0;
    if (!t->constraints) return bdml_mine_constraints(f->h, &points, &f->c);
    if (t->constraints->n != t->n)
        return bdml_fail(f->h, BDML_ERR_ARGUMENT,
                         "the constraints are about %lld rows, the data have %lld",
                         (long long)t->constraints->n, (long long)t->n);
    return bdml_constraints_copy(f->h, t->constraints, &f->c);
}

/* The recipe with Q at its start: K, weight and passes by cross-validation, constraints of the last pass, and
 * its pull, within-class scatter, on all dimensions. */
static bdml_status choose_problem(joint *f)
{
    bdml_status status = BDML_OK;
    bdml_handle *h = f->h;
    const bdml_training *t = f->t;
    recipe_grid grid;
    recipe_choice choice = {0};
    recipe_points points = {0};
    bdml_solve_result r = {0};
    int d = f->reference.rows;
    bdml_training mapped = {t->n, f->s.q, f->mapped, t->y, t->classes, NULL, NULL};
    bdml_training whole = {t->n, d, f->p, t->y, t->classes, NULL, NULL};

    recipe_make_grid(h, &grid);
    grid.references = 1;
    grid.reference[0] = BDML_REFERENCE_NONE;
    if (recipe_grid_size(&grid) > 1)
        BDML_GO(recipe_select(h, &mapped, &grid, &choice, &f->selection));
    BDML_GO(recipe_points_init(h, t->n, f->s.q, f->mapped, t->y, t->classes, &points));
    BDML_GO(recipe_fit_chosen(h, &points, grid.k[choice.k], grid.c[choice.c],
                              grid.pass[choice.pass], &f->c, &f->s.solve, &r));
    BDML_NEW(h, f->g, (size_t)d * (size_t)d);
    BDML_GO(bdml_within_covariance(h, &whole, f->g));
    f->g_scale = points.g_scale;
    for (size_t e = 0; e < (size_t)d * (size_t)d; e++) f->g[e] *= f->g_scale;
done:
    bdml_solve_result_free(&r);
    recipe_points_free(&points);
    return status;
}

static bdml_status fit_joint(bdml_handle *h, const bdml_training *t, const bdml_lowrank_settings *s,
                             bool stated, bdml_model *model)
{
    bdml_status status = BDML_OK;
    joint f = {.h = h, .t = t, .s = *s};
    bdml_solve_result r = {0};
    bdml_lowrank_report report;

    BDML_GO(prepare(&f));
    int d = f.reference.rows;
    BDML_GO(stated ? state_problem(&f, model) : choose_problem(&f));
    BDML_GO(bdml_lowrank_fit(h, t->n, d, f.p, d, f.c, f.g, &f.s, f.Q, &r, &report));
    bdml_reference reference = {.kind = f.reference.kind, .rows = s->q, .map = f.Q};
    f.Q = NULL;
    if (f.reference.map) { /* Q R */
        double *map = bdml_alloc(h, (size_t)s->q * (size_t)t->d, sizeof *map);
        if (map)
            bdml_la_gemm('N', 'N', t->d, s->q, d, 1.0, f.reference.map, t->d, reference.map, d, 0.0,
                         map, t->d);
        else
            status = BDML_ERR_MEMORY;
        free(reference.map);
        reference.map = map;
    }
    bdml_solved solved = {&reference, f.c,      &f.s.solve,
                          &r,         !s->full, stated ? BDML_PULL_TARGETS : BDML_PULL_WITHIN,
                          f.g_scale};
    if (status == BDML_OK) status = bdml_claim_result(h, &solved, model);
    bdml_reference_free(&reference);
    if (status == BDML_ERR_INFEASIBLE)
        status = report.infeasible && report.whole
                     ? bdml_fail_context(h, status, "with every Q of rank %d", s->q)
                 : report.infeasible
                     ? bdml_fail_context(h, status,
                                         "with every Q of rank %d in the %d dimensions searched "
                                         "(q-span; more may do)",
                                         s->q, report.span)
                     : bdml_fail_context(h, status, "with Q at its start (another start may do)");
    if (status != BDML_OK && status != BDML_ERR_INFEASIBLE) goto done;
    if (f.selection && json_object_set(model->info, "selection", f.selection) != 0)
        status = bdml_fail(h, BDML_ERR_MEMORY, "out of memory while describing the model");
    bdml_status told = describe(h, s, &report, model);
    if (told != BDML_OK) status = told;
done:
    bdml_solve_result_free(&r);
    joint_free(&f);
    return status;
}

bdml_status bdml_fit_lowrank(bdml_handle *h, const bdml_training *t, bool stated, bdml_model *model)
{
    bdml_lowrank_settings s = bdml_lowrank_from_options(&h->options);
    if (bdml_opt_int(h, BDML_OPT_SOLVER) != BDML_SOLVER_ENGINE)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "rank goes with solver engine; the paper's own way to Q is q-step paper");
    if (s.q > t->d)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "rank must be at most %d, the dimension of the prepared points, got %d",
                         t->d, s.q);
    if (s.step == BDML_Q_STEP_NONE && s.full) return fit_fixed(h, t, &s, stated, model);
    return fit_joint(h, t, &s, stated, model);
}
