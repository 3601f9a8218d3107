/* test_certify_levels.c - how far a model is checked: its numbers, its problem, its making again. */
#include "certifying.h"

#include <jansson.h>

static const char *level_of(const json_t *verdict)
{
    const char *level = json_string_value(json_object_get(verdict, "level"));
    return level ? level : "none";
}

static bool lists(const json_t *verdict, const char *list, const char *field)
{
    size_t i;
    const json_t *o;
    json_array_foreach(json_object_get(verdict, list), i, o)
    {
        if (strcmp(json_string_value(json_object_get(o, "field")), field) == 0) return true;
    }
    return false;
}

/* Train by these settings and have the highest level told; asking for more is refused, for training again granted. */
static void reaches(const char *settings, const char *name, const char *level)
{
    bdml_handle *h;
    assert_int_equal(bdml_create(&h), BDML_OK);
    bdml_dataset *data = read_data(h, name);
    bdml_model *model = train(h, data, settings, BDML_OK);
    json_t *o = certify(h, model, data);
    if (!json_is_true(json_object_get(o, "confirmed")) || strcmp(level_of(o), level) != 0)
        fail_msg("%s: %s", settings, json_dumps(o, JSON_INDENT(1)));
    check_true(lists(o, "not_checked", "times.fit"));
    const char *statement = json_string_value(json_object_get(o, "statement"));
    check_true(!strstr(statement, "with the settings") == (strcmp(level, "problem") != 0));
    check_true(lists(o, "checked", "map") && !lists(o, "not_checked", "map"));
    bool derived = strcmp(level, "problem") == 0;
    check_true(lists(o, derived ? "checked" : "not_checked", "evidence.far"));
    json_decref(o);
    check_ok(h, bdml_set(h, "level", "problem"));
    o = certify(h, model, data);
    assert_int_equal(json_is_true(json_object_get(o, "confirmed")), derived);
    json_decref(o);
    check_ok(h, bdml_set(h, "level", "numbers"));
    o = certify(h, model, data);
    check_true(json_is_true(json_object_get(o, "confirmed")));
    assert_string_equal(level_of(o), "numbers");
    check_true(lists(o, "not_checked", "evidence.K"));
    json_decref(o);
    check_ok(h, bdml_set(h, "level", "repeat"));
    o = certify(h, model, data);
    check_true(json_is_true(json_object_get(o, "confirmed")));
    assert_string_equal(level_of(o), "repeat");
    check_true(lists(o, "not_checked", "times.fit") &&
               lists(o, "checked", "certificate.iterations"));
    json_decref(o);
    bdml_free_model(model);
    bdml_free_dataset(data);
    bdml_free(h);
}

static void test_levels(void **state)
{
    (void)state;
    reaches("scale zscore hard yes kind pair", "data/wine.csv", "problem");
    reaches("scale zscore pca 0.9 rule ball", "data/wine.csv", "problem");
    reaches("scale zscore pca auto rule class", "data/wine.csv", "problem");
    reaches("reference fisher-100 rule nearest targets 5", "data/iris.csv", "problem");
    reaches("reference local rule class", "data/iris.csv", "problem");
    reaches("reference local-60 rule class targets 2", "data/segment.csv",
            "problem"); /* a sample */
    reaches("reference within shrinkage 0.1 rule class kind pair loss hinge", "data/iris.csv",
            "problem");
    reaches("distortion 30 passes 1 seed 5", "data/iris.csv",
            "problem"); /* the recipe, its weight chosen */
    reaches("distortion 1 reference zscore", "data/segment.csv", "problem"); /* 800 anchors */
    reaches("distortion 1 reference zscore anchors 90", "data/segment.csv", "problem");
    reaches("rule class kind pair scale zscore anchors 40 seed 2", "data/wine.csv", "problem");
    reaches("recipe paper", "data/wine.csv", "problem"); /* its cap and weight chosen */
    reaches("rule class passes 2 scale minmax", "data/iris.csv", "numbers"); /* mined again */
    reaches("rank 2 scale zscore", "data/iris.csv", "numbers");
}

/* The first two directions of PCA turned by a small angle: still orthonormal, still their span, but not theirs. */
static void turn_basis(bdml_prepare *p, double angle)
{
    double *u = p->basis, *v = p->basis + p->d_in;
    for (int j = 0; j < p->d_in; j++) {
        double a = u[j], b = v[j];
        u[j] = cos(angle) * a + sin(angle) * b;
        v[j] = cos(angle) * b - sin(angle) * a;
    }
}

