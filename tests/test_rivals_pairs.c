/* test_rivals_pairs.c - pairs drawn and given; KISSME against sums over listed pairs; ITML against its
 * fixed-point conditions and the one-by-one projections of the source; and what holds for every method
 * on pairs: Segment as it is, refusals, memory that runs out, same bits on any number of threads. */
#include "rivals_pairs.h"

#define METHODS                                                            \
    {                                                                      \
        "kissme", "itml", "mmc", "mmc-diagonal", "dml-eig", "ldml", "sdml" \
    }
enum { COUNT = 7 };

/* ---- drawing ------------------------------------------------------------------------------------------- */

/* 12 rows in classes of 2, 4 and 6: 22 similar and 44 dissimilar pairs. */
static const int32_t y12[12] = {2, 0, 1, 2, 1, 2, 2, 0, 1, 2, 1, 2};

static bdml_lists draw12(bdml_handle *h, int64_t want, int seed)
{
    char text[32];
    bdml_lists lists;
    bdml_training t = {.n = 12, .d = 1, .y = y12, .classes = 3};
    snprintf(text, sizeof text, "%lld", (long long)want);
    check_ok(h, bdml_set(h, "random-pairs", text));
    snprintf(text, sizeof text, "%d", seed);
    check_ok(h, bdml_set(h, "seed", text));
    check_ok(h, bdml_pairs_choose(h, &h->options, "test", &t, &lists));
    return lists;
}

/* Every pair of the right kind and met once; counts[i*12+j], i < j, goes up. */
static void check_kind(const bdml_pairs *list, bool similar, int *counts)
{
    int seen[144] = {0};
    for (int64_t k = 0; k < list->count; k++) {
        int i = BDML_MIN(list->row[2 * k], list->row[2 * k + 1]);
        int j = BDML_MAX(list->row[2 * k], list->row[2 * k + 1]);
        check_true(i >= 0 && i < j && j < 12);
        check_true((y12[i] == y12[j]) == similar);
        check_true(seen[i * 12 + j]++ == 0);
        counts[i * 12 + j]++;
    }
}

static void test_draws_are_uniform(void **state)
{
    bdml_handle *h = *state;
    enum { SEEDS = 2000 };
    for (int64_t want = 3; want <= 30; want += 12) { /* 3 by chance, 15 and 27 from a list of all */
        int counts[144] = {0};
        for (int seed = 0; seed < SEEDS; seed++) {
            bdml_lists lists = draw12(h, want, seed);
            assert_int_equal(lists.target.count, BDML_MIN(want, 22));
            assert_int_equal(lists.impostor.count, want);
            check_kind(&lists.target, true, counts);
            check_kind(&lists.impostor, false, counts);
            bdml_lists_free(&lists);
        }
        for (int i = 0; i < 12; i++)
            for (int j = i + 1; j < 12; j++) {
                double share =
                    y12[i] == y12[j] ? BDML_MIN((double)want / 22, 1) : (double)want / 44;
                double sd = sqrt(SEEDS * share * (1 - share));
                check_close(counts[i * 12 + j], SEEDS * share, 5 * sd); /* 66 pairs, 5 sd */
            }
    }
}

static void test_given_pairs(void **state)
{
    bdml_handle *h = *state;
    const int32_t near[] = {0, 1, 2, 3, 1, 0}, far[] = {0, 4, 3, 5}, triple[] = {0, 1, 2};
    double x[6] = {0};
    bdml_constraints *c = NULL;
    bdml_lists lists;
    check_ok(h, bdml_constraints_from_arrays(h, 6, 3, near, 2, far, 0, NULL, &c));
    bdml_training t = {.n = 6, .d = 1, .x = x, .constraints = c};
    check_ok(h, bdml_pairs_choose(h, &h->options, "test", &t, &lists));
    assert_int_equal(lists.target.count, 2); /* 0-1 stands there twice */
    assert_int_equal(lists.impostor.count, 2);
    assert_memory_equal(lists.target.row, near, 4 * sizeof *near);
    assert_memory_equal(lists.impostor.row, far, sizeof far);
    bdml_lists_free(&lists);
    t.n = 5;
    check_fails(h, bdml_pairs_choose(h, &h->options, "test", &t, &lists), BDML_ERR_ARGUMENT,
                "6 rows");
    bdml_free_constraints(c);
    check_ok(h, bdml_constraints_from_arrays(h, 6, 1, near, 0, NULL, 1, triple, &c));
    t = (bdml_training){.n = 6, .d = 1, .x = x, .constraints = c};
    check_fails(h, bdml_pairs_choose(h, &h->options, "test", &t, &lists), BDML_ERR_DATA,
                "triplets");
    bdml_free_constraints(c);
    check_ok(h, bdml_constraints_from_arrays(h, 6, 0, NULL, 2, far, 0, NULL, &c));
    t.constraints = c;
    check_fails(h, bdml_pairs_choose(h, &h->options, "test", &t, &lists), BDML_ERR_DATA,
                "similar pairs");
    bdml_free_constraints(c);
    t.constraints = NULL;
    check_fails(h, bdml_pairs_choose(h, &h->options, "test", &t, &lists), BDML_ERR_DATA, "neither");
}

