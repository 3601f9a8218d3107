/* test_claims.c - training claims no more than is proven, whatever the data: points far from each other, outliers,
 * constraints that nearly contradict each other. The truth is worked out by hand. */
#include "check.h"

#include <jansson.h>

#include "model/evidence.h"
#include "solver/solver.h"
#include "train/train.h"

/* "name value name value ..." */
static bdml_handle *handle_with(const char *settings)
{
    bdml_handle *h = NULL;
    char text[512], *save = NULL;
    assert_int_equal(bdml_create(&h), BDML_OK);
    snprintf(text, sizeof text, "%s", settings);
    for (char *name = strtok_r(text, " ", &save); name; name = strtok_r(NULL, " ", &save))
        check_ok(h, bdml_set(h, name, strtok_r(NULL, " ", &save)));
    return h;
}

static const json_t *said(const bdml_model *model, const char *key)
{
    return json_object_get(json_object_get(model->info, "certificate"), key);
}

static const char *word(const bdml_model *model, const char *key)
{
    const char *text = json_string_value(said(model, key));
    return text ? text : "";
}

static double figure(const bdml_model *model, const char *key)
{
    return json_is_number(said(model, key)) ? json_number_value(said(model, key)) : INFINITY;
}

static void check_confirmed(bdml_handle *h, const bdml_model *model, const bdml_dataset *data)
{
    int confirmed = 0;
    char *json = NULL;
    size_t i;
    json_t *check;
    check_ok(h, bdml_certify_model(h, model, data, &confirmed, &json));
    json_t *o = json_loads(json, 0, NULL);
    json_array_foreach(json_object_get(o, "checks"), i, check)
    {
        if (!confirmed && json_is_false(json_object_get(check, "passed")))
            printf("%s: %s\n", json_string_value(json_object_get(check, "check")),
                   json_string_value(json_object_get(check, "detail")));
    }
    check_true(confirmed);
    json_decref(o);
    bdml_free_bytes(json);
}

/* ---- references ------------------------------------------------------------------------------------ */

/* x = (a, a + 2^-44 b) with the reference (1, 0), 2^44 (-1, 1): points (a, b) on a grid, of which W, the scatter of x,
 * keeps nothing beyond 2^-88 of its size. The bracket is as narrow as for (a, b) given as they are. */
static void a_reference_may_amplify_what_is_left(void **state)
{
    enum { N = 60 };
    static const double map[] = {1.0, 0.0, -0x1p44, 0x1p44};
    double x[2 * N], points[2 * N], lower[2], upper[2];
    int64_t y[N];
    bdml_rng r = bdml_rng_make(3, 0);
    (void)state;
    for (int i = 0; i < N; i++) {
        y[i] = i % 2;
        points[2 * i] = (double)bdml_rng_below(&r, 64) / 64.0;
        points[2 * i + 1] = (double)(bdml_rng_below(&r, 64) + 16 * (uint64_t)y[i]) / 64.0;
        x[2 * i] = points[2 * i];
        x[2 * i + 1] = points[2 * i] + 0x1p-44 * points[2 * i + 1];
    }
    for (int given = 0; given < 2; given++) {
        bdml_handle *h = handle_with("distortion 10 softness 5 passes 1 gap 1e-7 reference none");
        bdml_dataset *data = NULL;
        bdml_model *model = NULL;
        if (given) check_ok(h, bdml_set_reference(h, 2, 2, map));
        check_ok(h, bdml_dataset_from_arrays(h, N, 2, given ? x : points, 2, y, &data));
        check_ok(h, bdml_train(h, data, NULL, &model));
        assert_string_equal(word(model, "status"), "optimal");
        lower[given] = figure(model, "lower");
        upper[given] = figure(model, "upper");
        check_confirmed(h, model, data);
        bdml_free_model(model);
        bdml_free_dataset(data);
        bdml_free(h);
    }
    check_true(lower[0] <= upper[1] && lower[1] <= upper[0]);
}

/* ---- infeasible ------------------------------------------------------------------------------------ */

