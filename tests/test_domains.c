/* test_domains.c - methods for two domains, GFK, SGF and MMDT, against plain computations. */
#include "check.h"

#include <jansson.h>
#include <matio.h>

#include "baselines/domains.h"
#include "evaluate/adapt.h"

/* ---- geodesic ---------------------------------------------------------------------------------------- */

enum { D = 6, Q = 2 };

/* Orthonormal columns by Gram and Schmidt. */
static void orthonormal(bdml_rng *r, double p[Q][D])
{
    for (int k = 0; k < Q; k++) {
        for (int j = 0; j < D; j++) p[k][j] = bdml_rng_normal(r);
        for (int pass = 0; pass < 2; pass++)
            for (int l = 0; l < k; l++) {
                double dot = 0;
                for (int j = 0; j < D; j++) dot += p[k][j] * p[l][j];
                for (int j = 0; j < D; j++) p[k][j] -= dot * p[l][j];
            }
        double norm = 0;
        for (int j = 0; j < D; j++) norm += p[k][j] * p[k][j];
        for (int j = 0; j < D; j++) p[k][j] /= sqrt(norm);
    }
}

/* Points whose two principal components are the planted ones: +-3 p_0 and +-p_1, mean 0. */
static void plant(double p[Q][D], double x[8][D])
{
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < D; j++) x[i][j] = (i & 1 ? 1 : -1) * (i < 4 ? 3.0 * p[0][j] : p[1][j]);
}

/* Phi(t) Phi(t)' by the logarithm at the source: H = (I - PsPs') Pt (Ps'Pt)^-1 = U tan(theta) V',
 * Phi(t) = Ps V cos(t theta) + U sin(t theta). 2 x 2 inverse and eigenvectors by hand. */
static void projector(double ps[Q][D], double pt[Q][D], double t, double out[D][D])
{
    double c[Q][Q] = {{0}}, h[Q][D], g[Q][Q] = {{0}}, v[Q][Q];
    for (int a = 0; a < Q; a++)
        for (int b = 0; b < Q; b++)
            for (int j = 0; j < D; j++) c[a][b] += ps[a][j] * pt[b][j];
    double det = c[0][0] * c[1][1] - c[0][1] * c[1][0];
    double inverse[Q][Q] = {{c[1][1] / det, -c[0][1] / det}, {-c[1][0] / det, c[0][0] / det}};
    for (int b = 0; b < Q; b++)
        for (int j = 0; j < D; j++) {
            h[b][j] = 0;
            for (int a = 0; a < Q; a++) {
                double outside = pt[a][j];
                for (int l = 0; l < Q; l++) outside -= c[l][a] * ps[l][j];
                h[b][j] += outside * inverse[a][b];
            }
        }
    for (int a = 0; a < Q; a++)
        for (int b = 0; b < Q; b++)
            for (int j = 0; j < D; j++) g[a][b] += h[a][j] * h[b][j];
    double turn = 0.5 * atan2(2 * g[0][1], g[0][0] - g[1][1]);
    v[0][0] = cos(turn), v[1][0] = sin(turn), v[0][1] = -sin(turn), v[1][1] = cos(turn);
    memset(out, 0, sizeof(double) * D * D);
    for (int i = 0; i < Q; i++) {
        double phi[D], u[D], tangent = 0;
        for (int j = 0; j < D; j++) u[j] = h[0][j] * v[0][i] + h[1][j] * v[1][i];
        for (int j = 0; j < D; j++) tangent += u[j] * u[j];
        tangent = sqrt(tangent);
        double theta = atan(tangent);
        for (int j = 0; j < D; j++)
            phi[j] = (ps[0][j] * v[0][i] + ps[1][j] * v[1][i]) * cos(t * theta) +
                     u[j] / tangent * sin(t * theta);
        for (int a = 0; a < D; a++)
            for (int b = 0; b < D; b++) out[a][b] += phi[a] * phi[b];
    }
}

