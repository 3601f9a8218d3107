/* test_model_forgery.c - model files that lie, each in one place, with a valid checksum and in the order that the
 * library writes: none is confirmed at a level at which the place is claimed.
 *
 * Honest models of every form; of each file every value of the header and every array, as the file itself lists
 * them, is changed in every way that fits its type. A forgery passes the test when it is refused, refuted, or
 * confirmed with the place under "not checked", or at a level below the one at which the honest file has it checked. After
 * these, lies that take several places to be consistent with themselves. */
#include "forgery_lies.h"

#include <jansson.h>

/* 20 flowers of each kind; missing: two values are not there. */
static bdml_dataset *make_data(bdml_handle *h, bool missing)
{
    bdml_dataset *all = NULL, *some = NULL;
    int64_t row[60];
    check_ok(h, bdml_read_dataset(h, source_path("data/iris.csv"), &all));
    for (int64_t i = 0; i < 60; i++) row[i] = i / 20 * 50 + i % 20;
    check_ok(h, bdml_dataset_subset(h, all, 60, row, &some));
    if (missing) some->x[9] = some->x[47] = NAN;
    bdml_free_dataset(all);
    return some;
}

static const char *constraint_path(const char *source)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/test_model_forgery.%d.%s.csv", BDML_TEST_BINARY_DIR,
             (int)getpid(), source);
    return path;
}

/* Pairs i,j,same or triplets i,j,k over the 60 rows. */
static void write_constraints(const char *source)
{
    FILE *f = fopen(constraint_path(source), "w");
    assert_non_null(f);
    for (int i = 0; i < 60; i++) {
        int near = i / 20 * 20 + (i + 1) % 20, far = (i + 20 + i % 7) % 60;
        if (strcmp(source, "pairs") == 0)
            fprintf(f, "%d,%d,1\n%d,%d,0\n", i, near, i, far);
        else
            fprintf(f, "%d,%d,%d\n", i, near, far);
    }
    fclose(f);
}

static bdml_model *make_model(bdml_handle *h, const form *as, const bdml_dataset *data)
{
    char text[512], *save = NULL;
    bdml_model *model = NULL;
    bdml_constraints *given = NULL;
    snprintf(text, sizeof text, "%s", as->settings);
    check_ok(h, bdml_set(h, "threads", "1"));
    for (char *name = strtok_r(text, " ", &save); name; name = strtok_r(NULL, " ", &save))
        check_ok(h, bdml_set(h, name, strtok_r(NULL, " ", &save)));
    if (strcmp(as->source, "mined") != 0) write_constraints(as->source);
    if (strcmp(as->source, "pairs") == 0)
        check_ok(h, bdml_set(h, "pairs-file", constraint_path("pairs")));
    if (strcmp(as->source, "triplets") == 0)
        check_ok(h, bdml_set(h, "triplets-file", constraint_path("triplets")));
    if (strcmp(as->source, "given") == 0) {
        int32_t target[] = {0, 1, 20, 21, 40, 41}, triplet[] = {0, 1, 20, 20, 21, 40, 40, 41, 3};
        double margin[] = {1, 2, 3}, weight[] = {1, 2, 1};
        check_ok(h, bdml_constraints_from_arrays(h, 60, 3, target, 0, NULL, 3, triplet, &given));
        check_ok(h, bdml_constraints_set_margins(h, given, margin));
        check_ok(h, bdml_constraints_set_weights(h, given, weight));
    }
    bdml_status status = bdml_train(h, data, given, &model);
    if (status != BDML_OK && status != BDML_ERR_INFEASIBLE)
        fail_msg("%s: %s", as->name, bdml_last_error(h));
    bdml_free_constraints(given);
    return model;
}

static const form forms[] = {
    {"hard pairs", "hard yes kind pair scale zscore distortion 30", "mined", false},
    {"hard triplets, reference", "hard yes distortion 300 reference zscore", "mined", false},
    {"soft", "rule class scale minmax distortion 30 softness 4", "mined", false},
    {"anchors", "rule class scale zscore anchors 20 distortion 30", "mined", false},
    {"hinge", "rule nearest targets 6 loss hinge reference within shrinkage 0.2", "mined", false},
    {"trace", "rule ball trace 0.5 scale zscore distortion 30", "mined", false},
    {"diagonal", "diagonal yes reference fisher kind pair distortion 3", "mined", false},
    {"near rows", "rule class reference local-60 distortion 3", "mined", false},
    {"stopped", "rule class scale zscore max-iter 5 gap 1e-9", "mined", false},
    {"basis, missing", "rule class scale unit pca 3 missing mean margin 2", "mined", true},
    {"rank", "rank 2 scale zscore distortion 3 softness 5 passes 1", "mined", false},
    {"recipe", "seed 3", "mined", false},
    {"recipe, mined again", "passes 2 distortion 3 softness 5 reference within", "mined", false},
    {"lifted", "solver mwu kind pair rounds 50 scale zscore distortion 30", "mined", false},
    {"pairs", "scale zscore", "pairs", false},
    {"pairs, hard", "hard yes distortion 1000 pair-score cosine", "pairs", false},
    {"triplets", "scale zscore distortion 30 softness 3", "triplets", false},
    {"given", "distortion 30 softness 3", "given", false},
    {"contradiction", "hard yes distortion 2 scale zscore rule nearest targets 12", "mined", false},
    {"no room", "hard yes kind pair trace 0.01 scale zscore distortion 30", "mined", false},
};