/* Pairs from a file need no "kind pair". */
static void test_pairs_file(void **state)
{
    bdml_handle *h = *state;
    char path[] = "/tmp/bdml_pairs_XXXXXX";
    int file = mkstemp(path);
    const char text[] = "0,3,1\n1,4,1\n0,1,0\n4,5,0\n2,3,0\n2,5,1\n";
    assert_true(write(file, text, sizeof text - 1) == (ssize_t)(sizeof text - 1));
    close(file);
    bdml_dataset *data = clouds(h, 6, 2, 3, 4.0);
    check_ok(h, bdml_set(h, "pairs-file", path));
    bdml_model *model = fit(h, data, "method itml threads 1");
    check_close(told(model, "similar"), 3, 0);
    check_close(told(model, "dissimilar"), 3, 0);
    unlink(path);
    bdml_free_model(model);
    bdml_free_dataset(data);
}

/* ---- span and two scatters at once ------------------------------------------------------------------------ */

static void test_simultaneous(void **state)
{
    bdml_handle *h = *state;
    /* S = diag(1, 0, 4), T = u u' + diag(1, 2, 0.5) with u = (1, 1, -2) */
    double s[9] = {1, 0, 0, 0, 0, 0, 0, 0, 4}, t[9] = {2, 1, -2, 1, 3, -2, -2, -2, 4.5};
    double w[9], sigma[3], one;
    check_ok(h, bdml_simultaneous(h, 3, s, t, w, sigma));
    check_close(sigma[0], 0, 1e-15);
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) {
            double ws = 0;
            one = 0;
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) {
                    ws += w[a * 3 + i] * s[i * 3 + j] * w[b * 3 + j];
                    one += w[a * 3 + i] * (s[i * 3 + j] + t[i * 3 + j]) * w[b * 3 + j];
                }
            check_close(one, a == b, 1e-13);
            check_close(ws, a == b ? sigma[a] : 0, 1e-13);
        }
}

static void test_span(void **state)
{
    bdml_handle *h = *state;
    /* columns a, b, a + 1e6 b, a constant one: rank 2 whatever their units */
    double s[16] = {0}, *basis = NULL;
    const double column[4][2] = {{1, 0}, {0, 1e-3}, {1, 1e3}, {0, 0}};
    int r = 0;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            s[i * 4 + j] = column[i][0] * column[j][0] + column[i][1] * column[j][1];
    check_ok(h, bdml_span_basis(h, 4, s, &r, &basis));
    assert_int_equal(r, 2);
    for (int k = 0; k < 2; k++) { /* each column of the data is in the span */
        double v[4], left = 0, size = 0;
        for (int i = 0; i < 4; i++) v[i] = column[i][k];
        for (int c = 0; c < 2; c++) {
            double dot = 0;
            for (int i = 0; i < 4; i++) dot += basis[c * 4 + i] * column[i][k];
            for (int i = 0; i < 4; i++) v[i] -= dot * basis[c * 4 + i];
        }
        for (int i = 0; i < 4; i++) {
            left += v[i] * v[i];
            size += column[i][k] * column[i][k];
        }
        check_true(left <= 1e-20 * size);
    }
    free(basis);
    memset(s, 0, sizeof s);
    check_ok(h, bdml_span_basis(h, 4, s, &r, &basis));
    assert_int_equal(r, 0);
    free(basis);
}

