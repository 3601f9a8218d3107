/* weights.c - the multiplicative update w_i <- w_i (1 - epsilon eta_i), eta_i = s_i (J_i.Y - h_i) / rho
 * (Algorithm 2, line 7), with the authors' variants: another width for missed rows, a floor on weights. */
#include "paper/mwu.h"

#include "problem/margin.h"

/* Far below anything that could matter in a sum, far above the numbers that are slow to compute with. */
static const double NEGLIGIBLE = 1e-200;

double bdml_weights_least(const bdml_mwu *w)
{
    return BDML_MAX(NEGLIGIBLE, w->s.floor * w->total / (double)w->rows);
}

double bdml_weights_largest(int64_t n, const double *scale, const double *v, const double *mu)
{
    double most = 0.0;
    for (int64_t i = 0; i < n; i++) most = BDML_MAX(most, fabs(scale[i] * (v[i] - mu[i])));
    return most;
}

BDML_CLONES static double update(int64_t n, const double *restrict scale, const double *restrict v,
                                 const double *restrict mu, double up, double down, double least,
                                 double *restrict w, double *largest)
{
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++) {
        double slack = scale[i] * (v[i] - mu[i]);
        double eta = slack > 0.0 ? up * slack : down * slack;
        w[i] = fmax(w[i] * (1.0 - eta), least);
        sum += w[i];
    }
    *largest = bdml_weights_largest(n, scale, v, mu);
    return sum;
}

double bdml_weights_update(int64_t n, const double *scale, const double *v, const double *mu,
                           double up, double down, double least, double *w, double *largest)
{
    return update(n, scale, v, mu, up, down, least, w, largest);
}

double bdml_weights_factor(bdml_mwu *w, double slack)
{
    double rho = slack > 0.0 ? w->rho : w->rho_negative;
    w->exceeded = BDML_MAX(w->exceeded, fabs(slack) / rho);
    return BDML_MAX(1.0 - w->epsilon * slack / rho, 0.0);
}
