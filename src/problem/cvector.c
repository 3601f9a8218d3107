/* cvector.c - vectors over constraints. Plain loops in the order of the constraints: the same bits
 * however many threads there are. */
#include "problem/cvector.h"

/* What a sum over ranks begins with on this one: the start counts once. */
static double begin(const bdml_cspace *s, double start)
{
    return s->comm->rank == 0 ? start : 0.0;
}

/* ---- number by number ----------------------------------------------------------------------------- */

void bdml_cvec_fill(const bdml_cspace *s, double value, double *a)
{
    for (int64_t t = 0; t < s->count; t++) a[t] = value;
}

void bdml_cvec_copy(const bdml_cspace *s, const double *a, double *to)
{
    memcpy(to, a, sizeof *a * (size_t)s->count);
}

void bdml_cvec_scale(const bdml_cspace *s, double factor, const double *a, double *to)
{
    for (int64_t t = 0; t < s->count; t++) to[t] = factor * a[t];
}

void bdml_cvec_divide(const bdml_cspace *s, const double *a, double divisor, double *to)
{
    for (int64_t t = 0; t < s->count; t++) to[t] = a[t] / divisor;
}

void bdml_cvec_product(const bdml_cspace *s, double factor, const double *a, const double *b,
                       double *to)
{
    for (int64_t t = 0; t < s->count; t++) to[t] = factor * a[t] * b[t];
}

void bdml_cvec_add(const bdml_cspace *s, const double *a, double *to)
{
    for (int64_t t = 0; t < s->count; t++) to[t] += a[t];
}

void bdml_cvec_extrapolate(const bdml_cspace *s, double beta, const double *a, const double *before,
                           double *to)
{
    for (int64_t t = 0; t < s->count; t++) to[t] = a[t] + beta * (a[t] - before[t]);
}

/* ---- over all constraints of all ranks ------------------------------------------------------------ */

double bdml_cvec_dot(const bdml_cspace *s, double start, const double *a, const double *b)
{
    double sum = begin(s, start);
    for (int64_t t = 0; t < s->count; t++) sum += a[t] * b[t];
    return bdml_comm_total(s->comm, sum);
}

double bdml_cvec_sum(const bdml_cspace *s, double start, const double *a)
{
    double sum = begin(s, start);
    for (int64_t t = 0; t < s->count; t++) sum += a[t];
    return bdml_comm_total(s->comm, sum);
}

double bdml_cvec_sum_abs(const bdml_cspace *s, double start, const double *a)
{
    double sum = begin(s, start);
    for (int64_t t = 0; t < s->count; t++) sum += fabs(a[t]);
    return bdml_comm_total(s->comm, sum);
}

double bdml_cvec_mean_abs(const bdml_cspace *s, const double *a)
{
    double sum = 0.0;
    for (int64_t t = 0; t < s->count; t++) sum += fabs(a[t]) / s->total;
    return bdml_comm_total(s->comm, sum);
}

double bdml_cvec_largest(const bdml_cspace *s, const double *a)
{
    double most = 0.0;
    for (int64_t t = 0; t < s->count; t++) most = BDML_MAX(most, a[t]);
    return bdml_comm_largest(s->comm, most);
}

/* Hoare's FIND. */
static double find_median(int64_t n, double *a)
{
    int64_t lo = 0, hi = n - 1, k = n / 2;
    while (lo < hi) {
        double pivot = a[lo + (hi - lo) / 2];
        int64_t i = lo, j = hi;
        while (i <= j) {
            while (a[i] < pivot) i++;
            while (a[j] > pivot) j--;
            if (i > j) break;
            double swap = a[i];
            a[i++] = a[j];
            a[j--] = swap;
        }
        if (k <= j)
            hi = j;
        else if (k >= i)
            lo = i;
        else
            break;
    }
    return a[k];
}

/* Over ranks: numbers >= 0 are in the order of their bits as whole numbers, so that bisection on the
 * bits, counting how many are not above, ends at the number itself. */
static double bisect_median(const bdml_cspace *s, const double *a)
{
    uint64_t lo = 0, hi = UINT64_C(0x7ff0000000000000); /* 0 and infinity */
    double place = floor(0.5 * s->total), value;
    while (lo < hi) {
        uint64_t middle = lo + (hi - lo) / 2;
        double below = 0.0;
        memcpy(&value, &middle, sizeof value);
        for (int64_t t = 0; t < s->count; t++) below += a[t] <= value;
        if (bdml_comm_total(s->comm, below) > place)
            hi = middle;
        else
            lo = middle + 1;
    }
    memcpy(&value, &lo, sizeof value);
    return value;
}

double bdml_cvec_median(const bdml_cspace *s, double *a)
{
    return s->comm->size > 1 ? bisect_median(s, a) : find_median(s->count, a);
}

double bdml_cvec_worst_miss(const bdml_cspace *s, const double *mu, const double *v, double share)
{
    double worst = -INFINITY;
    for (int64_t t = 0; t < s->count; t++) worst = BDML_MAX(worst, mu[t] - v[t] * share);
    return bdml_comm_largest(s->comm, worst);
}

double bdml_cvec_least_ratio(const bdml_cspace *s, double share, const double *v, const double *mu)
{
    double least = INFINITY;
    for (int64_t t = 0; t < s->count; t++)
        if (mu[t] > 0.0) least = BDML_MIN(least, share * v[t] / mu[t]);
    return bdml_comm_least(s->comm, least);
}

double bdml_cvec_scale_to_meet(const bdml_cspace *s, const double *mu, const double *v,
                               double slack, const double *norm)
{
    double most = 0.0;
    for (int64_t t = 0; t < s->count && isfinite(most); t++) {
        double value = v[t] - slack * norm[t];
        if (mu[t] > 0.0) most = value > 0.0 ? BDML_MAX(most, mu[t] / value) : INFINITY;
    }
    return bdml_comm_largest(s->comm, most);
}

bool bdml_cvec_find_absurd(const bdml_cspace *s, const double *norm, const double *rough,
                           double share, const double *mu, int64_t *t)
{
    const bdml_comm *comm = s->comm;
    int64_t k = 0;
    while (k < s->count && !(norm[k] <= share * rough[k] && mu[k] > 0.0)) k++;
    double claim = k < s->count ? comm->size - comm->rank : 0.0; /* the first rank's is taken */
    double taken = bdml_comm_largest(comm, claim);
    *t = taken > 0.0 && taken == claim ? k : -1;
    return taken > 0.0;
}
