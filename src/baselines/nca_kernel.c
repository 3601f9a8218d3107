/* nca_kernel.c - for any processor, and the choice of the one that fits. */
#define KERNEL bdml_nca_kernel_plain
enum { LANES = 4 };
#include "baselines/nca_softmax.h"

#if defined(__x86_64__)
int bdml_nca_width(void)
{
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 0;
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") ? 2 : 1;
}

const bdml_nca_kernel *bdml_nca_kernel_of(int width)
{
    return width == 2   ? &bdml_nca_kernel_avx512
           : width == 1 ? &bdml_nca_kernel_avx2
                        : &bdml_nca_kernel_plain;
}
#else
int bdml_nca_width(void)
{
    return 0;
}

const bdml_nca_kernel *bdml_nca_kernel_of(int width)
{
    (void)width;
    return &bdml_nca_kernel_plain;
}
#endif
