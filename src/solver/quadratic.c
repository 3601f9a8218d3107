/* quadratic.c - steps of second order for the squared hinge in few dimensions (docs/algorithm.md, 6b).
 *
 * The objective F is piecewise quadratic. With the margins that are missed at M_k held to be missed, it is
 *
 *     (26)  F(M) = F(M_k) + <S, M - M_k> + <M - M_k, H (M - M_k)>/2,    H = sum over the missed of A_t A_t* / q_t,
 *
 * S its gradient. A round minimises that over D, M being r(r+1)/2 numbers, by accelerated projected gradient, whose steps
 * do not look at constraints; then goes from M_k to that minimiser as far as F falls. H is kept, and corrected by the constraints
 * that have become missed or met since. */
#include "solver/engine.h"

#include <stdlib.h>

/* The model is minimised until its residual is this share of what it was at M_k. */
static const double MODEL_SHARE = 0.02;
/* Of F: what rounding hides of it, 64 units in the last place. */
static const double UNSEEN = 64.0 * 2.220446049250313e-16;
/* As in inner.c. */
static const double RAISE = 1.7, LOWER = 0.97;

enum {
    MOST_WIDTH = 512,  /* numbers of a matrix: up to 31 dimensions */
    BLOCK = 128,       /* constraints that join or leave H at a time */
    MODEL_STEPS = 600, /* on the model, at most; */
    USUAL_STEPS = 200, /* and as the estimate of their cost has it */
    MAX_TRIES = 40,    /* 1.7^40 = 1e9 */
    FIRST_ORDER_SHARE =
        1,        /* change over when the steps so far cost as much as so many first rounds */
    PATIENCE = 6, /* rounds in which the gap must have halved */
    /* What a multiplication of a product of BLOCK columns, and one of a step on the model, costs in those of
     * first-order steps; and what calls and small loops add to the latter. */
    BLOCK_COST = 3,
    STEP_COST = 3,
    STEP_EXTRA = 10000,
};

/* ---- workspace ------------------------------------------------------------------------------ */

bdml_status bdml_quadratic_init(bdml_engine *e)
{
    bdml_status status = BDML_OK;
    bdml_quadratic *p = &e->quadratic;
    size_t n = bdml_matrix_packed(&e->X);
    bool smooth = !e->s->hard && e->s->loss == BDML_LOSS_SQUARED_HINGE;
    if (!smooth || n > MOST_WIDTH) return BDML_OK;
    p->width = (int)n;
    double **vectors[] = {&p->m, &p->s, &p->x, &p->x_old, &p->z, &p->hx, &p->hx_old, &p->hz};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) BDML_NEW(e->h, *vectors[i], n);
    BDML_NEW(e->h, p->H, n * n);
    p->change =
        bdml_alloc(e->h, n * n, sizeof *p->change); /* both are written before they are read */
    p->block = bdml_alloc(e->h, n * BLOCK, sizeof *p->block);
    if (!p->change || !p->block) return BDML_ERR_MEMORY;
    BDML_NEW(e->h, p->pair, 2 * (size_t)e->X.r);
    BDML_NEW(e->h, p->curved, e->p->c->m);
done:
    return status;
}

double bdml_quadratic_bytes(int d)
{
    double n = 0.5 * d * (d + 1.0);
    return n > MOST_WIDTH ? 0.0 : 8.0 * (2.0 * n * n + n * BLOCK + 8.0 * n);
}

void bdml_quadratic_free(bdml_quadratic *p)
{
    double *arrays[] = {p->m,  p->s,      p->x, p->x_old,  p->z,     p->hx,
                        p->hz, p->hx_old, p->H, p->change, p->block, p->pair};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
    free(p->curved);
}

bool bdml_quadratic_pays(const bdml_engine *e)
{
    const bdml_quadratic *p = &e->quadratic;
    const bdml_matrix_ops *ops = e->X.ops;
    double n = p->width, work = ops->work(e->X.r), iterations = (double)e->course.iterations;
    if (p->width == 0 || p->off) return false;
    if (p->rounds > 0) return true;
    double first_order = work + 4.0 * e->active.terms.space.total * ops->row_work(e->X.r);
    double round = BLOCK_COST * bdml_active_count(e) * n * n +
                   USUAL_STEPS * (STEP_COST * (work + 2.0 * n * n) + STEP_EXTRA);
    return iterations * first_order > FIRST_ORDER_SHARE * round;
}

/* ---- the model ------------------------------------------------------------------------------ */