static void learn_flow(bdml_handle *h, const char *name, double xs[8][D], double xt[8][D],
                       double m[D][D])
{
    int64_t y[8] = {0, 1, 0, 1, 0, 1, 0, 1};
    bdml_dataset *data = NULL;
    bdml_model *model = NULL;
    bdml_domain target = {8, &xt[0][0], NULL};
    check_ok(h, bdml_dataset_from_arrays(h, 8, D, &xs[0][0], D, y, &data));
    const bdml_method *method = bdml_method_find(h, name, strlen(name));
    check_true(method && (method->uses & BDML_USES_DOMAINS));
    check_ok(h, bdml_train_adapted(h, &h->options, method, data, &target, &model));
    check_ok(h, bdml_model_get_metric(h, model, &m[0][0]));
    bdml_free_model(model);
    bdml_free_dataset(data);
}

/* Simpson with 200 intervals: the integrand is smooth, its error below 1e-10. */
static void test_gfk_integral(void **state)
{
    bdml_handle *h = *state;
    check_ok(h, bdml_set(h, "subspace", "2"));
    for (int trial = 0; trial < 5; trial++) {
        bdml_rng r = bdml_rng_make(7, (uint64_t)trial);
        double ps[Q][D], pt[Q][D], xs[8][D], xt[8][D], m[D][D], p[D][D], sum[D][D] = {{0}};
        orthonormal(&r, ps);
        orthonormal(&r, pt);
        plant(ps, xs);
        plant(pt, xt);
        learn_flow(h, "gfk", xs, xt, m);
        for (int k = 0; k <= 200; k++) {
            double weight = (k == 0 || k == 200 ? 1.0 : k & 1 ? 4.0 : 2.0) / 600.0;
            projector(ps, pt, k / 200.0, p);
            for (int e = 0; e < D * D; e++) (&sum[0][0])[e] += weight * (&p[0][0])[e];
        }
        for (int e = 0; e < D * D; e++) check_close((&m[0][0])[e], (&sum[0][0])[e], 1e-9);
    }
}

static void test_sgf_mean(void **state)
{
    bdml_handle *h = *state;
    bdml_rng r = bdml_rng_make(8, 0);
    double ps[Q][D], pt[Q][D], xs[8][D], xt[8][D], m[D][D], p[D][D], sum[D][D] = {{0}}, g[D][D];
    orthonormal(&r, ps);
    orthonormal(&r, pt);
    plant(ps, xs);
    plant(pt, xt);
    check_ok(h, bdml_set(h, "subspace", "2"));
    check_ok(h, bdml_set(h, "flow-steps", "4"));
    learn_flow(h, "sgf", xs, xt, m);
    for (int k = 0; k <= 4; k++) {
        projector(ps, pt, k / 4.0, p);
        for (int e = 0; e < D * D; e++) (&sum[0][0])[e] += (&p[0][0])[e] / 5.0;
    }
    for (int e = 0; e < D * D; e++) check_close((&m[0][0])[e], (&sum[0][0])[e], 1e-10);
    /* many steps are the kernel: the ends have weight 1/(N+1) instead of 1/(2N), so 1/N apart */
    check_ok(h, bdml_set(h, "flow-steps", "2000"));
    learn_flow(h, "sgf", xs, xt, m);
    learn_flow(h, "gfk", xs, xt, g);
    for (int e = 0; e < D * D; e++) check_close((&m[0][0])[e], (&g[0][0])[e], 2.0 / 2000);
}

/* The same subspace twice: the kernel is its projector. */
static void test_flow_nowhere(void **state)
{
    bdml_handle *h = *state;
    bdml_rng r = bdml_rng_make(9, 0);
    double ps[Q][D], x[8][D], m[D][D];
    orthonormal(&r, ps);
    plant(ps, x);
    check_ok(h, bdml_set(h, "subspace", "2"));
    learn_flow(h, "gfk", x, x, m);
    for (int a = 0; a < D; a++)
        for (int b = 0; b < D; b++)
            check_close(m[a][b], ps[0][a] * ps[0][b] + ps[1][a] * ps[1][b], 1e-12);
}

