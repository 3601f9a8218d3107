/* takes.c - which settings a method reads: for tools that offer each method its own settings and no others. */
#include "train/train.h"
#include "train/tuning.h"

#include <string.h>

/* A setting of single methods and their names, each with a space on either side. */
typedef struct takers {
    bdml_opt option;
    const char *methods;
} takers;

static const takers some[] = {
    {BDML_OPT_TARGETS, " lmnn boost scml "},
    {BDML_OPT_IMPOSTORS, " boost scml "},
    {BDML_OPT_ANCHORS, " boost scml "},
    {BDML_OPT_RULE, " boost scml "},
    {BDML_OPT_PASSES, " lmnn "},
    {BDML_OPT_GAP, " lmnn boost lsml scml nca mlkr itml mmc mmc-diagonal dml-eig ldml sdml sub-ml "
                   "sub-sml sub-itml "},
    {BDML_OPT_MAX_ITER, " lmnn boost lsml scml nca mlkr itml mmc mmc-diagonal dml-eig ldml sdml "
                        "sub-ml sub-sml sub-itml "},
    {BDML_OPT_TIME_LIMIT,
     " lmnn boost lsml scml nca mlkr itml mmc mmc-diagonal dml-eig ldml sdml sub-itml "},
    {BDML_OPT_SHRINKAGE, " whiten sub-ml sub-sml sub-itml csml "},
    {BDML_OPT_RIDGE, " lda lfda rca gmml scml "},
    {BDML_OPT_GMML_T, " gmml "},
    {BDML_OPT_COMPONENTS, " lda lfda rca nca lmnn mlkr "},
    {BDML_OPT_LFDA_NEIGHBORS, " lfda "},
    {BDML_OPT_BOOST_TRACE, " boost "},
    {BDML_OPT_BOOST_FORM, " boost "},
    {BDML_OPT_LMNN_PUSH, " lmnn "},
    {BDML_OPT_NCA_START, " nca "},
    {BDML_OPT_NCA_STEPS, " nca "},
    {BDML_OPT_RANDOM_PAIRS, " lsml kissme itml mmc mmc-diagonal dml-eig ldml sdml "},
    {BDML_OPT_ITML_GAMMA, " itml sub-itml "},
    {BDML_OPT_PRIOR, " itml sub-itml lsml sdml "},
    {BDML_OPT_ITML_PERCENTILE, " itml sub-itml "},
    {BDML_OPT_ITML_NEAR, " itml sub-itml "},
    {BDML_OPT_ITML_FAR, " itml sub-itml "},
    {BDML_OPT_LDML_PENALTY, " ldml "},
    {BDML_OPT_MMC_SPREAD, " mmc mmc-diagonal "},
    {BDML_OPT_SCML_DIRECTIONS, " scml "},
    {BDML_OPT_SCML_SPARSITY, " scml "},
    {BDML_OPT_SCML_EPOCHS, " scml "},
    {BDML_OPT_SDML_BALANCE, " sdml "},
    {BDML_OPT_SDML_SPARSITY, " sdml "},
    {BDML_OPT_SUBSPACE, " sub-ml sub-sml sub-itml csml gfk sgf "},
    {BDML_OPT_CLOSENESS, " sub-ml sub-sml csml "},
    {BDML_OPT_FLOW_STEPS, " sgf "},
    {BDML_OPT_MMDT_SOURCE, " mmdt "},
    {BDML_OPT_MMDT_TARGET, " mmdt "},
    {BDML_OPT_MMDT_TURNS, " mmdt "},
};
enum { SOME = sizeof some / sizeof *some };

static bool is_group(int option, const char *group)
{
    return strcmp(bdml_option_at(option)->group, group) == 0;
}

/* Preparation, votes and what the handle works with are the same for all. */
static bool is_everyones(int option)
{
    return is_group(option, "general") || is_group(option, "prepare") ||
           is_group(option, "neighbors") || option == BDML_OPT_MISSING ||
           option == BDML_OPT_KEEP_POINTS;
}

static bool is_of_bdml(int option)
{
    return is_group(option, "constraints") || is_group(option, "train") ||
           option == BDML_OPT_SHRINKAGE || option == BDML_OPT_PAIR_SCORE;
}

static bool is_listed(const char *method, int option)
{
    char name[64];
    snprintf(name, sizeof name, " %s ", method);
    for (int i = 0; i < SOME; i++)
        if ((int)some[i].option == option) return strstr(some[i].methods, name) != NULL;
    return false;
}

int bdml_method_takes(int method, int option)
{
    const bdml_method *m = bdml_method_at(method);
    if (!m || !bdml_option_at(option) || option == BDML_OPT_METHOD) return 0;
    if (is_everyones(option)) return 1;
    if (option == BDML_OPT_TUNE) return bdml_tuning_for(m->name) != NULL;
    return strcmp(m->name, "bdml") == 0 ? is_of_bdml(option) : is_listed(m->name, option);
}
