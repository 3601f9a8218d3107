/* test_relaxation_samples.c - random Q from the relaxed solution: their covariance, and which one is kept. */
#include "relaxation_toy.h"

/* Covariance of N samples against Z. Under the null hypothesis an entry of the empirical covariance is normal to good
 * approximation with variance (Z_ii Z_jj + Z_ij^2)/N; over the 21 entries and two samplers a deviation of 5.2 of them has a
 * probability of 42 * 2.0e-7 < 1e-5, the false-alarm rate of this test for a fresh seed. */
static void check_covariance(bdml_handle *h, const bdml_sampler *from, const double *Z)
{
    enum { N = 20000, SIZE = 6 };
    double sum[SIZE * SIZE] = {0}, xi[SIZE],
                      *scratch = calloc(bdml_sampler_size(from), sizeof *scratch);
    for (int k = 0; k < N; k++) {
        bdml_sample(h, from, 7, k, scratch, xi);
        for (int i = 0; i < SIZE; i++)
            for (int j = 0; j < SIZE; j++) sum[i * SIZE + j] += xi[i] * xi[j] / N;
    }
    for (int i = 0; i < SIZE; i++)
        for (int j = i; j < SIZE; j++) {
            double z = Z[i * SIZE + j], spread = Z[i * SIZE + i] * Z[j * SIZE + j] + z * z;
            check_close(sum[i * SIZE + j], z, 5.2 * sqrt(spread / N));
        }
    free(scratch);
}

static void samples_have_the_covariance(void **state)
{
    bdml_handle *h = *state;
    enum { Q = 2, D = 3, T = 5 };
    double u[D * T], w[Q * T], Z[36] = {0}, root[D * 2] = {0.5, -0.2, 0.1, 0.3, 0.4, 0.0};
    bdml_rng r = bdml_rng_make(3, 3);
    for (int i = 0; i < D * T; i++) u[i] = bdml_rng_normal(&r);
    for (int i = 0; i < Q * T; i++) w[i] = bdml_rng_normal(&r);
    for (int t = 0; t < T; t++) /* entries of xi: row i of Q, coordinate a, at i D + a */
        for (int i = 0; i < 6; i++)
            for (int j = 0; j < 6; j++)
                Z[i * 6 + j] += (double)Q / T * w[t * Q + i / D] * u[t * D + i % D] *
                                w[t * Q + j / D] * u[t * D + j % D];
    bdml_atoms atoms = {.count = T, .room = T, .u = u, .w = w};
    check_covariance(h, &(bdml_sampler){.d = D, .q = Q, .atoms = &atoms}, Z);
    memset(Z, 0, sizeof Z);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            for (int k = 0; k < 2 && i / D == j / D; k++)
                Z[i * 6 + j] += root[k * D + i % D] * root[k * D + j % D];
    check_covariance(h, &(bdml_sampler){.d = D, .q = Q, .rank = 2, .root = root}, Z);
}

/* Among the samples as drawn, each rule takes the one that plain loops find; the screen changes nothing. */
static void rules_choose_what_they_say(void **state)
{
    bdml_handle *h = *state;
    enum { Q = 2, D = 5, T = 6, SAMPLES = 300 };
    toy P = make_toy(h, 2, 60, D, 150, 'p');
    double u[D * T], w[Q * T], lambda[Q] = {1.0, 0.4}, xi[Q * D], best[Q * D], out[Q * D];
    double scratch[Q * T];
    bdml_rng r = bdml_rng_make(9, 9);
    for (int i = 0; i < D * T; i++) u[i] = bdml_rng_normal(&r);
    for (int i = 0; i < Q * T; i++) w[i] = bdml_rng_normal(&r);
    bdml_atoms atoms = {.count = T, .room = T, .u = u, .w = w};
    bdml_sampler from = {.d = D, .q = Q, .atoms = &atoms};
    for (int rule = 0; rule < 2; rule++) {
        bdml_relaxation_settings s = bdml_relaxation_defaults();
        bdml_relaxation_report report = {.achieved = INFINITY};
        double merit = -INFINITY, objective, nu, at_objective = 0, at_nu = 0;
        s.rule = (bdml_sample_rule)rule;
        s.orthonormalise = false;
        s.samples = SAMPLES;
        s.margin = 0.3;
        for (int k = 0; k < SAMPLES; k++) {
            bdml_sample(h, &from, s.seed, k, scratch, xi);
            plain_judge(&P, Q, lambda, s.margin, xi, &objective, &nu);
            double now = rule == BDML_SAMPLE_PAPER ? -objective : nu / objective;
            if (now <= merit) continue;
            merit = now, at_objective = objective, at_nu = nu;
            memcpy(best, xi, sizeof best);
        }
        memset(out, 0, sizeof out);
        out[0] = out[D] = 1e-3; /* two equal rows: a start that is easily beaten */
        check_ok(h, bdml_randomise(h, P.op, P.c, &from, lambda, &s, 2.0, out, &report));
        check_true(report.improved && memcmp(out, best, sizeof out) == 0);
        check_close(report.objective, at_objective, 1e-10 * at_objective);
        check_close(report.nu, at_nu, 1e-10 * (1 + fabs(at_nu)));
        check_close(report.sample_nu, at_nu, 1e-10 * (1 + fabs(at_nu)));
        check_close(report.omega, at_objective / 2.0, 1e-10 * at_objective);
        double zeta = 0;
        for (int i = 0; i < Q; i++)
            for (int j = 0; j <= i; j++) {
                double dot = 0;
                for (int a = 0; a < D; a++) dot += best[i * D + a] * best[j * D + a];
                zeta = fmax(zeta, i == j ? fabs(dot - 1) : 2 * fabs(dot));
            }
        check_close(report.zeta, zeta, 1e-12 * (1 + zeta));
    }
    toy_free(&P);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(samples_have_the_covariance),
        handle_test(rules_choose_what_they_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
