/* test_warm.c - a training that starts from a model: the problem is that of a training without a start, the brackets
 * overlap, it is over sooner, and what does not fit is refused. */
#include "check.h"

#include "certifying.h"
#include "linalg/linalg.h"
#include "model/evidence.h"
#include "train/warm.h"

enum { N = 260, FEWER = 200, D = 6, CLASSES = 3 };

/* Rows first .. first + n - 1 of one endless data set, columns of different scales; step -1: backwards. */
static bdml_dataset *points(bdml_handle *h, int first, int n, int step)
{
    double x[N * D];
    int64_t y[N];
    bdml_dataset *data;
    for (int k = 0; k < n; k++) {
        int i = step > 0 ? first + k : first + n - 1 - k;
        bdml_rng r = bdml_rng_make(5, (uint64_t)i + 1);
        y[k] = i % CLASSES;
        for (int j = 0; j < D; j++)
            x[k * D + j] = pow(3, j) * (bdml_rng_normal(&r) + 1.2 * (double)(y[k] == j % CLASSES));
    }
    check_ok(h, bdml_dataset_from_arrays(h, n, D, x, D, y, &data));
    return data;
}

/* settings: "name value name value ..."; start: NULL, or where to begin. */
static bdml_model *learn(const bdml_dataset *data, const char *settings, const bdml_model *start)
{
    bdml_handle *h = NULL;
    bdml_model *model;
    assert_int_equal(bdml_create(&h), BDML_OK);
    set_all(h, settings);
    if (start) check_ok(h, bdml_set_warm(h, start));
    check_ok(h, bdml_train(h, data, NULL, &model));
    bdml_free(h);
    return model;
}

static double figure(const bdml_model *m, const char *part, const char *key)
{
    return json_number_value(json_object_get(json_object_get(m->info, part), key));
}

static bool same_ints(int64_t count, const int32_t *a, const int32_t *b)
{
    return memcmp(a, b, (size_t)count * sizeof *a) == 0;
}

/* One problem, two solves of it: constraints, cap, weight and reference are the same to the bit, and an optimum that lies in both
 * brackets exists. */
static void check_same_problem(const bdml_model *a, const bdml_model *b)
{
    const bdml_evidence *e = a->evidence, *f = b->evidence;
    const bdml_constraints *c = e->constraints, *g = f->constraints;
    assert_int_equal(c->m, g->m);
    assert_int_equal(c->pairs, g->pairs);
    check_true(same_ints(c->m, c->far, g->far) && same_ints(c->m, c->near, g->near));
    check_true(same_ints(c->pairs, c->pi, g->pi) && same_ints(c->pairs, c->pj, g->pj));
    check_true(e->K == f->K && e->cost == f->cost && e->g_scale == f->g_scale);
    check_true(e->hard == f->hard && e->squared == f->squared && e->gap_asked == f->gap_asked);
    assert_int_equal(e->reference_rows, f->reference_rows);
    if (e->reference)
        assert_memory_equal(e->reference, f->reference,
                            sizeof(double) * (size_t)e->reference_rows *
                                (size_t)e->reference_columns);
    assert_int_equal(e->claim, BDML_CLAIM_OPTIMAL);
    assert_int_equal(f->claim, BDML_CLAIM_OPTIMAL);
    check_true(fmax(e->lower, f->lower) <= fmin(e->upper, f->upper));
}

/* Forms whose rows and settings change: first, and then. */
typedef struct change {
    const char *before, *given; /* of the model, and anew */
    int rows;                   /* of the model */
} change;
static const change changes[] = {
    {"rule class kind triplet scale zscore distortion 30 loss hinge", "", FEWER},
    {"rule class kind triplet scale zscore distortion 30 loss hinge", "distortion 60", N},
    {"hard yes kind pair scale zscore distortion 20", "distortion 40", N},
    {"hard yes kind pair scale zscore distortion 20", "", FEWER},
    {"hard yes kind pair scale zscore diagonal yes distortion 20", "distortion 30", N},
    {"rule class kind triplet scale minmax distortion 30 gap 1e-6", "", FEWER},
    {"reference within distortion 20 softness 20 passes 3", "softness 30", N},
    {"reference zscore distortion 20 softness 20 passes 1", "gap 1e-6", N},
    {"reference fisher distortion 20 softness 20 passes 2 pca 4 scale zscore", "", FEWER},
};

