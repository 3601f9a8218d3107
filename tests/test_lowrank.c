/* test_lowrank.c - metrics of low rank: a planted subspace is found, what is returned is never worse than the
 * start and never below the joint bound, the objective is recomputed by plain loops, models travel. */
#include "check.h"

#include <jansson.h>

#include "lowrank/lowrank.h"
#include "model/evidence.h"
#include "train/train.h"

static void set_all(bdml_handle *h, const char *settings)
{
    char text[512], *save = NULL;
    snprintf(text, sizeof text, "%s", settings);
    for (char *name = strtok_r(text, " ", &save); name; name = strtok_r(NULL, " ", &save))
        check_ok(h, bdml_set(h, name, strtok_r(NULL, " ", &save)));
}

static bdml_dataset *read_data(bdml_handle *h, const char *name)
{
    bdml_dataset *data = NULL;
    check_ok(h, bdml_read_dataset(h, source_path(name), &data));
    return data;
}

/* Four classes at the corners of a square in the last two of d coordinates; the others are noise of more
 * spread, so that the leading principal components are those. */
enum { PLANTED_D = 8 };
static bdml_dataset *planted(bdml_handle *h, int64_t n)
{
    bdml_dataset *data = NULL;
    bdml_rng rng = bdml_rng_make(11, 0);
    double *x = calloc((size_t)n * PLANTED_D, sizeof *x);
    int64_t *y = calloc((size_t)n, sizeof *y);
    for (int64_t i = 0; i < n; i++) {
        y[i] = i % 4;
        for (int j = 0; j < PLANTED_D; j++) x[i * PLANTED_D + j] = 3.0 * bdml_rng_normal(&rng);
        x[i * PLANTED_D + PLANTED_D - 2] = (y[i] % 2 ? 2.0 : -2.0) + 0.3 * bdml_rng_normal(&rng);
        x[i * PLANTED_D + PLANTED_D - 1] = (y[i] / 2 ? 2.0 : -2.0) + 0.3 * bdml_rng_normal(&rng);
    }
    check_ok(h, bdml_dataset_from_arrays(h, n, PLANTED_D, x, PLANTED_D, y, &data));
    free(x);
    free(y);
    return data;
}

static bdml_constraints *mine(bdml_handle *h, const bdml_dataset *data, int kind)
{
    bdml_constraints *c;
    /* most of the class: the nearest alone would be near in the noise too, which then is not pulled at */
    int targets = kind == BDML_KIND_PAIR ? 3 : (int)data->n / 5;
    bdml_mining how = {.kind = kind,
                       .rule = BDML_RULE_CLASS,
                       .targets = targets,
                       .random_impostors = 3};
    check_ok(h, bdml_mine(h, data->n, data->d, data->x, data->d, data->y, &how, &c));
    return c;
}

/* (x_i - x_j)' M (x_i - x_j), M = Q' Lambda Q, by plain loops. */
static double distance(const bdml_dataset *data, int q, const double *Q, const double *lambda,
                       bool full, int32_t i, int32_t j)
{
    double z[16] = {0}, sum = 0;
    for (int k = 0; k < q; k++)
        for (int f = 0; f < data->d; f++)
            z[k] += Q[k * data->d + f] * (data->x[i * data->d + f] - data->x[j * data->d + f]);
    for (int a = 0; a < q; a++) {
        if (!full) sum += lambda[a] * z[a] * z[a];
        for (int b = 0; full && b < q; b++) sum += lambda[a * q + b] * z[a] * z[b];
    }
    return sum;
}

