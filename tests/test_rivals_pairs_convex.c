/* test_rivals_pairs_convex.c - MMC, DML-eig and LDML against what they claim: objectives by plain loops, optima
 * by brute force in two dimensions, on a line, by optimality conditions, and by CSDP where it is installed. */
#include "rivals_pairs.h"

/* ---- brute force over the metrics of the plane ---------------------------------------------------------- */

/* M / <S, M> over all positive semidefinite M of 2 x 2: with S = C C', M = C^-T Y C^-1 and
 * Y = [1 + a, b; b, 1 - a] / 2, a^2 + b^2 <= 1, is all there is. value(M): to be maximised, concave. */
typedef double (*value_fn)(const differences *p, const double *m);

static void metric_at(const double *s, double a, double b, double *m)
{
    double c00 = sqrt(s[0]), c10 = s[1] / c00, c11 = sqrt(s[3] - c10 * c10);
    double i00 = 1 / c00, i11 = 1 / c11, i10 = -c10 / (c00 * c11); /* C^-1, lower */
    double y00 = (1 + a) / 2, y01 = b / 2, y11 = (1 - a) / 2;
    m[0] = i00 * i00 * y00 + 2 * i00 * i10 * y01 + i10 * i10 * y11;
    m[1] = m[2] = i00 * i11 * y01 + i10 * i11 * y11;
    m[3] = i11 * i11 * y11;
}

/* A grid over the disc, made finer around the best point. */
static double best_in_the_plane(const differences *p, const double *s, value_fn value)
{
    double best = -INFINITY, ca = 0, cb = 0, m[4];
    for (double width = 1; width > 1e-6; width /= 1.5) {
        double na = ca, nb = cb;
        for (int i = -20; i <= 20; i++)
            for (int j = -20; j <= 20; j++) {
                double a = ca + width * i / 20, b = cb + width * j / 20, r = sqrt(a * a + b * b);
                if (r > 1) a /= r, b /= r;
                metric_at(s, a, b, m);
                double v = value(p, m);
                if (v > best) best = v, na = a, nb = b;
            }
        ca = na, cb = nb;
    }
    return best;
}

/* Mean similar scatter; total: the sum. */
static void similar_scatter(const differences *p, bool total, double *s)
{
    memset(s, 0, sizeof *s * (size_t)(p->d * p->d));
    for (int64_t k = 0; k < p->similar; k++) add_outer(p, k, total ? 1 : 1 / (double)p->similar, s);
}

static double inner(int d, const double *a, const double *b)
{
    double sum = 0;
    for (int e = 0; e < d * d; e++) sum += a[e] * b[e];
    return sum;
}

static double sum_of_roots(const differences *p, const double *m)
{
    double sum = 0;
    for (int64_t k = p->similar; k < p->all; k++) sum += sqrt(fmax(form(p, m, k), 0));
    return sum;
}

static double least_distance(const differences *p, const double *m)
{
    double least = INFINITY;
    for (int64_t k = p->similar; k < p->all; k++) least = fmin(least, form(p, m, k));
    return least;
}

/* ---- MMC -------------------------------------------------------------------------------------------------- */

static void test_mmc_in_the_plane(void **state)
{
    bdml_handle *h = *state;
    double m[4], s[4];
    for (int n = 20; n <= 60; n += 20) {
        bdml_dataset *data = clouds(h, n, 2, 2, n / 20.0);
        bdml_model *model =
            fit(h, data, "method mmc threads 1 random-pairs 50 gap 1e-7 mmc-spread 0");
        differences p = differences_of(h, data);
        check_ok(h, bdml_model_get_metric(h, model, m));
        similar_scatter(&p, true, s);
        double f = sum_of_roots(&p, m), best = best_in_the_plane(&p, s, sum_of_roots);
        check_close(inner(2, s, m), 1, 1e-9);
        check_close(f, told(model, "objective"), 1e-9 * f);
        check_true(f >= best * (1 - 1e-7) - 1e-12);
        check_true(told(model, "bound") >= best * (1 - 1e-12));
        check_true(told(model, "bound") <= f * (1 + 2e-7));
        free(p.z);
        bdml_free_model(model);
        bdml_free_dataset(data);
    }
}

