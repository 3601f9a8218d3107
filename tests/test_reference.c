/* test_reference.c - reference metrics against plain loops and closed cases: shrinkage by Ledoit and
 * Wolf, whitening with and without a z-score, the stretch of the discriminants, the map of near rows, the best of each family. */
#include "check.h"
#include "linalg/linalg.h"
#include "train/plan.h"

enum { N = 90, D = 4, CLASSES = 3 };

typedef struct points {
    double x[N * D];
    int32_t y[N];
    bdml_training t;
} points;

/* Three classes, correlated columns of very different widths, one of them constant when asked. */
static void make_points(points *p, bool constant)
{
    bdml_rng r = bdml_rng_make(3, 0);
    for (int i = 0; i < N; i++) {
        double *x = p->x + i * D, z[D];
        p->y[i] = i % CLASSES;
        for (int j = 0; j < D; j++) z[j] = bdml_rng_normal(&r);
        x[0] = z[0] + 3.0 * (p->y[i] == 1);
        x[1] = 50.0 * (z[1] + 0.9 * z[0]) + 100.0 * (p->y[i] == 2);
        x[2] = 0.01 * (z[2] - z[1]);
        x[3] = constant ? 7.0 : z[3] + 0.5 * z[2];
    }
    p->t = (bdml_training){N, D, p->x, p->y, CLASSES, NULL, NULL, NULL, NULL};
}

static bdml_status make(bdml_handle *h, bdml_reference_kind kind, const bdml_training *t,
                        bdml_reference *r)
{
    return bdml_reference_make(h, &h->options.methods, kind, NULL, t, NULL, r);
}

/* S, the covariance of the n rows of x (dimension d) less their class means. */
static void plain_within(int d, const double *x, const int32_t *y, double *s, double *z)
{
    for (int j = 0; j < d; j++) {
        double mean[CLASSES] = {0}, count[CLASSES] = {0};
        for (int i = 0; i < N; i++) mean[y[i]] += x[i * d + j], count[y[i]]++;
        for (int i = 0; i < N; i++) z[i * d + j] = x[i * d + j] - mean[y[i]] / count[y[i]];
    }
    for (int a = 0; a < d; a++)
        for (int b = 0; b < d; b++) {
            s[a * d + b] = 0;
            for (int i = 0; i < N; i++) s[a * d + b] += z[i * d + a] * z[i * d + b] / N;
        }
}

/* sum_i |z_i z_i' - S|^2 / n^2 over |S - mu I|^2: Ledoit and Wolf as they write it, matrix by matrix. */
static double plain_shrinkage(int d, const double *s, const double *z)
{
    double noise = 0, apart = 0, mu = 0;
    for (int j = 0; j < d; j++) mu += s[j * d + j] / d;
    for (int a = 0; a < d; a++)
        for (int b = 0; b < d; b++) {
            apart += pow(s[a * d + b] - (a == b ? mu : 0), 2);
            for (int i = 0; i < N; i++)
                noise += pow(z[i * d + a] * z[i * d + b] - s[a * d + b], 2) / N / N;
        }
    return fmin(fmax(noise / apart, 1e-3), 1);
}