static double plain_objective(const bdml_dataset *data, const bdml_constraints *c, double C, int q,
                              const double *Q, const double *lambda, bool full)
{
    double sum = 0, loss = 0;
    for (int64_t t = 0; t < c->targets; t++)
        sum += distance(data, q, Q, lambda, full, c->pi[c->target[t]], c->pj[c->target[t]]);
    for (int64_t t = 0; t < c->m; t++) {
        double v = distance(data, q, Q, lambda, full, c->pi[c->far[t]], c->pj[c->far[t]]);
        if (c->near[t] >= 0)
            v -= distance(data, q, Q, lambda, full, c->pi[c->near[t]], c->pj[c->near[t]]);
        if (v < 1.0) loss += (1.0 - v) * (1.0 - v);
    }
    return sum / (double)c->targets + C / (double)c->m * loss;
}

static void check_orthonormal(int q, int d, const double *Q)
{
    for (int a = 0; a < q; a++)
        for (int b = 0; b <= a; b++) {
            double sum = 0;
            for (int f = 0; f < d; f++) sum += Q[a * d + f] * Q[b * d + f];
            check_close(sum, a == b, 1e-12);
        }
}

/* Share of the rows of Q that lies in the last two coordinates. */
static double share_of_plant(int q, int d, const double *Q)
{
    double sum = 0;
    for (int k = 0; k < q; k++)
        sum += Q[k * d + d - 2] * Q[k * d + d - 2] + Q[k * d + d - 1] * Q[k * d + d - 1];
    return sum / q;
}

static bdml_lowrank_settings settings(int q, bdml_q_step step, bool full)
{
    return (bdml_lowrank_settings){.q = q,
                                   .step = step,
                                   .full = full,
                                   .span = 1000,
                                   .alternations = 20,
                                   .tolerance = 1e-4,
                                   .bound = 200,
                                   .solve = bdml_solve_defaults()};
}

/* ---- the fit ------------------------------------------------------------------------------------------- */

static void test_planted_subspace(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = planted(h, 120);
    bdml_constraints *c = mine(h, data, BDML_KIND_TRIPLET);
    static const bdml_q_step steps[] = {BDML_Q_STEP_MANIFOLD, BDML_Q_STEP_HULL};
    for (int k = 0; k < 4; k++) {
        bdml_lowrank_settings s = settings(2, steps[k % 2], k >= 2);
        bdml_solve_result r;
        bdml_lowrank_report report;
        double Q[2 * PLANTED_D];
        check_ok(h, bdml_lowrank_start(h, "pca", 0, data->n, data->d, data->x, 0, NULL, 2, Q));
        check_orthonormal(2, data->d, Q);
        check_true(share_of_plant(2, data->d, Q) < 0.2); /* PCA sees the noise */
        s.solve.C = 20.0; /* a softness relative to the start would differ with it */
        check_ok(h, bdml_lowrank_fit(h, data->n, data->d, data->x, data->d, c, NULL, &s, Q, &r,
                                     &report));
        check_orthonormal(2, data->d, Q);
        check_true(share_of_plant(2, data->d, Q) > 0.99);
        check_close(plain_objective(data, c, r.C, 2, Q, r.m, s.full), r.upper, 1e-9 * r.upper);
        check_true(report.achieved == r.upper && report.achieved < 0.5 * report.start);
        check_true(report.lower > 0.0 && report.lower <= report.achieved);
        check_true(report.achieved <= 1.1 * report.lower); /* the hull is nearly tight here */
        check_true(r.kappa <= 10.0 * (1 + 1e-9));
        if (steps[k % 2] == BDML_Q_STEP_HULL)
            check_true(report.lower_q <= report.upper_q * (1 + 1e-9));
        bdml_solve_result_free(&r);
    }
    bdml_free_constraints(c);
    bdml_free_dataset(data);
}

