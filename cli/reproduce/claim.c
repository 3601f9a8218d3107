/* claim.c - the paper's claim itself: does a cap on the distortion help, everything else equal?
 *
 * On every set the paper's problem with the cap fixed at each K, and with K by cross-validation inside the training
 * rows; and the recipe beside its reference alone. Differences are paired on the same splits. */
#include "reproduce.h"

#include <stdlib.h>

/* ---- sets: four bundled, and those that can be generated, few rows and many ------------------------------------- */

enum { BUNDLED = 4, SIZES = 2, MOST_SETS = 64 };
static const char *const bundled[BUNDLED] = {"wine", "iris", "diabetes", "segment"};
static const int sizes[SIZES] = {200, 800};

static int set_count(void)
{
    int n = BUNDLED + SIZES * bdml_generator_count();
    return n < MOST_SETS ? n : MOST_SETS;
}

static void set_name(int s, char *out, size_t size)
{
    if (s < BUNDLED)
        snprintf(out, size, "%s", bundled[s]);
    else
        snprintf(out, size, "%s %d", bdml_generator_name((s - BUNDLED) / SIZES),
                 sizes[(s - BUNDLED) % SIZES]);
}

/* Of those generated 70 % are learned from, and they have as many rows as that takes. */
static bdml_status read_set(bdml_handle *h, int s, bdml_dataset **out)
{
    char path[64];
    if (s >= BUNDLED)
        return bdml_generate(h, bdml_generator_name((s - BUNDLED) / SIZES),
                             sizes[(s - BUNDLED) % SIZES] * 10 / 7, out);
    snprintf(path, sizeof path, "data/%s.csv", bundled[s]);
    return bdml_read_dataset(h, path, out);
}

/* ---- forms ------------------------------------------------------------------------------------------------------ */

enum { CAPS = 8, CHOSEN = CAPS, REFERENCE, RECIPE, FORMS, NO_CAP = CAPS - 1 };
static const char *const caps[CAPS] = {"1", "3", "10", "30", "100", "1000", "1e4", "1e5"};

static void form_name(int form, char *out, size_t size)
{
    static const char *const names[] = {"K chosen", "reference", "recipe"};
    if (form < CAPS)
        snprintf(out, size, "K %s", caps[form]);
    else
        snprintf(out, size, "%s", names[form - CAPS]);
}

static bdml_status set_form(bdml_handle *h, int form)
{
    if (form == RECIPE) return BDML_OK;
    if (form == REFERENCE) return bdml_set(h, "distortion", "1");
    TRY(bdml_set(h, "recipe", "paper"));
    return form < CAPS ? bdml_set(h, "distortion", caps[form]) : BDML_OK;
}

/* ---- cells ------------------------------------------------------------------------------------------------------ */

static int splits_of(const rp_run *r)
{
    return r->quick ? 2 : 10;
}

static int count(const rp_run *r)
{
    return (r->quick ? BUNDLED : set_count()) * FORMS;
}

static void key(const rp_run *r, int i, char *out, size_t size)
{
    char set[64], form[64];
    set_name(i / FORMS, set, sizeof set);
    form_name(i % FORMS, form, sizeof form);
    snprintf(out, size, "%s, %s, splits %d", set, form, splits_of(r));
}

static bdml_status prepare(rp_run *r, int i, bdml_handle *h, bdml_dataset **data)
{
    TRY(rp_set_real(h, "splits", splits_of(r)));
    TRY(bdml_set(h, "scale", "zscore"));
    TRY(set_form(h, i % FORMS));
    return read_set(h, i / FORMS, data);
}

static bdml_status run(rp_run *r, int i, json_t **cell)
{
    return rp_run_cell(r, i, prepare, bdml_evaluate, cell);
}

static const json_t *result_of(rp_run *r, const json_t *cells, int set, int form)
{
    const json_t *cell = rp_cell(&rp_claim, r, cells, set * FORMS + form);
    return json_array_get(json_object_get(cell, "methods"), 0);
}

/* ---- differences ------------------------------------------------------------------------------------------------ */

/* The error of `form` less that of `other` on one set; false: not there. */
static bool compare(rp_run *r, const json_t *cells, int set, int form, int other, bdml_paired *p)
{
    enum { MOST = 64 };
    double a[MOST], b[MOST];
    const json_t *x = json_object_get(result_of(r, cells, set, form), "errors");
    const json_t *y = json_object_get(result_of(r, cells, set, other), "errors");
    size_t n = json_array_size(x);
    if (n == 0 || n > MOST || n != json_array_size(y)) return false;
    for (size_t k = 0; k < n; k++) {
        a[k] = json_number_value(json_array_get(x, k));
        b[k] = json_number_value(json_array_get(y, k));
    }
    *p = bdml_compare_paired((int)n, a, b, 0.3 / 0.7);
    return true;
}

typedef struct account {
    int sets, better, worse, clearly_better,
        clearly_worse;  /* clearly: by two corrected standard errors */
    double mean, error; /* over the sets, each one observation */
} account;

static account sum_up(rp_run *r, const json_t *cells, int form, int other)
{
    account a = {0};
    double sum = 0.0, square = 0.0;
    for (int s = 0; s < count(r) / FORMS; s++) {
        bdml_paired p;
        if (!compare(r, cells, s, form, other, &p)) continue;
        a.sets++;
        sum += p.difference;
        square += p.difference * p.difference;
        a.better += p.difference < 0.0;
        a.worse += p.difference > 0.0;
        a.clearly_better += p.difference < -2.0 * p.error_corrected;
        a.clearly_worse += p.difference > 2.0 * p.error_corrected;
    }
    if (a.sets == 0) return a;
    a.mean = sum / a.sets;
    if (a.sets > 1) a.error = sqrt((square - sum * a.mean) / (a.sets - 1.0) / a.sets);
    return a;
}

