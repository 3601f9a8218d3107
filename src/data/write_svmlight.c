/* write_svmlight.c - svmlight text: "label index:value ...", indices from 1, zeros left out.
 *
 * Labels are numbers in this format. Classes whose names are not written as svmlight.c would print
 * them are numbered from 0 and named in comments before the data: "# class 2 = setosa". */
#include "data/data.h"

/* Does the label `name` read back as itself? */
static bool is_plain_number(const bdml_handle *h, const char *name)
{
    char text[BDML_NUMBER_SIZE];
    double v;
    if (!bdml_parse_double(h->c_locale, name, strlen(name), &v) || !isfinite(v)) return false;
    bdml_label_text(h, v, text);
    return strcmp(text, name) == 0;
}

static bdml_status put_class_name(bdml_handle *h, bdml_file *f, int c, const char *s)
{
    char text[48];
    int n = snprintf(text, sizeof text, "# class %d = ", c);
    BDML_TRY(bdml_file_write(h, f, text, (size_t)n));
    for (; *s; s++) {
        if (*s == '\n')
            BDML_TRY(bdml_file_write(h, f, "\\n", 2));
        else if (*s == '\r')
            BDML_TRY(bdml_file_write(h, f, "\\r", 2));
        else if (*s == '\\')
            BDML_TRY(bdml_file_write(h, f, "\\\\", 2));
        else
            BDML_TRY(bdml_file_write(h, f, s, 1));
    }
    return bdml_file_write(h, f, "\n", 1);
}

static bdml_status put_label(bdml_handle *h, bdml_file *f, const bdml_dataset *data, int64_t i,
                             bool plain)
{
    char text[BDML_NUMBER_SIZE];
    int c = data->y ? data->y[i] : 0;
    if (data->y && plain)
        return bdml_file_write(h, f, data->class_name[c], strlen(data->class_name[c]));
    int n = snprintf(text, sizeof text, "%d", c);
    return bdml_file_write(h, f, text, (size_t)n);
}

/* A zero is written where it carries something: its sign, or, in row 0, the number of columns. */
static bdml_status put_row(bdml_handle *h, bdml_file *f, const bdml_dataset *data, int64_t i)
{
    const double *x = data->x + (size_t)i * (size_t)data->d;
    for (int j = 0; j < data->d; j++) {
        char text[24 + BDML_NUMBER_SIZE];
        if (x[j] == 0.0 && !signbit(x[j]) && !(i == 0 && j + 1 == data->d)) continue;
        int n = snprintf(text, 24, " %d:", j + 1);
        n += bdml_format_double(h->c_locale, x[j], text + n);
        BDML_TRY(bdml_file_write(h, f, text, (size_t)n));
    }
    return bdml_file_write(h, f, "\n", 1);
}

bdml_status bdml_write_svmlight(bdml_handle *h, const bdml_dataset *data, const char *path)
{
    bdml_status status;
    bdml_file *f = NULL;
    bool plain = true;

    for (int c = 0; c < data->classes; c++)
        plain = plain && is_plain_number(h, data->class_name[c]);
    if (!data->y)
        bdml_log(h, BDML_LOG_WARNING,
                 "%s: the format wants a label, and there is none: 0 is written", path);
    BDML_GO(bdml_file_create(h, path, &f));
    for (int c = 0; c < data->classes && !plain; c++)
        BDML_GO(put_class_name(h, f, c, data->class_name[c]));
    for (int64_t i = 0; i < data->n; i++) {
        BDML_GO(put_label(h, f, data, i, plain));
        BDML_GO(put_row(h, f, data, i));
        BDML_GO(bdml_progress(h, "writing", i + 1, data->n));
    }
    BDML_GO(bdml_dataset_confirm(h, data, status, NULL));
    status = bdml_file_commit(h, f);
    f = NULL;
done:
    bdml_file_discard(f);
    return status;
}
