/* weights.c - the multiplicative update w_i <- w_i (1 - epsilon eta_i), eta_i = s_i (J_i.Y - h_i) / rho
 * (Algorithm 2, line 7), with the authors' variants: another width for missed rows, a floor on weights. */
#include "paper/mwu.h"

#include "linalg/clones.h"

/* Far below anything that could matter in a sum, far above the numbers that are slow to compute with. */
static const double NEGLIGIBLE = 1e-200;

double bdml_weights_least(const bdml_mwu *w)
{
    return BDML_MAX(NEGLIGIBLE, w->s.floor * w->total / (double)w->rows);
}

double bdml_weights_largest(const bdml_cspace *space, const double *scale, const double *v,
                            const double *mu)
{
    double most = 0.0;
    for (int64_t i = 0; i < space->count; i++)
        most = BDML_MAX(most, fabs(scale[i] * (v[i] - mu[i])));
    return bdml_comm_largest(space->comm, most);
}

double bdml_weights_shares(bdml_mwu *w)
{
    const bdml_cspace *space = &w->A->space;
    bdml_cvec_product(space, 1.0, w->w, w->scale, w->q);
    bdml_cvec_divide(space, w->q, w->total, w->q);
    return bdml_cvec_dot(space, 0.0, w->q, w->mu);
}

BDML_CLONES static double update(int64_t n, const double *restrict scale, const double *restrict v,
                                 const double *restrict mu, double up, double down, double least,
                                 double *restrict w)
{
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++) {
        double slack = scale[i] * (v[i] - mu[i]);
        double eta = slack > 0.0 ? up * slack : down * slack;
        w[i] = fmax(w[i] * (1.0 - eta), least);
        sum += w[i];
    }
    return sum;
}

double bdml_weights_update(const bdml_cspace *space, const double *scale, const double *v,
                           const double *mu, double up, double down, double least, double *w,
                           double *largest)
{
    *largest = bdml_weights_largest(space, scale, v, mu);
    return bdml_comm_total(space->comm, update(space->count, scale, v, mu, up, down, least, w));
}

double bdml_weights_factor(bdml_mwu *w, double slack)
{
    double rho = slack > 0.0 ? w->rho : w->rho_negative;
    w->exceeded = BDML_MAX(w->exceeded, fabs(slack) / rho);
    return BDML_MAX(1.0 - w->epsilon * slack / rho, 0.0);
}
