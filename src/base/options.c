/* options.c - settings by name: the table of options.def, its checks, bdml_set and bdml_get, and the typed
 * values of options.h behind them. */
#include "base/base.h"

#include <assert.h>
#include <stdlib.h>

static const bdml_option table[BDML_OPT_COUNT] = {
#define BDML_OPT(id, field, name, group, type, def, lo, hi, automatic, choices, meta, help) \
    {name, group, BDML_OPTION_##type, def, lo, hi, choices, meta, help, (automatic) == (automatic)},
#include "base/options.def"
#undef BDML_OPT
};

/* Numbers that stand for "auto" where nothing chooses; NAN where "auto" may not be said. */
static const double automatic_number[BDML_OPT_COUNT] = {
#define BDML_OPT(id, field, name, group, type, def, lo, hi, automatic, choices, meta, help) \
    automatic,
#include "base/options.def"
#undef BDML_OPT
};

/* Where in bdml_options each setting is. */
static const size_t place[BDML_OPT_COUNT] = {
#define BDML_OPT(id, field, name, group, type, def, lo, hi, automatic, choices, meta, help) \
    offsetof(bdml_options, BDML_PART.field),
#define BDML_PART general
#include "base/options/general.def"
#undef BDML_PART
#define BDML_PART input
#include "base/options/input.def"
#undef BDML_PART
#define BDML_PART prepare
#include "base/options/prepare.def"
#undef BDML_PART
#define BDML_PART neighbors
#include "base/options/neighbors.def"
#undef BDML_PART
#define BDML_PART constraints
#include "base/options/constraints.def"
#undef BDML_PART
#define BDML_PART train
#include "base/options/train.def"
#undef BDML_PART
#define BDML_PART solve
#include "base/options/solve.def"
#undef BDML_PART
#define BDML_PART mwu
#include "base/options/mwu.def"
#undef BDML_PART
#define BDML_PART rank
#include "base/options/rank.def"
#undef BDML_PART
#define BDML_PART methods
#include "base/options/methods.def"
#undef BDML_PART
#define BDML_PART evaluate
#include "base/options/evaluate.def"
#undef BDML_PART
#define BDML_PART adapt
#include "base/options/adapt.def"
#undef BDML_PART
#define BDML_PART verify
#include "base/options/verify.def"
#undef BDML_PART
#define BDML_PART path
#include "base/options/path.def"
#undef BDML_PART
#define BDML_PART retrieve
#include "base/options/retrieve.def"
#undef BDML_PART
#define BDML_PART certify
#include "base/options/certify.def"
#undef BDML_PART
#define BDML_PART write
#include "base/options/write.def"
#undef BDML_PART
#undef BDML_OPT
};

/* ---- the table ---------------------------------------------------------------------------------------- */

int bdml_option_count(void)
{
    return BDML_OPT_COUNT;
}

const bdml_option *bdml_option_at(int i)
{
    return i >= 0 && i < BDML_OPT_COUNT ? &table[i] : NULL;
}

int bdml_choice_index(const char *choices, const char *word)
{
    size_t n = strlen(word);
    int index = 0;
    for (const char *p = choices;; index++) {
        size_t len = strcspn(p, "|");
        if (len == n && memcmp(p, word, n) == 0) return index;
        if (p[len] == '\0') return -1;
        p += len + 1;
    }
}

const char *bdml_choice_word(const char *choices, int index, size_t *n)
{
    const char *p = choices;
    for (; index > 0; index--) p = strchr(p, '|') + 1;
    *n = strcspn(p, "|");
    return p;
}

/* ---- checks ------------------------------------------------------------------------------------------- */

static bool parse_flag(const char *text, int64_t *out)
{
    static const char *const yes[] = {"yes", "true", "on", "1"};
    static const char *const no[] = {"no", "false", "off", "0"};
    for (int k = 0; k < 4; k++) {
        if (strcmp(text, yes[k]) == 0) return *out = 1, true;
        if (strcmp(text, no[k]) == 0) return *out = 0, true;
    }
    return false;
}

/* "a whole number from 1 to 1000", "a number of at least 0" */
static void describe_range(const bdml_option *o, locale_t c, char *out, size_t size)
{
    const char *noun = o->type == BDML_OPTION_INT ? "a whole number" : "a number";
    bool counts = o->type == BDML_OPTION_INT && o->max >= (double)INT32_MAX; /* as far as they go */
    bool lo = isfinite(o->min), hi = isfinite(o->max) && !counts;
    if (lo && hi)
        bdml_snprintf(c, out, size, "%s from %.15g to %.15g", noun, o->min, o->max);
    else if (lo)
        bdml_snprintf(c, out, size, "%s of at least %.15g", noun, o->min);
    else if (hi)
        bdml_snprintf(c, out, size, "%s of at most %.15g", noun, o->max);
    else
        bdml_snprintf(c, out, size, "%s", noun);
}

/* The words of a list "a|b|c", one at a time. */
typedef struct choice_list {
    const char *choices;
    char *word; /* room for the one asked for last */
    size_t size;
} choice_list;

static const char *choice_at(const void *user, int i)
{
    const choice_list *l = user;
    const char *p = l->choices;
    for (; i > 0 && *p; i--) {
        p += strcspn(p, "|");
        p += *p == '|';
    }
    if (!*p) return NULL;
    snprintf(l->word, l->size, "%.*s", (int)strcspn(p, "|"), p);
    return l->word;
}

bool bdml_option_parse(const bdml_option *o, const char *text, locale_t c, bdml_parsed *out,
                       char *why, size_t why_size)
{
    char range[96], meant[BDML_MEANT_SIZE], word[64];
    size_t n = strlen(text);
    bool ok = true;

    out->automatic = o->automatic && strcmp(text, "auto") == 0;
    if (out->automatic) return true;
    switch (o->type) {
    case BDML_OPTION_FLAG:
        if (parse_flag(text, &out->i)) return out->r = (double)out->i, true;
        bdml_snprintf(c, why, why_size, "%s must be yes or no, got '%.100s'", o->name, text);
        return false;
    case BDML_OPTION_CHOICE:
        out->i = bdml_choice_index(o->choices, text);
        out->r = (double)out->i;
        if (out->i >= 0) return true;
        bdml_snprintf(c, why, why_size, "%s must be one of %s, got '%.100s'%s", o->name, o->choices,
                      text,
                      bdml_did_you_mean(text, choice_at,
                                        &(choice_list){o->choices, word, sizeof word}, meant));
        return false;
    case BDML_OPTION_INT:
        ok = bdml_parse_int(text, n, &out->i);
        out->r = (double)out->i;
        break;
    case BDML_OPTION_REAL:
        ok = bdml_parse_double(c, text, n, &out->r) && isfinite(out->r);
        break;
    case BDML_OPTION_TEXT:
        return true;
    }
    if (ok && out->r >= o->min && out->r <= o->max) return true;
    describe_range(o, c, range, sizeof range);
    bdml_snprintf(c, why, why_size, "%s must be %s, got '%.100s'", o->name, range, text);
    return false;
}

bdml_status bdml_check_option(bdml_handle *h, const bdml_option *o, const char *text,
                              double *number)
{
    bdml_parsed v = {0};
    char why[BDML_ERROR_SIZE];
    if (!h) return BDML_ERR_ARGUMENT;
    if (!o || !text) return bdml_fail(h, BDML_ERR_ARGUMENT, "option and value must not be NULL");
    if (!bdml_option_parse(o, text, h->c_locale, &v, why, sizeof why))
        return bdml_fail(h, BDML_ERR_ARGUMENT, "%s", why);
    if (number) *number = o->type == BDML_OPTION_TEXT || v.automatic ? NAN : v.r;
    return BDML_OK;
}

/* ---- values ------------------------------------------------------------------------------------------- */

/* Put a parsed value into its field. text outlives the options. */
static void store(bdml_options *options, int i, const bdml_parsed *v, const char *text, bool given)
{
    void *field = (char *)options + place[i];
    switch (table[i].type) {
    case BDML_OPTION_FLAG:
        *(bdml_flag *)field = (bdml_flag){v->i != 0, given};
        break;
    case BDML_OPTION_INT:
        *(bdml_int *)field =
            (bdml_int){v->automatic ? (int64_t)automatic_number[i] : v->i, given, v->automatic};
        break;
    case BDML_OPTION_REAL:
        *(bdml_real *)field =
            (bdml_real){v->automatic ? automatic_number[i] : v->r, given, v->automatic};
        break;
    case BDML_OPTION_CHOICE:
        *(bdml_choice *)field = (bdml_choice){(int)v->i, given};
        break;
    case BDML_OPTION_TEXT:
        *(bdml_text *)field = (bdml_text){text, given};
        break;
    }
}

bool bdml_options_given(const bdml_options *o, bdml_opt id)
{
    const void *field = (const char *)o + place[id];
    switch (table[id].type) {
    case BDML_OPTION_FLAG:
        return ((const bdml_flag *)field)->given;
    case BDML_OPTION_INT:
        return ((const bdml_int *)field)->given;
    case BDML_OPTION_REAL:
        return ((const bdml_real *)field)->given;
    case BDML_OPTION_CHOICE:
        return ((const bdml_choice *)field)->given;
    case BDML_OPTION_TEXT:
        break;
    }
    return ((const bdml_text *)field)->given;
}

void bdml_options_put(bdml_options *o, bdml_opt id, double value)
{
    bdml_parsed v = {.i = (int64_t)value, .r = value};
    assert(table[id].type == BDML_OPTION_INT || table[id].type == BDML_OPTION_REAL);
    store(o, (int)id, &v, NULL, true);
}

bdml_status bdml_options_set(bdml_handle *h, bdml_options *o, bdml_opt id, const char *text)
{
    bdml_parsed v = {0};
    char why[BDML_ERROR_SIZE];
    if (!bdml_option_parse(&table[id], text, h->c_locale, &v, why, sizeof why))
        return bdml_fail(h, BDML_ERR_ARGUMENT, "%s", why);
    store(o, (int)id, &v, text, true);
    return BDML_OK;
}

static void store_default(const bdml_handle *h, bdml_options *options, int i)
{
    bdml_parsed v = {0};
    char why[BDML_ERROR_SIZE];
    const char *text = table[i].default_value;
    bool sound = bdml_option_parse(&table[i], text, h->c_locale, &v, why, sizeof why);
    assert(sound); /* a default passes its own check: tests/test_base.c */
    (void)sound;
    store(options, i, &v, text, false);
}

void bdml_options_default(const bdml_handle *h, bdml_options *out)
{
    for (int i = 0; i < BDML_OPT_COUNT; i++) store_default(h, out, i);
    out->reference_map = (bdml_given_map){0};
    out->warm_model = NULL;
}

static void forget(bdml_handle *h, int i)
{
    store_default(h, &h->options, i);
    free(h->text[i]);
    h->text[i] = NULL;
}

void bdml_options_reset(bdml_handle *h)
{
    for (int i = 0; i < BDML_OPT_COUNT; i++) forget(h, i);
}

int bdml_option_named(const char *name)
{
    for (int i = 0; i < BDML_OPT_COUNT; i++)
        if (strcmp(table[i].name, name) == 0) return i;
    return -1;
}

bdml_status bdml_set(bdml_handle *h, const char *name, const char *value)
{
    bdml_parsed v = {0};
    char why[BDML_ERROR_SIZE];

    if (!h) return BDML_ERR_ARGUMENT;
    if (!name) return bdml_fail(h, BDML_ERR_ARGUMENT, "the name of a setting must not be NULL");
    if (h->calling > 0)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "%.100s cannot be set by a callback: the call under way has read it",
                         name);
    int i = bdml_option_named(name);
    if (i < 0)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "there is no setting '%.100s'; bdml_option_at lists them", name);
    if (!value) {
        forget(h, i);
        return BDML_OK;
    }
    if (!bdml_option_parse(&table[i], value, h->c_locale, &v, why, sizeof why))
        return bdml_fail(h, BDML_ERR_ARGUMENT, "%s", why);
    char *text = bdml_strdup(h, value);
    if (!text) return BDML_ERR_MEMORY;
    free(h->text[i]);
    h->text[i] = text;
    store(&h->options, i, &v, text, true);
    return BDML_OK;
}

