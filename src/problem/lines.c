/* lines.c - fields of a line, row numbers, and messages that name the place. */
#include "problem/lines.h"

static bool blank(char c)
{
    return c == ' ' || c == '\t';
}

int bdml_fields_split(const char *line, bdml_field *fields)
{
    const char *mark = strpbrk(line, ",;");
    int count = 0;
    while (blank(*line)) line++;
    for (const char *p = line; *p || (mark && count > 0);) {
        const char *from = p;
        while (*p && (mark ? *p != *mark : !blank(*p))) p++;
        size_t n = (size_t)(p - from);
        if (count <= BDML_FIELDS) {
            while (n > 0 && blank(from[n - 1])) n--;
            while (n > 0 && blank(*from)) from++, n--;
            fields[count] = (bdml_field){from, n};
        }
        count++;
        if (mark && *p == '\0') break;
        if (mark) p++;
        while (!mark && blank(*p)) p++;
    }
    return count;
}

bool bdml_fields_header(int count, const bdml_field *fields)
{
    for (int f = 0; f < BDML_MIN(count, BDML_FIELDS + 1); f++)
        if (fields[f].n > 0 && strchr("0123456789+-.", fields[f].text[0])) return false;
    return true;
}

bdml_status bdml_fields_next(bdml_handle *h, bdml_input *in, bool *first, bdml_field *fields,
                             int *count)
{
    for (;;) {
        char *line;
        size_t length;
        BDML_TRY(bdml_input_line(h, in, &line, &length));
        *count = line ? bdml_fields_split(line, fields) : 0;
        if (!line) return BDML_OK;
        if (*count == 0 || fields[0].text[0] == '#') continue;
        bool header = *first && bdml_fields_header(*count, fields);
        *first = false;
        if (!header) return BDML_OK;
    }
}

bdml_status bdml_field_row(bdml_handle *h, const bdml_input *in, int column, const bdml_field *f,
                           int64_t n, int32_t *out)
{
    int64_t v;
    if (bdml_parse_int(f->text, f->n, &v) && v >= 0 && v < n) {
        *out = (int32_t)v;
        return BDML_OK;
    }
    return bdml_fail(h, BDML_ERR_DATA,
                     "%s: line %lld, column %d: '%.*s' is not a row number; the data have %lld "
                     "rows, 0 to %lld",
                     bdml_input_name(in), (long long)bdml_input_line_number(in), column + 1,
                     (int)BDML_MIN(f->n, (size_t)40), f->text, (long long)n, (long long)n - 1);
}

bdml_status bdml_field_same(bdml_handle *h, const bdml_input *in, int column, const bdml_field *f,
                            int32_t *out)
{
    int64_t v;
    if (bdml_parse_int(f->text, f->n, &v) && (v == 0 || v == 1)) {
        *out = (int32_t)v;
        return BDML_OK;
    }
    return bdml_fail(h, BDML_ERR_DATA,
                     "%s: line %lld, column %d: '%.*s' must be 1 (same class) or 0 (different)",
                     bdml_input_name(in), (long long)bdml_input_line_number(in), column + 1,
                     (int)BDML_MIN(f->n, (size_t)40), f->text);
}

bdml_status bdml_rows_differ(bdml_handle *h, const bdml_input *in, int column, int rows,
                             const int32_t *value)
{
    for (int c = 0; c < rows; c++)
        for (int b = 0; b < c; b++)
            if (value[b] == value[c])
                return bdml_fail(
                    h, BDML_ERR_DATA,
                    "%s: line %lld, column %d: row %d stands there twice; a constraint "
                    "is about different rows",
                    bdml_input_name(in), (long long)bdml_input_line_number(in), column + c + 1,
                    (int)value[c]);
    return BDML_OK;
}
