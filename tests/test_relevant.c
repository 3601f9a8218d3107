/* test_relevant.c - learning from what people have: positives alone, grades, clicks with weights; and that weights are
 * part of what is certified. */
#include "check.h"

#include "model/evidence.h"
#include "problem/problem.h"

static const char *write_file(const char *name, const char *text)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", BDML_TEST_BINARY_DIR, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    return path;
}

/* ---- positives alone ------------------------------------------------------------------------------------ */

/* Points on a line: the queries 0 at 0 and 1 at 20; the corpus 2 .. 7 at 1, 3, 4, 5, 9, 21. */
static const double line[] = {0, 20, 1, 3, 4, 5, 9, 21};

static bdml_constraints *mine(bdml_handle *h, const char *text, const char *guard)
{
    bdml_dataset *data;
    bdml_constraints *c;
    check_ok(h, bdml_dataset_from_arrays(h, 8, 1, line, 1, NULL, &data));
    check_ok(h, bdml_set(h, "relevant-file", write_file("relevant.csv", text)));
    check_ok(h, bdml_set(h, "impostors", "2"));
    check_ok(h, bdml_set(h, "guard", guard));
    check_ok(h, bdml_mine_constraints(h, data, &c));
    bdml_free_dataset(data);
    return c;
}

static bool holds(const bdml_constraints *c, int32_t i, int32_t j, int32_t k, double weight)
{
    for (int64_t t = 0; t < c->m; t++) {
        int32_t row[3];
        check_true(bdml_constraints_at(c, t, row) == BDML_OK);
        if (row[0] == i && row[1] == j && row[2] == k)
            return (c->weight ? c->weight[t] : 1.0) == weight;
    }
    return false;
}

/* Row 4 at 4 is relevant to query 0. Rows 2 at 1 and 3 at 3 are nearer than 0.95 of that: they may be relevant too. */
static void nearer_rows_are_guarded(void **state)
{
    bdml_handle *h = *state;
    bdml_constraints *c = mine(h, "query,row\n0,4\n", "0.95");
    check_true(c->m == 2 && c->targets == 1 && !c->weight);
    check_true(holds(c, 0, 4, 5, 1.0) && holds(c, 0, 4, 6, 1.0));
    bdml_free_constraints(c);
    c = mine(h, "0,4\n", "0"); /* no guard: the nearest, whatever they are */
    check_true(holds(c, 0, 4, 2, 1.0) && holds(c, 0, 4, 3, 1.0));
    bdml_free_constraints(c);
    c = mine(h, "0,4\n0,5\n", "0.95"); /* another row that is relevant is no impostor */
    check_true(holds(c, 0, 4, 6, 1.0) && holds(c, 0, 5, 6, 1.0) && !holds(c, 0, 4, 5, 1.0));
    bdml_free_constraints(c);
}

/* Grades weigh triplets, and order the relevant rows. Query 1 is no impostor of 0: it is no row of the corpus. */
static void grades_weigh(void **state)
{
    bdml_handle *h = *state;
    bdml_constraints *c = mine(h, "0,3,3\n0,4,1\n1,7,2\n", "0.95");
    check_true(holds(c, 0, 3, 4, 2.0)); /* grade 3 before grade 1 */
    check_true(holds(c, 0, 3, 5, 3.0) && holds(c, 0, 4, 5, 1.0) && holds(c, 1, 7, 6, 2.0));
    for (int64_t t = 0; t < c->m; t++) {
        int32_t row[3];
        check_true(bdml_constraints_at(c, t, row) == BDML_OK && row[2] >= 2);
    }
    bdml_free_constraints(c);
}

static void bad_files_say_so(void **state)
{
    bdml_handle *h = *state;
    static const char *const files[][2] = {{"0,4,0\n", "is not a grade"},
                                           {"0,99\n", "is not a row number"},
                                           {"0,4,1,1\n", "query,row or query,row,grade"},
                                           {"query,row\n", "there is no line"},
                                           {"3,3\n", "stands there twice"}};
    bdml_dataset *data;
    bdml_constraints *c;
    check_ok(h, bdml_dataset_from_arrays(h, 8, 1, line, 1, NULL, &data));
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        check_ok(h, bdml_set(h, "relevant-file", write_file("relevant.csv", files[k][0])));
        check_fails(h, bdml_mine_constraints(h, data, &c), BDML_ERR_DATA, files[k][1]);
    }
    check_ok(h, bdml_set(h, "relevant-file", write_file("relevant.csv", "0,4,2\n")));
    check_ok(h, bdml_set(h, "hard", "yes"));
    check_fails(h, bdml_mine_constraints(h, data, &c), BDML_ERR_ARGUMENT, "weights are of missed");
    check_ok(h, bdml_set(h, "hard", "no"));
    check_ok(h, bdml_set(h, "triplets-file", "x.csv"));
    check_fails(h, bdml_mine_constraints(h, data, &c), BDML_ERR_ARGUMENT,
                "relevant-file stands alone");
    bdml_free_dataset(data);
}

/* ---- what is certified ---------------------------------------------------------------------------------- */