/* ---- KISSME ------------------------------------------------------------------------------------------------ */

/* P(S^-1 - D^-1) from differences, by plain loops. */
static void plain_kissme(bdml_handle *h, const differences *p, double *m)
{
    enum { D = 4 };
    double s[D * D] = {0}, t[D * D] = {0}, si[D * D], ti[D * D], lambda[D];
    for (int64_t k = 0; k < p->similar; k++) add_outer(p, k, 1.0 / (double)p->similar, s);
    for (int64_t k = p->similar; k < p->all; k++)
        add_outer(p, k, 1.0 / (double)(p->all - p->similar), t);
    invert(D, s, si);
    invert(D, t, ti);
    for (int e = 0; e < D * D; e++) si[e] -= ti[e];
    eigen(h, D, si, lambda);
    memset(m, 0, sizeof *m * D * D);
    for (int k = 0; k < D; k++)
        for (int a = 0; a < D && lambda[k] > 0; a++)
            for (int b = 0; b < D; b++) m[a * D + b] += lambda[k] * si[k * D + a] * si[k * D + b];
}

static void test_kissme_is_its_formula(void **state)
{
    bdml_handle *h = *state;
    enum { D = 4 };
    bdml_dataset *data = clouds(h, 31, D, 3, 1.5);
    double m[D * D], want[D * D];
    /* all pairs in closed form, then the same pairs listed, then some of them */
    static const char *const how[] = {"method kissme threads 1", "random-pairs 100000",
                                      "random-pairs 60"};
    for (int k = 0; k < 3; k++) {
        bdml_model *model = fit(h, data, how[k]);
        if (k == 0) check_ok(h, bdml_set(h, "random-pairs", "100000"));
        differences p = differences_of(h, data);
        if (k == 0) check_ok(h, bdml_set(h, "random-pairs", "0"));
        check_close(told(model, "similar"), (double)p.similar, 0);
        check_close(told(model, "dissimilar"), (double)(p.all - p.similar), 0);
        plain_kissme(h, &p, want);
        check_ok(h, bdml_model_get_metric(h, model, m));
        for (int e = 0; e < D * D; e++) check_close(m[e], want[e], 1e-10 * want[0]);
        free(p.z);
        bdml_free_model(model);
    }
    bdml_free_dataset(data);
}

/* ---- ITML -------------------------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void plain_bounds(const differences *p, double percent, double *u, double *l)
{
    double *sorted = calloc((size_t)p->all, sizeof *sorted);
    for (int64_t k = 0; k < p->all; k++)
        for (int j = 0; j < p->d; j++) sorted[k] += p->z[k * p->d + j] * p->z[k * p->d + j];
    qsort(sorted, (size_t)p->all, sizeof *sorted, by_value);
    *u = sorted[(int64_t)(percent / 100 * (double)(p->all - 1))];
    *l = sorted[(int64_t)((1 - percent / 100) * (double)(p->all - 1))];
    free(sorted);
}

/* D(M, I) + gamma sum D(xi, xi0) at the best xi for M. */
static double itml_objective(bdml_handle *h, const differences *p, const double *m, double u,
                             double l, double gamma)
{
    double copy[64], lambda[8], sum = -p->d;
    memcpy(copy, m, sizeof *m * (size_t)(p->d * p->d));
    eigen(h, p->d, copy, lambda);
    for (int j = 0; j < p->d; j++) sum += lambda[j] - log(lambda[j]);
    for (int64_t k = 0; k < p->all; k++) {
        double ratio = form(p, m, k) / (k < p->similar ? u : l);
        if (k < p->similar ? ratio > 1 : ratio < 1) sum += gamma * (ratio - log(ratio) - 1);
    }
    return sum;
}

/* M^-1 = I + sum delta lambda z z', lambda = gamma (1/xi0 - 1/p)_+ for similar pairs and
 * gamma (1/p - 1/xi0)_+ for dissimilar ones: the fixed point of the projections. */
