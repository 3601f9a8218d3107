/* write_csv.c - CSV and TSV: a header, the features, the label last, in a column called "class". */
#include "data/data.h"

/* Must a text be quoted so that it reads back as the same text, and not as a number, a missing value,
 * a comment, or two fields? */
static bool needs_quotes(const bdml_handle *h, const char *s, char delimiter, bool header)
{
    size_t n = strlen(s);
    double v;
    if (n == 0 || bdml_is_missing(s, n) || strpbrk(s, "\"\r\n") || strchr(s, delimiter))
        return true;
    if (s[0] == '#' || s[0] == ' ' || s[0] == '\t' || s[n - 1] == ' ' || s[n - 1] == '\t')
        return true;
    return header && (strpbrk(s, ",;\t") || bdml_parse_double(h->c_locale, s, n, &v));
}

/* How names are written. */
typedef struct form {
    char delimiter;
    bool safe; /* for spreadsheets: see bdml_is_formula */
} form;

static bdml_status put_text(bdml_handle *h, bdml_file *f, const char *s, const form *o, bool header)
{
    const char *shield = o->safe && bdml_is_formula(s) ? "'" : "";
    bool quotes = needs_quotes(h, s, o->delimiter, header);
    if (quotes) BDML_TRY(bdml_file_write(h, f, "\"", 1));
    BDML_TRY(bdml_file_write(h, f, shield, strlen(shield)));
    if (!quotes) return bdml_file_write(h, f, s, strlen(s));
    for (; *s; s++) {
        if (*s == '"') BDML_TRY(bdml_file_write(h, f, "\"", 1));
        BDML_TRY(bdml_file_write(h, f, s, 1));
    }
    return bdml_file_write(h, f, "\"", 1);
}

static bdml_status put_header(bdml_handle *h, bdml_file *f, const bdml_dataset *data, const form *o)
{
    for (int j = 0; j < data->d; j++) {
        char number[BDML_NUMBER_SIZE];
        snprintf(number, sizeof number, "x%d", j + 1);
        if (j > 0) BDML_TRY(bdml_file_write(h, f, &o->delimiter, 1));
        BDML_TRY(put_text(h, f, data->feature_name ? data->feature_name[j] : number, o, true));
    }
    if (data->y) {
        BDML_TRY(bdml_file_write(h, f, &o->delimiter, 1));
        BDML_TRY(bdml_file_write(h, f, "class", 5));
    }
    return bdml_file_write(h, f, "\n", 1);
}

static bdml_status put_row(bdml_handle *h, bdml_file *f, const bdml_dataset *data, int64_t i,
                           const form *o)
{
    const double *x = data->x + (size_t)i * (size_t)data->d;
    for (int j = 0; j < data->d; j++) {
        char text[BDML_NUMBER_SIZE + 1];
        int n = bdml_format_double(h->c_locale, x[j], text);
        if (j + 1 < data->d) text[n++] = o->delimiter;
        BDML_TRY(bdml_file_write(h, f, text, (size_t)n));
    }
    if (data->y) {
        BDML_TRY(bdml_file_write(h, f, &o->delimiter, 1));
        BDML_TRY(put_text(h, f, data->class_name[data->y[i]], o, false));
    }
    return bdml_file_write(h, f, "\n", 1);
}

bdml_status bdml_write_csv(bdml_handle *h, const bdml_write_options *o, const bdml_dataset *data,
                           char delimiter, const char *path)
{
    const form how = {delimiter, o->csv_safe.value};
    bdml_status status;
    bdml_file *f = NULL;

    BDML_GO(bdml_file_create(h, path, &f));
    BDML_GO(put_header(h, f, data, &how));
    for (int64_t i = 0; i < data->n; i++) {
        BDML_GO(put_row(h, f, data, i, &how));
        BDML_GO(bdml_progress(h, "writing", i + 1, data->n));
    }
    BDML_GO(bdml_dataset_confirm(h, data, status, NULL));
    status = bdml_file_commit(h, f);
    f = NULL;
done:
    bdml_file_discard(f);
    return status;
}
