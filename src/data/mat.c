/* mat.c - MAT v5 files (MATLAB 5 to 7.2): the data matrix and the labels, by name, through matio.
 *
 * matio believes the sizes that a file announces. So mat_scan.c finds and checks the wanted variables
 * first, and matio is given a temporary file that holds these alone: what is damaged or hostile
 * elsewhere never reaches it, and standard input needs no special treatment. matio prints only
 * through a log function that the program may install (Mat_LogInitFunc); without one it is silent, so
 * that process-wide setting of its is left alone. */
#include "data/mat_scan.h"

#include <errno.h>
#include <fcntl.h>
#include <matio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- through matio --------------------------------------------------------------------------------- */

static bdml_status write_element(bdml_handle *h, int fd, const bdml_mat_file *f,
                                 const unsigned char *element, size_t bytes)
{
    unsigned char head[BDML_MAT_HEADER];
    memset(head, ' ', sizeof head);
    memcpy(head, "MATLAB 5.0 MAT-file", 19); /* NOLINT: padded with blanks, no NUL */
    memset(head + 116, 0, 8);                /* no subsystem data */
    memcpy(head + 124, f->bytes + 124, 4);   /* version and byte order */
    FILE *out = fdopen(fd, "wb");
    if (!out) {
        close(fd);
        return bdml_fail(h, BDML_ERR_IO, "%s: no temporary file: %s", f->name, strerror(errno));
    }
    bool ok =
        fwrite(head, 1, sizeof head, out) == sizeof head && fwrite(element, 1, bytes, out) == bytes;
    if (fclose(out) != 0 || !ok)
        return bdml_fail(h, BDML_ERR_IO, "%s: writing a temporary file failed: %s", f->name,
                         strerror(errno));
    return BDML_OK;
}

/* The variable as matio has it. The temporary file loses its name as soon as matio has opened it. */
static bdml_status read_variable(bdml_handle *h, const bdml_mat_file *f, const bdml_mat_variable *v,
                                 matvar_t **out)
{
    bdml_status status = BDML_OK;
    const char *folder = getenv("TMPDIR");
    unsigned char *element = NULL;
    char *path = NULL;
    mat_t *mat = NULL;
    size_t bytes, room;
    int fd;

    *out = NULL;
    if (!folder || !*folder) folder = "/tmp";
    room = strlen(folder) + 32;
    BDML_GO(bdml_mat_extract(h, f, v, &element, &bytes));
    BDML_NEW(h, path, room);
    snprintf(path, room, "%s/bdml-mat-XXXXXX", folder);
    fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0)
        BDML_GO(bdml_fail(h, BDML_ERR_IO, "%s: no temporary file in %s: %s", f->name, folder,
                          strerror(errno)));
    status = write_element(h, fd, f, element, bytes);
    if (status == BDML_OK) mat = Mat_Open(path, MAT_ACC_RDONLY);
    unlink(path);
    BDML_GO(status);
    free(element); /* as large as the data */
    element = NULL;
    *out = mat ? Mat_VarReadNext(mat) : NULL;
    if (!*out)
        status = bdml_fail(h, BDML_ERR_FORMAT, "%s: variable %s cannot be read by matio", f->name,
                           v->name);
done:
    if (mat) Mat_Close(mat);
    free(path);
    free(element);
    return status;
}

static bdml_status fail_unusable(bdml_handle *h, const char *file, const bdml_mat_variable *v)
{
    return bdml_fail(h, BDML_ERR_FORMAT, "%s: variable %s was not understood by matio: damaged?",
                     file, v->name);
}

/* ---- data ---------------------------------------------------------------------------------------------- */

/* The numbers of a full variable are there, in the form *e: matio hands them out in this machine's byte order. */
static bdml_status check_full(bdml_handle *h, const char *file, const bdml_mat_variable *v,
                              const matvar_t *var, bdml_element *e)
{
    size_t count;
    if (!bdml_mat_element(var->data_type, false, e) ||
        !bdml_dims_product(v->rank, v->dims, &count) || !var->data || var->nbytes / e->size < count)
        return fail_unusable(h, file, v);
    return BDML_OK;
}