static void say(FILE *f, const char *what, const account *a)
{
    fprintf(
        f,
        "- %s: %+.2f points (standard error over %d sets %.2f); better on %d, worse on %d; beyond "
        "two corrected standard errors better on %d, worse on %d.\n",
        what, a->mean, a->sets, a->error, a->better, a->worse, a->clearly_better, a->clearly_worse);
}

static void difference_cell(rp_run *r, const json_t *cells, int set, int form, int other,
                            cli_table *t)
{
    bdml_paired p;
    if (compare(r, cells, set, form, other, &p))
        cli_cell(t, "%+.2f (%.2f)", p.difference, p.error_corrected);
    else
        cli_cell(t, "-");
}

static bdml_status print(rp_run *r, const json_t *cells, FILE *f)
{
    static const char *const headings[] = {"set",          "K = 1",
                                           "K chosen",     "K = 1e5",
                                           "reference",    "recipe",
                                           "chosen - 1e5", "recipe - reference"};
    static const int shown[] = {0, CHOSEN, NO_CAP, REFERENCE, RECIPE};
    cli_table t;
    account cap = sum_up(r, cells, CHOSEN, NO_CAP), recipe = sum_up(r, cells, RECIPE, REFERENCE);

    say(f, "The paper's problem with K chosen against the same at K = 1e5", &cap);
    say(f, "The recipe against its reference alone", &recipe);
    fputs("\nTest error in %; differences with their corrected standard errors:\n\n", f);
    cli_table_init(&t, r->c->h, "lrrrrrrr");
    t.markdown = true;
    for (size_t k = 0; k < sizeof headings / sizeof *headings; k++) cli_cell(&t, "%s", headings[k]);
    for (int s = 0; s < count(r) / FORMS; s++) {
        char name[64];
        set_name(s, name, sizeof name);
        cli_cell(&t, "%s", name);
        for (size_t k = 0; k < sizeof shown / sizeof *shown; k++)
            cli_cell_real(&t, "%.2f", client_real(result_of(r, cells, s, shown[k]), "error_mean"));
        difference_cell(r, cells, s, CHOSEN, NO_CAP, &t);
        difference_cell(r, cells, s, RECIPE, REFERENCE, &t);
    }
    TRY(cli_table_print(&t, f));
    fputs("\nMean over the sets of the error less that at K = 1e5, in points (standard error):\n\n",
          f);
    cli_table_init(&t, r->c->h, "rr");
    t.markdown = true;
    cli_cell(&t, "K");
    cli_cell(&t, "difference");
    for (int k = 0; k < NO_CAP; k++) {
        account a = sum_up(r, cells, k, NO_CAP);
        cli_cell(&t, "%s", caps[k]);
        cli_cell(&t, "%+.2f (%.2f)", a.mean, a.error);
    }
    return cli_table_print(&t, f);
}

/* ---- picture: error against K, mean over sets --------------------------------------------------------------------- */

/* Mean error over the sets from `first` on, in steps. */
static double mean_error(rp_run *r, const json_t *cells, int first, int last, int step, int form)
{
    double sum = 0.0;
    int n = 0;
    for (int s = first; s < last && s < count(r) / FORMS; s += step) {
        double e = client_real(result_of(r, cells, s, form), "error_mean");
        if (isnan(e)) continue;
        sum += e;
        n++;
    }
    return n > 0 ? sum / n : NAN;
}

static bdml_status draw(rp_run *r, const json_t *cells, const char *path)
{
    static const char *const names[] = {"bundled sets", "generated, 200 rows",
                                        "generated, 800 rows"};
    enum { CURVES = 3 };
    double x[CAPS], y[CURVES * CAPS];
    for (int k = 0; k < CAPS; k++) {
        x[k] = log10(strtod(caps[k], NULL));
        y[k] = mean_error(r, cells, 0, BUNDLED, 1, k);
        y[CAPS + k] = mean_error(r, cells, BUNDLED, set_count(), SIZES, k);
        y[2 * CAPS + k] = mean_error(r, cells, BUNDLED + 1, set_count(), SIZES, k);
    }
    cli_curves plot = {.title = "Test error against the cap, mean over sets",
                       .x_label = "log10 K",
                       .y_label = "3-NN error, %",
                       .series = r->quick ? 1 : CURVES,
                       .points = CAPS,
                       .name = names,
                       .x = x,
                       .y = y};
    return cli_curves_write(r->c, &plot, path);
}

const rp_study rp_claim = {
    "claim",
    "The claim: a cap on the distortion helps",
    "3-NN, z-scored, 10 random 70/30 splits (quick: 2, the bundled sets alone), seed 0. The "
    "paper's "
    "problem (`--recipe paper`, triplets, softness by cross-validation) at fixed caps and with K "
    "by "
    "cross-validation inside the training rows, all else equal; and the recipe beside the same "
    "with "
    "K = 1, its reference alone. Sets: four bundled, and those of `bdml generate` with 200 and 800 "
    "training rows.",
    count,
    key,
    run,
    print,
    draw};
