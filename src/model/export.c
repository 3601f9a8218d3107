/* export.c - L or M for other programs: NPY, CSV, MAT v5. */
#include "model/model.h"

#include <matio.h>
#include <stdlib.h>
#include <strings.h>

/* A matrix to be written, rows one after the other. */
typedef struct matrix {
    const char *name; /* "L" or "M" */
    int rows, columns;
    double *x;
} matrix;

/* ---- CSV ------------------------------------------------------------------------------------------- */

/* No header line; each number reads back to the same double. */
static bdml_status write_csv(bdml_handle *h, const char *path, const matrix *m)
{
    bdml_status status = BDML_OK;
    bdml_file *f = NULL;
    char text[BDML_NUMBER_SIZE + 1];

    BDML_GO(bdml_file_create(h, path, &f));
    for (int i = 0; i < m->rows; i++)
        for (int j = 0; j < m->columns; j++) {
            double v = m->x[(size_t)i * (size_t)m->columns + (size_t)j];
            int n = bdml_format_double(h->c_locale, v, text);
            text[n] = j + 1 < m->columns ? ',' : '\n';
            BDML_GO(bdml_file_write(h, f, text, (size_t)n + 1));
        }
    status = bdml_file_commit(h, f);
    f = NULL;
done:
    bdml_file_discard(f);
    return status;
}

/* ---- MAT ------------------------------------------------------------------------------------------- */

/* The variable in a MAT v5 file at `path`. The text at the head of the file is ours: matio's own has
 * the date in it, and the same model shall give the same bytes. */
static bool write_variable(const char *path, const matrix *m, double *columns)
{
    size_t dims[2] = {(size_t)m->rows, (size_t)m->columns};
    mat_t *mat = Mat_CreateVer(path, "MATLAB 5.0 MAT-file, written by bdml", MAT_FT_MAT5);
    if (!mat) return false;
    matvar_t *var =
        Mat_VarCreate(m->name, MAT_C_DOUBLE, MAT_T_DOUBLE, 2, dims, columns, MAT_F_DONT_COPY_DATA);
    bool ok = var && Mat_VarWrite(mat, var, MAT_COMPRESSION_NONE) == 0;
    Mat_VarFree(var);
    return Mat_Close(mat) == 0 && ok;
}

/* matio opens the file by its name: it writes into the temporary file, which then takes its place. */
static bdml_status write_mat(bdml_handle *h, const char *path, const matrix *m)
{
    bdml_status status = BDML_OK;
    bdml_file *f = NULL;
    size_t rows = (size_t)m->rows, columns = (size_t)m->columns;
    double *transposed = NULL;

    BDML_NEW(h, transposed, rows * columns);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) transposed[j * rows + i] = m->x[i * columns + j];
    BDML_GO(bdml_file_create(h, path, &f));
    BDML_GO(bdml_file_write(h, f, NULL, 0)); /* where an injected fault strikes */
    if (!bdml_file_path(f) || !write_variable(bdml_file_path(f), m, transposed)) {
        status = bdml_fail(h, BDML_ERR_IO, "%.500s: writing the MAT file failed", path);
        goto done;
    }
    status = bdml_file_commit(h, f);
    f = NULL;
done:
    bdml_file_discard(f);
    free(transposed);
    return status;
}

/* ---- choice ------------------------------------------------------------------------------------------- */

static bdml_status write_matrix(bdml_handle *h, const char *path, const matrix *m)
{
    if (bdml_ends_in(path, ".npy"))
        return bdml_write_npy_matrix(h, path, m->rows, m->columns, m->x);
    if (bdml_ends_in(path, ".mat")) return write_mat(h, path, m);
    if (bdml_ends_in(path, ".csv") || strcmp(path, "-") == 0) return write_csv(h, path, m);
    return bdml_fail(h, BDML_ERR_ARGUMENT, "%.500s: the name must end in .npy, .csv or .mat", path);
}

bdml_status bdml_export_model(bdml_handle *h, const bdml_model *model, const char *what,
                              const char *path)
{
    if (!h) return BDML_ERR_ARGUMENT;
    if (!model || !what || !path)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "bdml_export_model: model, what and path must not be NULL");
    bool metric = strcmp(what, "M") == 0;
    if (!metric && strcmp(what, "L") != 0)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "what is exported must be L or M, got '%.50s'",
                         what);
    matrix m = {.name = metric ? "M" : "L",
                .rows = metric ? model->d : model->q,
                .columns = model->d};
    bdml_phase previous = bdml_phase_enter(h, BDML_PHASE_WRITE);
    bdml_status status = BDML_ERR_MEMORY;
    m.x = bdml_alloc(h, (size_t)m.rows * (size_t)m.columns, sizeof *m.x);
    if (m.x)
        status = metric ? bdml_model_get_metric(h, model, m.x) : bdml_model_get_map(h, model, m.x);
    if (status == BDML_OK) status = write_matrix(h, path, &m);
    free(m.x);
    bdml_phase_leave(h, previous);
    return status;
}
