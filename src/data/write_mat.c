/* write_mat.c - one matrix as a MAT v5 file, by matio. */
#include "data/data.h"

#include <matio.h>
#include <stdlib.h>

/* The text at the head of the file is ours: matio's own has the date in it, and the same matrix shall
 * give the same bytes. */
static bool write_variable(const char *path, const char *name, size_t dims[2], double *columns)
{
    mat_t *mat = Mat_CreateVer(path, "MATLAB 5.0 MAT-file, written by bdml", MAT_FT_MAT5);
    if (!mat) return false;
    matvar_t *var =
        Mat_VarCreate(name, MAT_C_DOUBLE, MAT_T_DOUBLE, 2, dims, columns, MAT_F_DONT_COPY_DATA);
    bool ok = var && Mat_VarWrite(mat, var, MAT_COMPRESSION_NONE) == 0;
    Mat_VarFree(var);
    return Mat_Close(mat) == 0 && ok;
}

/* matio opens the file by its name: it writes into the temporary file, which then takes its place. */
bdml_status bdml_write_mat_matrix(bdml_handle *h, const char *path, const char *name, int64_t rows,
                                  int64_t columns, const double *x)
{
    bdml_status status = BDML_OK;
    bdml_file *f = NULL;
    size_t dims[2] = {(size_t)rows, (size_t)columns};
    double *transposed = NULL;

    BDML_NEW(h, transposed, dims[0] * dims[1]);
    for (size_t i = 0; i < dims[0]; i++)
        for (size_t j = 0; j < dims[1]; j++) transposed[j * dims[0] + i] = x[i * dims[1] + j];
    BDML_GO(bdml_file_create(h, path, &f));
    BDML_GO(bdml_file_write(h, f, NULL, 0)); /* where an injected fault strikes */
    if (!bdml_file_path(f) || !write_variable(bdml_file_path(f), name, dims, transposed))
        BDML_GO(bdml_fail(h, BDML_ERR_IO, "%.500s: writing the MAT file failed", path));
    status = bdml_file_commit(h, f);
    f = NULL;
done:
    bdml_file_discard(f);
    free(transposed);
    return status;
}
