/* newton.c - proximal points by semismooth Newton, for the last digits and for stiff problems
 * (eq. 22-24).
 *
 * A round finds the proximal point of M_k,
 *
 *     min over D of  <G,M> + |M - M_k|^2/(2 sigma)   s.t. the margins,
 *
 * through its dual, which is smooth and concave in y, 0 <= y <= u:
 *
 *     Phi(y) = b'y - sum q y^2/2 + min over D of <G - A*y, M> + |M - M_k|^2/(2 sigma),
 *     M(y) = P_D(M_k - sigma (G - A*y)),      grad Phi = b - A M(y) - q y,
 *     Hess Phi = -(sigma A P_D' A* + diag(q)),
 *
 * P_D' the derivative of the projection: in the eigenbasis, divided differences off the diagonal
 * and the face's projector on it. Only the free constraints enter the system, which is dense and
 * of their number. (Zhao, Sun and Toh 2010 do this for the positive semidefinite cone.) Where constraints are split
 * over ranks each has the data of all free ones, and solves the system for itself. */
#include "solver/engine.h"

#include <stdlib.h>

static const double EPS = 2.220446049250313e-16;
static const double SIGMA_GROWTH = 3.0;
/* A round ends when the misses are below this share of the step |M - M_k| and of the gap. */
static const double ROUND_SHARE = 0.1;
/* sigma grows while |M - M_k|/sigma, times |M|, is above this share of the gap asked for: a
 * larger one than that only makes the system harder. */
static const double SIGMA_ENOUGH = 1e-2;
/* Regularisation of the Newton system relative to its mean diagonal: constraints may depend on
 * each other. */
static const double RIDGE = 1e-9, RIDGE_RAISE = 100.0, RIDGE_MOST = 1e-2;
/* Sufficient increase of the line search. */
static const double ARMIJO = 1e-4;

enum {
    MOST_ROOM = 1500,   /* free constraints at most */
    STRIPE = 1 << 18,   /* numbers of V at a time, or one column of the eigenbasis */
    MOST_NEWTON = 30,   /* steps of a round */
    MOST_HALVINGS = 30, /* of a step */
    FEW_HALVINGS = 2,   /* more, and the next system gets a larger ridge */
    BOUND_PASSES = 4,   /* solves of a step, as variables at their bounds drop out */
    FIRST_ORDER_SHARE =
        12, /* change over when the steps so far cost as much as so many of Newton's */
    FIRST_ORDER_MOST = 1500, /* steps without a feasible point, then change over anyway */
    MOST_STUCK = 5,          /* rounds that ended without a direction of ascent */
    PATIENCE = 12,           /* rounds in which the gap must have halved */
};

/* ---- workspace ------------------------------------------------------------------------------ */

bdml_status bdml_newton_init(bdml_engine *e)
{
    bdml_status status = BDML_OK;
    bdml_newton *n = &e->newton;
    size_t r = (size_t)e->X.r, m = (size_t)e->scaled.terms.space.total;

    size_t room = BDML_MIN((size_t)MOST_ROOM, m);
    bool smooth = !e->s->hard && e->s->loss == BDML_LOSS_SQUARED_HINGE;
    if (smooth || !e->scaled.set.ops->face) return BDML_OK;
    n->room = (int)room;
    n->stripe = BDML_MAX((size_t)STRIPE, r * room);
    const struct {
        double **array;
        size_t numbers;
    } wanted[] = {
        {&n->V, n->stripe},   {&n->H, room * room}, {&n->factor, room * room},
        {&n->far, r * room},  {&n->near, r * room}, {&n->raw, r * room},
        {&n->D.root, r * r},  {&n->D.mid, r},       {&n->D.c, r},
        {&n->D.tau, r},       {&n->along_c, room},  {&n->along_tau, room},
        {&n->gradient, room}, {&n->step, room},     {&n->q, room},
        {&n->u, room},        {&n->y, room},        {&n->counts, (size_t)e->p->comm->size},
    };
    BDML_NEW(e->h, n->free, room);
    BDML_NEW(e->h, n->D.first, r);
    BDML_NEW(e->h, n->D.last, r);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        /* not cleared: memory that is never touched costs nothing */
        *wanted[i].array = bdml_alloc(e->h, wanted[i].numbers, sizeof(double));
        if (!*wanted[i].array) return BDML_ERR_MEMORY;
    }
