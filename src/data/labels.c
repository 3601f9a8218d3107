/* labels.c - labels in a file of their own, and what is called a label column. */
#include "data/columns.h"

#include <stdlib.h>
#include <strings.h>

/* ---- the label column ------------------------------------------------------------------------ */

bdml_status bdml_label_by_word(bdml_handle *h, int columns, char *const *names, int *label)
{
    static const char *const words[] = {"class", "label", "target", "y"};
    size_t best = sizeof words / sizeof *words; /* only words before it are of interest */
    *label = -1;
    for (int j = columns - 1; j >= 0 && best > 0; j--) {
        BDML_TRY(bdml_columns_ask(h, j));
        for (size_t w = 0; w < best; w++)
            if (strcasecmp(names[j], words[w]) == 0) best = w, *label = j;
    }
    return BDML_OK;
}

/* "a, b, c" of the names, cut with "..." where the room ends. */
static void list_names(int columns, char *const *names, char *out, size_t size)
{
    size_t used = 0;
    *out = '\0';
    for (int j = 0; j < columns; j++) {
        char name[BDML_EXCERPT_SIZE];
        bdml_excerpt(names[j], strlen(names[j]), name);
        if (used + strlen(name) + 8 > size) {
            snprintf(out + used, size - used, ", ...");
            return;
        }
        used += (size_t)snprintf(out + used, size - used, "%s%s", j ? ", " : "", name);
    }
}

typedef struct name_list {
    int count;
    char *const *names;
} name_list;

static const char *name_at(const void *user, int i)
{
    const name_list *l = user;
    return i < l->count ? l->names[i] : NULL;
}

const char *bdml_column_meant(const char *word, int columns, char *const *names,
                              char out[BDML_MEANT_SIZE])
{
    *out = '\0';
    if (!names) return out;
    return bdml_did_you_mean(word, name_at, &(name_list){columns, names}, out);
}

bdml_status bdml_label_column(bdml_handle *h, const bdml_input_options *o, const char *path,
                              int columns, char *const *names, int automatic, int *label)
{
    const char *setting = bdml_label_setting(o);
    char excerpt[BDML_EXCERPT_SIZE], list[BDML_ERROR_SIZE / 2], meant[BDML_MEANT_SIZE];
    int64_t number;

    *label = -1;
    if (strcmp(setting, "none") == 0) return BDML_OK;
    if (strcmp(setting, "last") == 0) {
        *label = columns - 1;
        return BDML_OK;
    }
    if (strcmp(setting, "auto") == 0) {
        *label = automatic;
        return BDML_OK;
    }
    for (int j = 0; names && j < columns && *label < 0; j++)
        if (strcmp(names[j], setting) == 0) *label = j;
    if (*label >= 0) return BDML_OK;
    bdml_excerpt(setting, strlen(setting), excerpt);
    if (bdml_parse_int(setting, strlen(setting), &number)) {
        if (number < 1 || number > columns)
            return bdml_fail(h, BDML_ERR_DATA, "%s: label column %s is not among the %d columns",
                             path, excerpt, columns);
        *label = (int)number - 1;
        return BDML_OK;
    }
    if (!names)
        return bdml_fail(h, BDML_ERR_DATA,
                         "%s: no column is called '%s', for there is no header; columns have the "
                         "numbers 1 to %d",
                         path, excerpt, columns);
    list_names(columns, names, list, sizeof list);
    bdml_column_meant(setting, columns, names, meant);
    return bdml_fail(h, BDML_ERR_DATA, "%s: no column is called '%s'%s%s there are: %s", path,
                     excerpt, meant, meant[0] ? "" : ";", list);
}

/* ---- a file of labels ---------------------------------------------------------------------------- */

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
    BDML_GO(bdml_input_unchanged(h, in));
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