static void the_same_problem_sooner(void **state)
{
    bdml_handle *h = *state;
    double cold_steps = 0, warm_steps = 0;
    for (size_t t = 0; t < sizeof changes / sizeof *changes; t++) {
        const change *c = &changes[t];
        bdml_dataset *then = points(h, 0, c->rows, 1), *now = points(h, 0, N, 1);
        char all[400];
        snprintf(all, sizeof all, "%s %s", c->before, c->given);
        bdml_model *start = learn(then, c->before, NULL), *cold = learn(now, all, NULL),
                   *warm = learn(now, c->given, start);
        check_same_problem(cold, warm);
        double a = figure(cold, "certificate", "iterations"),
               b = figure(warm, "certificate", "iterations");
        print_message("%-66s %4.0f steps, warm %4.0f\n", all, a, b);
        cold_steps += a;
        warm_steps += b;
        bdml_free_model(start);
        bdml_free_model(cold);
        bdml_free_model(warm);
        bdml_free_dataset(then);
        bdml_free_dataset(now);
    }
    /* as seen: a third; rounding decides some steps */
    check_true(warm_steps < 0.6 * cold_steps);
}

/* Nothing new: the end is where it begins. */
static void nothing_new_is_soon_over(void **state)
{
    static const char *const forms[] = {
        "rule class kind triplet scale zscore distortion 30 loss hinge",
        "hard yes kind pair scale zscore distortion 20",
        "reference within distortion 20 softness 20 passes 3",
        "reference none scale unit distortion 20 softness 5 passes 1",
    };
    bdml_handle *h = *state;
    bdml_dataset *data = points(h, 0, N, 1);
    for (size_t t = 0; t < sizeof forms / sizeof *forms; t++) {
        bdml_model *first = learn(data, forms[t], NULL), *again = learn(data, "", first);
        check_same_problem(first, again);
        print_message("%-66s %4.0f steps, again %4.0f\n", forms[t],
                      figure(first, "certificate", "iterations"),
                      figure(again, "certificate", "iterations"));
        check_true(figure(again, "certificate", "iterations") <= 5); /* a round */
        bdml_free_model(first);
        bdml_free_model(again);
    }
    bdml_free_dataset(data);
}

/* What cross-validation chose is taken over, and the problem is the one that it led to. */
static void choices_are_taken_over(void **state)
{
    static const char *const kept[] = {"reference", "distortion", "weight", "passes", "neighbors"};
    bdml_handle *h = *state;
    bdml_dataset *data = points(h, 0, N, 1);
    bdml_model *first = learn(data, "seed 3 scale zscore", NULL), *again = learn(data, "", first);
    const json_t *a = json_object_get(first->info, "selection"),
                 *b = json_object_get(again->info, "selection");
    for (size_t k = 0; k < sizeof kept / sizeof *kept; k++)
        check_true(json_equal(json_object_get(a, kept[k]), json_object_get(b, kept[k])));
    assert_string_equal(json_string_value(json_object_get(b, "by")), "warm");
    check_true(!json_object_get(b, "tried"));
    check_same_problem(first, again);
    const json_t *settings = json_object_get(again->info, "settings");
    assert_string_equal(json_string_value(json_object_get(settings, "seed")), "3");
    assert_string_equal(json_string_value(json_object_get(settings, "scale")), "zscore");

    /* given anew: that alone differs; asked for anew: it is chosen */
    bdml_model *other = learn(data, "distortion 7", first),
               *chosen = learn(data, "distortion auto", first);
    check_true(other->evidence->K == 7.0);
    const json_t *c = json_object_get(other->info, "selection");
    check_true(json_equal(json_object_get(a, "reference"), json_object_get(c, "reference")));
    check_true(json_object_get(json_object_get(chosen->info, "selection"), "tried") != NULL);

    /* a number of neighbours that no training chooses, in a file that says so, is not taken over */
    json_object_set_new(json_object_get(first->info, "selection"), "neighbors",
                        json_integer(2000000000));
    bdml_model *many = learn(data, "", first);
    check_true(!json_object_get(json_object_get(many->info, "selection"), "neighbors"));
    bdml_free_model(first);
    bdml_free_model(again);
    bdml_free_model(other);
    bdml_free_model(chosen);
    bdml_free_model(many);
    bdml_free_dataset(data);
}

