/* export.c - L, M or the inverse of L for other programs: NPY, CSV, MAT v5. */
#include "model/model.h"

#include <stdlib.h>
#include <strings.h>

/* A matrix to be written, rows one after the other. */
typedef struct matrix {
    const char *name; /* "L", "M" or "inverse" */
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

/* ---- choice ------------------------------------------------------------------------------------------- */

static bdml_status write_matrix(bdml_handle *h, const char *path, const matrix *m)
{
    if (bdml_ends_in(path, ".npy"))
        return bdml_write_npy_matrix(h, path, m->rows, m->columns, m->x);
    if (bdml_ends_in(path, ".mat"))
        return bdml_write_mat_matrix(h, path, m->name, m->rows, m->columns, m->x);
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
    bool metric = strcmp(what, "M") == 0, inverse = strcmp(what, "inverse") == 0;
    if (!metric && !inverse && strcmp(what, "L") != 0)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "what is exported must be L, M or inverse, got '%.50s'", what);
    matrix m = {.name = what, .rows = metric || inverse ? model->d : model->q, .columns = model->d};
    bdml_phase previous = bdml_phase_enter(h, BDML_PHASE_WRITE);
    bdml_status status = BDML_ERR_MEMORY;
    m.x = bdml_alloc(h, (size_t)m.rows * (size_t)m.columns, sizeof *m.x);
    if (m.x)
        status = metric    ? bdml_model_get_metric(h, model, m.x)
                 : inverse ? bdml_model_get_inverse(h, model, m.x)
                           : bdml_model_get_map(h, model, m.x);
    if (status == BDML_OK) status = write_matrix(h, path, &m);
    free(m.x);
    bdml_phase_leave(h, previous);
    return status;
}