const char *bdml_get(bdml_handle *h, const char *name)
{
    int i = h && name ? bdml_option_named(name) : -1;
    return i < 0 ? NULL : bdml_option_text(h, i);
}

const char *bdml_option_text(const bdml_handle *h, int i)
{
    return h->text[i] ? h->text[i] : table[i].default_value;
}

/* The value of setting i, whatever was given; a text by its place. */
static bool same_value(const bdml_options *a, const bdml_options *b, int i)
{
    const void *x = (const char *)a + place[i], *y = (const char *)b + place[i];
    switch (table[i].type) {
    case BDML_OPTION_FLAG:
        return ((const bdml_flag *)x)->value == ((const bdml_flag *)y)->value;
    case BDML_OPTION_INT:
        return ((const bdml_int *)x)->value == ((const bdml_int *)y)->value &&
               ((const bdml_int *)x)->automatic == ((const bdml_int *)y)->automatic;
    case BDML_OPTION_REAL:
        return ((const bdml_real *)x)->value == ((const bdml_real *)y)->value &&
               ((const bdml_real *)x)->automatic == ((const bdml_real *)y)->automatic;
    case BDML_OPTION_CHOICE:
        return ((const bdml_choice *)x)->value == ((const bdml_choice *)y)->value;
    case BDML_OPTION_TEXT:
        break;
    }
    return strcmp(((const bdml_text *)x)->value, ((const bdml_text *)y)->value) == 0;
}

