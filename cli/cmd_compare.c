/* cmd_compare.c - bdml compare-solvers DATA: the certified engine and the paper's algorithm on one problem. */
#include "cli.h"

#include <stdlib.h>

#include "linalg/linalg.h"
#include "paper/paper.h"

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
    bdml_dataset points;
    bdml_constraints *c;
    bool diagonal;
} task;

static bdml_status make_task(cli *c, const bdml_dataset *data, task *t)
{
    bdml_status status = BDML_OK;
    bdml_prepare prepare = {0};
    t->points = *data;
    t->points.x = NULL;
    t->diagonal = bdml_opt_int(c->h, BDML_OPT_DIAGONAL) != 0;
    BDML_GO(bdml_prepare_fit(c->h, &c->h->options, data, &prepare));
    t->points.d = prepare.d_out;
    BDML_NEW(c->h, t->points.x, (size_t)data->n * (size_t)prepare.d_out);
    BDML_GO(bdml_prepare_apply(c->h, &prepare, data->n, data->x, data->d, t->points.x));
    BDML_GO(bdml_mine_constraints(c->h, &t->points, &t->c));
done:
    bdml_prepare_free(&prepare);
    return status;
}

static bdml_status run_engine(cli *c, const task *t, entry *e)
{
    bdml_problem *p = NULL;
    bdml_solve_settings s = bdml_solve_from_options(&c->h->options.solve);
    s.hard = true;
    s.gap = BDML_MIN(s.gap, 1e-4); /* the bracket that the others are held against */
    bdml_status status = bdml_problem_new(c->h, t->points.n, t->points.d, t->points.x, t->points.d,
                                          t->c, NULL, t->diagonal, &p);
    if (status == BDML_OK) status = bdml_problem_solve(c->h, p, &s, &e->r);
    e->b.rounds = e->r.iterations;
    e->b.seconds = e->r.seconds;
    bdml_problem_free(p);
    return status;
}

static bdml_status run_paper(cli *c, const task *t, bdml_paper_form form, bool literal,
                             bdml_row_scaling scaling, entry *e)
{
    bdml_paper_settings s = bdml_paper_from_options(&c->h->options.solve, &c->h->options.mwu);
    s.form = form;
    s.literal = literal;
    if (scaling != BDML_ROW_SCALING_AUTO) s.scaling = scaling;
    /* rho as given is the width of rows as they stand */
    if (form == BDML_PAPER_CONE || scaling == BDML_ROW_SCALING_WIDTH) s.rho = s.rho_negative = 0.0;
    e->status = bdml_paper_solve(c->h, t->points.n, t->points.d, t->points.x, t->points.d, t->c,
                                 t->diagonal, &s, &e->r, &e->b);
    if (e->status == BDML_ERR_CANCELLED || e->status == BDML_ERR_MEMORY) return e->status;
    if (e->status != BDML_OK) snprintf(e->why, sizeof e->why, "%.150s", bdml_last_error(c->h));
    return BDML_OK;
}

/* Worst miss of a margin by m, over all constraints. */
static bdml_status miss_of(cli *c, const task *t, const double *m, double *worst)
{
    bdml_status status = BDML_OK;
    double *v = NULL, mu = bdml_opt_real(c->h, BDML_OPT_MARGIN);
    bdml_margin *op = NULL;
    BDML_NEW(c->h, v, t->c->m);
    BDML_GO(bdml_margin_new(c->h, t->points.n, t->points.d, t->points.x, t->points.d, t->c, &op));
    bdml_la_enter(c->h);
    if (t->diagonal)
        bdml_margin_forward_diag(op, m, -1, NULL, v);
    else
        bdml_margin_forward(op, m, -1, NULL, v);
    bdml_la_leave(c->h);
    *worst = 0.0;
    for (int64_t k = 0; k < t->c->m; k++)
        *worst = BDML_MAX(*worst, mu * (t->c->margin ? t->c->margin[k] : 1.0) - v[k]);
done:
    bdml_margin_free(op);
    free(v);
    return status;
}

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

/* Objective against the certified bracket of the engine: by which share it lies above or below, 0 inside. */
static double off_bracket(const bdml_solve_result *bracket, double objective)
{
    if (!isfinite(bracket->upper) || !isfinite(bracket->lower)) return NAN;
    if (objective > bracket->upper) return objective / bracket->upper - 1.0;
    if (objective < bracket->lower) return objective / bracket->lower - 1.0;
    return isfinite(objective) ? 0.0 : (double)NAN;
}