/* Multipliers find their constraints wherever the rows have gone: behind others, turned round, or some of them dropped. */
static void rows_are_known_again(void **state)
{
    static const char hinge[] = "rule class kind triplet scale zscore distortion 30 loss hinge";
    bdml_handle *h = *state;
    bdml_dataset *then = points(h, 0, FEWER, 1), *turned = points(h, 0, FEWER, -1),
                 *later = points(h, 20, FEWER, 1), *others = points(h, 1000, FEWER, 1),
                 *more = points(h, 0, N, 1), *more_turned = points(h, 0, N, -1);
    bdml_model *start = learn(then, hinge, NULL);
    bdml_model *same = learn(then, "", start), *back = learn(turned, "", start),
               *moved = learn(later, "", start), *none = learn(others, "", start),
               *longer = learn(more, "", start), *longer_back = learn(more_turned, "", start);
    double known = figure(same, "warm", "multipliers");
    check_true(known == (double)start->evidence->duals);
    check_true(figure(back, "warm", "multipliers") == known);
    check_true(figure(back, "certificate", "iterations") <= 25);
    check_true(figure(moved, "warm", "multipliers") > 0.5 * known);
    check_true(figure(none, "warm", "multipliers") == 0);
    check_true(figure(longer, "warm", "multipliers") >
               0.1 * known); /* by the rows it begins with */
    check_true(figure(longer_back, "warm", "multipliers") ==
               figure(longer, "warm", "multipliers")); /* by images, among others */
    bdml_model *models[] = {start, same, back, moved, none, longer, longer_back};
    for (size_t k = 0; k < sizeof models / sizeof *models; k++) bdml_free_model(models[k]);
    bdml_dataset *sets[] = {then, turned, later, others, more, more_turned};
    for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) bdml_free_dataset(sets[k]);
}

/* Those of the hinge are shares of C/m: with more constraints each is smaller. */
static void multipliers_of_the_hinge_are_shares(void **state)
{
    static const char hinge[] = "rule class kind triplet scale zscore distortion 30 loss hinge";
    bdml_handle *h = *state;
    bdml_dataset *then = points(h, 0, FEWER, 1), *now = points(h, 0, N, 1);
    bdml_model *start = learn(then, hinge, NULL), *cold = learn(now, hinge, NULL);
    const bdml_evidence *e = start->evidence;
    const bdml_constraints *c = cold->evidence->constraints;
    bdml_solve_settings s = {.hard = false, .loss = BDML_LOSS_HINGE};
    double *y = NULL;
    int64_t found = 0;
    check_ok(h, bdml_set_warm(h, start));
    bdml_options o = h->options;
    check_ok(h, bdml_warm_open(h, now, NULL, &o));
    check_ok(h, bdml_warm_multipliers(h, c, &s, &y));
    assert_true(y && c->m > e->constraints->m);
    for (int64_t t = 0; t < c->m; t++) {
        if (y[t] == 0.0) continue;
        double share = y[t] * (double)c->m / (double)e->constraints->m;
        bool one = false;
        for (int64_t k = 0; k < e->duals; k++)
            one = one || fabs(share - e->dual[k]) <= 1e-14 * e->dual[k];
        check_true(one);
        found++;
    }
    check_true(found > 0);
    free(y);
    bdml_warm_close(h);
    bdml_free_model(start);
    bdml_free_model(cold);
    bdml_free_dataset(then);
    bdml_free_dataset(now);
}

/* |B(p - p')|^2 for the metric on points of this training is |z - z'|^2 of the model: whatever was prepared how, and the
 * reference too, as long as no direction is lost. */
