/* methods.c - the table of methods: a new method is one row here and one file beside its kin. */
#include "train/fit.h"

static const bdml_method methods[] = {
    {"bdml",
     "bounded distortion, certified: soft triplets with K chosen by cross-validation, or the "
     "problem that the settings state",
     bdml_fit_bdml},
    {"euclidean", "the plain Euclidean distance of the prepared points", bdml_fit_euclidean},
    {"whiten", "inverse of the shrunk within-class covariance (total covariance without labels)",
     bdml_fit_whiten},
};
enum { METHODS = sizeof methods / sizeof *methods };

int bdml_method_count(void)
{
    return METHODS;
}

const char *bdml_method_name(int i)
{
    return i >= 0 && i < METHODS ? methods[i].name : NULL;
}

const char *bdml_method_help(int i)
{
    return i >= 0 && i < METHODS ? methods[i].help : NULL;
}

const bdml_method *bdml_method_find(bdml_handle *h, const char *name, size_t length)
{
    char list[512] = "";
    for (int i = 0; i < METHODS; i++) {
        if (strlen(methods[i].name) == length && memcmp(methods[i].name, name, length) == 0)
            return &methods[i];
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", methods[i].name);
    }
    bdml_fail(h, BDML_ERR_ARGUMENT, "there is no method '%.*s'; the methods are: %s",
              (int)BDML_MIN(length, (size_t)100), name, list);
    return NULL;
}
