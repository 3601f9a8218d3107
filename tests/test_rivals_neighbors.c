/* test_rivals_neighbors.c - lmnn, nca, boost and the minimiser under nca, against plain loops over the
 * formulas at the head of each method's file. */
#include "rivals.h"

#include "baselines/lmnn.h"
#include "baselines/nca.h"
#include "linalg/linalg.h"
#include "baselines/lbfgs.h"

/* ---- lbfgs --------------------------------------------------------------------------------------------- */

/* Rosenbrock's valley in n dimensions; the minimum is 0 at (1, ..., 1). */
static bdml_status valley(void *user, const double *x, double *f, double *g)
{
    int n = *(int *)user;
    *f = 0.0;
    memset(g, 0, sizeof *g * (size_t)n);
    for (int i = 0; i + 1 < n; i++) {
        double a = x[i + 1] - x[i] * x[i], b = 1.0 - x[i];
        *f += 100.0 * a * a + b * b;
        g[i] += -400.0 * x[i] * a - 2.0 * b;
        g[i + 1] += 200.0 * a;
    }
    return BDML_OK;
}

static void test_lbfgs_finds_the_end_of_the_valley(void **state)
{
    bdml_handle *h = *state;
    int n = 10;
    double x[10];
    bdml_lbfgs_settings s = bdml_lbfgs_defaults();
    bdml_lbfgs_result r;
    for (int i = 0; i < n; i++) x[i] = i % 2 ? 1.0 : -1.2;
    s.gradient = 1e-9;
    check_ok(h, bdml_lbfgs(h, n, x, valley, &n, &s, &r));
    assert_int_equal(r.stop, BDML_LBFGS_GRADIENT);
    for (int i = 0; i < n; i++)
        check_close(x[i], 1.0, 1e-6); /* |g| <= 1e-9, least curvature ~ 1e-2 */
    s.max_iter = 3;
    for (int i = 0; i < n; i++) x[i] = -1.2;
    check_ok(h, bdml_lbfgs(h, n, x, valley, &n, &s, &r));
    assert_int_equal(r.stop, BDML_LBFGS_ITERATIONS);
    assert_int_equal(r.iterations, 3);
}

/* ---- nca ------------------------------------------------------------------------------------------------ */

/* -(1/n) sum_i p_i at the map l of q rows. */
static double plain_nca(const bdml_dataset *data, int q, const double *l)
{
    double sum = 0.0;
    for (int64_t i = 0; i < data->n; i++) {
        double own = 0.0, all = 0.0, least = INFINITY;
        double *v = calloc((size_t)data->n, sizeof *v);
        for (int64_t j = 0; j < data->n; j++) {
            for (int k = 0; k < q; k++) {
                double z = 0.0;
                for (int a = 0; a < data->d; a++)
                    z += l[k * data->d + a] * (data->x[i * data->d + a] - data->x[j * data->d + a]);
                v[j] += z * z;
            }
            if (j != i && v[j] < least) least = v[j];
        }
        for (int64_t j = 0; j < data->n; j++) {
            if (j == i) continue;
            double e = exp(least - v[j]);
            all += e;
            if (data->y[j] == data->y[i]) own += e;
        }
        sum += own / all;
        free(v);
    }
    return -sum / (double)data->n;
}

static bdml_training training_of(const bdml_dataset *data)
{
    return (bdml_training){data->n, data->d, data->x, data->y, data->classes,
                           NULL,    NULL,    NULL,    NULL};
}