static void check_fixed_point(const differences *p, const double *m, double u, double l,
                              double gamma, double tolerance)
{
    double inverse[64], copy[64], sum[64] = {0}, size[64] = {0}, most = 0;
    int d = p->d;
    for (int j = 0; j < d; j++) sum[j * d + j] = 1;
    for (int64_t k = 0; k < p->all; k++) {
        double dist = form(p, m, k);
        double lambda = k < p->similar ? fmax(1 / u - 1 / dist, 0) : fmax(1 / dist - 1 / l, 0);
        add_outer(p, k, k < p->similar ? gamma * lambda : -gamma * lambda, sum);
        add_outer(p, k, gamma * lambda, size); /* similar and dissimilar terms cancel */
    }
    for (int j = 0; j < d; j++) most = fmax(most, size[j * d + j]);
    memcpy(copy, m, sizeof *m * (size_t)(d * d));
    invert(d, copy, inverse);
    for (int e = 0; e < d * d; e++) check_close(inverse[e], sum[e], tolerance * most);
}

static void test_itml_fixed_point(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = clouds(h, 80, 5, 3, 2.0);
    static const double gammas[] = {0.05, 1, 5};
    double m[25], u, l;
    for (int k = 0; k < 3; k++) {
        char settings[128];
        snprintf(settings, sizeof settings,
                 "method itml threads 1 random-pairs 150 gap 1e-11 itml-gamma %g", gammas[k]);
        bdml_model *model = fit(h, data, settings);
        differences p = differences_of(h, data);
        plain_bounds(&p, 5, &u, &l);
        check_ok(h, bdml_model_get_metric(h, model, m));
        /* the metric is off by the root of the objective's error, 1e-11 times some hundreds */
        check_fixed_point(&p, m, u, l, gammas[k], 1e-4);
        double f = itml_objective(h, &p, m, u, l, gammas[k]);
        check_close(f, told(model, "objective"), 1e-9 * f);
        check_true(told(model, "bound") <= f * (1 + 1e-12));
        check_true(told(model, "gap") <= 1e-11);
        free(p.z);
        bdml_free_model(model);
    }
    bdml_free_dataset(data);
}

/* The source's loop, pair after pair with rank-one updates of M, until it hardly moves. */
static void one_by_one(const differences *p, double u, double l, double gamma, double *m)
{
    int d = p->d;
    double *lambda = calloc((size_t)p->all, sizeof *lambda),
           *xi = calloc((size_t)p->all, sizeof *xi);
    for (int i = 0; i < d * d; i++) m[i] = i % (d + 1) == 0;
    for (int64_t k = 0; k < p->all; k++) xi[k] = k < p->similar ? u : l;
    for (int sweep = 0; sweep < 400; sweep++)
        for (int64_t k = 0; k < p->all; k++) {
            double sign = k < p->similar ? 1 : -1, dist = form(p, m, k), v[8];
            double alpha = fmin(lambda[k], sign * gamma / (gamma + 1) * (1 / dist - 1 / xi[k]));
            double beta = sign * alpha / (1 - sign * alpha * dist);
            xi[k] = 1 / (1 / xi[k] + sign * alpha / gamma);
            lambda[k] -= alpha;
            for (int i = 0; i < d; i++) {
                v[i] = 0;
                for (int j = 0; j < d; j++) v[i] += m[i * d + j] * p->z[k * d + j];
            }
            for (int i = 0; i < d; i++)
                for (int j = 0; j < d; j++) m[i * d + j] += beta * v[i] * v[j];
        }
    free(lambda);
    free(xi);
}

static void test_itml_is_the_sources(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = clouds(h, 50, 4, 2, 2.0);
    double m[16], want[16], u, l;
    bdml_model *model =
        fit(h, data, "method itml threads 1 random-pairs 60 gap 1e-12 itml-percentile 20");
    differences p = differences_of(h, data);
    plain_bounds(&p, 20, &u, &l);
    one_by_one(&p, u, l, 1.0, want);
    check_ok(h, bdml_model_get_metric(h, model, m));
    for (int e = 0; e < 16; e++) check_close(m[e], want[e], 1e-5 * want[0]);
    free(p.z);
    bdml_free_model(model);
    /* bounds that are given, either of them alone too */
    for (int k = 0; k < 3; k++) {
        double near = k < 2 ? 1.25 * u : u, far = k > 0 ? 0.75 * l : l;
        char value[32];
        snprintf(value, sizeof value, "%.17g", near);
        check_ok(h, bdml_set(h, "itml-near", k < 2 ? value : "auto"));
        snprintf(value, sizeof value, "%.17g", far);
        check_ok(h, bdml_set(h, "itml-far", k > 0 ? value : "auto"));
        model = fit(h, data, "method itml threads 1 random-pairs 60 gap 1e-12 itml-percentile 20");
        p = differences_of(h, data);
        one_by_one(&p, near, far, 1.0, want);
        check_ok(h, bdml_model_get_metric(h, model, m));
        for (int e = 0; e < 16; e++) check_close(m[e], want[e], 1e-5 * want[0]);
        free(p.z);
        bdml_free_model(model);
    }
    bdml_free_dataset(data);
}

