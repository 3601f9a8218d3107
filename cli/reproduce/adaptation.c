/* adaptation.c - the paper's tables on domain adaptation: Office-Caltech, twelve tasks, unsupervised and
 * semi-supervised, over the 20 fixed splits. */
#include "reproduce.h"

#include <stdlib.h>
#include <unistd.h>

#include "tables.h"

/* Cells, each over all tasks, unsupervised and then semi-supervised: the other methods; Euclidean in the features as
 * the paper has them; method bdml after PCA; and with the map Q learned too. */
enum { OTHERS, ORIGINAL, FULL, LOW_RANK, PARTS, CELLS = 2 * STUDY_ADAPT_TASKS };
static const char *const parts[PARTS] = {"", " original", " bdml 30 x 30", " bdml 30 x 800"};

/* Methods run, beside their names in the paper; those of the paper that need labels in the target domain
 * are left out of the unsupervised table. */
static const char *const unsupervised[] = {"original", "euclidean", "sgf", "gfk",
                                           "lmnn",     "dml-eig",   "bdml"};
static const char *const supervised[] = {"original", "euclidean", "itml", "sgf", "gfk",
                                         "lmnn",     "dml-eig",   "mmdt", "bdml"};

static const char *const *methods_of(bool semi, int *count)
{
    *count = semi ? (int)(sizeof supervised / sizeof *supervised)
                  : (int)(sizeof unsupervised / sizeof *unsupervised);
    return semi ? supervised : unsupervised;
}

static int trials_of(const rp_run *r)
{
    return r->quick ? 2 : 20;
}

static int count(const rp_run *r)
{
    (void)r;
    return PARTS * CELLS;
}

static bool is_semi(int i)
{
    return i % CELLS >= STUDY_ADAPT_TASKS;
}

static void key(const rp_run *r, int i, char *out, size_t size)
{
    snprintf(out, size, "%s%s%s splits %d", study_adapt_task(i % STUDY_ADAPT_TASKS),
             is_semi(i) ? " semi" : "", parts[i / CELLS], trials_of(r));
}

/* "a,b,c" of the methods of the table, but for method bdml, that the library has. */
static void list_others(bool semi, char *out, size_t size)
{
    int n;
    const char *const *name = methods_of(semi, &n);
    out[0] = '\0';
    for (int k = 0; k < n - 1; k++) {
        bool there = false;
        for (int i = 0; bdml_method_name(i); i++)
            there = there || strcmp(bdml_method_name(i), name[k]) == 0;
        size_t used = strlen(out);
        if (there) snprintf(out + used, size - used, "%s%s", used ? "," : "", name[k]);
    }
}

/* Original: shares of the histograms, columns z-scored over all rows of each domain. */
static bdml_status set_part(bdml_handle *h, int part, bool semi)
{
    char list[256];
    switch (part) {
    case OTHERS:
        list_others(semi, list, sizeof list);
        return bdml_set(h, "methods", list);
    case ORIGINAL:
        return rp_set(h, "methods", "euclidean", "rows", "sum", "column-scale-of", "all",
                      "dimensions", "0", "unit", "no", NULL);
    case LOW_RANK:
        TRY(rp_set(h, "rank", "30", "dimensions", "0", NULL)); /* fall through */
    default:
        return bdml_set(h, "methods", "bdml");
    }
}

static bdml_status run(rp_run *r, int i, json_t **cell)
{
    bdml_status status = BDML_OK;
    bdml_handle *h = NULL;
    char *text = NULL, folder[RP_PATH];

    if (!rp_data("office_caltech10_surf", folder)) {
        *cell = rp_missing(
            "the Office-Caltech features are not here: office_caltech10_surf in $BDML_DATA");
        return BDML_OK;
    }
    GO(rp_handle(r, &h));
    GO(rp_set_real(h, "trials", trials_of(r)));
    GO(set_part(h, i / CELLS, is_semi(i)));
    GO(study_adapt_cell(h, folder, study_adapt_task(i % STUDY_ADAPT_TASKS), is_semi(i), &text));
    status = rp_take(r, text, cell);
done:
    if (status != BDML_OK && h && bdml_last_error(h)[0]) rp_failed(r, h, status);
    bdml_free(h);
    return status;
}

/* ---- tables ------------------------------------------------------------------------------------------------- */

/* The paper's figure, NaN where it has none. */
static study_adapt_figure printed(const char *task, bool semi, const char *method)
{
    study_adapt_figure f;
    for (int m = 0; m < STUDY_ADAPT_FIGURES; m++)
        if (study_adapt_printed(task, semi, m, &f) && strcmp(f.method, method) == 0) return f;
    return (study_adapt_figure){.accuracy = NAN, .error = NAN};
}