/* At small sizes every term counts, at large ones most groups of neighbours are left out. */
static void test_nca_objective_and_gradient(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = clouds(h, 157, 4, 3, 1.0);
    bdml_training t = training_of(data);
    bdml_nca a;
    check_ok(h, bdml_la_enter(h));
    check_ok(h, bdml_nca_init(h, &t, 3, &a));
    static const double sizes[] = {0.05, 1.0, 6.0};
    for (int s = 0; s < 3; s++) {
        double l[12], g[12], f, up, down;
        bdml_rng rng = bdml_rng_make(5, (uint64_t)s);
        for (int e = 0; e < 12; e++) l[e] = sizes[s] * bdml_rng_normal(&rng);
        check_ok(h, bdml_nca_objective(&a, l, &f, g));
        /* distances by products: their rounding is eps times the largest squared norm, below 1e5 */
        check_close(f, plain_nca(data, 3, l), 1e-10);
        for (int width = 0; width <= bdml_nca_width(); width++) {
            double again;
            a.kernel = bdml_nca_kernel_of(width);
            check_ok(h, bdml_nca_objective(&a, l, &again, NULL));
            check_close(again, f, 1e-13); /* exponentials are to 3e-14 */
        }
        for (int e = 0; e < 12; e++) {
            double step = 1e-5 * sizes[s], keep = l[e];
            l[e] = keep + step;
            check_ok(h, bdml_nca_objective(&a, l, &up, NULL));
            l[e] = keep - step;
            check_ok(h, bdml_nca_objective(&a, l, &down, NULL));
            l[e] = keep;
            /* step^2 times the third derivative, and rounding over the step */
            check_close(g[e] * sizes[s], (up - down) / (2e-5), 1e-6);
        }
    }
    bdml_nca_free(&a);
    bdml_la_leave(h);
    bdml_free_dataset(data);
}

static void test_nca_learns(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = clouds(h, 200, 5, 2, 2.0);
    double identity[25] = {0};
    set_all(h, "threads 1");
    for (int j = 0; j < 5; j++) identity[j * 6] = 1.0;
    static const char *const starts[] = {"identity", "pca", "lda"};
    for (int q = 0; q <= 2; q += 2)
        for (int k = 0; k < 3; k++) {
            check_ok(h, bdml_set(h, "components", q ? "2" : "0"));
            check_ok(h, bdml_set(h, "nca-start", starts[k]));
            bdml_model *model = fit(h, data, "nca");
            assert_int_equal(model->q, q ? 2 : 5);
            check_close(stopping(model, "objective"), plain_nca(data, model->q, model->l), 1e-9);
            check_true(stopping(model, "objective") < plain_nca(data, 5, identity) - 0.02);
            bdml_free_model(model);
        }
    bdml_free_dataset(data);
}

/* ---- lmnn ------------------------------------------------------------------------------------------------ */

/* The k nearest of the own class, ties to the lower row. */
static void plain_targets(const bdml_dataset *data, int k, int *target)
{
    double identity[256] = {0};
    for (int j = 0; j < data->d; j++) identity[j * (data->d + 1)] = 1.0;
    for (int64_t i = 0; i < data->n; i++) {
        bool taken[256] = {false};
        for (int c = 0; c < k; c++) {
            int best = -1;
            for (int64_t j = 0; j < data->n; j++)
                if (j != i && !taken[j] && data->y[j] == data->y[i] &&
                    (best < 0 ||
                     plain_squared(data, identity, i, j) < plain_squared(data, identity, i, best)))
                    best = (int)j;
            target[i * k + c] = best;
            if (best >= 0) taken[best] = true;
        }
    }
}

/* Objective over (1-mu) times the number of targets, by loops over all triplets. */
static double plain_lmnn(const bdml_dataset *data, int k, const int *target, double mu,
                         const double *m)
{
    double pull = 0.0, push = 0.0, count = 0.0;
    for (int64_t i = 0; i < data->n; i++)
        for (int c = 0; c < k; c++) {
            if (target[i * k + c] < 0) continue;
            double near = plain_squared(data, m, i, target[i * k + c]);
            pull += near;
            count += 1.0;
            for (int64_t l = 0; l < data->n; l++)
                if (data->y[l] != data->y[i])
                    push += fmax(1.0 + near - plain_squared(data, m, i, l), 0.0);
        }
    return (pull + mu / (1.0 - mu) * push) / count;
}