/* In more dimensions: feasible, the claimed value, and no random feasible metric is above the bound. */
static void check_mmc(bdml_handle *h, const bdml_dataset *data, const char *settings, bool diagonal)
{
    enum { D = 5 };
    double m[D * D], s[D * D], other[D * D], l[D * D];
    bdml_rng rng = bdml_rng_make(1, 1);
    bdml_model *model = fit(h, data, settings);
    differences p = differences_of(h, data);
    check_ok(h, bdml_model_get_metric(h, model, m));
    similar_scatter(&p, true, s);
    double f = sum_of_roots(&p, m), bound = told(model, "bound");
    check_close(inner(D, s, m), 1, 1e-9);
    check_close(f, told(model, "objective"), 1e-9 * f);
    check_true(bound >= f * (1 - 1e-12) && bound <= f * (1 + 1.1e-5));
    for (int trial = 0; trial < 200; trial++) {
        double mix = trial % 2 ? 0.02 : 1; /* near the solution, and anywhere */
        memset(other, 0, sizeof other);
        for (int e = 0; e < D * D; e++) l[e] = bdml_rng_normal(&rng);
        for (int a = 0; a < D; a++)
            for (int b = 0; b < D; b++)
                for (int k = 0; k < D; k++)
                    if (!diagonal || a == b) other[a * D + b] += l[k * D + a] * l[k * D + b];
        double size = inner(D, s, other);
        for (int e = 0; e < D * D; e++) other[e] = mix * other[e] / size + (1 - mix) * m[e];
        check_true(sum_of_roots(&p, other) <= bound * (1 + 1e-12));
    }
    for (int e = 0; e < D * D && diagonal; e++)
        if (e % (D + 1)) assert_true(m[e] == 0.0);
    free(p.z);
    bdml_free_model(model);
}

static void test_mmc_claims(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = clouds(h, 90, 5, 3, 3.0);
    check_mmc(h, data, "method mmc threads 1 random-pairs 200 gap 1e-5 mmc-spread 0", false);
    check_mmc(h, data, "method mmc-diagonal", true);
    bdml_free_dataset(data);
}

/* Two columns: a diagonal metric has one free number. */
static void test_mmc_diagonal_on_a_line(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = clouds(h, 40, 2, 2, 2.0);
    double m[4], s[4], best = 0;
    bdml_model *model =
        fit(h, data, "method mmc-diagonal threads 1 random-pairs 60 gap 1e-8 mmc-spread 0");
    differences p = differences_of(h, data);
    similar_scatter(&p, true, s);
    for (int k = 0; k <= 20000; k++) {
        double other[4] = {k / 20000.0 / s[0], 0, 0, (1 - k / 20000.0) / s[3]};
        best = fmax(best, sum_of_roots(&p, other));
    }
    check_ok(h, bdml_model_get_metric(h, model, m));
    check_close(sum_of_roots(&p, m), best, 1e-6 * best); /* the grid is off by its step squared */
    free(p.z);
    bdml_free_model(model);
    bdml_free_dataset(data);
}

/* A share tau spread evenly: M - tau S^-1 / d stays positive semidefinite, and tau = 1 is S^-1 / d. */
static void test_mmc_spread(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = clouds(h, 60, 3, 2, 3.0);
    double m[9], s[9], inverse[9], lambda[3], last = INFINITY;
    static const double tau[] = {0, 0.3, 1};
    for (int k = 0; k < 3; k++) {
        char settings[96];
        snprintf(settings, sizeof settings,
                 "method mmc threads 1 random-pairs 100 gap 1e-6 mmc-spread %g", tau[k]);
        bdml_model *model = fit(h, data, settings);
        differences p = differences_of(h, data);
        check_ok(h, bdml_model_get_metric(h, model, m));
        double f = sum_of_roots(&p, m);
        check_close(f, told(model, "objective"), 1e-9 * f);
        check_true(f <= last * (1 + 1e-6)); /* less freedom */
        last = f;
        similar_scatter(&p, true, s);
        invert(3, s, inverse);
        for (int e = 0; e < 9; e++) m[e] -= tau[k] * inverse[e] / 3;
        if (tau[k] == 1)
            for (int e = 0; e < 9; e++) check_close(m[e], 0, 1e-12 * inverse[0]);
        eigen(h, 3, m, lambda);
        check_true(lambda[0] >= -1e-10 * inverse[0]);
        free(p.z);
        bdml_free_model(model);
    }
    bdml_free_dataset(data);
}

/* A direction in which similar pairs do not differ at all: finite, and told. */
static void test_mmc_without_similar_spread(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = clouds(h, 30, 2, 2, 1.0);
    static const char *const methods[] = {"mmc", "mmc-diagonal", "dml-eig", "kissme"};
    for (int i = 0; i < 30; i++) data->x[2 * i + 1] = data->y[i];
    for (int k = 0; k < 4; k++) {
        check_ok(h, bdml_set(h, "method", methods[k]));
        bdml_model *model = fit(h, data, "threads 1");
        check_close(told(model, "raised"), 1, 0);
        bdml_free_model(model);
    }
    bdml_free_dataset(data);
}

