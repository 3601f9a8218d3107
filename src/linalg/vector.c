/* vector.c - sums over long vectors in a fixed order. Four at once, so that the compiler can use vector
 * instructions. */
#include "linalg/vector.h"

double bdml_vec_dot(size_t n, const double *a, const double *b)
{
    double s[4] = {0.0, 0.0, 0.0, 0.0};
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (size_t k = 0; k < 4; k++) s[k] += a[i + k] * b[i + k];
    for (; i < n; i++) s[0] += a[i] * b[i];
    return (s[0] + s[1]) + (s[2] + s[3]);
}

double bdml_vec_distance2(size_t n, const double *a, const double *b)
{
    double s[4] = {0.0, 0.0, 0.0, 0.0};
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (size_t k = 0; k < 4; k++) s[k] += (a[i + k] - b[i + k]) * (a[i + k] - b[i + k]);
    for (; i < n; i++) s[0] += (a[i] - b[i]) * (a[i] - b[i]);
    return (s[0] + s[1]) + (s[2] + s[3]);
}
