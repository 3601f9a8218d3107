/* pending.c - stands in for formats that are not there yet. */
#include "data/data.h"

#define PENDING __attribute__((weak)) bdml_status

PENDING bdml_npy_open(bdml_handle *h, bdml_input *in, bdml_source *s)
{
    (void)in, (void)s;
    return bdml_fail(h, BDML_ERR_FORMAT, "NPY cannot be read yet");
}
PENDING bdml_npz_open(bdml_handle *h, bdml_input *in, bdml_source *s)
{
    (void)in, (void)s;
    return bdml_fail(h, BDML_ERR_FORMAT, "NPZ cannot be read yet");
}
PENDING bdml_mat_open(bdml_handle *h, bdml_input *in, bdml_source *s)
{
    (void)in, (void)s;
    return bdml_fail(h, BDML_ERR_FORMAT, "MAT cannot be read yet");
}
PENDING bdml_idx_open(bdml_handle *h, bdml_input *in, bdml_source *s)
{
    (void)in, (void)s;
    return bdml_fail(h, BDML_ERR_FORMAT, "IDX cannot be read yet");
}
PENDING bdml_write_npy(bdml_handle *h, const bdml_dataset *data, const char *path)
{
    (void)data, (void)path;
    return bdml_fail(h, BDML_ERR_FORMAT, "NPY cannot be written yet");
}