/* No Q and Lambda that we can think of goes below the joint bound. */
static void test_joint_bound(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = planted(h, 60);
    bdml_constraints *c = mine(h, data, BDML_KIND_TRIPLET);
    bdml_lowrank_settings s = settings(2, BDML_Q_STEP_MANIFOLD, false);
    bdml_solve_result r;
    bdml_lowrank_report report;
    bdml_rng rng = bdml_rng_make(5, 0);
    double best[2 * PLANTED_D], Q[2 * PLANTED_D];
    s.solve.C = 20.0;
    s.solve.K = 4.0;
    check_ok(h, bdml_lowrank_start(h, "pca", 0, data->n, data->d, data->x, 0, NULL, 2, best));
    check_ok(h, bdml_lowrank_fit(h, data->n, data->d, data->x, data->d, c, NULL, &s, best, &r,
                                 &report));
    for (int trial = 0; trial < 400; trial++) {
        double spread = pow(10.0, -3.0 * bdml_rng_uniform(&rng)), lambda[2];
        for (int i = 0; i < 2 * PLANTED_D; i++) Q[i] = best[i] + spread * bdml_rng_normal(&rng);
        check_ok(h, bdml_la_orth(h, PLANTED_D, 2, Q));
        lambda[0] = r.m[0] * exp(spread * bdml_rng_normal(&rng));
        lambda[1] = fmin(fmax(r.m[1] * exp(spread * bdml_rng_normal(&rng)), lambda[0] / 4.0),
                         lambda[0] * 4.0);
        check_true(plain_objective(data, c, 20.0, 2, Q, lambda, false) >= report.lower);
    }
    bdml_solve_result_free(&r);
    bdml_free_constraints(c);
    bdml_free_dataset(data);
}

/* Hard margins: every margin is met by what is returned, and the objective is not above that of the start. */
static void test_hard(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = planted(h, 40);
    bdml_constraints *c = mine(h, data, BDML_KIND_PAIR);
    for (int k = 0; k < 2; k++) {
        bdml_lowrank_settings s = settings(3, k ? BDML_Q_STEP_HULL : BDML_Q_STEP_MANIFOLD, true);
        bdml_solve_result r;
        bdml_lowrank_report report;
        double Q[3 * PLANTED_D];
        s.solve.hard = true;
        s.bound = 2000;
        s.alternations = 5;
        check_ok(h, bdml_lowrank_start(h, "pca", 0, data->n, data->d, data->x, 0, NULL, 3, Q));
        check_ok(h, bdml_lowrank_fit(h, data->n, data->d, data->x, data->d, c, NULL, &s, Q, &r,
                                     &report));
        check_true(r.m != NULL && report.achieved <= report.start && report.turns > 0);
        check_true(report.lower <= report.achieved);
        for (int64_t t = 0; t < c->m; t++)
            check_true(distance(data, 3, Q, r.m, true, c->pi[c->far[t]], c->pj[c->far[t]]) >=
                       1.0 - 1e-9);
        bdml_solve_result_free(&r);
    }
    bdml_free_constraints(c);
    bdml_free_dataset(data);
}

/* Two copies of a point that shall be apart: no Q helps, and that is proven for all of them. */
static void test_infeasible_for_every_q(void **state)
{
    bdml_handle *h = *state;
    const double x[] = {0, 0, 0, 1, 2, 3, 2, 1, 0, 0, 0, 0}; /* rows 0 and 3 */
    const int32_t target[] = {0, 1}, impostor[] = {0, 3, 0, 2};
    bdml_constraints *c;
    bdml_solve_result r;
    bdml_lowrank_report report;
    double Q[3] = {1, 0, 0};
    check_ok(h, bdml_constraints_from_arrays(h, 4, 1, target, 2, impostor, 0, NULL, &c));
    bdml_lowrank_settings s = settings(1, BDML_Q_STEP_MANIFOLD, true);
    s.solve.hard = true;
    check_ok(h, bdml_lowrank_fit(h, 4, 3, x, 3, c, NULL, &s, Q, &r, &report));
    check_true(r.outcome == BDML_INFEASIBLE && report.infeasible);
    bdml_solve_result_free(&r);
    bdml_free_constraints(c);
}

