/* state.c - the state of a solve between two rounds, kept, saved and taken up.
 *
 * One walk over everything that a later round reads serves writing and reading, so that they cannot
 * disagree. What is left out follows from it (the scaled problem from C, the gathered data of the
 * active constraints from their list) or is written before it is read (M_old and the values there). The numbers have
 * the same places in every round, and whatever the number of ranks: what is over constraints stands by their numbers in
 * the problem that all ranks know. Each rank writes what it has, rank 0 what all have, and the sum of these is the
 * state. */
#include "solver/engine.h"

#include <stdlib.h>

static const double STATE_VERSION = 5.0;
/* Largest counter: whole numbers are exact in a double up to here. */
static const double MOST_COUNT = 9007199254740992.0;

/* ---- walk -------------------------------------------------------------------------------------- */

typedef struct walk {
    enum { COUNT, WRITE, READ } mode;
    double *at; /* unless COUNT; WRITE: zero before */
    int64_t n;
    bool others; /* WRITE: another rank writes what all have */
    bool bad;    /* READ: a number that cannot be */
} walk;

static void number(walk *w, double *v)
{
    if (w->mode == WRITE && !w->others) w->at[w->n] = *v;
    if (w->mode == READ) *v = w->at[w->n];
    w->n++;
}

static void array(walk *w, size_t n, double *a)
{
    if (w->mode == WRITE && !w->others) memcpy(w->at + w->n, a, sizeof *a * n);
    if (w->mode == READ) memcpy(a, w->at + w->n, sizeof *a * n);
    w->n += (int64_t)n;
}

/* An array that never holds anything but finite numbers. */
static void finite_array(walk *w, size_t n, double *a)
{
    array(w, n, a);
    for (size_t i = 0; w->mode == READ && i < n; i++) w->bad = w->bad || !isfinite(a[i]);
}

/* A vector over constraints: of all of them those of this rank, or of these the listed, one after the other. */
static void over_constraints(walk *w, const bdml_problem *p, const bdml_active *listed, double *a)
{
    int64_t count = listed ? listed->terms.space.count : p->c->m;
    double *own = w->at ? w->at + w->n + p->share.first : NULL;
    for (int64_t k = 0; own && k < count; k++) {
        double *place = own + (listed ? listed->t[k] : k);
        if (w->mode == WRITE) *place = a[k];
        if (w->mode == READ) a[k] = *place;
        w->bad = w->bad || (w->mode == READ && !isfinite(a[k]));
    }
    w->n += p->stated.c->m;
}

static void counter(walk *w, double most, int64_t *v)
{
    double x = (double)*v;
    number(w, &x);
    if (w->mode != READ) return;
    if (!(x >= 0.0 && x <= most))
        w->bad = true;
    else
        *v = (int64_t)x;
}

static void small(walk *w, int most, int *v)
{
    int64_t x = *v;
    counter(w, most, &x);
    *v = (int)x;
}

static void flag(walk *w, bool *v)
{
    int x = *v;
    small(w, 1, &x);
    *v = x != 0;
}

static void walk_history(walk *w, bdml_history *h)
{
    small(w, BDML_HISTORY_ROWS, &h->count);
    counter(w, MOST_COUNT, &h->seen);
    counter(w, MOST_COUNT, &h->every);
    array(w, BDML_HISTORY_ROWS, h->iteration);
    array(w, BDML_HISTORY_ROWS, h->lower);
    array(w, BDML_HISTORY_ROWS, h->upper);
}

static void walk_stage(walk *w, bdml_stage *s)
{
    double version = STATE_VERSION;
    int stop = (int)s->stop;
    number(w, &version);
    w->bad = w->bad || version != STATE_VERSION;
    array(w, BDML_IDENTITY_SIZE, s->identity);
    flag(w, &s->whole);
    counter(w, MOST_COUNT, &s->iterations);
    number(w, &s->seconds);
    number(w, &s->C);
    number(w, &s->C0);
    small(w, INT32_MAX, &s->rank);
    small(w, BDML_STOP_STALLED, &stop);
    s->stop = (bdml_stop)stop;
    walk_history(w, &s->history);
}