static bdml_status take_sparse(bdml_handle *h, const char *file, const bdml_mat_variable *v,
                               const matvar_t *var, double **x)
{
    bdml_status status = BDML_OK;
    const mat_sparse_t *s = var->data;
    size_t rows = v->dims[0], columns = v->dims[1], entries;
    char what[BDML_ERROR_SIZE];
    bdml_element e;

    if (!s || !bdml_mat_element(var->data_type, false, &e) || !s->jc || s->njc != columns + 1)
        return fail_unusable(h, file, v);
    entries = s->jc[columns];
    if (entries > s->nir || entries > s->ndata || (entries > 0 && (!s->ir || !s->data)))
        return fail_unusable(h, file, v);
    snprintf(what, sizeof what, "%.300s: sparse variable %.80s has", file, v->name);
    BDML_TRY(bdml_sparse_check(h, what, (double)rows, (double)columns, (double)entries));
    BDML_NEW(h, *x, rows * columns);
    for (size_t j = 0; j < columns; j++)
        for (size_t k = s->jc[j]; k < s->jc[j + 1] && k < entries; k++)
            if (s->ir[k] < rows)
                bdml_element_decode(e, (const unsigned char *)s->data + k * e.size, 1,
                                    &(*x)[s->ir[k] * columns + j]);
done:
    return status;
}

static bool is_numeric(const bdml_mat_variable *v)
{
    return v->class == MAT_C_SPARSE || (v->class >= MAT_C_DOUBLE && v->class <= MAT_C_UINT64);
}

static void free_variable(void *owner)
{
    Mat_VarFree(owner);
}

static bdml_status read_data(bdml_handle *h, const bdml_mat_file *f, const bdml_mat_variable *v,
                             bdml_matrix *m)
{
    bdml_status status = BDML_OK;
    matvar_t *var = NULL;
    size_t room = strlen(f->name) + sizeof v->name + 16;
    char *name = bdml_alloc(h, room, 1);

    if (!name) return BDML_ERR_MEMORY;
    snprintf(name, room, "%s: variable %s", f->name, v->name);
    if (!is_numeric(v))
        BDML_GO(bdml_fail(h, BDML_ERR_FORMAT, "%s is %s, not a matrix of numbers", name,
                          bdml_mat_class_text(v->class)));
    BDML_GO(bdml_matrix_shape(h, name, v->rank, v->dims, m));
    BDML_GO(read_variable(h, f, v, &var));
    if (v->class == MAT_C_SPARSE) {
        BDML_GO(take_sparse(h, f->name, v, var, &m->x));
    } else {
        BDML_GO(check_full(h, f->name, v, var, &m->element));
        m->columns = var->data;
        m->owner = var;
        m->release = free_variable;
        var = NULL;
    }
    m->sure = true;
done:
    Mat_VarFree(var);
    free(name);
    return status;
}

/* ---- labels --------------------------------------------------------------------------------------------- */

/* One character of UTF-8 from s[0..n): its bytes, or 0 when there is none. */
static size_t utf8_take(const unsigned char *s, size_t n, uint32_t *code)
{
    size_t size = s[0] < 0x80 ? 1 : s[0] < 0xC2 ? 0 : s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : 4;
    if (size == 0 || size > n || s[0] > 0xF4) return 0;
    *code = size == 1 ? s[0] : s[0] & (0xFFu >> (size + 1));
    for (size_t i = 1; i < size; i++) {
        if ((s[i] & 0xC0) != 0x80) return 0;
        *code = *code << 6 | (s[i] & 0x3Fu);
    }
    return size;
}

/* The `count` characters of an array of text, in its order; false when they are not there. */
static bool characters(const matvar_t *var, size_t count, uint32_t *code)
{
    const unsigned char *data = var->data;
    size_t at = 0, size = var->data_size == 2 ? 2 : 1;
    if (count == 0) return true;
    if (!data || (var->data_type != MAT_T_UTF8 && var->nbytes / size < count)) return false;
    for (size_t i = 0; i < count; i++) {
        uint16_t unit = 0;
        if (var->data_type == MAT_T_UTF8) {
            size_t taken = at < var->nbytes ? utf8_take(data + at, var->nbytes - at, &code[i]) : 0;
            if (taken == 0) return false;
            at += taken;
        } else {
            if (size == 2)
                memcpy(&unit, data + 2 * i, 2);
            else
                unit = data[i];
            code[i] = unit;
        }
    }
    return true;
}