static void the_metric_is_that_of_the_model(void **state)
{
    static const char *const ways[][2] = {{"scale none", "scale zscore"},
                                          {"scale zscore", "scale minmax"},
                                          {"scale minmax pca 6", "scale none"},
                                          {"scale zscore pca 6", "scale minmax pca 6"},
                                          {"scale zscore", "scale zscore"}};
    bdml_handle *h = *state;
    bdml_dataset *then = points(h, 0, FEWER, 1), *now = points(h, 300, N, 1);
    for (size_t t = 0; t < sizeof ways / sizeof *ways; t++) {
        char text[200];
        snprintf(text, sizeof text, "reference none distortion 20 softness 5 passes 1 %s",
                 ways[t][0]);
        bdml_model *start = learn(then, text, NULL);
        bdml_prepare p = {0};
        bdml_reference reference = {.rows = D, .columns = D};
        double z[N * D], x[N * D], map[D * D], r[N * D], *m = NULL;
        bdml_handle *own;
        assert_int_equal(bdml_create(&own), BDML_OK);
        set_all(own, ways[t][1]);
        check_ok(own, bdml_set_warm(own, start));
        bdml_options o = own->options;
        check_ok(own, bdml_warm_open(own, now, NULL, &o));
        check_ok(own, bdml_prepare_fit(own, &o, now, &p));
        check_ok(own, bdml_warm_prepared(own, &p));
        bdml_rng g = bdml_rng_make(9, t);
        for (int k = 0; k < D * D; k++) map[k] = bdml_rng_normal(&g) + 3.0 * (k % (D + 1) == 0);
        reference.map = t % 2 ? map : NULL;
        double margin = 1.0 + (double)t; /* and of a problem with another margin as much larger */
        check_ok(own, bdml_warm_metric(own, &reference, margin * start->evidence->margin, &m));
        check_ok(own, bdml_transform(own, start, N, now->x, D, z));
        if (bdml_prepare_is_identity(&p))
            memcpy(x, now->x, sizeof x);
        else
            check_ok(own, bdml_prepare_apply(own, &p, N, now->x, D, x));
        for (int i = 0; i < N; i++)
            for (int a = 0; a < D; a++) {
                r[i * D + a] = reference.map ? 0.0 : x[i * D + a];
                for (int b = 0; reference.map && b < D; b++)
                    r[i * D + a] += map[a * D + b] * x[i * D + b];
            }
        for (int i = 1; i < N; i++) {
            double want = 0, got = 0;
            for (int a = 0; a < start->q; a++) {
                double e = z[i * start->q + a] - z[a];
                want += e * e;
            }
            for (int a = 0; a < D; a++)
                for (int b = 0; b < D; b++)
                    got += m[a * D + b] * (r[i * D + a] - r[a]) * (r[i * D + b] - r[b]);
            want *= margin;
            check_close(got, want, 1e-9 * want); /* condition numbers of some thousands */
        }
        free(m);
        bdml_prepare_free(&p);
        bdml_warm_close(own);
        bdml_free(own);
        bdml_free_model(start);
    }
    bdml_free_dataset(then);
    bdml_free_dataset(now);
}

/* The same bits whatever the threads; and training again from the same model gives the same. */
static void same_bits(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *then = points(h, 0, FEWER, 1), *now = points(h, 0, N, 1);
    bdml_model *start = learn(then, "", NULL), *one = learn(now, "threads 1", start),
               *two = learn(now, "threads 2", start);
    assert_int_equal(one->q, two->q);
    assert_memory_equal(one->l, two->l, sizeof *one->l * (size_t)(one->q * one->d));
    check_true(one->evidence->lower == two->evidence->lower);
    bdml_free_model(start);
    bdml_free_model(one);
    bdml_free_model(two);
    bdml_free_dataset(then);
    bdml_free_dataset(now);
}