static bdml_status report(cli *c, const task *t, int count, const entry *list)
{
    cli_table table;
    json_t *rows = json_array();
    cli_table_init(&table, c->h, "llrrrrrrrr");
    const char *const heads[] = {"solver",    "outcome", "kappa",     "margin miss", "any row",
                                 "objective", "off by",  "proven >=", "rounds",      "seconds"};
    for (int k = 0; k < 10; k++) cli_cell(&table, "%s", heads[k]);
    for (int k = 0; k < count; k++) {
        const entry *e = &list[k];
        bool metric = e->status == BDML_OK && e->r.m;
        double miss = NAN, objective = metric ? e->r.upper : (double)NAN;
        double off = metric ? off_bracket(&list[0].r, objective) : (double)NAN, row_miss;
        if (metric) BDML_TRY(miss_of(c, t, e->r.m, &miss));
        row_miss = k > 0 && metric ? BDML_MAX(e->b.violation, miss) : miss;
        cli_cell(&table, "%s", e->name);
        cli_cell(&table, "%s", verdict(e));
        cli_cell_real(&table, "%.4g", metric ? e->r.kappa : (double)NAN);
        cli_cell_real(&table, "%.2g", miss);
        cli_cell_real(&table, "%.2g", row_miss);
        cli_cell_real(&table, "%.6g", objective);
        cli_cell_real(&table, "%+.1f %%", 100.0 * off);
        cli_cell_real(&table, "%.6g", e->status == BDML_OK ? e->r.lower : (double)NAN);
        cli_cell(&table, "%lld", (long long)e->b.rounds);
        cli_cell_real(&table, "%.3f", e->b.seconds);
        json_t *row = json_object();
        cli_put(row, "solver", bdml_json_text(e->name));
        cli_put(row, "outcome", bdml_json_text(verdict(e)));
        cli_put(row, "kappa", cli_real(metric ? e->r.kappa : (double)NAN));
        cli_put(row, "worst_miss", cli_real(miss));
        cli_put(row, "row_miss", cli_real(row_miss));
        cli_put(row, "off_bracket", cli_real(off));
        cli_put(row, "objective", cli_real(objective));
        cli_put(row, "lower", cli_real(e->status == BDML_OK ? e->r.lower : (double)NAN));
        cli_put(row, "rounds", json_integer(e->b.rounds));
        cli_put(row, "seconds", cli_real(e->b.seconds));
        if (k > 0) { /* the interval of Algorithm 1 */
            cli_put(row, "L", cli_real(e->b.L));
            cli_put(row, "U", cli_real(e->b.U));
        }
        if (e->why[0]) cli_put(row, "error", bdml_json_text(e->why));
        json_array_append_new(rows, row);
    }
    cli_put(c->result, "solvers", rows);
    if (cli_json(c)) {
        for (size_t k = 0; k < table.count; k++) free(table.cell[k]);
        free(table.cell);
        return BDML_OK;
    }
    BDML_TRY(cli_table_print(&table, stdout));
    if (cli_chatty(c))
        printf("\nmargin miss: worst of the margins; any row: of all rows of the form, the cap's "
               "too; off "
               "by: objective\nagainst the engine's bracket, below it only when something is "
               "missed\n");
    for (int k = 0; k < count; k++)
        if (list[k].why[0]) printf("%s: %s\n", list[k].name, list[k].why);
    return BDML_OK;
}

bdml_status cli_compare_solvers(cli *c)
{
    enum { MOST = 5 };
    bdml_status status = BDML_OK;
    bdml_dataset *data = NULL;
    task t = {0};
    entry list[MOST] = {{0}};
    int count = 0;
    double trace = bdml_opt_real(c->h, BDML_OPT_TRACE);

    BDML_GO(bdml_read_dataset(c->h, c->argument[0], &data));
    BDML_GO(make_task(c, data, &t));
    list[count].name = "engine";
    BDML_GO(run_engine(c, &t, &list[count++]));
    list[count].name = "mwu-cone";
    BDML_GO(run_paper(c, &t, BDML_PAPER_CONE, false, BDML_ROW_SCALING_AUTO, &list[count++]));
    list[count].name = "mwu";
    BDML_GO(run_paper(c, &t, BDML_PAPER_LIFTED, false, BDML_ROW_SCALING_AUTO, &list[count++]));
    if (!bdml_opt_changed(c->h, BDML_OPT_ROW_SCALING)) {
        list[count].name = "mwu, scaled";
        BDML_GO(run_paper(c, &t, BDML_PAPER_LIFTED, false, BDML_ROW_SCALING_WIDTH, &list[count++]));
    }
    if (trace > 0.0) {
        list[count].name = "mwu, literal";
        BDML_GO(run_paper(c, &t, BDML_PAPER_LIFTED, true, BDML_ROW_SCALING_AUTO, &list[count++]));
    }
    cli_progress_clear(c);
    if (cli_chatty(c))
        printf(
            "%s: %lld points, d %d, %lld %s constraints, distortion at most K = %g, trace %g\n\n",
            c->argument[0], (long long)data->n, t.points.d, (long long)t.c->m,
            bdml_get(c->h, "kind"), bdml_opt_real(c->h, BDML_OPT_DISTORTION),
            trace > 0.0 ? trace : INFINITY);
    BDML_GO(report(c, &t, count, list));
done:
    for (int k = 0; k < MOST; k++) bdml_solve_result_free(&list[k].r);
    bdml_free_constraints(t.c);
    free(t.points.x);
    bdml_free_dataset(data);
    return status;
}
