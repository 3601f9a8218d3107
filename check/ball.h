/* ball.h - real numbers known up to a bound: a midpoint of two doubles and a radius.
 *
 *     (hi, lo, rad)   some real number x with |x - (hi + lo)| <= rad
 *
 * Every function returns a ball that holds the exact result for every choice of reals in its arguments.
 * The rounding errors are not estimated from theorems: sums keep the error of each addition, which
 * Knuth's two_sum gives exactly, and quotients and roots are checked by multiplying out. What is left
 * goes into the radius, rounded up. About 106 bits are carried along, so that differences of points far
 * from the origin survive.
 *
 * Asked of the machine: IEEE doubles, rounding to nearest, no contraction of a * b + c, no excess
 * precision; ball_machine_ok tries them. Overflow gives an infinite or NaN field, of which ball_low and
 * ball_up make -Inf and +Inf: bounds that prove nothing. Underflow is counted in by TINY. */
#ifndef BDML_CHECK_BALL_H
#define BDML_CHECK_BALL_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#if FLT_RADIX != 2 || DBL_MANT_DIG != 53 || FLT_EVAL_METHOD != 0
#error "IEEE double arithmetic without excess precision is needed"
#endif

typedef struct ball {
    double hi, lo, rad;
} ball;

#define UNIT  0x1p-53   /* relative error of one operation */
#define TINY  0x1p-1050 /* more than a few operations can lose to underflow */
#define SMALL 0x1p-960  /* products below this may have lost bits to underflow */

/* ---- doubles ------------------------------------------------------------------------------------ */

/* s + *error = a + b exactly (Knuth). */
static inline double two_sum(double a, double b, double *error)
{
    double s = a + b, t = s - a;
    *error = (a - (s - t)) + (b - t);
    return s;
}

/* p + *error = a b exactly (Dekker, Veltkamp), unless 0 < |ab| < SMALL, where TINY more covers it. */
static inline double two_product(double a, double b, double *error)
{
    double p = a * b;
#ifdef FP_FAST_FMA
    *error = fma(a, b, -p);
#else
    double ta = 134217729.0 * a, tb = 134217729.0 * b; /* 2^27 + 1 */
    double ah = ta - (ta - a), bh = tb - (tb - b), al = a - ah, bl = b - bh;
    *error = ((ah * bh - p) + ah * bl + al * bh) + al * bl;
#endif
    return p;
}

/* At least the sum of a few nonnegative numbers that was computed as r. */
static inline double grown(double r)
{
    return r * (1.0 + 0x1p-48);
}

/* At least a b, for a, b >= 0; exactly zero when one of them is. */
static inline double product_up(double a, double b)
{
    return a == 0.0 || b == 0.0 ? 0.0 : a * b * (1.0 + 0x1p-50) + TINY;
}

/* ---- balls -------------------------------------------------------------------------------------- */

static inline ball ball_of(double x)
{
    return (ball){x, 0.0, 0.0};
}

static inline ball ball_minus(ball x)
{
    return (ball){-x.hi, -x.lo, x.rad};
}

static inline bool ball_is_zero(ball x)
{
    return x.hi == 0.0 && x.lo == 0.0 && x.rad == 0.0;
}

/* |x| is at most this. */
static inline double ball_size(ball x)
{
    double size = grown(fabs(x.hi) + fabs(x.lo) + x.rad);
    return isfinite(size) ? size : INFINITY;
}

/* x is at least, at most this. */
static inline double ball_low(ball x)
{
    double low = nextafter(nextafter(x.hi + x.lo, -INFINITY) - x.rad, -INFINITY);
    return x.rad == 0.0 && x.lo == 0.0 && isfinite(x.hi) ? x.hi : isfinite(low) ? low : -INFINITY;
}

static inline double ball_up(ball x)
{
    return -ball_low(ball_minus(x));
}

static inline ball ball_add(ball x, ball y)
{
    double e, f, g, h;
    double s = two_sum(x.hi, y.hi, &e), t = two_sum(x.lo, y.lo, &f);
    double v = two_sum(e, t, &g);
    s = two_sum(s, v, &v);
    v = two_sum(v, f, &h);
    ball z;
    z.hi = two_sum(s, v, &z.lo); /* hi + lo + g + h is the sum of the midpoints */
    z.rad = grown(fabs(g) + fabs(h) + x.rad + y.rad);
    return z;
}

static inline ball ball_sub(ball x, ball y)
{
    return ball_add(x, ball_minus(y));
}