/* Best of a random search over M = L'L around the best so far, its reach shrinking: slow and independent. */
static double search(const bdml_dataset *data, int d, double (*value)(const void *, const double *),
                     const void *user, double *l, int steps)
{
    double m[16], best = INFINITY, reach = 1.0;
    bdml_rng rng = bdml_rng_make(1, 2);
    (void)data;
    for (int s = 0; s < steps; s++) {
        double trial[16], size = 0.0;
        for (int e = 0; e < d * d; e++) size += l[e] * l[e];
        for (int e = 0; e < d * d; e++)
            trial[e] = l[e] + (s ? reach * sqrt(size) * bdml_rng_normal(&rng) : 0.0);
        for (int a = 0; a < d; a++)
            for (int b = 0; b < d; b++) {
                m[a * d + b] = 0.0;
                for (int k = 0; k < d; k++) m[a * d + b] += trial[k * d + a] * trial[k * d + b];
            }
        double f = value(user, m);
        if (f < best) {
            best = f;
            memcpy(l, trial, sizeof *l * (size_t)(d * d));
            reach = fmin(2.0 * reach, 1.0);
        } else {
            reach = fmax(0.97 * reach, 1e-7);
        }
    }
    return best;
}

typedef struct lmnn_case {
    const bdml_dataset *data;
    const int *target;
    double mu;
} lmnn_case;

static double lmnn_value(const void *user, const double *m)
{
    const lmnn_case *c = user;
    return plain_lmnn(c->data, 3, c->target, c->mu, m);
}

static void test_lmnn_is_optimal(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = clouds(h, 40, 2, 2, 2.0);
    int target[40 * 3];
    double m[4], l[4] = {1, 0, 0, 1};
    lmnn_case c = {data, target, 0.5};
    set_all(h, "threads 1 gap 1e-5");
    plain_targets(data, 3, target);
    bdml_model *model = fit(h, data, "lmnn");
    check_ok(h, bdml_model_get_metric(h, model, m));
    double found = stopping(model, "objective"), other;
    check_true(stopping(model, "reached") <= 1e-5);
    check_close(found, lmnn_value(&c, m), 1e-8 * found);
    other = search(data, 2, lmnn_value, &c, l, 4000);
    check_true(other >= found * (1.0 - 1e-5)); /* the certificate: nobody gets below */
    check_true(other <= found * 1.01);         /* and the search gets near */
    bdml_free_model(model);
    bdml_free_dataset(data);
}

/* min <G,M> + w sum xi_t, <A_t,M> + xi_t - s_t = 1, over the n k n' triplets; one target a point. */
static double lmnn_by_csdp(const bdml_dataset *data, const int *target, double weight)
{
    char path[] = "/tmp/bdml_csdp_XXXXXX";
    int d = data->d, count = 0, n = (int)data->n;
    double g[16] = {0};
    for (int i = 0; i < n; i++)
        for (int l = 0; l < n; l++) count += data->y[l] != data->y[i];
    FILE *f = fdopen(mkstemp(path), "w");
    fprintf(f, "%d\n2\n%d -%d\n", count, d, 2 * count);
    for (int t = 0; t < count; t++) fprintf(f, "1 ");
    fprintf(f, "\n");
    for (int i = 0; i < n; i++)
        for (int a = 0; a < d; a++)
            for (int b = 0; b < d; b++)
                g[a * d + b] += (data->x[i * d + a] - data->x[target[i] * d + a]) *
                                (data->x[i * d + b] - data->x[target[i] * d + b]) / n;
    for (int a = 0; a < d; a++)
        for (int b = a; b < d; b++) fprintf(f, "0 1 %d %d %.17g\n", a + 1, b + 1, -g[a * d + b]);
    for (int t = 1; t <= count; t++) fprintf(f, "0 2 %d %d %.17g\n", t, t, -weight);
    for (int i = 0, t = 0; i < n; i++)
        for (int l = 0; l < n; l++) {
            if (data->y[l] == data->y[i]) continue;
            const double *x = data->x + i * d, *near = data->x + target[i] * d,
                         *far = data->x + l * d;
            t++;
            for (int a = 0; a < d; a++)
                for (int b = a; b < d; b++)
                    fprintf(f, "%d 1 %d %d %.17g\n", t, a + 1, b + 1,
                            (x[a] - far[a]) * (x[b] - far[b]) -
                                (x[a] - near[a]) * (x[b] - near[b]));
            fprintf(f, "%d 2 %d %d 1\n%d 2 %d %d -1\n", t, t, t, t, count + t, count + t);
        }
    fclose(f);
    return csdp_optimum(path);
}

