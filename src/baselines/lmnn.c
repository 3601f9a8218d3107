/* lmnn.c - large margin nearest neighbours (Weinberger and Saul 2009), solved to a certified gap:
 *
 *     min over M >= 0 of  (1-mu) sum_(i,j) D(i,j) + mu sum_(i,j,l) [1 + D(i,j) - D(i,l)]_+ ,
 *
 * j the k target neighbours of i, fixed; l every point of another class; D(i,j) = (x_i-x_j)'M(x_i-x_j).
 * Over (1-mu) times the number N of targets that is
 *
 *     <G,M> + (C/m) sum_t [1 - <A_t,M>]_+,   C/m = mu/((1-mu) N),   G the mean over the targets,
 *
 * the soft hinge problem of the certified engine on the cone of M >= 0. Only some of the triplets are given to
 * it. Losses are not negative, so its lower bound holds for all triplets; the upper end is the whole
 * objective at the M it finds. While the two are apart, the triplets missed there join, and it goes on from
 * where it was. Where memory has no room for all of them (setting memory), those without a multiplier make room: at the optimum over
 * those there are they have no say, so that the bound stays. With passes > 1 the targets are then mined again under the learned metric; a pass
 * that the clock cuts short counts where it came as near to its optimum as the one before, whose metric stands otherwise.
 *
 * With components = q > 0 the map has q rows: from the q leading directions of that optimum L-BFGS goes on over
 * L (lmnn_rank.c), triplets joining in the same way. The bound then tells how far from the best of any rank it is.
 *
 * The optimum over all M >= 0 does not depend on the coordinates, so the work is done in those of the span
 * of the data (span.c) in which G = I: <G,M> is then the trace, and both the steps and the bound are good
 * however the columns are scaled or depend on each other. */
#include "baselines/lmnn.h"

#include <stdlib.h>

#include "linalg/linalg.h"
#include "solver/solver.h"

/* Impostors of each target that the first problem holds. */
enum { FIRST_IMPOSTORS = BDML_LMNN_IMPOSTORS, MOST_ROUNDS = 100 };
/* The problem over some triplets is solved to this share of the gap wanted over all. */
static const double SHARE = 0.8;
/* ... or, as long as that is wider, to this share of the gap over all that there is. */
static const double ROUGH = 0.1;

/* A solve takes at least as long as this many times the building of its problem, and then the look at all triplets comes. */
static const double SOLVE_LEAST = 2.0;
/* A solve that is stopped at its first step looks at all constraints once more: as much as was done before that step, at most. */
static const double THERE_AND_BACK = 2.0;

/* Directions in which targets vary less than this, relative to the most, are not stretched further. */
static const double LEAST_PULL = 1e-8;

typedef struct run {
    bdml_handle *h;
    const bdml_options *o;
    bdml_lmnn a;
    bdml_span span;
    double *frame, *p; /* r x r: p = frame z, and the n points p */
    bdml_constraints *c;
    double *m, *y, *map; /* the latest metric, its multipliers, and its map of q rows */
    int q;
    double lower, upper;
    bool collapsed; /* M = 0 is best over the triplets there are */
    int64_t iterations;
    double *best; /* map of `upper` */
    int best_q;
    int64_t room;  /* triplets that memory has room for */
    bool crowded;  /* some had to stay out, or to go, for it */
    bool full;     /* which ended it */
    double joined; /* seconds that the latest triplets took to join */
    double pace;   /* seconds a triplet that a round takes before it can be stopped */
} run;

static void free_run(run *w)
{
    bdml_lmnn_free(&w->a);
    bdml_span_free(&w->span);
    free(w->frame);
    free(w->p);
    bdml_free_constraints(w->c);
    free(w->m);
    free(w->y);
    free(w->map);
    free(w->best);
}

