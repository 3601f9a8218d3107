/* test_pairwise.c - the methods made for pairs: the hinge problem against a search, the gradient of the cosine. */
#include "check.h"

#include "baselines/pairwise.h"
#include "linalg/linalg.h"

/* ---- the hinge problem ----------------------------------------------------------------------------------------------- */

enum { K = 2, M = 12 };

typedef struct tiny {
    double x[2 * M * K];
    int32_t row[2 * M], same[M];
    bdml_pair_hinge p;
} tiny;

static void make_tiny(tiny *t, bool similarity, double gamma)
{
    bdml_rng r = bdml_rng_make(5, 6);
    for (int k = 0; k < M; k++) {
        t->same[k] = k % 2;
        for (int e = 0; e < 2; e++) t->row[2 * k + e] = 2 * k + e;
        for (int j = 0; j < K; j++) {
            double a = bdml_rng_normal(&r);
            t->x[2 * k * K + j] = a;
            t->x[(2 * k + 1) * K + j] =
                t->same[k] ? a + (j ? 1.0 : 0.2) * bdml_rng_normal(&r) : bdml_rng_normal(&r);
        }
    }
    t->p = (bdml_pair_hinge){.k = K,
                             .m = M,
                             .x = t->x,
                             .row = t->row,
                             .same = t->same,
                             .similarity = similarity,
                             .gamma = gamma,
                             .gap = 1e-9,
                             .max_iter = 100000};
}

/* The objective from its definition. g NULL: no similarity. */
static double plain_objective(const tiny *t, const double *m, const double *g, double b)
{
    double loss = 0.0, away = 0.0;
    for (int k = 0; k < M; k++) {
        const double *x = t->x + t->row[2 * k] * K, *y = t->x + t->row[2 * k + 1] * K;
        double f = b;
        for (int i = 0; i < K; i++)
            for (int j = 0; j < K; j++) {
                f -= (x[i] - y[i]) * m[i * K + j] * (x[j] - y[j]);
                if (g) f += x[i] * g[i * K + j] * y[j];
            }
        loss += fmax(0.0, 1.0 - (t->same[k] ? f : -f)) / M;
    }
    for (int i = 0; i < K; i++)
        for (int j = 0; j < K; j++) {
            away += pow(m[i * K + j] - (i == j), 2);
            if (g) away += pow(g[i * K + j] - (i == j), 2);
        }
    return loss + 0.5 * t->p.gamma * away;
}

/* Random search over M = R'R, G and b, with a step that adapts, from v on: slow and plain. The problem is
 * convex, so that where no direction goes down it has its optimum. */
static double searched_optimum(const tiny *t, const double from[7])
{
    bdml_rng r = bdml_rng_make(7, 8);
    double v[7], best = INFINITY, step = 0.5;
    memcpy(v, from, sizeof v);
    for (int it = 0; it < 50000; it++) {
        double w[7];
        if (it % 5000 == 0) step = 0.3; /* corners hold it up: large steps again */
        for (int e = 0; e < 7; e++)
            w[e] = v[e] + (it && bdml_rng_uniform(&r) < 0.5 ? step * bdml_rng_normal(&r) : 0.0);
        double m[4] = {w[0] * w[0], w[0] * w[1], w[0] * w[1], w[1] * w[1] + w[2] * w[2]};
        double g[4] = {w[3], w[4], w[4], w[5]};
        double now = plain_objective(t, m, t->p.similarity ? g : NULL, w[6]);
        if (now < best) {
            best = now;
            memcpy(v, w, sizeof v);
            step = fmin(step * 1.5, 1.0);
        } else
            step = fmax(step * 0.99, 1e-7);
    }
    return best;
}

