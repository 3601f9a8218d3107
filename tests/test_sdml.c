/* test_sdml.c - sdml against the conditions of optimality of its problem, worked out by plain loops, and on data on which S
 * with a fixed weight of the pairs is far from positive definite. */
#include "rivals_pairs.h"

enum { D = 5 };

/* P of a prior: I, or 0.999 of the mean scatters of both kinds of pairs and 0.001 of their mean variance. */
static void plain_prior(const differences *p, bool scatter, double *s)
{
    double trace = 0.0;
    for (int e = 0; e < D * D; e++) s[e] = e % (D + 1) == 0 && !scatter ? 1.0 : 0.0;
    for (int64_t t = 0; t < p->all && scatter; t++) {
        double share = (double)(t < p->similar ? p->similar : p->all - p->similar);
        for (int i = 0; i < D; i++) {
            for (int j = 0; j < D; j++)
                s[i * D + j] += 0.999 * p->z[t * D + i] * p->z[t * D + j] / share;
            trace += p->z[t * D + i] * p->z[t * D + i] / share;
        }
    }
    for (int i = 0; i < D && scatter; i++) s[i * D + i] += 0.001 * trace / D;
}

/* S of the pairs that training draws, for a weight eta. */
static void plain_s(const differences *p, bool scatter, double eta, double *s)
{
    plain_prior(p, scatter, s);
    for (int64_t t = 0; t < p->all; t++)
        for (int i = 0; i < D; i++)
            for (int j = 0; j < D; j++)
                s[i * D + j] += eta * (t < p->similar ? 1.0 : -1.0) * p->z[t * D + i] *
                                p->z[t * D + j] / (double)(p->all);
}

/* Inverse of a by Gauss and Jordan; a positive definite. */
static void plain_inverse(const double *a, double *inverse)
{
    double m[D][2 * D];
    for (int i = 0; i < D; i++)
        for (int j = 0; j < 2 * D; j++) m[i][j] = j < D ? a[i * D + j] : j - D == i;
    for (int k = 0; k < D; k++) {
        double pivot = m[k][k];
        for (int j = 0; j < 2 * D; j++) m[k][j] /= pivot;
        for (int i = 0; i < D; i++) {
            double times = m[i][k];
            for (int j = 0; j < 2 * D && i != k; j++) m[i][j] -= times * m[k][j];
        }
    }
    for (int i = 0; i < D; i++)
        for (int j = 0; j < D; j++) inverse[i * D + j] = m[i][D + j];
}

/* With W = M^-1: W_ii = S_ii; W_ij - S_ij = lambda sign(M_ij), or within it where M_ij = 0. The weight eta is found from
 * W_00 = S_00, and is the share of the smallest eigenvalue: at eta / share S is singular. */
static void test_conditions_of_optimality(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = clouds(h, 60, D, 3, 2.0);
    set_all(h, "sdml-balance 0.8 gap 1e-12 threads 1 random-pairs 100");
    for (int kind = 0; kind < 6; kind++) {
        int sparse = kind % 3;
        bool scatter = kind >= 3;
        const double lambda = (double[]){0.0, 0.05, 0.2}[sparse];
        double m[D * D], w[D * D], prior[D * D], unit[D * D], s[D * D], full[D * D];
        set_all(h, scatter ? "prior covariance" : "prior identity");
        set_all(h, sparse == 0   ? "sdml-sparsity 0"
                   : sparse == 1 ? "sdml-sparsity 0.05"
                                 : "sdml-sparsity 0.2");
        bdml_model *model = fit(h, data, "method sdml");
        differences p = differences_of(h, data);
        check_ok(h, bdml_model_get_metric(h, model, m));
        plain_inverse(m, w);
        plain_prior(&p, scatter, prior);
        plain_s(&p, scatter, 1.0, unit);
        double eta = (w[0] - prior[0]) / (unit[0] - prior[0]);
        plain_s(&p, scatter, eta, s);
        /* An objective within 1e-12, whose curvature in M is W x W: W within about 1e-6 |W|, and ten times that. */
        double most = 1.0;
        for (int i = 0; i < D; i++) most = BDML_MAX(most, w[i * D + i]);
        const double near = 1e-5 * most;
        int zero = 0;
        for (int i = 0; i < D; i++)
            for (int j = 0; j < D; j++) {
                double off = w[i * D + j] - s[i * D + j], at = m[i * D + j];
                zero += fabs(at) < 1e-9;
                if (i == j)
                    check_close(off, 0.0, near);
                else if (fabs(at) < 1e-9)
                    check_true(fabs(off) <= lambda + near);
                else
                    check_close(off, copysign(lambda, at), near);
            }
        check_true(sparse == 0 ? zero == 0 : sparse == 2 && !scatter ? zero > 4 : true);
        /* singular at eta / 0.8, and regular a little before: the sign of the determinant of P + c D */
        for (int side = 0; side < 2; side++) {
            double det = 1.0;
            plain_s(&p, scatter, eta / 0.8 * (side ? 1.001 : 0.999), full);
            for (int k = 0; k < D; k++) { /* elimination: pivots */
                det *= full[k * D + k];
                for (int i = k + 1; i < D; i++)
                    for (int j = D - 1; j >= k; j--)
                        full[i * D + j] -= full[i * D + k] / full[k * D + k] * full[k * D + j];
            }
            check_true(side ? det < 0.0 : det > 0.0);
        }
        free(p.z);
        bdml_free_model(model);
    }
    bdml_free_dataset(data);
}

