/* cmd_info.c - bdml info FILE, for data: what is in it, and what may be wrong with it. */
#include "survey.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MOST_NAMED = 8, MOST_CLASSES = 20 };

/* ---- telling --------------------------------------------------------------------------------- */

static json_t *columns_json(const survey *s)
{
    json_t *list = json_array();
    bdml_column_info info;
    for (int j = 0; j < bdml_source_columns(s->source); j++) {
        json_t *row = json_object();
        if (bdml_source_column(s->c->h, s->source, j, &info) != BDML_OK) break;
        cli_put(row, "name", client_text(info.name));
        cli_put(row, "use", json_string(info.use));
        cli_put(row, "looks", json_string(info.looks));
        cli_put(row, "different", json_integer(info.different));
        json_array_append_new(list, row);
    }
    return list;
}

static json_t *scales_json(const survey *s)
{
    json_t *list = json_array();
    char name[128];
    for (int j = 0; j < s->d; j++) {
        const survey_column *col = &s->column[j];
        json_t *row = json_object();
        survey_name(s, j, name, sizeof name);
        cli_put(row, "feature", client_text(name));
        cli_put(row, "missing", json_integer(col->missing));
        cli_put(row, "min", cli_real(col->min));
        cli_put(row, "mean", cli_real(col->there ? col->mean : NAN));
        cli_put(row, "max", cli_real(col->max));
        cli_put(row, "deviation", cli_real(survey_deviation(col)));
        json_array_append_new(list, row);
    }
    return list;
}

static void fill_result(survey *s, const int32_t *order)
{
    json_t *out = s->c->result, *classes = json_object(), *constant = json_array();
    char name[128];
    cli_put(out, "file", client_text(s->c->argument[0]));
    cli_put(out, "type", json_string("data"));
    cli_put(out, "points", json_integer(s->rows));
    cli_put(out, "features", json_integer(s->d));
    for (int k = 0; k < bdml_source_classes(s->source); k++)
        cli_put(classes, bdml_source_class_name(s->source, order[k]),
                json_integer(s->count[order[k]]));
    for (int j = 0; j < s->d; j++) {
        if (s->column[j].min < s->column[j].max) continue;
        survey_name(s, j, name, sizeof name);
        json_array_append_new(constant, client_text(name));
    }
    cli_put(out, "classes", classes);
    cli_put(out, "unlabelled",
            json_integer(bdml_source_labelled(s->source) ? s->unlabelled : s->rows));
    cli_put(out, "constant_columns", constant);
    cli_put(out, "missing_values", json_integer(s->missing));
    cli_put(out, "incomplete_rows", json_integer(s->incomplete));
    cli_put(out, "duplicate_rows", json_integer(s->duplicates));
    cli_put(out, "contradicting_rows", json_integer(s->contradictions));
    cli_put(out, "duplicate_columns", json_integer(s->twins));
    if (bdml_source_label_reason(s->source))
        cli_put(out, "label_found", json_string(bdml_source_label_reason(s->source)));
    if (s->problem[0]) cli_put(out, "problem", client_text(s->problem));
    cli_put(out, "columns", columns_json(s));
    cli_put(out, "scales", scales_json(s));
}

static void print_constant(const survey *s)
{
    char name[128], line[512];
    size_t n = (size_t)snprintf(line, sizeof line, "%d", s->constant);
    for (int j = 0, named = 0; j < s->d && named < MOST_NAMED && n < sizeof line; j++) {
        if (s->column[j].min < s->column[j].max) continue;
        survey_name(s, j, name, sizeof name);
        n += (size_t)snprintf(line + n, sizeof line - n, "%s%.40s", named++ ? ", " : ": ", name);
    }
    if (s->constant > MOST_NAMED && n < sizeof line) snprintf(line + n, sizeof line - n, ", ...");
    printf("constant   ");
    cli_wrap(stdout, line, 11, 11);
}

static bdml_status print_classes(const survey *s, const int32_t *order)
{
    int classes = bdml_source_classes(s->source);
    cli_table t;
    printf("\n");
    cli_table_init(&t, s->c->h, "lrr");
    cli_cell(&t, "class");
    cli_cell(&t, "points");
    cli_cell(&t, "share %%");
    for (int k = 0; k < classes && k < MOST_CLASSES; k++) {
        cli_cell(&t, "%s", bdml_source_class_name(s->source, order[k]));
        cli_cell(&t, "%" PRId64, s->count[order[k]]);
        cli_cell_real(&t, "%.1f", 100.0 * (double)s->count[order[k]] / (double)s->rows);
    }
    TRY(cli_table_print(&t, stdout));
    if (classes > MOST_CLASSES) printf("... and %d more classes\n", classes - MOST_CLASSES);
    return BDML_OK;
}

/* How the label was found: "species, the last column: 3 classes" */
static void print_label(const survey *s)
{
    const char *reason = bdml_source_label_reason(s->source), *name = "labels";
    bdml_column_info info;
    if (!reason) {
        printf("label      none\n");
        return;
    }
    for (int j = 0; j < bdml_source_columns(s->source); j++)
        if (bdml_source_column(s->c->h, s->source, j, &info) == BDML_OK &&
            strcmp(info.use, "label") == 0)
            name = info.name;
    client_print(stdout, "label      %.40s (%s)", name, reason);
    if (!s->problem[0]) printf(": %d classes", bdml_source_classes(s->source));
    printf("\n");
    if (s->unlabelled) printf("unlabelled %" PRId64 " rows\n", s->unlabelled);
}