/* Fewer points than dimensions: searching all of their span separates them; a limit keeps to what was asked. */
static void test_search_is_limited(void **state)
{
    bdml_handle *h = *state;
    bdml_rng rng = bdml_rng_make(8, 0);
    enum { N = 20, D = 50 };
    double x[N * D], Q[2 * D];
    int32_t y[N];
    for (int i = 0; i < N * D; i++) x[i] = bdml_rng_normal(&rng);
    for (int i = 0; i < N; i++) y[i] = i % 2;
    bdml_dataset data = {.n = N, .d = D, .x = x, .y = y, .classes = 2};
    bdml_constraints *c = mine(h, &data, BDML_KIND_TRIPLET);
    bdml_solve_result r;
    bdml_lowrank_report report;
    bdml_lowrank_settings s = settings(2, BDML_Q_STEP_MANIFOLD, true);
    s.bound = 0;
    s.solve.C = 5.0;
    static const int64_t span[] = {0, 7, 1000};
    static const int searched[] = {N / 5, 7, N - 1};
    for (int k = 0; k < 3; k++) {
        s.span = span[k];
        check_ok(h, bdml_lowrank_start(h, "pca", 0, N, D, x, 0, NULL, 2, Q));
        check_ok(h, bdml_lowrank_fit(h, N, D, x, D, c, NULL, &s, Q, &r, &report));
        check_true(report.span == searched[k]);
        check_true(report.achieved <= report.start);
        check_true(report.lower == -INFINITY);
        bdml_solve_result_free(&r);
    }
    bdml_free_constraints(c);
}

/* ---- starts --------------------------------------------------------------------------------------------- */

static void test_starts(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = read_data(h, "data/iris.csv");
    double Q[8], W[8], z[2];
    check_ok(h, bdml_lowrank_start(h, "pca", 0, data->n, 4, data->x, 0, NULL, 2, Q));
    check_orthonormal(2, 4, Q);
    check_ok(h, bdml_lowrank_start(h, "whitened", 0, data->n, 4, data->x, 0, NULL, 2, W));
    for (int k = 0; k < 2; k++) { /* the same directions, variance 1 */
        double mean = 0, square = 0, along = 0, size = 0;
        for (int64_t i = 0; i < data->n; i++) {
            z[0] = 0;
            for (int j = 0; j < 4; j++) z[0] += W[k * 4 + j] * data->x[i * 4 + j];
            mean += z[0] / (double)data->n;
            square += z[0] * z[0] / (double)data->n;
        }
        check_close(square - mean * mean, 1.0, 1e-10);
        for (int j = 0; j < 4; j++)
            along += W[k * 4 + j] * Q[k * 4 + j], size += W[k * 4 + j] * W[k * 4 + j];
        check_close(along * along, size, 1e-10 * size);
    }
    check_ok(h, bdml_lowrank_start(h, "random", 0, data->n, 4, data->x, 0, NULL, 2, Q));
    check_orthonormal(2, 4, Q);
    /* PCA of both domains: one far away decides the first direction */
    const double far[] = {0, 0, 0, 1000, 0, 0, 0, -1000};
    check_ok(h, bdml_lowrank_start(h, "pca", 0, data->n, 4, data->x, 2, far, 1, Q));
    check_close(fabs(Q[3]), 1.0, 1e-6);
    check_fails(h, bdml_lowrank_start(h, "nowhere.csv", 0, data->n, 4, data->x, 0, NULL, 2, Q),
                BDML_ERR_ARGUMENT, "q-start must be");
    check_fails(h, bdml_lowrank_start(h, "pca", 0, data->n, 4, data->x, 0, NULL, 5, Q),
                BDML_ERR_ARGUMENT, "rank must be");
    const double line[] = {0, 0, 1, 1, 2, 2};
    check_fails(h, bdml_lowrank_start(h, "pca", 0, 3, 2, line, 0, NULL, 2, Q), BDML_ERR_ARGUMENT,
                "span");
    bdml_free_dataset(data);
}

/* ---- models ---------------------------------------------------------------------------------------------- */

