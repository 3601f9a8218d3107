/* random.c - counter-based random numbers: Philox 4x32-10.
 *
 * J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers: as easy as 1, 2, 3",
 * SC 2011. Key = seed; counter = (stream, counter). Tested against the known answers of the paper's
 * Random123 distribution. */
#include "base/base.h"

enum { ROUNDS = 10 };
static const uint32_t MUL0 = 0xD2511F53u, MUL1 = 0xCD9E8D57u;
static const uint32_t WEYL0 = 0x9E3779B9u, WEYL1 = 0xBB67AE85u;

static void philox(uint32_t c[4], uint32_t k0, uint32_t k1)
{
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t p0 = (uint64_t)MUL0 * c[0], p1 = (uint64_t)MUL1 * c[2];
        uint32_t next[4] = {(uint32_t)(p1 >> 32) ^ c[1] ^ k0, (uint32_t)p1,
                            (uint32_t)(p0 >> 32) ^ c[3] ^ k1, (uint32_t)p0};
        memcpy(c, next, sizeof next);
        k0 += WEYL0;
        k1 += WEYL1;
    }
}

bdml_rng bdml_rng_make(uint64_t seed, uint64_t stream)
{
    return (bdml_rng){.seed = seed, .stream = stream, .counter = 0};
}

uint64_t bdml_rng_u64(bdml_rng *r)
{
    uint32_t c[4] = {(uint32_t)r->counter, (uint32_t)(r->counter >> 32), (uint32_t)r->stream,
                     (uint32_t)(r->stream >> 32)};
    philox(c, (uint32_t)r->seed, (uint32_t)(r->seed >> 32));
    r->counter++;
    return (uint64_t)c[1] << 32 | c[0];
}

/* Reject the last, incomplete multiple of n, so that every remainder is equally likely. */
uint64_t bdml_rng_below(bdml_rng *r, uint64_t n)
{
    uint64_t limit = UINT64_MAX - UINT64_MAX % n, v;
    do v = bdml_rng_u64(r);
    while (v >= limit);
    return v % n;
}

double bdml_rng_uniform(bdml_rng *r)
{
    return ((double)(bdml_rng_u64(r) >> 11) + 0.5) * 0x1p-53;
}

/* Box-Muller, the cosine half only: one normal number from two uniform ones, no state kept. */
double bdml_rng_normal(bdml_rng *r)
{
    static const double TWO_PI = 6.283185307179586476925286766559;
    double u = bdml_rng_uniform(r), v = bdml_rng_uniform(r);
    return sqrt(-2.0 * log(u)) * cos(TWO_PI * v);
}

void bdml_rng_shuffle(bdml_rng *r, int64_t n, int64_t *items)
{
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t j = (int64_t)bdml_rng_below(r, (uint64_t)i + 1), t = items[i];
        items[i] = items[j];
        items[j] = t;
    }
}
