/* own.c - what bdml itself writes, changed by others: models, checkpoints, results; and settings as people type them. */
#include "fuzz.h"
#include "model/internal.h"
#include "report/report.h"
#include "train/checkpoint.h"

#include <stdlib.h>
#include <zlib.h>

/* ---- models and checkpoints ------------------------------------------------------------------------- */

/* A copy whose checksum is right in most ways: else every change would end there. */
static unsigned char *mended(const unsigned char *b, size_t n)
{
    unsigned char *copy = malloc(n ? n : 1);
    if (!copy) abort();
    if (n) memcpy(copy, b, n);
    if (n >= BDML_CONTAINER_FIXED + BDML_CONTAINER_TAIL && b[n - 1] % 16 != 0) {
        size_t body = n - BDML_CONTAINER_TAIL;
        bdml_put_le(copy + body, crc32(crc32(0, NULL, 0), copy, (uInt)body), 4);
    }
    return copy;
}

/* Applied to some points, and written and read once more. */
static void use_model(bdml_handle *h, const bdml_model *m)
{
    enum { ROWS = 4, WIDEST = 64 };
    static double x[ROWS * WIDEST], z[ROWS * WIDEST];
    int d = bdml_model_input_dimension(m), q = bdml_model_output_dimension(m);
    if (!bdml_model_describe(m)) abort();
    bdml_model *again = NULL;
    void *bytes = NULL;
    size_t size;
    bdml_status status = bdml_save_model_bytes(h, m, &bytes, &size);
    fuzz_promise(h, status);
    if (status == BDML_OK && bdml_load_model_bytes(h, bytes, size, &again) != BDML_OK) abort();
    bdml_free_model(again);
    bdml_free_bytes(bytes);
    if (d < 1 || d > WIDEST || q < 1 || q > WIDEST) return;
    for (int i = 0; i < ROWS * d; i++) x[i] = 0.25 * (i % 7) - 0.5;
    fuzz_promise(h, bdml_transform(h, m, ROWS, x, d, z));
    int32_t label[ROWS];
    fuzz_promise(h, bdml_predict(h, m, NULL, ROWS, x, d, label));
}

static void run_model(const unsigned char *b, size_t n)
{
    bdml_handle *h = fuzz_handle("");
    bdml_model *m = NULL;
    unsigned char *copy = mended(b, n);
    bdml_status status = bdml_load_model_bytes(h, copy, n, &m);
    fuzz_promise(h, status);
    if (status == BDML_OK) use_model(h, m);
    bdml_free_model(m);
    free(copy);
}

/* Taken up by the training that it is of: that it is of another is told by its head, which is the file's own here. */
static void run_checkpoint(const unsigned char *b, size_t n)
{
    bdml_handle *h = fuzz_handle("");
    bdml_container *c = NULL;
    bdml_checkpoint k = {0};
    unsigned char *copy = mended(b, n);
    const char *path = fuzz_file(copy, n);
    bdml_status status = bdml_container_load(h, path, &c);
    fuzz_promise(h, status);
    if (status == BDML_OK) {
        const json_t *of = json_object_get(bdml_container_header(c), "made_of");
        k.made_of = of ? json_deep_copy(of) : json_object();
        status = bdml_checkpoint_read(h, &k, path);
        fuzz_promise(h, status);
    }
    for (int64_t i = 0; status == BDML_OK && i < k.solves; i++)
        for (int64_t m = 0; m < 24; m += 6) { /* constraints of the training */
            bdml_solve_result r = {0};
            fuzz_promise(h, bdml_kept_unpack(h, &k.solve[i], m, &r));
            bdml_solve_result_free(&r);
        }
    for (int64_t i = 0; i < k.solves; i++) free(k.solve[i].number);
    free(k.solve);
    free(k.finished);
    free(k.score);
    free(k.running.number);
    json_decref(k.made_of);
    bdml_container_free(c);
    free(copy);
}

/* ---- results as JSON ---------------------------------------------------------------------------------- */

/* As report and plot take them: one result, or several as --save writes them. */
static void run_report(const unsigned char *b, size_t n)
{
    bdml_handle *h = fuzz_handle("");
    json_t *run = json_loadb((const char *)b, n, JSON_REJECT_DUPLICATES, NULL);
    json_t *runs = json_array();
    if (!runs) abort();
    if (json_is_object(run)) {
        const json_t *list = json_object_get(run, "runs");
        if (json_is_array(list))
            json_array_extend(runs, (json_t *)list);
        else
            json_array_append(runs, run);
        fuzz_promise(h, study_page_write(h, runs, "/dev/null"));
        size_t i;
        json_t *one;
        json_array_foreach(runs, i, one)
        {
            for (int k = 0; study_figure_at(k); k++) {
                bool drawn;
                const char *name = study_figure_at(k)->name;
                if (study_figure_there(name, one))
                    fuzz_promise(h, study_figure_write(h, name, one, "/dev/null", 0, &drawn));
            }
        }
    }
    json_decref(runs);
    json_decref(run);
}

/* ---- settings --------------------------------------------------------------------------------------------- */

/* Lines name=value. What is taken can be said, and said again means the same. */
static void run_settings(const unsigned char *b, size_t n)
{
    bdml_handle *h;
    if (bdml_create(&h) != BDML_OK) abort();
    char *text = malloc(n + 1), *rest = text, *line;
    if (!text) abort();
    if (n) memcpy(text, b, n);
    text[n] = '\0';
    while ((line = strsep(&rest, "\n")) != NULL) {
        char *value = strchr(line, '=');
        if (value) *value++ = '\0';
        bdml_status status = bdml_set(h, line, value);
        fuzz_promise(h, status);
        if (status != BDML_OK || !value) continue;
        double number = bdml_get_number(h, line);
        char *said = strdup(bdml_get(h, line));
        if (!said || bdml_set(h, line, said) != BDML_OK) abort();
        double again = bdml_get_number(h, line);
        if (number != again && !(isnan(number) && isnan(again))) abort();
        free(said);
    }
    free(text);
    bdml_free(h);
}

const fuzz_target fuzz_own[] = {
    {"model", run_model},   {"checkpoint", run_checkpoint},
    {"report", run_report}, {"settings", run_settings},
    {NULL, NULL},
};
