/* kernel_double.c - candidates by products in double. */
#include "neighbors/internal.h"

#include <float.h>

#define REAL         double
#define MASK         int64_t
#define GEMM         bdml_la_gemm
#define ROUNDOFF     (DBL_EPSILON / 2)
#define KERNEL(name) name##_double

#include "neighbors/kernel.h"

double bdml_knn_nth(double *a, int n, int k)
{
    return nth_double(a, n, k);
}

const bdml_knn_kernel bdml_knn_kernel_double = {
    .size = sizeof(REAL),
    .roundoff = ROUNDOFF,
    .underflow = DBL_TRUE_MIN,
    .measure = measure_double,
    .pack = pack_double,
    .product = product_double,
    .scan = scan_double,
    .reset = reset_double,
    .start_from = start_from_double,
    .finish = finish_double,
};
