/* student.c - means over splits, and whether two of them differ.
 *
 * Student's t through the incomplete beta function,
 *
 *     P(|T| >= |t|) = I_x(nu/2, 1/2),   x = nu / (nu + t^2)
 *
 * which is its power series' prefactor times a continued fraction (Abramowitz and Stegun 26.5.8), summed
 * by Lentz's method in the form of Thompson and Barnett (1986). It converges fast for
 * x < (a+1)/(a+b+2); beyond, I_x(a,b) = 1 - I_{1-x}(b,a). */
#include "stats/stats.h"

#include <float.h>

double bdml_mean(int n, const double *v)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += v[i];
    return n > 0 ? sum / n : NAN;
}

double bdml_sample_std(int n, const double *v)
{
    double mean = bdml_mean(n, v), sum = 0.0;
    for (int i = 0; i < n; i++) sum += (v[i] - mean) * (v[i] - mean);
    return n > 1 ? sqrt(sum / (n - 1)) : 0.0;
}

/* ---- Student's t ----------------------------------------------------------------------------------- */

static double away_from_zero(double v)
{
    return fabs(v) < DBL_MIN / DBL_EPSILON ? DBL_MIN / DBL_EPSILON : v;
}

/* 1/(1+ d1/(1+ d2/(1+ ...))) of 26.5.8; about sqrt(max(a,b)) terms are needed. */
static double beta_fraction(double a, double b, double x)
{
    enum { MOST_TERMS = 100000 };
    double c = 1.0, d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0)), value = d;
    for (int m = 1; m <= MOST_TERMS; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0));
        d = 1.0 / away_from_zero(1.0 + even * d);
        c = away_from_zero(1.0 + even / c);
        value *= c * d;
        d = 1.0 / away_from_zero(1.0 + odd * d);
        c = away_from_zero(1.0 + odd / c);
        double step = c * d;
        value *= step;
        if (fabs(step - 1.0) < 2.0 * DBL_EPSILON) break;
    }
    return value;
}

/* I_x(a,b) with 1 - x given beside x, so that neither end loses digits. */
static double beta_at(double a, double b, double x, double rest)
{
    if (x <= 0.0) return 0.0;
    if (rest <= 0.0) return 1.0;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(rest));
    if (x < (a + 1.0) / (a + b + 2.0)) return front * beta_fraction(a, b, x) / a;
    return 1.0 - front * beta_fraction(b, a, rest) / b;
}

double bdml_incomplete_beta(double a, double b, double x)
{
    return beta_at(a, b, x, 1.0 - x);
}

double bdml_student_two_sided(double t, double degrees)
{
    if (isnan(t) || !(degrees > 0.0)) return NAN;
    if (isinf(t)) return 0.0;
    double square = t * t, sum = degrees + square;
    return isinf(sum) ? 0.0 : beta_at(0.5 * degrees, 0.5, degrees / sum, square / sum);
}

double bdml_student_cdf(double t, double degrees)
{
    double tail = 0.5 * bdml_student_two_sided(t, degrees);
    return t > 0.0 ? 1.0 - tail : tail;
}

/* ---- paired comparison ------------------------------------------------------------------------------- */

/* Nadeau and Bengio (Inference for the generalization error, 2003): training sets of random splits overlap,
 * so that their scores are correlated, and s^2/n is far too small a variance of the mean. Theirs is
 *
 *     s^2 (1/n + test rows / training rows),   s^2 = squares / (n-1). */
double bdml_split_error(int n, double squares, double ratio)
{
    return sqrt(squares / (n - 1) * (1.0 / n + ratio));
}

/* t = mean / error with n - 1 degrees of freedom. */
bdml_paired bdml_compare_paired(int n, const double *a, const double *b, double ratio)
{
    bdml_paired c = {.degrees = n - 1, .t = NAN, .p = NAN, .error = NAN, .error_corrected = NAN};
    double sum = 0.0, square = 0.0;
    if (!a || !b) n = 0;
    for (int i = 0; i < n; i++) {
        sum += a[i] - b[i];
        c.wins += a[i] < b[i];
        c.ties += a[i] == b[i];
        c.losses += a[i] > b[i];
    }
    c.difference = n > 0 ? sum / n : NAN;
    if (n < 2) return c;
    for (int i = 0; i < n; i++) square += pow(a[i] - b[i] - c.difference, 2);
    c.error = sqrt(square / (n - 1) / n);
    c.error_corrected = bdml_split_error(n, square, ratio);
    if (c.ties == n) {
        c.t = 0.0;
        c.p = 1.0;
    } else {
        c.t = c.difference / c.error_corrected; /* infinite when all differ by the same */
        c.p = bdml_student_two_sided(c.t, c.degrees);
    }
    return c;
}