/* Points in which the mean of X_ij over the targets is the identity. */
static bdml_status make_points(run *w)
{
    bdml_status status = BDML_OK;
    bdml_handle *h = w->h;
    int r = w->span.r;
    size_t rr = (size_t)r * (size_t)r;
    double *difference = NULL, *lambda = NULL, *ws = NULL;
    bdml_eigh_ws eigen = {0};
    int64_t count = 0;

    free(w->p); /* those of the pass before: never beside the differences */
    w->p = NULL;
    BDML_NEW(h, difference, (size_t)w->a.targets * (size_t)r);
    BDML_NEW(h, lambda, r);
    BDML_NEW(h, ws, BDML_MAX(bdml_la_gram_size(r), bdml_la_map_size(r, r)));
    BDML_GO(bdml_eigh_ws_init(h, r, &eigen));
    if (!w->frame) BDML_NEW(h, w->frame, rr);
    for (int64_t e = 0; e < w->a.n * w->a.k; e++) {
        if (w->a.target[e] < 0) continue;
        const double *a = COL(w->span.z, r, e / w->a.k), *b = COL(w->span.z, r, w->a.target[e]);
        for (int j = 0; j < r; j++) COL(difference, r, count)[j] = a[j] - b[j];
        count++;
    }
    bdml_la_gram(h, r, count, difference, r, NULL, w->frame, ws);
    free(difference);
    difference = NULL;
    BDML_GO(bdml_la_eigh(h, r, w->frame, lambda, true, &eigen));
    double least = LEAST_PULL * lambda[r - 1];
    if (!(least > 0.0)) {
        status = bdml_fail(h, BDML_ERR_DATA,
                           "lmnn: every point is the same as its target neighbours; there is no "
                           "distance to shorten");
        goto done;
    }
    for (int k = 0; k < r; k++)
        for (int j = 0; j < r; j++)
            COL(w->frame, r, k)[j] /= sqrt(BDML_MAX(lambda[k], least) / (double)count);
    BDML_NEW(h, w->p, (size_t)w->a.n * (size_t)r);
    bdml_la_map_rows(h, r, r, w->frame, w->a.n, w->span.z, r, w->p, ws);
    w->a.x = w->p;
    w->a.d = r;
done:
    bdml_eigh_ws_free(&eigen);
    free(difference);
    free(lambda);
    free(ws);
    return status;
}

/* The problem of the pass before, or of fewer triplets. */
static void forget_problem(run *w)
{
    bdml_free_constraints(w->c);
    w->c = NULL;
    free(w->y);
    free(w->m);
    w->y = w->m = NULL;
}

static double triplet_bytes(const run *w)
{
    return (double)BDML_LMNN_TRIPLET * (double)w->c->m;
}

/* Without a metric yet there is nothing to stop with: an error, from which the start is made, where the deadline comes before so many
 * seconds are over. */
static bdml_status time_for_first(const run *w, double seconds)
{
    return isinf(w->upper) ? bdml_deadline_ahead(w->h, "lmnn", seconds) : BDML_OK;
}

/* Is there time for a round with the triplets missed, up to where its solve can be stopped? */
static bool time_to_join(const run *w, const bdml_constraints *missed)
{
    int64_t more = missed ? missed->m : 0;
    return !bdml_time_is_short(w->h, w->pace * (double)(w->c->m + more));
}

/* Solve over the triplets there are, from the metric and multipliers there are. */
static bdml_status solve(run *w, double gap)
{
    bdml_status status = BDML_OK;
    bdml_handle *h = w->h;
    bdml_problem *p = NULL;
    bdml_solve_settings s = bdml_solve_defaults();
    bdml_solve_result r = {0};
    double kappa;

    s.set = BDML_SET_PSD_BALL;
    s.loss = BDML_LOSS_HINGE;
    s.C = w->a.push * (double)w->c->m / (double)w->a.targets;
    s.skip_threshold = true;
    s.gap = gap;
    s.max_iter = BDML_MAX(w->o->solve.max_iter.value - w->iterations, (int64_t)1);
    s.warm_metric = w->m;
    s.warm_multiplier = w->y;
    bdml_memory_back(triplet_bytes(w)); /* of building the problem */
    BDML_GO(time_for_first(w, 0.0));    /* the constraints took some, and so does the problem */
    double begin = bdml_now();
    BDML_GO(bdml_problem_new(h, w->a.n, w->a.d, w->a.x, w->a.d, w->c, NULL, false, &p));
    double built = bdml_now() - begin;
    BDML_GO(time_for_first(w, SOLVE_LEAST * built));
    BDML_GO(bdml_problem_solve(h, p, &s, &r));
    w->pace = (w->joined + built + THERE_AND_BACK * r.ahead) / (double)w->c->m;
    w->iterations += r.iterations;
    if (r.stop == BDML_STOP_CANCELLED) {
        status = bdml_fail(h, BDML_ERR_CANCELLED, "cancelled");
        goto done;
    }
    w->collapsed = !r.m || r.collapsed;
    if (w->collapsed) goto done;
    w->lower = BDML_MAX(w->lower, r.lower);
    free(w->m);
    free(w->y);
    free(w->map);
    w->m = r.m, w->y = r.y;
    r.m = r.y = NULL;
    w->map = NULL;
    status = bdml_metric_factor(h, w->a.d, w->m, &w->q, &w->map, &kappa);
done:
    bdml_solve_result_free(&r);
    bdml_problem_free(p);
    bdml_memory_back(triplet_bytes(w)); /* of the solve */
    return status;
}

