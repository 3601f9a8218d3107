/* labels.c - labels in a file of their own, and what is called a label column. */
#include "data/data.h"

#include <stdlib.h>
#include <strings.h>

enum { LABEL_BLOCK = 4096 }; /* labels read at a time */

/* ---- the label column ------------------------------------------------------------------------ */

int bdml_label_by_word(int columns, char *const *names)
{
    static const char *const words[] = {"class", "label", "target", "y"};
    for (size_t w = 0; w < sizeof words / sizeof *words; w++)
        for (int j = columns - 1; j >= 0; j--)
            if (strcasecmp(names[j], words[w]) == 0) return j;
    return -1;
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

bdml_status bdml_label_column(bdml_handle *h, const char *path, int columns, char *const *names,
                              int automatic, int *label)
{
    const char *setting = bdml_label_setting(h);
    char excerpt[BDML_EXCERPT_SIZE], list[BDML_ERROR_SIZE / 2];
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
    return bdml_fail(h, BDML_ERR_DATA, "%s: no column is called '%s'; there are: %s", path, excerpt,
                     list);
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

/* The labels of a block: its own (an array of texts), or the numbers of its only column. */
static bdml_status take_block(bdml_handle *h, bdml_source *s, const bdml_block *b,
                              bdml_names *names, int32_t *label)
{
    for (int64_t i = 0; i < b->n; i++) {
        char text[BDML_NUMBER_SIZE];
        const char *name = text;
        label[i] = -1;
        if (s->d == 0) {
            if (b->label[i] < 0) continue;
            name = s->classes.text[b->label[i]];
        } else if (isinf(b->x[i])) {
            return bdml_source_fail(h, BDML_ERR_DATA, s, b, i, 0, "a label cannot be infinite");
        } else if (isnan(b->x[i])) {
            continue;
        } else {
            bdml_label_text(h, b->x[i], text);
        }
        BDML_TRY(bdml_names_add(h, names, name, strlen(name), &label[i]));
    }
    return BDML_OK;
}

static bdml_status read_binary(bdml_handle *h, bdml_source *s, bdml_names *names, int32_t **label,
                               int64_t *count)
{
    bdml_status status;
    bdml_block b = {0};
    size_t capacity = 0;

    if (s->d != 1 && !(s->d == 0 && s->labelled))
        return bdml_fail(h, BDML_ERR_DATA, "%s: labels must be one column, here are %d", s->path,
                         s->d);
    BDML_GO(bdml_block_init(h, LABEL_BLOCK, 1, &b));
    b.d = s->d;
    for (;;) {
        b.n = 0;
        BDML_GO(s->ops->next(h, s, &b));
        if (b.n == 0) break;
        BDML_GO(bdml_grow(h, label, &capacity, (size_t)(*count + b.n), sizeof **label));
        BDML_GO(take_block(h, s, &b, names, *label + *count));
        *count += b.n;
    }
done:
    bdml_block_free(&b);
    return status;
}

bdml_status bdml_labels_read(bdml_handle *h, const char *path, bdml_names *names, int32_t **label,
                             int64_t *count)
{
    bdml_status status = BDML_OK;
    const unsigned char *head;
    bdml_source *s;
    size_t n;

    *label = NULL;
    *count = 0;
    BDML_NEW(h, s, 1);
    s->rows = s->label_column = -1;
    BDML_GO(bdml_input_open(h, path, &s->in));
    s->path = bdml_strdup(h, bdml_input_name(s->in));
    if (!s->path) BDML_GO(BDML_ERR_MEMORY);
    BDML_GO(bdml_input_peek(h, s->in, 16, &head, &n));
    int format = bdml_format_guess("", head, n);
    if (format == BDML_FORMAT_NPY || format == BDML_FORMAT_IDX) {
        BDML_GO(format == BDML_FORMAT_NPY ? bdml_npy_open(h, s->in, s)
                                          : bdml_idx_open(h, s->in, s));
        BDML_GO(read_binary(h, s, names, label, count));
    } else {
        BDML_GO(read_text(h, s->in, names, label, count));
    }
    if (*count == 0) status = bdml_fail(h, BDML_ERR_DATA, "%s: the file holds no labels", s->path);
done:
    bdml_source_close(s);
    if (status != BDML_OK) {
        free(*label);
        *label = NULL;
        *count = 0;
    }
    return status;
}
