/* matrix.c - a matrix of a binary file handed out in blocks of rows, decoded as they are read. */
#include "data/binary.h"

#include <stdlib.h>

enum { WIDE = 1 << 17 }; /* columns; a row of more is not believed before it is there */

bdml_status bdml_matrix_shape(bdml_handle *h, const char *name, int rank, const size_t *dims,
                              bdml_matrix *m)
{
    size_t rest = 1, all;
    if (rank < 1)
        return bdml_fail(h, BDML_ERR_DATA, "%s: holds a single number, not a matrix", name);
    if (!bdml_dims_product(rank, dims, &all) || !bdml_dims_product(rank - 1, dims + 1, &rest) ||
        all > INT64_MAX / sizeof(double))
        return bdml_fail(h, BDML_ERR_FORMAT,
                         "%s: the announced sizes multiply to more than memory "
                         "can address: damaged or hostile header",
                         name);
    if (all == 0)
        return bdml_fail(h, BDML_ERR_DATA, "%s: holds no data: %zu rows of %zu columns", name,
                         dims[0], rest);
    if (rest > INT32_MAX)
        return bdml_fail(h, BDML_ERR_DATA,
                         "%s: %zu columns are more than the %d that can be handled", name, rest,
                         INT32_MAX);
    m->n = (int64_t)dims[0];
    m->d = (int)rest;
    m->rank = rank;
    memcpy(m->dims, dims, (size_t)rank * sizeof *dims);
    return BDML_OK;
}

static size_t matrix_bytes(const bdml_matrix *m)
{
    return (size_t)m->n * (size_t)m->d * m->element.size;
}

static bool in_memory(const bdml_matrix *m)
{
    return m->x || m->columns;
}

static bdml_status read_items(bdml_handle *h, const bdml_matrix *m, unsigned char **out)
{
    size_t got, want = matrix_bytes(m);
    BDML_TRY(bdml_bytes_read_all(h, &m->bytes, want, out, &got));
    if (got < want) return bdml_fail_short(h, m->bytes.name, want, got);
    return bdml_bytes_need_end(h, &m->bytes, want);
}

bdml_status bdml_matrix_read_columns(bdml_handle *h, bdml_matrix *m)
{
    BDML_TRY(read_items(h, m, &m->held));
    m->columns = m->held;
    m->sure = true;
    return BDML_OK;
}

/* All rows, in memory. */
static bdml_status read_rows(bdml_handle *h, bdml_matrix *m)
{
    bdml_status status = BDML_OK;
    size_t count = (size_t)m->n * (size_t)m->d;
    unsigned char *items = NULL;

    BDML_GO(read_items(h, m, &items));
    BDML_NEW(h, m->x, count);
    bdml_element_decode(m->element, items, count, m->x);
    m->sure = true;
done:
    free(items);
    return status;
}

/* Read `rows` rows to the end of the room of their doubles, and turn them into doubles there. */
static bdml_status decode_rows(bdml_handle *h, const bdml_matrix *m, size_t rows, double *x)
{
    size_t count = rows * (size_t)m->d, bytes = count * m->element.size, got;
    unsigned char *items = (unsigned char *)(x + count) - bytes;
    BDML_TRY(m->bytes.read(h, m->bytes.from, items, bytes, &got));
    if (got < bytes) {
        size_t before = (size_t)m->row * (size_t)m->d * m->element.size;
        return bdml_fail_short(h, m->bytes.name, matrix_bytes(m), before + got);
    }
    bdml_element_decode(m->element, items, count, x);
    return BDML_OK;
}

static bdml_status give_rows(bdml_handle *h, bdml_matrix *m, size_t rows, double *x)
{
    size_t row = (size_t)m->row, d = (size_t)m->d;
    if (m->x)
        memcpy(x, m->x + row * d, rows * d * sizeof *x);
    else if (m->columns)
        bdml_element_rows(m->element, m->rank, m->dims, m->columns, row, rows, x);
    else
        BDML_TRY(decode_rows(h, m, rows, x));
    return BDML_OK;
}

/* One row whose label stands among its numbers; all of these, of which some may be picked afterwards. */
static bdml_status split_row(bdml_handle *h, bdml_source *s, bdml_block *b)
{
    bdml_matrix *m = s->state;
    size_t left = (size_t)m->label_column, d = (size_t)m->d - 1;
    double *x = b->x + (size_t)b->n * d, y;
    int32_t *label = &b->label[b->n];
    char text[BDML_NUMBER_SIZE];

    BDML_TRY(give_rows(h, m, 1, m->whole_row));
    y = m->whole_row[left];
    memcpy(x, m->whole_row, left * sizeof *x);
    memcpy(x + left, m->whole_row + left + 1, (d - left) * sizeof *x);
    *label = -1;
    if (isnan(y)) return BDML_OK;
    if (isinf(y))
        return bdml_source_fail(h, BDML_ERR_DATA, s, b, b->n, -1, "a label cannot be infinite");
    int n = bdml_label_text(h, y, text);
    return bdml_names_add(h, &s->classes, text, (size_t)n, label);
}

