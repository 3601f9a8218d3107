/* entrants.c - the rows of Table 1 here: rivals at their defaults and tuned, and the forms of method bdml apart, each
 * under the name of what it is. */
#include "entrants.h"

const rp_set_row rp_sets[RP_SETS] = {
    {"wine", "Wine", "data/wine.csv", "zscore", "130", true, false},
    {"iris", "Iris", "data/iris.csv", "none", "40", true, false},
    {"diabetes", "Diabetes", "data/diabetes.csv", "none", "80", true, false},
    {"waveform", "Waveform", "uci/waveform.csv", "none", "210", false, true},
    {"segment", "Segment", "data/segment.csv", "none", "190", true, true}};

bool rp_set_is_generated(int set)
{
    char path[RP_PATH];
    return !rp_sets[set].bundled && !rp_data(rp_sets[set].path, path);
}

bdml_status rp_read_set(bdml_handle *h, int set, bdml_dataset **out)
{
    char path[RP_PATH];
    const rp_set_row *s = &rp_sets[set];
    if (rp_set_is_generated(set)) return bdml_generate(h, "waveform", 5000, out);
    return bdml_read_dataset(h, s->bundled ? s->path : rp_data(s->path, path), out);
}

/* ---- rivals ------------------------------------------------------------------------------------------------- */

/* Those of the paper, with its figures. Xing's method is taken as its authors state it, without the spread that
 * method mmc adds by default. */
static const struct rival {
    const char *method;
    const char *setting[3];
    double error[RP_SETS], deviation[RP_SETS];
} rivals[] = {
    {"euclidean", {NULL}, {3.46, 5.11, 31.09, 18.87, 5.61}, {3.60, 2.58, 2.03, 0.65, 0.92}},
    {"mmc", {"mmc-spread", "0"}, {4.04, 6.67, 32.09, 16.43, 5.26}, {4.00, 3.11, 3.56, 1.00, 0.60}},
    {"lmnn", {NULL}, {3.08, 4.22, 29.70, 18.61, 3.69}, {2.07, 1.95, 3.20, 0.72, 0.70}},
    {"itml", {NULL}, {1.15, 4.44, 29.96, 15.94, 5.02}, {2.07, 2.57, 2.97, 0.83, 0.70}},
    {"boost", {NULL}, {2.31, 3.56, 26.78, 16.86, 4.21}, {2.18, 2.52, 2.12, 0.90, 0.48}},
};
enum { RIVALS = sizeof rivals / sizeof *rivals };

/* The k-th method of the library that classifies and is not in the paper's table, or NULL. */
static const char *other_method(int k)
{
    for (int i = 0; i < bdml_method_count(); i++) {
        const char *name = bdml_method_name(i);
        int uses = bdml_method_uses(i);
        bool listed =
            !(uses & BDML_USES_LABELS) || (uses & BDML_USES_DOMAINS) || strcmp(name, "bdml") == 0;
        for (int j = 0; j < RIVALS; j++) listed = listed || strcmp(rivals[j].method, name) == 0;
        if (!listed && k-- == 0) return name;
    }
    return NULL;
}

/* ---- method bdml -------------------------------------------------------------------------------------------- */

static const double p_error[] = {2.83, 3.11, 27.57, 15.78, 4.21},
                    p_deviation[] = {1.3, 2.61, 2.21, 0.60, 0.79},
                    t_error[] = {2.26, 2.44, 26.43, 15.34, 3.62},
                    t_deviation[] = {2.30, 1.64, 2.30, 0.72, 0.34};

#define AS_PRINTED(kind) .error = kind##_error, .deviation = kind##_deviation
#define LITERAL          "hard", "yes", "solver", "mwu", "literal", "yes"
#define OURS             .method = "bdml", .ours = true
static const rp_entrant forms[] = {
    {.name = "p-BDML", OURS, AS_PRINTED(p), .setting = {"recipe", "paper", "kind", "pair"}},
    {.name = "t-BDML", OURS, AS_PRINTED(t), .setting = {"recipe", "paper"}},
    {.name = "p-BDML, paper's solver",
     OURS,
     AS_PRINTED(p),
     .setting = {"kind", "pair", LITERAL},
     .bounded_trace = true,
     .costly = true},
    {.name = "t-BDML, paper's solver",
     OURS,
     AS_PRINTED(t),
     .setting = {LITERAL},
     .bounded_trace = true,
     .costly = true},
    {.name = "reference alone", OURS, .setting = {"distortion", "1"}},
    {.name = "bdml, the recipe", OURS},
};
#undef AS_PRINTED
#undef LITERAL
#undef OURS
enum { FORMS = sizeof forms / sizeof *forms };

/* Methods of which a grid of values and scales, cross-validated, takes minutes. */
static bool is_slow(const char *method)
{
    static const char *const slow[] = {"lmnn", "itml", "boost", "nca", "ldml"};
    for (size_t k = 0; k < sizeof slow / sizeof *slow; k++)
        if (strcmp(slow[k], method) == 0) return true;
    return false;
}

/* ---- all: the paper's rivals, method bdml, the rest ------------------------------------------------------------ */

int rp_entrant_count(void)
{
    int n = 0;
    while (other_method(n)) n++;
    return 2 * RIVALS + FORMS + 2 * n;
}

int rp_recipe(void)
{
    return 2 * RIVALS + FORMS - 1;
}

rp_entrant rp_entrant_at(int i)
{
    rp_entrant e = {.tuned = i % 2 == 1};
    if (i >= 2 * RIVALS && i < 2 * RIVALS + FORMS) return forms[i - 2 * RIVALS];
    if (i < 2 * RIVALS) {
        const struct rival *r = &rivals[i / 2];
        e.method = r->method;
        e.error = r->error;
        e.deviation = r->deviation;
        if (!e.tuned) memcpy(e.setting, r->setting, sizeof r->setting);
    } else {
        i -= 2 * RIVALS + FORMS;
        e.tuned = i % 2 == 1;
        e.method = other_method(i / 2);
    }
    snprintf(e.name, sizeof e.name, "%s%s", e.method, e.tuned ? ", tuned" : "");
    e.costly = e.tuned && is_slow(e.method);
    return e;
}

bdml_status rp_enter(bdml_handle *h, const rp_entrant *e, const rp_set_row *set)
{
    TRY(rp_set(h, "methods", e->method, "scale", e->tuned ? "auto" : set->scale, NULL));
    if (e->tuned) TRY(bdml_set(h, "tune", "yes"));
    if (e->bounded_trace) TRY(bdml_set(h, "trace", set->trace));
    for (int k = 0; k + 1 < RP_SETTINGS && e->setting[k]; k += 2)
        TRY(bdml_set(h, e->setting[k], e->setting[k + 1]));
    return BDML_OK;
}