/* All levels of the checker; without the file only the last has nothing to go by. */
static void the_checker_confirms(void **state)
{
    static const char first[] = "test_warm.first.bdml";
    bdml_handle *h = *state;
    bdml_dataset *then = points(h, 0, FEWER, 1), *now = points(h, 0, N, 1);
    bdml_model *start = learn(then, "distortion 10 reference within softness 5 passes 1", NULL);
    check_ok(h, bdml_save_model(h, start, first));
    bdml_model *warm = learn(now, "warm test_warm.first.bdml", NULL);
    static const char *const levels[] = {"numbers", "problem", "repeat"};
    for (size_t k = 0; k < 3; k++) {
        check_ok(h, bdml_set(h, "level", levels[k]));
        json_t *o = certify(h, warm, now);
        check_true(json_is_true(json_object_get(o, "confirmed")));
        json_decref(o);
    }
    unlink(first);
    json_t *o = certify(h, warm, now);
    check_true(!json_is_true(json_object_get(o, "confirmed")));
    json_decref(o);
    check_ok(h, bdml_set(h, "level", "problem"));
    o = certify(h, warm, now);
    check_true(json_is_true(json_object_get(o, "confirmed")));
    json_decref(o);
    bdml_free_model(start);
    bdml_free_model(warm);
    bdml_free_dataset(then);
    bdml_free_dataset(now);
}

static void refuses(const bdml_dataset *data, const char *settings, const bdml_model *start,
                    const char *words)
{
    bdml_handle *h = NULL;
    bdml_model *model = NULL;
    assert_int_equal(bdml_create(&h), BDML_OK);
    set_all(h, settings);
    if (start) check_ok(h, bdml_set_warm(h, start));
    check_fails(h, bdml_train(h, data, NULL, &model), BDML_ERR_ARGUMENT, words);
    check_true(!model && !h->warm);
    bdml_free(h);
}

static void what_does_not_fit_is_refused(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = points(h, 0, FEWER, 1), *other;
    double x[20 * 2];
    int64_t y[20];
    for (int i = 0; i < 20; i++) x[2 * i] = i, x[2 * i + 1] = i * i % 7, y[i] = i % 2;
    check_ok(h, bdml_dataset_from_arrays(h, 20, 2, x, 2, y, &other));
    bdml_model *start = learn(data, "distortion 10 reference none softness 5 passes 1", NULL),
               *lda = learn(data, "method lda", NULL),
               *seen = learn(data, "task retrieve distortion 3 reference none passes 1 softness 5",
                             NULL);
    refuses(other, "", start, "of 6 features, the data have 2");
    refuses(data, "", lda, "of method lda");
    refuses(data, "method lmnn", start, "warm is for method bdml");
    refuses(data, "task classify", seen, "learned for task retrieve");
    refuses(data, "rank 2", start, "low rank");
    refuses(data, "solver mwu-cone hard yes", start, "the paper's solvers");
    refuses(data, "warm given", NULL, "bdml_set_warm");
    refuses(data, "pairs-file none.csv", start, "learned from classes");
    start->l[3] = NAN;
    refuses(data, "", start, "not finite");
    start->l[3] = 1e200; /* its square is not: a cold start, and no harm */
    bdml_model *odd = learn(data, "", start);
    assert_int_equal(odd->evidence->claim, BDML_CLAIM_OPTIMAL);
    json_object_set_new(json_object_get(start->info, "settings"), "softness", json_string("-1"));
    refuses(data, "", start, "softness must be");
    json_object_set_new(json_object_get(start->info, "settings"), "sftness", json_string("1"));
    refuses(data, "softness 5", start, "'sftness' is no setting");
    free(seen->l); /* as a proof is */
    seen->l = NULL;
    refuses(data, "", seen, "nothing to start");
    check_ok(h, bdml_set(h, "warm", "no/such.bdml"));
    bdml_model *none = NULL;
    check_fails(h, bdml_train(h, data, NULL, &none), BDML_ERR_IO, "no/such.bdml");
    bdml_free_model(odd);
    bdml_free_model(start);
    bdml_free_model(lda);
    bdml_free_model(seen);
    bdml_free_dataset(data);
    bdml_free_dataset(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(the_same_problem_sooner),
        handle_test(nothing_new_is_soon_over),
        handle_test(choices_are_taken_over),
        handle_test(rows_are_known_again),
        handle_test(multipliers_of_the_hinge_are_shares),
        handle_test(the_metric_is_that_of_the_model),
        handle_test(same_bits),
        handle_test(the_checker_confirms),
        handle_test(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
