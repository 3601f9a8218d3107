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
 * of their number. (Zhao, Sun and Toh 2010 do this for the positive semidefinite cone.) */
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
    MOST_ROOM = 1500,        /* free constraints at most */
    MOST_NUMBERS = 12000000, /* of V: 96 MB */
    MOST_NEWTON = 30,        /* steps of a round */
    MOST_HALVINGS = 30,      /* of a step */
    BOUND_PASSES = 4,        /* solves of a step, as variables at their bounds drop out */
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
    size_t r = (size_t)e->r;

    n->width = e->p->diagonal ? r : r * (r + 1) / 2;
    size_t room = BDML_MIN(MOST_NUMBERS / n->width, (size_t)MOST_ROOM);
    room = BDML_MIN(room, (size_t)e->m);
    bool smooth = !e->s->hard && e->s->loss == BDML_LOSS_SQUARED_HINGE;
    /* an optimum has some multiple of r tight constraints: less room is of no use */
    if (smooth || !e->set.ops->face || room < BDML_MIN(4 * r, (size_t)e->m)) return BDML_OK;
    n->room = (int)room;
    const struct {
        double **array;
        size_t numbers;
    } wanted[] = {
        {&n->V, n->width * room},
        {&n->H, room * room},
        {&n->factor, room * room},
        {&n->far, r * room},
        {&n->near, r * room},
        {&n->raw, r * room},
        {&n->root, r * r},
        {&n->mid, r},
        {&n->c, r},
        {&n->tau, r},
        {&n->along_c, room},
        {&n->along_tau, room},
        {&n->gradient, room},
        {&n->step, room},
    };
    BDML_NEW(e->h, n->free, room);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        /* not cleared: memory that is never touched costs nothing */
        *wanted[i].array = bdml_alloc(e->h, wanted[i].numbers, sizeof(double));
        if (!*wanted[i].array) return BDML_ERR_MEMORY;
    }
done:
    return status;
}

void bdml_newton_free(bdml_newton *n)
{
    double *arrays[] = {n->V,   n->H, n->factor, n->far,     n->near,      n->raw,      n->root,
                        n->mid, n->c, n->tau,    n->along_c, n->along_tau, n->gradient, n->step};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
    free(n->free);
}

bool bdml_newton_pays(const bdml_engine *e)
{
    const bdml_newton *n = &e->newton;
    if (n->room == 0 || n->off) return false;
    if (!e->have_best && e->iterations < FIRST_ORDER_MOST) return false;
    double r = e->r, free = 0.0;
    for (int64_t t = 0; t < e->m; t++) free += e->y[t] > 0.0 || e->v[t] < e->aim * e->b[t];
    if (free > n->room) return false;
    double eigen = e->p->diagonal ? r : 10.0 * r * r * r;
    double first_order = eigen + 4.0 * (double)e->active.count * (e->p->diagonal ? r : r * r);
    double newton = free * free * ((double)n->width + free / 3.0) + 4.0 * first_order;
    return e->warm || (double)e->iterations * first_order > FIRST_ORDER_SHARE * newton;
}

/* ---- the dual function ---------------------------------------------------------------------- */

/* S, M, eigenvectors (in T) and Phi at y, given on the active list; M_k is M_old. */
static bdml_status evaluate(bdml_engine *e, const double *y, double *phi)
{
    bdml_active *a = &e->active;
    double sigma = e->newton.sigma;
    int64_t count = a->all ? -1 : a->count;
    *phi = 0.0;
    for (int64_t k = 0; k < a->count; k++) {
        a->scratch[k] = a->w[k] * y[k];
        *phi += (a->b[k] - 0.5 * a->q[k] * y[k]) * y[k];
    }
    if (e->p->diagonal)
        bdml_margin_adjoint_diag(e->p->op, a->scratch, count, a->all ? NULL : a->t, e->S);
    else
        bdml_margin_adjoint(e->p->op, a->scratch, count, a->all ? NULL : a->t, e->S);
    for (size_t i = 0; i < e->size; i++) {
        e->S[i] = e->g[i] - e->S[i];
        e->T[i] = e->M_old[i] - sigma * e->S[i];
    }
    BDML_TRY(bdml_engine_project(e, e->T, e->M));
    *phi += bdml_vec_dot(e->size, e->S, e->M);
    *phi += 0.5 / sigma * bdml_vec_distance2(e->size, e->M, e->M_old);
    return BDML_OK;
}

static void values(bdml_engine *e)
{
    bdml_active *a = &e->active;
    int64_t count = a->all ? -1 : a->count;
    if (e->p->diagonal)
        bdml_margin_forward_diag(e->p->op, e->M, count, a->all ? NULL : a->t, a->v);
    else
        bdml_margin_forward(e->p->op, e->M, count, a->all ? NULL : a->t, a->v);
    for (int64_t k = 0; k < a->count; k++) a->v[k] *= a->w[k];
}

static inline double clip(double y, double u)
{
    return y <= 0.0 ? 0.0 : y < u ? y : u;
}

