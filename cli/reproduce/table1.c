/* table1.c - the paper's Table 1: 3-NN test error on five UCI sets over random 70/30 splits, every method of
 * the library on the same splits; and the small sets over many more of them. */
#include "entrants.h"

/* ---- cells ------------------------------------------------------------------------------------------------- */

/* Entrant by entrant inside a set. */
static void cell_key(int s, int k, int splits, char *out, size_t size)
{
    snprintf(out, size, "%s %s splits %d", rp_sets[s].name, rp_entrant_at(k).name, splits);
}

static bdml_status set_cell(int s, int k, int splits, bdml_handle *h, bdml_dataset **data)
{
    rp_entrant e = rp_entrant_at(k);
    TRY(rp_set_real(h, "splits", splits));
    TRY(rp_enter(h, &e, &rp_sets[s]));
    return rp_read_set(h, s, data);
}

static bdml_status run_cell(rp_run *r, int i, int s, rp_prepare *prepare, json_t **cell)
{
    TRY(rp_run_cell(r, i, prepare, bdml_evaluate, cell));
    if (rp_set_is_generated(s)) json_object_set_new(*cell, "generated", json_true());
    return BDML_OK;
}

/* ---- the two studies ---------------------------------------------------------------------------------------- */

/* As many as --splits says, else `full`, or `few` where a fit takes minutes. */
static int splits_or(const rp_run *r, bool costly, int full, int few)
{
    if (bdml_is_given(r->c->h, "splits")) return (int)bdml_get_number(r->c->h, "splits");
    return costly ? few : full;
}

static int table1_splits(const rp_run *r, int s, int k)
{
    bool waveform = strcmp(rp_sets[s].name, "waveform") == 0;
    if (r->quick) return waveform ? 1 : 2;
    return splits_or(r, rp_sets[s].large && rp_entrant_at(k).costly, 10, 3);
}
static int table1_count(const rp_run *r)
{
    (void)r;
    return RP_SETS * rp_entrant_count();
}
static void table1_key(const rp_run *r, int i, char *out, size_t size)
{
    int s = i / rp_entrant_count(), k = i % rp_entrant_count();
    cell_key(s, k, table1_splits(r, s, k), out, size);
}
static bdml_status table1_prepare(rp_run *r, int i, bdml_handle *h, bdml_dataset **data)
{
    int s = i / rp_entrant_count(), k = i % rp_entrant_count();
    return set_cell(s, k, table1_splits(r, s, k), h, data);
}
static bdml_status table1_run(rp_run *r, int i, json_t **cell)
{
    return run_cell(r, i, i / rp_entrant_count(), table1_prepare, cell);
}
static bdml_status table1_print(rp_run *r, const json_t *cells, FILE *f)
{
    static const int all[RP_SETS] = {0, 1, 2, 3, 4};
    const rp_table of = {&rp_table1, RP_SETS, all, table1_splits, true};
    return rp_print_table(r, &of, cells, f);
}

static const int small_sets[] = {0, 1};
enum { SMALL = sizeof small_sets / sizeof *small_sets };

static int small_splits(const rp_run *r, int s, int k)
{
    (void)s;
    return r->quick ? 3 : splits_or(r, rp_entrant_at(k).costly, 100, 30);
}
static int small_count(const rp_run *r)
{
    (void)r;
    return SMALL * rp_entrant_count();
}
static void small_key(const rp_run *r, int i, char *out, size_t size)
{
    int s = small_sets[i / rp_entrant_count()], k = i % rp_entrant_count();
    cell_key(s, k, small_splits(r, s, k), out, size);
}
static bdml_status small_prepare(rp_run *r, int i, bdml_handle *h, bdml_dataset **data)
{
    int s = small_sets[i / rp_entrant_count()], k = i % rp_entrant_count();
    return set_cell(s, k, small_splits(r, s, k), h, data);
}
static bdml_status small_run(rp_run *r, int i, json_t **cell)
{
    return run_cell(r, i, small_sets[i / rp_entrant_count()], small_prepare, cell);
}
static bdml_status small_print(rp_run *r, const json_t *cells, FILE *f)
{
    const rp_table of = {&rp_small, SMALL, small_sets, small_splits, false};
    return rp_print_table(r, &of, cells, f);
}

const rp_study rp_table1 = {
    "table1",
    "Table 1: classification on UCI sets",
    "3-NN, random splits into 70 % training and 30 % test rows, 10 splits (quick: 2, Waveform 1), "
    "seed 0; "
    "every method on the same splits, everything chosen inside the training rows. Wine is "
    "z-scored, the "
    "others raw, which fits the paper's Euclidean row best; mmc, Xing's method, is without the "
    "spread that "
    "method mmc adds of its own (tuned: spread chosen). The splits are not the paper's, so its "
    "column "
    "is a mark to look at, not a paired comparison. p-BDML and t-BDML are the paper's problem on "
    "the "
    "points as they are (`--recipe paper`), cap and softness by cross-validation, by the certified "
    "engine; by the paper's solver: `--solver mwu --literal --hard`, cap 10, trace ten times the "
    "dimension, infeasible where that is proven of a split. Reference alone: what the recipe does "
    "with the "
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
