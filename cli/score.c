/* score.c - error, recall per class and confusion matrix of predictions on labelled data.
 *
 * Columns are the model's classes. Rows are the true classes: the model's first, then any that only
 * the data know and that can only be missed. Of very many classes there is no matrix. */
#include "cli.h"

#include <inttypes.h>
#include <stdlib.h>

enum { WIDEST_MATRIX = 24, LINE_WIDTH = 79, LEAST_NAME = 4, MOST_COUNTED = 1000 };

static int64_t *row_of(const cli_score *s, int32_t truth)
{
    return s->count + (size_t)truth * (size_t)s->predicted;
}

static void drop_matrix(cli_score *s)
{
    free(s->count);
    s->count = NULL;
}

/* A row of the table; id: its number. */
static bdml_status add_row(cli *c, cli_score *s, const char *name, int32_t *id)
{
    size_t width = (size_t)s->predicted, rows = (size_t)s->truths + 1;
    TRY(client_grow(c->h, &s->truth, &s->truth_room, rows, sizeof *s->truth));
    TRY(client_grow(c->h, &s->given, &s->given_room, rows, sizeof *s->given));
    TRY(client_grow(c->h, &s->right, &s->right_room, rows, sizeof *s->right));
    *id = s->truths;
    s->given[*id] = s->right[*id] = 0;
    if (rows > MOST_COUNTED || width > MOST_COUNTED) {
        drop_matrix(s);
    } else {
        TRY(client_grow(c->h, &s->count, &s->capacity, rows * width, sizeof *s->count));
        memset(row_of(s, *id), 0, width * sizeof *s->count);
    }
    s->truth[*id] = client_strdup(c->h, name);
    if (!s->truth[*id]) return BDML_ERR_MEMORY;
    s->truths++;
    return BDML_OK;
}

/* ---- classes by their names -------------------------------------------------------------------- */

typedef struct named {
    const char *name;
    int32_t id;
} named;

static int by_name(const void *a, const void *b)
{
    return strcmp(((const named *)a)->name, ((const named *)b)->name);
}

static bdml_status sort_classes(cli *c, cli_score *s)
{
    bdml_status status = BDML_OK;
    named *list = NULL;
    NEW(c->h, list, s->predicted);
    NEW(c->h, s->sorted, s->predicted);
    for (int k = 0; k < s->predicted; k++) list[k] = (named){s->truth[k], k};
    qsort(list, (size_t)s->predicted, sizeof *list, by_name);
    for (int k = 0; k < s->predicted; k++) s->sorted[k] = list[k].id;
done:
    free(list);
    return status;
}

/* The model's class of that name, or -1. */
static int32_t find_class(const cli_score *s, const char *name)
{
    int low = 0, high = s->predicted;
    while (low < high) {
        int middle = low + (high - low) / 2, order = strcmp(s->truth[s->sorted[middle]], name);
        if (order == 0) return s->sorted[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

/* The row of a class of the source: of its name in the model, else one of its own. */
static bdml_status find_row(cli *c, cli_score *s, const bdml_source *source, int32_t truth,
                            int32_t *row)
{
    TRY(client_grow(c->h, &s->row, &s->row_room, (size_t)truth + 1, sizeof *s->row));
    while (s->sources <= truth) s->row[s->sources++] = -1;
    *row = s->row[truth];
    if (*row >= 0) return BDML_OK;
    const char *name = bdml_source_class_name(source, truth);
    *row = find_class(s, name);
    if (*row < 0) TRY(add_row(c, s, name, row));
    s->row[truth] = *row;
    return BDML_OK;
}

/* ---- counting -------------------------------------------------------------------------------------- */

bdml_status cli_score_init(cli *c, const bdml_model *model, cli_score *s)
{
    int32_t id;
    *s = (cli_score){.predicted = bdml_model_classes(model)};
    for (int k = 0; k < s->predicted; k++) TRY(add_row(c, s, bdml_model_class_name(model, k), &id));
    return sort_classes(c, s);
}

bdml_status cli_score_add(cli *c, cli_score *s, const bdml_source *source, int32_t truth,
                          int32_t predicted)
{
    int32_t id;
    TRY(find_row(c, s, source, truth, &id));
    s->total++;
    s->wrong += id != predicted;
    if (predicted < 0) return BDML_OK;
    s->given[id]++;
    s->right[id] += id == predicted;
    if (s->count) row_of(s, id)[predicted]++;
    return BDML_OK;
}

/* NaN when the class does not occur. */
static double recall(const cli_score *s, int32_t truth)
{
    if (s->given[truth] == 0) return (double)NAN;
    return (double)s->right[truth] / (double)s->given[truth];
}

static double error_percent(const cli_score *s)
{
    return s->total ? 100.0 * (double)s->wrong / (double)s->total : 0.0;
}

static json_t *matrix_json(const cli_score *s)
{
    json_t *confusion = s->count ? json_array() : json_null();
    for (int32_t t = 0; s->count && t < s->truths; t++) {
        json_t *row = json_object(), *counts = json_array();
        for (int k = 0; k < s->predicted; k++)
            json_array_append_new(counts, json_integer(row_of(s, t)[k]));
        cli_put(row, "truth", client_text(s->truth[t]));
        cli_put(row, "predicted", counts);
        json_array_append_new(confusion, row);
    }
    return confusion;
}

void cli_score_json(const cli_score *s, const bdml_model *model, json_t *out)
{
    json_t *classes = json_array(), *recalls = json_object();
    for (int k = 0; k < s->predicted; k++)
        json_array_append_new(classes, client_text(bdml_model_class_name(model, k)));
    for (int32_t t = 0; t < s->truths; t++)
        cli_put(recalls, s->truth[t], cli_real(100.0 * recall(s, t)));
    cli_put(out, "labelled", json_integer(s->total));
    cli_put(out, "wrong", json_integer(s->wrong));
    cli_put(out, "error", cli_real(error_percent(s)));
    cli_put(out, "classes", classes);
    cli_put(out, "recall", recalls);
    cli_put(out, "confusion", matrix_json(s));
}

/* Characters for each column of the confusion matrix beside the first three, or 0: the matrix does
 * not fit a screen, and only the recalls are printed. */
static int column_width(const cli_score *s)
{
    int first = (int)strlen("true class"), digits = snprintf(NULL, 0, "%" PRId64, s->total);
    for (int32_t r = 0; r < s->truths; r++) first = MAX(first, (int)strlen(s->truth[r]));
    int others = MAX(digits, (int)strlen("points")) + (int)strlen("recall %") + 4;
    if (s->predicted > WIDEST_MATRIX || !s->count) return 0;
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
        cli_cell(&t, "%" PRId64, s->given[r]);
        cli_cell_real(&t, "%.1f", 100.0 * recall(s, r));
        for (int k = 0; k < shown; k++) cli_cell(&t, "%" PRId64, row_of(s, r)[k]);
    }
    return cli_table_print(&t, f);
}

void cli_score_free(cli_score *s)
{
    for (int k = 0; k < s->truths; k++) free(s->truth[k]);
    free(s->truth);
    free(s->sorted);
    free(s->given);
    free(s->right);
    free(s->row);
    drop_matrix(s);
    *s = (cli_score){0};
}