static inline double slope(const bdml_active *a, int64_t k, double y)
{
    return a->b[k] - a->v[k] - a->q[k] * y;
}

/* |clip(y + grad) - y|, and the list of free constraints: those that a small step would move. */
static double select_free(bdml_engine *e, const double *y)
{
    const bdml_active *a = &e->active;
    bdml_newton *n = &e->newton;
    double sum = 0.0;
    n->count = 0;
    for (int64_t k = 0; k < a->count; k++) {
        double g = slope(a, k, y[k]), move = clip(y[k] + g, a->u[k]) - y[k];
        sum += move * move;
        bool held = (y[k] <= 0.0 && g <= 0.0) || (y[k] >= a->u[k] && g >= 0.0);
        if (held) continue;
        if (n->count < n->room) {
            n->free[n->count] = k;
            n->gradient[n->count] = g;
        }
        n->count++;
    }
    return sqrt(sum);
}

/* ---- the Newton system ---------------------------------------------------------------------- */

/* mid, c, tau by eigenvector, and root_ij = sqrt of the divided difference (twice for i != j: V
 * holds one triangle). Diagonal form: by coordinate. */
static void differentiate(bdml_engine *e)
{
    bdml_newton *n = &e->newton;
    int r = e->r;
    const double *z = e->lambda, *l = e->l;
    e->set.ops->face(&e->set, z, n->mid, n->c, n->tau);
    if (e->p->diagonal) {
        double *vectors[] = {n->mid, n->c, n->tau};
        for (int v = 0; v < 3; v++) {
            for (int i = 0; i < r; i++) e->sorted[e->order[i]] = vectors[v][i];
            memcpy(vectors[v], e->sorted, sizeof *z * (size_t)r);
        }
        return;
    }
    double tie = 16.0 * EPS * BDML_MAX(fabs(z[0]), fabs(z[r - 1]));
    for (int j = 0; j < r; j++)
        for (int i = 0; i <= j; i++) {
            double gap = z[j] - z[i];
            double ratio = i == j      ? n->mid[i]
                           : gap > tie ? (l[j] - l[i]) / gap
                                       : n->mid[i] * n->mid[j];
            COL(n->root, r, j)[i] = sqrt(BDML_MAX(ratio, 0.0) * (i == j ? 1.0 : 2.0));
        }
}

/* out(:, k) = Q' (difference of the far or near pair of free constraint k), times sqrt(w). */
static void rotate(bdml_engine *e, bool near, double *out)
{
    bdml_newton *n = &e->newton;
    const bdml_active *a = &e->active;
    const int32_t *pair = near ? e->p->c->near : e->p->c->far;
    int r = e->r;
    double *raw = e->p->diagonal ? out : n->raw;
    for (int k = 0; k < n->count; k++) {
        int64_t t = a->t[n->free[k]];
        double *f = COL(raw, r, k), w = sqrt(e->w[t]);
        if (pair[t] < 0) {
            for (int i = 0; i < r; i++) f[i] = 0.0;
            continue;
        }
        bdml_margin_difference(e->p->op, pair[t], f);
        for (int i = 0; i < r; i++) f[i] *= w;
    }
    if (!e->p->diagonal)
        bdml_la_gemm('T', 'N', r, n->count, r, 1.0, e->T, r, n->raw, r, 0.0, out, r);
}

/* Column k of V: root_ij (f_i f_j - g_i g_j); along_c, along_tau: the diagonal against c and
 * tau. */
static void weigh(bdml_engine *e, int k)
{
    bdml_newton *n = &e->newton;
    int r = e->r;
    const double *f = COL(n->far, r, k), *g = COL(n->near, r, k);
    double *v = n->V + (size_t)k * n->width, c = 0.0, tau = 0.0;
    for (int i = 0; i < r; i++) {
        double square = f[i] * f[i] - g[i] * g[i];
        c += n->c[i] * square;
        tau += n->tau[i] * square;
        if (e->p->diagonal) v[i] = n->mid[i] * square;
    }
    n->along_c[k] = c;
    n->along_tau[k] = tau;
    if (e->p->diagonal) return;
    for (int j = 0; j < r; j++) {
        const double *root = COL(n->root, r, j);
        for (int i = 0; i <= j; i++) *v++ = root[i] * (f[i] * f[j] - g[i] * g[j]);
    }
}

/* Lower triangle of H = sigma (V'V + c c' - tau tau') + diag(q) + ridge. */
static void assemble(bdml_engine *e, double residual)
{
    bdml_newton *n = &e->newton;
    int m = n->count;
    double trace = 0.0;
    differentiate(e);
    rotate(e, false, n->far);
    rotate(e, true, n->near);
#pragma omp parallel for schedule(static) \
    num_threads(bdml_threads(e->h)) if ((size_t)m * n->width > 1000000)
    for (int k = 0; k < m; k++) weigh(e, k);
    bdml_la_syrk('T', m, (int)n->width, n->sigma, n->V, (int)n->width, 0.0, n->H, m);
    for (int j = 0; j < m; j++) {
        double *column = COL(n->H, m, j);
        double c = n->sigma * n->along_c[j], tau = n->sigma * n->along_tau[j];
        for (int i = j; i < m; i++) column[i] += c * n->along_c[i] - tau * n->along_tau[i];
        column[j] += e->active.q[n->free[j]];
        trace += column[j];
    }
    double ridge = n->ridge * trace / m + 1e-6 * n->sigma * BDML_MIN(residual, 1.0);
    for (int j = 0; j < m; j++) COL(n->H, m, j)[j] += ridge;
}