/* ---- DML-eig ------------------------------------------------------------------------------------------------ */

/* The source's maximin value is what the engine's problem gives. */
static void test_dmleig_in_the_plane(void **state)
{
    bdml_handle *h = *state;
    double m[4], s[4];
    for (int n = 20; n <= 60; n += 20) {
        bdml_dataset *data = clouds(h, n, 2, 2, n / 20.0);
        bdml_model *model = fit(h, data, "method dml-eig threads 1 random-pairs 40 gap 1e-6");
        differences p = differences_of(h, data);
        check_ok(h, bdml_model_get_metric(h, model, m));
        similar_scatter(&p, false, s);
        double f = least_distance(&p, m), best = best_in_the_plane(&p, s, least_distance);
        check_close(inner(2, s, m), 1, 1e-9);
        check_close(f, told(model, "objective"), 1e-8 * f);
        check_true(f >= best * (1 - 1e-6));
        check_close(f, best, 5e-5 * best); /* the maximin has ridges, which a grid meets late */
        check_true(told(model, "bound") >= best * (1 - 1e-9));
        free(p.z);
        bdml_free_model(model);
        bdml_free_dataset(data);
    }
}

/* min <S,M>, z'Mz - slack = 1, in SDPA's sparse format; the optimum by CSDP, or NAN. */
static double by_csdp(const differences *p, const double *s)
{
    char path[] = "/tmp/bdml_csdp_XXXXXX";
    int64_t m = p->all - p->similar;
    int d = p->d;
    FILE *f = fdopen(mkstemp(path), "w");
    fprintf(f, "%lld\n2\n%d -%lld\n", (long long)m, d, (long long)m);
    for (int64_t k = 0; k < m; k++) fprintf(f, "1 ");
    fprintf(f, "\n");
    for (int a = 0; a < d; a++)
        for (int b = a; b < d; b++) fprintf(f, "0 1 %d %d %.17g\n", a + 1, b + 1, -s[a * d + b]);
    for (int64_t k = 0; k < m; k++) {
        const double *z = p->z + (p->similar + k) * d;
        for (int a = 0; a < d; a++)
            for (int b = a; b < d; b++)
                fprintf(f, "%lld 1 %d %d %.17g\n", (long long)k + 1, a + 1, b + 1, z[a] * z[b]);
        fprintf(f, "%lld 2 %lld %lld -1\n", (long long)k + 1, (long long)k + 1, (long long)k + 1);
    }
    fclose(f);
    return csdp_optimum(path);
}

static void test_dmleig_against_csdp(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = clouds(h, 40, 4, 3, 2.0);
    double s[16];
    bdml_model *model = fit(h, data, "method dml-eig threads 1 random-pairs 30 gap 1e-6");
    differences p = differences_of(h, data);
    similar_scatter(&p, false, s);
    double want = by_csdp(&p, s);
    if (!isnan(want)) check_close(1 / told(model, "objective"), want, 1e-5 * want);
    free(p.z);
    bdml_free_model(model);
    bdml_free_dataset(data);
}

/* ---- LDML ----------------------------------------------------------------------------------------------------- */

/* Mean logistic loss at the best threshold, found by bisection; derivatives with sign in a (or NULL). */
static double logistic(const differences *p, const double *m, double *a)
{
    double lo = -1e3, hi = 1e3, sum = 0;
    double *dist = calloc((size_t)p->all, sizeof *dist);
    for (int64_t k = 0; k < p->all; k++) {
        dist[k] = form(p, m, k);
        hi = fmax(hi, 2 * dist[k]);
    }
    for (int step = 0; step < 200; step++) {
        double b = (lo + hi) / 2, slope = 0;
        for (int64_t k = 0; k < p->all; k++) {
            double y = k < p->similar ? 1 : -1;
            slope += y / (1 + exp(-y * (dist[k] - b)));
        }
        if (slope > 0)
            lo = b;
        else
            hi = b;
    }
    for (int64_t k = 0; k < p->all; k++) {
        double y = k < p->similar ? 1 : -1, u = y * (dist[k] - lo);
        sum += u > 30 ? u : log1p(exp(u));
        if (a) a[k] = y / (1 + exp(-u)) / (double)p->all;
    }
    free(dist);
    return sum / (double)p->all;
}

static void both_scatters(const differences *p, double *s)
{
    similar_scatter(p, false, s);
    for (int64_t k = p->similar; k < p->all; k++)
        add_outer(p, k, 1 / (double)(p->all - p->similar), s);
}