/* Two triplets ask M_11 - M_22 >= 1 and (1+e)^2 M_22 - M_11 >= 1: together ((1+e)^2 - 1) M_22 >= 2, so that
 * trace(M) > 2 M_22 >= 4 / ((1+e)^2 - 1), where M is near a multiple of the identity. */
static bdml_model *opposites(bdml_handle *h, double e, bdml_dataset **data, bdml_status *status)
{
    double x[12] = {0, 0, 1, 0, 0, 1, 0, 0, 0, 1 + e, 1, 0};
    int64_t y[6] = {0, 0, 1, 0, 1, 0};
    int32_t targets[2] = {0, 1}, triplets[6] = {0, 2, 1, 3, 5, 4};
    bdml_constraints *c = NULL;
    bdml_model *model = NULL;
    check_ok(h, bdml_dataset_from_arrays(h, 6, 2, x, 2, y, data));
    check_ok(h, bdml_constraints_from_arrays(h, 6, 1, targets, 0, NULL, 2, triplets, &c));
    *status = bdml_train(h, *data, c, &model);
    bdml_free_constraints(c);
    return model;
}

static void near_contradictions_are_not_called_infeasible(void **state)
{
    (void)state;
    for (double e = 1e-14; e < 1e-5; e *= 100) {
        bdml_handle *h = handle_with("hard yes distortion 2 reference none max-iter 3000");
        bdml_dataset *data = NULL;
        bdml_status status;
        bdml_model *model = opposites(h, e, &data, &status);
        double a = 1 + e, needed = 4 / ((a - 1) * (a + 1));
        if (status == BDML_ERR_INFEASIBLE) {
            assert_string_equal(word(model, "status"), "out of reach");
            assert_string_equal(word(model, "proof"), "traces below");
            check_true(figure(model, "proof_trace") <= needed);
            check_true(strstr(bdml_last_error(h), "infeasible") == NULL);
        } else if (status == BDML_OK) {
            check_true(figure(model, "trace") >= needed * (1 - 1e-9));
        }
        if (model) check_confirmed(h, model, data);
        bdml_free_model(model);
        bdml_free_dataset(data);
        bdml_free(h);
    }
}

/* e = 0: the same two distances asked to be larger than each other. Only equal multipliers prove it. */
static void exact_contradictions_are_proven_for_every_trace(void **state)
{
    (void)state;
    for (int bounded = 0; bounded < 2; bounded++) {
        bdml_handle *h = handle_with("hard yes distortion 2 reference none");
        bdml_dataset *data = NULL;
        bdml_status status;
        if (bounded) check_ok(h, bdml_set(h, "trace", "1e4"));
        bdml_model *model = opposites(h, 0, &data, &status);
        assert_int_equal(status, BDML_ERR_INFEASIBLE);
        assert_string_equal(word(model, "status"), "infeasible");
        assert_string_equal(word(model, "proof"), "every trace and margin");
        assert_true(json_is_null(said(model, "proof_trace")));
        check_confirmed(h, model, data);
        bdml_free_model(model);
        bdml_free_dataset(data);
        bdml_free(h);
    }
}

/* Three distances, each asked to be larger than the next, in a circle: rows of different lengths, whose multipliers
 * the solver finds equal but for rounding. */
static void a_circle_is_proven_for_every_trace(void **state)
{
    bdml_handle *h = handle_with("hard yes distortion 100 reference none");
    double x[10] = {0, 0, 1, 0, 0.3, 1.7, -2, 0.9, 0.1, 0.2};
    int64_t y[5] = {0, 0, 1, 1, 0};
    int32_t targets[2] = {0, 4}, triplets[9] = {0, 2, 1, 0, 3, 2, 0, 1, 3};
    bdml_constraints *c = NULL;
    bdml_dataset *data = NULL;
    bdml_model *model = NULL;
    (void)state;
    check_ok(h, bdml_dataset_from_arrays(h, 5, 2, x, 2, y, &data));
    check_ok(h, bdml_constraints_from_arrays(h, 5, 1, targets, 0, NULL, 3, triplets, &c));
    check_fails(h, bdml_train(h, data, c, &model), BDML_ERR_INFEASIBLE, "every trace");
    check_confirmed(h, model, data);
    bdml_free_model(model);
    bdml_free_constraints(c);
    bdml_free_dataset(data);
    bdml_free(h);
}