/* Row `row` of rows x width characters, column-major, blanks at its end cut off. False: not text. */
static bool row_text(const uint32_t *code, size_t rows, size_t width, size_t row, char *out,
                     size_t *n)
{
    *n = 0;
    for (size_t c = 0; c < width; c++) {
        uint32_t v = code[row + c * rows];
        if (v == 0) v = ' '; /* rows of unequal length are sometimes padded with zeros */
        if (v >= 0xD800 && v < 0xDC00 && c + 1 < width) { /* UTF-16 writes large ones as two */
            uint32_t low = code[row + (c + 1) * rows];
            if (low >= 0xDC00 && low < 0xE000) {
                v = 0x10000 + ((v - 0xD800) << 10) + (low - 0xDC00);
                c++;
            }
        }
        if (!bdml_utf8_put(v, out, n)) return false;
    }
    while (*n > 0 && out[*n - 1] == ' ') --*n;
    return true;
}

/* One label a row of an array of text; empty text is a missing label. first: number of the first of
 * them, for messages. */
static bdml_status labels_of_text(bdml_handle *h, const bdml_mat_file *f,
                                  const bdml_mat_variable *v, const matvar_t *var,
                                  bdml_names *names, size_t first, int32_t *label)
{
    bdml_status status = BDML_OK;
    uint32_t *code = NULL;
    char *text = NULL;
    size_t rows = var->dims[0], width = 1, n;

    for (int i = 1; i < var->rank; i++) width *= var->dims[i];
    BDML_NEW(h, code, rows * width);
    BDML_NEW(h, text, 4 * width + 1);
    bool ok = characters(var, rows * width, code);
    for (size_t row = 0; row < rows; row++) {
        if (!ok || !row_text(code, rows, width, row, text, &n))
            BDML_GO(bdml_fail(h, BDML_ERR_DATA, "%s: variable %s: label %zu is not valid text",
                              f->name, v->name, first + row + 1));
        label[row] = -1;
        if (n > 0) BDML_GO(bdml_names_add(h, names, text, n, &label[row]));
    }
done:
    free(code);
    free(text);
    return status;
}

static bdml_status labels_of_cells(bdml_handle *h, const bdml_mat_file *f,
                                   const bdml_mat_variable *v, const matvar_t *var,
                                   bdml_names *names, size_t count, int32_t *label)
{
    matvar_t *const *cell = var->data;
    if (!cell) return fail_unusable(h, f->name, v);
    for (size_t i = 0; i < count; i++) {
        label[i] = -1;
        if (!cell[i] || cell[i]->nbytes == 0 || !cell[i]->data) continue;
        if (cell[i]->class_type != MAT_C_CHAR || cell[i]->rank < 2 || cell[i]->dims[0] != 1)
            return bdml_fail(h, BDML_ERR_DATA, "%s: variable %s: cell %zu is not a row of text",
                             f->name, v->name, i + 1);
        BDML_TRY(labels_of_text(h, f, v, cell[i], names, i, &label[i]));
    }
    return BDML_OK;
}

static bdml_status labels_of_numbers(bdml_handle *h, const bdml_mat_file *f,
                                     const bdml_mat_variable *v, const matvar_t *var,
                                     bdml_names *names, size_t count, int32_t *label)
{
    bdml_status status = BDML_OK;
    bdml_element e;
    double *x = NULL;
    if (v->class == MAT_C_SPARSE) {
        BDML_GO(take_sparse(h, f->name, v, var, &x));
    } else {
        BDML_GO(check_full(h, f->name, v, var, &e));
        BDML_NEW(h, x, count);
        bdml_element_decode(e, var->data, count, x);
    }
    for (size_t i = 0; i < count; i++) {
        char text[BDML_NUMBER_SIZE];
        label[i] = -1;
        if (isnan(x[i])) continue;
        if (isinf(x[i]))
            BDML_GO(bdml_fail(h, BDML_ERR_DATA, "%s: variable %s: label %zu is infinite", f->name,
                              v->name, i + 1));
        int n = bdml_label_text(h, x[i], text);
        BDML_GO(bdml_names_add(h, names, text, (size_t)n, &label[i]));
    }
done:
    free(x);
    return status;
}

