/* test_method_memory.c - what a method tells of itself when jansson runs out of memory: an error, never a
 * description that is short of something. */
#include <jansson.h>

#include "baselines/baselines.h"
#include "check.h"

/* ---- an allocator that fails once ---------------------------------------------------------------------- */

static int64_t countdown; /* the allocation that fails, counted down; 0: none */

static void *failing_malloc(size_t size)
{
    if (countdown > 0 && --countdown == 0) return NULL;
    return malloc(size);
}

/* ---- methods ------------------------------------------------------------------------------------------- */

enum { N = 12, D = 2 };

typedef bdml_status (*fit_fn)(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                              bdml_model *model);

/* The description of a model fitted anew, as text. */
static bdml_status describe(bdml_handle *h, fit_fn fit, const bdml_dataset *data,
                            const bdml_training *t, char **text)
{
    bdml_status status = BDML_OK;
    bdml_prepare plain = {.d_in = D, .d_out = D, .scale = BDML_SCALE_NONE, .variance = 1.0};
    bdml_model *model = NULL;
    void *bytes = NULL;
    size_t size;

    *text = NULL;
    BDML_GO(bdml_model_new(h, data, &plain, D, &model));
    BDML_GO(fit(h, &h->options, t, model));
    BDML_GO(bdml_save_model_bytes(h, model, &bytes, &size));
    const char *told = bdml_model_describe(model);
    if (told)
        *text = strdup(told);
    else
        status = BDML_ERR_MEMORY;
done:
    bdml_free_model(model);
    bdml_free_bytes(bytes);
    return status;
}

static void whole_or_error(bdml_handle *h, const char *name, fit_fn fit, const bdml_dataset *data,
                           const bdml_training *t)
{
    char *whole, *text;
    int64_t failures = 0;
    countdown = 0;
    check_ok(h, describe(h, fit, data, t, &whole));
    for (int64_t at = 1;; at++) {
        countdown = at;
        bdml_status status = describe(h, fit, data, t, &text);
        bool reached = countdown == 0;
        countdown = 0;
        if (status != BDML_OK)
            assert_int_equal(status, BDML_ERR_MEMORY);
        else if (strcmp(text, whole) != 0)
            fail_msg("%s, allocation %d: %s instead of %s", name, (int)at, text, whole);
        failures += status != BDML_OK;
        free(text);
        if (!reached) break;
    }
    check_true(failures > 10); /* the description alone has more values than that */
    free(whole);
}

static void every_method(void **state)
{
    bdml_handle *h = *state;
    double x[N * D];
    int32_t y[N], pairs[2 * N], apart[2 * N];
    int64_t label[N];
    bdml_constraints *given = NULL;
    bdml_dataset *data = NULL;
    bdml_rng r = bdml_rng_make(7, 1);
    for (int i = 0; i < N; i++) {
        label[i] = y[i] = i % 2;
        for (int j = 0; j < D; j++) x[i * D + j] = y[i] + 0.5 * bdml_rng_normal(&r);
        pairs[2 * i] = apart[2 * i] = i;
        pairs[2 * i + 1] = (i + 2) % N;
        apart[2 * i + 1] = (i + 1) % N;
    }
    check_ok(h, bdml_constraints_from_arrays(h, N, N, pairs, N, apart, 0, NULL, &given));
    check_ok(h, bdml_dataset_from_arrays(h, N, D, x, D, label, &data));
    check_ok(h, bdml_set(h, "max-iter", "3"));
    bdml_training classes = {N, D, x, y, 2, NULL, NULL, NULL, NULL};
    bdml_training listed = {N, D, x, NULL, 0, given, NULL, NULL, NULL};

    bdml_domain target = {N, x, NULL};
    bdml_training domains = {N, D, x, y, 2, NULL, &target, NULL, NULL};
#define BDML_METHOD(name, function, uses, help)                                 \
    whole_or_error(h, name, bdml_fit_##function, data,                          \
                   (uses)&BDML_USES_DOMAINS                          ? &domains \
                   : (uses) & (BDML_USES_LABELS | BDML_USES_NUMBERS) ? &classes \
                                                                     : &listed);
#define BDML_CLASSIFIER(name, function, uses, help)
#include "baselines/methods.def"
#undef BDML_METHOD
#undef BDML_CLASSIFIER
    bdml_free_constraints(given);
    bdml_free_dataset(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {handle_test(every_method)};
    json_set_alloc_funcs(failing_malloc, free);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