/* Train, certify independently, save and load; transform gives q numbers. */
static void test_models(void **state)
{
    bdml_handle *h = *state;
    static const char *const forms[] = {"q-step none", "q-step manifold lambda diagonal",
                                        "q-step hull", "q-step manifold kind pair",
                                        "q-step none lambda diagonal rule class"};
    bdml_dataset *data = read_data(h, "data/wine.csv");
    set_all(h, "rank 3 scale zscore distortion 10 softness 5 passes 1 reference none threads 1");
    for (int k = 0; k < 5; k++) {
        bdml_model *model = NULL, *loaded = NULL;
        char path[4096];
        char *json = NULL;
        int confirmed = 0;
        double a[3 * 178], b[3 * 178];
        set_all(h, "kind triplet rule auto lambda full");
        set_all(h, forms[k]);
        check_ok(h, bdml_train(h, data, NULL, &model));
        check_true(model->q == 3 && bdml_model_output_dimension(model) == 3);
        json_t *o = json_object_get(model->info, "low_rank");
        check_true(json_integer_value(json_object_get(o, "rank")) == 3);
        json_t *lower = json_object_get(o, "joint_lower");
        if (lower)
            check_true(json_number_value(lower) <=
                       json_number_value(json_object_get(o, "achieved")) * (1 + 1e-12));
        double kappa = json_number_value(
            json_object_get(json_object_get(model->info, "certificate"), "kappa"));
        check_true(kappa >= 1.0 && kappa <= 10.0 * (1 + 1e-9)); /* on the range */
        snprintf(path, sizeof path, "%s/test_lowrank.bdml", BDML_TEST_BINARY_DIR);
        check_ok(h, bdml_save_model(h, model, path));
        check_ok(h, bdml_certify(h, path, data, &confirmed, &json));
        check_true(confirmed);
        bdml_free_bytes(json);
        check_ok(h, bdml_load_model(h, path, &loaded));
        check_ok(h, bdml_transform(h, model, data->n, data->x, data->d, a));
        check_ok(h, bdml_transform(h, loaded, data->n, data->x, data->d, b));
        check_true(memcmp(a, b, sizeof a) == 0);
        unlink(path);
        bdml_free_model(model);
        bdml_free_model(loaded);
    }
    bdml_model *model = NULL;
    set_all(h, "rank 1 hard yes kind triplet"); /* a line does not order the wines */
    check_fails(h, bdml_train(h, data, NULL, &model), BDML_ERR_INFEASIBLE, "with ");
    check_true(model && model->evidence && !model->l);
    bdml_free_model(model);
    set_all(h, "hard no rank 14");
    check_fails(h, bdml_train(h, data, NULL, &model), BDML_ERR_ARGUMENT, "rank must be at most 13");
    set_all(h, "rank 3 solver mwu");
    check_fails(h, bdml_train(h, data, NULL, &model), BDML_ERR_ARGUMENT, "solver engine");
    bdml_free_dataset(data);
}

/* A learned Q separates what the leading components do not show. */
static void test_held_out(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = planted(h, 200), *train = NULL, *test = NULL;
    int64_t order[200], count = 0;
    int32_t label[100];
    int wrong[2] = {0, 0};
    check_ok(h, bdml_split_random(h, 200, data->y, 0.5, 0, 0, order, &count));
    check_ok(h, bdml_dataset_subset(h, data, count, order, &train));
    check_ok(h, bdml_dataset_subset(h, data, 200 - count, order + count, &test));
    set_all(h, "rank 2 distortion 10 softness 5 passes 1 threads 1");
    for (int k = 0; k < 2; k++) {
        bdml_model *model = NULL;
        set_all(h, k ? "q-step manifold" : "q-step none");
        check_ok(h, bdml_train(h, train, NULL, &model));
        check_ok(h, bdml_predict(h, model, NULL, test->n, test->x, test->d, label));
        for (int64_t i = 0; i < test->n; i++) wrong[k] += label[i] != test->y[i];
        bdml_free_model(model);
    }
    check_true(wrong[0] > 50 && wrong[1] <= 2); /* chance is 75 */
    bdml_free_dataset(data);
    bdml_free_dataset(train);
    bdml_free_dataset(test);
}

