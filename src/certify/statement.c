/* statement.c - the claim of a model as a sentence with its numbers: what is confirmed when it is confirmed. */
#include "certify/certify.h"

#include <stdlib.h>

enum { SIZE = 4000 };

typedef struct text {
    const bdml_verdict *v;
    char *s;
    size_t used;
} text;

static void put(text *t, const char *fmt, ...) BDML_PRINTF(2, 3);

static void put(text *t, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    bdml_vsnprintf(t->v->c, t->s + t->used, SIZE - t->used, fmt, ap);
    va_end(ap);
    t->used += strlen(t->s + t->used);
}

static void put_set(text *t, const bdml_evidence *e, const char *about)
{
    put(t, "%s with kappa(M) <= %.12g%s", about, e->K,
        e->reference ? " relative to the reference" : "");
    if (isfinite(e->R)) put(t, " and trace(M) <= %.12g", e->R);
}

static void put_problem(text *t, const bdml_model *m)
{
    const bdml_evidence *e = m->evidence;
    const char *reference =
        json_string_value(json_object_get(json_object_get(m->info, "certificate"), "reference"));
    size_t n;
    const char *scale = bdml_choice_word(BDML_WORDS(SCALE), m->prepare.scale, &n);
    const char *storage =
        json_string_value(json_object_get(json_object_get(m->info, "settings"), "storage"));
    put(t, "On the %lld rows of the data (%sscale %.*s, ", (long long)e->constraints->n,
        storage && strcmp(storage, "float32") == 0 ? "rounded to float32, " : "", (int)n, scale);
    if (m->prepare.basis) put(t, "%d principal components, ", m->prepare.d_out);
    put(t, "reference %.40s), with %lld constraints of margin %.12g%s", reference ? reference : "",
        (long long)e->constraints->m, e->margin, e->constraints->margin ? " times their own" : "");
    if (!e->hard)
        put(t, ", missed ones charged %.12g by the %s", e->cost,
            e->squared ? "squared hinge" : "hinge");
}

/* The sentence of each claim. */
static void put_claim(text *t, const bdml_evidence *e)
{
    const bdml_verdict *v = t->v;
    const char *kind = e->diagonal ? "diagonal metric" : "metric";
    switch (e->claim) {
    case BDML_CLAIM_INFEASIBLE:
        put(t, ": no %s", kind);
        put_set(t, e, "");
        put(t,
            isfinite(e->reach) ? " meets them all with a trace up to %.12g."
                               : " meets them all, whatever its trace.",
            e->reach);
        return;
    case BDML_CLAIM_APPROXIMATE:
        put(t, ": no %s", kind);
        put_set(t, e, "");
        put(t,
            " that meets them all has an objective below %.12g. The model's own has kappa %.6g and "
            "misses margins by up to %.6g.",
            v->lower, v->kappa, e->slack);
        return;
    case BDML_CLAIM_OPTIMAL:
    case BDML_CLAIM_STOPPED:
        put(t, ": the model's M");
        if (v->factor > 1.0 + 1e-7) put(t, " times %.12g", v->factor);
        put(t, " is a %s", kind);
        put_set(t, e, "");
        put(t,
            "%s, its objective is at most %.12g, and no such metric has one below %.12g: a gap of "
            "%.3g",
            e->hard ? " and meets them all" : "", v->upper, v->lower,
            (v->upper - v->lower) / v->upper);
        put(t, e->claim == BDML_CLAIM_OPTIMAL ? ", where %.3g was asked for." : ".", e->gap_asked);
        return;
    }
}

/* The settings that give this problem, and what cross-validation chose for those left open. */
static void put_settings(text *t, const bdml_model *m)
{
    static const char *const choices[] = {"reference", "distortion", "weight", "passes", "score"};
    const json_t *selection = json_object_get(m->info, "selection");
    const char *name;
    json_t *value;
    json_t *settings = json_object_get(m->info, "settings");
    put(t, " This problem is what the data give with %s",
        json_object_size(settings) > 0 ? "the settings" : "default settings");
    json_object_foreach(settings, name, value)
        put(t, " %.40s %.100s,", name, json_string_value(value));
    if (t->s[t->used - 1] == ',') t->used--;
    if (json_object_get(selection, "distortion")) {
        put(t, " and the choices");
        for (size_t k = 0; k < sizeof choices / sizeof *choices; k++) {
            value = json_object_get(selection, choices[k]);
            if (json_is_string(value)) put(t, " %s %.40s", choices[k], json_string_value(value));
            if (json_is_number(value)) put(t, " %s %.12g", choices[k], json_number_value(value));
        }
    }
    put(t, ".");
}

char *bdml_statement(bdml_handle *h, const bdml_model *model, const bdml_verdict *v)
{
    text t = {.v = v, .s = bdml_calloc(h, SIZE, 1)};
    if (!t.s) return NULL;
    put_problem(&t, model);
    put_claim(&t, model->evidence);
    if (v->level >= BDML_LEVEL_PROBLEM) put_settings(&t, model);
    return t.s;
}