/* change += sign times the products of the first `count` columns of the block. */
static void flush(bdml_quadratic *p, double sign, int *count)
{
    if (*count > 0)
        bdml_la_syrk('N', p->width, *count, sign, p->block, p->width, 1.0, p->change, p->width);
    *count = 0;
}

/* Column k of the block: constraint t, w A / sqrt(q). */
static void put_column(bdml_engine *e, int64_t t, int k)
{
    bdml_quadratic *p = &e->quadratic;
    const bdml_terms *terms = &e->scaled.terms;
    const bdml_constraints *c = e->p->c;
    int r = e->X.r;
    double *f = p->pair, *g = p->pair + r, *column = p->block + (size_t)k * (size_t)p->width;
    bdml_margin_difference(e->p->A.margin, c->far[t], f);
    if (c->near[t] >= 0)
        bdml_margin_difference(e->p->A.margin, c->near[t], g);
    else
        memset(g, 0, sizeof *g * (size_t)r);
    bdml_matrix_pack_row(&e->X, terms->w[t] / sqrt(terms->q[t]), f, g, column);
}

/* Constraints that are missed now and were not when H was last made join it (joining), or the reverse leave. y_z:
 * multipliers of the listed; the others are met. */
static void exchange(bdml_engine *e, bool joining)
{
    bdml_quadratic *p = &e->quadratic;
    const bdml_active *a = &e->active;
    int64_t place = 0;
    int count = 0;
    for (int64_t t = 0; t < e->p->c->m; t++) {
        bool missed = a->listed[t] && a->y_z[place] > 0.0;
        place += a->listed[t];
        if (missed == (p->curved[t] != 0) || missed != joining) continue;
        put_column(e, t, count++);
        p->curved[t] = missed;
        if (count == BLOCK) flush(p, joining ? 1.0 : -1.0, &count);
    }
    flush(p, joining ? 1.0 : -1.0, &count);
}

/* H of the constraints that are missed at M. */
static void correct(bdml_engine *e)
{
    bdml_quadratic *p = &e->quadratic;
    size_t n = (size_t)p->width;
    memset(p->change, 0, sizeof *p->change * n * n);
    exchange(e, true);
    exchange(e, false);
    bdml_la_mirror(p->width, p->change, p->width);
    bdml_comm_sum(e->p->comm, (int64_t)(n * n), p->change);
    for (size_t i = 0; i < n * n; i++) p->H[i] += p->change[i];
}

/* h = H (x - m) */
static void curve(bdml_quadratic *p, const double *x, double *h)
{
    int n = p->width;
    for (int i = 0; i < n; i++) p->change[i] = x[i] - p->m[i];
    bdml_la_gemv('N', n, n, 1.0, p->H, n, p->change, 0.0, h);
}

/* x = projection of z - (s + hz)/L, hx; *d2 = |x - z|^2 and *bend = <x - z, H (x - z)>. M becomes x. */
static bdml_status try_step(bdml_engine *e, double L, double *d2, double *bend)
{
    bdml_quadratic *p = &e->quadratic;
    int n = p->width;
    for (int i = 0; i < n; i++) p->x[i] = p->z[i] - (p->s[i] + p->hz[i]) / L;
    bdml_matrix_unpack(&e->X, p->x, e->at.T);
    BDML_TRY(e->X.ops->project(&e->X, &e->scaled.set, e->at.T, e->at.M));
    bdml_matrix_pack(&e->X, e->at.M, p->x);
    curve(p, p->x, p->hx);
    *d2 = *bend = 0.0;
    for (int i = 0; i < n; i++) {
        double d = p->x[i] - p->z[i];
        *d2 += d * d;
        *bend += d * (p->hx[i] - p->hz[i]);
    }
    return BDML_OK;
}

static void swap(double **a, double **b)
{
    double *keep = *a;
    *a = *b;
    *b = keep;
}

/* z = x + beta (x - x_old), or x when the step turns against the momentum; the same of hz. */
static void extrapolate(bdml_quadratic *p, double *momentum)
{
    double turn = 0.0, next = 0.5 * (1.0 + sqrt(1.0 + 4.0 * *momentum * *momentum));
    for (int i = 0; i < p->width; i++) turn += (p->z[i] - p->x[i]) * (p->x[i] - p->x_old[i]);
    double beta = turn > 0.0 ? 0.0 : (*momentum - 1.0) / next;
    *momentum = turn > 0.0 ? 1.0 : next;
    for (int i = 0; i < p->width; i++) {
        p->z[i] = p->x[i] + beta * (p->x[i] - p->x_old[i]);
        p->hz[i] = p->hx[i] + beta * (p->hx[i] - p->hx_old[i]);
    }
}

