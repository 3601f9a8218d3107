/* test_lfda.c - lfda and covariance against what defines them, by plain loops over all pairs. */
#include "rivals.h"

#include "linalg/linalg.h"

enum { N = 90, D = 4 };

static double apart(const bdml_dataset *data, int64_t i, int64_t j)
{
    double sum = 0.0;
    for (int a = 0; a < data->d; a++) {
        double e = data->x[i * data->d + a] - data->x[j * data->d + a];
        sum += e * e;
    }
    return sum;
}

static int ascending(const void *a, const void *b)
{
    double p = *(const double *)a, q = *(const double *)b;
    return (p > q) - (p < q);
}

/* Distance to the k-th neighbour in the class. */
static double reach(const bdml_dataset *data, int64_t i, int k)
{
    double list[N];
    int64_t m = 0;
    for (int64_t j = 0; j < data->n; j++)
        if (j != i && data->y[j] == data->y[i]) list[m++] = apart(data, i, j);
    qsort(list, (size_t)m, sizeof *list, ascending);
    return sqrt(list[BDML_MIN(k, m) - 1]);
}

static void plain_scatters(const bdml_dataset *data, int k, double *sw, double *sb)
{
    int d = data->d;
    double size[8] = {0};
    for (int64_t i = 0; i < data->n; i++) size[data->y[i]]++;
    memset(sw, 0, sizeof *sw * (size_t)(d * d));
    memset(sb, 0, sizeof *sb * (size_t)(d * d));
    for (int64_t i = 0; i < data->n; i++)
        for (int64_t j = 0; j < data->n; j++) {
            double near = exp(-apart(data, i, j) / (reach(data, i, k) * reach(data, j, k)));
            double n = (double)data->n, m = size[data->y[i]];
            bool same = data->y[i] == data->y[j];
            double w = same ? near / m : 0.0, b = same ? near * (1.0 / n - 1.0 / m) : 1.0 / n;
            for (int a = 0; a < d; a++)
                for (int c = 0; c < d; c++) {
                    double e = (data->x[i * d + a] - data->x[j * d + a]) *
                               (data->x[i * d + c] - data->x[j * d + c]) / 2.0;
                    sw[a * d + c] += w * e;
                    sb[a * d + c] += b * e;
                }
        }
}

/* u' s v */
static double form(int d, const double *u, const double *s, const double *v)
{
    double sum = 0.0;
    for (int a = 0; a < d; a++)
        for (int c = 0; c < d; c++) sum += u[a] * s[a * d + c] * v[c];
    return sum;
}

/* Rows l_j = sqrt(lambda_j) phi_j: L Sw L' and L Sb L' are diagonal, with lambda_j and lambda_j^2. */
static void test_lfda_solves_its_eigenproblem(void **state)
{
    bdml_handle *h = *state;
    double sw[D * D], sb[D * D];
    for (int k = 2; k <= 7; k += 5) {
        bdml_dataset *data = clouds(h, N, D, 3, 2.0);
        set_all(h, k == 2 ? "lfda-neighbors 2 ridge 1e-12" : "lfda-neighbors 7 ridge 1e-12");
        bdml_model *model = fit(h, data, "lfda");
        plain_scatters(data, k, sw, sb);
        double last = INFINITY;
        for (int a = 0; a < model->q; a++) {
            const double *u = model->l + a * D;
            double lambda = form(D, u, sw, u);
            check_true(lambda > 0.0 && lambda <= last * (1.0 + 1e-9));
            check_close(form(D, u, sb, u), lambda * lambda,
                        1e-8 * lambda * lambda); /* ridge, rounding */
            for (int b = 0; b < a; b++) {
                const double *v = model->l + b * D;
                check_close(form(D, u, sw, v), 0.0, 1e-8 * last);
                check_close(form(D, u, sb, v), 0.0, 1e-8 * last * last);
            }
            last = lambda;
        }
        assert_int_equal(model->q, D);
        bdml_free_model(model);
        bdml_free_dataset(data);
    }
}