/* A triplet of which the far and the near difference, (1, 0) and (1, e), are all but the same: its norm is sqrt(2) e,
 * however small e is. */
static void rows_that_all_but_cancel_have_their_norm(void **state)
{
    bdml_handle *h = handle_with("threads 1");
    (void)state;
    for (double e = 1e-3; e > 1e-15; e *= 0.1) {
        double x[8] = {0, 0, 1, 0, 0, 0, 1, e};
        int32_t targets[2] = {0, 3}, triplets[3] = {0, 3, 1};
        bdml_constraints *c = NULL;
        bdml_problem *p = NULL;
        check_ok(h, bdml_constraints_from_arrays(h, 4, 1, targets, 0, NULL, 1, triplets, &c));
        check_ok(h, bdml_problem_new_whole(h, 4, 2, x, 2, c, false, &p));
        check_close(bdml_problem_operator(p)->norm[0], sqrt(2) * e, 1e-6 * e);
        bdml_problem_free(p);
        bdml_free_constraints(c);
    }
    bdml_free(h);
}

/* One point under two labels: a pair that is to be 1 apart and is 0. The cap has digits that no product of it
 * keeps, and zero times it is zero still. */
static void a_point_under_two_labels_is_a_proof(void **state)
{
    bdml_handle *h =
        handle_with("hard yes kind pair distortion 47959.605475202676 reference none targets 1");
    double x[10] = {0, 0, 1, 0.3, 0, 0, 1, 1, 0.2, 0.9};
    int64_t y[5] = {0, 0, 1, 1, 0};
    bdml_dataset *data = NULL;
    bdml_model *model = NULL;
    (void)state;
    check_ok(h, bdml_dataset_from_arrays(h, 5, 2, x, 2, y, &data));
    check_fails(h, bdml_train(h, data, NULL, &model), BDML_ERR_INFEASIBLE, "every trace");
    check_confirmed(h, model, data);
    bdml_free_model(model);
    bdml_free_dataset(data);
    bdml_free(h);
}

/* ---- brackets ---------------------------------------------------------------------------------------- */

/* Gaussian points in d dimensions, two classes by turns; column 0 of row i is moved by `move(i)`. */
static bdml_dataset *placed(bdml_handle *h, int64_t n, int d, double (*move)(int64_t, double),
                            double far)
{
    bdml_dataset *data = NULL;
    bdml_rng rng = bdml_rng_make(5, (uint64_t)n);
    double *x = calloc((size_t)n * (size_t)d, sizeof *x);
    int64_t *y = calloc((size_t)n, sizeof *y);
    for (int64_t i = 0; i < n; i++) {
        y[i] = i % 2;
        for (int j = 0; j < d; j++)
            x[i * d + j] = bdml_rng_normal(&rng) + (j == 1 ? 3.0 * (double)y[i] : 0.0);
        x[i * d] += move(i, far);
    }
    check_ok(h, bdml_dataset_from_arrays(h, n, d, x, d, y, &data));
    free(x);
    free(y);
    return data;
}

static double outlier(int64_t i, double far)
{
    return i == 0 ? far : 0.0;
}

static double two_clusters(int64_t i, double far)
{
    return i % 4 < 2 ? far : 0.0;
}

static long double square_distance(const bdml_dataset *data, int32_t i, int32_t j)
{
    long double sum = 0.0L;
    for (int k = 0; k < data->d; k++) {
        long double v = (long double)data->x[i * data->d + k] - data->x[j * data->d + k];
        sum += v * v;
    }
    return sum;
}

