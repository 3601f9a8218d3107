/* score.c - error, recall per class and confusion matrix of predictions on labelled data.
 *
 * Columns are the model's classes. Rows are the true classes: the model's first, then any that only
 * the data know and that can only be missed. */
#include "cli.h"

#include <inttypes.h>
#include <stdlib.h>

enum { WIDEST_MATRIX = 24, LINE_WIDTH = 79, LEAST_NAME = 4 };

static int64_t *row_of(const cli_score *s, int32_t truth)
{
    return s->count + (size_t)truth * (size_t)s->predicted;
}

/* A class of so many that a plain search does: one a row of the table. */
static bdml_status add_class(cli *c, cli_score *s, const char *name, int32_t *id)
{
    size_t width = (size_t)s->predicted;
    for (*id = 0; *id < s->truths; (*id)++)
        if (strcmp(s->truth[*id], name) == 0) return BDML_OK;
    TRY(client_grow(c->h, &s->truth, &s->truth_room, (size_t)s->truths + 1, sizeof *s->truth));
    TRY(client_grow(c->h, &s->count, &s->capacity, ((size_t)*id + 1) * width, sizeof *s->count));
    memset(row_of(s, *id), 0, width * sizeof *s->count);
    s->truth[s->truths] = client_strdup(c->h, name);
    if (!s->truth[s->truths]) return BDML_ERR_MEMORY;
    s->truths++;
    return BDML_OK;
}

bdml_status cli_score_init(cli *c, const bdml_model *model, cli_score *s)
{
    int32_t id;
    *s = (cli_score){.predicted = bdml_model_classes(model)};
    for (int k = 0; k < s->predicted; k++)
        TRY(add_class(c, s, bdml_model_class_name(model, k), &id));
    return BDML_OK;
}

bdml_status cli_score_add(cli *c, cli_score *s, const char *truth, int32_t predicted)
{
    int32_t id;
    TRY(add_class(c, s, truth, &id));
    s->total++;
    s->wrong += id != predicted;
    if (predicted >= 0) row_of(s, id)[predicted]++;
    return BDML_OK;
}

static int64_t row_total(const cli_score *s, int32_t truth)
{
    int64_t total = 0;
    for (int k = 0; k < s->predicted; k++) total += row_of(s, truth)[k];
    return total;
}

/* NaN when the class does not occur. */
static double recall(const cli_score *s, int32_t truth)
{
    int64_t total = row_total(s, truth);
    if (total == 0) return (double)NAN;
    return truth < s->predicted ? (double)row_of(s, truth)[truth] / (double)total : 0.0;
}

static double error_percent(const cli_score *s)
{
    return s->total ? 100.0 * (double)s->wrong / (double)s->total : 0.0;
}

void cli_score_json(const cli_score *s, const bdml_model *model, json_t *out)
{
    json_t *classes = json_array(), *recalls = json_object(), *confusion = json_array();
    for (int k = 0; k < s->predicted; k++)
        json_array_append_new(classes, client_text(bdml_model_class_name(model, k)));
    for (int32_t t = 0; t < s->truths; t++) {
        json_t *row = json_object(), *counts = json_array();
        for (int k = 0; k < s->predicted; k++)
            json_array_append_new(counts, json_integer(row_of(s, t)[k]));
        cli_put(row, "truth", client_text(s->truth[t]));
        cli_put(row, "predicted", counts);
        json_array_append_new(confusion, row);
        cli_put(recalls, s->truth[t], cli_real(100.0 * recall(s, t)));
    }
    cli_put(out, "labelled", json_integer(s->total));
    cli_put(out, "wrong", json_integer(s->wrong));
    cli_put(out, "error", cli_real(error_percent(s)));
    cli_put(out, "classes", classes);
    cli_put(out, "recall", recalls);
    cli_put(out, "confusion", confusion);
}

/* Characters for each column of the confusion matrix beside the first three, or 0: the matrix does
 * not fit a screen, and only the recalls are printed. */
static int column_width(const cli_score *s)
{
    int first = (int)strlen("true class"), digits = snprintf(NULL, 0, "%" PRId64, s->total);
    for (int32_t r = 0; r < s->truths; r++) first = MAX(first, (int)strlen(s->truth[r]));
    int others = MAX(digits, (int)strlen("points")) + (int)strlen("recall %") + 4;
    if (s->predicted > WIDEST_MATRIX) return 0;
    int width = (LINE_WIDTH - first - others) / s->predicted - 2;
    return width >= MAX(digits, LEAST_NAME) ? width : 0;
}

bdml_status cli_score_print(cli *c, const cli_score *s, const bdml_model *model, FILE *f)
{
    char align[WIDEST_MATRIX + 8] = "lrr";
    int width = column_width(s), shown = width ? s->predicted : 0;
    cli_table t;

    fprintf(f, "error      %.2f %%  (%" PRId64 " of %" PRId64 " wrong)\n\n", error_percent(s),
            s->wrong, s->total);
    for (int k = 0; k < shown; k++) align[3 + k] = 'r';
    align[3 + shown] = '\0';
    cli_table_init(&t, c->h, align);
    cli_cell(&t, "true class");
    cli_cell(&t, "points");
    cli_cell(&t, "recall %%");
    for (int k = 0; k < shown; k++) cli_cell(&t, "%.*s", width, bdml_model_class_name(model, k));
    for (int32_t r = 0; r < s->truths; r++) {
        cli_cell(&t, "%s", s->truth[r]);
        cli_cell(&t, "%" PRId64, row_total(s, r));
        cli_cell_real(&t, "%.1f", 100.0 * recall(s, r));
        for (int k = 0; k < shown; k++) cli_cell(&t, "%" PRId64, row_of(s, r)[k]);
    }
    return cli_table_print(&t, f);
}

void cli_score_free(cli_score *s)
{
    for (int k = 0; k < s->truths; k++) free(s->truth[k]);
    free(s->truth);
    free(s->count);
    *s = (cli_score){0};
}
