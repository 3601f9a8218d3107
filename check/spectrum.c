/* spectrum.c - eigenvalues from below, and linear functions over the bounded-distortion set.
 *
 * With any nonsingular V:   V'SV = diag(w) + E,   V'V = I + F,   e >= |E|, f >= |F| (largest row sums)
 *
 *     Weyl       eigenvalues of V'SV lie within e of the sorted w
 *     Ostrowski  each is that of S times a factor in [1 - f, 1 + f]
 *
 * V comes from Jacobi's method in doubles, then in twice their digits; it is not trusted: e and f are
 * computed from S and V with bounds. */
#include "check.h"

#include <stdlib.h>

enum { SWEEPS = 40 };

/* Rotation that empties (p, q): t = tan of its angle (Golub & Van Loan, 8.5.2). */
static double tangent(double app, double aqq, double apq)
{
    double tau = (aqq - app) / (2.0 * apq);
    return (tau >= 0.0 ? 1.0 : -1.0) / (fabs(tau) + sqrt(1.0 + tau * tau));
}

/* Numbers from one row to the next: columns a power of two apart would all fall on the same lines of a cache. */
static size_t stride(size_t d)
{
    return d + (d % 64 == 0 ? 8 : 0);
}

/* Cyclic Jacobi on a (destroyed; stride(d) from row to row); the rows of v become the eigenvectors. */
static void jacobi_doubles(checker *k, size_t d, double *a, double *v)
{
    double size = 0.0;
    size_t ld = stride(d);
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) {
            size = fmax(size, fabs(a[i * ld + j]));
            v[i * d + j] = i == j;
        }
    for (int sweep = 0, turned = 1; turned && sweep < SWEEPS; sweep++) {
        turned = 0;
        for (size_t p = 0; p + 1 < d; p++, check_pause(k))
            for (size_t q = p + 1; q < d; q++) {
                double apq = a[p * ld + q], app = a[p * ld + p], aqq = a[q * ld + q];
                if (!(fabs(apq) > 0x1p-55 * size)) continue;
                double t = tangent(app, aqq, apq), c = 1.0 / sqrt(1.0 + t * t), s = t * c;
                if (!isfinite(t)) continue;
                turned = 1;
                for (size_t i = 0; i < d; i++) { /* rows p and q, of a and of v */
                    double x = a[p * ld + i], y = a[q * ld + i];
                    a[p * ld + i] = c * x - s * y;
                    a[q * ld + i] = s * x + c * y;
                    x = v[p * d + i], y = v[q * d + i];
                    v[p * d + i] = c * x - s * y;
                    v[q * d + i] = s * x + c * y;
                }
                for (size_t i = 0; i < d; i++) { /* columns */
                    double x = a[i * ld + p], y = a[i * ld + q];
                    a[i * ld + p] = c * x - s * y;
                    a[i * ld + q] = s * x + c * y;
                }
                a[p * ld + q] = a[q * ld + p] = 0.0;
            }
    }
}

/* x without its radius. */
static ball middle(ball x)
{
    return (ball){x.hi, x.lo, 0.0};
}

/* (x, y) <- (c x - s y, s x + c y) */
static void rotate(ball c, ball s, ball *x, ball *y)
{
    ball u = ball_sub(ball_mul(c, *x), ball_mul(s, *y));
    *y = middle(ball_add(ball_mul(s, *x), ball_mul(c, *y)));
    *x = middle(u);
}

/* The same with twice the digits, on a nearly diagonal t: one or two sweeps, and only where it matters. */
static void jacobi_balls(checker *k, size_t d, ball *t, ball *v)
{
    double size = 0.0;
    for (size_t i = 0; i < d; i++) size = fmax(size, fabs(t[i * d + i].hi));
    for (int sweep = 0, turned = 1; turned && sweep < 4; sweep++) {
        turned = 0;
        for (size_t p = 0; p + 1 < d; p++, check_pause(k))
            for (size_t q = p + 1; q < d; q++) {
                double tpq = t[p * d + q].hi;
                if (!(fabs(tpq) > 0x1p-96 * size)) continue;
                /* The angle needs few digits, but (c, s) must have length 1 to all of them. */
                ball tan = ball_of(tangent(t[p * d + p].hi, t[q * d + q].hi, tpq));
                ball one = ball_of(1.0);
                ball c = middle(ball_div(one, ball_sqrt(ball_add(one, ball_mul(tan, tan)))));
                ball s = middle(ball_mul(tan, c));
                if (!isfinite(c.hi + s.hi)) continue;
                turned = 1;
                for (size_t i = 0; i < d; i++) {
                    rotate(c, s, &t[p * d + i], &t[q * d + i]);
                    rotate(c, s, &v[p * d + i], &v[q * d + i]);
                }
                for (size_t i = 0; i < d; i++) rotate(c, s, &t[i * d + p], &t[i * d + q]);
            }
    }
}