/* K = 1, pairs: M = tI with t the largest 1 / |x_i - x_j|^2, whatever the placement. */
static void outliers_leave_the_bracket_true(void **state)
{
    (void)state;
    for (double far = 1.0; far < 1e13; far *= 1e3) {
        bdml_handle *h = handle_with("hard yes kind pair distortion 1 reference none");
        bdml_dataset *data = placed(h, 20, 2, outlier, far);
        bdml_model *model = NULL;
        check_ok(h, bdml_train(h, data, NULL, &model));
        const bdml_constraints *c = model->evidence->constraints;
        long double t = 0.0L, pull = 0.0L;
        for (int64_t k = 0; k < c->m; k++) {
            int32_t p = c->far[k];
            t = fmaxl(t, 1.0L / square_distance(data, c->pi[p], c->pj[p]));
        }
        for (int64_t k = 0; k < c->targets; k++) {
            int32_t p = c->target[k];
            pull += square_distance(data, c->pi[p], c->pj[p]) / (long double)c->targets;
        }
        long double optimum = t * pull;
        assert_string_equal(word(model, "status"), "optimal");
        check_true(figure(model, "lower") <= optimum && optimum <= figure(model, "upper"));
        check_confirmed(h, model, data);
        bdml_free_model(model);
        bdml_free_dataset(data);
        bdml_free(h);
    }
}

/* The optimum hardly depends on how far apart the clusters are, since all pairs lie within one: any two true
 * brackets overlap. */
static void clusters_far_apart_leave_the_bracket_true(void **state)
{
    double most_lower = 0.0, least_upper = INFINITY;
    (void)state;
    for (double far = 1e6; far < 2e9; far *= 10) {
        bdml_handle *h = handle_with("hard yes kind pair distortion 10 reference none targets 1");
        bdml_dataset *data = placed(h, 24, 3, two_clusters, far);
        bdml_model *model = NULL;
        check_ok(h, bdml_train(h, data, NULL, &model));
        assert_string_equal(word(model, "status"), "optimal");
        check_true(figure(model, "lower") <= figure(model, "upper"));
        most_lower = fmax(most_lower, figure(model, "lower"));
        least_upper = fmin(least_upper, figure(model, "upper"));
        check_confirmed(h, model, data);
        bdml_free_model(model);
        bdml_free_dataset(data);
        bdml_free(h);
    }
    check_true(most_lower <= least_upper * (1 + 1e-5)); /* adding 1e9 rounds the points by 1e-7 */
}

static double everywhere(int64_t i, double far)
{
    (void)i;
    return far;
}

static double one_near_pair(int64_t i, double far)
{
    return i == 7 ? far : 0.0;
}

/* An offset changes nothing but the digits of the points: 2^44 takes 44 of 53, and the reference is made and applied
 * without losing more. */
static void offsets_do_not_matter_to_a_reference(void **state)
{
    double lower[2], upper[2];
    (void)state;
    for (int k = 0; k < 2; k++) {
        bdml_handle *h = handle_with("hard yes kind pair distortion 10 reference within");
        bdml_dataset *data = placed(h, 20, 2, everywhere, k == 0 ? 0.0 : 0x1p44);
        bdml_model *model = NULL;
        check_ok(h, bdml_train(h, data, NULL, &model));
        assert_string_equal(word(model, "status"), "optimal");
        lower[k] = figure(model, "lower");
        upper[k] = figure(model, "upper");
        check_confirmed(h, model, data);
        bdml_free_model(model);
        bdml_free_dataset(data);
        bdml_free(h);
    }
    check_true(lower[1] <= upper[0] * 1.2 &&
               lower[0] <= upper[1] * 1.2); /* points rounded by 2^-9 */
}

/* Two points of different classes, 1e-13 apart and less: M is of the size 1e26, and its margins are met, exactly. */
static void near_pairs_are_met(void **state)
{
    static const double apart[] = {1e-13, 4e-14, 2e-14, 1e-14, 5e-15};
    (void)state;
    for (size_t k = 0; k < sizeof apart / sizeof *apart; k++) {
        bdml_handle *h = handle_with("hard yes kind pair distortion 10 reference none");
        bdml_dataset *data = placed(h, 20, 2, one_near_pair, 0.0);
        bdml_model *model = NULL;
        for (int j = 0; j < 2; j++) data->x[7 * 2 + j] = data->x[6 * 2 + j] * (1 + apart[k]);
        check_ok(h, bdml_train(h, data, NULL, &model));
        assert_string_equal(word(model, "status"), "optimal");
        check_confirmed(h, model, data);
        bdml_free_model(model);
        bdml_free_dataset(data);
        bdml_free(h);
    }
}