/* Outside the span of the pairs the metric is the prior. */
static void test_itml_keeps_the_prior(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = clouds(h, 40, 3, 2, 2.0);
    double m[9];
    for (int64_t i = 0; i < 40; i++) data->x[3 * i + 2] = 7;
    bdml_model *model = fit(h, data, "method itml threads 1");
    check_ok(h, bdml_model_get_metric(h, model, m));
    check_close(m[8], 1, 1e-12);
    check_close(m[2], 0, 1e-12);
    check_close(told(model, "rank"), 2, 0);
    bdml_free_model(model);
    model = fit(h, data, "prior covariance");
    check_ok(h, bdml_model_get_metric(h, model, m));
    check_close(m[8], 0, 1e-12);
    bdml_free_model(model);
    bdml_free_dataset(data);
}

/* With the inverse covariance as prior the units of the columns do not matter. */
static void test_covariance_prior_is_invariant(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = clouds(h, 60, 3, 2, 2.0);
    double a[9], b[9], unit[3] = {1, 1e-3, 50};
    bdml_model *model = fit(h, data, "method itml threads 1 prior covariance");
    check_ok(h, bdml_model_get_metric(h, model, a));
    bdml_free_model(model);
    for (int64_t i = 0; i < 60; i++)
        for (int j = 0; j < 3; j++) data->x[3 * i + j] *= unit[j];
    model = fit(h, data, "");
    check_ok(h, bdml_model_get_metric(h, model, b));
    for (int e = 0; e < 9; e++)
        check_close(b[e] * unit[e / 3] * unit[e % 3], a[e], 1e-8 * (a[0] + a[4] + a[8]));
    bdml_free_model(model);
    bdml_free_dataset(data);
}

/* itml-gamma 0: one of the four, the same every time, and as good on rows left out as the best. */
static void test_itml_chooses(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = clouds(h, 90, 4, 3, 3.0);
    static const double gammas[] = {0.01, 0.1, 1, 10};
    double first[16], m[16];
    bdml_model *model = fit(h, data, "method itml threads 1 itml-gamma 0 gap 0.01");
    double gamma = told(model, "gamma");
    int found = 0;
    for (int g = 0; g < 4; g++) found += gamma == gammas[g];
    assert_int_equal(found, 1);
    check_ok(h, bdml_model_get_metric(h, model, first));
    bdml_free_model(model);
    char value[32];
    snprintf(value, sizeof value, "%g", gamma);
    check_ok(h, bdml_set(h, "itml-gamma", value));
    model = fit(h, data, "threads 2");
    check_ok(h, bdml_model_get_metric(h, model, m));
    assert_memory_equal(m, first, sizeof m);
    bdml_free_model(model);
    /* given pairs have no rows to leave out */
    const int32_t near[] = {0, 3}, far[] = {0, 1};
    bdml_constraints *c = NULL;
    check_ok(h, bdml_constraints_from_arrays(h, 90, 1, near, 1, far, 0, NULL, &c));
    check_ok(h, bdml_set(h, "itml-gamma", "0"));
    check_fails(h, bdml_train(h, data, c, &model), BDML_ERR_ARGUMENT, "needs labels");
    bdml_free_constraints(c);
    bdml_free_dataset(data);
}

/* ---- every method ------------------------------------------------------------------------------------------ */

