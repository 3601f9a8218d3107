/* test_model_apply.c - a model applied: transform, distances, votes, against plain loops. */
#include "sample_model.h"

/* z = L basis' ((x - shift) / width - center) by plain loops. */
static void plain_transform(const bdml_model *m, const double *x, double *z)
{
    const bdml_prepare *p = &m->prepare;
    double s[D], b[D];
    for (int j = 0; j < p->d_in; j++) s[j] = (x[j] - p->shift[j]) / p->width[j] - p->center[j];
    for (int a = 0; a < m->d; a++) {
        b[a] = 0;
        for (int j = 0; j < p->d_in; j++) b[a] += p->basis[a * p->d_in + j] * s[j];
    }
    for (int r = 0; r < m->q; r++) {
        z[r] = 0;
        for (int a = 0; a < m->d; a++) z[r] += m->l[r * m->d + a] * b[a];
    }
}

static void transform_equals_plain_loops(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = sample(h, in_order);
    check_ok(h, bdml_set(h, "scale", "zscore"));
    check_ok(h, bdml_set(h, "pca", "3"));
    bdml_model *m = trained(h, data, 2);
    double z[2 * N], want[2], wide[N * (D + 1)];
    for (int i = 0; i < N; i++) memcpy(wide + i * (D + 1), data->x + i * D, sizeof(double) * D);
    check_ok(h, bdml_transform(h, m, N, wide, D + 1, z));
    for (int i = 0; i < N; i++) {
        plain_transform(m, data->x + i * D, want);
        for (int r = 0; r < 2; r++) check_close(z[2 * i + r], want[r], 1e-13);
    }
    check_true(memcmp(z, m->z, sizeof z) == 0); /* the points kept are the points transformed */
    double one[2];
    for (int i = 0; i < N; i += 37) { /* alone or among others: the same bits */
        check_ok(h, bdml_transform(h, m, 1, data->x + i * D, D, one));
        check_true(memcmp(one, z + 2 * i, sizeof one) == 0);
    }
    wide[70 * (D + 1) + 2] = NAN;
    check_fails(h, bdml_transform(h, m, N, wide, D + 1, z), BDML_ERR_DATA, "row 70, column 2");
    check_fails(h, bdml_transform(h, m, N, wide, D - 1, z), BDML_ERR_ARGUMENT, "4 values");
    check_fails(h, bdml_transform(h, m, -1, wide, D, z), BDML_ERR_ARGUMENT, "-1 points");
    check_fails(h, bdml_transform(h, NULL, 1, wide, D, z), BDML_ERR_ARGUMENT, "NULL");
    check_ok(h, bdml_transform(h, m, 0, NULL, D, NULL));
    bdml_free_model(m);
    bdml_free_dataset(data);
}

/* d = 300 and 1 MiB: blocks of 384 rows, so 1000 rows take three; bits as in one block, for any
 * number of threads; a bad row is named by its number among all. */
static void blocks_and_threads_do_not_change_bits(void **state)
{
    bdml_handle *h = *state;
    enum { n = 1000, d = 300, q = 20 };
    bdml_rng r = bdml_rng_make(3, 3);
    double *x = malloc(sizeof(double) * n * d), *l = malloc(sizeof(double) * q * d);
    double *z = malloc(sizeof(double) * n * q), *other = malloc(sizeof(double) * n * q);
    bdml_model *m;
    fill_normal(&r, (size_t)n * d, x);
    fill_normal(&r, (size_t)q * d, l);
    check_ok(h, bdml_model_from_map(h, q, d, l, 0, &m));
    check_ok(h, bdml_set(h, "threads", "1"));
    check_ok(h, bdml_transform(h, m, n, x, d, z));
    check_ok(h, bdml_set(h, "threads", "2"));
    check_ok(h, bdml_set(h, "memory", "1"));
    check_true(bdml_model_block(h, d * sizeof(double)) == 384);
    check_ok(h, bdml_transform(h, m, n, x, d, other));
    check_true(memcmp(z, other, sizeof(double) * n * q) == 0);
    x[900 * d + 7] = INFINITY;
    check_fails(h, bdml_transform(h, m, n, x, d, z), BDML_ERR_DATA, "row 900, column 7");
    bdml_free_model(m);
    free(x), free(l), free(z), free(other);
}

