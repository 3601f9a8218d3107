/* test_describe.c - descriptions when memory ends inside the JSON library: an error, never a shorter text. */
#include "check.h"

#include "train/describe.h"
#include "train/path.h"

/* ---- one allocation of the JSON library fails -------------------------------------------- */

static int64_t left;

static void *take(size_t size)
{
    return left-- == 0 ? NULL : malloc(size);
}

/* A description in the making. */
typedef bdml_status (*make_fn)(bdml_handle *h, bdml_model *model, char **text);

/* Allocation 0, 1, 2, ... fails, and it alone: BDML_ERR_MEMORY, or all of the text. */
static void whole_or_nothing(bdml_handle *h, make_fn make, int64_t least)
{
    static const double map[] = {1, 0, 0, 1};
    char *whole = NULL;
    bool reached = true;
    for (int64_t failing = -1; reached; failing++) { /* -1: none */
        bdml_model *model;
        char *text = NULL;
        check_ok(h, bdml_model_from_map(h, 2, 2, map, 0, &model));
        left = failing;
        json_set_alloc_funcs(take, free);
        bdml_status status = make(h, model, &text);
        reached = left < 0;
        json_set_alloc_funcs(malloc, free);
        if (status == BDML_OK && !text)
            text = json_dumps(model->info, JSON_SORT_KEYS | JSON_REAL_PRECISION(17));
        if (!whole) {
            assert_int_equal(status, BDML_OK);
            whole = text;
            text = NULL;
        } else if (status == BDML_OK) {
            assert_string_equal(text, whole);
        } else {
            assert_int_equal(status, BDML_ERR_MEMORY);
        }
        check_true(reached || failing >= least); /* there were so many to fail */
        free(text);
        bdml_free_model(model);
    }
    free(whole);
}

/* ---- what is described ------------------------------------------------------------------------------------- */

static bdml_status describe_claim(bdml_handle *h, bdml_model *model, char **text)
{
    (void)text;
    static bdml_evidence evidence = {.duals = 2, .lower = 0.5};
    static double y[] = {1, 2};
    static int64_t important[] = {1, 0};
    static int32_t pi[] = {0, 1}, pj[] = {2, 3}, far[] = {0, 1}, near[] = {-1, 0};
    const bdml_constraints c = {
        .n = 4, .pairs = 2, .pi = pi, .pj = pj, .m = 2, .far = far, .near = near};
    const bdml_reference reference = {.kind = BDML_REFERENCE_FISHER};
    const bdml_solve_settings s = bdml_solve_defaults();
    const bdml_solve_result r = {.outcome = BDML_INFEASIBLE,
                                 .upper = INFINITY,
                                 .C = 2,
                                 .C0 = 1,
                                 .y = y,
                                 .contradicting = 2,
                                 .important = important,
                                 .iterations = 7,
                                 .history = {.count = 2, .iteration = {1, 5}, .upper = {3, 2}}};
    const bdml_solved solved = {&reference, &c, &s, &r, false, BDML_PULL_WITHIN, 1.0};
    model->evidence = &evidence;
    bdml_status status = bdml_describe_claim(h, &solved, model);
    model->evidence = NULL;
    return status;
}

static bdml_status describe_selection(bdml_handle *h, bdml_model *model, char **text)
{
    (void)text;
    double mean[] = {3, NAN, 2, 1}, se[] = {0.1, NAN, 0.2, 0.3};
    int parts[] = {1, 1, 5, 5};
    const bdml_plan plan = {.o = &h->options,
                            .pairs = true,
                            .references = 2,
                            .scores = 2,
                            .efforts = 1,
                            .caps = 1,
                            .reference = {BDML_REFERENCE_NONE, BDML_REFERENCE_WITHIN},
                            .score = {BDML_SCORE_DISTANCE, BDML_SCORE_COSINE},
                            .effort = {{0, 5}},
                            .cap = {10}};
    const bdml_selection s = {.chosen = 3,
                              .candidates = 4,
                              .mean = mean,
                              .se = se,
                              .parts = parts,
                              .alone = 2,
                              .alone_kind = {BDML_REFERENCE_NONE, BDML_REFERENCE_LDA},
                              .alone_error = {NAN, 4}};
    return bdml_describe_selection(h, &plan, &s, model);
}