/* However early it stops, the optimum lies in the bracket. */
static void test_bracket_holds(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = clouds(h, 60, D, 3, 2.0);
    bdml_model *model = fit(h, data, "method sdml gap 1e-12 threads 1 sdml-sparsity 0.05");
    double best = told(model, "objective");
    bdml_free_model(model);
    for (int steps = 1; steps <= 8; steps *= 2) {
        char text[32];
        snprintf(text, sizeof text, "max-iter %d", steps);
        model = fit(h, data, text);
        check_true(told(model, "bound") <= best + 1e-10 &&
                   best <= told(model, "objective") + 1e-10);
        bdml_free_model(model);
    }
    bdml_free_dataset(data);
}

/* Sets on which a weight that is not chosen by the data has no solution; constant columns (Segment). */
static void test_ordinary_sets(void **state)
{
    bdml_handle *h = *state;
    static const char *const files[] = {"data/wine.csv", "data/segment.csv", NULL};
    for (int k = 0; k < 3; k++) {
        bdml_dataset *data = NULL;
        if (files[k])
            check_ok(h, bdml_read_dataset(h, source_path(files[k]), &data));
        else
            check_ok(h, bdml_generate(h, "waveform", 500, &data));
        for (int scaled = 0; scaled < 2; scaled++) {
            bdml_model *model =
                fit(h, data, scaled ? "method sdml scale zscore" : "method sdml scale none");
            check_true(told(model, "gap") <= 1e-3);
            check_true(bdml_model_kappa(model) < 1e6); /* positive definite, and not by a hair */
            bdml_free_model(model);
        }
        bdml_free_dataset(data);
    }
}

/* More similar than dissimilar spread in every direction: S is positive definite for any weight. */
static void test_no_dissimilar_spread(void **state)
{
    bdml_handle *h = *state;
    const double x[] = {0, 10, 1, 11};
    const int32_t near[] = {0, 1, 2, 3}, far[] = {0, 2, 1, 3};
    bdml_constraints *c = NULL;
    bdml_dataset *data = NULL;
    bdml_model *model = NULL;
    double m;
    check_ok(h, bdml_dataset_from_arrays(h, 4, 1, x, 1, NULL, &data));
    check_ok(h, bdml_constraints_from_arrays(h, 4, 2, near, 2, far, 0, NULL, &c));
    set_all(h, "method sdml sdml-balance 0.5 gap 1e-12");
    check_ok(h, bdml_train(h, data, c, &model));
    check_ok(h, bdml_model_get_metric(h, model, &m));
    check_close(m, 1.0 / 1.5, 1e-6);
    bdml_free_model(model);
    bdml_free_constraints(c);
    bdml_free_dataset(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(test_conditions_of_optimality),
        handle_test(test_bracket_holds),
        handle_test(test_ordinary_sets),
        handle_test(test_no_dissimilar_spread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