/* Pairs in any order, with repeats; against transform and a plain loop. */
static void distances_equal_plain_loops(void **state)
{
    bdml_handle *h = *state;
    enum { PAIRS = 20000 };
    bdml_dataset *data = sample(h, in_order);
    check_ok(h, bdml_set(h, "scale", "zscore"));
    bdml_model *m = trained(h, data, 3);
    int64_t *pairs = malloc(2 * PAIRS * sizeof *pairs);
    double *distance = malloc(PAIRS * sizeof *distance), z[3 * N];
    bdml_rng r = bdml_rng_make(4, 4);
    for (int k = 0; k < 2 * PAIRS; k++) pairs[k] = 1 + (int64_t)bdml_rng_below(&r, N - 1);
    pairs[0] = pairs[1] = 5;
    check_ok(h, bdml_transform(h, m, N, data->x, D, z));
    data->x[0] = NAN; /* row 0 is in no pair: it is not touched */
    check_ok(h, bdml_distances(h, m, N, data->x, D, PAIRS, pairs, distance));
    check_true(distance[0] == 0.0);
    for (int t = 0; t < PAIRS; t++) {
        const double *a = z + 3 * pairs[2 * t], *b = z + 3 * pairs[2 * t + 1];
        double want = 0;
        for (int j = 0; j < 3; j++) want += (a[j] - b[j]) * (a[j] - b[j]);
        check_close(distance[t], want, 1e-14 * want); /* products may be fused with sums */
    }
    pairs[7] = 0;
    check_fails(h, bdml_distances(h, m, N, data->x, D, 4, pairs, distance), BDML_ERR_DATA,
                "row 0, column 0");
    pairs[7] = N;
    check_fails(h, bdml_distances(h, m, N, data->x, D, 4, pairs, distance), BDML_ERR_ARGUMENT,
                "pair 3 names row 150, rows are 0 to 149");
    check_fails(h, bdml_distances(h, m, N, data->x, D, 4, NULL, distance), BDML_ERR_ARGUMENT,
                "4 pairs");
    check_ok(h, bdml_distances(h, m, N, data->x, D, 0, NULL, NULL));
    free(pairs);
    free(distance);
    bdml_free_model(m);
    bdml_free_dataset(data);
}

/* 20000 points in 4 dimensions do not fit twice into 1 MiB: three blocks of pairs, and the same bits
 * as from one. Pairs of a row with itself are exactly 0. */
static void distances_in_blocks_have_the_same_bits(void **state)
{
    bdml_handle *h = *state;
    enum { n = 20000, d = 4, PAIRS = 30000 };
    bdml_rng r = bdml_rng_make(5, 5);
    double *x = malloc(sizeof(double) * n * d), l[d * d];
    double *one = malloc(sizeof(double) * PAIRS), *many = malloc(sizeof(double) * PAIRS);
    int64_t *pairs = malloc(2 * PAIRS * sizeof *pairs);
    bdml_model *m;
    fill_normal(&r, (size_t)n * d, x);
    fill_normal(&r, d * d, l);
    for (int k = 0; k < 2 * PAIRS; k++) pairs[k] = (int64_t)bdml_rng_below(&r, n);
    for (int t = 0; t < PAIRS; t += 100) pairs[2 * t + 1] = pairs[2 * t];
    check_ok(h, bdml_model_from_map(h, d, d, l, 0, &m));
    check_ok(h, bdml_distances(h, m, n, x, d, PAIRS, pairs, one));
    check_ok(h, bdml_set(h, "memory", "1"));
    check_ok(h, bdml_set(h, "threads", "2"));
    check_true(bdml_model_block(h, 2 * (d + 1) * sizeof(double)) * 2 < PAIRS); /* three blocks */
    check_ok(h, bdml_distances(h, m, n, x, d, PAIRS, pairs, many));
    check_true(memcmp(one, many, sizeof(double) * PAIRS) == 0);
    for (int t = 0; t < PAIRS; t++)
        check_true((one[t] == 0.0) == (pairs[2 * t] == pairs[2 * t + 1]));
    bdml_free_model(m);
    free(x), free(one), free(many), free(pairs);
}

