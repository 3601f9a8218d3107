/* start.c - where a solve begins: a metric of the right size, multipliers, penalty. */
#include "solver/engine.h"

/* Best multiple of M for the soft form; 0 when M = 0 is best. The hinge has no smooth slope: it is taken with a small
 * penalty. */
static double best_multiple(const bdml_engine *e)
{
    double f = bdml_vec_dot(e->X.size, e->scaled.g, e->at.M);
    return bdml_terms_least(&e->scaled.terms, e->dual.penalty_inv, f, NULL, e->dual.v, INFINITY);
}

/* Multiple of the identity: margins met where it can meet them all, else on average. */
static double hard_multiple(const bdml_terms *terms, const double *v)
{
    bool all;
    double most = bdml_terms_ratio(terms, v, &all), mean = bdml_cvec_mean_abs(&terms->space, v);
    return all && most > 0.0 ? most : mean > 0.0 ? 1.0 / mean : 1.0;
}

static void multiply(bdml_engine *e, double t)
{
    for (size_t i = 0; i < e->X.size; i++) e->at.M[i] *= t;
}

/* A warm start may come from another weight or other constraints: its best multiple, unless that is 0. */
static void rescale(bdml_engine *e)
{
    bdml_engine_forward(e, e->at.M, e->dual.v);
    double t = best_multiple(e);
    if (t > 0.0) multiply(e, t);
}

/* M: the warm start, the identity, or for a soft form that collapses along the identity, the
 * direction of C0 (`direction`, in Z). It is projected, so that it is a member with known
 * eigenvalues. */
bdml_status bdml_start_point(bdml_engine *e, double *ws)
{
    const bdml_solve_settings *s = e->s;
    bdml_iterate *at = &e->at;
    if (s->warm_metric) {
        bdml_reduce_metric(e->p, s->warm_metric, at->M, ws);
        multiply(e, e->scaled.unit.m);
        if (!s->hard) rescale(e);
    } else {
        bdml_matrix_identity(&e->X, 1.0, at->M);
        bdml_engine_forward(e, at->M, e->dual.v);
        if (s->hard) {
            multiply(e, hard_multiple(&e->scaled.terms, e->dual.v));
        } else {
            double t = best_multiple(e);
            if (t <= 0.0) {
                if (isnan(e->scaled.C0)) BDML_TRY(bdml_collapse_threshold(e, &e->scaled.C0));
                memcpy(at->M, at->Z, sizeof *at->M * e->X.size);
                bdml_engine_forward(e, at->M, e->dual.v);
                t = best_multiple(e);
            }
            multiply(e, t);
        }
    }
    memcpy(at->T, at->M, sizeof *at->M * e->X.size);
    return bdml_engine_project(e, at->T, at->M);
}

/* rho, and y of a warm start. With rows and G of norm one, 1/r is a cautious rho. */
void bdml_start_dual(bdml_engine *e)
{
    const bdml_solve_settings *s = e->s;
    bdml_dual *dual = &e->dual;
    double rho = 1.0 / e->X.r, y2 = 0.0, b2 = 0.0;
    bool smooth = !s->hard && s->loss == BDML_LOSS_SQUARED_HINGE;
    if (s->warm_multiplier && !smooth)
        bdml_terms_import(&e->scaled.terms, e->scaled.unit.y,
                          s->warm_multiplier + e->p->share.first, dual->y, &y2, &b2);
    if (b2 > 0.0) rho = BDML_MAX(rho, sqrt(y2 / b2));
    dual->warm = s->warm_multiplier != NULL;
    dual->penalty_inv = smooth ? 0.0 : 1.0 / rho;
    e->at.step_inv = smooth ? 1.0 : 10.0 * rho;
}