static void open_bench(bench *b, const form *as)
{
    bool confirmed;
    bdml_model *model;
    bdml_handle *trainer = NULL;
    b->form = as;
    check_ok(b->h, bdml_create(&trainer));
    b->data = make_data(b->h, as->missing);
    model = make_model(trainer, as, b->data);
    b->honest = read_file(b->h, model);
    write_file(b->h, &b->honest);
    for (int level = 0; level < 2; level++) {
        b->verdict[level] = verdict_of(b->h, b->data, levels[level], &confirmed);
        if (!confirmed)
            fail_msg("%s: the honest model is not confirmed: %s", as->name,
                     b->verdict[level] ? json_dumps(b->verdict[level], JSON_INDENT(1))
                                       : bdml_last_error(b->h));
    }
    bdml_free_model(model);
    bdml_free(trainer);
}

static void close_bench(bench *b)
{
    free_file(&b->honest);
    json_decref(b->verdict[0]);
    json_decref(b->verdict[1]);
    bdml_free_dataset(b->data);
    unlink(forged_path());
    unlink(constraint_path(b->form->source));
}

static void no_lie_is_confirmed(void **state)
{
    bench b = {.h = *state};
    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
        int before = b.forged, fields = b.fields;
        open_bench(&b, &forms[k]);
        forge_header(&b);
        forge_arrays(&b);
        forge_together(&b);
        print_message("%-24s level %-8s %4d forgeries of %3d fields\n", forms[k].name,
                      json_string_value(json_object_get(b.verdict[0], "level")), b.forged - before,
                      b.fields - fields);
        close_bench(&b);
    }
    print_message(
        "%d forgeries of %d kinds: %d refused, %d refuted, %d confirmed with the place under "
        "'not checked' or at a level below; %d wrong\n",
        b.forged, b.kinds, b.refused, b.refuted, b.confirmed, b.wrong);
    assert_true(b.forged >= 150 && b.kinds >= 20);
    assert_int_equal(b.wrong, 0);
}

/* A metric of distortion 1e12 as one of 10: trained on a column that is 1e6 times too small, in a file that says the
 * column was scaled so. The numbers hold; the scaling is not that of the data. */
static void scaling_is_made_again(void **state)
{
    bench b = {.h = *state, .form = &forms[0]};
    bdml_handle *trainer = NULL;
    bool confirmed;
    char fingerprint[24];
    check_ok(b.h, bdml_create(&trainer));
    b.data = make_data(b.h, false);
    bdml_dataset *squeezed = make_data(b.h, false);
    for (int64_t i = 0; i < 60; i++) squeezed->x[4 * i] *= 0x1p-20;
    bdml_model *model =
        make_model(trainer, &(form){"", "hard yes kind pair", "mined", false}, squeezed);
    file f = read_file(b.h, model);
    add_array(&f, "map", "shift", 4, 0);
    ((double *)add_array(&f, "shift", "width", 4, 1)->cell)[0] = 0x1p20;
    snprintf(fingerprint, sizeof fingerprint, "%016llx",
             (unsigned long long)bdml_dataset_fingerprint(b.data));
    json_object_set_new(f.header, "data_fingerprint", json_string(fingerprint));
    json_t *spread = json_object_get(f.header, "feature_spread");
    json_array_set_new(spread, 0, json_real(0x1p20 * json_number_value(json_array_get(spread, 0))));
    json_object_set_new(f.header, "scale", json_string("zscore"));
    json_object_set_new(json_object_get(f.header, "settings"), "scale", json_string("zscore"));
    write_file(b.h, &f);
    json_t *o = verdict_of(b.h, b.data, "numbers", &confirmed);
    assert_non_null(o);
    if (!confirmed) /* of the problem in the file it is true */
        fail_msg("%s", json_dumps(json_object_get(o, "checks"), JSON_INDENT(1)));
    json_decref(o);
    o = verdict_of(b.h, b.data, "auto", &confirmed);
    assert_non_null(o);
    assert_false(confirmed);
    json_decref(o);
    free_file(&f);
    bdml_free_model(model);
    bdml_free_dataset(squeezed);
    bdml_free_dataset(b.data);
    bdml_free(trainer);
    unlink(forged_path());
}

/* A file that must not load, and why it says so. */
static void refuse_forgery(bdml_handle *h, const file *f, const char *why)
{
    bdml_model *model = NULL;
    write_file(h, f);
    check_fails(h, bdml_load_model(h, forged_path(), &model), BDML_ERR_FORMAT, why);
    assert_null(model);
}