static bool confirmed_at(bdml_handle *h, const bdml_model *model, const bdml_dataset *data,
                         const char *level)
{
    int confirmed = 0;
    char *verdict = NULL;
    check_ok(h, bdml_set(h, "level", level));
    check_ok(h, bdml_certify_model(h, model, data, &confirmed, &verdict));
    bdml_free_bytes(verdict);
    return confirmed;
}

/* Triplets mined from positives are taken on trust at level problem; training again mines them again, from the file as
 * it is now. */
static void mined_again_by_training_again(void **state)
{
    static const char lines[] = "0,2\n0,5\n60,70\n61,80\n140,150\n141,160\n";
    bdml_handle *h = *state;
    bdml_dataset *data;
    bdml_model *model;
    check_ok(h, bdml_read_dataset(h, source_path("data/wine.csv"), &data));
    check_ok(h, bdml_set(h, "scale", "zscore"));
    check_ok(h, bdml_set(h, "distortion", "3"));
    check_ok(h, bdml_set(h, "relevant-file", write_file("relevant.csv", lines)));
    check_ok(h, bdml_train(h, data, NULL, &model));
    check_true(confirmed_at(h, model, data, "numbers"));
    check_true(!confirmed_at(h, model, data, "problem"));
    check_true(confirmed_at(h, model, data, "repeat"));
    check_ok(h, bdml_set(h, "relevant-file", write_file("relevant.csv", "0,2\n0,5\n60,70\n")));
    check_true(!confirmed_at(h, model, data, "repeat"));
    bdml_free_model(model);
    bdml_free_dataset(data);
}

/* ---- clicks with weights -------------------------------------------------------------------------------- */

/* Trained on wine by these triplets; the claim must hold at level problem: the file has these weights. */
static bdml_model *learn(bdml_handle *h, const bdml_dataset *data, const char *text, bool confirm)
{
    bdml_model *model;
    int confirmed = 0;
    char *verdict = NULL;
    check_ok(h, bdml_set(h, "triplets-file", write_file("clicks.csv", text)));
    check_ok(h, bdml_train(h, data, NULL, &model));
    check_ok(h, bdml_set(h, "level", "problem"));
    check_ok(h, bdml_certify_model(h, model, data, &confirmed, &verdict));
    check_true(!confirm || confirmed);
    bdml_free_bytes(verdict);
    return model;
}

static void weights_are_certified(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data;
    check_ok(h, bdml_read_dataset(h, source_path("data/wine.csv"), &data));
    check_ok(h, bdml_set(h, "scale", "zscore"));
    bdml_model *plain = learn(h, data, "0,1,60\n2,3,61\n5,6,140\n7,8,90\n", true);
    bdml_model *ones = learn(h, data, "0,1,60,1\n2,3,61,1\n5,6,140,1\n7,8,90,1\n", true);
    bdml_model *more = learn(h, data, "0,1,60,5\n2,3,61,1\n5,6,140,1\n7,8,90,1\n", true);
    bdml_model *again = learn(h, data, "0,1,60,2\n2,3,61,1\n5,6,140,1\n7,8,90,1\n0,1,60,3\n", true);
    size_t bytes = sizeof(double) * (size_t)plain->q * (size_t)plain->d;
    assert_memory_equal(plain->l, ones->l, bytes); /* a weight of 1 is none */
    check_true(memcmp(plain->l, more->l, bytes) != 0);
    assert_memory_equal(more->l, again->l, bytes); /* weights of equal triplets add up */
    check_true(more->evidence->constraints->weight[0] == 5.0);

    /* a model that claims another weight than the file has is refuted */
    int confirmed = 1;
    char *verdict = NULL;
    check_ok(h, bdml_set(h, "triplets-file",
                         write_file("clicks.csv", "0,1,60,4\n2,3,61,1\n5,6,140,1\n7,8,90,1\n")));
    check_ok(h, bdml_certify_model(h, more, data, &confirmed, &verdict));
    check_true(!confirmed);
    bdml_free_bytes(verdict);
    bdml_free_model(plain);
    bdml_free_model(ones);
    bdml_free_model(more);
    bdml_free_model(again);
    bdml_free_dataset(data);
}

static void bad_weights_say_so(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data;
    bdml_constraints *c;
    check_ok(h, bdml_dataset_from_arrays(h, 8, 1, line, 1, NULL, &data));
    check_ok(h, bdml_set(h, "triplets-file", write_file("clicks.csv", "0,1,2,1\n3,4,5\n")));
    check_fails(h, bdml_mine_constraints(h, data, &c), BDML_ERR_DATA, "or none has");
    check_ok(h, bdml_set(h, "triplets-file", write_file("clicks.csv", "0,1,2,-1\n")));
    check_fails(h, bdml_mine_constraints(h, data, &c), BDML_ERR_DATA, "is not a weight");
    bdml_free_dataset(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(nearer_rows_are_guarded),       handle_test(grades_weigh),
        handle_test(mined_again_by_training_again), handle_test(bad_files_say_so),
        handle_test(weights_are_certified),         handle_test(bad_weights_say_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