const char *bdml_option_said(const bdml_handle *h, const bdml_options *o, int i,
                             char room[BDML_SAID_SIZE])
{
    const void *field = (const char *)o + place[i];
    const bdml_int *number = field;
    const bdml_real *real = field;
    const char *word;
    bdml_options usual;
    size_t n;

    if (same_value(o, &h->options, i)) return bdml_option_text(h, i);
    store_default(h, &usual, i);
    if (same_value(o, &usual, i)) return table[i].default_value;
    switch (table[i].type) {
    case BDML_OPTION_FLAG:
        return ((const bdml_flag *)field)->value ? "yes" : "no";
    case BDML_OPTION_INT:
        if (number->automatic) return "auto";
        snprintf(room, BDML_SAID_SIZE, "%lld", (long long)number->value);
        return room;
    case BDML_OPTION_REAL:
        if (real->automatic) return "auto";
        bdml_format_double(h->c_locale, real->value, room);
        return room;
    case BDML_OPTION_CHOICE:
        word = bdml_choice_word(table[i].choices, ((const bdml_choice *)field)->value, &n);
        snprintf(room, BDML_SAID_SIZE, "%.*s", (int)n, word);
        return room;
    case BDML_OPTION_TEXT:
        break;
    }
    return ((const bdml_text *)field)->value;
}

int bdml_is_given(const bdml_handle *h, const char *name)
{
    int i = h && name ? bdml_option_named(name) : -1;
    return i >= 0 && h->text[i] != NULL;
}

double bdml_options_number(const bdml_options *o, bdml_opt id)
{
    const void *field = (const char *)o + place[id];
    switch (table[id].type) {
    case BDML_OPTION_FLAG:
        return ((const bdml_flag *)field)->value;
    case BDML_OPTION_INT:
        return (double)((const bdml_int *)field)->value;
    case BDML_OPTION_REAL:
        return ((const bdml_real *)field)->value;
    case BDML_OPTION_CHOICE:
        return ((const bdml_choice *)field)->value;
    case BDML_OPTION_TEXT:
        break;
    }
    return NAN;
}

double bdml_get_number(const bdml_handle *h, const char *name)
{
    int i = h && name ? bdml_option_named(name) : -1;
    return i < 0 ? NAN : bdml_options_number(&h->options, (bdml_opt)i);
}
