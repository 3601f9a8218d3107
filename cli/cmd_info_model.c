/* cmd_info_model.c - bdml info FILE, for a model: its self-description and the spectrum of M. */
#include "cli.h"
#include "model/evidence.h"

#include <inttypes.h>
#include <stdlib.h>

#include "linalg/linalg.h"

enum { LABEL_WIDTH = 19, LINE_WIDTH = 79 };

/* Eigenvalues of M, ascending. */
static bdml_status spectrum(cli *c, const bdml_model *model, double *lambda)
{
    bdml_status status = BDML_OK;
    bdml_eigh_ws ws = {0};
    double *m = NULL;
    BDML_NEW(c->h, m, (size_t)model->d * (size_t)model->d);
    BDML_GO(bdml_model_get_metric(c->h, model, m));
    BDML_GO(bdml_eigh_ws_init(c->h, model->d, &ws));
    BDML_GO(bdml_la_eigh(c->h, model->d, m, lambda, false, &ws));
done:
    bdml_eigh_ws_free(&ws);
    free(m);
    return status;
}

/* How many of the largest eigenvalues hold 90 % of the trace: what the metric really looks at. */
static int effective_rank(int d, const double *lambda)
{
    double trace = 0.0, sum = 0.0;
    int count = 0;
    for (int i = 0; i < d; i++) trace += BDML_MAX(lambda[i], 0.0);
    for (; count < d && sum < 0.9 * trace; count++) sum += BDML_MAX(lambda[d - 1 - count], 0.0);
    return count;
}

/* Long values are broken where they may be, after commas. */
static void print_line(const char *key, const char *text)
{
    int column = printf("%-*s", LABEL_WIDTH, key);
    for (const char *p = text; *p;) {
        int n = (int)strcspn(p, ",");
        n += p[n] == ',';
        if (column > LABEL_WIDTH && column + n > LINE_WIDTH) {
            printf("\n%*s", LABEL_WIDTH, "");
            column = LABEL_WIDTH;
            while (n > 1 && *p == ' ') p++, n--;
        }
        column += printf("%.*s", n, p);
        p += n;
    }
    printf("\n");
}

/* ["a", "b"] as: a, b */
static void print_names(const char *key, const json_t *array)
{
    size_t i, n = 0, size = 0;
    json_t *item;
    json_array_foreach(array, i, item) size += json_string_length(item) + 2;
    char *text = calloc(size + 1, 1);
    if (!text) return;
    json_array_foreach(array, i, item) n +=
        (size_t)snprintf(text + n, size + 1 - n, "%s%s", i ? ", " : "", json_string_value(item));
    print_line(key, text);
    free(text);
}

static void print_value(const char *key, const json_t *value)
{
    char number[64];
    if (json_is_array(value) && json_is_string(json_array_get(value, 0))) {
        print_names(key, value);
    } else if (json_is_string(value)) {
        print_line(key, json_string_value(value));
    } else if (json_is_real(value)) {
        snprintf(number, sizeof number, "%.6g", json_real_value(value));
        print_line(key, number);
    } else {
        char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
        print_line(key, text ? text : "?");
        free(text);
    }
}

/* What a reader looks for first comes first, then all the rest. */
static void print_description(json_t *description)
{
    static const char *const first[] = {"method", "data",    "training_points", "settings",
                                        "kappa",  "classes", "dimension"};
    enum { FIRST = sizeof first / sizeof *first };
    const char *key;
    json_t *value;
    for (int i = 0; i < FIRST; i++)
        if (json_object_get(description, first[i]))
            print_value(first[i], json_object_get(description, first[i]));
    json_object_foreach(description, key, value)
    {
        int i = 0;
        while (i < FIRST && strcmp(first[i], key) != 0) i++;
        if (i == FIRST) print_value(key, value);
    }
}

static void print_spectrum(int d, const double *lambda)
{
    printf("\n");
    cli_bold(stdout, "spectrum of M");
    printf("\n");
    printf("%-*s%.4g\n", LABEL_WIDTH, "largest", lambda[d - 1]);
    printf("%-*s%.4g\n", LABEL_WIDTH, "median", lambda[(d - 1) / 2]);
    printf("%-*s%.4g\n", LABEL_WIDTH, "smallest", lambda[0]);
    printf("%-*s%d of %d\n", LABEL_WIDTH, "90 % of the trace", effective_rank(d, lambda), d);
}

static void fill_spectrum(json_t *out, int d, const double *lambda)
{
    json_t *s = json_object(), *values = json_array();
    for (int i = 0; i < d; i++) json_array_append_new(values, cli_real(lambda[d - 1 - i]));
    cli_put(s, "largest", cli_real(lambda[d - 1]));
    cli_put(s, "smallest", cli_real(lambda[0]));
    cli_put(s, "holds_90_percent", json_integer(effective_rank(d, lambda)));
    cli_put(s, "eigenvalues", values);
    cli_put(out, "spectrum", s);
}

bdml_status cli_info_model(cli *c, const char *path)
{
    bdml_status status = BDML_OK;
    bdml_model *model = NULL;
    double *lambda = NULL;

    BDML_GO(bdml_load_claim(c->h, path, &model));
    if (model->l) {
        BDML_NEW(c->h, lambda, model->d);
        BDML_GO(spectrum(c, model, lambda));
    }
    const char *text = bdml_model_describe(model);
    json_t *description = text ? json_loads(text, 0, NULL) : NULL;
    if (!description) {
        status = bdml_fail(c->h, BDML_ERR_MEMORY, "out of memory while describing the model");
        goto done;
    }
    cli_put(c->result, "file", bdml_json_text(path));
    cli_put(c->result, "type", json_string(model->l ? "model" : "proof"));
    if (model->l) cli_put(c->result, "kappa", cli_real(bdml_model_kappa(model)));
    cli_put(c->result, "model", description);
    if (lambda) fill_spectrum(c->result, model->d, lambda);
    if (cli_json(c)) goto done;
    print_line("file", path);
    print_description(description);
    if (lambda) print_spectrum(model->d, lambda);
done:
    free(lambda);
    bdml_free_model(model);
    return status;
}