/* 3-NN by plain loops over mapped points; distances differ here, so that ties play no role. */
static int32_t plain_vote(const bdml_model *m, const double *z, const double *point)
{
    int best[3] = {-1, -1, -1}, count[CLASSES] = {0}, winner;
    for (int k = 0; k < 3; k++) {
        double least = INFINITY;
        for (int i = 0; i < N; i++) {
            double dist = 0;
            for (int j = 0; j < m->q; j++) dist += pow(z[i * m->q + j] - point[j], 2);
            if (dist < least && i != best[0] && i != best[1]) least = dist, best[k] = i;
        }
    }
    winner = m->y[best[0]];
    for (int k = 0; k < 3; k++)
        if (++count[m->y[best[k]]] == 2) winner = m->y[best[k]];
    return winner;
}

static void prediction_is_by_the_nearest(void **state)
{
    bdml_handle *h = *state;
    static const int turned[CLASSES] = {2, 0, 1};
    bdml_dataset *data = sample(h, in_order), *renamed = sample(h, turned);
    check_ok(h, bdml_set(h, "scale", "zscore"));
    bdml_model *m = trained(h, data, 3);
    double x[N * D], z[N * 3];
    int32_t own[N], given[N], other[N];
    bdml_rng r = bdml_rng_make(6, 6);
    for (int k = 0; k < N * D; k++) x[k] = data->x[k] + 0.5 * bdml_rng_normal(&r);
    check_ok(h, bdml_transform(h, m, N, x, D, z));
    check_ok(h, bdml_predict(h, m, NULL, N, x, D, own));
    for (int i = 0; i < N; i++) assert_int_equal(own[i], plain_vote(m, m->z, z + 3 * i));
    check_ok(h, bdml_predict(h, m, data, N, x, D, given));
    check_true(memcmp(own, given, sizeof own) == 0);
    check_ok(h, bdml_predict(h, m, renamed, N, x, D, other)); /* classes numbered otherwise */
    check_true(memcmp(own, other, sizeof own) == 0);
    check_ok(h, bdml_set(h, "neighbors", "100000")); /* more than there are */
    check_ok(h, bdml_predict(h, m, NULL, 3, x, D, own));

    strcpy(renamed->class_name[0], "x");
    check_fails(h, bdml_predict(h, m, renamed, N, x, D, other), BDML_ERR_DATA, "class 'x'");
    renamed->d = 3;
    check_fails(h, bdml_predict(h, m, renamed, N, x, D, other), BDML_ERR_DATA, "3 columns");
    renamed->d = D;
    free(m->y);
    m->y = NULL;
    check_fails(h, bdml_predict(h, m, NULL, N, x, D, own), BDML_ERR_DATA,
                "keeps no labelled points");
    bdml_free_model(m);
    bdml_free_dataset(data);
    bdml_free_dataset(renamed);
}