/* ---- the paper's Q-step ------------------------------------------------------------------------------------ */

/* Objective of what was trained, and the bracket of its relaxation; certify confirms the model. */
static double train_paper(bdml_handle *h, const bdml_dataset *data, const char *settings,
                          bool *sampled)
{
    bdml_model *model = NULL;
    char path[4096], *json = NULL;
    int confirmed = 0;
    set_all(h, settings);
    check_ok(h, bdml_train(h, data, NULL, &model));
    json_t *o = json_object_get(model->info, "low_rank"), *x = json_object_get(o, "relaxation");
    double start = json_number_value(json_object_get(o, "start")),
           achieved = json_number_value(json_object_get(o, "achieved"));
    check_true(x && achieved <= start);
    check_true(json_number_value(json_object_get(o, "joint_lower")) <= achieved);
    double lower = json_number_value(json_object_get(x, "sdp_lower")),
           upper = json_number_value(json_object_get(x, "sdp_upper"));
    check_true(lower > 0.0 && lower <= upper);
    if (json_is_true(json_object_get(x, "sdp_upper_proven"))) check_true(upper <= 1.06 * lower);
    json_t *qp = json_object_get(x, "qp_achieved");
    if (json_is_number(qp)) check_true(json_number_value(qp) >= lower * (1 - 1e-9));
    *sampled = json_is_true(json_object_get(x, "improved"));
    check_true(json_is_number(json_object_get(x, "nu")) == *sampled);
    check_true(json_is_number(json_object_get(x, "zeta")) == *sampled);
    snprintf(path, sizeof path, "%s/test_lowrank_paper.bdml", BDML_TEST_BINARY_DIR);
    check_ok(h, bdml_save_model(h, model, path));
    check_ok(h, bdml_certify(h, path, data, &confirmed, &json));
    check_true(confirmed);
    bdml_free_bytes(json);
    unlink(path);
    bdml_free_model(model);
    return achieved / start;
}

static void test_paper_step(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = read_data(h, "data/wine.csv");
    bool sampled;
    set_all(h, "rank 2 scale zscore distortion 10 softness 5 passes 1 reference none threads 1 "
               "q-step paper q-exact yes q-samples 500 joint-bound 5");
    /* Which sample is best hangs on rounding, so on the compiler. With two of them and seeds 0 to 5 the hard problems
     * ended at 0.09 to 0.23 of their start, the soft ones at 0.81 to 0.90. */
    check_true(train_paper(h, data, "rank 3 kind pair hard yes", &sampled) < 0.5 && sampled);
    check_true(train_paper(h, data, "lambda diagonal", &sampled) < 0.5 && sampled);
    check_true(train_paper(h, data, "rank 2 lambda full hard no", &sampled) < 0.95 && sampled);
    check_true(train_paper(h, data, "kind triplet", &sampled) < 0.95 && sampled);
    check_true(train_paper(h, data, "q-source engine", &sampled) < 1.0 && sampled);
    train_paper(h, data, "q-source mwu q-rule paper", &sampled); /* never worse, no more is said */
    bdml_free_dataset(data);
}

/* Samples as drawn: Q need not have orthonormal rows, and no joint bound is claimed for it. Fewer samples are
 * drawn when fewer are asked for. */