/* Without the triplets whose multiplier is 0. */
static bdml_status drop_idle(run *w)
{
    bdml_status status = BDML_OK;
    bdml_constraints *kept = NULL;
    int32_t *rows = NULL;
    int64_t count = 0;

    BDML_NEW(w->h, rows, 3 * (size_t)w->c->m);
    for (int64_t t = 0; t < w->c->m; t++) {
        if (w->y[t] == 0.0) continue;
        bdml_constraints_at(w->c, t, rows + 3 * count);
        w->y[count++] = w->y[t];
    }
    BDML_GO(bdml_lmnn_build(w->h, &w->a, count, rows, &kept));
    bdml_free_constraints(w->c);
    w->c = kept;
done:
    free(rows);
    return status;
}

/* Triplets that are missed join; their multipliers begin at 0. */
static bdml_status join(run *w, const bdml_constraints *missed)
{
    bdml_constraints *both = NULL;
    double begin = bdml_now();
    if (w->c->m + missed->m > w->room) {
        w->crowded = true;
        BDML_TRY(drop_idle(w));
    }
    BDML_TRY(bdml_constraints_merge(w->h, w->c, missed, &both));
    double *y = bdml_realloc(w->h, w->y, (size_t)both->m, sizeof *y);
    if (!y) {
        bdml_free_constraints(both);
        return BDML_ERR_MEMORY;
    }
    memset(y + w->c->m, 0, sizeof *y * (size_t)(both->m - w->c->m));
    w->y = y;
    bdml_free_constraints(w->c);
    w->c = both;
    w->joined = bdml_now() - begin;
    return BDML_OK;
}

/* Triplets that may still join: what is left of the room when those without a multiplier are gone, and at most half of it, so that
 * those of this round and of the next both find some. */
static int64_t room_left(const run *w)
{
    int64_t busy = 0;
    for (int64_t t = 0; w->y && t < w->c->m; t++) busy += w->y[t] != 0.0;
    return BDML_MIN(w->room - busy, w->room / 2);
}

/* Bytes for the impostors that a look at all triplets keeps: of those of the triplets, what the held and the listed leave. */
static size_t look_bytes(const run *w, int64_t left)
{
    double all = (double)BDML_LMNN_TRIPLET * (double)w->room;
    double lists = (double)(BDML_LMNN_HELD + BDML_LMNN_KEYS) * (double)w->c->m +
                   (double)BDML_LMNN_LISTED * (double)BDML_MAX(left, 0);
    double blocks = BDML_MIN((double)bdml_memory(w->h), all - lists);
    return (size_t)BDML_MAX(blocks, (double)BDML_LEAST_BLOCKS);
}

static bdml_status keep_best(run *w, double upper)
{
    bdml_status status = BDML_OK;
    if (upper >= w->upper) return BDML_OK;
    free(w->best);
    BDML_NEW(w->h, w->best, (size_t)w->q * (size_t)w->a.d);
    memcpy(w->best, w->map, sizeof *w->map * (size_t)w->q * (size_t)w->a.d);
    w->best_q = w->q;
    w->upper = upper;
done:
    return status;
}

/* The first problem: the nearest impostors of each target, as many as it takes for M = 0 not to be its
 * answer. *most: how many those are. */
static bdml_status first_problem(run *w, double gap, int *most)
{
    bdml_handle *h = w->h;
    int64_t fit = w->room / BDML_MAX(w->a.targets, 1); /* of each target */
    *most = (int)BDML_MAX(BDML_MIN((int64_t)FIRST_IMPOSTORS, fit), 1);
    if (*most < FIRST_IMPOSTORS) w->crowded = true;
    for (;; *most = (int)BDML_MIN(BDML_MIN(w->a.n, 4 * (int64_t)*most), fit)) {
        forget_problem(w);
        BDML_TRY(bdml_lmnn_first(h, &w->o->neighbors, &w->a, *most, &w->c));
        BDML_TRY(solve(w, gap));
        if (!w->collapsed) return BDML_OK;
        if (*most < w->a.n && *most >= fit)
            return bdml_fail(h, BDML_ERR_MEMORY,
                             "lmnn: M = 0 is optimal over the %d nearest impostors of each target, "
                             "and --memory has no room for more; raise it, or lmnn-push above %g",
                             *most, w->o->methods.lmnn_push.value);
        if (*most >= w->a.n)
            return bdml_fail(
                h, BDML_ERR_DATA,
                "lmnn: M = 0 is optimal, the targets are as far as the impostors; raise "
                "lmnn-push above %g or use fewer targets",
                w->o->methods.lmnn_push.value);
    }
}

