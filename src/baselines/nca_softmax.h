/* nca_softmax.h - distances, and the softmax over the distances of one point, three passes over n numbers:
 *
 *     p_j = exp(m - d_j)/sum,   m = min_j d_j,     p_i = sum of p_j over the own class,
 *     w_j = p_j ([same class] - p_i)
 *
 * over groups of neighbours; a group that is far as a whole is left out. The body of nca_kernel*.c, which set
 * KERNEL, the name, and LANES, the numbers of a vector, and are compiled for processors with such vectors. */
#include "baselines/nca.h"

#define INLINE static inline __attribute__((always_inline))

typedef double vector __attribute__((vector_size(LANES * sizeof(double))));
typedef double loose /* the same anywhere in memory */
    __attribute__((vector_size(LANES * sizeof(double)), aligned(sizeof(double)), may_alias));
typedef int64_t integers __attribute__((vector_size(LANES * sizeof(int64_t))));

/* *x = exp(*x) for x <= 0, to within 3e-14 of itself; below -700 it is exp(-700), which adds nothing to a
 * sum that holds 1. x = k ln 2 + r, |r| <= ln(2)/2, and for exp(r) its Chebyshev series there up to degree
 * 9, whose error is 2e-14. The softmax needs no more: neither its sums nor a line search see it. */
INLINE void exp_negative(vector *x)
{
    const double shift =
        0x1.8p52; /* adding it rounds to an integer, which the low bits then hold */
    const vector least = -700.0 + (vector){0};
    integers keep = *x > least;
    vector v = (vector)(((integers)*x & keep) | ((integers)least & ~keep));
    vector k = v * 1.4426950408889634 + shift, t = k - shift;
    vector r = (v - t * 0x1.62e42fefa0000p-1) - t * 0x1.cf79abc9e3b3ap-40;
    vector p = r * 0x1.72faf16b7bd05p-19 + 0x1.a17df2ec2bc60p-16;
    p = p * r + 0x1.a01978c559bacp-13;
    p = p * r + 0x1.6c162bb5db14bp-10;
    p = p * r + 0x1.1111112dd6fbap-7;
    p = p * r + 0x1.55555588b972bp-5;
    p = p * r + 0x1.555555554b752p-3;
    p = p * r + 0x1.ffffffffe74e3p-2;
    p = p * r + 0x1.000000000001ep+0;
    p = p * r + 0x1.000000000003dp+0;
    *x = p * (vector)(((integers)k + 1023) << 52); /* times 2^k */
}

/* Column r of tile (padded x rows) becomes |z_j|^2 - 2 z_r'z_j for all j: a panel of GROUP points j and
 * AT_ONCE rows at a time, all in registers. */
static void distances(int64_t padded, int q, const double *panel, const double *norm,
                      const uint32_t *near, int rows, const double *z, double *tile)
{
    enum { GROUP = BDML_NCA_GROUP, VECTORS = GROUP / LANES, AT_ONCE = LANES / 2 };
    const vector far = INFINITY + (vector){0};
    for (int64_t j = 0; j < padded; j += GROUP, panel += (int64_t)GROUP * q)
        for (int first = 0; first < rows; first += AT_ONCE) {
            bool needed = !near || (near[j / GROUP] >> first & ((1u << AT_ONCE) - 1)) != 0;
            vector sum[AT_ONCE][VECTORS];
            int row[AT_ONCE]; /* the last one again where there are fewer */
            for (int r = 0; r < AT_ONCE; r++) {
                row[r] = first + r < rows ? first + r : rows - 1;
                for (int v = 0; v < VECTORS; v++) sum[r][v] = far;
            }
            for (int r = 0; r < AT_ONCE && needed; r++)
                for (int v = 0; v < VECTORS; v++)
                    sum[r][v] = *(const loose *)(norm + j + (int64_t)v * LANES);
            for (int k = 0; k < q && needed; k++)
                for (int v = 0; v < VECTORS; v++) {
                    vector p = *(const loose *)(panel + (int64_t)k * GROUP + (int64_t)v * LANES);
                    for (int r = 0; r < AT_ONCE; r++) sum[r][v] += p * z[(int64_t)row[r] * q + k];
                }
            for (int r = 0; r < AT_ONCE; r++)
                for (int v = 0; v < VECTORS; v++)
                    *(loose *)(tile + row[r] * padded + j + (int64_t)v * LANES) = sum[r][v];
        }
}

/* The least of n numbers. */
INLINE double least_of(int64_t n, const double *s)
{
    enum { CHAINS = 4 };
    vector least[CHAINS];
    double all = INFINITY;
    int64_t j = 0;
    for (int c = 0; c < CHAINS; c++) least[c] = INFINITY + (vector){0};
    const int64_t step = (int64_t)CHAINS * LANES;
    for (; j + step <= n; j += step)
        for (int c = 0; c < CHAINS; c++) {
            vector d = *(const loose *)(s + j + (int64_t)c * LANES);
            integers below = d < least[c];
            least[c] = (vector)(((integers)d & below) | ((integers)least[c] & ~below));
        }
    for (; j < n; j++) all = s[j] < all ? s[j] : all;
    for (int c = 0; c < CHAINS; c++)
        for (int k = 0; k < LANES; k++) all = least[c][k] < all ? least[c][k] : all;
    return all;
}

/* One of the numbers from v on is within the cut of `least`. */
INLINE bool any_near(double limit, const double *v)
{
    integers near = {0};
    for (int k = 0; k < BDML_NCA_GROUP; k += LANES) near |= *(const loose *)(v + k) <= limit;
    int64_t any = 0;
    for (int k = 0; k < LANES; k++) any |= near[k];
    return any != 0;
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
    double all = 0.0, limit = least + BDML_NCA_CUT;
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

/* Numbers of one group times factor, and added to column. */
INLINE void weigh_group(int count, double factor, double *restrict w, double *restrict c)
{
    for (int k = 0; k < count; k++) {
        w[k] *= factor;
        c[k] += w[k];
    }
}

/* The same for the listed groups, all of one segment that ends at `to`. */
INLINE void weigh(int groups, const int32_t *group, int64_t to, double factor, double *s,
                  double *column)
{
    for (int g = 0; g < groups; g++) {
        int64_t at = group[g], count = to - at;
        if (count >= BDML_NCA_GROUP)
            weigh_group(BDML_NCA_GROUP, factor, s + at, column + at);
        else
            weigh_group((int)count, factor, s + at, column + at);
    }
}

static double weights(int64_t n, int64_t i, int64_t begin, int64_t end, double *s, double *column,
                      int32_t *group, int *groups)
{
    int first = 0, second, third;
    s[i] = INFINITY; /* a point is no neighbour of its own */
    double least = least_of(n, s);
    double other = exponentials(0, begin, least, s, group, &first);
    second = first;
    double own = exponentials(begin, end, least, s, group, &second);
    third = second;
    other += exponentials(end, n, least, s, group, &third);
    if (s[i] < 1.0) own -= s[i]; /* exp(-700), where its group was listed */
    s[i] = 0.0;
    double p = own / (own + other), scale = 1.0 / (own + other);
    *groups = third;
    if (!column) return p;
    weigh(first, group, begin, -p * scale, s, column);
    weigh(second - first, group + first, end, (1.0 - p) * scale, s, column);
    weigh(third - second, group + second, n, -p * scale, s, column);
    return p;
}

const bdml_nca_kernel KERNEL = {distances, weights};
