/* options.c - settings by name: the table of options.def, its checks, bdml_set and bdml_get. */
#include "base/base.h"

#include <stdlib.h>

static const bdml_option table[BDML_OPT_COUNT] = {
#define BDML_OPT(id, name, group, type, def, lo, hi, choices, meta, help) \
    {name, group, BDML_OPTION_##type, def, lo, hi, choices, meta, help},
#include "base/options.def"
#undef BDML_OPT
};

/* Numbers that may be "auto": chosen where a method chooses, and this where nothing does. */
static const struct {
    bdml_opt id;
    double number;
} automatic[] = {{BDML_OPT_NEIGHBORS, 3}, {BDML_OPT_DISTORTION, 10}, {BDML_OPT_SOFTNESS, 5},
                 {BDML_OPT_PASSES, 1},    {BDML_OPT_TARGETS, 3},     {BDML_OPT_IMPOSTORS, 3},
                 {BDML_OPT_GMML_T, 0.5},  {BDML_OPT_CLOSENESS, 0}};

static bool take_automatic(int id, const char *text, bdml_value *v)
{
    for (size_t k = 0; k < sizeof automatic / sizeof *automatic; k++)
        if ((int)automatic[k].id == id && strcmp(text, "auto") == 0) {
            v->r = automatic[k].number;
            v->i = (int64_t)automatic[k].number;
            return true;
        }
    return false;
}

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
    bool lo = isfinite(o->min), hi = isfinite(o->max) && o->max < (double)INT32_MAX;
    if (lo && hi)
        bdml_snprintf(c, out, size, "%s from %.15g to %.15g", noun, o->min, o->max);
    else if (lo)
        bdml_snprintf(c, out, size, "%s of at least %.15g", noun, o->min);
    else if (hi)
        bdml_snprintf(c, out, size, "%s of at most %.15g", noun, o->max);
    else
        bdml_snprintf(c, out, size, "%s", noun);
}

bool bdml_option_parse(const bdml_option *o, const char *text, locale_t c, bdml_value *out,
                       char *why, size_t why_size)
{
    char range[96];
    size_t n = strlen(text);
    bool ok = true;

    switch (o->type) {
    case BDML_OPTION_FLAG:
        if (parse_flag(text, &out->i)) return true;
        bdml_snprintf(c, why, why_size, "%s must be yes or no, got '%.100s'", o->name, text);
        return false;
    case BDML_OPTION_CHOICE:
        out->i = bdml_choice_index(o->choices, text);
        if (out->i >= 0) return true;
        bdml_snprintf(c, why, why_size, "%s must be one of %s, got '%.100s'", o->name, o->choices,
                      text);
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

static int find_option(const char *name)
{
    for (int i = 0; i < BDML_OPT_COUNT; i++)
        if (strcmp(table[i].name, name) == 0) return i;
    return -1;
}

bdml_status bdml_set(bdml_handle *h, const char *name, const char *value)
{
    bdml_value v = {0};
    char why[BDML_ERROR_SIZE];

    if (!h) return BDML_ERR_ARGUMENT;
    if (!name || !value)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "setting name and value must not be NULL");
    int i = find_option(name);
    if (i < 0)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "there is no setting '%.100s'; bdml_option_at lists them", name);
    if (!take_automatic(i, value, &v) &&
        !bdml_option_parse(&table[i], value, h->c_locale, &v, why, sizeof why))
        return bdml_fail(h, BDML_ERR_ARGUMENT, "%s", why);
    v.text = bdml_strdup(h, value);
    if (!v.text) return BDML_ERR_MEMORY;
    v.changed = strcmp(value, table[i].default_value) != 0;
    free(h->opt[i].text);
    h->opt[i] = v;
    return BDML_OK;
}

const char *bdml_get(bdml_handle *h, const char *name)
{
    int i = h && name ? find_option(name) : -1;
    return i < 0 ? NULL : h->opt[i].text;
}
