/* labels.c - labels in a file of their own, and what is called a label column. */
#include "data/data.h"

#include <stdlib.h>
#include <strings.h>

int bdml_label_word(const char *name)
{
    static const char *const words[] = {"class", "label", "target", "y"};
    for (int i = 0; i < (int)(sizeof words / sizeof *words); i++)
        if (strcasecmp(name, words[i]) == 0) return i;
    return -1;
}

int bdml_label_text(const bdml_handle *h, double v, char out[BDML_NUMBER_SIZE])
{
    return bdml_format_double(h->c_locale, v == 0.0 ? 0.0 : v, out); /* -0 is 0 */
}

/* One label a line; blanks around it and blank lines do not count. */
static bdml_status read_text(bdml_handle *h, bdml_input *in, bdml_names *names, int32_t **label,
                             int64_t *count)
{
    size_t capacity = 0, n;
    char *line;

    for (;;) {
        BDML_TRY(bdml_input_line(h, in, &line, &n));
        if (!line) return BDML_OK;
        while (n > 0 && (*line == ' ' || *line == '\t')) line++, n--;
        while (n > 0 && (line[n - 1] == ' ' || line[n - 1] == '\t')) n--;
        if (n == 0) continue;
        BDML_TRY(bdml_grow(h, label, &capacity, (size_t)*count + 1, sizeof **label));
        int32_t id = -1;
        if (!bdml_is_missing(line, n)) BDML_TRY(bdml_names_add(h, names, line, n, &id));
        (*label)[(*count)++] = id;
    }
}

bdml_status bdml_labels_read(bdml_handle *h, const char *path, bdml_names *names, int32_t **label,
                             int64_t *count)
{
    bdml_status status = BDML_OK;
    const unsigned char *head;
    bdml_input *in = NULL;
    size_t n;

    *label = NULL;
    *count = 0;
    BDML_GO(bdml_input_open(h, path, &in));
    BDML_GO(bdml_input_peek(h, in, 16, &head, &n));
    int format = bdml_format_guess("", head, n);
    if (format == BDML_FORMAT_NPY || format == BDML_FORMAT_IDX)
        BDML_GO(bdml_labels_from_binary(h, in, format, names, count, label));
    else
        BDML_GO(read_text(h, in, names, label, count));
    if (*count == 0)
        status = bdml_fail(h, BDML_ERR_DATA, "%s: the file holds no labels", bdml_input_name(in));
done:
    bdml_input_close(in);
    if (status != BDML_OK) {
        free(*label);
        *label = NULL;
        *count = 0;
    }
    return status;
}
