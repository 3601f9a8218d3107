/* adapt_file.c - fixed splits from a file.
 *
 * MAT: train.source{i}, train.target{i}, test.target{i}, rows from 1, as the splits of Hoffman et al.
 * (2013) for Office-Caltech have them. train.target and test.target may be absent together.
 * CSV: lines split,part,row with split from 1 without gaps, part source, target or test, row from 0; a
 * first line with these three names is skipped. */
#include "evaluate/adapt.h"

#include <stdlib.h>

static bdml_status take_list(bdml_handle *h, const bdml_row_lists *from, int k, int64_t *count,
                             int64_t **row)
{
    bdml_status status = BDML_OK;
    *count = from->start[k + 1] - from->start[k];
    BDML_NEW(h, *row, *count);
    for (int64_t i = 0; i < *count; i++) (*row)[i] = from->row[from->start[k] + i] - 1;
done:
    return status;
}

static bdml_status read_mat(bdml_handle *h, const char *path, int most, adapt_splits *out)
{
    static const char *const from[3][2] = {{"train", "source"},
                                           {"train", "target"},
                                           {"test", "target"}};
    bdml_status status = BDML_OK;
    bdml_row_lists list[3] = {{0}};

    for (int k = 0; k < 3; k++)
        BDML_GO(bdml_mat_lists_read(h, path, from[k][0], from[k][1], &list[k]));
    if (list[0].count != list[1].count || list[0].count != list[2].count)
        BDML_GO(bdml_fail(h, BDML_ERR_FORMAT,
                          "%s: train.source, train.target and test.target have %d, %d and %d "
                          "splits; all must have as many",
                          path, list[0].count, list[1].count, list[2].count));
    int count = BDML_MIN(list[0].count, most);
    BDML_NEW(h, out->split, count);
    out->count = count;
    for (int k = 0; k < count; k++) {
        adapt_split *s = &out->split[k];
        BDML_GO(take_list(h, &list[0], k, &s->sources, &s->source));
        BDML_GO(take_list(h, &list[1], k, &s->targets, &s->target));
        BDML_GO(take_list(h, &list[2], k, &s->tests, &s->test));
    }
done:
    for (int k = 0; k < 3; k++) bdml_row_lists_free(&list[k]);
    return status;
}

/* ---- CSV ------------------------------------------------------------------------------------------------ */

/* "split,part,row" of a line; false when it is something else. */
static bool parse_line(const char *line, size_t n, int64_t *split, int *part, int64_t *row)
{
    static const char *const parts[] = {"source", "target", "test"};
    const char *first = memchr(line, ',', n);
    const char *second = first ? memchr(first + 1, ',', n - (size_t)(first + 1 - line)) : NULL;
    if (!second) return false;
    const char *word = first + 1;
    size_t length = (size_t)(second - word);
    while (length > 0 && *word == ' ') word++, length--;
    while (length > 0 && word[length - 1] == ' ') length--;
    for (*part = 0; *part < 3; (*part)++)
        if (strlen(parts[*part]) == length && memcmp(parts[*part], word, length) == 0) break;
    return *part < 3 && bdml_parse_int(line, (size_t)(first - line), split) &&
           bdml_parse_int(second + 1, n - (size_t)(second + 1 - line), row);
}

static bdml_status add_row(bdml_handle *h, int64_t *count, int64_t **list, int64_t row)
{
    size_t capacity = (size_t)*count; /* grown by doubling at powers of two */
    if ((*count & (*count - 1)) == 0)
        BDML_TRY(bdml_grow(h, list, &capacity, *count ? 2 * (size_t)*count : 1, sizeof **list));
    (*list)[(*count)++] = row;
    return BDML_OK;
}

static bdml_status add_line(bdml_handle *h, const bdml_input *in, const char *line, size_t n,
                            int most, size_t *capacity, adapt_splits *out)
{
    int64_t number = bdml_input_line_number(in), split, row;
    char excerpt[BDML_EXCERPT_SIZE];
    int part;

    if (!parse_line(line, n, &split, &part, &row)) {
        if (number == 1) return BDML_OK; /* names of the columns */
        return bdml_fail(h, BDML_ERR_FORMAT,
                         "%s: line %lld: '%s' is not split,part,row with part source, target or "
                         "test",
                         bdml_input_name(in), (long long)number, bdml_excerpt(line, n, excerpt));
    }
    if (split < 1 || (split > out->count + 1 && out->count < most) || row < 0)
        return bdml_fail(h, BDML_ERR_FORMAT,
                         "%s: line %lld: splits count from 1 without gaps and rows from 0, got "
                         "split %lld, row %lld after %d splits",
                         bdml_input_name(in), (long long)number, (long long)split, (long long)row,
                         out->count);
    if (split > most) return BDML_OK;
    if (split == out->count + 1) {
        BDML_TRY(bdml_grow(h, &out->split, capacity, (size_t)split, sizeof *out->split));
        out->split[out->count++] = (adapt_split){0};
    }
    adapt_split *s = &out->split[split - 1];
    if (part == 0) return add_row(h, &s->sources, &s->source, row);
    if (part == 1) return add_row(h, &s->targets, &s->target, row);
    return add_row(h, &s->tests, &s->test, row);
}

static bdml_status read_csv(bdml_handle *h, bdml_input *in, int most, adapt_splits *out)
{
    size_t n, capacity = 0;
    char *line;
    for (;;) {
        BDML_TRY(bdml_input_line(h, in, &line, &n));
        if (!line) return BDML_OK;
        if (strspn(line, " \t") == n) continue;
        BDML_TRY(add_line(h, in, line, n, most, &capacity, out));
    }
}

bdml_status adapt_splits_read(bdml_handle *h, const char *path, int most, adapt_splits *out)
{
    bdml_status status = BDML_OK;
    const unsigned char *head;
    bdml_input *in = NULL;
    size_t n;

    *out = (adapt_splits){0};
    BDML_GO(bdml_input_open(h, path, &in));
    BDML_GO(bdml_input_peek(h, in, 128, &head, &n));
    if (bdml_format_guess(path, head, n) == BDML_FORMAT_MAT) {
        bdml_input_close(in);
        in = NULL;
        BDML_GO(read_mat(h, path, most, out));
    } else
        BDML_GO(read_csv(h, in, most, out));
    if (out->count == 0)
        status = bdml_fail(h, BDML_ERR_FORMAT, "%s: the file holds no splits", path);
done:
    bdml_input_close(in);
    if (status != BDML_OK) adapt_splits_free(out);
    return status;
}
