/* test_check_model.c - crafted models before certify: numbers that no honest run writes, each in a file whose
 * checksum is right. None is confirmed; most are refused by name, by the prover of bdml-check. */
#include "check.h"

#include <jansson.h>

#include "certify/certify.h"

typedef struct crafted {
    bdml_handle *h;
    bdml_dataset *data;
    bdml_model *model;
} crafted;

static const char *file_path(void)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/test_check_model.%d.bdml", BDML_TEST_BINARY_DIR, (int)getpid());
    return path;
}

static crafted make(const char *name, const char *const *settings, bdml_status wanted)
{
    crafted c = {0};
    assert_int_equal(bdml_create(&c.h), BDML_OK);
    check_ok(c.h, bdml_set(c.h, "threads", "1")); /* problems too small for two */
    for (; *settings; settings += 2) check_ok(c.h, bdml_set(c.h, settings[0], settings[1]));
    check_ok(c.h, bdml_read_dataset(c.h, source_path(name), &c.data));
    bdml_status status = bdml_train(c.h, c.data, NULL, &c.model);
    if (status != wanted) fail_msg("training: %s", bdml_last_error(c.h));
    return c;
}

static void discard(crafted *c)
{
    bdml_free_model(c->model);
    bdml_free_dataset(c->data);
    bdml_free(c->h);
}

/* Save, read and certify: 1 confirmed, 0 refuted, -1 the file is refused. text: the verdict or the reason. */
static int certify(const crafted *c, char *text, size_t size)
{
    char *json = NULL;
    int confirmed = 0;
    check_ok(c->h, bdml_save_model(c->h, c->model, file_path()));
    bdml_status status = bdml_certify(c->h, file_path(), c->data, &confirmed, &json);
    snprintf(text, size, "%s", status == BDML_OK ? json : bdml_last_error(c->h));
    bdml_free_bytes(json);
    unlink(file_path());
    return status == BDML_OK ? confirmed : -1;
}

static void confirm(const crafted *c)
{
    char text[4096];
    if (certify(c, text, sizeof text) != 1) fail_msg("not confirmed: %s", text);
}

/* Not confirmed, and the word is in what is said about it. */
static void refuse(const crafted *c, const char *word)
{
    char text[4096];
    if (certify(c, text, sizeof text) == 1 || !strstr(text, word))
        fail_msg("nothing about '%s': %s", word, text);
}

/* Put a value in place of a number, have it refused, and put the number back. */
static void with(const crafted *c, double *number, double value, const char *word)
{
    double was = *number;
    *number = value;
    refuse(c, word);
    *number = was;
}

/* ---- numbers ------------------------------------------------------------------------------------- */

static void test_numbers(void **state)
{
    static const char *const settings[] = {"scale",       "zscore", "hard",      "yes",
                                           "kind",        "pair",   "reference", "zscore",
                                           "keep-points", "no",     NULL};
    crafted c = make("data/iris.csv", settings, BDML_OK);
    bdml_evidence *e = c.model->evidence;
    (void)state;
    confirm(&c);
    with(&c, &e->dual[0], NAN, "nan");
    with(&c, &e->dual[0], INFINITY, "inf");
    with(&c, &e->dual[0], -1.0, "multiplier");
    with(&c, &e->map[0], NAN, "nan");
    with(&c, &e->map[1], INFINITY, "inf");
    with(&c, &e->reference[0], NAN, "nan");
    with(&c, &e->reference[0], INFINITY, "inf");
    with(&c, &c.model->prepare.width[1], 0.0, "width");
    with(&c, &c.model->prepare.width[1], NAN, "");
    with(&c, &c.model->prepare.width[1], -1.0, "width");
    with(&c, &e->margin, 0.0, "margin");
    confirm(&c);
    discard(&c);
}

/* ---- constraints --------------------------------------------------------------------------------- */

/* A pair of a row with itself, or a margin of zero, would turn any problem into an infeasible one. */
static void test_constraints(void **state)
{
    static const char *const settings[] = {"scale", "zscore", "hard", "yes", "kind",
                                           "pair",  "trace",  "15",   NULL};
    crafted c = make("data/iris.csv", settings, BDML_ERR_INFEASIBLE);
    bdml_constraints *k = c.model->evidence->constraints;
    (void)state;
    confirm(&c);
    int32_t pair = k->far[c.model->evidence->dual_constraint[0]], was = k->pj[pair];
    k->pj[pair] = k->pi[pair];
    refuse(&c, "itself");
    k->pj[pair] = was;
    k->margin = calloc((size_t)k->m, sizeof *k->margin);
    for (int64_t t = 0; t < k->m; t++) k->margin[t] = t > 0;
    refuse(&c, "margin");
    for (int64_t t = 0; t < k->m; t++) k->margin[t] = 1.0;
    confirm(&c);
    k->near[0] = k->far[0];
    refuse(&c, "itself");
    discard(&c);
}

/* Two rows very near each other made the usual size of a constraint, and with it every trace, as small as one
 * liked. The proof is for the trace that it reaches. */
static void test_every_trace(void **state)
{
    static const char *const settings[] = {"scale", "zscore", "hard", "yes", "kind",
                                           "pair",  "trace",  "15",   NULL};
    crafted c = make("data/iris.csv", settings, BDML_ERR_INFEASIBLE);
    json_t *o = json_object_get(c.model->info, "certificate");
    (void)state;
    confirm(&c);
    json_object_set_new(o, "proof", json_string("every trace and margin"));
    refuse(&c, "description");
    discard(&c);
}

/* ---- words --------------------------------------------------------------------------------------- */

/* "optimal" is not what the file would like it to be. */
static void test_gap(void **state)
{
    static const char *const settings[] = {"scale", "zscore", "rule", "class", "max-iter",
                                           "12",    "gap",    "1e-9", NULL};
    crafted c = make("data/wine.csv", settings, BDML_OK);
    json_t *o = json_object_get(c.model->info, "certificate");
    (void)state;
    confirm(&c);
    c.model->evidence->claim = BDML_CLAIM_OPTIMAL;
    c.model->evidence->gap_asked = 1.0;
    json_object_set_new(o, "status", json_string("optimal"));
    refuse(&c, "description");
    discard(&c);
}

static void test_description(void **state)
{
    static const char *const settings[] = {"scale", "zscore", "rule", "class", NULL};
    static const char *const keys[] = {"gap", "kappa", "upper", "lower", "distortion"};
    crafted c = make("data/iris.csv", settings, BDML_OK);
    json_t *o = json_object_get(c.model->info, "certificate");
    (void)state;
    confirm(&c);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        double was = json_number_value(json_object_get(o, keys[i]));
        json_object_set_new(o, keys[i], json_real(0.5 * was));
        refuse(&c, "description");
        json_object_set_new(o, keys[i], json_real(was));
    }
    confirm(&c);
    discard(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),     cmocka_unit_test(test_constraints),
        cmocka_unit_test(test_every_trace), cmocka_unit_test(test_gap),
        cmocka_unit_test(test_description),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
