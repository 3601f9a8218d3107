/* unseen.c - what learning does to classes that it has not seen: all sets, the methods that people use, caps, and what
 * task retrieve chooses. No part of the paper; its claim for the cap, where it is clearest. */
#include "unseen_sets.h"

#include <stdlib.h>

#include "report/report.h"

/* Columns of the tables: a method, or a cap of the grid. */
static const struct column {
    const char *title, *method;
    double K; /* NaN: none */
} columns[] = {{"whiten", "whiten", NAN}, {"LDA", "lda", NAN},       {"NCA", "nca", NAN},
               {"LMNN", "lmnn", NAN},     {"KISSME", "kissme", NAN}, {"ITML", "itml", NAN},
               {"K = 1e6", "bdml", 1e6},  {"K = 10", "bdml", 10},    {"chosen", "bdml", NAN}};
enum { COLUMNS = sizeof columns / sizeof *columns, CHOSEN = COLUMNS - 1, MOST_SETS = 32 };
static const char METHODS[] = "whiten,lda,nca,lmnn,kissme,itml,bdml";
static const char GRID[] = "1,3,10,30,100,1e3,1e4,1e6";
static const char *const scopes[] = {"unseen", "seen"};
static const char *const measures[] = {"recall_at_1", "map_at_r", "nmi"}; /* that are kept */
enum { RECALL, MAP, NMI, MEASURES };

enum { QUICK_ROWS = 500, QUICK_SPLITS = 2 };

static int splits_of(const rp_run *r, const unseen_set *s)
{
    if (bdml_is_given(r->c->h, "splits")) return (int)bdml_get_number(r->c->h, "splits");
    return r->quick ? QUICK_SPLITS : s->splits;
}

static int count(const rp_run *r)
{
    (void)r;
    return unseen_set_count();
}

static void key(const rp_run *r, int i, char *out, size_t size)
{
    const unseen_set *s = unseen_set_at(i);
    snprintf(out, size, "%s%s splits %d", s->name, r->quick ? " quick" : "", splits_of(r, s));
}

/* Cells go into the documentation: what no table or picture shows is left out. */
static void keep_measures(json_t *cell)
{
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(cell, "methods"), i, row)
    {
        for (int scope = 0; scope < 2; scope++) {
            json_t *all = json_object_get(row, scopes[scope]), *few = json_object();
            for (int m = 0; all && m < MEASURES; m++)
                json_object_set(few, measures[m], json_object_get(all, measures[m]));
            if (all)
                cli_put(row, scopes[scope], few);
            else
                json_decref(few);
        }
    }
}

static bdml_status prepare(rp_run *r, int i, bdml_handle *h, bdml_dataset **data)
{
    const unseen_set *s = unseen_set_at(i);
    char splits[16];
    snprintf(splits, sizeof splits, "%d", splits_of(r, s));
    TRY(unseen_set_read(h, s, r->quick ? QUICK_ROWS : 0, data));
    return rp_set(h, "methods", METHODS, "grid", GRID, "splits", splits, "cluster", "yes", NULL);
}

static bdml_status run(rp_run *r, int i, json_t **cell)
{
    const unseen_set *s = unseen_set_at(i);
    if (!unseen_set_is_here(s)) {
        *cell = rp_missing("%s is not here: %s in $BDML_DATA", s->name, s->path);
        return BDML_OK;
    }
    TRY(rp_run_cell(r, i, prepare, bdml_retrieve, cell));
    keep_measures(*cell);
    return BDML_OK;
}

/* ---- tables ---------------------------------------------------------------------------------------------------- */

/* The entrant of a cell: a method without a K, or method bdml at that K. */
static const json_t *entrant(const json_t *cell, const char *method, double K)
{
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(cell, "methods"), i, row)
    {
        double is = client_real(row, "distortion");
        bool same = isnan(K) ? isnan(is) : is == K;
        if (same && strcmp(client_string(row, "method"), method) == 0) return row;
    }
    return NULL;
}

/* One table: a measure of the classes trained on, or of the others. */
typedef struct view {
    const char *title;
    int scope, measure;
} view;
static const view views[] = {{"unseen classes", 0, RECALL},
                             {"seen classes", 1, RECALL},
                             {"groups, unseen classes", 0, NMI}};
enum { VIEWS = sizeof views / sizeof *views };

static const json_t *figure(const json_t *row, const view *v)
{
    return json_object_get(json_object_get(row, scopes[v->scope]), measures[v->measure]);
}

