/* bounds.c - stability, generalisation and tail bounds of the paper (Lemma 2, Theorems 2 and 3). */
#include "bounds.h"

static const double PI = 3.14159265358979323846;

/* ---- stability and generalisation ------------------------------------------------------------------------------ */

static bdml_status check_metric(bdml_handle *h, const study_bound_numbers *b)
{
    if (!(b->K >= 1.0 && isfinite(b->K)))
        return client_fail(h, BDML_ERR_ARGUMENT, "the distortion K must be at least 1, got %g",
                           b->K);
    if (!(b->R > 0.0 && isfinite(b->R)))
        return client_fail(h, BDML_ERR_ARGUMENT, "the trace R must be positive and finite, got %g",
                           b->R);
    if (!(b->radius > 0.0 && isfinite(b->radius)))
        return client_fail(h, BDML_ERR_ARGUMENT,
                           "the radius Gamma of the data must be positive and finite, got %g",
                           b->radius);
    if (!(b->d >= 1.0 && isfinite(b->d)))
        return client_fail(h, BDML_ERR_ARGUMENT,
                           "the dimension d (or the rank of the metric) must be at least 1, got %g",
                           b->d);
    return BDML_OK;
}

bdml_status study_bound_stability(bdml_handle *h, const study_bound_numbers *b, double *beta)
{
    TRY(check_metric(h, b));
    *beta = 4.0 * (b->K + 1.0) * b->R * b->radius * b->radius / b->d;
    return BDML_OK;
}

/* Chebyshev on E[(risk - empirical)^2] <= L^2/(2n) + 3 L beta with losses at most L = 4 K R Gamma^2 / d. */
bdml_status study_bound_generalization(bdml_handle *h, const study_bound_numbers *b, double beta,
                                       double *risk, double *excess)
{
    double own;
    TRY(study_bound_stability(h, b, &own));
    if (!(b->n >= 1.0 && isfinite(b->n)))
        return client_fail(h, BDML_ERR_ARGUMENT,
                           "the number n of target pairs must be at least 1, got %g", b->n);
    if (!(b->delta > 0.0 && b->delta <= 1.0))
        return client_fail(h, BDML_ERR_ARGUMENT,
                           "the probability of failure delta must be above 0 and at most 1, got %g",
                           b->delta);
    if (!(b->empirical >= 0.0 && isfinite(b->empirical)))
        return client_fail(h, BDML_ERR_ARGUMENT, "the empirical risk must be at least 0, got %g",
                           b->empirical);
    if (isnan(beta) || isinf(beta))
        return client_fail(h, BDML_ERR_ARGUMENT, "the stability beta must be finite, got %g", beta);
    if (beta < 0.0) beta = own;
    double size = b->K * b->R / b->d, square = b->radius * b->radius;
    *excess = 2.0 * b->radius * sqrt(size / b->delta * (2.0 * size * square / b->n + 3.0 * beta));
    *risk = b->empirical + *excess;
    return BDML_OK;
}

/* ---- tail --------------------------------------------------------------------------------------------------------- */

static bdml_status check_tail(bdml_handle *h, const study_tail_numbers *b)
{
    const struct {
        const char *what;
        int64_t value, least;
    } counts[] = {{"the rows q of Q", b->q, 1},
                  {"the dimension d", b->d, 1},
                  {"the number |I| of impostor pairs", b->pairs, 1},
                  {"the rank r of the relaxed solution", b->rank, 1},
                  {"the rank r1", b->rank1, 0},
                  {"the rank r2", b->rank2, 0},
                  {"the rank r3", b->rank3, 0},
                  {"the number of samples", b->draws, 1}};
    if (b->triplets)
        return client_fail(h, BDML_ERR_ARGUMENT,
                           "Theorem 2 holds for pair constraints only: of triplets the matrices "
                           "X_ik - X_ij are not positive semidefinite, which its left tail needs");
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        if (counts[k].value < counts[k].least)
            return client_fail(h, BDML_ERR_ARGUMENT, "%s must be at least %lld, got %lld",
                               counts[k].what, (long long)counts[k].least,
                               (long long)counts[k].value);
    if (b->q > b->d)
        return client_fail(h, BDML_ERR_ARGUMENT,
                           "Q has at most d = %lld orthonormal rows, got q = %lld", (long long)b->d,
                           (long long)b->q);
    if ((double)b->rank > (double)b->q * (double)b->d)
        return client_fail(h, BDML_ERR_ARGUMENT,
                           "the relaxed solution has qd = %lld rows, so no rank %lld",
                           (long long)b->q * (long long)b->d, (long long)b->rank);
    if (!(b->gamma > 0.0 && isfinite(b->gamma)))
        return client_fail(h, BDML_ERR_ARGUMENT, "the margin ratio gamma must be positive, got %g",
                           b->gamma);
    if (!(b->epsilon >= 0.0 && isfinite(b->epsilon)))
        return client_fail(h, BDML_ERR_ARGUMENT,
                           "the tolerance epsilon of orthogonality must be at least 0, got %g",
                           b->epsilon);
    if (!(b->omega >= 1.0 && isfinite(b->omega)))
        return client_fail(h, BDML_ERR_ARGUMENT,
                           "the objective ratio omega must be at least 1, got %g", b->omega);
    return BDML_OK;
}

static double cut(int64_t rank, int64_t r)
{
    return (double)(rank > 0 ? MIN(rank, r) : r);
}

bdml_status study_bound_tail(bdml_handle *h, const study_tail_numbers *b, study_tail *out)
{
    TRY(check_tail(h, b));
    double r1 = cut(b->rank1, b->rank), r2 = cut(b->rank2, b->rank), r3 = cut(b->rank3, b->rank);
    double q = (double)b->q, d = (double)b->d, epsilon = b->epsilon;
    out->tau = sqrt(epsilon / q * sqrt(2.0 / (r2 * d)) + 1.0);
    out->margins = (double)b->pairs * MAX(sqrt(b->gamma), 2.0 * (r1 - 1.0) * b->gamma / (PI - 2.0));
    out->objective = r3 * exp(-0.5 * (b->omega - sqrt(2.0 * b->omega - 1.0)));
    out->orthogonality = 0.5 * r2 * q * (q + 1.0) *
                         (exp(-0.25 * (out->tau - 1.0) * (out->tau - 1.0)) +
                          exp(-epsilon * epsilon / (8.0 * r2 * d * q * q)));
    double failure = out->margins + out->objective + out->orthogonality;
    out->vacuous = !(failure < 1.0);
    out->single = out->vacuous ? 0.0 : 1.0 - failure;
    /* 1 - failure^draws without loss of digits */
    out->all = out->vacuous ? 0.0 : -expm1((double)b->draws * log(failure));
    return BDML_OK;
}

study_tail_numbers study_tail_example(int64_t r)
{
    study_tail_numbers b = {
        .omega = 10.0, .q = 10, .d = 100, .pairs = 100, .rank = r, .draws = 100};
    b.gamma = PI / (16.0 * 100.0 * 100.0);
    b.epsilon = 40.0 * (double)b.q * sqrt((double)r * (double)b.d);
    return b;
}
