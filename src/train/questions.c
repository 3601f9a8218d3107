/* questions.c - what programs may ask before and after training. */
#include "train/path.h"

int bdml_reference_count(void)
{
    return BDML_REFERENCE_FILE; /* the last kind has no name of its own */
}

const char *bdml_reference_name(int i)
{
    return i >= 0 && i < bdml_reference_count() ? bdml_reference_names[i] : NULL;
}

bdml_status bdml_check_path(bdml_handle *h)
{
    return h ? bdml_path_check(h, &h->options) : BDML_ERR_ARGUMENT;
}

int64_t bdml_checkpoints_written(const bdml_handle *h)
{
    return h ? h->checkpoints : 0;
}
