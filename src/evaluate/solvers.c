/* solvers.c - bdml_compare_solvers: the certified engine and the paper's algorithm on one problem, hard margins
 * on the prepared points.
 *
 *     {points, dimension, constraints, solvers: [{solver, outcome, kappa, worst_miss, row_miss, objective,
 *      off_bracket, lower, rounds, seconds, L, U, error}]}
 *
 * worst_miss: of the margins; row_miss: of all rows of the form, the cap's too. off_bracket: by which share the
 * objective lies outside the engine's bracket, 0 inside. L, U: the interval of Algorithm 1. */
#include "evaluate/evaluate.h"

#include <stdlib.h>

#include "linalg/linalg.h"
#include "paper/paper.h"

static const double ENGINE_GAP = 1e-4; /* the bracket that the others are held against */

/* What a solver made of the problem. */
typedef struct entry {
    const char *name;
    bdml_solve_result r;
    bdml_bisection b;
    bdml_status status;
    char why[160]; /* when it has no metric */
} entry;

/* Prepared points and their constraints. */
typedef struct task {
    const bdml_options *options;
    bdml_dataset points;
    bdml_constraints *c;
    bool diagonal;
} task;

static bdml_status make_task(bdml_handle *h, const bdml_options *o, const bdml_dataset *data,
                             task *t)
{
    bdml_status status = BDML_OK;
    bdml_prepare prepare = {0};
    t->options = o;
    t->points = *data;
    t->points.x = NULL;
    t->diagonal = o->solve.diagonal.value;
    BDML_GO(bdml_dataset_check_size(h, &o->prepare, data));
    BDML_GO(bdml_prepare_fit(h, o, data, &prepare));
    t->points.d = prepare.d_out;
    BDML_NEW(h, t->points.x, (size_t)data->n * (size_t)prepare.d_out);
    BDML_GO(bdml_prepare_apply(h, &prepare, data->n, data->x, data->d, t->points.x));
    BDML_GO(bdml_mine_constraints_with(h, o, &t->points, &t->c));
done:
    bdml_prepare_free(&prepare);
    return status;
}

/* Each stops with the best so far, and leaves time to those that come after it: one in so many shares of the rest. */
static void share_time(bdml_handle *h, int shares)
{
    h->stop_by = bdml_time_share(h, 1.0 / shares);
}

static bdml_status run_engine(bdml_handle *h, const task *t, entry *e)
{
    bdml_problem *p = NULL;
    bdml_solve_settings s = bdml_solve_from_options(&t->options->solve);
    s.hard = true;
    s.gap = BDML_MIN(s.gap, ENGINE_GAP);
    bdml_status status = bdml_problem_new(h, t->points.n, t->points.d, t->points.x, t->points.d,
                                          t->c, NULL, t->diagonal, &p);
    if (status == BDML_OK) status = bdml_problem_solve(h, p, &s, &e->r);
    e->b.rounds = e->r.iterations;
    e->b.seconds = e->r.seconds;
    bdml_problem_free(p);
    return status;
}

static bdml_status run_paper(bdml_handle *h, const task *t, bdml_paper_form form, bool literal,
                             bdml_row_scaling scaling, entry *e)
{
    bdml_paper_settings s = bdml_paper_from_options(&t->options->solve, &t->options->mwu);
    share_time(h, 2);
    if (!bdml_deadline_allows(h, 0.0)) { /* those before took it all: nothing is known */
        e->r.lower = e->b.L = e->b.U = (double)NAN;
        return BDML_OK;
    }
    s.form = form;
    s.literal = literal;
    if (scaling != BDML_ROW_SCALING_AUTO) s.scaling = scaling;
    /* rho as given is the width of rows as they stand */
    if (form == BDML_PAPER_CONE || scaling == BDML_ROW_SCALING_WIDTH) s.rho = s.rho_negative = 0.0;
    e->status = bdml_paper_solve(h, t->points.n, t->points.d, t->points.x, t->points.d, t->c,
                                 t->diagonal, &s, &e->r, &e->b);
    if (e->status == BDML_ERR_CANCELLED || e->status == BDML_ERR_MEMORY) return e->status;
    if (e->status != BDML_OK) snprintf(e->why, sizeof e->why, "%.150s", bdml_last_error(h));
    return BDML_OK;
}

/* Worst miss of a margin by m, over all constraints. */
static bdml_status miss_of(bdml_handle *h, const task *t, const double *m, double *worst)
{
    bdml_status status = BDML_OK;
    double *v = NULL, mu = t->options->solve.margin.value;
    bdml_margin *op = NULL;
    BDML_NEW(h, v, t->c->m);
    BDML_GO(bdml_margin_new(h, t->points.n, t->points.d, t->points.x, t->points.d, t->c, &op));
    if (t->diagonal)
        bdml_margin_forward_diag(op, m, -1, NULL, v);
    else
        bdml_margin_forward(op, m, -1, NULL, v);
    *worst = 0.0;
    for (int64_t k = 0; k < t->c->m; k++)
        *worst = BDML_MAX(*worst, mu * (t->c->margin ? t->c->margin[k] : 1.0) - v[k]);
done:
    bdml_margin_free(op);
    free(v);
    return status;
}

/* ---- result --------------------------------------------------------------------------------------------- */

