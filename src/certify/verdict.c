/* verdict.c - checks, the level that they add up to, and what no check speaks for.
 *
 * A check names the fields of the file that it speaks for. Fields are enumerated from the file itself, so that
 * one which no check names stands under "not checked" without anybody having thought of it. */
#include "certify/certify.h"

#include <stdlib.h>

/* ---- checks ------------------------------------------------------------------------------------- */

static void add(bdml_verdict *v, bdml_check k, const char *fmt, va_list ap)
{
    if (v->checks == BDML_CHECKS_MAX) { /* one more than anybody counted on must not be lost */
        k.finding = BDML_FAILS;
        v->checks--;
    }
    bdml_vsnprintf(v->c, k.detail, sizeof k.detail, fmt, ap);
    v->check[v->checks++] = k;
}

void bdml_verdict_note(bdml_verdict *v, bdml_level level, const char *what, const char *fields,
                       bool holds, const char *fmt, ...)
{
    va_list ap;
    bdml_check k = {level, holds ? BDML_HOLDS : BDML_FAILS, what, fields, ""};
    va_start(ap, fmt);
    add(v, k, fmt, ap);
    va_end(ap);
}

void bdml_verdict_trust(bdml_verdict *v, const char *what, const char *fields, const char *fmt, ...)
{
    va_list ap;
    bdml_check k = {BDML_LEVEL_PROBLEM, BDML_TRUSTED, what, fields, ""};
    va_start(ap, fmt);
    add(v, k, fmt, ap);
    va_end(ap);
}

/* Checks of that level with that finding. */
static int count(const bdml_verdict *v, bdml_level level, bdml_finding finding)
{
    int found = 0;
    for (int k = 0; k < v->checks; k++)
        found += v->check[k].level == level && v->check[k].finding == finding;
    return found;
}

/* A level holds when the one below does, it has checks, and all of them hold. A model that comes out again is also
 * what its settings give, whatever of that could not be derived. */
void bdml_verdict_conclude(bdml_verdict *v)
{
    int fails = 0, trusted = count(v, BDML_LEVEL_PROBLEM, BDML_TRUSTED);
    v->level = BDML_LEVEL_AUTO;
    for (bdml_level l = BDML_LEVEL_NUMBERS; l <= BDML_LEVEL_REPEAT; l++) {
        fails += count(v, l, BDML_FAILS);
        if (fails > 0 || count(v, l, BDML_HOLDS) == 0) continue;
        if (l == BDML_LEVEL_PROBLEM && trusted > 0) continue;
        v->level = l;
    }
    v->confirmed = fails == 0 && v->level >= BDML_MAX(v->asked, BDML_LEVEL_NUMBERS);
}

/* ---- fields ---------------------------------------------------------------------------------------- */

/* Why nothing is said of a field, or of all that begin so and a point. */
static const struct {
    const char *field, *why;
} reasons[] = {
    {"times", "a clock's word"},
    {"data", "the name of a file"},
    {"label_column", "the data at hand do not name the column of their labels"},
    {"library", "the program's word about itself"},
    {"history", "the way to the bracket, of which only the end is proven"},
    {"certificate.iterations", "the way to the bracket, of which only the end is proven"},
    {"certificate.stopped_by", "the way to the bracket, of which only the end is proven"},
    {"certificate.help", "advice"},
    {"selection", "cross-validation: only training again gives these figures"},
    {"warm", "where the way to the bracket began, of which only the end is proven"},
    {"low_rank", "how the map Q was sought; no proof of it is in the file"},
    {"settings", "how the metric was sought, not what is claimed of it"},
};

enum { TOLD_APART = 4 }; /* the first of them: training again does not give these either */

/* Is `name` one of the words? */
static bool among(const char *words, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = words; (p = strstr(p, name)) != NULL; p += n)
        if ((p == words || p[-1] == ' ') && (p[n] == ' ' || p[n] == '\0')) return true;
    return false;
}

static bool begins(const char *name, const char *with)
{
    size_t n = strlen(with);
    return strncmp(name, with, n) == 0 && (name[n] == '\0' || name[n] == '.');
}

/* NULL: it is checked, at *level. What is trusted by one check is not checked by another. */
static const char *why_not(const bdml_verdict *v, const char *name, bdml_level *level)
{
    bool repeated = v->level == BDML_LEVEL_REPEAT;
    *level = BDML_LEVEL_AUTO;
    for (int k = 0; k < v->checks; k++) {
        const bdml_check *c = &v->check[k];
        if (!among(c->fields, name)) continue;
        if (c->finding == BDML_TRUSTED && !repeated) return c->detail;
        if (c->finding == BDML_HOLDS && *level == BDML_LEVEL_AUTO) *level = c->level;
    }
    if (*level != BDML_LEVEL_AUTO) return NULL;
    for (size_t r = 0; r < sizeof reasons / sizeof *reasons; r++)
        if (begins(name, reasons[r].field) && (!repeated || r < TOLD_APART)) return reasons[r].why;
    if (repeated) {
        *level = BDML_LEVEL_REPEAT;
        return NULL;
    }
    return v->asked == BDML_LEVEL_NUMBERS ? "level numbers does not look at it"
                                          : "no check speaks for it";
}

typedef struct lists {
    const bdml_verdict *v;
    json_t *checked, *not_checked;
} lists;

static void put_field(lists *l, const char *name)
{
    bdml_level level;
    const char *why = why_not(l->v, name, &level);
    if (why)
        bdml_json_push(&l->not_checked, json_pack("{s:s, s:s}", "field", name, "why", why));
    else
        bdml_json_push(&l->checked, json_pack("{s:s, s:o}", "field", name, "level",
                                              bdml_json_word(BDML_WORDS(LEVEL), (int)level)));
}

/* Every value of the header, to the second depth, and every array. */
static void put_all(lists *l, bdml_container *c)
{
    json_t *header = bdml_container_header(c);
    const char *key, *inner;
    json_t *value, *part;
    char name[128];
    json_object_foreach(header, key, value)
    {
        if (!json_is_object(value)) {
            put_field(l, key);
            continue;
        }
        json_object_foreach(value, inner, part)
        {
            snprintf(name, sizeof name, "%s.%s", key, inner);
            put_field(l, name);
        }
    }
    for (size_t k = 0; bdml_container_array(c, k); k++) put_field(l, bdml_container_array(c, k));
}

bdml_status bdml_verdict_fields(bdml_handle *h, const bdml_verdict *v, const bdml_model *model,
                                json_t **checked, json_t **not_checked)
{
    bdml_status status = BDML_OK;
    lists l = {v, json_array(), json_array()};
    bdml_container *c = NULL;

    BDML_GO(bdml_model_pack(h, model, &c));
    put_all(&l, c);
    if (!l.checked || !l.not_checked)
        status = bdml_fail(h, BDML_ERR_MEMORY, "out of memory while writing the verdict");
done:
    bdml_container_free(c);
    if (status != BDML_OK) {
        json_decref(l.checked);
        json_decref(l.not_checked);
        l.checked = l.not_checked = NULL;
    }
    *checked = l.checked;
    *not_checked = l.not_checked;
    return status;
}