static void test_lmnn_against_csdp(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = clouds(h, 14, 3, 2, 2.0);
    int target[14];
    set_all(h, "threads 1 gap 1e-6 targets 1");
    plain_targets(data, 1, target);
    bdml_model *model = fit(h, data, "lmnn");
    double want = lmnn_by_csdp(data, target, 1.0 / 14);
    /* both are within 1e-6 of the optimum, CSDP by its own gap of 1e-8 */
    if (!isnan(want)) check_close(stopping(model, "objective"), want, 2e-6 * want);
    bdml_free_model(model);
    bdml_free_dataset(data);
}

/* Gradient against differences of the objective, and the objective against plain loops. */
static void test_lmnn_low_gradient(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = clouds(h, 30, 4, 2, 1.5);
    bdml_lmnn a = {.n = 30, .d = 4, .k = 2, .x = data->x, .y = data->y, .push = 2.0};
    bdml_lmnn_low low;
    bdml_constraints *c = NULL;
    double l[8], g[8], ignored[8], m[16], f, up, down;
    int target[60];
    int64_t steps = 0;
    bdml_rng rng = bdml_rng_make(3, 1);
    check_ok(h, bdml_la_enter(h));
    plain_targets(data, 2, target);
    check_ok(h, bdml_lmnn_targets(h, &h->options.neighbors, 4, NULL, &a));
    check_ok(h, bdml_lmnn_first(h, &h->options.neighbors, &a, 15,
                                &c)); /* all points of the other class */
    check_ok(h, bdml_lmnn_low_init(h, &a, c, 2, &low));
    for (int e = 0; e < 8; e++) l[e] = 0.4 * bdml_rng_normal(&rng);
    check_ok(h, bdml_lmnn_low_objective(&low, l, &f, g));
    for (int e = 0; e < 16; e++) m[e] = l[e / 4] * l[e % 4] + l[4 + e / 4] * l[4 + e % 4];
    check_close(f, plain_lmnn(data, 2, target, 2.0 / 3.0, m), 1e-12 * f);
    for (int e = 0; e < 8; e++) { /* so short a step meets no kink; quadratic between them */
        double keep = l[e];
        l[e] = keep + 1e-6;
        check_ok(h, bdml_lmnn_low_objective(&low, l, &up, ignored));
        l[e] = keep - 1e-6;
        check_ok(h, bdml_lmnn_low_objective(&low, l, &down, ignored));
        l[e] = keep;
        check_close(g[e], (up - down) / 2e-6, 1e-7 * f);
    }
    check_ok(h, bdml_lmnn_low_minimise(h, &h->options.solve, &a, c, 1e-3, 2, l, &down, &steps));
    check_true(down < f && steps > 0);
    check_ok(h, bdml_lmnn_low_objective(&low, l, &up, ignored));
    check_close(up, down, 1e-12 * f);
    bdml_lmnn_low_free(&low);
    bdml_lmnn_free(&a);
    bdml_free_constraints(c);
    bdml_la_leave(h);
    bdml_free_dataset(data);
}

