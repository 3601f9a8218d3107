/* fold.c - one job of the cross-validation: learn on the rows of a fold, score on the rows left out.
 *
 * Pass 0 is one problem, solved for K ascending, each from the metric before. Later passes mine
 * neighbours under the metric of pass 0 at the mining distortion, so that all K from there on share
 * one problem again. Score: mean of the 1-, 3-, 5- and 9-NN errors on the rows left out; a path keeps a
 * record of each K instead (record.c). */
#include "train/recipe.h"

#include <stdlib.h>

#include "linalg/linalg.h"

enum { VOTES = 4, MOST_VOTES = 9 };
static const int votes[VOTES] = {1, 3, 5, MOST_VOTES};

/* ---- choices ---------------------------------------------------------------------------------------- */

int recipe_grid_size(const recipe_grid *g)
{
    return g->references * g->passes * g->cs * g->ks;
}

int recipe_choice_number(const recipe_grid *g, recipe_choice c)
{
    return ((c.reference * g->passes + c.pass) * g->cs + c.c) * g->ks + c.k;
}

recipe_choice recipe_choice_at(const recipe_grid *g, int number)
{
    recipe_choice c;
    c.k = number % g->ks;
    number /= g->ks;
    c.c = number % g->cs;
    number /= g->cs;
    c.pass = number % g->passes;
    c.reference = number / g->passes;
    return c;
}

void recipe_free_fold(recipe_fold *f)
{
    free(f->x);
    free(f->vx);
    free(f->y);
    free(f->vy);
    *f = (recipe_fold){0};
}

/* ---- score ------------------------------------------------------------------------------------------ */

/* Mean error in percent of the votes under the metric m on r-dimensional points. */
static bdml_status score_metric(bdml_handle *h, const recipe_fold *f, int r, const double *p,
                                const double *vp, const double *m, double *score)
{
    bdml_status status = BDML_OK;
    double *l = NULL, *z = NULL, *vz = NULL, *ws = NULL, kappa;
    int64_t wrong[VOTES], sum = 0;
    int q;

    BDML_GO(bdml_metric_factor(h, r, m, &q, &l, &kappa));
    BDML_NEW(h, z, (size_t)f->train * (size_t)q);
    BDML_NEW(h, vz, (size_t)f->test * (size_t)q);
    BDML_NEW(h, ws, bdml_la_map_size(q, r));
    bdml_la_map_rows(h, q, r, l, f->train, p, r, z, ws);
    bdml_la_map_rows(h, q, r, l, f->test, vp, r, vz, ws);
    const bdml_rows learn = {f->train, q, q, z, f->y, f->classes};
    const bdml_rows left_out = {f->test, q, q, vz, f->vy, f->classes};
    BDML_GO(bdml_vote_errors(h, &h->options.neighbors, &learn, &left_out, VOTES, votes, wrong));
    for (int v = 0; v < VOTES; v++) sum += wrong[v];
    *score = 100.0 * (double)sum / (double)(VOTES * f->test);
done:
    free(l);
    free(z);
    free(vz);
    free(ws);
    return status;
}

/* ---- one fold --------------------------------------------------------------------------------------- */

/* What the parts of a job share. */
typedef struct sweeper {
    bdml_handle *h;
    const recipe_job *j;
    recipe_points points;
    double *p, *vp;        /* rows to learn from and rows left out, under the reference */
    bdml_constraints *c0;  /* of pass 0 */
    bdml_problem *problem; /* of pass 0, when something was solved */
    bdml_solve_settings s; /* of pass 0, but for K and the start */
    double *metric;        /* of pass 0 at the last K solved, the start of the next */
    double K;              /* that K */
} sweeper;

static int number_of(const recipe_job *j, int pass, int k)
{
    return recipe_choice_number(j->grid, (recipe_choice){j->reference, pass, j->c, k});
}

static bool wants(const recipe_job *j, int pass, int k)
{
    return !j->wanted || j->wanted[number_of(j, pass, k)];
}

static bdml_status score_choice(sweeper *f, int pass, int k, const double *m)
{
    const recipe_job *j = f->j;
    if (j->record)
        return recipe_note_errors(f->h, j->fold, f->points.r, f->p, f->vp, m, &j->record[k]);
    return score_metric(f->h, j->fold, f->points.r, f->p, f->vp, m,
                        &j->score[number_of(j, pass, k)]);
}

/* K = 1 is the reference itself, whatever the weight and the pass. */
static bdml_status score_reference(sweeper *f, int r)
{
    const recipe_job *j = f->j;
    double score = NAN, *eye = bdml_calloc(f->h, (size_t)r * (size_t)r, sizeof *eye);
    if (!eye) return BDML_ERR_MEMORY;
    for (int i = 0; i < r; i++) COL(eye, r, i)[i] = 1.0;
    bdml_status status = j->record
                             ? recipe_note_errors(f->h, j->fold, r, f->p, f->vp, eye, &j->record[0])
                             : score_metric(f->h, j->fold, r, f->p, f->vp, eye, &score);
    free(eye);
    if (status != BDML_OK || j->record) return status;
    for (int pass = 0; pass < j->grid->passes; pass++)
        if (wants(j, pass, 0)) j->score[number_of(j, pass, 0)] = score;
    return BDML_OK;
}

/* f->metric = that of pass 0 at K; freed and NULL when it collapses. A path mines under K = k[at], so
 * that this is the solve to be noted, or the first one for it. */
