/* statistics.c - the few statistics that tables need. */
#include "evaluate/evaluate.h"

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
