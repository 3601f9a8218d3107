/* bound.c - linear functions over the bounded-distortion set, by trying every number j of large
 * eigenvalues. For fixed j and trace the best M gives K a to the j smallest eigenvalues of C and a to
 * the others; the set's extreme rays are exactly these. */
#include "certify/certify.h"

long double bdml_plain_density(int d, const long double *w, long double K)
{
    long double best = INFINITY, sum = 0.0L, head = 0.0L;
    for (int i = 0; i < d; i++) sum += w[i];
    for (int j = 0; j <= d; j++) {
        long double value = (K * head + (sum - head)) / (K * j + (d - j));
        best = BDML_MIN(best, value);
        if (j < d) head += w[j];
    }
    return best;
}

long double bdml_plain_minimum(int d, const long double *w, long double K, long double R)
{
    long double density = bdml_plain_density(d, w, K);
    return density >= 0.0L ? 0.0L : R * density;
}