done:
    return status;
}

double bdml_newton_bytes(double m, int d)
{
    double room = BDML_MIN((double)MOST_ROOM, m);
    return 8.0 * (BDML_MAX((double)STRIPE, d * room) + 2.0 * room * room + 3.0 * d * room);
}

void bdml_newton_free(bdml_newton *n)
{
    double *arrays[] = {n->V,       n->H,         n->factor,   n->far,   n->near, n->raw,
                        n->D.root,  n->D.mid,     n->D.c,      n->D.tau, n->q,    n->u,
                        n->along_c, n->along_tau, n->gradient, n->step,  n->y,    n->counts};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
    free(n->free);
    free(n->D.first);
    free(n->D.last);
}

bool bdml_newton_pays(const bdml_engine *e)
{
    const bdml_newton *n = &e->newton;
    const bdml_matrix_ops *ops = e->X.ops;
    double iterations = (double)e->course.iterations;
    if (n->room == 0 || n->off) return false;
    if (!e->bounds.have_best && iterations < FIRST_ORDER_MOST) return false;
    double free = bdml_active_count(e);
    if (free > n->room) return false;
    double first_order =
        ops->work(e->X.r) + 4.0 * e->active.terms.space.total * ops->row_work(e->X.r);
    double width = (double)ops->width(&e->X);
    double newton = free * free * (width + free / 3.0) + 4.0 * first_order;
    return e->dual.warm || iterations * first_order > FIRST_ORDER_SHARE * newton;
}

bool bdml_newton_again(bdml_newton *n, double gap)
{
    if (!n->off || !(gap < 0.5 * n->tried_at)) return false;
    n->tried_at = gap;
    n->off = false;
    n->rounds = n->stuck = 0;
    return true;
}

/* ---- the dual function ---------------------------------------------------------------------- */

/* S, M, eigenvectors (in T) and Phi at y, given on the active list; M_k is M_old. */
static bdml_status evaluate(bdml_engine *e, const double *y, double *phi)
{
    bdml_iterate *at = &e->at;
    size_t size = e->X.size;
    double sigma = e->newton.sigma;
    *phi = bdml_terms_dual(&e->active.terms, y);
    bdml_active_adjoint(e, e->scaled.g, y, at->S);
    for (size_t i = 0; i < size; i++) at->T[i] = at->M_old[i] - sigma * at->S[i];
    BDML_TRY(bdml_engine_project(e, at->T, at->M));
    *phi += bdml_vec_dot(size, at->S, at->M);
    *phi += 0.5 / sigma * bdml_vec_distance2(size, at->M, at->M_old);
    return BDML_OK;
}

static inline double clip(double y, double u)
{
    return y <= 0.0 ? 0.0 : y < u ? y : u;
}

static double gradient_at(const bdml_terms *p, const double *v, const double *y, int64_t k)
{
    return p->b[k] - v[k] - p->q[k] * y[k];
}

/* |clip(y + grad) - y|, and the list of free constraints: those that a small step would move. Those of all ranks are
 * numbered by rank; this one's begin with n->first. */
