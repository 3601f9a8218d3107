/* tuning.c - the main parameter of each method, and what is tried for it (setting tune). */
#include "train/tuning.h"

#include <string.h>

/* The default stands first: of equals it is taken. A method that is not here has no such parameter, or chooses
 * it by itself (bdml, gmml). */
static const bdml_tuning table[] = {
    {"whiten", BDML_OPT_SHRINKAGE, 4, {0.1, 0.01, 0.3, 0.7}},
    {"lda", BDML_OPT_RIDGE, 4, {1e-6, 1e-3, 1e-2, 1e-1}},
    {"lfda", BDML_OPT_LFDA_NEIGHBORS, 4, {7, 3, 15, 31}},
    {"rca", BDML_OPT_RIDGE, 4, {1e-6, 1e-3, 1e-2, 1e-1}},
    {"lmnn", BDML_OPT_LMNN_PUSH, 4, {0.5, 0.1, 0.9, 0.99}},
    {"boost", BDML_OPT_BOOST_TRACE, 4, {1e-2, 1e-4, 1e-3, 1e-1}},
    {"nca", BDML_OPT_NCA_STEPS, 4, {50, 3, 10, 200}}, /* few steps stay near the start */
    {"itml", BDML_OPT_ITML_GAMMA, 4, {1, 0.01, 0.1, 10}},
    {"mmc", BDML_OPT_MMC_SPREAD, 4, {0.1, 0, 0.01, 0.5}},
    {"mmc-diagonal", BDML_OPT_MMC_SPREAD, 4, {0.1, 0, 0.01, 0.5}},
    {"ldml", BDML_OPT_LDML_PENALTY, 4, {1e-2, 1e-4, 1e-3, 1e-1}},
};

const bdml_tuning *bdml_tuning_for(const char *method)
{
    for (size_t k = 0; k < sizeof table / sizeof *table; k++)
        if (strcmp(table[k].method, method) == 0) return &table[k];
    return NULL;
}

const bdml_tuning *bdml_tuning_asked(const bdml_options *o, const char *method)
{
    const bdml_tuning *t = o->train.tune.value ? bdml_tuning_for(method) : NULL;
    return t && !bdml_options_given(o, t->option) ? t : NULL;
}
