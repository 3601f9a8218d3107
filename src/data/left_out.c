/* left_out.c - what stands in the place of formats that this build was made without. */
#include "data/data.h"

#if !defined(BDML_HAVE_MATIO) || !defined(BDML_HAVE_ZIP)
static bdml_status refuse(bdml_handle *h, const char *path, const char *format, const char *option)
{
    return bdml_fail(h, BDML_ERR_FORMAT,
                     "%.500s: this bdml was built without %s files; build it with "
                     "cmake -D%s=ON to have them",
                     path, format, option);
}
#endif

#ifndef BDML_HAVE_MATIO
bdml_status bdml_mat_open(bdml_handle *h, const bdml_input_options *o, bdml_input *in,
                          bdml_source *s)
{
    (void)o, (void)s;
    return refuse(h, bdml_input_name(in), "MAT", "BDML_WITH_MATIO");
}

bdml_status bdml_mat_lists_read(bdml_handle *h, const char *path, const char *variable,
                                const char *field, bdml_row_lists *out)
{
    (void)variable, (void)field;
    *out = (bdml_row_lists){0};
    return refuse(h, path, "MAT", "BDML_WITH_MATIO");
}
#endif

#ifndef BDML_HAVE_ZIP
bdml_status bdml_npz_open(bdml_handle *h, const bdml_input_options *o, bdml_input *in,
                          bdml_source *s)
{
    (void)o, (void)s;
    return refuse(h, bdml_input_name(in), "NPZ", "BDML_WITH_ZIP");
}
#endif