/* Without a reference the rows of L are orthogonal: their squared lengths are the eigenvalues of M. */
static double spread_of_rows(const bdml_model *model)
{
    double least = INFINITY, most = 0.0;
    for (int i = 0; i < model->q; i++) {
        double square = 0.0;
        for (int j = 0; j < model->d; j++)
            square += model->l[i * model->d + j] * model->l[i * model->d + j];
        least = fmin(least, square), most = fmax(most, square);
    }
    return most / least;
}

/* Few points in many dimensions: the objective rests on the smallest eigenvalues. */
static void the_largest_distortion_is_certified(void **state)
{
    static const char *const forms[] = {"hard yes kind pair", "hard yes kind triplet", "rule class",
                                        "rule class loss hinge"};
    (void)state;
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        bdml_handle *h = handle_with(forms[f]);
        bdml_dataset *data = placed(h, 6, 5, everywhere, 0.0);
        bdml_model *model = NULL;
        check_ok(h, bdml_set(h, "reference", "none"));
        check_ok(h, bdml_set(h, "targets", "2"));
        check_ok(h, bdml_set(h, "distortion", "1e9"));
        check_fails(h, bdml_set(h, "distortion", "1e10"), BDML_ERR_ARGUMENT, "distortion");
        check_ok(h, bdml_train(h, data, NULL, &model));
        assert_string_equal(word(model, "status"), "optimal");
        check_confirmed(h, model, data);
        assert_int_equal(model->q, model->d);
        check_true(spread_of_rows(model) <= 1e9 * (1 + 1e-11));
        bdml_free_model(model);
        bdml_free_dataset(data);
        bdml_free(h);
    }
}

/* What would help is told: the row that lies far out. */
static void rounding_is_told_with_what_would_help(void **state)
{
    bdml_handle *h = handle_with("hard yes kind pair distortion 1e9 reference none gap 1e-9");
    bdml_dataset *data = placed(h, 20, 3, outlier, 1e11);
    bdml_model *model = NULL;
    (void)state;
    check_ok(h, bdml_train(h, data, NULL, &model));
    assert_string_equal(word(model, "status"), "stopped");
    assert_string_equal(word(model, "stopped_by"), "rounding");
    check_true(strstr(word(model, "help"), "row 1 lies") != NULL);
    check_confirmed(h, model, data);
    bdml_free_model(model);
    bdml_free_dataset(data);
    bdml_free(h);
}

/* A trace bound just under what the optimum has without one leaves little room inside the margins, and multipliers
 * are large. The augmented Lagrangian alone stalls at gaps up to 0.45. */
static void a_trace_just_enough_is_solved(void **state)
{
    static const double x[40] = {0.72,  -0.67, -0.11, 0.65,  0.61,  0.84,  0.58,  1.87,
                                 0.24,  0.60,  2.01,  -0.98, 0.71,  0.53,  0.99,  0.43,
                                 -1.07, -1.10, -0.20, -0.27, -0.31, -1.81, -0.87, 0.30,
                                 -0.51, -2.47, 0.63,  -0.24, 0.07,  -1.16, 2.65,  -0.22,
                                 -2.14, 0.22,  0.36,  0.18,  -2.01, 1.35,  0.10,  1.07};
    static const int64_t y[8] = {0, 1, 0, 1, 0, 1, 0, 1};
    static const double share[] = {2.0, 0.9999, 0.9995, 0.999, 0.998};
    double trace = 1e6, before = 0.0;
    (void)state;
    for (size_t k = 0; k < sizeof share / sizeof *share; k++) {
        bdml_handle *h = handle_with("hard yes kind triplet distortion 1e4 reference none scale "
                                     "unit targets 2 impostors 2");
        bdml_dataset *data = NULL;
        bdml_model *model = NULL;
        char text[32];
        snprintf(text, sizeof text, "%.17g", share[k] * trace);
        check_ok(h, bdml_set(h, "trace", text));
        check_ok(h, bdml_dataset_from_arrays(h, 8, 5, x, 5, y, &data));
        check_ok(h, bdml_train(h, data, NULL, &model));
        assert_string_equal(word(model, "status"), "optimal");
        if (k == 0) trace = figure(model, "trace");
        check_true(figure(model, "upper") >= before); /* less room, no smaller optimum */
        before = figure(model, "lower");
        check_confirmed(h, model, data);
        bdml_free_model(model);
        bdml_free_dataset(data);
        bdml_free(h);
    }
}