static void hinge_is_optimal(void **state)
{
    bdml_handle *h = *state;
    static const double gammas[] = {1.0, 0.1, 0.01};
    for (int similarity = 0; similarity < 2; similarity++)
        for (int k = 0; k < 3; k++) {
            tiny t;
            bdml_pair_solution s;
            make_tiny(&t, similarity, gammas[k]);
            check_ok(h, bdml_la_enter(h));
            check_ok(h, bdml_pair_hinge_solve(h, &t.p, &s));
            bdml_la_leave(h);
            double value = plain_objective(&t, s.metric, s.similarity, s.b);
            check_close(value, s.primal, 1e-12);
            check_true(s.dual <= s.primal && s.primal - s.dual <= 1e-9 * s.primal);
            check_true(s.metric[0] >= -1e-12 &&
                       s.metric[0] * s.metric[3] - s.metric[1] * s.metric[2] >= -1e-12);
            const double *m = s.metric, *g = s.similarity, eye[7] = {1, 0, 1, 1, 0, 1, 1};
            double r0 = sqrt(m[0]), r1 = m[1] / r0;
            double there[7] = {r0, r1, sqrt(fmax(m[3] - r1 * r1, 0.0)), 0, 0, 0, s.b};
            for (int e = 0; g && e < 3; e++) there[3 + e] = g[e + e / 2];
            double near = searched_optimum(&t, there), far = searched_optimum(&t, eye);
            check_close(near, s.primal, 2e-9 * s.primal); /* no direction goes down from there */
            check_true(far >= s.dual - 1e-12);            /* the bound is below what is found, */
            check_true(far <= 1.2 * s.primal);            /* which comes near by itself */
            bdml_pair_solution_free(&s);
        }
}

/* So close to the identity that it is the identity. */
static void hinge_stays_at_the_identity(void **state)
{
    bdml_handle *h = *state;
    tiny t;
    bdml_pair_solution s;
    make_tiny(&t, true, 1e9);
    check_ok(h, bdml_la_enter(h));
    check_ok(h, bdml_pair_hinge_solve(h, &t.p, &s));
    bdml_la_leave(h);
    for (int e = 0; e < K * K; e++) {
        check_close(s.metric[e], e % (K + 1) == 0, 1e-7);
        check_close(s.similarity[e], e % (K + 1) == 0, 1e-7);
    }
    bdml_pair_solution_free(&s);
}

/* ---- cosine similarity ------------------------------------------------------------------------------------------------ */

static void cosine_gradient(void **state)
{
    bdml_handle *h = *state;
    enum { Q = 3, D = 8, ROWS = 12 };
    bdml_rng r = bdml_rng_make(9, 10);
    double x[ROWS * D], start[Q * D], a[Q * D], gradient[Q * D];
    int32_t row[20], same[10];
    bdml_labelled_pairs pairs = {.count = 10, .row = row, .same = same};
    for (int e = 0; e < ROWS * D; e++) x[e] = bdml_rng_normal(&r);
    for (int e = 0; e < Q * D; e++) {
        start[e] = bdml_rng_normal(&r);
        a[e] = start[e] + 0.3 * bdml_rng_normal(&r);
    }
    for (int k = 0; k < 10; k++) {
        same[k] = k < 4;
        row[2 * k] = k;
        row[2 * k + 1] = (k + 1 + k % 2) % ROWS;
    }
    bdml_csml c = {.n = ROWS, .d = D, .q = Q, .x = x, .start = start, .pairs = &pairs, .beta = 0.7};
    check_ok(h, bdml_la_enter(h));
    check_ok(h, bdml_csml_init(h, &c));
    double value = bdml_csml_value(h, &c, a, gradient), climbed;
    for (int e = 0; e < Q * D; e++) {
        /* central differences: error about step^2 f''' / 6 + eps f / step, 1e-10 here */
        double step = 1e-5, keep = a[e];
        a[e] = keep + step;
        double up = bdml_csml_value(h, &c, a, NULL);
        a[e] = keep - step;
        double down = bdml_csml_value(h, &c, a, NULL);
        a[e] = keep;
        check_close(gradient[e], (up - down) / (2.0 * step), 1e-8);
    }
    check_ok(h, bdml_csml_climb(h, &c, 500, a, &climbed));
    check_true(climbed > value);
    check_close(climbed, bdml_csml_value(h, &c, a, gradient), 1e-12);
    bdml_la_leave(h);
    bdml_csml_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(hinge_is_optimal),
        handle_test(hinge_stays_at_the_identity),
        handle_test(cosine_gradient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