/* M = the minimiser of the model, near enough, from M_k = M. residual: L |P(M_k - S/L) - M_k|. */
static bdml_status minimise_model(bdml_engine *e)
{
    bdml_quadratic *p = &e->quadratic;
    size_t bytes = sizeof *p->x * (size_t)p->width;
    double momentum = 1.0, d2, bend;
    bdml_matrix_pack(&e->X, e->at.M, p->m);
    bdml_matrix_pack(&e->X, e->at.S, p->s);
    memcpy(p->x, p->m, bytes);
    memcpy(p->z, p->m, bytes);
    memset(p->hx, 0, bytes);
    memset(p->hz, 0, bytes);
    for (int step = 0; step < MODEL_STEPS; step++) {
        swap(&p->x, &p->x_old);
        swap(&p->hx, &p->hx_old);
        for (int tries = 0;; tries++) {
            BDML_TRY(try_step(e, p->L, &d2, &bend));
            if (bend <= p->L * d2 || tries == MAX_TRIES) break;
            p->L *= RAISE;
        }
        double residual = p->L * sqrt(d2);
        if (step == 0) e->at.residual = residual;
        if (residual <= MODEL_SHARE * e->at.residual) break;
        p->L *= LOWER;
        extrapolate(p, &momentum);
    }
    return BDML_OK;
}

/* ---- a round -------------------------------------------------------------------------------- */

/* How much lower the model is at x than at M_k. */
static double model_fall(const bdml_quadratic *p)
{
    double fall = 0.0;
    for (int i = 0; i < p->width; i++) fall -= (p->s[i] + 0.5 * p->hx[i]) * (p->x[i] - p->m[i]);
    return fall;
}

/* The t in [0, 1] at which F is least on the way from M_old to M, v_old to v; 1 where it falls by less than its rounding, as it does
 * in the last rounds: slopes then have any sign, and the model knows better. */
static double how_far(bdml_engine *e)
{
    const bdml_active *a = &e->active;
    const bdml_terms *terms = &a->terms;
    double *way = a->y_z; /* scratch: v - v_old */
    if (model_fall(&e->quadratic) <= UNSEEN * fabs(e->bounds.upper)) return 1.0;
    double f = bdml_vec_dot(e->X.size, e->scaled.g, e->at.M) -
               bdml_vec_dot(e->X.size, e->scaled.g, e->at.M_old);
    for (int64_t k = 0; k < terms->space.count; k++) way[k] = a->v[k] - a->v_old[k];
    return bdml_terms_least(terms, 0.0, f, a->v_old, way, 1.0);
}

/* M = M_old + t (M - M_old), a member with its eigenvalues; v likewise. */
static bdml_status go(bdml_engine *e, double t)
{
    bdml_iterate *at = &e->at;
    bdml_active *a = &e->active;
    for (size_t i = 0; i < e->X.size; i++)
        at->T[i] = t < 1.0 ? at->M_old[i] + t * (at->M[i] - at->M_old[i]) : at->M[i];
    for (int64_t k = 0; t < 1.0 && k < a->terms.space.count; k++)
        a->v[k] = a->v_old[k] + t * (a->v[k] - a->v_old[k]);
    return bdml_engine_project(e, at->T, at->M);
}

/* Give up when the gap has not halved lately, or M_k is as good as it gets. */
static void watch(bdml_quadratic *p, double gap)
{
    if (p->rounds % PATIENCE == 0) {
        p->off = p->rounds > 0 && !(gap < 0.5 * p->started_at);
        p->started_at = gap;
    }
    p->rounds++;
}

bdml_status bdml_quadratic_round(bdml_engine *e)
{
    bdml_iterate *at = &e->at;
    bdml_active *a = &e->active;
    bdml_quadratic *p = &e->quadratic;
    if (p->rounds == 0) p->L = at->step_inv;
    watch(p, bdml_bounds_gap(&e->bounds));
    bdml_terms_multipliers(&a->terms, 0.0, 1.0, a->y0, a->v, a->y_z);
    bdml_active_adjoint(e, e->scaled.g, a->y_z, at->S);
    correct(e);
    memcpy(at->M_old, at->M, sizeof *at->M * e->X.size);
    bdml_cvec_copy(&a->terms.space, a->v, a->v_old);
    BDML_TRY(minimise_model(e));
    bdml_active_forward(e, at->M, a->v);
    double t = how_far(e);
    if (t <= 0.0) p->off = true;
    BDML_TRY(go(e, t));
    bdml_inner_restart(e);
    return BDML_OK;
}