static bdml_status next_rows(bdml_handle *h, bdml_source *s, bdml_block *b)
{
    bdml_matrix *m = s->state;

    while (b->n < b->capacity && m->row < m->n) {
        int64_t rows = m->label_column >= 0 ? 1 : BDML_MIN(b->capacity - b->n, m->n - m->row);
        for (int64_t i = 0; i < rows; i++) {
            b->label[b->n + i] = m->label ? m->label[m->row + i] : -1;
            b->line[b->n + i] = m->row + i + 1;
        }
        if (m->label_column >= 0)
            BDML_TRY(split_row(h, s, b));
        else
            BDML_TRY(give_rows(h, m, (size_t)rows, b->x + (size_t)b->n * (size_t)m->d));
        b->n += rows;
        m->row += rows;
        if (m->row == m->n && !in_memory(m))
            BDML_TRY(bdml_bytes_need_end(h, &m->bytes, matrix_bytes(m)));
    }
    return BDML_OK;
}

static bdml_status skip_rows(bdml_handle *h, bdml_source *s, int64_t rows)
{
    bdml_matrix *m = s->state;
    size_t row = (size_t)m->d * m->element.size;
    if (!in_memory(m)) BDML_TRY(bdml_input_skip(h, s->in, rows * (int64_t)row));
    m->row += rows;
    return BDML_OK;
}

static const int32_t *all_labels(const bdml_source *s)
{
    const bdml_matrix *m = s->state;
    return m->label;
}

static bool stand(const bdml_source *s, size_t size)
{
    const bdml_matrix *m = s->state;
    const bdml_element e = m->element;
    return !in_memory(m) && e.kind == 'f' && e.size == size && !e.swap &&
           bdml_input_remaining(s->in) ==
               (int64_t)matrix_bytes(m) - m->row * m->d * (int64_t)e.size;
}

void bdml_matrix_free(bdml_matrix *m)
{
    if (m->release) m->release(m->owner);
    free(m->x);
    free(m->held);
    free(m->label);
    free(m->whole_row);
    *m = (bdml_matrix){0};
}

static void close_matrix(bdml_source *s)
{
    bdml_matrix *m = s->state;
    if (!m) return;
    bdml_matrix_free(m);
    free(m);
    s->state = NULL;
}

bdml_status bdml_matrix_source(bdml_handle *h, const bdml_input_options *o, const bdml_matrix *m,
                               bdml_source *s)
{
    static const bdml_source_ops ops = {next_rows, close_matrix, skip_rows, all_labels, stand};
    static const bdml_source_ops in_line = {next_rows, close_matrix, NULL, NULL, NULL};
    bdml_status status = BDML_OK;
    bdml_matrix copy = *m, *state = NULL;

    /* The reader of blocks takes room for a row: let the row be there first. */
    if (!in_memory(&copy) && !copy.sure && copy.d > WIDE) BDML_GO(read_rows(h, &copy));
    copy.label_column = -1;
    if (!copy.label)
        BDML_GO(bdml_label_column(h, o, s->path, copy.d, NULL, -1, &copy.label_column));
    if (copy.label_column >= 0) BDML_NEW(h, copy.whole_row, copy.d);
    BDML_NEW(h, state, 1);
    *state = copy;
    /* where a row begins is known in a file whose size is, but not inside a container */
    bool known =
        copy.sure && copy.label_column < 0 && (in_memory(&copy) || copy.bytes.from == s->in);
    s->ops = known ? &ops : &in_line;
    s->state = state;
    s->d = copy.d - (copy.label_column >= 0);
    s->label_column = copy.label_column;
    s->rows = copy.sure ? copy.n : -1;
    s->single = copy.element.kind == 'f' && copy.element.size == sizeof(float);
    s->labelled = copy.label || copy.label_column >= 0;
done:
    if (status != BDML_OK) bdml_matrix_free(&copy);
    return status;
}

bdml_status bdml_matrix_check_labels(bdml_handle *h, const bdml_matrix *m, const char *path,
                                     const char *data_name, const char *label_name, int64_t labels)
{
    if (labels == m->n) return BDML_OK;
    return bdml_fail(h, BDML_ERR_DATA, "%s: %s has %lld rows but %s has %lld labels%s", path,
                     data_name, (long long)m->n, label_name, (long long)labels,
                     labels == m->d ? ": a point is a row here; save the transpose" : "");
}