static bdml_status describe_rank(bdml_handle *h, bdml_model *model, char **text)
{
    (void)text;
    const bdml_lowrank_settings s = {.q = 2, .full = true, .step = BDML_Q_STEP_PAPER};
    const bdml_lowrank_report r = {.lower = 1, .lower_q = 2, .relaxed = true, .infeasible = true};
    return bdml_describe_rank(h, &s, "pca", &r, 12.5, model);
}

static bdml_status describe_training(bdml_handle *h, bdml_model *model, char **text)
{
    (void)text;
    static double x[] = {1, 2, 3, 4};
    static char source[] = "points.csv";
    const bdml_dataset data = {.n = 2, .d = 2, .x = x, .source = source};
    bdml_options o = h->options, asked = o;
    asked.prepare.scale.value = BDML_SCALE_AUTO;
    asked.neighbors.neighbors.automatic = asked.train.tune.value = true;
    o.solve.gap.value = 0.5;
    o.prepare.scale.value = BDML_SCALE_ZSCORE;
    BDML_TRY(bdml_describe_training(h, &o, bdml_method_at(0), &data, 0.0, model));
    return bdml_describe_auto(h, &asked, &o, "lmnn", model);
}

static bdml_status write_path(bdml_handle *h, bdml_model *model, char **text)
{
    (void)model;
    path_record record[9];
    double valid[9] = {0}, valid_se[9] = {0};
    int chosen[] = {1, 0, 2};
    bdml_dataset data = {.n = 10, .d = 2};
    const path_result p = {.plan = {.o = &h->options, .caps = 3, .cap = {1, 10, 100}},
                           .splits = 2,
                           .train = 7,
                           .test = 3,
                           .record = record,
                           .valid = valid,
                           .valid_se = valid_se,
                           .chosen = chosen};
    for (int k = 0; k < 9; k++)
        record[k] = (path_record){.solved = true, .upper = 1, .kappa = 2, .test_error = k * k};
    return path_write(h, &data, &p, text);
}

static void descriptions_are_whole(void **state)
{
    bdml_handle *h = *state;
    whole_or_nothing(h, describe_claim, 50);
    whole_or_nothing(h, describe_selection, 30);
    whole_or_nothing(h, describe_rank, 30);
    whole_or_nothing(h, describe_training, 10);
    whole_or_nothing(h, write_path, 100);
}

/* The choice is told with the passes of the last fit, what was tried with those of the parts. */
static void passes_are_those_of_the_last_fit(void **state)
{
    bdml_handle *h = *state;
    static const double map[] = {1, 0, 0, 1};
    double mean[] = {3, 2}, se[] = {0.1, 0.2};
    int parts[] = {5, 5};
    const bdml_plan plan = {.o = &h->options,
                            .references = 1,
                            .scores = 1,
                            .efforts = 2,
                            .caps = 1,
                            .effort = {{0, 1.5}, {1, 20}},
                            .cap = {10},
                            .more = 1};
    for (int chosen = 0; chosen < 2; chosen++) {
        bdml_model *model;
        const bdml_selection s = {
            .chosen = chosen, .candidates = 2, .mean = mean, .se = se, .parts = parts};
        check_ok(h, bdml_model_from_map(h, 2, 2, map, 0, &model));
        check_ok(h, bdml_describe_selection(h, &plan, &s, model));
        const json_t *told = json_object_get(model->info, "selection");
        const json_t *tried = json_object_get(told, "tried");
        assert_int_equal(json_integer_value(json_object_get(told, "passes")), chosen ? 3 : 1);
        for (size_t k = 0; k < 2; k++)
            assert_int_equal(json_integer_value(
                                 json_object_get(json_array_get(tried, k), "passes")),
                             1 + k);
        bdml_free_model(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(descriptions_are_whole),
        handle_test(passes_are_those_of_the_last_fit),
    };
    return cmocka_run_group_tests_name("describe", tests, NULL, NULL);
}
