/* test_cluster.c - k-means against all partitions of a few points, planted groups and degenerate points; NMI and ARI
 * against counts over all pairs and points, and against scikit-learn. */
#include "check.h"
#include "evaluate/retrieve.h"

/* ---- agreement ------------------------------------------------------------------------------------------------ */

/* normalized_mutual_info_score and adjusted_rand_score of scikit-learn 1.2.1. */
static void as_scikit_learn(void **state)
{
    bdml_handle *h = *state;
    static const struct {
        int n, classes, groups;
        int32_t y[12], group[12];
        double nmi, ari;
    } known[] = {
        {10,
         3,
         3,
         {0, 0, 0, 1, 1, 1, 2, 2, 2, 2},
         {0, 0, 1, 1, 1, 1, 2, 2, 0, 2},
         0.6180656462921542,
         0.4318181818181818},
        {12,
         5,
         3,
         {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 4, 4},
         {1, 1, 1, 1, 0, 0, 0, 2, 2, 2, 2, 2},
         0.7292907754980082,
         0.5267275097783573},
        {4, 2, 2, {0, 0, 1, 1}, {0, 1, 0, 1}, 0.0, -0.5}, /* worse than chance */
        {4, 4, 4, {0, 1, 2, 3}, {3, 2, 1, 0}, 1.0, 1.0},  /* the same by other names */
        {4, 4, 1, {0, 1, 2, 3}, {0, 0, 0, 0}, 0.0, 0.0},
        {4, 1, 1, {0, 0, 0, 0}, {0, 0, 0, 0}, 1.0, 1.0}, /* nothing to tell apart */
    };
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        bdml_agreement got;
        check_ok(h, bdml_compare_groups(h, known[k].n, known[k].classes, known[k].y,
                                        known[k].groups, known[k].group, &got));
        check_close(got.nmi, known[k].nmi, 1e-14);
        check_close(got.ari, known[k].ari, 1e-14);
    }
}

/* ARI from the four kinds of pairs, 2 (ss dd - sd ds) / ((ss + sd)(sd + dd) + (ss + ds)(ds + dd)) (Hubert and Arabie); NMI
 * point by point: I is the mean of ln(p_uv / (p_u p_v)) over the points, H of -ln p. */
static void by_all_pairs(void **state)
{
    bdml_handle *h = *state;
    enum { N = 60 };
    bdml_rng r = bdml_rng_make(3, 3);
    for (int trial = 0; trial < 20; trial++) {
        int32_t y[N], group[N];
        double pair[2][2] = {{0}}, information = 0.0, entropy = 0.0;
        int classes = 2 + trial % 5, groups = 2 + trial % 7;
        bdml_agreement got;
        for (int i = 0; i < N; i++) {
            y[i] = (int32_t)bdml_rng_below(&r, (uint64_t)classes);
            group[i] = bdml_rng_below(&r, 3) ? y[i] % groups
                                             : (int32_t)bdml_rng_below(&r, (uint64_t)groups);
        }
        for (int i = 0; i < N; i++) {
            double u = 0, v = 0, both = 0;
            for (int j = 0; j < N; j++) {
                u += y[j] == y[i];
                v += group[j] == group[i];
                both += y[j] == y[i] && group[j] == group[i];
                if (j > i) pair[y[j] == y[i]][group[j] == group[i]] += 1.0;
            }
            information += log(both * N / (u * v)) / N;
            entropy -= (log(u / N) + log(v / N)) / N / 2.0;
        }
        double ss = pair[1][1], sd = pair[1][0], ds = pair[0][1], dd = pair[0][0];
        check_ok(h, bdml_compare_groups(h, N, classes, y, groups, group, &got));
        check_close(got.ari,
                    2 * (ss * dd - sd * ds) / ((ss + sd) * (sd + dd) + (ss + ds) * (ds + dd)),
                    1e-13);
        check_close(got.nmi, information / entropy, 1e-13);
    }
}

/* ---- k-means ---------------------------------------------------------------------------------------------------- */

/* Sum of squared distances to the means of the groups. */
static double energy_of(int n, int d, const double *x, int k, const int32_t *group)
{
    double sum = 0.0;
    for (int c = 0; c < k; c++)
        for (int j = 0; j < d; j++) {
            double count = 0, mean = 0;
            for (int i = 0; i < n; i++)
                if (group[i] == c) mean += x[i * d + j], count++;
            for (int i = 0; i < n && count > 0; i++)
                if (group[i] == c) sum += pow(x[i * d + j] - mean / count, 2);
        }
    return sum;
}

/* The best of all 3^8 partitions. Ten starts find it on points so few. */
static void best_of_all_partitions(void **state)
{
    bdml_handle *h = *state;
    enum { N = 8, D = 2, K = 3 };
    for (int trial = 0; trial < 10; trial++) {
        bdml_rng r = bdml_rng_make(17, (uint64_t)trial);
        double x[N * D], best = INFINITY, got;
        int32_t group[N];
        for (int i = 0; i < N * D; i++) x[i] = bdml_rng_normal(&r);
        for (int code = 0; code < 6561; code++) {
            int rest = code;
            for (int i = 0; i < N; i++, rest /= 3) group[i] = rest % 3;
            best = fmin(best, energy_of(N, D, x, K, group));
        }
        const bdml_rows rows = {N, D, D, x, NULL, 0, NULL};
        check_ok(h, bdml_kmeans(h, &rows, K, 1, group, &got));
        check_close(got, best, 1e-12);
        check_close(energy_of(N, D, x, K, group), got, 1e-12);
    }
}