/* ---- support vector machine ------------------------------------------------------------------------------ */

typedef struct plane {
    double x[8][2];
} plane;
static double plane_dot(const void *user, int64_t i, const double *w)
{
    const plane *p = user;
    return p->x[i][0] * w[0] + p->x[i][1] * w[1];
}
static void plane_add(const void *user, int64_t i, double s, double *w)
{
    const plane *p = user;
    w[0] += s * p->x[i][0];
    w[1] += s * p->x[i][1];
}
static double plane_square(const void *user, int64_t i)
{
    return plane_dot(user, i, ((const plane *)user)->x[i]);
}

static double plane_objective(const plane *p, const signed char *y, const double *c,
                              const double *margin, double a, double b)
{
    double w[2] = {a, b}, sum = 0.5 * (a * a + b * b);
    for (int i = 0; i < 8; i++) sum += c[i] * fmax(0.0, margin[i] - y[i] * plane_dot(p, i, w));
    return sum;
}

/* A grid that closes in on the minimum of a convex function of two numbers. */
static void test_svm(void **state)
{
    bdml_handle *h = *state;
    for (int trial = 0; trial < 10; trial++) {
        bdml_rng r = bdml_rng_make(1, (uint64_t)trial);
        plane p;
        signed char y[8];
        double c[8], margin[8], alpha[8] = {0}, w[2], best[2] = {0, 0}, step = 4.0;
        bdml_svm_result result;
        for (int i = 0; i < 8; i++) {
            y[i] = i & 1 ? 1 : -1;
            p.x[i][0] = bdml_rng_normal(&r) + y[i];
            p.x[i][1] = i == 7 && trial == 3 ? 0.0 : bdml_rng_normal(&r);
            if (i == 7 && trial == 3) p.x[i][0] = 0.0; /* a row of zeros */
            c[i] = 0.2 + bdml_rng_uniform(&r);
            margin[i] = 0.5 + bdml_rng_uniform(&r);
        }
        bdml_svm_rows rows = {8, 2, plane_dot, plane_add, plane_square, &p};
        check_ok(h, bdml_svm_solve(h, 1, &rows, y, c, margin, 1e-9, 100000, alpha, w, &result));
        for (int round = 0; round < 60; round++, step *= 0.7) {
            double at[2] = {best[0], best[1]},
                   least = plane_objective(&p, y, c, margin, at[0], at[1]);
            for (int a = -4; a <= 4; a++)
                for (int b = -4; b <= 4; b++) {
                    double f = plane_objective(&p, y, c, margin, at[0] + a * step / 4,
                                               at[1] + b * step / 4);
                    if (f < least)
                        least = f, best[0] = at[0] + a * step / 4, best[1] = at[1] + b * step / 4;
                }
        }
        double least = plane_objective(&p, y, c, margin, best[0], best[1]);
        check_close(result.primal, plane_objective(&p, y, c, margin, w[0], w[1]), 1e-12);
        check_true(result.dual <= least + 1e-12 && result.primal <= least * (1 + 1e-6) + 1e-9);
        check_true(result.primal - result.dual <= 1e-9 * result.primal);
        for (int i = 0; i < 8; i++) check_true(alpha[i] >= 0 && alpha[i] <= c[i]);
    }
}

/* ---- MMDT -------------------------------------------------------------------------------------------------- */

typedef struct domains {
    double xs[18][3], xt[12][3];
    int32_t ys[18], yt[12];
} domains;

