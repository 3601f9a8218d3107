/* test_bundled.c - all defaults on every bundled data set: a metric with a finite map, and a claim that
 * the independent checker confirms. */
#include "check.h"

#include "model/model.h"

static void train_and_certify(bdml_handle *h, const char *file)
{
    char path[] = "/tmp/bdml-test-XXXXXX", *json = NULL;
    bdml_dataset *data;
    bdml_model *model;
    int confirmed = 0;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    check_ok(h, bdml_read_dataset(h, source_path(file), &data));
    check_ok(h, bdml_train(h, data, NULL, &model));
    /* Segment has a constant column: nothing may hang on it, so L has no huge entry. The smallest
     * spread of a column is 1e-2 there, 1e2 in L; 1e6 leaves room for the metric itself. */
    for (size_t k = 0; k < (size_t)model->q * (size_t)model->d; k++)
        check_true(fabs(model->l[k]) < 1e6);
    check_ok(h, bdml_save_model(h, model, path));
    check_ok(h, bdml_certify(h, path, data, &confirmed, &json));
    if (!confirmed) fail_msg("%s: the claim is refuted: %s", file, json);
    bdml_free_bytes(json);
    bdml_free_model(model);
    bdml_free_dataset(data);
    unlink(path);
}

static void iris(void **state)
{
    train_and_certify(*state, "data/iris.csv");
}
static void wine(void **state)
{
    train_and_certify(*state, "data/wine.csv");
}
static void diabetes(void **state)
{
    train_and_certify(*state, "data/diabetes.csv");
}
static void segment(void **state)
{
    train_and_certify(*state, "data/segment.csv");
}

int main(void)
{
    const struct CMUnitTest tests[] = {handle_test(iris), handle_test(wine), handle_test(diabetes),
                                       handle_test(segment)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
