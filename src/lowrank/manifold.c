/* manifold.c - Q with Lambda fixed, by descent on the manifold V'V = I (V = Q', r x q):
 *
 *     F(V) = <G, V Lambda V'> + sum_t psi_t(<A_t, V Lambda V'>),
 *     W = 2 (G - A*y) V Lambda,   grad F = W - V sym(V'W),   y_t = -psi_t'
 *
 * psi as in the solver (eq. 16): the squared hinge itself; for the hinge and for hard margins its augmented
 * Lagrangian around the multipliers of the last Lambda-step. Steps of Barzilai and Borwein (1988), retracted by
 * QR, each shortened until F has fallen enough. */
#include "lowrank/lowrank.h"

#include <stdlib.h>

enum {
    MOST_STEPS = 20, /* of one Q-step: then Lambda should have its turn */
    MOST_HALVINGS = 25
};
static const double ARMIJO = 1e-4;
static const double FIRST = 0.05;   /* length of the first step, as a share of |V| */
static const double SETTLED = 1e-5; /* relative fall of F that ends the step */

typedef struct descent {
    lowrank *w;
    double *scaled;            /* r x q */
    double *V_new, *W, *W_old; /* r x q */
    double *S, *A;             /* r x r, q x q */
    double *v, *y;             /* per constraint */
    double penalty_inv;        /* 0: squared hinge */
} descent;

static void descent_free(descent *e)
{
    double *arrays[] = {e->scaled, e->V_new, e->W, e->W_old, e->S, e->A, e->v, e->y};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
}

static bdml_status descent_init(descent *e, lowrank *w)
{
    bdml_status status = BDML_OK;
    size_t r = (size_t)w->r, q = (size_t)w->q, m = (size_t)w->c->m;
    *e = (descent){.w = w};
    double **thin[] = {&e->scaled, &e->V_new, &e->W, &e->W_old};
    for (size_t i = 0; i < sizeof thin / sizeof *thin; i++) BDML_NEW(w->h, *thin[i], r * q);
    BDML_NEW(w->h, e->S, r * r);
    BDML_NEW(w->h, e->A, q * q);
    BDML_NEW(w->h, e->v, m);
    BDML_NEW(w->h, e->y, m);
done:
    return status;
}

/* ---- the function --------------------------------------------------------------------------------------- */

static double margin_of(const lowrank *w, int64_t t)
{
    return w->s->solve.margin * (w->c->margin ? w->c->margin[t] : 1.0);
}

/* 1/rho from the size of multipliers and margins, as the solver starts. */
static double penalty(const lowrank *w)
{
    const bdml_solve_settings *s = &w->s->solve;
    double y2 = 0.0, b2 = 0.0;
    if (!s->hard && s->loss == BDML_LOSS_SQUARED_HINGE) return 0.0;
    for (int64_t t = 0; t < w->c->m; t++) {
        double y = w->result.y[t], b = margin_of(w, t);
        y2 += y * y;
        if (y > 0.0) b2 += b * b;
    }
    return y2 > 0.0 ? sqrt(b2 / y2) : 1.0;
}

/* psi at v, and y. */
static double charge(const descent *e, int64_t t, double v, double *y)
{
    const lowrank *w = e->w;
    const bdml_solve_settings *s = &w->s->solve;
    double b = margin_of(w, t), q = 0.0, u = INFINITY, y0 = w->result.y[t], pen = e->penalty_inv;
    if (!s->hard) {
        double c = w->C * (w->c->weight ? w->c->weight[t] : 1.0) / (double)w->c->m;
        if (c <= 0.0) return *y = 0.0;
        if (s->loss == BDML_LOSS_SQUARED_HINGE)
            q = 0.5 / c;
        else
            u = c;
    }
    double slope = (y0 * pen + b - v) / (pen + q);
    *y = slope <= 0.0 ? 0.0 : slope < u ? slope : u;
    return *y * (b - v) - 0.5 * q * *y * *y - 0.5 * pen * (*y - y0) * (*y - y0);
}

/* F at V; e->y out. */
static double evaluate(descent *e, const double *V)
{
    lowrank *w = e->w;
    int r = w->r, q = w->q;
    double sum = 0.0;
    for (int k = 0; k < q; k++) {
        double root = sqrt(BDML_MAX(w->lambda[k], 0.0));
        for (int i = 0; i < r; i++) COL(e->scaled, r, k)[i] = root * COL(V, r, k)[i];
    }
    bdml_operator_forward(&w->A, e->scaled, e->v);
    bdml_la_gemm_tiled(w->h, 'N', 'N', r, q, r, 1.0, w->g, r, e->scaled, r, 0.0, w->gv, r);
    for (int k = 0; k < q; k++) sum += bdml_la_dot(r, COL(e->scaled, r, k), COL(w->gv, r, k));
    for (int64_t t = 0; t < w->c->m; t++) sum += charge(e, t, e->v[t], &e->y[t]);
    return sum;
}