static void walk_newton(walk *w, bdml_newton *n)
{
    number(w, &n->sigma);
    number(w, &n->ridge);
    number(w, &n->started_at);
    small(w, INT32_MAX, &n->rounds);
    small(w, INT32_MAX, &n->stuck);
    flag(w, &n->on);
    flag(w, &n->off);
    number(w, &n->tried_at);
}

/* H as it is: made anew from its constraints it would differ in the last bits. */
static void walk_quadratic(walk *w, bdml_engine *e)
{
    bdml_quadratic *p = &e->quadratic;
    double *curved = e->active.weighted;
    if (p->width == 0) return;
    finite_array(w, (size_t)p->width * (size_t)p->width, p->H);
    for (int64_t t = 0; t < e->p->c->m; t++) curved[t] = p->curved[t];
    over_constraints(w, e->p, NULL, curved);
    for (int64_t t = 0; t < e->p->c->m; t++) p->curved[t] = curved[t] != 0.0;
    number(w, &p->L);
    number(w, &p->started_at);
    small(w, INT32_MAX, &p->rounds);
    flag(w, &p->on);
    flag(w, &p->off);
}

static void walk_active(walk *w, bdml_engine *e)
{
    bdml_active *a = &e->active;
    flag(w, &a->all);
    for (int64_t t = 0; t < e->p->c->m; t++) a->weighted[t] = a->listed[t];
    over_constraints(w, e->p, NULL, a->weighted);
    for (int64_t t = 0; t < e->p->c->m; t++) a->listed[t] = a->weighted[t] != 0.0;
    if (w->mode == READ) bdml_active_gather(e);
    over_constraints(w, e->p, a, a->y0);
    over_constraints(w, e->p, a, a->v);
    over_constraints(w, e->p, a, a->v_z);
}

static void walk_bounds(walk *w, size_t size, const bdml_problem *p, bdml_bounds *b)
{
    number(w, &b->upper);
    number(w, &b->lower);
    flag(w, &b->have_best);
    finite_array(w, size, b->best);
    over_constraints(w, p, NULL, b->best_y);
    number(w, &b->interior_slack);
    number(w, &b->interior_f);
    finite_array(w, size, b->interior);
    over_constraints(w, p, NULL, b->interior_v);
}

static void walk_proof(walk *w, const bdml_problem *p, bdml_refutation *proof)
{
    int kind = (int)proof->kind;
    small(w, BDML_PROOF_CONE, &kind);
    proof->kind = (bdml_proof)kind;
    over_constraints(w, p, NULL, proof->y);
    flag(w, &proof->final);
    small(w, INT32_MAX, &proof->rounds);
    number(w, &proof->trace);
}

static void walk_engine(walk *w, bdml_engine *e)
{
    size_t size = e->X.size;
    bdml_iterate *at = &e->at;
    bdml_dual *dual = &e->dual;
    bdml_course *course = &e->course;
    walk_stage(w, &e->stage);
    number(w, &course->earlier);
    number(w, &e->scaled.C);
    number(w, &e->scaled.C0);
    number(w, &dual->penalty_inv);
    number(w, &dual->aim);
    flag(w, &e->bounds.scalable);
    small(w, INT32_MAX, &dual->aim_rounds);
    number(w, &dual->before);
    flag(w, &dual->warm);
    finite_array(w, size, at->M);
    finite_array(w, size, at->Z);
    finite_array(w, (size_t)e->X.r, e->X.l);
    number(w, &at->step_inv);
    number(w, &at->momentum);
    number(w, &at->residual);
    over_constraints(w, e->p, NULL, dual->y);
    walk_active(w, e);
    walk_newton(w, &e->newton);
    walk_quadratic(w, e);
    walk_bounds(w, size, e->p, &e->bounds);
    walk_proof(w, e->p, &e->proof);
    counter(w, MOST_COUNT, &course->iterations);
    counter(w, MOST_COUNT, &course->rounds);
    number(w, &course->stall_gap);
    counter(w, MOST_COUNT, &course->stall_since);
    flag(w, &course->table_star);
    number(w, &dual->primal);
}