static double select_free(const bdml_terms *p, const double *v, const double *y, bdml_newton *n)
{
    const bdml_comm *comm = p->space.comm;
    double sum = 0.0, before = 0.0, total = 0.0;
    int64_t mine = 0;
    for (int64_t k = 0; k < p->space.count; k++) {
        double g = gradient_at(p, v, y, k), move = clip(y[k] + g, p->u[k]) - y[k];
        sum += move * move;
        bool held = (y[k] <= 0.0 && g <= 0.0) || (y[k] >= p->u[k] && g >= 0.0);
        if (held) continue;
        if (mine < n->room) n->free[mine] = k;
        mine++;
    }
    bdml_comm_counts(comm, mine, n->counts);
    for (int rank = 0; rank < comm->size; rank++) {
        before += rank < comm->rank ? n->counts[rank] : 0.0;
        total += n->counts[rank];
    }
    n->count = total <= n->room ? (int)total : n->room + 1;
    n->mine = total <= n->room ? (int)mine : 0;
    n->first = total <= n->room ? (int)before : 0;
    return sqrt(bdml_comm_total(comm, sum));
}

/* ---- the Newton system ---------------------------------------------------------------------- */

/* Gradient, curvature, bound and multiplier of every free constraint, at y0. Who has none of a number adds 0 to it. */
static void gather_free(bdml_engine *e)
{
    bdml_newton *n = &e->newton;
    const bdml_active *a = &e->active;
    double *gathered[] = {n->gradient, n->q, n->u, n->y};
    for (int i = 0; i < 4; i++) memset(gathered[i], 0, sizeof(double) * (size_t)n->count);
    for (int j = 0; j < n->mine; j++) {
        int64_t k = n->free[j];
        n->gradient[n->first + j] = gradient_at(&a->terms, a->v, a->y0, k);
        n->q[n->first + j] = a->terms.q[k];
        n->u[n->first + j] = a->terms.u[k];
        n->y[n->first + j] = a->y0[k];
    }
    for (int i = 0; i < 4; i++) bdml_comm_sum(e->p->comm, n->count, gathered[i]);
}

/* to(:, k) = Q' (difference of the far or near pair of free constraint k), times sqrt(w). */
static void rotate(bdml_engine *e, const int32_t *pair, double *to)
{
    bdml_newton *n = &e->newton;
    const bdml_active *a = &e->active;
    int r = e->X.r;
    memset(n->raw, 0, sizeof *n->raw * (size_t)r * (size_t)n->count);
    for (int j = 0; j < n->mine; j++) {
        int64_t place = n->free[j], t = a->t[place];
        double *f = COL(n->raw, r, n->first + j), w = sqrt(a->terms.w[place]);
        if (pair[t] < 0) continue;
        bdml_margin_difference(e->p->A.margin, pair[t], f);
        for (int i = 0; i < r; i++) f[i] *= w;
    }
    bdml_comm_sum(e->p->comm, (int64_t)r * n->count, n->raw);
    e->X.ops->rotate(r, e->at.T, n->count, n->raw, to);
}

/* The diagonal of constraint k in the eigenbasis against c and tau. */
static void weigh(int r, bdml_newton *n, int k)
{
    const double *f = COL(n->far, r, k), *g = COL(n->near, r, k);
    double c = 0.0, tau = 0.0;
    for (int i = 0; i < r; i++) {
        double square = f[i] * f[i] - g[i] * g[i];
        c += n->D.c[i] * square;
        tau += n->D.tau[i] * square;
    }
    n->along_c[k] = c;
    n->along_tau[k] = tau;
}

/* Columns of the eigenbasis from `from` on that fit into a stripe of V: up to which, and its height. */
static int stripe_end(int r, const bdml_newton *n, int from, size_t *height)
{
    size_t most = n->stripe / (size_t)n->count;
    int to = from;
    *height = 0;
    for (; to < r; to++) {
        size_t more = (size_t)(n->D.last[to] - n->D.first[to]);
        if (*height + more > most) break;
        *height += more;
    }
    return to;
}