static void test_ldml_on_a_line(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = clouds(h, 60, 1, 2, 1.5);
    double m, s;
    bdml_model *model = fit(h, data, "method ldml threads 1 random-pairs 150 gap 1e-9");
    differences p = differences_of(h, data);
    check_ok(h, bdml_model_get_metric(h, model, &m));
    both_scatters(&p, &s);
    double rho = told(model, "penalty"), lo = 0, hi = 100 * m;
    double f = logistic(&p, &m, NULL) + rho * s * m;
    check_close(f, told(model, "objective"), 1e-10);
    for (int step = 0; step < 200; step++) { /* the loss is convex in the metric */
        double a = lo + (hi - lo) / 3, b = hi - (hi - lo) / 3;
        if (logistic(&p, &a, NULL) + rho * s * a < logistic(&p, &b, NULL) + rho * s * b)
            hi = b;
        else
            lo = a;
    }
    check_close(f, logistic(&p, &lo, NULL) + rho * s * lo, 2e-9);
    free(p.z);
    bdml_free_model(model);
    bdml_free_dataset(data);
}

/* Gradient H = A + rho S: H >= 0 and <H, M> = 0 at the optimum; rho is the share of the collapse point. */
static void test_ldml_conditions(void **state)
{
    bdml_handle *h = *state;
    enum { D = 4 };
    bdml_dataset *data = clouds(h, 90, D, 3, 2.0);
    static const char *const penalty[] = {"0.3", "0.01"};
    for (int run = 0; run < 2; run++) {
        double m[D * D], s[D * D], g[D * D] = {0}, zero[D * D] = {0}, a0[D * D] = {0}, lambda[D];
        check_ok(h, bdml_set(h, "ldml-penalty", penalty[run]));
        bdml_model *model = fit(h, data, "method ldml threads 1 random-pairs 200 gap 1e-9");
        differences p = differences_of(h, data);
        double *a = calloc((size_t)p.all, sizeof *a), rho = told(model, "penalty");
        check_ok(h, bdml_model_get_metric(h, model, m));
        both_scatters(&p, s);
        double f = logistic(&p, m, a) + rho * inner(D, s, m);
        check_close(f, told(model, "objective"), 1e-10);
        check_true(told(model, "bound") <= f && told(model, "gap") <= 1e-9);
        for (int64_t k = 0; k < p.all; k++) add_outer(&p, k, a[k], g);
        for (int e = 0; e < D * D; e++) g[e] += rho * s[e];
        check_close(inner(D, g, m), 0, 1e-4 * rho * inner(D, s, m)); /* root of the gap */
        eigen(h, D, g, lambda);
        check_true(lambda[0] >= -1e-4 * rho * s[D * D - 1]);
        /* at rho / share the gradient at M = 0 touches the cone: its smallest eigenvalue is 0 */
        logistic(&p, zero, a);
        for (int64_t k = 0; k < p.all; k++) add_outer(&p, k, a[k], a0);
        for (int e = 0; e < D * D; e++) a0[e] += rho / atof(penalty[run]) * s[e];
        eigen(h, D, a0, lambda);
        check_close(lambda[0], 0, 1e-10 * s[D * D - 1]);
        free(a);
        free(p.z);
        bdml_free_model(model);
    }
    bdml_free_dataset(data);
}

/* Pairs that a metric separates completely still have a solution, and it separates them. */
static void test_ldml_on_separable_pairs(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = clouds(h, 40, 2, 2, 40.0);
    bdml_model *model = fit(h, data, "method ldml threads 1 random-pairs 100");
    double m[4], far = INFINITY, near = 0;
    differences p = differences_of(h, data);
    check_ok(h, bdml_model_get_metric(h, model, m));
    for (int64_t k = 0; k < p.all; k++)
        if (k < p.similar)
            near = fmax(near, form(&p, m, k));
        else
            far = fmin(far, form(&p, m, k));
    check_true(near < told(model, "threshold") && told(model, "threshold") < far);
    free(p.z);
    bdml_free_model(model);
    bdml_free_dataset(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(test_mmc_in_the_plane),
        handle_test(test_mmc_claims),
        handle_test(test_mmc_diagonal_on_a_line),
        handle_test(test_mmc_spread),
        handle_test(test_mmc_without_similar_spread),
        handle_test(test_dmleig_in_the_plane),
        handle_test(test_dmleig_against_csdp),
        handle_test(test_ldml_on_a_line),
        handle_test(test_ldml_conditions),
        handle_test(test_ldml_on_separable_pairs),
    };
    return cmocka_run_group_tests_name("rivals_pairs_convex", tests, NULL, NULL);
}
