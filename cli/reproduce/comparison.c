/* comparison.c - entrants side by side on sets: errors, the recipe against each on the same splits, what was chosen, and
 * what it cost. */
#include "entrants.h"

#include <stdlib.h>

enum { LEAST_SPLITS = 5 };

static const json_t *cell_of(rp_run *r, const rp_table *of, const json_t *cells, int at, int k)
{
    return rp_cell(of->study, r, cells, at * rp_entrant_count() + k);
}

static const json_t *result_of(rp_run *r, const rp_table *of, const json_t *cells, int at, int k)
{
    return json_array_get(json_object_get(cell_of(r, of, cells, at, k), "methods"), 0);
}

/* A first column and `each` for every set; second: the heading of the second of each. */
static void begin(cli_table *t, rp_run *r, const rp_table *of, const char *first,
                  const char *second)
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

static bool is_generated(rp_run *r, const rp_table *of, const json_t *cells)
{
    for (int i = 0; i < of->sets; i++)
        if (json_object_get(cell_of(r, of, cells, i, 0), "generated")) return true;
    return false;
}

/* "3.15 (0.75)", and [n] behind it where n splits were run and not all; or why there is none. */
static void error_cell(cli_table *t, const json_t *cell, bool cut)
{
    const json_t *result = json_array_get(json_object_get(cell, "methods"), 0);
    double mean = client_real(result, "error_mean"), deviation = client_real(result, "error_std");
    if (json_object_get(cell, "refused"))
        cli_cell(t, json_is_true(json_object_get(cell, "infeasible")) ? "infeasible" : "refused");
    else if (cut && !isnan(mean))
        cli_cell(t, "%.2f (%.2f) [%d]", mean, deviation,
                 (int)json_array_size(json_object_get(result, "errors")));
    else
        rp_cell_pair(t, "%.2f", mean, deviation);
}

static bdml_status print_errors(rp_run *r, const rp_table *of, const json_t *cells, FILE *f)
{
    cli_table t;
    bool any_cut = false;
    fputs("Mean test error in % (standard deviation over the splits); splits: ", f);
    for (int i = 0; i < of->sets; i++)
        fprintf(f, "%s%s %d", i ? ", " : "", rp_sets[of->set[i]].title,
                of->splits(r, of->set[i], rp_recipe()));
    begin(&t, r, of, "method", of->paper ? "paper" : NULL);
    for (int k = 0; k < rp_entrant_count(); k++) {
        rp_entrant e = rp_entrant_at(k);
        label_cell(&t, &e);
        for (int i = 0; i < of->sets; i++) {
            int s = of->set[i];
            bool cut = of->splits(r, s, k) < of->splits(r, s, rp_recipe());
            any_cut = any_cut || cut;
            error_cell(&t, cell_of(r, of, cells, i, k), cut);
            if (of->paper && e.error && !e.tuned)
                rp_cell_pair(&t, "%.2f", e.error[s], e.deviation[s]);
            else if (of->paper)
                cli_cell(&t, "-");
        }
    }
    if (any_cut)
        fputs("; [n]: the first n of them alone, because these fits take so long (`--splits` runs "
              "as many for all)",
              f);
    fputs(":\n\n", f);
    if (is_generated(r, of, cells))
        fputs("Waveform is not the file of UCI here but made by its recipe (`bdml generate "
              "waveform`).\n\n",
              f);
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

/* The recipe against one entrant on the splits that both have: difference (corrected standard error); marked where |t|
 * is large. */
static bdml_status difference_cell(rp_run *r, cli_table *t, const json_t *mine, const json_t *other)
{
    int all = (int)json_array_size(json_object_get(mine, "errors"));
    int others = (int)json_array_size(json_object_get(other, "errors")), n = MIN(all, others);
    if (n == 0) {
        cli_cell(t, "-");
        return BDML_OK;
    }
    double *v = client_alloc(r->c->h, (size_t)all + (size_t)others, sizeof *v);
    if (!v) return BDML_ERR_MEMORY;
    list_of(mine, "errors", v);
    list_of(other, "errors", v + all);
    bdml_paired p = bdml_compare_paired(n, v, v + all, 0.3 / 0.7);
    bool enough = n >= LEAST_SPLITS && p.error_corrected > 0.0; /* a few splits prove nothing */
    const char *mark = enough && p.p < 0.05 ? (p.difference < 0.0 ? " +" : " !") : "";
    if (n > 1)
        cli_cell(t, "%+.2f (%.2f)%s", p.difference, p.error_corrected, mark);
    else
        cli_cell(t, "%+.2f", p.difference);
    free(v);
    return BDML_OK;
}

static bdml_status print_differences(rp_run *r, const rp_table *of, const json_t *cells, FILE *f)
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
            TRY(difference_cell(r, &t, result_of(r, of, cells, i, rp_recipe()),
                                result_of(r, of, cells, i, k)));
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

static bdml_status print_choices(rp_run *r, const rp_table *of, const json_t *cells, FILE *f)
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
            const json_t *result = result_of(r, of, cells, i, k);
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
                cli_cell(&t, "%d of %d", ones, of->splits(r, of->set[i], k));
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

static bdml_status print_costs(rp_run *r, const rp_table *of, const json_t *cells, FILE *f)
{
    cli_table t;
    fputs("\nSeconds a fit takes on the clock, selection of parameters included, as many fits at a "
          "time as there are "
          "threads and beside whatever else the machine did, which was not the same for every row "
          "(processor time: docs/performance.md); and the condition number of M in the coordinates "
          "of the data, median over the splits, which is not the distortion that is capped:\n\n",
          f);
    begin(&t, r, of, "method", "cond.");
    for (int k = 0; k < rp_entrant_count(); k++) {
        rp_entrant e = rp_entrant_at(k);
        label_cell(&t, &e);
        for (int i = 0; i < of->sets; i++) {
            const json_t *result = result_of(r, of, cells, i, k);
            rp_cell_pair(&t, "%.2g", client_real(result, "fit_seconds"), NAN);
            TRY(condition_cell(r, &t, result));
        }
    }
    return cli_table_print(&t, f);
}

bdml_status rp_print_table(rp_run *r, const rp_table *of, const json_t *cells, FILE *f)
{
    TRY(print_errors(r, of, cells, f));
    TRY(print_differences(r, of, cells, f));
    TRY(print_choices(r, of, cells, f));
    return print_costs(r, of, cells, f);
}
