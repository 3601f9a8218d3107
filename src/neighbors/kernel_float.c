/* kernel_float.c - candidates by products in float. */
#include "neighbors/internal.h"

#include <float.h>

#define REAL         float
#define MASK         int32_t
#define GEMM         bdml_la_sgemm
#define ROUNDOFF     ((double)FLT_EPSILON / 2)
#define KERNEL(name) name##_float

#include "neighbors/kernel.h"

const bdml_knn_kernel bdml_knn_kernel_float = {
    .size = sizeof(REAL),
    .roundoff = ROUNDOFF,
    .underflow = (double)FLT_TRUE_MIN,
    .measure = measure_float,
    .pack = pack_float,
    .product = product_float,
    .scan = scan_float,
    .reset = reset_float,
    .start_from = start_from_float,
    .finish = finish_float,
};
