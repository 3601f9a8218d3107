/* write.c - data sets to files, by the ending of the name. */
#include "data/data.h"

static bdml_status write_by_name(bdml_handle *h, const bdml_write_options *o,
                                 const bdml_dataset *data, const char *path)
{
    if (strcmp(path, "-") == 0 || bdml_ends_in(path, ".csv"))
        return bdml_write_csv(h, o, data, ',', path);
    if (bdml_ends_in(path, ".tsv") || bdml_ends_in(path, ".tab"))
        return bdml_write_csv(h, o, data, '\t', path);
    if (bdml_ends_in(path, ".svm") || bdml_ends_in(path, ".svmlight") ||
        bdml_ends_in(path, ".libsvm"))
        return bdml_write_svmlight(h, data, path);
    if (bdml_ends_in(path, ".npy")) return bdml_write_npy(h, data, path);
    return bdml_fail(h, BDML_ERR_ARGUMENT,
                     "%s: the format is told by the ending of the name, which must be .csv, .tsv, "
                     ".svm, .svmlight, .libsvm or .npy",
                     path);
}

bdml_status bdml_write_dataset(bdml_handle *h, const bdml_dataset *data, const char *path)
{
    if (!h) return BDML_ERR_ARGUMENT;
    if (!data || !path) return bdml_fail(h, BDML_ERR_ARGUMENT, "data and path must not be NULL");
    BDML_TRY(bdml_dataset_widen(h, data));
    bdml_phase previous = bdml_phase_enter(h, BDML_PHASE_WRITE);
    bdml_status status = write_by_name(h, &h->options.write, data, path);
    bdml_phase_leave(h, previous);
    return status;
}