/* Tasks in which a form of method bdml is at or above the paper's t-BDML, to the digit that the paper prints. */
typedef struct tally {
    int won, run;
} tally;

static void judge(double ours, double paper, tally *t)
{
    if (isnan(ours) || isnan(paper)) return;
    t->run++;
    t->won += round(10.0 * ours) >= round(10.0 * paper);
}

/* A figure of ours and, where there is one to be had, the paper's. */
static void figure_cells(rp_run *r, const json_t *cells, int task, bool semi, const char *name,
                         cli_table *t, tally won[PARTS])
{
    int at = task + (semi ? STUDY_ADAPT_TASKS : 0);
    study_adapt_figure p = printed(study_adapt_task(task), semi, name);
    bool bdml = strcmp(name, "bdml") == 0, original = strcmp(name, "original") == 0;
    int first = bdml ? FULL : original ? ORIGINAL : OTHERS, last = bdml ? LOW_RANK : first;
    for (int part = first; part <= last; part++) {
        const json_t *cell = rp_cell(&rp_adaptation, r, cells, part * CELLS + at);
        const json_t *m = rp_method(cell, original ? "euclidean" : name);
        double ours = client_real(m, "accuracy_mean");
        rp_cell_pair(t, "%.1f", ours, client_real(m, "accuracy_se"));
        if (bdml) judge(ours, p.accuracy, &won[part]);
    }
    if (strcmp(name, "euclidean") != 0) rp_cell_pair(t, "%.1f", p.accuracy, p.error);
}

static bdml_status print_half(rp_run *r, const json_t *cells, bool semi, tally won[PARTS], FILE *f)
{
    static const char wide[] = "lrrrrrrrrrrrrrrrrrr", narrow[] = "lrrrrrrrrrrrrrr";
    cli_table t;
    int n;
    const char *const *name = methods_of(semi, &n);
    cli_table_init(&t, r->c->h, semi ? wide : narrow);
    t.markdown = true;
    cli_cell(&t, "%s", semi ? "semi-supervised" : "unsupervised");
    for (int k = 0; k < n; k++) {
        bool bdml = strcmp(name[k], "bdml") == 0;
        cli_cell(&t, "%s", bdml ? "**t-BDML 30 x 30**" : name[k]);
        if (bdml) cli_cell(&t, "**30 x 800**");
        if (strcmp(name[k], "euclidean") != 0) cli_cell(&t, "paper");
    }
    for (int i = 0; i < STUDY_ADAPT_TASKS; i++) {
        const char *task = study_adapt_task(i);
        cli_cell(&t, "%c → %c", task[0], task[1]);
        for (int k = 0; k < n; k++) figure_cells(r, cells, i, semi, name[k], &t, won);
    }
    return cli_table_print(&t, f);
}

static bdml_status print(rp_run *r, const json_t *cells, FILE *f)
{
    tally won[PARTS] = {0};
    fputs("Mean accuracy in % (standard error over the splits), 1-NN:\n\n", f);
    TRY(print_half(r, cells, false, won, f));
    fputs("\n", f);
    TRY(print_half(r, cells, true, won, f));
    fprintf(f,
            "\nAt or above the paper's t-BDML: 30 x 30 in %d of %d tasks, 30 x 800 in %d of %d.\n",
            won[FULL].won, won[FULL].run, won[LOW_RANK].won, won[LOW_RANK].run);
    return BDML_OK;
}

const rp_study rp_adaptation = {
    "adaptation",
    "Domain adaptation",
    "Office-Caltech, SURF histograms, the 20 fixed splits (quick: 2), 1-NN. Unsupervised: trained "
    "on the "
    "split's source rows, tested on all target rows; semi-supervised: 3 labelled target rows a "
    "class are "
    "added, tested on the others. original: Euclidean on shares, each column z-scored over its "
    "whole "
    "domain (`--rows sum --column-scale-of all --dimensions 0 --unit=no`), which comes closest to "
    "the "
    "paper's OrigFeat; all the others, "
    "Euclidean included, in the prepared space. t-BDML 30 x 30: the full metric after PCA to 30; "
    "30 x "
    "800: the paper's pseudo-metric, its map Q learned too (`--rank 30 --dimensions 0`). "
    "Preparation and choices: docs/adaptation.md.",
    count,
    key,
    run,
    print,
    NULL};