/* Shares of 3 votes and neighbours against the vote and the plain loop; voters that are asked row by row. */
static void shares_and_neighbors_belong_to_the_vote(void **state)
{
    bdml_handle *h = *state;
    enum { K = 4 };
    bdml_dataset *data = sample(h, in_order);
    bdml_model *m = trained(h, data, 3);
    bdml_voters *voters;
    double share[N * CLASSES], one[CLASSES], z[N * 3], distance[N * K];
    int32_t label[N], single, index[N * K];
    check_ok(h, bdml_transform(h, m, N, data->x, D, z));
    check_ok(h, bdml_predict(h, m, data, N, data->x, D, label));
    check_ok(h, bdml_predict_shares(h, m, NULL, N, data->x, D, share));
    check_ok(h, bdml_model_neighbors(h, m, N, data->x, D, K, index, distance));
    check_ok(h, bdml_make_voters(h, m, data, &voters));
    assert_int_equal(bdml_voters_classes(voters), CLASSES);
    for (int i = 0; i < N; i++) {
        double sum = 0.0, mine[CLASSES] = {0};
        for (int k = 0; k < 3; k++) mine[m->y[index[i * K + k]]] += 1.0;
        for (int c = 0; c < CLASSES; c++) {
            check_close(share[i * CLASSES + c], mine[c] / 3, 0);
            sum += share[i * CLASSES + c];
            check_true(share[i * CLASSES + c] <= share[i * CLASSES + label[i]]);
        }
        check_close(sum, 1.0, 1e-15);
        assert_int_equal(index[i * K], i); /* itself */
        for (int k = 0; k < K; k++) {
            double d2 = 0.0;
            for (int j = 0; j < 3; j++) d2 += pow(z[3 * i + j] - m->z[3 * index[i * K + k] + j], 2);
            check_close(distance[i * K + k], d2, 1e-12);
        }
        check_ok(h, bdml_vote(h, voters, 1, data->x + i * D, D, &single, one));
        assert_int_equal(single, label[i]);
        check_true(memcmp(one, share + i * CLASSES, sizeof one) == 0);
    }
    check_ok(h, bdml_vote(h, voters, 1, data->x, D, NULL, one));
    check_fails(h, bdml_vote(h, voters, 1, data->x, D, NULL, NULL), BDML_ERR_ARGUMENT, "NULL");
    check_fails(h, bdml_vote(h, voters, 1, data->x, 1, &single, NULL), BDML_ERR_ARGUMENT, "apart");
    check_fails(h, bdml_vote(h, NULL, 1, data->x, D, &single, NULL), BDML_ERR_ARGUMENT, "voters");
    check_fails(h, bdml_model_neighbors(h, m, 1, data->x, D, 0, index, NULL), BDML_ERR_ARGUMENT,
                "k must be");
    m->points = 0;
    check_fails(h, bdml_model_neighbors(h, m, 1, data->x, D, 1, index, NULL), BDML_ERR_DATA,
                "keeps no points");
    bdml_free_voters(voters);
    bdml_free_voters(NULL);
    bdml_free_model(m);
    bdml_free_dataset(data);
}

static void points_are_kept_within_the_limit(void **state)
{
    bdml_handle *h = *state;
    static const double one[] = {1};
    enum { MANY = 8400000 }; /* 64.1 MiB of doubles */
    double *x = calloc(MANY, sizeof *x);
    bdml_model *m;
    check_ok(h, bdml_model_from_map(h, 1, 1, one, 0, &m));
    bdml_rows rows = {.n = MANY, .d = 1, .ld = 1, .x = x};
    check_ok(h, bdml_model_keep_points(h, BDML_AUTO_AUTO, m, NULL, MANY, &rows, NULL));
    assert_int_equal(m->points, 0);
    rows.n = 1000;
    check_ok(h, bdml_model_keep_points(h, BDML_AUTO_AUTO, m, NULL, 1000, &rows, NULL));
    assert_int_equal(m->points, 1000);
    bdml_free_model(m);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(transform_equals_plain_loops),
        handle_test(blocks_and_threads_do_not_change_bits),
        handle_test(distances_equal_plain_loops),
        handle_test(distances_in_blocks_have_the_same_bits),
        handle_test(prediction_is_by_the_nearest),
        handle_test(shares_and_neighbors_belong_to_the_vote),
        handle_test(points_are_kept_within_the_limit),
    };
    return cmocka_run_group_tests(tests, enter_blas, leave_blas);
}