/* R = S^(-1/2) C with C the scaling of the columns: R C^-1 S (R C^-1)' = I for the shrunk S of C x. */
static void whitening(void **state)
{
    static const bdml_reference_kind kinds[] = {BDML_REFERENCE_WITHIN, BDML_REFERENCE_WITHIN_RAW,
                                                BDML_REFERENCE_SHRUNK_60};
    bdml_handle *h = *state;
    static points p;
    static double scaled[N * D], z[N * D];
    double s[D * D], deviation[D];
    for (int constant = 0; constant < 2; constant++) {
        make_points(&p, constant);
        int d = constant ? D - 1 : D;
        for (int raw = 0; raw < 3; raw++) /* 2: with a shrinkage of its own, whatever the setting */
            for (int given = 0; given < 2; given++) {
                bdml_reference r;
                check_ok(h, bdml_set(h, "shrinkage", given ? "0.3" : NULL));
                check_ok(h, make(h, kinds[raw], &p.t, &r));
                assert_int_equal(r.rows, d); /* a constant column is left out */
                for (int j = 0; j < d; j++) {
                    double mean = 0, square = 0;
                    for (int i = 0; i < N; i++) mean += p.x[i * D + j] / N;
                    for (int i = 0; i < N; i++) square += pow(p.x[i * D + j] - mean, 2) / N;
                    deviation[j] = raw ? 1 : sqrt(square);
                    for (int i = 0; i < N; i++) scaled[i * d + j] = p.x[i * D + j] / deviation[j];
                }
                plain_within(d, scaled, p.y, s, z);
                double shrink = raw == 2 ? 0.6 : given ? 0.3 : plain_shrinkage(d, s, z), mu = 0;
                for (int j = 0; j < d; j++) mu += s[j * d + j] / d;
                for (int e = 0; e < d * d; e++)
                    s[e] = (1 - shrink) * s[e] + (e % (d + 1) == 0 ? shrink * mu : 0);
                /* rows of R over the deviations are the rows of S^(-1/2): their form with S is I */
                for (int a = 0; a < d; a++)
                    for (int b = 0; b < d; b++) {
                        double form = 0;
                        for (int j = 0; j < d; j++)
                            for (int k = 0; k < d; k++)
                                form += r.map[a * D + j] * deviation[j] * s[j * d + k] *
                                        r.map[b * D + k] * deviation[k];
                        check_close(form, a == b, 1e-9); /* kappa(S) is 1e7 in the raw case */
                    }
                bdml_reference_free(&r);
            }
    }
}

/* fisher-f: squared lengths along class means f times those of `within`, across them the same. */
static void stretch(void **state)
{
    static const struct {
        bdml_reference_kind kind;
        double factor;
    } kinds[] = {{BDML_REFERENCE_FISHER_5, 5},
                 {BDML_REFERENCE_FISHER, 20},
                 {BDML_REFERENCE_FISHER_100, 100},
                 {BDML_REFERENCE_FISHER_1000, 1000},
                 {BDML_REFERENCE_LDA, 1e6}};
    bdml_handle *h = *state;
    static points p;
    bdml_reference within, fisher;
    const double *a, *b;
    double *own_a, *own_b;
    make_points(&p, false);
    check_ok(h, make(h, BDML_REFERENCE_WITHIN, &p.t, &within));
    check_ok(h, bdml_reference_apply(h, &within, N, p.x, &a, &own_a));
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        check_ok(h, make(h, kinds[k].kind, &p.t, &fisher));
        check_ok(h, bdml_reference_apply(h, &fisher, N, p.x, &b, &own_b));
        double mean[2][CLASSES][D] = {{{0}}};
        for (int i = 0; i < N; i++)
            for (int j = 0; j < D; j++) {
                mean[0][p.y[i]][j] += a[i * D + j] / (N / CLASSES);
                mean[1][p.y[i]][j] += b[i * D + j] / (N / CLASSES);
            }
        for (int c = 1; c < CLASSES; c++) { /* class means differ along the discriminants alone */
            double before = 0, after = 0;
            for (int j = 0; j < D; j++) {
                before += pow(mean[0][c][j] - mean[0][0][j], 2);
                after += pow(mean[1][c][j] - mean[1][0][j], 2);
            }
            check_close(after / before, kinds[k].factor, 1e-8 * kinds[k].factor);
        }
        for (int i = 0; i < N; i++) { /* and nothing shrinks, or grows by more */
            double u[2] = {0, 0};
            for (int j = 0; j < D; j++) {
                u[0] += pow(a[i * D + j] - a[j], 2);
                u[1] += pow(b[i * D + j] - b[j], 2);
            }
            check_true(u[1] >= u[0] * (1 - 1e-9) && u[1] <= kinds[k].factor * u[0] * (1 + 1e-9));
        }
        free(own_b);
        bdml_reference_free(&fisher);
    }
    free(own_a);
    bdml_reference_free(&within);
}

/* local: near rows, weighed pair by pair and summed matrix by matrix, three times over; R by its metric R'R, which no
 * choice of a square root changes. */