/* ---- keep and save ----------------------------------------------------------------------------- */

/* A rank's own part of the state becomes that of all. */
static bdml_status give(bdml_engine *e)
{
    e->course.saved_at = bdml_now();
    if (e->p->c != e->p->stated.c && !e->course.state_summed)
        bdml_comm_sum(e->p->comm, e->course.state.count, e->course.state.number);
    e->course.state_summed = true;
    return e->s->save(e->s->save_user, &e->course.state);
}

bdml_status bdml_state_keep(bdml_engine *e)
{
    if (!e->s->save) return BDML_OK;
    if (!e->course.state.number) {
        walk count = {.mode = COUNT};
        walk_engine(&count, e);
        e->course.state.number = bdml_alloc(e->h, (size_t)count.n, sizeof *e->course.state.number);
        if (!e->course.state.number) return BDML_ERR_MEMORY;
        e->course.state.count = count.n;
        e->course.saved_at = bdml_now();
    }
    bool apart = e->p->c != e->p->stated.c;
    walk w = {.mode = WRITE, .at = e->course.state.number};
    w.others = apart && e->p->comm->rank > 0;
    double now = bdml_now(), earlier = e->course.earlier;
    memset(w.at, 0, sizeof *w.at * (size_t)e->course.state.count);
    e->course.earlier += now - e->course.started;
    walk_engine(&w, e);
    e->course.earlier = earlier;
    e->course.state_summed = false;
    double due = now - e->course.saved_at >= e->s->save_every;
    due = bdml_comm_largest(e->p->clock, due); /* one clock is enough */
    return due > 0.0 ? give(e) : BDML_OK;
}

/* The round that a limit cut short is not in the state: it is done again, whole. */
bdml_status bdml_state_last(bdml_engine *e)
{
    return bdml_stop_cut(e->course.stop) && e->course.state.number ? give(e) : BDML_OK;
}

/* ---- take up ----------------------------------------------------------------------------------- */

static bdml_status damaged(bdml_handle *h)
{
    return bdml_fail(h, BDML_ERR_FORMAT,
                     "the checkpoint is damaged or of another version: begin without it");
}

bdml_status bdml_state_stage(bdml_handle *h, const bdml_solve_state *state, bdml_stage *stage)
{
    walk count = {.mode = COUNT}, w = {.mode = READ, .at = state->number};
    bdml_stage then = *stage;
    walk_stage(&count, stage);
    if (state->count < count.n) return damaged(h);
    walk_stage(&w, &then);
    if (w.bad) return damaged(h);
    BDML_TRY(bdml_identity_check(h, stage->identity, then.identity));
    *stage = then;
    return BDML_OK;
}

bdml_status bdml_state_restore(bdml_engine *e)
{
    const bdml_solve_state *state = e->s->resume;
    walk count = {.mode = COUNT}, w = {.mode = READ, .at = state->number};
    walk_engine(&count, e);
    if (state->count != count.n) return damaged(e->h);
    walk_engine(&w, e);
    bool steps = e->at.step_inv > 0.0 && e->at.momentum >= 1.0 && e->dual.penalty_inv >= 0.0 &&
                 e->dual.aim >= 1.0;
    steps = steps && (e->quadratic.rounds == 0 || e->quadratic.L > 0.0);
    bool weight = isfinite(e->scaled.C) && e->scaled.C >= 0.0;
    return w.bad || !steps || !weight ? damaged(e->h) : BDML_OK;
}