static const char *verdict(const entry *e)
{
    if (e->status != BDML_OK) return "failed";
    if (!e->r.m && e->r.outcome != BDML_INFEASIBLE)
        return "no metric"; /* the time was over first */
    switch (e->r.outcome) {
    case BDML_OPTIMAL:
        return "optimal";
    case BDML_INFEASIBLE:
        return "infeasible";
    case BDML_APPROXIMATE:
        return "approx.";
    case BDML_STOPPED:
        break;
    }
    return "bracket";
}

static double off_bracket(const bdml_solve_result *bracket, double objective)
{
    if (!isfinite(bracket->upper) || !isfinite(bracket->lower)) return NAN;
    if (objective > bracket->upper) return objective / bracket->upper - 1.0;
    if (objective < bracket->lower) return objective / bracket->lower - 1.0;
    return isfinite(objective) ? 0.0 : (double)NAN;
}

static bdml_status entry_json(bdml_handle *h, const task *t, const entry *engine, const entry *e,
                              json_t **row)
{
    bool metric = e->status == BDML_OK && e->r.m;
    double miss = NAN, objective = metric ? e->r.upper : (double)NAN;
    double off = metric ? off_bracket(&engine->r, objective) : (double)NAN;
    if (metric) BDML_TRY(miss_of(h, t, e->r.m, &miss));
    double row_miss = e != engine && metric ? BDML_MAX(e->b.violation, miss) : miss;
    *row =
        json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o}", "solver", e->name,
                  "outcome", verdict(e), "kappa", bdml_real_json(metric ? e->r.kappa : (double)NAN),
                  "worst_miss", bdml_real_json(miss), "row_miss", bdml_real_json(row_miss),
                  "off_bracket", bdml_real_json(off), "objective", bdml_real_json(objective),
                  "lower", bdml_real_json(e->status == BDML_OK ? e->r.lower : (double)NAN),
                  "rounds", (json_int_t)e->b.rounds, "seconds", bdml_real_json(e->b.seconds));
    if (e != engine) {
        bdml_json_put(row, "L", bdml_real_json(e->b.L));
        bdml_json_put(row, "U", bdml_real_json(e->b.U));
    }
    if (e->why[0]) bdml_json_put(row, "error", bdml_json_text(e->why));
    return BDML_OK;
}

static bdml_status write_entries(bdml_handle *h, const task *t, int count, const entry *list,
                                 char **json)
{
    json_t *rows = json_array();
    for (int k = 0; k < count; k++) {
        json_t *row = NULL;
        bdml_status status = entry_json(h, t, &list[0], &list[k], &row);
        if (status != BDML_OK) {
            json_decref(rows);
            return status;
        }
        bdml_json_push(&rows, row);
    }
    return bdml_result_text(h,
                            json_pack("{s:I, s:i, s:I, s:o}", "points", (json_int_t)t->points.n,
                                      "dimension", t->points.d, "constraints", (json_int_t)t->c->m,
                                      "solvers", rows),
                            json);
}

/* ---- all solvers ------------------------------------------------------------------------------------------ */

static bdml_status compare(bdml_handle *h, const bdml_options *o, const bdml_dataset *data,
                           char **json)
{
    enum { MOST = 5 };
    bdml_status status = BDML_OK;
    task t = {0};
    entry list[MOST] = {{0}};
    int count = 0;

    BDML_GO(make_task(h, o, data, &t));
    list[count].name = "engine";
    share_time(h, MOST - count);
    BDML_GO(run_engine(h, &t, &list[count++]));
    list[count].name = "mwu-cone";
    BDML_GO(run_paper(h, &t, BDML_PAPER_CONE, false, BDML_ROW_SCALING_AUTO, &list[count++]));
    list[count].name = "mwu";
    BDML_GO(run_paper(h, &t, BDML_PAPER_LIFTED, false, BDML_ROW_SCALING_AUTO, &list[count++]));
    if (o->mwu.row_scaling.value == BDML_ROW_SCALING_AUTO) {
        list[count].name = "mwu, scaled";
        BDML_GO(run_paper(h, &t, BDML_PAPER_LIFTED, false, BDML_ROW_SCALING_WIDTH, &list[count++]));
    }
    if (o->solve.trace.value > 0.0) {
        list[count].name = "mwu, literal";
        BDML_GO(run_paper(h, &t, BDML_PAPER_LIFTED, true, BDML_ROW_SCALING_AUTO, &list[count++]));
    }
    status = write_entries(h, &t, count, list, json);
done:
    for (int k = 0; k < MOST; k++) bdml_solve_result_free(&list[k].r);
    bdml_free_constraints(t.c);
    free(t.points.x);
    return status;
}

bdml_status bdml_compare_solvers(bdml_handle *h, const bdml_dataset *data, char **json)
{
    if (json) *json = NULL;
    if (!h || !json) return BDML_ERR_ARGUMENT;
    if (!data)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "bdml_compare_solvers: data must not be NULL");
    BDML_TRY(bdml_dataset_widen(h, data));
    bdml_call call;
    BDML_TRY(bdml_call_begin(h, BDML_PHASE_SOLVE, &call));
    bdml_status status = compare(h, &h->options, data, json);
    bdml_call_end(h, call);
    return bdml_dataset_confirm(h, data, status, json);
}