static bool limit_reached(const run *w)
{
    return w->iterations >= w->o->solve.max_iter.value || bdml_time_is_up(w->h);
}

/* Until when the objective at a metric may be looked for: that of the first is the result if none is better. */
static double look_until(const run *w)
{
    return isfinite(w->upper) ? w->h->stop_by : w->h->deadline;
}

/* The convex problem with the targets there are. */
static bdml_status solve_targets(run *w, double gap)
{
    bdml_handle *h = w->h;
    double upper;
    int most;
    w->lower = -INFINITY;
    w->upper = INFINITY;
    BDML_TRY(first_problem(w, ROUGH, &most));
    for (int round = 0; round < MOST_ROUNDS; round++) {
        bdml_constraints *missed = NULL;
        BDML_TRY(bdml_progress(h, "lmnn", round, 0));
        int64_t left = room_left(w);
        BDML_TRY(bdml_lmnn_missed(h, &w->a, w->q, w->map, most, w->c, left, look_bytes(w, left),
                                  look_until(w), &upper, &missed));
        bdml_status status = keep_best(w, upper);
        double apart = (w->upper - w->lower) / w->upper;
        bool done = apart <= gap || limit_reached(w) || !time_to_join(w, missed);
        if (!done && left <= 0) { /* all triplets that memory has room for have a say */
            w->full = done = true;
        }
        if (status == BDML_OK && !done && missed) status = join(w, missed);
        bdml_free_constraints(missed);
        if (status == BDML_OK && done && isinf(w->upper)) status = bdml_deadline_check(h, "lmnn");
        if (status != BDML_OK || done) return status;
        /* no sharper than the triplets that are still missing make sense of */
        BDML_TRY(solve(w, BDML_MAX(SHARE * gap, ROUGH * BDML_MIN(apart, 1.0))));
        if (w->collapsed) return BDML_OK; /* cannot be: more triplets raise the objective at 0 */
        most = (int)BDML_MIN(w->a.n, 4 * (int64_t)most);
    }
    return BDML_OK;
}

/* From the convex optimum to a map of q rows. */
static bdml_status lower_rank(run *w, int q, double gap)
{
    bdml_status status = BDML_OK;
    bdml_handle *h = w->h;
    double upper, listed = -INFINITY;
    int most = FIRST_IMPOSTORS;
    bdml_constraints *missed = NULL;

    if (w->best_q <= q) return BDML_OK;
    free(w->map);
    w->map = w->best; /* its first q rows are the leading ones */
    w->best = NULL;
    w->q = q;
    w->upper = INFINITY;
    for (int round = 0; round < MOST_ROUNDS; round++) {
        BDML_GO(bdml_progress(h, "lmnn", round, 0));
        int64_t left = w->room - w->c->m; /* no multipliers tell here which of them could go */
        BDML_GO(bdml_lmnn_missed(h, &w->a, q, w->map, most, w->c, left, look_bytes(w, left),
                                 look_until(w), &upper, &missed));
        BDML_GO(keep_best(w, upper));
        if (isinf(w->upper)) BDML_GO(bdml_deadline_check(h, "lmnn"));
        if (upper - listed <= SHARE * gap * upper || (round > 0 && limit_reached(w))) break;
        if (!time_to_join(w, missed)) break;
        if (round > 0 && left <= 0) {
            w->full = true;
            break;
        }
        if (missed) BDML_GO(join(w, missed));
        bdml_free_constraints(missed);
        missed = NULL;
        double rough = BDML_MAX(gap, ROUGH * BDML_MIN((upper - listed) / upper, 1.0));
        BDML_GO(bdml_lmnn_low_minimise(h, &w->o->solve, &w->a, w->c, rough, q, w->map, &listed,
                                       &w->iterations));
        most = (int)BDML_MIN(w->a.n, 4 * (int64_t)most);
    }
done:
    bdml_free_constraints(missed);
    return status;
}

