/* vector.h - sums over long vectors in a fixed order: the same bits with any BLAS and any threads. */
#ifndef BDML_VECTOR_H
#define BDML_VECTOR_H

#include <stddef.h>

double bdml_vec_dot(size_t n, const double *a, const double *b);
double bdml_vec_distance2(size_t n, const double *a, const double *b); /* |a - b|^2 */

#endif