/* Columns of the file that are no features of numbers, or look like something else. */
static bdml_status print_columns(const survey *s)
{
    static const char *const heads[] = {"column", "name", "used as", "looks like", "different"};
    int columns = bdml_source_columns(s->source), odd = 0;
    bdml_column_info info;
    cli_table t;
    cli_table_init(&t, s->c->h, "rlllr");
    for (int j = 0; j < columns; j++) {
        TRY(bdml_source_column(s->c->h, s->source, j, &info));
        bool plain = strcmp(info.use, "feature") == 0 && strstr(info.looks, "numbers") &&
                     strcmp(info.looks, "row numbers") != 0;
        if (plain || odd >= MOST_CLASSES) continue;
        for (size_t k = 0; odd == 0 && k < sizeof heads / sizeof *heads; k++)
            cli_cell(&t, "%s", heads[k]);
        odd++;
        cli_cell(&t, "%d", j + 1);
        cli_cell(&t, "%.24s", info.name);
        cli_cell(&t, "%s", info.use);
        cli_cell(&t, "%s", info.looks);
        cli_cell(&t, "%" PRId64 "%s", info.different, info.different >= 1000 ? " or more" : "");
    }
    if (odd == 0) return BDML_OK;
    printf("\n");
    return cli_table_print(&t, stdout);
}

static bdml_status print_features(const survey *s)
{
    static const char *const heads[] = {"feature", "missing", "min", "mean", "max", "spread"};
    int most = s->c->own[CLI_OPT_ALL].i ? s->d : MOST_CLASSES;
    char name[64];
    cli_table t;
    printf("\n");
    cli_table_init(&t, s->c->h, "lrrrrr");
    for (size_t k = 0; k < sizeof heads / sizeof *heads; k++) cli_cell(&t, "%s", heads[k]);
    for (int j = 0; j < s->d && j < most; j++) {
        const survey_column *col = &s->column[j];
        survey_name(s, j, name, sizeof name);
        cli_cell(&t, "%s", name);
        cli_cell(&t, "%" PRId64, col->missing);
        cli_cell_real(&t, "%.4g", col->there ? col->min : NAN);
        cli_cell_real(&t, "%.4g", col->there ? col->mean : NAN);
        cli_cell_real(&t, "%.4g", col->there ? col->max : NAN);
        cli_cell_real(&t, "%.3g", survey_deviation(col));
    }
    TRY(cli_table_print(&t, stdout));
    if (s->d > most) printf("... and %d more features: --all lists them\n", s->d - most);
    return BDML_OK;
}

static void print_expected(const json_t *expected)
{
    size_t i;
    const json_t *line;
    if (json_array_size(expected) == 0) return;
    printf("\nwhat to expect\n");
    json_array_foreach(expected, i, line)
    {
        printf("  - ");
        cli_wrap(stdout, json_string_value(line), 4, 4);
    }
}

static bdml_status print_survey(survey *s, const int32_t *order, const json_t *expected)
{
    client_print(stdout, "file       %s\n", s->c->argument[0]);
    if (s->problem[0])
        printf("points     not counted\n");
    else
        printf("points     %" PRId64 "\n", s->rows);
    printf("features   %d\n", s->d);
    print_label(s);
    if (s->constant && !s->problem[0]) print_constant(s);
    if (s->problem[0]) {
        printf("missing    not counted\n");
    } else {
        printf("missing    %" PRId64 " values in %" PRId64 " rows\n", s->missing, s->incomplete);
        printf("duplicates %" PRId64 " rows, %d columns", s->duplicates, s->twins);
        if (bdml_source_labelled(s->source))
            printf("; %" PRId64 " rows are equal but for their class", s->contradictions);
        printf("\n");
    }
    TRY(print_columns(s));
    if (!s->problem[0] && bdml_source_labelled(s->source)) TRY(print_classes(s, order));
    if (!s->problem[0]) TRY(print_features(s));
    print_expected(expected);
    return BDML_OK;
}

static bdml_status info_data(cli *c, const char *path)
{
    bdml_status status = BDML_OK;
    survey s = {.c = c};
    int32_t *order = NULL;
    json_t *expected = NULL;

    GO(bdml_open_source(c->h, path, 0, &s.source));
    GO(survey_read(&s));
    NEW(c->h, order, bdml_source_classes(s.source));
    GO(bdml_source_order_classes(c->h, s.source, order));
    expected = survey_expect(&s);
    fill_result(&s, order);
    cli_put(c->result, "expect", json_incref(expected));
    cli_progress_clear(c);
    if (!cli_json(c)) GO(print_survey(&s, order, expected));
done:
    json_decref(expected);
    free(order);
    survey_free(&s);
    return status;
}

/* ---- the command ----------------------------------------------------------------------------- */

bdml_status cli_info(cli *c)
{
    const char *path = c->argument[0];
    return cli_is_model(path) ? cli_info_model(c, path) : info_data(c, path);
}