static void plain_scatter(int d, const double *p, const int32_t *y, const double *form, bool same,
                          double across, double *out)
{
    static double s[N * N];
    double width = 0, pairs = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            s[i * N + j] = 0;
            for (int a = 0; a < d; a++)
                for (int b = 0; b < d; b++)
                    s[i * N + j] += (p[i * d + a] - p[j * d + a]) * form[a * d + b] *
                                    (p[i * d + b] - p[j * d + b]);
            if (i == j || (y[i] == y[j]) != same) continue;
            width += s[i * N + j];
            pairs++;
        }
    width *= 0.2 / pairs;
    memset(out, 0, sizeof *out * (size_t)(d * d));
    for (int i = 0; i < N; i++) {
        double low = INFINITY, sum = 0;
        for (int j = 0; j < N; j++)
            if (i != j && (y[i] == y[j]) == same) low = fmin(low, s[i * N + j]);
        for (int turn = 0; turn < 2; turn++) /* first the sum */
            for (int j = 0; j < N; j++) {
                if (i == j || (y[i] == y[j]) != same) continue;
                double w = pow(1 + (s[i * N + j] - low) / (8 * width), -8);
                if (turn == 0) sum += w;
                for (int a = 0; turn == 1 && a < d; a++)
                    for (int b = 0; b < d; b++)
                        out[a * d + b] += w / sum / N * (a == b ? 1 : across) *
                                          (p[i * d + a] - p[j * d + a]) *
                                          (p[i * d + b] - p[j * d + b]);
            }
    }
}

/* out = v diag(f(lambda)) v' of the symmetric a. */
typedef double function(double lambda, const double *lambdas, int d);
static double inverse_root(double l, const double *all, int d)
{
    (void)all, (void)d;
    return 1 / sqrt(l);
}
static double stretched(double l, const double *all, int d)
{
    double low = fmax(1, all[d / 4]);
    return 1 + 100 * fmax(l - low, 0) / (all[d - 1] - low);
}
static void apply(bdml_handle *h, int d, const double *a, function *f, double *out)
{
    double v[D * D], lambda[D];
    bdml_eigh_ws ws;
    memcpy(v, a, sizeof *v * (size_t)(d * d));
    check_ok(h, bdml_eigh_ws_init(h, d, &ws));
    check_ok(h, bdml_la_eigh(h, d, v, lambda, true, &ws));
    bdml_eigh_ws_free(&ws);
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++) {
            out[i * d + j] = 0;
            for (int k = 0; k < d; k++)
                out[i * d + j] += f(lambda[k], lambda, d) * v[k * d + i] * v[k * d + j];
        }
}

static void product(int d, const double *a, const double *b, double *out)
{
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++) {
            out[i * d + j] = 0;
            for (int k = 0; k < d; k++) out[i * d + j] += a[i * d + k] * b[k * d + j];
        }
}

