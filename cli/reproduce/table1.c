/* table1.c - the paper's Table 1: 3-NN test error on five UCI sets over random 70/30 splits, every method of
 * the library on the same splits; and the small sets over many more of them. */
#include "entrants.h"

#include <stdlib.h>

enum { LEAST_SPLITS = 5 };

/* ---- cells ------------------------------------------------------------------------------------------------- */

/* Entrant by entrant inside a set. */
static void cell_key(int s, int k, int splits, char *out, size_t size)
{
    snprintf(out, size, "%s %s splits %d", rp_sets[s].name, rp_entrant_at(k).name, splits);
}

static bdml_status run_cell(rp_run *r, int s, int k, int splits, json_t **cell)
{
    bdml_status status = BDML_OK;
    bdml_handle *h = NULL;
    bdml_dataset *data = NULL;
    rp_entrant e = rp_entrant_at(k);
    char *text = NULL, number[16];
    bool generated;

    snprintf(number, sizeof number, "%d", splits);
    GO(rp_handle(r, &h));
    GO(rp_set(h, "splits", number, NULL));
    GO(rp_enter(h, &e, &rp_sets[s]));
    GO(rp_read_set(h, s, &data, &generated));
    status = bdml_evaluate(h, data, &text);
    if (status == BDML_ERR_DATA || status == BDML_ERR_LAPACK || status == BDML_ERR_INFEASIBLE) {
        *cell = rp_missing("%s on %s: %s", e.name, rp_sets[s].title, bdml_last_error(h));
        if (status == BDML_ERR_INFEASIBLE) json_object_set_new(*cell, "infeasible", json_true());
        status = BDML_OK; /* refused: the others go on */
        goto done;
    }
    GO(status);
    GO(rp_take(r, text, cell));
    if (generated) json_object_set_new(*cell, "generated", json_true());
done:
    if (status != BDML_OK && h && bdml_last_error(h)[0]) rp_failed(r, h, status);
    bdml_free_dataset(data);
    bdml_free(h);
    return status;
}

static const json_t *cell_of(const json_t *cells, int s, int k, int splits)
{
    char key[RP_KEY];
    cell_key(s, k, splits, key, sizeof key);
    return json_object_get(cells, key);
}

static const json_t *result_of(const json_t *cells, int s, int k, int splits)
{
    return json_array_get(json_object_get(cell_of(cells, s, k, splits), "methods"), 0);
}

/* ---- tables ------------------------------------------------------------------------------------------------ */

typedef struct table {
    int sets;
    const int *set;
    int splits[RP_SETS]; /* by position in `set` */
    bool paper;          /* the paper's figures beside ours */
} table;

/* A first column and `each` for every set; second: the heading of the second of each. */
static void begin(cli_table *t, rp_run *r, const table *of, const char *first, const char *second)
{
    static const char aligns[] = "lrrrrrrrrrr"; /* up to ten beside the first */
    static const char *const shorter[] = {"l", "lr", "lrr", "lrrr", "lrrrr", "lrrrrr"};
    int columns = of->sets * (second ? 2 : 1);
    cli_table_init(t, r->c->h, columns <= RP_SETS ? shorter[columns] : aligns);
    t->markdown = true;
    cli_cell(t, "%s", first);
    for (int i = 0; i < of->sets; i++) {
        cli_cell(t, "%s", rp_sets[of->set[i]].title);
        if (second) cli_cell(t, "%s", second);
    }
}

static void label_cell(cli_table *t, const rp_entrant *e)
{
    const char *bold = e->ours ? "**" : "";
    cli_cell(t, "%s%s%s", bold, e->name, bold);
}

static bool is_generated(const json_t *cells, const table *of)
{
    for (int i = 0; i < of->sets; i++)
        if (json_object_get(cell_of(cells, of->set[i], 0, of->splits[i]), "generated")) return true;
    return false;
}