/* Solve H step = gradient; a variable at its bound whose step leads out is held and the rest
 * solved again. */
static bool solve(bdml_engine *e, const double *y)
{
    bdml_newton *n = &e->newton;
    const bdml_active *a = &e->active;
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
            double at = y[n->free[j]], u = a->u[n->free[j]];
            if (n->along_c[j] == 0.0 ||
                !((at <= 0.0 && n->step[j] < 0.0) || (at >= u && n->step[j] > 0.0)))
                continue;
            n->along_c[j] = 0.0;
            out = true;
        }
        if (!out) return true;
    }
    return true;
}

/* ---- a round -------------------------------------------------------------------------------- */

/* Largest t = 1, 1/2, ... that raises Phi enough; the new y is left in y_z, and M, S are those
 * of it. */
static bdml_status line_search(bdml_engine *e, double *y, double *phi, bool *moved)
{
    bdml_active *a = &e->active;
    bdml_newton *n = &e->newton;
    double t = 1.0, at = *phi;
    *moved = false;
    for (int tries = 0; tries < MOST_HALVINGS && !*moved; tries++, t *= 0.5) {
        double rise = 0.0;
        memcpy(a->y_z, y, sizeof *y * (size_t)a->count);
        for (int j = 0; j < n->count; j++) {
            int64_t k = n->free[j];
            a->y_z[k] = clip(y[k] + t * n->step[j], a->u[k]);
            rise += n->gradient[j] * (a->y_z[k] - y[k]);
        }
        BDML_TRY(evaluate(e, a->y_z, phi));
        *moved = *phi >= at + ARMIJO * rise - 1e-13 * fabs(at);
    }
    return BDML_OK;
}

static double norm(const bdml_engine *e)
{
    return sqrt(bdml_vec_dot((size_t)e->r, e->l, e->l));
}

/* Begin: sigma such that a step may be as long as M itself. Give up when the gap has not halved
 * lately. */
static void watch(bdml_engine *e)
{
    bdml_newton *n = &e->newton;
    double gap = bdml_engine_gap(e);
    if (n->rounds == 0) {
        n->sigma = norm(e);
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
    *moved = false;
    if (n->count > n->room) return BDML_OK;
    for (;;) {
        assemble(e, residual);
        if (solve(e, a->y0)) BDML_TRY(line_search(e, a->y0, phi, moved));
        if (*moved || n->ridge >= RIDGE_MOST) break;
        n->ridge *= RIDGE_RAISE;
        BDML_TRY(evaluate(e, a->y0, phi)); /* the eigenvectors of y0 again */
    }
    if (!*moved) return evaluate(e, a->y0, phi);
    n->ridge = BDML_MAX(RIDGE, n->ridge / RIDGE_RAISE);
    double *swap = a->y0;
    a->y0 = a->y_z;
    a->y_z = swap;
    return BDML_OK;
}

bdml_status bdml_newton_round(bdml_engine *e)
{
    bdml_active *a = &e->active;
    bdml_newton *n = &e->newton;
    double phi, gap = BDML_MIN(bdml_engine_gap(e), 1.0);
    bool moved = true;

    watch(e);
    memcpy(e->M_old, e->M, sizeof *e->M * e->size);
    BDML_TRY(evaluate(e, a->y0, &phi));
    for (int step = 0; step < MOST_NEWTON && moved; step++) {
        values(e);
        double residual = select_free(e, a->y0);
        double far = sqrt(bdml_vec_distance2(e->size, e->M, e->M_old));
        e->residual = far / n->sigma;
        e->primal = residual / sqrt((double)e->r);
        if (step > 0 && residual <= ROUND_SHARE * BDML_MIN(far, gap)) break;
        if (residual <= e->r * EPS || bdml_limit_reached(e)) break;
        BDML_TRY(newton_step(e, residual, &phi, &moved));
    }
    for (int64_t t = 0; t < e->m; t++) e->y[t] = 0.0;
    for (int64_t k = 0; k < a->count; k++) e->y[a->t[k]] = a->y0[k];
    if (!moved) { /* stuck: a shorter proximal step is easier, unless there are too many free */
        n->sigma /= SIGMA_GROWTH * SIGMA_GROWTH;
        if (n->count > n->room || ++n->stuck >= MOST_STUCK) n->off = true;
    } else if (!(e->residual * norm(e) <= SIGMA_ENOUGH * e->s->gap * fabs(e->upper)))
        n->sigma *= SIGMA_GROWTH;
    return BDML_OK;
}