static void near_rows(void **state)
{
    bdml_handle *h = *state;
    static points p;
    static double z[N * D];
    double deviation[D], form[D * D], hits[D * D], misses[D * D], root[D * D], a[D * D], b[D * D];
    for (int constant = 0; constant < 2; constant++)
        for (int sixty = 0; sixty < 2; sixty++) {
            int d = constant ? D - 1 : D;
            bdml_reference r;
            make_points(&p, constant);
            check_ok(h, make(h, sixty ? BDML_REFERENCE_LOCAL_60 : BDML_REFERENCE_LOCAL, &p.t, &r));
            assert_int_equal(r.rows, d);
            for (int j = 0; j < d; j++) {
                double mean = 0, square = 0;
                for (int i = 0; i < N; i++) mean += p.x[i * D + j] / N;
                for (int i = 0; i < N; i++) square += pow(p.x[i * D + j] - mean, 2) / N;
                deviation[j] = sqrt(square);
                for (int i = 0; i < N; i++) z[i * d + j] = p.x[i * D + j] / deviation[j];
            }
            for (int e = 0; e < d * d; e++) form[e] = e % (d + 1) == 0;
            for (int round = 0; round < 3; round++) {
                double trace = 0;
                plain_scatter(d, z, p.y, form, true, sixty ? 0.4 : 1, hits);
                plain_scatter(d, z, p.y, form, false, sixty ? 0.4 : 1, misses);
                for (int j = 0; j < d; j++) trace += hits[j * d + j];
                for (int e = 0; e < d * d; e++)
                    hits[e] = 0.9 * hits[e] + (e % (d + 1) == 0 ? 0.1 * trace / d : 0);
                apply(h, d, hits, inverse_root, root);
                product(d, root, misses, a);
                product(d, a, root, b);
                apply(h, d, b, stretched, a);
                product(d, root, a, b);
                product(d, b, root, form);
            }
            for (int i = 0; i < d; i++)
                for (int j = 0; j < d; j++) {
                    double made = 0;
                    for (int k = 0; k < d; k++) made += r.map[k * D + i] * r.map[k * D + j];
                    check_close(made * deviation[i] * deviation[j], form[i * d + j], 1e-8);
                }
            if (constant)
                for (int k = 0; k < d; k++) check_true(r.map[k * D + 3] == 0);
            bdml_reference_free(&r);
        }
}

/* Of more rows than are looked at those evenly spaced alone count: the others may be anything, but for the z-score. Rows
 * with no other of their class are left out where they are asked for one. */
static void near_rows_of_many(void **state)
{
    enum { MANY = 3 * BDML_LOCAL_ROWS };
    bdml_handle *h = *state;
    static double x[MANY * D], few[BDML_LOCAL_ROWS * D];
    static int32_t y[MANY], few_y[BDML_LOCAL_ROWS];
    bdml_rng g = bdml_rng_make(5, 0);
    for (int i = 0; i < MANY; i++) {
        int k = i / 3; /* each row thrice: columns are as wide as those of the rows looked at */
        if (i % 3 == 0) few_y[k] = k == 0 ? 2 : k % 2;
        y[i] = few_y[k];
        for (int j = 0; j < D; j++) {
            if (i % 3 == 0) few[k * D + j] = bdml_rng_normal(&g) + (j == 0 && few_y[k] == 1);
            x[i * D + j] = few[k * D + j];
        }
    }
    const bdml_training all = {MANY, D, x, y, 3, NULL, NULL, NULL, NULL},
                        part = {BDML_LOCAL_ROWS, D, few, few_y, 3, NULL, NULL, NULL, NULL};
    bdml_reference a, b;
    check_ok(h, make(h, BDML_REFERENCE_LOCAL, &all, &a));
    check_ok(h, make(h, BDML_REFERENCE_LOCAL, &part, &b));
    for (int e = 0; e < D * D; e++) check_close(a.map[e], b.map[e], 1e-10);
    bdml_reference_free(&a);
    bdml_reference_free(&b);
    for (int i = 0; i < 3; i++) y[i] = i;
    const bdml_training single = {3, D, few, y, 3, NULL, NULL, NULL, NULL};
    assert_int_equal(make(h, BDML_REFERENCE_LOCAL, &single, &a), BDML_ERR_DATA);
    check_true(strstr(bdml_last_error(h), "two rows") != NULL);
}