static void test_segment_as_it_is(void **state)
{
    bdml_handle *h = *state;
    static const char *const methods[COUNT] = METHODS;
    bdml_dataset *data = NULL;
    check_ok(h, bdml_read_dataset(h, source_path("data/segment.csv"), &data));
    for (int k = 0; k < COUNT; k++) {
        bdml_model *model = NULL;
        set_all(h, "threads 1");
        check_ok(h, bdml_set(h, "method", methods[k]));
        check_ok(h, bdml_train(h, data, NULL, &model));
        if (k > 0) check_true(told(model, "gap") <= 1e-3);
        if (k > 0 && k != 3 && k != 6)
            check_close(told(model, "rank"), 14, 0); /* 5 columns depend on others */
        bdml_free_model(model);
    }
    bdml_free_dataset(data);
}

static void test_refusals(void **state)
{
    bdml_handle *h = *state;
    static const char *const methods[COUNT] = METHODS;
    bdml_dataset *one = clouds(h, 20, 3, 1, 0), *lonely = clouds(h, 3, 3, 3, 1);
    bdml_dataset *same = clouds(h, 8, 2, 2, 1);
    bdml_model *model = NULL;
    for (int i = 0; i < 16; i++) same->x[i] = 2;
    check_ok(h, bdml_set(h, "threads", "1"));
    for (int k = 0; k < COUNT; k++) {
        check_ok(h, bdml_set(h, "method", methods[k]));
        check_fails(h, bdml_train(h, one, NULL, &model), BDML_ERR_DATA, "one class");
        check_fails(h, bdml_train(h, lonely, NULL, &model), BDML_ERR_DATA, "no class has two");
        check_fails(h, bdml_train(h, same, NULL, &model), BDML_ERR_DATA, "identical");
        check_fails(h, bdml_train(h, same, NULL, &model), BDML_ERR_DATA, methods[k]);
    }
    check_fails(h, bdml_set(h, "itml-gamma", "-1"), BDML_ERR_ARGUMENT, "itml-gamma");
    check_fails(h, bdml_set(h, "mmc-spread", "1.5"), BDML_ERR_ARGUMENT, "mmc-spread");
    check_fails(h, bdml_set(h, "ldml-penalty", "0"), BDML_ERR_ARGUMENT, "ldml-penalty");
    check_fails(h, bdml_set(h, "random-pairs", "-1"), BDML_ERR_ARGUMENT, "random-pairs");
    bdml_free_dataset(one);
    bdml_free_dataset(lonely);
    bdml_free_dataset(same);
}

/* Similar pairs spread more than dissimilar ones in every direction: two methods say so. */
static void test_nothing_to_learn(void **state)
{
    bdml_handle *h = *state;
    const double x[] = {0, 10, 1, 11};
    const int32_t near[] = {0, 1, 2, 3}, far[] = {0, 2, 1, 3};
    static const char *const methods[] = {"kissme", "ldml"};
    bdml_constraints *c = NULL;
    bdml_dataset *data = NULL;
    bdml_model *model = NULL;
    check_ok(h, bdml_dataset_from_arrays(h, 4, 1, x, 1, NULL, &data));
    check_ok(h, bdml_constraints_from_arrays(h, 4, 2, near, 2, far, 0, NULL, &c));
    for (int k = 0; k < 2; k++) {
        check_ok(h, bdml_set(h, "method", methods[k]));
        check_fails(h, bdml_train(h, data, c, &model), BDML_ERR_DATA, "no direction");
    }
    bdml_free_constraints(c);
    bdml_free_dataset(data);
}

static void test_limits(void **state)
{
    bdml_handle *h = *state;
    static const char *const methods[COUNT] = METHODS;
    bdml_dataset *data = clouds(h, 60, 4, 3, 1.0);
    set_all(h, "threads 1 gap 1e-12 max-iter 2");
    for (int k = 1; k < COUNT; k++) {
        bdml_model *model = NULL;
        check_ok(h, bdml_set(h, "method", methods[k]));
        if (k == 4) continue; /* the engine's own limits have their own tests */
        check_ok(h, bdml_train(h, data, NULL, &model));
        check_close(told(model, "iterations"), 2, 0);
        check_true(told(model, "gap") > 1e-12);
        assert_true(
            json_is_false(json_object_get(json_object_get(model->info, "solution"), "done")));
        bdml_free_model(model);
    }
    bdml_free_dataset(data);
}

static int stop_at_once(void *user, const char *phase, int64_t done, int64_t total)
{
    (void)user, (void)phase, (void)done, (void)total;
    return 1;
}