/* Lower triangle of sigma V'V, V in stripes: the memory that it takes does not grow with r. */
static void add_products(bdml_engine *e)
{
    bdml_newton *n = &e->newton;
    int m = n->count, r = e->X.r;
    size_t height;
    double kept = 0.0;
    for (int from = 0, to; from < r; from = to, kept = 1.0) {
        to = stripe_end(r, n, from, &height);
        size_t entries = height * (size_t)m;
#pragma omp parallel for schedule(static) num_threads(bdml_threads(e->h)) if (entries > 1000000)
        for (int k = 0; k < m; k++)
            e->X.ops->entries(r, &n->D, from, to, COL(n->far, r, k), COL(n->near, r, k),
                              n->V + (size_t)k * height);
        bdml_la_syrk('T', m, (int)height, n->sigma, n->V, BDML_MAX((int)height, 1), kept, n->H, m);
    }
}

/* Lower triangle of H = sigma (V'V + c c' - tau tau') + diag(q) + ridge. */
static void assemble(bdml_engine *e, double residual)
{
    bdml_newton *n = &e->newton;
    int m = n->count;
    double trace = 0.0;
    e->X.ops->derivative(&e->X, &e->scaled.set, &n->D);
    rotate(e, e->p->c->far, n->far);
    rotate(e, e->p->c->near, n->near);
    for (int k = 0; k < m; k++) weigh(e->X.r, n, k);
    add_products(e);
    for (int j = 0; j < m; j++) {
        double *column = COL(n->H, m, j);
        double c = n->sigma * n->along_c[j], tau = n->sigma * n->along_tau[j];
        for (int i = j; i < m; i++) column[i] += c * n->along_c[i] - tau * n->along_tau[i];
        column[j] += n->q[j];
        trace += column[j];
    }
    double ridge = n->ridge * trace / m + 1e-6 * n->sigma * BDML_MIN(residual, 1.0);
    for (int j = 0; j < m; j++) COL(n->H, m, j)[j] += ridge;
}

/* Solve H step = gradient; a variable at its bound whose step leads out is held and the rest
 * solved again. */
static bool solve(bdml_newton *n)
{
    int m = n->count;
    for (int i = 0; i < m; i++) n->along_c[i] = 1.0; /* 1: free, 0: held */
    for (int pass = 0; pass < BOUND_PASSES; pass++) {
        for (int j = 0; j < m; j++) {
            bool held = n->along_c[j] == 0.0;
            for (int i = j; i < m; i++)
                COL(n->factor, m, j)[i] = held || n->along_c[i] == 0.0 ? 0.0 : COL(n->H, m, j)[i];
            if (held) COL(n->factor, m, j)[j] = 1.0;
            n->step[j] = held ? 0.0 : n->gradient[j];
        }
        if (!bdml_la_solve_spd(m, n->factor, n->step)) return false;
        bool out = false;
        for (int j = 0; j < m; j++) {
            double at = n->y[j], most = n->u[j];
            if (n->along_c[j] == 0.0 ||
                !((at <= 0.0 && n->step[j] < 0.0) || (at >= most && n->step[j] > 0.0)))
                continue;
            n->along_c[j] = 0.0;
            out = true;
        }
        if (!out) return true;
    }
    return true;
}

/* ---- a round -------------------------------------------------------------------------------- */

/* Free multiplier j after a step of t. */
static double stepped(const bdml_newton *n, int j, double t)
{
    return clip(n->y[j] + t * n->step[j], n->u[j]);
}

/* Largest t = 1, 1/2, ... that raises Phi enough; the new y is left in y_z, and M, S are those
 * of it. */
static bdml_status line_search(bdml_engine *e, const double *y, double *phi, bool *moved,
                               int *halvings)
{
    bdml_active *a = &e->active;
    bdml_newton *n = &e->newton;
    double t = 1.0, at = *phi;
    *moved = false;
    for (*halvings = -1; *halvings < MOST_HALVINGS && !*moved; t *= 0.5) {
        double rise = 0.0;
        ++*halvings;
        bdml_cvec_copy(&a->terms.space, y, a->y_z);
        for (int j = 0; j < n->count; j++) rise += n->gradient[j] * (stepped(n, j, t) - n->y[j]);
        for (int j = 0; j < n->mine; j++) a->y_z[n->free[j]] = stepped(n, n->first + j, t);
        BDML_TRY(evaluate(e, a->y_z, phi));
        *moved = *phi >= at + ARMIJO * rise - 1e-13 * fabs(at);
    }
    return BDML_OK;
}

