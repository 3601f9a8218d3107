/* answers.c - what belongs to queries: lines query,row or query,row,grade of a file. */
#include <stdlib.h>

#include "problem/lines.h"

static bdml_status read_grade(bdml_handle *h, const bdml_input *in, const bdml_field *f,
                              double *out)
{
    if (bdml_parse_double(h->c_locale, f->text, f->n, out) && isfinite(*out) && *out > 0.0)
        return BDML_OK;
    return bdml_fail(h, BDML_ERR_DATA,
                     "%s: line %lld, column 3: '%.*s' is not a grade; grades are above 0, and what "
                     "is not relevant has no line",
                     bdml_input_name(in), (long long)bdml_input_line_number(in),
                     (int)BDML_MIN(f->n, (size_t)40), f->text);
}

static bdml_status add(bdml_handle *h, bdml_answers *list, int32_t query, int32_t row, double grade)
{
    BDML_TRY(bdml_grow(h, &list->line, &list->room, (size_t)list->count + 1, sizeof *list->line));
    list->line[list->count] = (bdml_answer){query, row, grade, list->count};
    list->count++;
    return BDML_OK;
}

static bdml_status read_lines(bdml_handle *h, bdml_input *in, int64_t queries, int64_t rows,
                              bool one_file, bdml_answers *out)
{
    const int64_t most[2] = {queries, rows};
    bool first = true;
    for (;;) {
        bdml_field fields[BDML_FIELDS + 1];
        int32_t v[2];
        double grade = 1.0;
        int count;
        BDML_TRY(bdml_fields_next(h, in, &first, fields, &count));
        if (count == 0) break;
        if (count != 2 && count != 3)
            return bdml_fail(h, BDML_ERR_DATA,
                             "%s: line %lld has %d columns; a relevant-file has query,row or "
                             "query,row,grade",
                             bdml_input_name(in), (long long)bdml_input_line_number(in), count);
        for (int c = 0; c < 2; c++) BDML_TRY(bdml_field_row(h, in, c, &fields[c], most[c], &v[c]));
        if (one_file) BDML_TRY(bdml_rows_differ(h, in, 0, 2, v));
        if (count == 3) BDML_TRY(read_grade(h, in, &fields[2], &grade));
        BDML_TRY(add(h, out, v[0], v[1], grade));
    }
    if (out->count > 0) return BDML_OK;
    return bdml_fail(h, BDML_ERR_DATA, "%s: there is no line query,row in it", bdml_input_name(in));
}

static int by_query(const void *a, const void *b)
{
    const bdml_answer *x = a, *y = b;
    if (x->query != y->query) return x->query < y->query ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

bdml_status bdml_answers_read(bdml_handle *h, const char *path, int64_t queries, int64_t rows,
                              bool one_file, bdml_answers *out)
{
    bdml_input *in = NULL;
    *out = (bdml_answers){0};
    BDML_TRY(bdml_input_open(h, path, &in));
    bdml_status status = read_lines(h, in, queries, rows, one_file, out);
    bdml_input_close(in);
    if (status == BDML_OK)
        qsort(out->line, (size_t)out->count, sizeof *out->line, by_query);
    else
        bdml_answers_free(out);
    return status;
}

bdml_status bdml_answers_of(bdml_handle *h, const bdml_answers *all, int64_t count,
                            const int64_t *query, int32_t moved, bdml_answers *out)
{
    bdml_status status = BDML_OK;
    int64_t k = 0;
    *out = (bdml_answers){0};
    for (int64_t i = 0; i < count; i++) {
        while (k < all->count && all->line[k].query < query[i]) k++;
        for (; k < all->count && all->line[k].query == query[i]; k++)
            BDML_GO(add(h, out, (int32_t)i, all->line[k].row + moved, all->line[k].grade));
    }
done:
    if (status != BDML_OK) bdml_answers_free(out);
    return status;
}

void bdml_answers_free(bdml_answers *list)
{
    free(list->line);
    *list = (bdml_answers){0};
}