/* One direction in the plane: all of them are tried, each at its best length. */
static void test_lmnn_of_rank_one(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = clouds(h, 40, 2, 2, 2.0);
    int target[40 * 3];
    double best = INFINITY, m[4];
    set_all(h, "threads 1 gap 1e-4");
    plain_targets(data, 3, target);
    bdml_model *model = fit(h, data, "lmnn");
    double convex = stopping(model, "objective");
    bdml_free_model(model);
    check_ok(h, bdml_set(h, "components", "1"));
    model = fit(h, data, "lmnn");
    assert_int_equal(model->q, 1);
    double found = stopping(model, "objective");
    check_ok(h, bdml_model_get_metric(h, model, m));
    check_close(found, plain_lmnn(data, 3, target, 0.5, m), 1e-8 * found);
    for (int angle = 0; angle < 90; angle++)
        for (int size = 0; size < 60; size++) {
            double c = cos(angle * M_PI / 90), s = sin(angle * M_PI / 90);
            double square = 1e-2 * pow(1.15, size);
            double trial[4] = {square * c * c, square * c * s, square * c * s, square * s * s};
            best = fmin(best, plain_lmnn(data, 3, target, 0.5, trial));
        }
    check_true(found >= convex * (1.0 - 1e-4)); /* no rank does better */
    check_true(found <= best);                  /* nor does any place of the grid */
    bdml_free_model(model);
    bdml_free_dataset(data);
}

/* The bundled sets: certified, and the objective is that of all triplets. */
static void test_lmnn_on_wine(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = NULL;
    static int target[178 * 3];
    double m[169];
    set_all(h, "threads 1");
    check_ok(h, bdml_read_dataset(h, source_path("data/wine.csv"), &data));
    plain_targets(data, 3, target);
    bdml_model *model = fit(h, data, "lmnn");
    check_ok(h, bdml_model_get_metric(h, model, m));
    check_true(stopping(model, "reached") <= 1e-3);
    double found = stopping(model, "objective");
    check_close(found, plain_lmnn(data, 3, target, 0.5, m), 1e-6 * found);
    bdml_free_model(model);
    check_ok(h, bdml_set(h, "passes", "2"));
    model = fit(h, data, "lmnn");
    check_true(stopping(model, "reached") <= 1e-3);
    bdml_free_model(model);
    bdml_free_dataset(data);
}

static void test_lmnn_without_targets(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = clouds(h, 5, 2, 5, 1.0);
    bdml_model *model = NULL;
    check_ok(h, bdml_set(h, "method", "lmnn"));
    check_fails(h, bdml_train(h, data, NULL, &model), BDML_ERR_DATA, "no class has two points");
    bdml_free_dataset(data);
}

/* ---- boost ------------------------------------------------------------------------------------------------ */

typedef struct boost_case {
    const bdml_dataset *data;
    const bdml_constraints *c;
    double v;
} boost_case;

static double value_of(const boost_case *c, const double *m, int64_t t)
{
    int32_t f = c->c->far[t], g = c->c->near[t];
    return plain_squared(c->data, m, c->c->pi[f], c->c->pj[f]) -
           plain_squared(c->data, m, c->c->pi[g], c->c->pj[g]);
}

static double boost_value(const void *user, const double *m)
{
    const boost_case *c = user;
    double sum = 0.0, trace = 0.0;
    for (int64_t t = 0; t < c->c->m; t++) sum += exp(-value_of(c, m, t));
    for (int j = 0; j < c->data->d; j++) trace += m[j * (c->data->d + 1)];
    return log(sum / (double)c->c->m) + c->v * trace;
}

/* S = sum p_t A_t, p in proportion to exp(-<A_t,M>); d = 2. Returns the largest eigenvalue. */
static double weighted_sum(const boost_case *c, const double *m, double *s)
{
    double sum = 0.0;
    memset(s, 0, 4 * sizeof *s);
    for (int64_t t = 0; t < c->c->m; t++) sum += exp(-value_of(c, m, t));
    for (int64_t t = 0; t < c->c->m; t++)
        for (int a = 0; a < 2; a++)
            for (int b = 0; b < 2; b++) {
                double unit[4] = {0};
                unit[a * 2 + b] = 1.0; /* <A_t, e_a e_b'> */
                s[a * 2 + b] += exp(-value_of(c, m, t)) / sum * value_of(c, unit, t);
            }
    double mean = 0.5 * (s[0] + s[3]), half = 0.5 * (s[0] - s[3]);
    return mean + sqrt(half * half + s[1] * s[2]);
}