/* Numbers and cells: n x 1 or 1 x n. Text: one label a row. */
static bdml_status read_labels(bdml_handle *h, const bdml_mat_file *f, const bdml_mat_variable *v,
                               bdml_names *names, int64_t *n, int32_t **label)
{
    bdml_status status = BDML_OK;
    matvar_t *var = NULL;
    int32_t *y = NULL;
    bool text = v->class == MAT_C_CHAR;
    size_t count;

    if (!is_numeric(v) && !text && v->class != MAT_C_CELL)
        return bdml_fail(h, BDML_ERR_FORMAT, "%s: variable %s is %s and cannot be labels", f->name,
                         v->name, bdml_mat_class_text(v->class));
    if (v->rank != 2 || (!text && v->dims[0] != 1 && v->dims[1] != 1))
        return bdml_fail(h, BDML_ERR_DATA,
                         "%s: variable %s: labels must be a vector, this is %zu x %zu", f->name,
                         v->name, v->dims[0], v->dims[1]);
    if (text && v->dims[1] == 0) /* of nothing, a file of some bytes has as many rows as it says */
        return bdml_fail(h, BDML_ERR_DATA, "%s: variable %s: %zu labels without a character",
                         f->name, v->name, v->dims[0]);
    count = text ? v->dims[0] : v->dims[0] * v->dims[1];
    *n = (int64_t)count;
    BDML_GO(read_variable(h, f, v, &var));
    if (text && (var->rank != 2 || var->dims[0] != v->dims[0] || var->dims[1] != v->dims[1]))
        BDML_GO(fail_unusable(h, f->name, v));
    BDML_NEW(h, y, count); /* the file was checked to hold them */
    if (text)
        BDML_GO(labels_of_text(h, f, v, var, names, 0, y));
    else if (v->class == MAT_C_CELL)
        BDML_GO(labels_of_cells(h, f, v, var, names, count, y));
    else
        BDML_GO(labels_of_numbers(h, f, v, var, names, count, y));
    *label = y;
    y = NULL;
done:
    Mat_VarFree(var);
    free(y);
    return status;
}

/* ---- the source ------------------------------------------------------------------------------------------ */

/* Names and kinds for the choice; the file's nameless parts cannot be chosen. */
static bdml_status list_variables(bdml_handle *h, bdml_mat_file *f, bdml_variable **out)
{
    bdml_status status = BDML_OK;
    int kept = 0;
    BDML_NEW(h, *out, f->count);
    for (int i = 0; i < f->count; i++) {
        bdml_mat_variable *v = &f->variable[i];
        if (!v->name[0]) continue;
        f->variable[kept] = *v;
        kept++;
    }
    f->count = kept;
    for (int i = 0; i < kept; i++) {
        bdml_mat_variable *v = &f->variable[i];
        (*out)[i].name = v->name;
        (*out)[i].number = is_numeric(v) && !v->complex;
        (*out)[i].text = v->class == MAT_C_CHAR || v->class == MAT_C_CELL;
        (*out)[i].rank = v->rank;
        memcpy((*out)[i].dims, v->dims, sizeof v->dims);
    }
done:
    return status;
}

bdml_status bdml_mat_open(bdml_handle *h, const bdml_input_options *o, bdml_input *in,
                          bdml_source *s)
{
    bdml_status status = BDML_OK;
    bdml_mat_file f = {.name = bdml_input_name(in)};
    bdml_bytes bytes = bdml_bytes_of_input(in);
    bdml_variable *variable = NULL;
    bdml_matrix m = {0};
    int data, labels;
    int64_t label_count = 0;

    BDML_GO(bdml_bytes_read_all(h, &bytes, SIZE_MAX, &f.bytes, &f.size));
    BDML_GO(bdml_mat_scan(h, &f));
    BDML_GO(list_variables(h, &f, &variable));
    BDML_GO(bdml_choose_data(h, o, f.name, f.count, variable, &data));
    BDML_GO(bdml_choose_labels(h, o, f.name, f.count, variable, data, &labels));
    BDML_GO(read_data(h, &f, &f.variable[data], &m));
    if (labels >= 0) {
        BDML_GO(read_labels(h, &f, &f.variable[labels], &s->classes, &label_count, &m.label));
        BDML_GO(bdml_matrix_check_labels(h, &m, f.name, variable[data].name, variable[labels].name,
                                         label_count));
    }
    status = bdml_matrix_source(h, o, &m, s);
    m = (bdml_matrix){0}; /* taken over */
done:
    bdml_matrix_free(&m);
    bdml_mat_file_free(&f);
    free(variable);
    return status;
}