/* The best map, in the prepared points: best frame span.map. */
static bdml_status set_map(run *w, bdml_model *model)
{
    bdml_status status = BDML_OK;
    int r = w->span.r;
    double *l = NULL;
    BDML_NEW(w->h, l, (size_t)w->best_q * (size_t)r);
    bdml_la_gemm('N', 'N', r, w->best_q, r, 1.0, w->frame, r, w->best, r, 0.0, l, r);
    status = bdml_span_set_map(w->h, &w->span, w->best_q, l, model);
done:
    free(l);
    return status;
}

/* How memory was kept to. */
static void tell_room(const run *w, double reached, double gap)
{
    if (w->full)
        bdml_log(
            w->h, BDML_LOG_WARNING,
            "lmnn: memory has room for %lld triplets, and all of them have a say: it ends at a gap "
            "of %g where %g was wanted; a larger --memory takes more",
            (long long)w->room, reached, gap);
    else if (w->crowded)
        bdml_log(
            w->h, BDML_LOG_INFO,
            "lmnn: memory has room for %lld triplets: those without a say made room for others",
            (long long)w->room);
}

/* Targets: nearest as prepared, or under the metric of the last pass. */
static bdml_status mine_targets(run *w, const bdml_training *t, bool first)
{
    bdml_lmnn *a = &w->a;
    if (first) {
        a->x = t->x;
        a->d = t->d;
    }
    forget_problem(w); /* the search takes its memory */
    BDML_TRY(bdml_lmnn_targets(w->h, &w->o->neighbors, w->best_q, first ? NULL : w->best, a));
    if (a->targets == 0)
        return bdml_fail(w->h, BDML_ERR_DATA,
                         "lmnn: no class has two points, so no point has a target neighbour");
    return make_points(w);
}

/* One pass, the model's map, and how it ended. *cut: the clock left it farther from its optimum than the pass before came, which stands. */
static bdml_status run_pass(run *w, const bdml_training *t, int64_t pass, bdml_stopping *stop,
                            bdml_model *model, bool *cut)
{
    double gap = stop->wanted, before = stop->reached;
    int q = (int)w->o->methods.components.value;
    bdml_status status = mine_targets(w, t, pass == 0);
    if (pass + 1 == w->o->train.passes.value) { /* nothing is mapped from them again */
        free(w->span.z);
        w->span.z = NULL;
    }
    if (status == BDML_OK) status = solve_targets(w, gap);
    if (status == BDML_OK && q > 0) status = lower_rank(w, q, gap);
    double reached = (w->upper - w->lower) / w->upper;
    *cut = pass > 0 && (bdml_is_late(w->h, status) ||
                        (bdml_time_is_up(w->h) && !(reached <= BDML_MAX(gap, before))));
    if (status != BDML_OK || *cut) return *cut ? BDML_OK : status;
    stop->reached = reached;
    stop->objective = w->upper;
    stop->iterations = w->iterations;
    return set_map(w, model);
}

bdml_status bdml_fit_lmnn(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                          bdml_model *model)
{
    bdml_status status = BDML_OK;
    double mu = o->methods.lmnn_push.value;
    bdml_stopping stop = {.rule = o->methods.components.value > 0
                                      ? "gap to the bound over all ranks"
                                      : "certified gap",
                          .reached = INFINITY,
                          .wanted = o->solve.gap.value};
    run w = {.h = h, .o = o};
    bool cut = false;

    w.a = (bdml_lmnn){.n = t->n, .y = t->y, .push = mu / (1.0 - mu)};
    w.a.k = (int)BDML_MIN(o->constraints.targets.value, t->n - 1);
    w.room = w.a.n * w.a.k + (int64_t)(bdml_memory_room(h) / BDML_LMNN_TRIPLET);
    BDML_GO(bdml_need_classes(h, t, "lmnn"));
    BDML_GO(bdml_span_make(h, t, &w.span));
    for (int64_t pass = 0; pass < o->train.passes.value && !cut; pass++) {
        if (pass > 0 && bdml_time_is_up(h)) break;
        BDML_GO(run_pass(&w, t, pass, &stop, model, &cut));
    }
    tell_room(&w, stop.reached, stop.wanted);
    status = bdml_record_stopping(h, model, &stop);
done:
    free_run(&w);
    return bdml_start_if_late(h, status, model);
}