static void test_paper_settings(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = read_data(h, "data/wine.csv");
    bdml_model *model = NULL;
    set_all(h,
            "rank 2 scale zscore distortion 10 softness 5 passes 1 reference none threads 1 kind "
            "pair q-step paper q-orthonormal no q-exact no q-samples 7 q-rounds 50");
    check_ok(h, bdml_train(h, data, NULL, &model));
    json_t *o = json_object_get(model->info, "low_rank"), *x = json_object_get(o, "relaxation");
    check_true(json_is_null(json_object_get(o, "joint_lower")));
    check_true(json_integer_value(json_object_get(x, "samples")) == 7);
    check_true(json_integer_value(json_object_get(x, "rounds")) <= 8 * 50); /* 8 bounds at most */
    check_true(json_number_value(json_object_get(o, "achieved")) <=
               json_number_value(json_object_get(o, "start")));
    bdml_free_model(model);
    bdml_free_dataset(data);
}

/* ---- bits and memory -------------------------------------------------------------------------------------- */

static void test_same_bits(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = planted(h, 150);
    bdml_constraints *c = mine(h, data, BDML_KIND_TRIPLET);
    double Q[2][2 * PLANTED_D];
    for (int step = BDML_Q_STEP_MANIFOLD; step <= BDML_Q_STEP_PAPER; step++) {
        for (int k = 0; k < 2; k++) {
            bdml_solve_result r;
            bdml_lowrank_report report;
            bdml_lowrank_settings s = settings(2, (bdml_q_step)step, true);
            s.solve.C = 20.0;
            s.relaxation = bdml_relaxation_defaults();
            set_all(h, k ? "threads 2" : "threads 1");
            check_ok(h,
                     bdml_lowrank_start(h, "pca", 0, data->n, data->d, data->x, 0, NULL, 2, Q[k]));
            check_ok(h, bdml_lowrank_fit(h, data->n, data->d, data->x, data->d, c, NULL, &s, Q[k],
                                         &r, &report));
            bdml_solve_result_free(&r);
        }
        check_true(memcmp(Q[0], Q[1], sizeof Q[0]) == 0);
    }
    bdml_free_constraints(c);
    bdml_free_dataset(data);
}

/* Every allocation fails in turn: the right status, and under the sanitizers no leak. */
static void test_memory(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = planted(h, 24);
    set_all(h, "rank 2 distortion 10 softness 5 passes 1 q-span 4 alternations 1 joint-bound 2 "
               "gap 1e-2 threads 1 q-rounds 20 q-samples 3");
    static const char *const steps[] = {"q-step hull", "q-step none", "q-step paper q-exact yes"};
    for (int k = 0; k < 3; k++) {
        set_all(h, steps[k]);
        bdml_status status = BDML_ERR_MEMORY;
        int64_t n = 0;
        while (status != BDML_OK) {
            bdml_model *model = NULL;
            h->fail_alloc = n += 1 + n / 40; /* all of the first, then ever fewer */
            status = bdml_train(h, data, NULL, &model);
            h->fail_alloc = 0;
            check_true(status == BDML_OK || (status == BDML_ERR_MEMORY && !model));
            bdml_free_model(model);
        }
        check_true(n > 50);
    }
    bdml_free_dataset(data);
}

static int stop_now(void *user, const char *phase, int64_t done, int64_t total)
{
    (void)user, (void)done, (void)total;
    return strcmp(phase, "alternate") == 0;
}

static void test_stopping(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = planted(h, 60);
    bdml_model *model = NULL;
    set_all(h, "rank 2 distortion 10 softness 5 passes 1 threads 1");
    bdml_set_progress(h, stop_now, NULL);
    check_fails(h, bdml_train(h, data, NULL, &model), BDML_ERR_CANCELLED, "stopped on request");
    assert_null(model);
    bdml_free_dataset(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(test_planted_subspace),
        handle_test(test_joint_bound),
        handle_test(test_hard),
        handle_test(test_infeasible_for_every_q),
        handle_test(test_search_is_limited),
        handle_test(test_starts),
        handle_test(test_models),
        handle_test(test_held_out),
        handle_test(test_paper_step),
        handle_test(test_paper_settings),
        handle_test(test_same_bits),
        handle_test(test_memory),
        handle_test(test_stopping),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