/* e->W = grad F at V, for the y of the last evaluation. */
static void gradient(descent *e, const double *V)
{
    lowrank *w = e->w;
    int r = w->r, q = w->q;
    bdml_operator_adjoint(&w->A, e->y, e->S);
    for (size_t i = 0; i < (size_t)r * (size_t)r; i++) e->S[i] = w->g[i] - e->S[i];
    bdml_la_gemm_tiled(w->h, 'N', 'N', r, q, r, 2.0, e->S, r, V, r, 0.0, e->W, r);
    for (int k = 0; k < q; k++)
        for (int i = 0; i < r; i++) COL(e->W, r, k)[i] *= w->lambda[k];
    bdml_la_gemm_tiled(w->h, 'T', 'N', q, q, r, 1.0, V, r, e->W, r, 0.0, e->A, q);
    for (int j = 0; j < q; j++)
        for (int i = j; i < q; i++) COL(e->A, q, j)
    [i] = COL(e->A, q, i)[j] = 0.5 * (COL(e->A, q, j)[i] + COL(e->A, q, i)[j]);
    bdml_la_gemm_tiled(w->h, 'N', 'N', r, q, q, -1.0, V, r, e->A, q, 1.0, e->W, r);
}

/* ---- the step --------------------------------------------------------------------------------------------- */

/* V_new = the orthonormal factor of V - t W, each column turned towards the one it came from. */
static bdml_status retract(descent *e, const double *V, double t)
{
    int r = e->w->r, q = e->w->q;
    for (size_t i = 0; i < (size_t)r * (size_t)q; i++)
        e->scaled[i] = e->V_new[i] = V[i] - t * e->W[i];
    BDML_TRY(bdml_la_orth(e->w->h, r, q, e->V_new));
    for (int k = 0; k < q; k++) {
        double *column = COL(e->V_new, r, k);
        bool back = bdml_la_dot(r, column, COL(e->scaled, r, k)) < 0.0;
        for (int i = 0; back && i < r; i++) column[i] = -column[i];
    }
    return BDML_OK;
}

static double dot(const descent *e, const double *a, const double *b)
{
    double sum = 0.0;
    for (int k = 0; k < e->w->q; k++)
        sum += bdml_la_dot(e->w->r, COL(a, e->w->r, k), COL(b, e->w->r, k));
    return sum;
}

/* Length of the next step from the last one (V_new -> V) and the change of the gradient. */
static double next_length(const descent *e, const double *V, int step)
{
    size_t size = (size_t)e->w->r * (size_t)e->w->q;
    double ss = 0.0, sg = 0.0, gg = 0.0;
    for (size_t i = 0; i < size; i++) {
        double s = V[i] - e->V_new[i], g = e->W[i] - e->W_old[i];
        ss += s * s;
        sg += s * g;
        gg += g * g;
    }
    sg = fabs(sg);
    return step % 2 ? ss / BDML_MAX(sg, 1e-300) : sg / BDML_MAX(gg, 1e-300);
}

bdml_status lowrank_manifold_step(lowrank *w, double *V)
{
    bdml_status status = BDML_OK;
    descent e;
    size_t size = (size_t)w->r * (size_t)w->q;

    BDML_GO(descent_init(&e, w));
    e.penalty_inv = penalty(w);
    double F = evaluate(&e, V), length = 0.0;
    for (int step = 0; step < MOST_STEPS; step++) {
        gradient(&e, V);
        double slope = dot(&e, e.W, e.W), fallen = -INFINITY;
        if (!(slope > 0.0)) break;
        length = step == 0 ? FIRST * sqrt(w->q / slope) : next_length(&e, V, step);
        for (int tries = 0; tries < MOST_HALVINGS; tries++, length *= 0.5) {
            BDML_GO(retract(&e, V, length));
            double value = evaluate(&e, e.V_new);
            if (value <= F - ARMIJO * length * slope) {
                fallen = F - value;
                F = value;
                break;
            }
        }
        if (!(fallen >= 0.0)) break;
        for (size_t i = 0; i < size; i++) { /* V_new holds the V before from here on */
            double was = V[i];
            V[i] = e.V_new[i];
            e.V_new[i] = was;
        }
        double *swap = e.W;
        e.W = e.W_old;
        e.W_old = swap;
        if (fallen <= SETTLED * fabs(F)) break;
        BDML_GO(bdml_progress(w->h, "Q-step", step + 1, MOST_STEPS));
    }
done:
    descent_free(&e);
    return status;
}