static bdml_status print_errors(rp_run *r, const table *of, const json_t *cells, FILE *f)
{
    cli_table t;
    fputs("Mean test error in % (standard deviation over the splits); splits: ", f);
    for (int i = 0; i < of->sets; i++)
        fprintf(f, "%s%s %d", i ? ", " : "", rp_sets[of->set[i]].title, of->splits[i]);
    fputs(":\n\n", f);
    if (is_generated(cells, of))
        fputs("Waveform is not the file of UCI here but made by its recipe (`bdml generate "
              "waveform`).\n\n",
              f);
    begin(&t, r, of, "method", of->paper ? "paper" : NULL);
    for (int k = 0; k < rp_entrant_count(); k++) {
        rp_entrant e = rp_entrant_at(k);
        label_cell(&t, &e);
        for (int i = 0; i < of->sets; i++) {
            int s = of->set[i];
            const json_t *result = result_of(cells, s, k, of->splits[i]);
            if (json_object_get(cell_of(cells, s, k, of->splits[i]), "infeasible"))
                cli_cell(&t, "infeasible");
            else
                rp_cell_pair(&t, "%.2f", client_real(result, "error_mean"),
                             client_real(result, "error_std"));
            if (of->paper && e.error && !e.tuned)
                rp_cell_pair(&t, "%.2f", e.error[s], e.deviation[s]);
            else if (of->paper)
                cli_cell(&t, "-");
        }
    }
    return cli_table_print(&t, f);
}

static int list_of(const json_t *result, const char *what, double *v)
{
    size_t i, n = 0;
    json_t *e;
    json_array_foreach(json_object_get(result, what), i, e) v[n++] =
        json_is_number(e) ? json_number_value(e) : INFINITY;
    return (int)n;
}

/* The recipe against one entrant: difference (corrected standard error); marked where |t| is large. */
static bdml_status difference_cell(rp_run *r, cli_table *t, const json_t *mine, const json_t *other)
{
    int n = (int)json_array_size(json_object_get(mine, "errors"));
    int m = (int)json_array_size(json_object_get(other, "errors"));
    if (n == 0 || n != m) {
        cli_cell(t, "-");
        return BDML_OK;
    }
    double *v = client_alloc(r->c->h, 2 * (size_t)n, sizeof *v);
    if (!v) return BDML_ERR_MEMORY;
    list_of(mine, "errors", v);
    list_of(other, "errors", v + n);
    bdml_paired p = bdml_compare_paired(n, v, v + n, 0.3 / 0.7);
    bool enough = n >= LEAST_SPLITS && p.error_corrected > 0.0; /* a few splits prove nothing */
    const char *mark = enough && p.p < 0.05 ? (p.difference < 0.0 ? " +" : " !") : "";
    if (n > 1)
        cli_cell(t, "%+.2f (%.2f)%s", p.difference, p.error_corrected, mark);
    else
        cli_cell(t, "%+.2f", p.difference);
    free(v);
    return BDML_OK;
}