/* t = v s v', rows of v being vectors; both as they are, radii included. */
static void congruence(checker *k, size_t d, const ball *s, const ball *v, ball *work, ball *t)
{
    for (size_t i = 0; i < d; i++, check_pause(k))
        for (size_t j = 0; j < d; j++) work[i * d + j] = dot(d, v + i * d, s + j * d);
    for (size_t i = 0; i < d; i++, check_pause(k))
        for (size_t j = 0; j <= i; j++)
            t[i * d + j] = t[j * d + i] = dot(d, work + i * d, v + j * d);
}

/* Largest sum over a row of |t - diag(w)|, from above. */
static double off_diagonal(size_t d, const ball *t, const double *w)
{
    double most = 0.0;
    for (size_t i = 0; i < d; i++) {
        double sum = 0.0;
        for (size_t j = 0; j < d; j++)
            sum += ball_size(i == j ? ball_sub(t[i * d + j], ball_of(w[i])) : t[i * d + j]);
        sum *= 1.0 + 2.0 * ((double)d + 2.0) * UNIT;
        if (!(sum <= most)) most = sum; /* an infinite sum stays */
    }
    return most;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void check_eigenvalues(checker *k, size_t d, const ball *s, bool fine, double *low)
{
    double *a = check_take(k, d * stride(d), sizeof *a), *u = check_take(k, d * d, sizeof *u);
    double *w = check_take(k, d, sizeof *w), *one = check_take(k, d, sizeof *one);
    ball *v = check_take(k, d * d, sizeof *v), *t = check_take(k, d * d, sizeof *t);
    ball *work = check_take(k, d * d, sizeof *work);
    bool zero = true;

    for (size_t i = 0; i < d * d; i++) zero = zero && ball_is_zero(s[i]);
    for (size_t i = 0; zero && i < d; i++) low[i] = 0.0;
    if (zero) return;
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) a[i * stride(d) + j] = s[i * d + j].hi;
    jacobi_doubles(k, d, a, u);
    for (size_t i = 0; i < d * d; i++) v[i] = ball_of(u[i]);
    congruence(k, d, s, v, work, t);
    if (fine) {
        jacobi_balls(k, d, t, v);
        congruence(k, d, s, v, work, t);
    }
    for (size_t i = 0; i < d; i++) w[i] = t[i * d + i].hi, one[i] = 1.0;
    double e = off_diagonal(d, t, w);
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j <= i; j++) t[i * d + j] = t[j * d + i] = dot(d, v + i * d, v + j * d);
    double f = off_diagonal(d, t, one);
    qsort(w, d, sizeof *w, ascending);
    for (size_t i = 0; i < d; i++) {
        ball least = ball_sub(ball_of(w[i]), ball_of(e));
        double factor = ball_low(least) >= 0.0 ? 1.0 + f : 1.0 - f;
        least = ball_div(least, (ball){factor, 0.0, 2.0 * UNIT});
        low[i] = f < 0.5 ? ball_low(least) : -INFINITY;
    }
}

/* min_j (K sum_{i<=j} w_i + sum_{i>j} w_i) / (j K + d - j): the extreme rays of the set have j eigenvalues
 * K a and the others a, and <S,M> is least when the large ones meet the small eigenvalues of S. It grows
 * with every w_i, so that lower bounds of them give one of it. */
double check_density(size_t d, const double *low, double K)
{
    ball head = ball_of(0.0), tail = ball_of(0.0);
    double best = INFINITY;
    for (size_t i = 0; i < d; i++) tail = ball_add(tail, ball_of(low[i]));
    for (size_t j = 0; j <= d; j++) {
        ball above = ball_add(ball_mul(ball_of(K), head), tail);
        ball below = ball_add(ball_mul(ball_of(K), ball_of((double)j)), ball_of((double)(d - j)));
        double value = ball_low(ball_div(above, below));
        if (!(value >= best)) best = value;
        if (j == d) break;
        head = ball_add(head, ball_of(low[j]));
        tail = ball_sub(tail, ball_of(low[j]));
    }
    return best;
}