static void test_boost_is_optimal(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = clouds(h, 40, 2, 2, 1.5);
    boost_case c = {.data = data};
    bdml_constraints *mined = NULL;
    double m[4], s[4], zero[4] = {0}, l[4] = {0.3, 0, 0, 0.3};
    set_all(h, "threads 1 gap 1e-7 boost-trace 0.05");
    bdml_model *model = fit(h, data, "boost");
    bdml_mining how = bdml_mining_from_options(&h->options);
    check_ok(h, bdml_mine(h, data->n, 2, data->x, 2, data->y, &how, &mined));
    c.c = mined;
    c.v = 0.05 * weighted_sum(&c, zero, s);
    check_ok(h, bdml_model_get_metric(h, model, m));
    double found = stopping(model, "objective");
    check_close(found, boost_value(&c, m), 1e-9);
    /* the two conditions of optimality */
    check_true(weighted_sum(&c, m, s) <= c.v * (1.0 + 2e-6));
    double along = s[0] * m[0] + s[1] * m[1] + s[2] * m[2] + s[3] * m[3];
    check_close(along, c.v * (m[0] + m[3]), 1e-5 * along);
    double other = search(data, 2, boost_value, &c, l, 4000);
    check_true(other >= found - 1e-6);
    check_true(other <= found + 1e-3 * fabs(found));
    bdml_free_constraints(mined);
    bdml_free_model(model);
    bdml_free_dataset(data);
}

/* Both forms end at the same metric: the objective is strictly convex along the segment between two optima
 * of a problem as general as this one. */
static void test_boost_forms_agree(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = clouds(h, 60, 3, 2, 1.0);
    double a[9], b[9], f[2];
    set_all(h, "threads 1 gap 1e-6 boost-trace 0.05");
    bdml_model *model = fit(h, data, "boost");
    f[0] = stopping(model, "objective");
    check_ok(h, bdml_model_get_metric(h, model, a));
    bdml_free_model(model);
    check_ok(h, bdml_set(h, "boost-form", "stagewise"));
    model = fit(h, data, "boost");
    f[1] = stopping(model, "objective");
    check_true(stopping(model, "reached") <= 1e-5);
    check_ok(h, bdml_model_get_metric(h, model, b));
    check_close(f[0], f[1],
                1e-6 * fabs(f[0])); /* the gap is that of slopes, 1e-5 of the trace's share */
    for (int e = 0; e < 9; e++) check_close(a[e], b[e], 1e-3 * (a[0] + a[4] + a[8]));
    bdml_free_model(model);
    bdml_free_dataset(data);
}

/* Classes far apart: every triplet can be met by more than a small charge on the trace costs, the objective
 * has no minimum, and the fit still ends, soon, with a metric that meets them all. */
static void test_boost_without_minimum(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = clouds(h, 30, 2, 2, 40.0);
    boost_case c = {.data = data};
    bdml_constraints *mined = NULL;
    double m[4];
    static const char *const forms[] = {"corrective", "stagewise"};
    set_all(h, "threads 1 boost-trace 1e-6");
    bdml_mining how = bdml_mining_from_options(&h->options);
    check_ok(h, bdml_mine(h, data->n, 2, data->x, 2, data->y, &how, &mined));
    c.c = mined;
    for (int k = 0; k < 2; k++) {
        check_ok(h, bdml_set(h, "boost-form", forms[k]));
        bdml_model *model = fit(h, data, "boost");
        check_true(stopping(model, "objective") < -log((double)mined->m));
        check_true(stopping(model, "iterations") < 100);
        check_ok(h, bdml_model_get_metric(h, model, m));
        double sum = 0.0, least = INFINITY;
        for (int64_t t = 0; t < mined->m; t++) {
            double value = value_of(&c, m, t);
            check_true(value > 0.0);
            least = BDML_MIN(least, value);
            sum += exp(-0.5 * value);
        }
        check_true(log(sum / (double)mined->m) >
                   -log((double)mined->m)); /* half of it shows nothing */
        check_true(least > 0.0 && m[0] + m[3] < 1e3);
        bdml_free_model(model);
    }
    bdml_free_constraints(mined);
    bdml_free_dataset(data);
}