static bdml_status print_differences(rp_run *r, const table *of, const json_t *cells, FILE *f)
{
    cli_table t;
    fputs(
        "\nThe recipe minus each entrant on the same splits, in points, with the standard error "
        "corrected for "
        "splits that share rows (Nadeau and Bengio 2003). Below 0: the recipe errs less; + that is "
        "significant at 5 %, ! the other is better and that is:\n\n",
        f);
    begin(&t, r, of, "the recipe minus", NULL);
    for (int k = 0; k < rp_entrant_count(); k++) {
        rp_entrant e = rp_entrant_at(k);
        if (k == rp_recipe()) continue;
        label_cell(&t, &e);
        for (int i = 0; i < of->sets; i++) {
            int s = of->set[i];
            TRY(difference_cell(r, &t, result_of(cells, s, rp_recipe(), of->splits[i]),
                                result_of(cells, s, k, of->splits[i])));
        }
    }
    return cli_table_print(&t, f);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* "fisher 6, within 4": the references of the splits, most frequent first. */
static void list_references(const json_t *chosen, char *out, size_t size)
{
    json_t *left = json_deep_copy(json_object_get(chosen, "reference"));
    out[0] = '\0';
    while (json_object_size(left) > 0) {
        const char *name, *most = NULL;
        json_t *count;
        json_int_t best = 0;
        json_object_foreach(left, name, count) if (json_integer_value(count) > best)
        {
            best = json_integer_value(count);
            most = name;
        }
        if (!most) break;
        size_t used = strlen(out);
        snprintf(out + used, size - used, "%s%s %d", used ? ", " : "", most, (int)best);
        json_object_del(left, most);
    }
    json_decref(left);
}

/* Median of the caps of the splits; *ones: how many are 1. NaN: none was chosen. */
static double median_cap(const json_t *result, int *ones)
{
    enum { MOST = 1000 };
    double v[MOST];
    int n = 0;
    size_t i;
    json_t *split;
    *ones = 0;
    json_array_foreach(json_object_get(result, "chosen_per_split"), i, split)
    {
        double cap = client_real(split, "distortion");
        if (isnan(cap) || n == MOST) continue;
        *ones += cap == 1.0;
        v[n++] = cap;
    }
    if (n == 0) return NAN;
    qsort(v, (size_t)n, sizeof *v, by_size);
    return n % 2 ? v[n / 2] : sqrt(v[n / 2 - 1] * v[n / 2]);
}

static bdml_status print_choices(rp_run *r, const table *of, const json_t *cells, FILE *f)
{
    cli_table t;
    fputs(
        "\nWhat the forms of method bdml chose: median cap K on the distortion, which is relative "
        "to the reference; splits with K = 1, where the metric is the reference itself; references "
        "and their splits:\n\n",
        f);
    cli_table_init(&t, r->c->h, "llrrl");
    t.markdown = true;
    static const char *const headings[] = {"entrant", "set", "median K", "K = 1", "references"};
    for (size_t k = 0; k < sizeof headings / sizeof *headings; k++) cli_cell(&t, "%s", headings[k]);
    for (int k = 0; k < rp_entrant_count(); k++) {
        rp_entrant e = rp_entrant_at(k);
        for (int i = 0; e.ours && i < of->sets; i++) {
            const json_t *result = result_of(cells, of->set[i], k, of->splits[i]);
            char references[160];
            int ones;
            double cap = median_cap(result, &ones);
            if (!json_object_get(result, "chosen_per_split")) continue;
            list_references(json_object_get(result, "chosen"), references, sizeof references);
            if (isnan(cap) && !references[0]) continue;
            label_cell(&t, &e);
            cli_cell(&t, "%s", rp_sets[of->set[i]].title);
            cli_cell_real(&t, "%.3g", cap);
            if (isnan(cap))
                cli_cell(&t, "-");
            else
                cli_cell(&t, "%d of %d", ones, of->splits[i]);
            cli_cell(&t, "%s", references[0] ? references : "-");
        }
    }
    return cli_table_print(&t, f);
}

/* Median condition number over the splits. */
static bdml_status condition_cell(rp_run *r, cli_table *t, const json_t *result)
{
    int n = (int)json_array_size(json_object_get(result, "kappas"));
    if (n == 0) {
        cli_cell(t, "-");
        return BDML_OK;
    }
    double *v = client_alloc(r->c->h, (size_t)n, sizeof *v);
    if (!v) return BDML_ERR_MEMORY;
    list_of(result, "kappas", v);
    qsort(v, (size_t)n, sizeof *v, by_size);
    if (isinf(v[n / 2]))
        cli_cell(t, "singular");
    else
        cli_cell(t, "%.2g", v[n / 2]);
    free(v);
    return BDML_OK;
}

static bdml_status print_costs(rp_run *r, const table *of, const json_t *cells, FILE *f)
{
    cli_table t;
    fputs("\nSeconds a fit takes on the clock, selection of parameters included, as many fits at a "
          "time as there are "
          "threads and beside whatever else the machine did; and the condition number of M in the "
          "coordinates of the data, median over the splits, which is not the distortion that is "
          "capped:\n\n",
          f);
    begin(&t, r, of, "method", "cond.");
    for (int k = 0; k < rp_entrant_count(); k++) {
        rp_entrant e = rp_entrant_at(k);
        label_cell(&t, &e);
        for (int i = 0; i < of->sets; i++) {
            const json_t *result = result_of(cells, of->set[i], k, of->splits[i]);
            rp_cell_pair(&t, "%.2g", client_real(result, "fit_seconds"), NAN);
            TRY(condition_cell(r, &t, result));
        }
    }
    return cli_table_print(&t, f);
}

static bdml_status print_table(rp_run *r, const table *of, const json_t *cells, FILE *f)
{
    TRY(print_errors(r, of, cells, f));
    TRY(print_differences(r, of, cells, f));
    TRY(print_choices(r, of, cells, f));
    return print_costs(r, of, cells, f);
}

/* ---- the two studies ---------------------------------------------------------------------------------------- */

static const int all_sets[RP_SETS] = {0, 1, 2, 3, 4};
static const int small_sets[] = {0, 1};
enum { SMALL = sizeof small_sets / sizeof *small_sets };

static int table1_splits(const rp_run *r, int s)
{
    if (!r->quick) return 10;
    return strcmp(rp_sets[s].name, "waveform") == 0 ? 1 : 2;
}
static int table1_count(const rp_run *r)
{
    (void)r;
    return RP_SETS * rp_entrant_count();
}
static void table1_key(const rp_run *r, int i, char *out, size_t size)
{
    int s = i / rp_entrant_count();
    cell_key(s, i % rp_entrant_count(), table1_splits(r, s), out, size);
}
static bdml_status table1_run(rp_run *r, int i, json_t **cell)
{
    int s = i / rp_entrant_count();
    return run_cell(r, s, i % rp_entrant_count(), table1_splits(r, s), cell);
}
static bdml_status table1_print(rp_run *r, const json_t *cells, FILE *f)
{
    table of = {.sets = RP_SETS, .set = all_sets, .paper = true};
    for (int s = 0; s < RP_SETS; s++) of.splits[s] = table1_splits(r, s);
    return print_table(r, &of, cells, f);
}

static int small_splits(const rp_run *r)
{
    return r->quick ? 3 : 100;
}
static int small_count(const rp_run *r)
{
    (void)r;
    return SMALL * rp_entrant_count();
}
static void small_key(const rp_run *r, int i, char *out, size_t size)
{
    cell_key(small_sets[i / rp_entrant_count()], i % rp_entrant_count(), small_splits(r), out,
             size);
}
static bdml_status small_run(rp_run *r, int i, json_t **cell)
{
    return run_cell(r, small_sets[i / rp_entrant_count()], i % rp_entrant_count(), small_splits(r),
                    cell);
}
static bdml_status small_print(rp_run *r, const json_t *cells, FILE *f)
{
    table of = {.sets = SMALL, .set = small_sets};
    for (int s = 0; s < SMALL; s++) of.splits[s] = small_splits(r);
    return print_table(r, &of, cells, f);
}

const rp_study rp_table1 = {
    "table1",
    "Table 1: classification on UCI sets",
    "3-NN, random splits into 70 % training and 30 % test rows, 10 splits (quick: 2, Waveform 1), "
    "seed 0; "
    "every method on the same splits, everything chosen inside the training rows. Wine is "
    "z-scored, the "
    "others raw, which fits the paper's Euclidean row best. The splits are not the paper's, so its "
    "column "
    "is a mark to look at, not a paired comparison. p-BDML and t-BDML are the paper's problem on "
    "the "
    "points as they are (`--recipe paper`), cap and softness by cross-validation, by the certified "
    "engine; by the paper's solver: `--solver mwu --literal --hard`, cap 10, trace ten times the "
    "dimension, infeasible where that is proven. Reference alone: what the recipe does with the "
    "cap "
    "at 1. The recipe: method bdml with nothing said (docs/recipe.md); its first constants were "
    "settled while looking at these sets. Tuned: scale and main parameter chosen by "
    "cross-validation "
    "inside the training rows (`--scale auto --tune`).",
    table1_count,
    table1_key,
    table1_run,
    table1_print,
    NULL};
const rp_study rp_small = {
    "small",
    "The small sets over many splits",
    "Wine and Iris with 100 splits (quick: 3): ten are few for sets of this size.",
    small_count,
    small_key,
    small_run,
    small_print,
    NULL};
