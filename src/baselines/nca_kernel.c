/* nca_kernel.c - the softmax over the distances of one point, three passes over n numbers:
 *
 *     p_j = exp(m - d_j)/sum,   m = min_j d_j,     p_i = sum of p_j over the own class,
 *     w_j = p_j ([same class] - p_i)
 *
 * over groups of neighbours; a group that is far as a whole is left out. In vectors of LANES numbers, which the compiler cuts to what the processor has: the order of every
 * sum, and so the bits, are those of LANES chains whatever it has. */
#include "baselines/nca.h"

#if defined(__x86_64__)
#define WIDE __attribute__((target("avx2")))
bool bdml_nca_has_wide(void)
{
    return __builtin_cpu_supports("avx2") != 0;
}
#else
#define WIDE
bool bdml_nca_has_wide(void)
{
    return false;
}
#endif
#define INLINE static inline __attribute__((always_inline))

enum { LANES = 4 };
/* Terms below exp(-CUT) of the largest are left out: 4e-18, under the rounding of a sum that holds 1. */
static const double CUT = 40.0;
typedef double vector __attribute__((vector_size(LANES * sizeof(double))));
typedef double loose /* the same anywhere in memory */
    __attribute__((vector_size(LANES * sizeof(double)), aligned(sizeof(double)), may_alias));
typedef int64_t integers __attribute__((vector_size(LANES * sizeof(int64_t))));

/* *x = exp(*x) for x <= 0, to within two units of the last place; below -700 it is exp(-700), which adds
 * nothing to a sum that holds 1. x = k ln 2 + r, |r| <= ln(2)/2, and Taylor's polynomial for exp(r),
 * whose next term is below 2e-16. */
INLINE void exp_negative(vector *x)
{
    const double shift =
        0x1.8p52; /* adding it rounds to an integer, which the low bits then hold */
    const vector least = -700.0 + (vector){0};
    integers keep = *x > least;
    vector v = (vector)(((integers)*x & keep) | ((integers)least & ~keep));
    vector k = v * 1.4426950408889634 + shift, t = k - shift;
    vector r = (v - t * 0x1.62e42fefa0000p-1) - t * 0x1.cf79abc9e3b3ap-40;
    vector p = r * (1.0 / 479001600.0) + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    *x = p * (vector)(((integers)k + 1023) << 52); /* times 2^k */
}

/* s_j += norm_j; returns the least. */
INLINE double distances(int64_t n, const double *norm, double *s)
{
    vector least = INFINITY + (vector){0};
    double all = INFINITY;
    int64_t j = 0;
    for (; j + LANES <= n; j += LANES) {
        vector d = *(const loose *)(s + j) + *(const loose *)(norm + j);
        *(loose *)(s + j) = d;
        integers below = d < least;
        least = (vector)(((integers)d & below) | ((integers)least & ~below));
    }
    for (; j < n; j++) {
        s[j] += norm[j];
        all = s[j] < all ? s[j] : all;
    }
    for (int k = 0; k < LANES; k++) all = least[k] < all ? least[k] : all;
    return all;
}

/* One of the numbers from v on is within CUT of `least`. */
INLINE bool any_near(double limit, const double *v)
{
    integers near = {0};
    for (int k = 0; k < BDML_NCA_GROUP; k += LANES) near |= *(const loose *)(v + k) <= limit;
    return (near[0] | near[1] | near[2] | near[3]) != 0;
}

/* The same for a group that the end of a class cuts short. */
INLINE double short_group(int count, double least, double *s)
{
    double sum = 0.0;
    for (int j = 0; j < count; j += LANES) {
        vector e = {0}; /* filled up with numbers that do not count */
        int used = count - j < LANES ? count - j : LANES;
        for (int k = 0; k < used; k++) e[k] = least - s[j + k];
        exp_negative(&e);
        for (int k = 0; k < used; k++) sum += s[j + k] = e[k];
    }
    return sum;
}

/* s_j = exp(least - s_j) for from <= j < to, in groups; those that are all far are left out, the others
 * listed. Returns the sum. */
INLINE double exponentials(int64_t from, int64_t to, double least, double *s, int32_t *group,
                           int *groups)
{
    vector sum = {0};
    double all = 0.0, limit = least + CUT;
    int64_t j = from;
    for (; j + BDML_NCA_GROUP <= to; j += BDML_NCA_GROUP) {
        if (!any_near(limit, s + j)) continue;
        group[(*groups)++] = (int32_t)j;
        for (int k = 0; k < BDML_NCA_GROUP; k += LANES) {
            vector e = least - *(const loose *)(s + j + k);
            exp_negative(&e);
            *(loose *)(s + j + k) = e;
            sum += e;
        }
    }
    if (j < to) {
        group[(*groups)++] = (int32_t)j;
        all = short_group((int)(to - j), least, s + j);
    }
    for (int k = 0; k < LANES; k++) all += sum[k];
    return all;
}

/* The listed groups, all of one segment that ends at `to`, times factor, and added to column. */
INLINE void weigh(int groups, const int32_t *group, int64_t to, double factor, double *restrict s,
                  double *restrict column)
{
    for (int g = 0; g < groups; g++) {
        double *restrict w = s + group[g], *restrict c = column + group[g];
        int count = (int)BDML_MIN((int64_t)BDML_NCA_GROUP, to - group[g]);
        for (int k = 0; k < count; k++) {
            w[k] *= factor;
            c[k] += w[k];
        }
    }
}

INLINE double weights(int64_t n, int64_t i, int64_t begin, int64_t end, const double *norm,
                      double *s, double *column, int32_t *group, int *groups)
{
    int first = 0, second, third;
    s[i] = INFINITY; /* a point is no neighbour of its own */
    double least = distances(n, norm, s);
    double other = exponentials(0, begin, least, s, group, &first);
    second = first;
    double own = exponentials(begin, end, least, s, group, &second);
    third = second;
    other += exponentials(end, n, least, s, group, &third);
    if (s[i] < 1.0) own -= s[i]; /* exp(-700), where its group was listed */
    s[i] = 0.0;
    double p = own / (own + other), scale = 1.0 / (own + other);
    weigh(first, group, begin, -p * scale, s, column);
    weigh(second - first, group + first, end, (1.0 - p) * scale, s, column);
    weigh(third - second, group + second, n, -p * scale, s, column);
    *groups = third;
    return p;
}

WIDE static double weights_wide(int64_t n, int64_t i, int64_t begin, int64_t end,
                                const double *norm, double *s, double *column, int32_t *group,
                                int *groups)
{
    return weights(n, i, begin, end, norm, s, column, group, groups);
}

double bdml_nca_weights(int64_t n, int64_t i, int64_t begin, int64_t end, const double *norm,
                        bool wide, double *s, double *column, int32_t *group, int *groups)
{
    return wide ? weights_wide(n, i, begin, end, norm, s, column, group, groups)
                : weights(n, i, begin, end, norm, s, column, group, groups);
}