static void make_domains(domains *m)
{
    bdml_rng r = bdml_rng_make(3, 0);
    for (int i = 0; i < 18; i++)
        for (int j = 0; j < 3; j++)
            m->xs[i][j] = (m->ys[i] = i % 3) == j ? 2 + bdml_rng_normal(&r) : bdml_rng_normal(&r);
    for (int i = 0; i < 12; i++)
        for (int j = 0; j < 3; j++) { /* the axes change places */
            int32_t y = i % 3;
            m->xt[i][j] =
                (y + 1) % 3 == j ? 2 + 0.3 * bdml_rng_normal(&r) : 0.3 * bdml_rng_normal(&r);
            m->yt[i] = i < 6 ? y : -1;
        }
}

/* The objective at the head of mmdt.c, word for word. */
static double mmdt_objective(const domains *m, const bdml_mmdt *f, double cs, double ct)
{
    double sum = 0;
    for (int e = 0; e < 3 * 4; e++) sum += 0.5 * f->w[e] * f->w[e];
    for (int k = 0; k < 3; k++) {
        const double *t = f->theta + k * 4;
        for (int j = 0; j < 4; j++) sum += 0.5 * t[j] * t[j];
        for (int i = 0; i < 18; i++) {
            double s = t[0] * m->xs[i][0] + t[1] * m->xs[i][1] + t[2] * m->xs[i][2] + t[3];
            sum += cs * fmax(0, 1 - (m->ys[i] == k ? s : -s));
        }
        for (int i = 0; i < 12; i++) {
            if (m->yt[i] < 0) continue;
            double s = t[3];
            for (int a = 0; a < 3; a++) {
                const double *w = f->w + a * 4;
                s += t[a] * (w[0] * m->xt[i][0] + w[1] * m->xt[i][1] + w[2] * m->xt[i][2] + w[3]);
            }
            sum += ct * fmax(0, 1 - (m->yt[i] == k ? s : -s));
        }
    }
    return sum;
}

static void test_mmdt(void **state)
{
    bdml_handle *h = *state;
    domains m;
    make_domains(&m);
    bdml_domain target = {12, &m.xt[0][0], m.yt};
    bdml_training t = {18, 3, &m.xs[0][0], m.ys, 3, NULL, &target, NULL, NULL};
    bdml_mmdt_settings s = {.source = 1, .target = 2, .gap = 1e-7, .change = 1e-6};
    double last = INFINITY;
    for (s.turns = 1; s.turns <= 6; s.turns++) {
        bdml_mmdt f;
        check_ok(h, bdml_mmdt_fit(h, &t, &s, &f));
        check_close(f.objective, mmdt_objective(&m, &f, 1, 2), 1e-9 * f.objective);
        check_true(f.gap <= 1e-7);
        check_true(f.objective <= last * (1 + 1e-6)); /* falls, up to the gaps of the steps */
        last = f.objective;
        bdml_rng r = bdml_rng_make(4, 0); /* W is optimal for its theta: no nearby W is better */
        for (int trial = 0; trial < 200; trial++) {
            double before[12];
            memcpy(before, f.w, sizeof before);
            for (int e = 0; e < 12; e++) f.w[e] += 0.05 * bdml_rng_normal(&r);
            check_true(mmdt_objective(&m, &f, 1, 2) >= last * (1 - 2e-7));
            memcpy(f.w, before, sizeof before);
        }
        bdml_mmdt_free(&f);
    }
    /* the rows without labels here were drawn like the others: the transform finds the exchanged axes */
    int32_t label[12];
    check_ok(h, bdml_classify_mmdt(h, &h->options, &t, 12, &m.xt[0][0], label));
    for (int i = 0; i < 12; i++) check_true(label[i] == i % 3);
    target.y = NULL;
    check_fails(h, bdml_classify_mmdt(h, &h->options, &t, 12, &m.xt[0][0], label), BDML_ERR_DATA,
                "semi-supervised");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(test_gfk_integral), handle_test(test_sgf_mean), handle_test(test_flow_nowhere),
        handle_test(test_svm),          handle_test(test_mmdt),
    };
    return cmocka_run_group_tests_name("adapt", tests, NULL, NULL);
}
