/* test_certify_refutes.c - each alteration of model, evidence or data is refuted by the check that should
 * see it. */
#include "certifying.h"

#include <jansson.h>

static void alter_evidence(bdml_handle *h, bdml_model *model, bdml_dataset *data)
{
    bdml_evidence *e = model->evidence;
    int64_t k = heaviest(e);
    bool hard = e->hard;
    alter(h, model, data, &e->K, 0.9 * e->K, "distortion");
    alter(h, model, data, &e->K, 3 * e->K, "lower");
    alter(h, model, data, &e->K, 3 * e->K, "description");
    alter(h, model, data, &e->upper, 0.999 * e->upper, "upper");
    alter(h, model, data, &e->upper, 1.001 * e->upper, "upper");
    alter(h, model, data, &e->lower, 1.01 * e->lower, "lower");
    alter(h, model, data, &e->lower, 0.5 * e->lower, "description");
    alter(h, model, data, &e->margin, 1.01 * e->margin, hard ? "margins" : "upper");
    if (!hard) alter(h, model, data, &e->cost, 1.01 * e->cost, "upper");
    alter(h, model, data, &e->g_scale, 1.01 * e->g_scale, "upper");
    alter(h, model, data, &e->dual[k], 20 * e->dual[k] + 1, "lower");
    alter(h, model, data, &e->dual[k], -e->dual[k], "multipliers");
    alter(h, model, data, &e->dual[k], INFINITY, "multipliers");
    alter(h, model, data, &e->dual[k], NAN, "multipliers");
    for (int64_t i = 0; i < e->duals; i++) e->dual[i] *= 0.5; /* valid, but they prove less */
    refute(h, model, data, "lower");
    for (int64_t i = 0; i < e->duals; i++) e->dual[i] *= 2;
    bdml_claim was = e->claim;
    e->claim = BDML_CLAIM_STOPPED;
    refute(h, model, data, "description");
    e->claim = BDML_CLAIM_INFEASIBLE;
    refute(h, model, data, "proof");
    e->claim = was;
}

static void alter_constraints(bdml_handle *h, bdml_model *model, bdml_dataset *data)
{
    bdml_constraints *c = model->evidence->constraints;
    int32_t t = model->evidence->dual_constraint[heaviest(model->evidence)], was = c->far[t];
    c->far[t] = c->target[0]; /* a pair of neighbours is to be far now */
    refute(h, model, data, model->evidence->hard ? "margins" : "upper");
    c->far[t] = was;
    was = c->target[0];
    c->target[0] = c->far[t]; /* and impostors are pulled */
    if (model->evidence->pull == BDML_PULL_TARGETS) refute(h, model, data, "upper");
    c->target[0] = was;
    c->m--; /* one constraint less, with its multiplier */
    bdml_evidence *e = model->evidence;
    bool last = e->dual_constraint[e->duals - 1] == c->m;
    e->duals -= last;
    refute(h, model, data, "description");
    e->duals += last;
    c->m++;
}

static void alter_map(bdml_handle *h, bdml_model *model, bdml_dataset *data)
{
    bdml_evidence *e = model->evidence;
    const char *seen = e->reference ? "map" : "upper";
    alter(h, model, data, &model->l[0], 1.01 * model->l[0] + 1e-3, seen);
    alter(h, model, data, &model->z[3], model->z[3] + 1e-6 * fabs(model->z[3]), "points");
    int32_t was = model->y[0];
    model->y[0] = !was;
    refute(h, model, data, "points");
    model->y[0] = was;
    if (e->reference) {
        alter(h, model, data, &e->reference[0], 1.01 * e->reference[0] + 1e-3, "map");
        alter(h, model, data, &e->map[0], 1.01 * e->map[0], "map");
    }
    /* all of it, so that L = B reference still holds */
    size_t count = (size_t)model->q * (size_t)model->d;
    size_t inner = e->map ? (size_t)e->map_rows * (size_t)e->reference_rows : 0;
    for (size_t i = 0; i < count; i++) model->l[i] *= 0.99;
    for (size_t i = 0; i < inner; i++) e->map[i] *= 0.99;
    refute(h, model, data, e->hard ? "margins" : "upper");
    for (size_t i = 0; i < count; i++) model->l[i] /= 0.99;
    for (size_t i = 0; i < inner; i++) e->map[i] /= 0.99;
    /* one direction stretched: beyond the cap */
    double *first = e->map ? e->map : model->l;
    size_t row = e->map ? (size_t)e->reference_rows : (size_t)model->d;
    for (size_t i = 0; i < row; i++) first[i] *= 1.1;
    refute(h, model, data, "distortion");
    for (size_t i = 0; i < row; i++) first[i] /= 1.1;
}