/* No index, number or shape gets in that a reader of the model would take for memory that is there: certify looked at
 * them itself, while a training that starts from the model, `bdml drift` and `bdml bound` trusted them. */
static void nothing_reaches_beyond(void **state)
{
    static const char *const indices[] = {"evidence.pair_i", "evidence.pair_j",
                                          "evidence.target", "evidence.far",
                                          "evidence.near",   "evidence.dual_constraint"};
    static const int32_t wrong[] = {-7, INT32_MIN, 1000000, INT32_MAX};
    static const double lengths[] = {0, -1, NAN}, huge[] = {NAN, INFINITY, 1e151, 1e300};
    bench b = {.h = *state};
    open_bench(&b, &forms[4]); /* hinge, with a reference */
    for (size_t k = 0; k < 6 * 4; k++) {
        file f = copy_file(&b.honest);
        array *a = array_named(&f, indices[k / 4]);
        ((int32_t *)a->cell)[a->rows - 1] = wrong[k % 4];
        refuse_forgery(b.h, &f, indices[k / 4]);
        free_file(&f);
    }
    for (int columns = 1; columns < 10; columns += 8) { /* 4 are right */
        file f = copy_file(&b.honest);
        array *a = array_named(&f, "evidence.reference");
        a->cell = realloc(a->cell, (size_t)a->rows * 9 * sizeof(double));
        for (int64_t i = 0; i < 9 * a->rows; i++) ((double *)a->cell)[i] = 0.5;
        a->columns = columns;
        refuse_forgery(b.h, &f, "reference does not fit");
        free_file(&f);
    }
    file f = copy_file(&b.honest);
    array *a = array_named(&f, "evidence.map");
    a->rows--;
    refuse_forgery(b.h, &f, "reference does not fit");
    snprintf(a->name, sizeof a->name, "elsewhere");
    a->rows++;
    refuse_forgery(b.h, &f, "reference does not fit");
    free_file(&f);
    for (size_t k = 0; k < 3 + 4; k++) {
        f = copy_file(&b.honest);
        if (k < 3) {
            add_array(&f, "map", "shift", 4, 0);
            ((double *)add_array(&f, "shift", "width", 4, 1)->cell)[2] = lengths[k];
            json_object_set_new(f.header, "scale", json_string("zscore"));
        } else {
            ((double *)array_named(&f, "map")->cell)[5] = huge[k - 3];
        }
        refuse_forgery(b.h, &f, k < 3 ? "'width' holds" : "'map' holds");
        free_file(&f);
    }
    f = copy_file(&b.honest);
    a = array_named(&f, "map");
    memset(a->cell, 0, bytes_of(a));
    refuse_forgery(b.h, &f, "its map is zero");
    free_file(&f);
    close_bench(&b);
}

/* A model that speaks of more rows than anyone has: a training starts from its metric, and takes no memory for them. */
static void rows_that_are_nowhere(void **state)
{
    bench b = {.h = *state};
    bdml_handle *h = NULL;
    bdml_model *model = NULL;
    open_bench(&b, &forms[4]);
    file f = copy_file(&b.honest);
    json_object_set_new(part(&f, "evidence"), "rows", json_integer((json_int_t)1 << 40));
    write_file(b.h, &f);
    check_ok(b.h, bdml_create(&h));
    check_ok(h, bdml_set(h, "warm", forged_path()));
    check_ok(h, bdml_train(h, b.data, NULL, &model));
    bdml_free_model(model);
    bdml_free(h);
    free_file(&f);
    close_bench(&b);
}

/* What has no end is no model, and is not read to its end. */
static void what_has_no_end(void **state)
{
    bdml_model *model = NULL;
    check_fails(*state, bdml_load_model(*state, "/dev/zero", &model), BDML_ERR_FORMAT,
                "not a bdml file");
}

/* Data at which the metric would leave the range of double precision: said, and no infinity given out. */
static void images_are_numbers(void **state)
{
    bdml_handle *h = *state;
    const double l[4] = {1e140, 0, 0, 1}, x[4] = {1, 1, 1e20, 1};
    const int64_t pair[2] = {0, 1};
    double z[4], distance;
    bdml_model *model = NULL;
    check_ok(h, bdml_model_from_map(h, 2, 2, l, 0, &model));
    check_ok(h, bdml_transform(h, model, 1, x, 2, z));
    check_fails(h, bdml_transform(h, model, 2, x, 2, z), BDML_ERR_DATA, "row 1 (from 0)");
    check_fails(h, bdml_distances(h, model, 2, x, 2, 1, pair, &distance), BDML_ERR_DATA,
                "row 1 (from 0)");
    bdml_free_model(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(no_lie_is_confirmed),    handle_test(scaling_is_made_again),
        handle_test(nothing_reaches_beyond), handle_test(rows_that_are_nowhere),
        handle_test(what_has_no_end),        handle_test(images_are_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