/* The report tells all references alone; those of the grid are the best of their families. */
static void best_of_each_family(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data;
    bdml_model *model;
    check_ok(h, bdml_set(h, "distortion", "1"));
    check_ok(h, bdml_read_dataset(h, source_path("data/wine.csv"), &data));
    check_ok(h, bdml_train(h, data, NULL, &model));
    json_t *info = json_loads(bdml_model_describe(model), 0, NULL), *row;
    json_t *selection = json_object_get(info, "selection");
    json_t *alone = json_object_get(selection, "references");
    double least[BDML_FAMILIES] = {INFINITY, INFINITY, INFINITY, INFINITY, INFINITY},
           chosen = INFINITY, best = INFINITY;
    json_int_t folds = json_integer_value(json_object_get(selection, "folds"));
    size_t i;
    assert_int_equal(folds, 10);
    assert_int_equal(json_array_size(alone),
                     11); /* all but shrunk-p, which are for unseen classes */
    json_array_foreach(alone, i, row)
    {
        const char *name = json_string_value(json_object_get(row, "reference"));
        double error = json_number_value(json_object_get(row, "error"));
        int kind = 0;
        while (strcmp(bdml_reference_names[kind], name) != 0) kind++;
        bdml_reference_family f = bdml_reference_family_of((bdml_reference_kind)kind);
        /* clearly worse in the first round: not on all folds, and out */
        if (json_integer_value(json_object_get(row, "folds")) < folds) continue;
        least[f] = fmin(least[f], error);
        if (strcmp(name, json_string_value(json_object_get(selection, "reference"))) == 0)
            chosen = error;
    }
    /* wine unscaled is hopeless, and K = 1: the smallest error of all is what is chosen */
    for (int f = 0; f < BDML_FAMILIES; f++) best = fmin(best, least[f]);
    check_close(chosen, best, 1e-12);
    json_array_foreach(json_object_get(selection, "tried"), i, row)
    {
        const char *name = json_string_value(json_object_get(row, "reference"));
        int kind = 0;
        while (strcmp(bdml_reference_names[kind], name) != 0) kind++;
        double error = json_number_value(json_object_get(row, "error"));
        if (json_integer_value(json_object_get(row, "folds")) == folds)
            check_close(error, least[bdml_reference_family_of((bdml_reference_kind)kind)], 1e-9);
    }
    json_decref(info);
    bdml_free_model(model);
    bdml_free_dataset(data);
}

static void allocations_may_fail(void **state)
{
    (void)state;
    static points p;
    make_points(&p, false);
    for (int kind = BDML_REFERENCE_WITHIN; kind < BDML_REFERENCE_FILE; kind++) {
        bdml_status status = BDML_ERR_MEMORY;
        for (int64_t k = 1; status != BDML_OK; k++) {
            bdml_handle *h;
            bdml_reference r;
            assert_int_equal(bdml_create(&h), BDML_OK);
            h->fail_alloc = k;
            status = make(h, (bdml_reference_kind)kind, &p.t, &r);
            if (status == BDML_OK)
                bdml_reference_free(&r);
            else
                assert_int_equal(status, BDML_ERR_MEMORY);
            bdml_free(h);
        }
    }
}

/* Kinds that share what they are made of, asked for in any order, are those made alone, to the bit. */
static void shared_steps(void **state)
{
    bdml_handle *h = *state;
    static points p;
    for (int far = 0; far < 2; far++)
        for (int turn = 0; turn < 2; turn++) {
            make_points(&p, false);
            for (int i = 0; i < N * D && far; i++) p.x[i] += 1e7;
            bdml_whitening shared;
            bdml_whitening_init(&shared);
            for (int k = 0; k < BDML_REFERENCE_FILE; k++) {
                bdml_reference_kind kind =
                    (bdml_reference_kind)(turn ? BDML_REFERENCE_FILE - 1 - k : k);
                bdml_reference a, b;
                check_ok(h, make(h, kind, &p.t, &a));
                check_ok(h, bdml_reference_make(h, &h->options.methods, kind, NULL, &p.t, &shared,
                                                &b));
                size_t size = sizeof *a.map * (size_t)(a.rows * a.columns);
                assert_int_equal(a.rows, b.rows);
                check_true(!a.map == !b.map && !a.shift == !b.shift);
                check_true(!a.shift == !(far && a.map));
                if (a.map) assert_memory_equal(a.map, b.map, size);
                if (a.shift) assert_memory_equal(a.shift, b.shift, sizeof *a.shift * D);
                bdml_reference_free(&a);
                bdml_reference_free(&b);
            }
            bdml_whitening_free(&shared);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(whitening),
        handle_test(stretch),
        handle_test(near_rows),
        handle_test(near_rows_of_many),
        handle_test(shared_steps),
        handle_test(best_of_each_family),
        cmocka_unit_test(allocations_may_fail),
    };
    return cmocka_run_group_tests_name("reference", tests, NULL, NULL);
}