static inline ball ball_mul(ball x, ball y)
{
    if (ball_is_zero(x) || ball_is_zero(y)) return ball_of(0.0);
    double e, g, p = two_product(x.hi, y.hi, &e);
    double a = x.hi * y.lo, b = x.lo * y.hi;
    double c =
        two_sum(e, a + b, &g); /* the exact product: p + c + g + x.lo y.lo, but for rounding */
    ball z;
    z.hi = two_sum(p, c, &z.lo);
    z.rad = fabs(g) + 4.0 * UNIT * (fabs(a) + fabs(b)) + product_up(fabs(x.lo), fabs(y.lo));
    if (a != 0.0 || b != 0.0 || x.lo != 0.0 || y.lo != 0.0 ||
        (x.hi != 0.0 && y.hi != 0.0 && !(fabs(p) >= SMALL)))
        z.rad += TINY;
    if (x.rad != 0.0 || y.rad != 0.0)
        z.rad += product_up(fabs(x.hi) + fabs(x.lo), y.rad) +
                 product_up(grown(fabs(y.hi) + fabs(y.lo) + y.rad), x.rad);
    z.rad = grown(z.rad);
    return z;
}

/* With a quotient t near x/y:  |x/y - t| = |x - t y| / |y|. y must not hold 0: else rad is infinite. */
static inline ball ball_div(ball x, ball y)
{
    if (y.hi == 1.0 && y.lo == 0.0 && y.rad == 0.0) return x;
    ball t = ball_of(x.hi / y.hi);
    ball rest = ball_sub(x, ball_mul(t, y));
    t.hi = two_sum(t.hi, rest.hi / y.hi, &t.lo);
    rest = ball_sub(x, ball_mul(t, y));
    double least = y.hi > 0.0 ? ball_low(y) : ball_low(ball_minus(y));
    if (!(least > 0.0)) return (ball){0.0, 0.0, INFINITY};
    t.rad = ball_is_zero(rest) ? 0.0 : grown(ball_size(rest) / least) + TINY;
    return t;
}

/* With t near sqrt(x):  |sqrt(x) - t| = |x - t^2| / (sqrt(x) + t) <= |x - t^2| / t. */
static inline ball ball_sqrt(ball x)
{
    if (ball_is_zero(x)) return x;
    if (!(ball_low(x) > 0.0)) return (ball){0.0, 0.0, INFINITY};
    ball t = ball_of(sqrt(x.hi));
    ball rest = ball_sub(x, ball_mul(t, t));
    t.hi = two_sum(t.hi, 0.5 * rest.hi / t.hi, &t.lo);
    rest = ball_sub(x, ball_mul(t, t));
    t.rad = grown(ball_size(rest) / ball_low(t)) + TINY;
    return t;
}

/* ---- sums of products ----------------------------------------------------------------------------
 *
 *     sum a_i b_i:  s holds the high parts, c the rest, each a plain sum.
 *
 * Terms of c: the exact errors e of two_product and q of two_sum, and the mixed products of high and low
 * parts. At most n + 8 roundings lie between any of them and c, so c is off by (n + 8) UNIT times the sum of
 * their sizes, T. D collects what was left out: products of low parts, and the radii. The final factor
 * covers the roundings in T and D themselves. */

static inline ball dot_end(size_t n, double s, double c, double T, double D)
{
    ball z;
    double count = (double)n + 8.0;
    z.hi = two_sum(s, c, &z.lo);
    z.rad = (count * UNIT * T + D + count * TINY) * (1.0 + 4.0 * count * UNIT);
    return z;
}

/* sum of a_i b_i */
static inline ball dot(size_t n, const ball *a, const ball *b)
{
    double s = 0.0, c = 0.0, T = 0.0, D = 0.0;
    for (size_t i = 0; i < n; i++) {
        double e, q, p = two_product(a[i].hi, b[i].hi, &e);
        double l = a[i].hi * b[i].lo, m = a[i].lo * b[i].hi, r = a[i].rad + fabs(a[i].lo);
        s = two_sum(s, p, &q);
        c += (e + q) + (l + m);
        T += (fabs(e) + fabs(q)) + (fabs(l) + fabs(m));
        D += fabs(b[i].hi) * a[i].rad + fabs(a[i].hi) * b[i].rad + r * (b[i].rad + fabs(b[i].lo));
    }
    return dot_end(n, s, c, T, D);
}

/* ---- machine ------------------------------------------------------------------------------------- */

/* Rounding to nearest, no contraction, no excess: each would show in one of these. */
static inline bool ball_machine_ok(void)
{
    volatile double a = 1.0 + 0x1p-27, b = 1.0 - 0x1p-27, one = 1.0, half = 0x1p-53;
    volatile double fused = a * b - one; /* contracted it would be -2^-54 */
    double error, e, s = two_sum(one, half, &error), p = two_product(a, b, &e);
    return fused == 0.0 && s == 1.0 && error == half && one + 3.0 * half == 1.0 + 0x1p-51 &&
           -one - half == -1.0 && p == 1.0 && e == -0x1p-54;
}

#endif
