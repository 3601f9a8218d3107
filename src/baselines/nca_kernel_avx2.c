/* nca_kernel_avx2.c - for processors with AVX2. */
#define KERNEL bdml_nca_kernel_avx2
enum { LANES = 4 };
#include "baselines/nca_softmax.h"