static void planted_groups(void **state)
{
    bdml_handle *h = *state;
    enum { N = 2400, D = 5, K = 12 };
    static double x[N * D];
    static int32_t y[N], group[N], again[N];
    double energy, other;
    bdml_agreement got;
    bdml_rng r = bdml_rng_make(23, 0);
    for (int i = 0; i < N; i++) {
        y[i] = i % K;
        for (int j = 0; j < D; j++) x[i * D + j] = 9.0 * ((y[i] >> j) & 1) + bdml_rng_normal(&r);
    }
    const bdml_rows rows = {N, D, D, x, y, K, NULL};
    check_ok(h, bdml_kmeans(h, &rows, K, 1, group, &energy));
    check_ok(h, bdml_compare_groups(h, N, K, y, K, group, &got));
    assert_true(got.nmi > 0.999 && got.ari > 0.999); /* 9 deviations apart in each coordinate */
    check_ok(h, bdml_set(h, "threads", "3"));
    check_ok(h, bdml_kmeans(h, &rows, K, 1, again, &other));
    assert_true(energy == other && memcmp(group, again, sizeof group) == 0);
}

/* Equal points, and as many groups as different points, or as points: no group is empty, none is a quotient by 0. */
static void few_different_points(void **state)
{
    bdml_handle *h = *state;
    const double x[] = {0, 0, 0, 0, 1, 1, 5, 5};
    const bdml_rows rows = {8, 1, 1, x, NULL, 0, NULL};
    double energy;
    for (int k = 1; k <= 8; k++) {
        int32_t group[8];
        int met[8] = {0};
        check_ok(h, bdml_kmeans(h, &rows, k, 4, group, &energy));
        assert_true(isfinite(energy));
        if (k >= 3) assert_true(energy == 0.0);
        for (int i = 0; i < 8; i++) {
            assert_true(group[i] >= 0 && group[i] < k);
            met[group[i]]++;
        }
        for (int c = 0; c < BDML_MIN(k, 3); c++) assert_true(met[c] > 0);
    }
}

/* ---- in retrieval ------------------------------------------------------------------------------------------------ */

static double figure(const json_t *result, size_t entrant, const char *measure)
{
    const json_t *row = json_array_get(json_object_get(result, "methods"), entrant);
    const json_t *f = json_object_get(json_object_get(row, "unseen"), measure);
    return f ? json_number_value(json_object_get(f, "mean")) : NAN;
}

/* A loud column hides the classes from k-means; whitening brings them out, of classes unseen too. Only where asked for. */
static void whitening_brings_out_the_classes(void **state)
{
    bdml_handle *h = *state;
    enum { N = 320, D = 3 };
    static double x[N * D];
    static int64_t y[N];
    bdml_dataset *data;
    char *text;
    bdml_rng r = bdml_rng_make(5, 1);
    for (int i = 0; i < N; i++) {
        y[i] = i % 8;
        x[i * D] = 6.0 * (double)(y[i] % 4) + 0.5 * bdml_rng_normal(&r);
        x[i * D + 1] = 6.0 * (double)(y[i] / 4) + 0.5 * bdml_rng_normal(&r);
        x[i * D + 2] = 20.0 * bdml_rng_normal(&r);
    }
    check_ok(h, bdml_dataset_from_arrays(h, N, D, x, D, y, &data));
    check_ok(h, bdml_set(h, "methods", "whiten"));
    check_ok(h, bdml_set(h, "splits", "3"));
    check_ok(h, bdml_retrieve(h, data, &text));
    json_t *without = json_loads(text, 0, NULL);
    bdml_free_bytes(text);
    check_ok(h, bdml_set(h, "cluster", "yes"));
    check_ok(h, bdml_retrieve(h, data, &text));
    json_t *with = json_loads(text, 0, NULL);
    bdml_free_bytes(text);
    assert_true(isnan(figure(without, 0, "nmi")) && !isnan(figure(with, 0, "nmi")));
    assert_true(figure(with, 0, "nmi") < 30.0 && figure(with, 0, "ari") < 20.0);
    assert_true(figure(with, 1, "nmi") > 80.0 && figure(with, 1, "ari") > 80.0);
    assert_true(figure(with, 1, "map_at_r") == figure(without, 1, "map_at_r"));
    check_fails(h, bdml_retrieve_queries(h, data, data, "x", &text), BDML_ERR_ARGUMENT,
                "leave out cluster");
    json_decref(with);
    json_decref(without);
    bdml_free_dataset(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(as_scikit_learn),        handle_test(by_all_pairs),
        handle_test(best_of_all_partitions), handle_test(planted_groups),
        handle_test(few_different_points),   handle_test(whitening_brings_out_the_classes),
    };
    return cmocka_run_group_tests_name("cluster", tests, NULL, NULL);
}