/* Mean over the sets that have the figure, and its standard error. */
static double mean_over(int n, const double *v, double *se, int *sets)
{
    double sum = 0.0, square = 0.0;
    int m = 0;
    for (int i = 0; i < n; i++)
        if (!isnan(v[i])) sum += v[i], m++;
    double mean = m > 0 ? sum / m : (double)NAN;
    for (int i = 0; i < n; i++)
        if (!isnan(v[i])) square += (v[i] - mean) * (v[i] - mean);
    *se = m > 1 ? sqrt(square / (m - 1) / m) : (double)NAN;
    *sets = m;
    return mean;
}

static void signed_cell(cli_table *t, double v, double se)
{
    if (isnan(v))
        cli_cell(t, "-");
    else if (isnan(se))
        cli_cell(t, "%+.2f", v);
    else
        cli_cell(t, "%+.2f (%.2f)", v, se);
}

/* How often the space was left as it is. */
static void kept_cell(cli_table *t, const json_t *cell)
{
    const json_t *list = json_object_get(entrant(cell, "bdml", NAN), "chosen_per_split");
    size_t i, kept = 0;
    json_t *c;
    json_array_foreach(list, i, c) kept +=
        strcmp(client_string(c, "reference"), "none") == 0 && client_real(c, "distortion") == 1.0;
    if (list)
        cli_cell(t, "%zu of %zu", kept, json_array_size(list));
    else
        cli_cell(t, "-");
}

/* The last lines: mean over the sets; and by how much the choice is ahead of each method, set by set. */
static void print_means(cli_table *t, int n, double v[COLUMNS][MOST_SETS])
{
    double se, ahead[MOST_SETS];
    int sets;
    cli_cell(t, "**mean over the sets**");
    cli_cell(t, "-");
    for (int c = 0; c < COLUMNS; c++) {
        double mean = mean_over(n, v[c], &se, &sets);
        signed_cell(t, mean, se);
    }
    cli_cell(t, "-");
    cli_cell(t, "chosen less this one");
    cli_cell(t, "-");
    for (int c = 0; c < COLUMNS; c++) {
        for (int i = 0; i < n; i++) ahead[i] = v[CHOSEN][i] - v[c][i];
        double mean = mean_over(n, ahead, &se, &sets);
        signed_cell(t, c == CHOSEN ? (double)NAN : mean, se);
    }
    cli_cell(t, "-");
}

/* Cells that were kept before a measure came in lack it. */
static bool has_view(const rp_run *r, const json_t *cells, const view *of)
{
    for (int i = 0; i < unseen_set_count(); i++)
        if (figure(entrant(rp_cell(&rp_unseen, r, cells, i), "euclidean", NAN), of)) return true;
    return false;
}

static bdml_status print_view(rp_run *r, const json_t *cells, const view *of, FILE *f)
{
    cli_table t;
    double v[COLUMNS][MOST_SETS];
    int n = 0;
    cli_table_init(&t, r->c->h, "lrrrrrrrrrrr");
    t.markdown = true;
    cli_cell(&t, "%s", of->title);
    cli_cell(&t, "as it is");
    for (int c = 0; c < COLUMNS; c++) cli_cell(&t, "%s", columns[c].title);
    cli_cell(&t, "kept");
    for (int i = 0; i < unseen_set_count() && n < MOST_SETS; i++) {
        const json_t *cell = rp_cell(&rp_unseen, r, cells, i);
        const json_t *as_is = figure(entrant(cell, "euclidean", NAN), of);
        if (!as_is) continue;
        cli_cell(&t, "%s", unseen_set_at(i)->name);
        cli_cell_real(&t, "%.2f", client_real(as_is, "mean"));
        for (int c = 0; c < COLUMNS; c++) {
            const json_t *row = entrant(cell, columns[c].method, columns[c].K);
            const json_t *versus = json_object_get(figure(row, of), "versus");
            v[c][n] = client_real(versus, "difference"); /* NaN where the method refused */
            signed_cell(&t, v[c][n], client_real(versus, "standard_error_corrected"));
        }
        kept_cell(&t, cell);
        n++;
    }
    print_means(&t, n, v);
    fprintf(f, "%s", of == views ? "" : "\n");
    return cli_table_print(&t, f);
}

static void print_sizes(rp_run *r, const json_t *cells, FILE *f)
{
    const char *before = "\nRows and dimensions, classes seen and unseen, rows learned from: ";
    for (int i = 0; i < unseen_set_count(); i++) {
        const json_t *cell = rp_cell(&rp_unseen, r, cells, i);
        if (!json_object_get(cell, "methods")) continue;
        fprintf(f, "%s%s %.0f x %.0f, %.0f + %.0f, %.0f", before, unseen_set_at(i)->name,
                client_real(cell, "points"), client_real(cell, "dimension"),
                client_real(cell, "seen_classes"), client_real(cell, "unseen_classes"),
                client_real(cell, "train_points"));
        before = "; ";
    }
    fputs(".\n", f);
}