static void test_cancel(void **state)
{
    bdml_handle *h = *state;
    static const char *const methods[COUNT] = METHODS;
    bdml_dataset *data = clouds(h, 60, 4, 3, 1.0);
    set_all(h, "threads 1 gap 1e-12");
    bdml_set_progress(h, stop_at_once, NULL);
    for (int k = 1; k < COUNT; k++) {
        bdml_model *model = NULL;
        check_ok(h, bdml_set(h, "method", methods[k]));
        bdml_status status = bdml_train(h, data, NULL, &model);
        if (status != BDML_ERR_CANCELLED || model)
            fail_msg("%s: %s", methods[k], bdml_status_text(status));
    }
    bdml_free_dataset(data);
}

static void test_same_bits(void **state)
{
    static const char *const methods[COUNT] = METHODS;
    static const char *const threads[] = {"1", "2", "3"};
    bdml_handle *h0 = *state;
    enum { D = 40 };
    bdml_dataset *data = clouds(h0, 1500, D, 4, 2.0); /* large enough for threads to be used */
    double *first = calloc((size_t)D * D, sizeof *first), *m = calloc((size_t)D * D, sizeof *m);
    for (int k = 0; k < COUNT; k++)
        for (int run = 0; run < 3; run++) {
            bdml_handle *h = NULL;
            bdml_model *model = NULL;
            check_ok(h0, bdml_create(&h));
            check_ok(h, bdml_set(h, "threads", threads[run]));
            check_ok(h, bdml_set(h, "method", methods[k]));
            check_ok(h, bdml_set(h, "gap", "0.05"));
            check_ok(h, bdml_train(h, data, NULL, &model));
            check_ok(h, bdml_model_get_metric(h, model, run == 0 ? first : m));
            if (run > 0) assert_memory_equal(m, first, sizeof *m * (size_t)D * D);
            bdml_free_model(model);
            bdml_free(h);
        }
    free(first);
    free(m);
    bdml_free_dataset(data);
}

/* Allocation 1, 2, 3, ... fails: the right status, nothing leaked (sanitizers), no model. */
static void test_memory(void **state)
{
    static const char *const methods[COUNT] = METHODS;
    bdml_dataset *data = clouds(*state, 30, 3, 2, 2.0);
    for (int k = 0; k <= COUNT + 1;
         k++) { /* once more: KISSME on drawn pairs, ITML with a choice */
        bdml_status status = BDML_ERR_MEMORY;
        int64_t n = 1;
        for (; status == BDML_ERR_MEMORY; n++) {
            bdml_handle *h = NULL;
            bdml_model *model = NULL;
            assert_int_equal(bdml_create(&h), BDML_OK);
            set_all(h, k == COUNT  ? "threads 1 random-pairs 20"
                       : k > COUNT ? "threads 1 gap 0.5 itml-gamma 0 random-pairs 20"
                                   : "threads 1 gap 0.1 prior covariance");
            check_ok(h, bdml_set(h, "method", methods[k % COUNT]));
            h->fail_alloc = n;
            status = bdml_train(h, data, NULL, &model);
            if (status == BDML_ERR_MEMORY)
                check_true(!model && bdml_last_error(h)[0]);
            else if (status != BDML_OK)
                fail_msg("%s: allocation %lld: %s", methods[k % COUNT], (long long)n,
                         bdml_last_error(h));
            bdml_free_model(model);
            bdml_free(h);
        }
        check_true(n > 20);
    }
    bdml_free_dataset(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(test_draws_are_uniform),
        handle_test(test_given_pairs),
        handle_test(test_pairs_file),
        handle_test(test_simultaneous),
        handle_test(test_span),
        handle_test(test_kissme_is_its_formula),
        handle_test(test_itml_fixed_point),
        handle_test(test_itml_is_the_sources),
        handle_test(test_itml_keeps_the_prior),
        handle_test(test_itml_chooses),
        handle_test(test_covariance_prior_is_invariant),
        handle_test(test_segment_as_it_is),
        handle_test(test_refusals),
        handle_test(test_nothing_to_learn),
        handle_test(test_limits),
        handle_test(test_cancel),
        handle_test(test_same_bits),
        handle_test(test_memory),
    };
    return cmocka_run_group_tests_name("rivals_pairs", tests, NULL, NULL);
}