/* ---- low rank ------------------------------------------------------------------------------------------ */

/* Eigenvalues of L L', L two rows: those of M = L'L on its range. */
static double kappa_of_two_rows(const bdml_model *model)
{
    double a = 0, b = 0, c = 0;
    for (int j = 0; j < model->d; j++) {
        double u = model->l[j], v = model->l[model->d + j];
        a += u * u, b += u * v, c += v * v;
    }
    double root = sqrt((a - c) * (a - c) + 4 * b * b);
    return (a + c + root) * (a + c + root) / (4 * (a * c - b * b));
}

/* Q of the paper's sampling: with rows that are not orthonormal the cap on Lambda is none on M, and what the sample
 * reaches is no value of the problem over orthonormal Q. "optimal" means the gap asked, of the last Lambda too. */
static void the_paper_s_q_is_measured(void **state)
{
    int beyond = 0;
    (void)state;
    for (int seed = 1; seed <= 6; seed++) {
        bool orthonormal = seed % 2 == 0;
        bdml_handle *h = handle_with("hard yes kind pair distortion 10 scale zscore rank 2 q-step "
                                     "paper q-rounds 50");
        bdml_dataset *data = NULL;
        bdml_model *model = NULL;
        char text[16];
        snprintf(text, sizeof text, "%d", seed);
        check_ok(h, bdml_set(h, "seed", text));
        check_ok(h, bdml_set(h, "q-orthonormal", orthonormal ? "yes" : "no"));
        check_ok(h, bdml_read_dataset(h, source_path("data/iris.csv"), &data));
        check_ok(h, bdml_train(h, data, NULL, &model));
        const json_t *o = json_object_get(model->info, "low_rank");
        const json_t *relaxation = json_object_get(o, "relaxation");
        double kappa = json_number_value(json_object_get(o, "kappa_on_range"));
        check_close(kappa, kappa_of_two_rows(model), 1e-9 * kappa);
        if (orthonormal) check_true(kappa <= 10 * (1 + 1e-9));
        beyond += kappa > 11;
        const json_t *achieved = json_object_get(relaxation, "qp_achieved");
        check_true(orthonormal || json_is_null(achieved));
        if (json_is_number(achieved))
            check_true(json_number_value(json_object_get(relaxation, "sdp_lower")) <=
                       json_number_value(achieved));
        assert_string_equal(word(model, "status"), "optimal");
        check_true(figure(model, "gap") <= 1e-3);
        bdml_free_model(model);
        bdml_free_dataset(data);
        bdml_free(h);
    }
    check_true(beyond > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(near_contradictions_are_not_called_infeasible),
        cmocka_unit_test(exact_contradictions_are_proven_for_every_trace),
        cmocka_unit_test(a_circle_is_proven_for_every_trace),
        cmocka_unit_test(rows_that_all_but_cancel_have_their_norm),
        cmocka_unit_test(a_point_under_two_labels_is_a_proof),
        cmocka_unit_test(outliers_leave_the_bracket_true),
        cmocka_unit_test(clusters_far_apart_leave_the_bracket_true),
        cmocka_unit_test(offsets_do_not_matter_to_a_reference),
        cmocka_unit_test(a_reference_may_amplify_what_is_left),
        cmocka_unit_test(near_pairs_are_met),
        cmocka_unit_test(the_largest_distortion_is_certified),
        cmocka_unit_test(rounding_is_told_with_what_would_help),
        cmocka_unit_test(a_trace_just_enough_is_solved),
        cmocka_unit_test(the_paper_s_q_is_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
