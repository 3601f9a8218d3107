/* nca_kernel_avx512.c - for processors with AVX-512. */
#define KERNEL bdml_nca_kernel_avx512
enum { LANES = 8 };
#include "baselines/nca_softmax.h"
