/* adaptation.c - the paper's tables of domain adaptation as data, and a task of theirs run on the files of
 * Office-Caltech: the SURF histograms of Gong et al. (2012) with the splits of Hoffman et al. (2013). */
#include "tables.h"

#include <stdlib.h>

/* ---- the paper's figures ----------------------------------------------------------------------------- */

/* Names of columns, ours and the paper's, in the order of adaptation.def. */
static const struct {
    const char *method, *printed;
} unsupervised[] = {{"original", "OrigFeat"}, {"sgf", "SGF"},         {"gfk", "GFK(PCA)"},
                    {"lmnn", "LMNN"},         {"dml-eig", "DML-eig"}, {"bdml", "t-BDML"}},
  semi_supervised[] = {{"original", "OrigFeat"}, {"itml", "ITML"},  {"sgf", "SGF"},
                       {"gfk", "GFK(PCA)"},      {"lmnn", "LMNN"},  {"dml-eig", "DML-eig"},
                       {"mmdt", "MMDT"},         {"bdml", "t-BDML"}};
enum {
    UNSUPERVISED_FIGURES = sizeof unsupervised / sizeof *unsupervised,
    SEMI_FIGURES = sizeof semi_supervised / sizeof *semi_supervised
};

typedef struct row {
    const char *task;
    double figure[STUDY_ADAPT_FIGURES][2];
} row;

#define F(accuracy, error) \
    {                      \
        accuracy, error    \
    }
static const row unsupervised_rows[] = {
#define UNSUPERVISED(task, ...) {#task, {__VA_ARGS__}},
#define SEMI(task, ...)
#include "adaptation.def"
#undef UNSUPERVISED
#undef SEMI
};
static const row semi_rows[] = {
#define UNSUPERVISED(task, ...)
#define SEMI(task, ...) {#task, {__VA_ARGS__}},
#include "adaptation.def"
#undef UNSUPERVISED
#undef SEMI
};
#undef F

const char *study_adapt_task(int i)
{
    return i >= 0 && i < STUDY_ADAPT_TASKS ? unsupervised_rows[i].task : NULL;
}

bool study_adapt_printed(const char *task, bool semi, int m, study_adapt_figure *out)
{
    const row *rows = semi ? semi_rows : unsupervised_rows;
    if (m < 0 || m >= (semi ? SEMI_FIGURES : UNSUPERVISED_FIGURES)) return false;
    for (int i = 0; i < STUDY_ADAPT_TASKS; i++) {
        if (strcmp(rows[i].task, task) != 0) continue;
        *out = (study_adapt_figure){semi ? semi_supervised[m].method : unsupervised[m].method,
                                    semi ? semi_supervised[m].printed : unsupervised[m].printed,
                                    rows[i].figure[m][0], rows[i].figure[m][1]};
        return true;
    }
    return false;
}

/* ---- a cell ------------------------------------------------------------------------------------------- */

/* Names in the files of the histograms and of the splits. */
static const struct {
    char letter;
    const char *data, *split;
} domains[] = {{'A', "amazon", "amazon"},
               {'C', "Caltech10", "caltech"},
               {'D', "dslr", "dslr"},
               {'W', "webcam", "webcam"}};

static int domain_of(char letter)
{
    for (int k = 0; k < 4; k++)
        if (domains[k].letter == letter) return k;
    return -1;
}

static bdml_status read_domain(bdml_handle *h, const char *folder, int k, bdml_dataset **out)
{
    size_t room = strlen(folder) + 64;
    char *path = client_alloc(h, room, 1);
    if (!path) return BDML_ERR_MEMORY;
    snprintf(path, room, "%s/%s_SURF_L10.mat", folder, domains[k].data);
    bdml_status status = bdml_read_dataset(h, path, out);
    free(path);
    return status;
}

static bdml_status name_splits(bdml_handle *h, const char *folder, int s, int t)
{
    size_t room = strlen(folder) + 128;
    char *path = client_alloc(h, room, 1);
    if (!path) return BDML_ERR_MEMORY;
    snprintf(path, room, "%s/splits/SameCategory_%s-%s_20RandomTrials_10Categories.mat", folder,
             domains[s].split, domains[t].split);
    bdml_status status = bdml_set(h, "splits-file", path);
    free(path);
    return status;
}

bdml_status study_adapt_cell(bdml_handle *h, const char *folder, const char *task, bool semi,
                             char **json)
{
    bdml_status status = BDML_OK;
    bdml_dataset *source = NULL, *target = NULL;
    int s = task[0] ? domain_of(task[0]) : -1, t = s >= 0 ? domain_of(task[1]) : -1;

    *json = NULL;
    if (s < 0 || t < 0 || s == t || task[2])
        return client_fail(h, BDML_ERR_ARGUMENT,
                           "'%s' is no task: two different letters of A, C, D and W", task);
    GO(read_domain(h, folder, s, &source));
    GO(read_domain(h, folder, t, &target));
    GO(name_splits(h, folder, s, t));
    GO(bdml_set(h, "semi", semi ? "yes" : "no"));
    status = bdml_adapt(h, source, target, json);
done:
    bdml_free_dataset(source);
    bdml_free_dataset(target);
    return status;
}