static bdml_status print(rp_run *r, const json_t *cells, FILE *f)
{
    fputs("Recall@1 in %, and of groups by k-means, as many as classes, NMI in %; of the methods "
          "the difference to the space as it is and its corrected "
          "standard error over the splits, of the means the standard error over the sets; kept: "
          "splits in which the choice was the space as it is.\n\n",
          f);
    for (int k = 0; k < VIEWS; k++)
        if (has_view(r, cells, &views[k])) TRY(print_view(r, cells, &views[k], f));
    print_sizes(r, cells, f);
    return BDML_OK;
}

/* ---- picture ----------------------------------------------------------------------------------------------------- */

/* A figure as 'bdml retrieve' gives it, as means over the sets. K NaN: the space as it is. */
static json_t *mean_figure(rp_run *r, const json_t *cells, double K, int scope, const char *measure)
{
    double level[MOST_SETS], gain[MOST_SETS], se, none;
    int n = 0, sets;
    for (int i = 0; i < unseen_set_count() && n < MOST_SETS; i++) {
        const json_t *cell = rp_cell(&rp_unseen, r, cells, i);
        const json_t *row = entrant(cell, isnan(K) ? "euclidean" : "bdml", K);
        const json_t *f = json_object_get(json_object_get(row, scopes[scope]), measure);
        if (!f) continue;
        level[n] = client_real(f, "mean");
        gain[n++] = client_real(json_object_get(f, "versus"), "difference");
    }
    double mean = mean_over(n, level, &none, &sets);
    mean_over(n, gain, &se, &sets);
    return json_pack("{s:o, s:{s:o}}", "mean", cli_real(mean), "versus", "standard_error_corrected",
                     cli_real(se));
}

static json_t *mean_row(rp_run *r, const json_t *cells, double K)
{
    json_t *row = json_pack("{s:s, s:o}", "method", isnan(K) ? "euclidean" : "bdml", "distortion",
                            cli_real(K));
    for (int scope = 0; scope < 2; scope++) {
        json_t *all = json_object();
        for (int m = 0; m < MEASURES; m++)
            cli_put(all, measures[m], mean_figure(r, cells, K, scope, measures[m]));
        cli_put(row, scopes[scope], all);
    }
    return row;
}

/* The picture of 'bdml retrieve --grid', of the means over all sets; bars: standard errors over them. */
static bdml_status draw(rp_run *r, const json_t *cells, const char *path)
{
    json_t *list = json_array(), *mean = json_object();
    bool drawn = false;
    json_array_append_new(list, mean_row(r, cells, NAN));
    for (const char *p = GRID; *p; p += strcspn(p, ","), p += *p == ',')
        json_array_append_new(list, mean_row(r, cells, strtod(p, NULL)));
    cli_put(mean, "methods", list);
    cli_put(mean, "data", json_string("mean over the sets"));
    bdml_status status = study_figure_write(r->c->h, "unseen", mean, path, 0, &drawn);
    json_decref(mean);
    return cli_wrote(r->c, status);
}

const rp_study rp_unseen = {
    "unseen",
    "Classes that were not trained on",
    "`bdml retrieve` on all sets: 5 (MNIST, USPS, LFW, Debian) or 10 random splits of the classes "
    "(quick: 2, 500 rows), half of them unseen (of Segment's 7 three), 30 % of the rows of the "
    "others kept from training. Every row looks for its class among the rows of the unseen "
    "classes, and among those left out of the seen ones. As it is: Euclidean distance after the "
    "same preparation: MNIST, USPS and LFW (people with 8 to 60 images, SIFT at fixed points) by "
    "PCA to "
    "50, 50, 60 fitted on rows that take no part; Olivetti by PCA to 60, Office-Caltech's SURF "
    "histograms to unit length and PCA to 40 (DSLR 30), Segment z-scored, all three fitted on the "
    "training rows of each split. MNIST and USPS are capped at 4000 rows, Debian's package "
    "descriptions (debian_lsa) at 5000, evenly spaced in the file. Methods with their defaults; K "
    "= 10 and 1e6: method bdml relative to the space as it is; chosen: `--task retrieve`, whose "
    "constants were settled on these sets but for Debian's.",
    count,
    key,
    run,
    print,
    draw};