/* Level problem sees what the settings do not give, level numbers is not asked. */
static void test_other_problem(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = read_data(h, "data/wine.csv");
    bdml_model *model =
        train(h, data, "reference within scale zscore pca 6 rule class distortion 3", BDML_OK);
    bdml_prepare *p = &model->prepare;
    bdml_evidence *e = model->evidence;
    json_t *settings = json_object_get(model->info, "settings");
    confirm(h, model, data, "optimal");
    alter(h, model, data, &p->shift[2], p->shift[2] + 1e-6, "scaling");
    alter(h, model, data, &p->width[2], p->width[2] * (1 + 1e-6), "scaling");
    alter(h, model, data, &p->center[1], p->center[1] + 1e-6, "PCA");
    alter(h, model, data, &p->basis[9], p->basis[9] + 1e-6, "PCA");
    turn_basis(p, 1e-4);
    refute(h, model, data, "PCA");
    turn_basis(p, -1e-4);
    alter(h, model, data, &p->variance, p->variance * 0.99, "PCA");
    alter(h, model, data, &e->reference[3], e->reference[3] + 1e-5, "reference");
    alter(h, model, data, &e->cost, e->cost * (1 + 1e-4), "weight");
    alter(h, model, data, &e->gap_asked, 1.0, "settings");
    alter(h, model, data, &e->R, 1e9, "settings");
    static const struct {
        const char *name, *value, *check;
    } others[] = {{"distortion", "4", "settings"},   {"loss", "hinge", "settings"},
                  {"scale", "minmax", "scaling"},    {"pca", "7", "PCA"},
                  {"missing", "mean", "scaling"},    {"reference", "zscore", "reference"},
                  {"shrinkage", "0.2", "reference"}, {"softness", "6", "weight"},
                  {"targets", "4", "constraints"},   {"impostors", "2", "constraints"},
                  {"kind", "pair", "constraints"},   {"rule", "nearest", "constraints"},
                  {"anchors", "150", "constraints"}, {"anchors", "177", "constraints"},
                  {"margin", "2", "settings"},       {"no-such-setting", "1", "settings"},
                  {"checkpoint", "file", "settings"}};
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        json_t *was = json_incref(json_object_get(settings, others[k].name));
        json_object_set_new(settings, others[k].name, json_string(others[k].value));
        refute(h, model, data, others[k].check);
        if (was)
            json_object_set_new(settings, others[k].name, was);
        else
            json_object_del(settings, others[k].name);
    }
    confirm(h, model, data, "optimal");
    bdml_free_model(model);
    bdml_free_dataset(data);
}

/* Corners of squares: each has two nearest of its class, either of which the rule may take, but one it must. Another
 * problem, with the target of one corner left out, is solved truly and then said to be what the rule gives. */
static void test_ties(void **state)
{
    static const double x[] = {0, 0, 1, 0, 1, 1, 0, 1, 5, 0, 6, 0, 6, 1, 5, 1};
    static const int64_t y[] = {0, 0, 0, 0, 1, 1, 1, 1};
    bdml_handle *h = *state;
    bdml_dataset *data;
    bdml_constraints *mined, *fewer;
    bdml_model *model;
    int32_t targets[2 * 8], impostors[2 * 8], rows[3];

    check_ok(h, bdml_dataset_from_arrays(h, 8, 2, x, 2, y, &data));
    model = train(h, data, "hard yes kind pair targets 1 impostors 1 reference none distortion 3",
                  BDML_OK);
    confirm(h, model, data, "optimal");
    bdml_free_model(model);
    check_ok(h, bdml_mine_constraints(h, data, &mined));
    int64_t m = bdml_constraints_count(mined), count = bdml_constraints_targets(mined);
    assert_int_equal(count, 8);
    for (int64_t t = 0; t < count; t++)
        check_ok(h, bdml_constraints_target_at(mined, t, &targets[2 * t]));
    for (int64_t t = 0; t < m; t++) {
        check_ok(h, bdml_constraints_at(mined, t, rows));
        impostors[2 * t] = rows[0];
        impostors[2 * t + 1] = rows[2];
    }
    check_ok(h,
             bdml_constraints_from_arrays(h, 8, count - 1, targets, m, impostors, 0, NULL, &fewer));
    check_ok(h, bdml_train(h, data, fewer, &model));
    json_object_set_new(model->info, "constraints", json_string("mined"));
    refute(h, model, data, "constraints");
    bdml_free_model(model);
    bdml_free_constraints(mined);
    bdml_free_constraints(fewer);
    bdml_free_dataset(data);
}

/* Points so far away that doubles do not tell their neighbours: the numbers hold, the rule is taken on trust. */
static void test_far_away(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = read_data(h, "data/iris.csv");
    for (int64_t k = 0; k < data->n * data->d; k++) data->x[k] += 1e12;
    bdml_model *model =
        train(h, data, "reference zscore hard yes kind pair distortion 3 gap 1e-2", BDML_OK);
    json_t *o = certify(h, model, data);
    if (!json_is_true(json_object_get(o, "confirmed")))
        fail_msg("%s", json_dumps(o, JSON_INDENT(1)));
    assert_string_equal(level_of(o), "numbers");
    check_true(lists(o, "not_checked", "evidence.far"));
    json_decref(o);
    bdml_free_model(model);
    bdml_free_dataset(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels),
        handle_test(test_other_problem),
        handle_test(test_far_away),
        handle_test(test_ties),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