static void test_lfda_settings_and_refusals(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = clouds(h, N, D, 3, 2.0);
    bdml_model *full = fit(h, data, "lfda"), *model = NULL;
    set_all(h, "components 2");
    bdml_model *two = fit(h, data, "lfda");
    assert_int_equal(two->q, 2);
    assert_memory_equal(two->l, full->l, sizeof(double) * 2 * D);
    bdml_free_model(two);
    bdml_free_model(full);
    set_all(h, "components 0 lfda-neighbors 1000"); /* more than a class has */
    bdml_free_model(fit(h, data, "lfda"));
    for (int64_t i = 0; i < data->n; i++) data->y[i] = 0;
    check_fails(h, bdml_train(h, data, NULL, &model), BDML_ERR_DATA, "class");
    bdml_free_dataset(data);
}

/* Classes of one point, points that stand twice, dependent and constant columns. */
static void test_lfda_poor_data(void **state)
{
    bdml_handle *h = *state;
    enum { ROWS = 12, COLUMNS = 3 };
    double x[ROWS * COLUMNS];
    int64_t y[ROWS];
    bdml_dataset *data = NULL;
    for (int i = 0; i < ROWS; i++) {
        y[i] = i == 0 ? 2 : i % 2;
        x[i * COLUMNS] = (double)(i / 3) + (double)(10 * y[i]);
        x[i * COLUMNS + 1] = 2.0 * x[i * COLUMNS];
        x[i * COLUMNS + 2] = 7.0;
    }
    check_ok(h, bdml_dataset_from_arrays(h, ROWS, COLUMNS, x, COLUMNS, y, &data));
    bdml_model *model = fit(h, data, "lfda");
    for (int e = 0; e < model->q * COLUMNS; e++) check_true(isfinite(model->l[e]));
    assert_int_equal(model->q, 1);
    bdml_free_model(model);
    bdml_free_dataset(data);
}

/* M S M = M and S M S = S, S with n - 1; a dependent column is left out of S but not of the check. */
static void test_covariance_is_the_pseudo_inverse(void **state)
{
    bdml_handle *h = *state;
    double s[D * D] = {0}, m[D * D], mean[D] = {0}, sm[D * D];
    bdml_dataset *data = clouds(h, N, D, 3, 2.0);
    for (int64_t i = 0; i < N; i++) data->x[i * D + 3] = data->x[i * D] - data->x[i * D + 1];
    for (int64_t i = 0; i < N; i++)
        for (int a = 0; a < D; a++) mean[a] += data->x[i * D + a] / N;
    for (int64_t i = 0; i < N; i++)
        for (int a = 0; a < D; a++)
            for (int b = 0; b < D; b++)
                s[a * D + b] +=
                    (data->x[i * D + a] - mean[a]) * (data->x[i * D + b] - mean[b]) / (N - 1);
    bdml_model *model = fit(h, data, "covariance");
    assert_int_equal(model->q, D - 1);
    check_ok(h, bdml_model_get_metric(h, model, m));
    for (int a = 0; a < D; a++)
        for (int b = 0; b < D; b++) {
            sm[a * D + b] = 0.0;
            for (int c = 0; c < D; c++) sm[a * D + b] += s[a * D + c] * m[c * D + b];
        }
    for (int a = 0; a < D; a++)
        for (int b = 0; b < D; b++) {
            double sms = 0.0;
            for (int c = 0; c < D; c++) sms += sm[a * D + c] * s[c * D + b];
            check_close(sms, s[a * D + b], 1e-10); /* entries of size 10 */
        }
    bdml_free_model(model);
    bdml_free_dataset(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_lfda_solves_its_eigenproblem, make_handle,
                                        drop_handle),
        cmocka_unit_test_setup_teardown(test_lfda_settings_and_refusals, make_handle, drop_handle),
        cmocka_unit_test_setup_teardown(test_lfda_poor_data, make_handle, drop_handle),
        cmocka_unit_test_setup_teardown(test_covariance_is_the_pseudo_inverse, make_handle,
                                        drop_handle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