static void alter_data(bdml_handle *h, bdml_model *model, bdml_dataset *data)
{
    const bdml_constraints *c = model->evidence->constraints;
    int32_t t = model->evidence->dual_constraint[heaviest(model->evidence)];
    double *row = data->x + (size_t)c->pi[c->far[t]] * (size_t)data->d, swap[64];
    alter(h, model, data, row, row[0] + 1e-9, "data");
    alter(h, model, data, row, row[0] + 0.1, "upper");
    alter(h, model, data, row, row[0] + 0.1, "points");
    size_t bytes = sizeof *row * (size_t)data->d;
    double *last = data->x + (size_t)(data->n - 1) * (size_t)data->d;
    memcpy(swap, data->x, bytes), memcpy(data->x, last, bytes), memcpy(last, swap, bytes);
    refute(h, model, data, "data"); /* the order of rows */
    refute(h, model, data, "upper");
    memcpy(swap, data->x, bytes), memcpy(data->x, last, bytes), memcpy(last, swap, bytes);
}

static void alter_words(bdml_handle *h, bdml_model *model, bdml_dataset *data)
{
    static const char *const keys[] = {"upper", "lower", "kappa", "distortion", "constraints"};
    json_t *o = json_object_get(model->info, "certificate");
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        json_t *was = json_incref(json_object_get(o, keys[k]));
        json_object_set_new(o, keys[k], json_real(0.9 * json_number_value(was)));
        refute(h, model, data, "description");
        json_object_set_new(o, keys[k], was);
    }
    json_object_set_new(o, "status", json_string("stopped"));
    refute(h, model, data, "description");
    json_object_set_new(o, "status", json_string("optimal"));
    json_t *spread = json_object_get(model->info, "feature_spread");
    double was = json_number_value(json_array_get(spread, 1));
    json_array_set_new(spread, 1, json_real(was * (1 + 1e-6)));
    refute(h, model, data, "spread");
    json_array_set_new(spread, 1, json_real(was));
    json_t *label = json_incref(json_object_get(model->info, "label_column"));
    json_object_set_new(model->info, "label_column", json_string("another"));
    refute(h, model, data, "names");
    json_object_set_new(model->info, "label_column", label);
}

static void test_refutes(void **state)
{
    static const char *const forms[] = {
        "scale zscore rule class distortion 10",
        "reference within rule class distortion 3",
        "scale zscore hard yes kind pair distortion 10",
        "reference zscore hard yes kind triplet distortion 10",
        "scale zscore rule class loss hinge distortion 10",
    };
    (void)state;
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        bdml_handle *h;
        assert_int_equal(bdml_create(&h), BDML_OK);
        bdml_dataset *data = read_data(h, "data/iris.csv");
        if (strstr(forms[f], "hard")) {
            bdml_free_dataset(data);
            data = read_data(h, "data/wine.csv");
        }
        bdml_model *model = train(h, data, forms[f], BDML_OK);
        confirm(h, model, data, "optimal");
        alter_evidence(h, model, data);
        alter_constraints(h, model, data);
        alter_map(h, model, data);
        alter_data(h, model, data);
        alter_words(h, model, data);
        confirm(h, model, data, "optimal"); /* all was put back */
        bdml_free_model(model);
        bdml_free_dataset(data);
        bdml_free(h);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refutes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