/* |M|, by its eigenvalues. */
static double norm(const bdml_matrices *X)
{
    return sqrt(bdml_vec_dot((size_t)X->r, X->l, X->l));
}

/* Begin: sigma such that a step may be as long as M itself. Give up when the gap has not halved
 * lately. */
static void watch(bdml_newton *n, double size, double gap)
{
    if (n->rounds == 0) {
        n->sigma = size;
        n->ridge = RIDGE;
    }
    if (n->rounds % PATIENCE == 0) {
        n->off = n->rounds > 0 && !(gap < 0.5 * n->started_at);
        n->started_at = gap;
    }
    n->rounds++;
}

/* One step; where the system is too ill-conditioned to give a direction of ascent, its ridge is
 * raised. */
static bdml_status newton_step(bdml_engine *e, double residual, double *phi, bool *moved)
{
    bdml_active *a = &e->active;
    bdml_newton *n = &e->newton;
    int halvings = 0;
    *moved = false;
    if (n->count > n->room) return BDML_OK;
    gather_free(e);
    for (;;) {
        assemble(e, residual);
        if (solve(n)) BDML_TRY(line_search(e, a->y0, phi, moved, &halvings));
        if (*moved || n->ridge >= RIDGE_MOST) break;
        n->ridge *= RIDGE_RAISE;
        BDML_TRY(evaluate(e, a->y0, phi)); /* the eigenvectors of y0 again */
    }
    if (!*moved) return evaluate(e, a->y0, phi);
    /* as long as no M meets the margins, multipliers must be free to grow along a proof that none does */
    bool harder = halvings > FEW_HALVINGS && e->bounds.have_best;
    n->ridge = harder ? BDML_MIN(RIDGE_MOST, n->ridge * RIDGE_RAISE)
                      : BDML_MAX(RIDGE, n->ridge / RIDGE_RAISE);
    double *swap = a->y0;
    a->y0 = a->y_z;
    a->y_z = swap;
    return BDML_OK;
}

bdml_status bdml_newton_round(bdml_engine *e)
{
    bdml_iterate *at = &e->at;
    bdml_active *a = &e->active;
    bdml_newton *n = &e->newton;
    double phi, gap = bdml_bounds_gap(&e->bounds), share = BDML_MIN(gap, 1.0);
    bool moved = true;

    watch(n, norm(&e->X), gap);
    memcpy(at->M_old, at->M, sizeof *at->M * e->X.size);
    BDML_TRY(evaluate(e, a->y0, &phi));
    for (int step = 0; step < MOST_NEWTON && moved; step++) {
        bdml_active_forward(e, at->M, a->v);
        double residual = select_free(&a->terms, a->v, a->y0, n);
        double far = sqrt(bdml_vec_distance2(e->X.size, at->M, at->M_old));
        at->residual = far / n->sigma;
        e->dual.primal = residual / sqrt((double)e->X.r);
        if (step > 0 && residual <= ROUND_SHARE * BDML_MIN(far, share)) break;
        if (residual <= e->X.r * EPS || bdml_limit_reached(e)) break;
        BDML_TRY(newton_step(e, residual, &phi, &moved));
    }
    bdml_active_scatter(e, a->y0, e->dual.y);
    if (!moved) { /* stuck: a shorter proximal step is easier, unless there are too many free */
        n->sigma /= SIGMA_GROWTH * SIGMA_GROWTH;
        if (n->count > n->room || ++n->stuck >= MOST_STUCK) n->off = true;
    } else if (!(at->residual * norm(&e->X) <= SIGMA_ENOUGH * e->s->gap * fabs(e->bounds.upper)))
        n->sigma *= SIGMA_GROWTH;
    return BDML_OK;
}