/* ---- all ----------------------------------------------------------------------------------------------------- */

static void test_same_bits_with_two_threads(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = part_of(h, "data/segment.csv", 5);
    static const char *methods[] = {"nca", "lmnn", "boost"};
    set_all(h, "components 3 nca-steps 5");
    for (int k = 0; k < 3; k++) {
        check_ok(h, bdml_set(h, "threads", "1"));
        bdml_model *one = fit(h, data, methods[k]);
        check_ok(h, bdml_set(h, "threads", "2"));
        bdml_model *two = fit(h, data, methods[k]);
        assert_int_equal(one->q, two->q);
        assert_memory_equal(one->l, two->l, sizeof *one->l * (size_t)one->q * (size_t)data->d);
        bdml_free_model(one);
        bdml_free_model(two);
    }
    bdml_free_dataset(data);
}

static double stopped_at(const bdml_model *model, const char *what)
{
    return json_number_value(json_object_get(json_object_get(model->info, "stopping"), what));
}

/* Too little is refused; with room for a part of the triplets, those without a say make room for others, to the same optimum. */
static void test_lmnn_in_little_memory(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = clouds(h, 1500, 4, 3, 3.0);
    set_all(h, "threads 2 memory 256 lmnn-push 0.9");
    bdml_model *roomy = fit(h, data, "lmnn"), *none = NULL;
    set_all(h, "memory 1");
    check_fails(h, bdml_train(h, data, NULL, &none), BDML_ERR_MEMORY,
                "method lmnn on 1500 rows of 4");
    set_all(h, "memory 45"); /* not for all triplets of the first problem */
    bdml_model *narrow = fit(h, data, "lmnn");
    double wanted, most = 0.0;
    check_true(stopped_at(roomy, "reached") <= (wanted = stopped_at(roomy, "wanted")));
    if (stopped_at(narrow, "reached") > wanted) fail_msg("gap %g", stopped_at(narrow, "reached"));
    most = fmax(stopped_at(roomy, "objective"), stopped_at(narrow, "objective"));
    /* both within the gap of one optimum */
    check_close(stopped_at(roomy, "objective"), stopped_at(narrow, "objective"), wanted * most);
    bdml_free_model(roomy);
    bdml_free_model(narrow);
    bdml_free_dataset(data);
}

/* Every allocation fails once: an error, no leak (the sanitizers look), and the next fit works. */
static void test_out_of_memory(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = clouds(h, 24, 3, 2, 1.5);
    static const char *methods[] = {"nca", "lmnn", "boost"};
    set_all(h, "threads 1 components 1 boost-form stagewise nca-steps 3 nca-start lda gap 0.01");
    for (int k = 0; k < 3; k++) {
        bdml_status status = BDML_ERR_MEMORY;
        check_ok(h, bdml_set(h, "method", methods[k]));
        for (int at = 1; status != BDML_OK; at++) {
            bdml_model *model = NULL;
            h->fail_alloc = at;
            status = bdml_train(h, data, NULL, &model);
            h->fail_alloc = 0;
            if (status != BDML_OK) assert_int_equal(status, BDML_ERR_MEMORY);
            bdml_free_model(model);
        }
    }
    bdml_free_dataset(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(test_lbfgs_finds_the_end_of_the_valley),
        handle_test(test_nca_objective_and_gradient),
        handle_test(test_nca_learns),
        handle_test(test_lmnn_is_optimal),
        handle_test(test_lmnn_against_csdp),
        handle_test(test_lmnn_low_gradient),
        handle_test(test_lmnn_of_rank_one),
        handle_test(test_lmnn_on_wine),
        handle_test(test_lmnn_without_targets),
        handle_test(test_boost_is_optimal),
        handle_test(test_boost_forms_agree),
        handle_test(test_boost_without_minimum),
        handle_test(test_same_bits_with_two_threads),
        handle_test(test_lmnn_in_little_memory),
        handle_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