static bdml_status solve_first(sweeper *f, int at, double K)
{
    const recipe_job *j = f->j;
    bdml_solve_result r = {0};
    if (f->metric && f->K == K) return BDML_OK;
    if (!f->problem) {
        BDML_TRY(recipe_problem(f->h, &f->points, f->c0, &f->problem));
        BDML_TRY(recipe_settings(f->h, &f->points, f->c0, f->problem, j->grid->c[j->c],
                                 j->record != NULL, &f->s));
    }
    f->s.K = K;
    f->s.warm_metric = f->metric;
    BDML_TRY(recipe_solve(f->h, &f->points, f->problem, &f->s, &r));
    if (j->record) recipe_note_solve(&r, &j->record[at]);
    free(f->metric);
    f->metric = NULL;
    f->K = K;
    if (r.m && !r.collapsed) {
        f->metric = r.m;
        r.m = NULL;
    }
    bdml_solve_result_free(&r);
    return BDML_OK;
}

/* Score the K from..to-1 of a later pass, whose neighbours come from f->metric. */
static bdml_status later_pass(sweeper *f, int pass, int from, int to)
{
    bdml_status status = BDML_OK;
    const recipe_grid *g = f->j->grid;
    double weight = g->c[f->j->c];
    bdml_constraints *c = NULL;
    bdml_problem *problem = NULL;
    bdml_solve_settings s;
    bdml_solve_result r = {0};
    double *warm = NULL;

    BDML_GO(recipe_remine(f->h, &f->points, f->c0, f->metric, f->K, weight, g->pass[pass], &c));
    BDML_GO(recipe_problem(f->h, &f->points, c, &problem));
    BDML_GO(recipe_settings(f->h, &f->points, c, problem, weight, f->j->record != NULL, &s));
    for (int k = from; k < to; k++) {
        if (!wants(f->j, pass, k)) continue;
        s.K = g->k[k];
        s.warm_metric = warm ? warm : f->metric;
        BDML_GO(recipe_solve(f->h, &f->points, problem, &s, &r));
        if (f->j->record) recipe_note_solve(&r, &f->j->record[k]);
        if (!r.m || r.collapsed) break;
        BDML_GO(score_choice(f, pass, k, r.m));
        free(warm);
        warm = r.m;
        r.m = NULL;
        bdml_solve_result_free(&r);
    }
done:
    free(warm);
    bdml_solve_result_free(&r);
    bdml_problem_free(problem);
    bdml_free_constraints(c);
    return status;
}

/* Later passes of all K in from..to-1, which share a mining distortion. */
static bdml_status later_passes(sweeper *f, int from, int to)
{
    const recipe_grid *g = f->j->grid;
    for (int pass = 0; pass < g->passes; pass++) {
        bool any = false;
        for (int k = from; k < to; k++) any = any || wants(f->j, pass, k);
        if (g->pass[pass] == 0 || !any) continue;
        BDML_TRY(solve_first(f, from, recipe_mining_distortion(&f->points, g->k[from])));
        if (f->metric) BDML_TRY(later_pass(f, pass, from, to));
    }
    return BDML_OK;
}

static bdml_status first_pass(sweeper *f, int k)
{
    const recipe_grid *g = f->j->grid;
    for (int pass = 0; pass < g->passes; pass++) {
        if (g->pass[pass] != 0 || !wants(f->j, pass, k)) continue;
        BDML_TRY(solve_first(f, k, g->k[k]));
        if (f->metric) BDML_TRY(score_choice(f, pass, k, f->metric));
    }
    return BDML_OK;
}

static bdml_status sweep(sweeper *f, int first)
{
    const recipe_grid *g = f->j->grid;
    const recipe_points *p = &f->points;
    for (int k = first, to; k < g->ks; k = to) {
        double mining = recipe_mining_distortion(p, g->k[k]);
        for (to = k; to < g->ks && recipe_mining_distortion(p, g->k[to]) == mining;) to++;
        if (g->k[k] == mining) BDML_TRY(first_pass(f, k));
        BDML_TRY(later_passes(f, k, to));
        for (int other = g->k[k] == mining ? k + 1 : k; other < to; other++)
            BDML_TRY(first_pass(f, other));
    }
    return BDML_OK;
}

bdml_status recipe_job_run(bdml_handle *h, const recipe_job *j)
{
    bdml_status status = BDML_OK;
    const recipe_grid *g = j->grid;
    const recipe_fold *rows = j->fold;
    bdml_training t = {rows->train, rows->d, rows->x, rows->y, rows->classes, NULL, NULL};
    bdml_reference reference = {0};
    sweeper f = {.h = h, .j = j};
    int first = g->k[0] == 1.0 ? 1 : 0;
    bool more = false;

    for (int pass = 0; pass < g->passes; pass++)
        for (int k = first; k < g->ks; k++) more = more || wants(j, pass, k);
    BDML_GO(bdml_reference_make(h, g->reference[j->reference], &t, &reference));
    BDML_GO(bdml_reference_apply(h, &reference, rows->train, rows->d, rows->x, &f.p));
    BDML_GO(bdml_reference_apply(h, &reference, rows->test, rows->d, rows->vx, &f.vp));
    if (first) BDML_GO(score_reference(&f, reference.rows));
    if (j->record) first = 0; /* the objective there is wanted too */
    if (!more && !j->record) goto done;
    BDML_GO(
        recipe_points_init(h, rows->train, reference.rows, f.p, rows->y, rows->classes, &f.points));
    f.points.stated = g->stated;
    f.points.grid = g;
    BDML_GO(recipe_mine(h, &f.points, NULL, NULL, &f.c0));
    BDML_GO(sweep(&f, first));
done:
    bdml_problem_free(f.problem);
    bdml_free_constraints(f.c0);
    recipe_points_free(&f.points);
    bdml_reference_free(&reference);
    free(f.p);
    free(f.vp);
    free(f.metric);
    return status;
}
