/* forgery_lies.h - every lie about one place of a file, and lies that take several */
#ifndef BDML_TESTS_FORGERY_LIES_H
#define BDML_TESTS_FORGERY_LIES_H

#include "forgery_bench.h"

#include <jansson.h>

/* ---- lies about a value of the header ----------------------------------------------------------------------- */

/* A setting's text as another one: a number doubled, the other answer, the next word. */
static inline json_t *other_setting(const char *field, const char *text)
{
    char *end, out[64];
    double v = strtod(text, &end);
    const char *name = strchr(field, '.') + 1;
    if (end != text && !*end) {
        snprintf(out, sizeof out, "%.15g", v >= 1 ? v + 1 : v / 2);
        return json_string(out);
    }
    if (strcmp(text, "yes") == 0) return json_string("no");
    for (int i = 0; i < bdml_option_count(); i++) {
        const bdml_option *o = bdml_option_at(i);
        if (strcmp(o->name, name) != 0 || !o->choices) continue;
        const char *word =
            strcmp(o->choices, text) != 0 && strncmp(o->choices, text, strlen(text)) == 0
                ? strchr(o->choices, '|') + 1
                : o->choices;
        return json_stringn(word, strcspn(word, "|"));
    }
    return json_string(strcmp(text, "zscore") == 0 ? "within" : "zscore");
}

static json_t *altered(const json_t *v);

static inline json_t *altered_list(const json_t *v)
{
    json_t *copy = json_deep_copy(v);
    if (json_array_size(copy) > 0) json_array_set_new(copy, 0, altered(json_array_get(v, 0)));
    return copy;
}

/* Something else of the same type. */
static inline json_t *altered(const json_t *v)
{
    if (json_is_real(v)) return json_real(json_real_value(v) != 0 ? 2 * json_real_value(v) : 1);
    if (json_is_integer(v)) return json_integer(json_integer_value(v) + 1);
    if (json_is_boolean(v)) return json_boolean(!json_is_true(v));
    if (json_is_array(v)) return altered_list(v);
    if (json_is_string(v)) {
        char text[256];
        snprintf(text, sizeof text, "%.200sx", json_string_value(v));
        return json_string(text);
    }
    if (json_is_object(v)) { /* every member */
        json_t *copy = json_object(), *member;
        const char *key;
        json_object_foreach((json_t *)v, key, member)
            json_object_set_new(copy, key, altered(member));
        return copy;
    }
    return json_real(1);
}

/* Lie number k about a value; *kind NULL: there are no more. NULL: the value is left out. */
static inline json_t *lie_about(const json_t *v, const char *field, int k, const char **kind)
{
    static const char *const any[] = {"left out", "null", "another value", "another type"};
    static const char *const number[] = {"negated", "zero", "huge", "a bit more", "a bit less"};
    double x = json_number_value(v);
    *kind = NULL;
    if (k < 4) {
        *kind = any[k];
        if (k == 0) return NULL;
        if (k == 1) return json_null();
        if (k == 2) return altered(v);
        return json_is_string(v) ? json_real(3) : json_string("1e6");
    }
    k -= 4;
    if (json_is_number(v) && k < 5) {
        *kind = number[k];
        bool some = x != 0;
        double lie[] = {some ? -x : -1, some ? 0 : 0.5, 1e300, some ? x * 1.0001 : 1e-4,
                        some ? x * 0.9999 : 1e-9};
        if (json_is_integer(v)) {
            json_int_t i = json_integer_value(v),
                       whole[] = {-i - 1, i ? 0 : 2, (json_int_t)1 << 40, i + 2, i - 1};
            return json_integer(whole[k]);
        }
        return json_real(lie[k]);
    }
    if (json_is_string(v) && k < 2) {
        *kind = k == 0 ? "empty" : "another word";
        if (k == 0) return json_string("");
        return strncmp(field, "settings.", 9) == 0 ? other_setting(field, json_string_value(v))
                                                   : json_string("stopped");
    }
    if (json_is_array(v) && k < 3) {
        static const char *const list[] = {"emptied", "one dropped", "one twice"};
        json_t *copy = k == 0 ? json_array() : json_deep_copy(v);
        *kind = list[k];
        if (k == 1) json_array_remove(copy, 0);
        if (k == 2 && json_array_size(v) > 0)
            json_array_append_new(copy, json_deep_copy(json_array_get(v, 0)));
        return copy;
    }
    return NULL;
}

/* Every lie about header[key], or header[key][inner]. */
static inline void forge_value(bench *b, const char *key, const char *inner)
{
    char field[2 * NAME];
    const json_t *v = json_object_get(b->honest.header, key);
    snprintf(field, sizeof field, inner ? "%s.%s" : "%s", key, inner);
    if (inner) v = json_object_get(v, inner);
    b->fields++;
    for (int k = 0;; k++) {
        const char *kind;
        json_t *lie = lie_about(v, field, k, &kind);
        if (!kind) break;
        if (lie && json_equal(lie, v)) {
            json_decref(lie);
            continue;
        }
        file f = copy_file(&b->honest);
        json_t *where = inner ? json_object_get(f.header, key) : f.header;
        if (lie)
            json_object_set_new(where, inner ? inner : key, lie);
        else
            json_object_del(where, inner ? inner : key);
        judge(b, &f, kind, field);
        free_file(&f);
    }
}

static inline void forge_header(bench *b)
{
    const char *key, *inner;
    json_t *value, *part;
    json_object_foreach(b->honest.header, key, value)
    {
        if (!json_is_object(value)) {
            forge_value(b, key, NULL);
            continue;
        }
        json_object_foreach(value, inner, part) forge_value(b, key, inner);
    }
}

/* ---- lies about an array ---------------------------------------------------------------------------------------- */

static inline int64_t largest(const array *a)
{
    int64_t at = 0;
    for (int64_t i = 0; a->real && i < cells(a); i++) {
        double x = ((double *)a->cell)[i];
        if (isfinite(x) && !(fabs(((double *)a->cell)[at]) >= fabs(x))) at = i;
    }
    return at;
}

/* Lie number k; NULL: there are no more. */
static inline const char *lie_in(array *a, int k)
{
    static const char *const real[] = {"cell doubled",    "cell negated",   "cell zero",
                                       "cell NaN",        "cell Inf",       "cell huge",
                                       "cell a bit more", "all times 1e12", "all negated",
                                       "all a bit less"};
    static const char *const whole[] = {"index plus 1", "index negative", "index too large",
                                        "index of another", "indices exchanged"};
    int64_t at = largest(a), n = cells(a);
    double *x = a->cell;
    int32_t *i = a->cell;
    if (k == 0) {
        a->rows--;
        return "one dropped";
    }
    if (k == 1) {
        if (a->columns <= 1) a->rows++;
        if (a->real)
            x[n] = x[n - 1];
        else
            i[n] = i[n - 1];
        return "one more";
    }
    k -= 2;
    if (a->real && k < 10) {
        double lie[] = {2 * x[at], -x[at], 0, NAN, INFINITY, 1e300, x[at] * 1.001};
        if (k < 7) x[at] = lie[k];
        for (int64_t j = 0; k >= 7 && j < n; j++) x[j] *= k == 7 ? 1e12 : k == 8 ? -1 : 0.999;
        return real[k];
    }
    if (!a->real && k < 5) {
        int32_t lie[] = {i[0] + 1, -7, 1000000, i[n / 2]};
        if (k < 4) i[0] = lie[k];
        for (int64_t j = 1; k == 4 && j < n; j++)
            if (i[j] != i[0]) {
                int32_t swap = i[0];
                i[0] = i[j], i[j] = swap;
                break;
            }
        return whole[k];
    }
    return NULL;
}

/* The order of targets and constraints is not claimed, and multipliers that prove as much are as good. */
static inline bool is_harmless(const char *name, const char *kind)
{
    bool list = strcmp(name, "evidence.target") == 0 || strcmp(name, "evidence.far") == 0 ||
                strcmp(name, "evidence.near") == 0;
    return (list && strcmp(kind, "indices exchanged") == 0) ||
           (strcmp(name, "evidence.dual") == 0 && strcmp(kind, "cell a bit more") == 0);
}

static inline void forge_arrays(bench *b)
{
    for (int k = 0; k < b->honest.arrays; k++) {
        const array *was = &b->honest.array[k];
        if (cells(was) == 0) continue;
        b->fields++;
        for (int l = 0;; l++) {
            file f = copy_file(&b->honest);
            const char *kind = lie_in(&f.array[k], l);
            bool same = f.array[k].rows == was->rows && f.array[k].columns == was->columns &&
                        memcmp(f.array[k].cell, was->cell, bytes_of(was)) == 0;
            if (kind && !same && !is_harmless(was->name, kind)) judge(b, &f, kind, was->name);
            free_file(&f);
            if (!kind) break;
        }
    }
}

/* ---- lies that are consistent with themselves ---------------------------------------------------------------------- */

static inline json_t *part(file *f, const char *key)
{
    return json_object_get(f->header, key);
}

/* A new array where the library writes it: behind the one called `after`. */
static inline array *add_array(file *f, const char *after, const char *name, int64_t rows,
                               double value)
{
    int at = (int)(array_named(f, after) - f->array) + 1;
    assert_true(f->arrays + 1 < MOST_ARRAYS);
    memmove(&f->array[at + 1], &f->array[at], sizeof *f->array * (size_t)(f->arrays - at));
    f->arrays++;
    array *a = &f->array[at];
    *a = (array){.real = true, .rows = rows, .columns = 0};
    snprintf(a->name, sizeof a->name, "%s", name);
    a->cell = malloc((size_t)rows * sizeof(double) + 16);
    for (int64_t i = 0; i < rows; i++) ((double *)a->cell)[i] = value;
    return a;
}

/* Own margins of 2, the common one and the setting 1/2: the same numbers, another rule. */
static inline void forge_margins(bench *b)
{
    file f = copy_file(&b->honest);
    if (!array_named(&f, "evidence.margin")) {
        json_object_set_new(part(&f, "evidence"), "margin", json_real(0.5));
        json_object_set_new(part(&f, "settings"), "margin", json_string("0.5"));
        add_array(&f, "evidence.near", "evidence.margin", array_named(&f, "evidence.far")->rows, 2);
        judge(b, &f, "margins moved", "evidence.margin");
    }
    free_file(&f);
}

/* Weights of 2 and half the cost. */
static inline void forge_weights(bench *b)
{
    file f = copy_file(&b->honest);
    double cost = json_number_value(json_object_get(part(&f, "evidence"), "cost"));
    if (cost > 0 && !array_named(&f, "evidence.weight")) {
        json_object_set_new(part(&f, "evidence"), "cost", json_real(cost / 2));
        json_object_set_new(part(&f, "certificate"), "C", json_real(cost / 2));
        add_array(&f, "evidence.near", "evidence.weight", array_named(&f, "evidence.far")->rows, 2);
        judge(b, &f, "weights moved", "evidence.weight evidence.cost");
    }
    free_file(&f);
}

/* A constraint without a multiplier is dropped, with all figures that count it. origin: what is said of where they come
 * from, or NULL: the truth. */
static inline void forge_dropped(bench *b, const char *origin)
{
    file f = copy_file(&b->honest);
    array *far = array_named(&f, "evidence.far"), *near = array_named(&f, "evidence.near");
    array *dual = array_named(&f, "evidence.dual_constraint");
    int32_t *at = dual->cell, drop = -1;
    bool hard = json_is_true(json_object_get(part(&f, "evidence"), "hard"));
    for (int32_t t = 0; hard && t < far->rows && drop < 0; t++) {
        drop = t;
        for (int64_t k = 0; k < dual->rows; k++)
            if (at[k] == t) drop = -1;
    }
    if (drop >= 0) {
        size_t rest = (size_t)(far->rows - 1 - drop) * sizeof(int32_t);
        memmove((int32_t *)far->cell + drop, (int32_t *)far->cell + drop + 1, rest);
        memmove((int32_t *)near->cell + drop, (int32_t *)near->cell + drop + 1, rest);
        far->rows = --near->rows;
        for (int64_t k = 0; k < dual->rows; k++) at[k] -= at[k] > drop;
        json_object_set_new(part(&f, "certificate"), "constraints", json_integer(far->rows));
        if (origin) json_object_set_new(f.header, "constraints", json_string(origin));
        judge(b, &f, origin ? "constraint dropped, its origin too" : "constraint dropped",
              origin ? "evidence.far evidence.near constraints" : "evidence.far evidence.near");
    }
    free_file(&f);
}

/* Ten times the cap, and nothing claimed of the optimum that would not hold under it. */
static inline void forge_cap(bench *b)
{
    file f = copy_file(&b->honest);
    json_t *e = part(&f, "evidence"), *c = part(&f, "certificate");
    if (json_object_get(c, "gap") && json_is_number(json_object_get(c, "gap"))) {
        double K = 10 * json_number_value(json_object_get(e, "K"));
        json_object_set_new(e, "K", json_real(K));
        json_object_set_new(c, "distortion", json_real(K));
        json_object_set_new(e, "lower", json_real(0));
        json_object_set_new(c, "lower", json_real(0));
        json_object_set_new(c, "gap", json_real(1));
        json_object_set_new(e, "claim", json_string("stopped"));
        json_object_set_new(c, "status", json_string("stopped"));
        judge(b, &f, "cap raised", "evidence.K");
    }
    free_file(&f);
}

/* A gap that nobody asked for makes anything optimal. */
static inline void forge_gap(bench *b)
{
    file f = copy_file(&b->honest);
    json_t *e = part(&f, "evidence"), *c = part(&f, "certificate");
    if (strcmp(json_string_value(json_object_get(e, "claim")), "stopped") == 0) {
        json_object_set_new(e, "claim", json_string("optimal"));
        json_object_set_new(c, "status", json_string("optimal"));
        json_object_set_new(e, "gap_asked", json_real(0.99));
        judge(b, &f, "optimal by a gap of its own", "evidence.gap_asked");
    }
    free_file(&f);
}

/* Two classes exchange their names. */
static inline void forge_names(bench *b)
{
    file f = copy_file(&b->honest);
    json_t *names = part(&f, "classes");
    if (json_array_size(names) > 1) {
        json_t *first = json_incref(json_array_get(names, 0));
        json_array_set(names, 0, json_array_get(names, 1));
        json_array_set_new(names, 1, first);
        judge(b, &f, "names exchanged", "classes");
    }
    free_file(&f);
}

/* A proof for one trace is said to hold for all. */
static inline void forge_reach(bench *b)
{
    file f = copy_file(&b->honest);
    json_t *e = part(&f, "evidence"), *c = part(&f, "certificate");
    const char *proof = json_string_value(json_object_get(c, "proof"));
    if (proof && strcmp(proof, "every trace and margin") != 0) {
        json_object_set_new(e, "reach", json_null());
        json_object_set_new(c, "proof", json_string("every trace and margin"));
        json_object_set_new(c, "proof_trace", json_null());
        judge(b, &f, "for every trace", "evidence.reach");
    }
    free_file(&f);
}

/* Another reference, under the name of the one that is asked for. */
static inline void forge_reference(bench *b)
{
    static const char *const names[] = {"none", "zscore", "within", "fisher", "lda", "local"};
    const json_t *said = json_object_get(part(&b->honest, "certificate"), "reference");
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        file f = copy_file(&b->honest);
        if (strcmp(names[k], json_string_value(said)) != 0) {
            json_object_set_new(part(&f, "certificate"), "reference", json_string(names[k]));
            json_object_set_new(part(&f, "settings"), "reference", json_string(names[k]));
            judge(b, &f, "reference renamed", "certificate.reference settings.reference");
        }
        free_file(&f);
    }
}

/* What no reader looks at: an array beside the others, a word among those of the evidence. */
static inline void forge_hidden(bench *b)
{
    file f = copy_file(&b->honest);
    add_array(&f, "evidence.dual", "hidden", 3, 1);
    judge(b, &f, "an array more", "hidden");
    free_file(&f);
    f = copy_file(&b->honest);
    json_object_set_new(part(&f, "evidence"), "hidden", json_real(1));
    judge(b, &f, "a word more in the evidence", "evidence.hidden");
    free_file(&f);
    f = copy_file(&b->honest);
    json_object_set_new(f.header, "accuracy", json_real(100));
    judge(b, &f, "a word more in the header", "accuracy"); /* told as not checked */
    free_file(&f);
}

/* Settings that would make a training write files: none may reach one. */
static inline void forge_means(bench *b)
{
    char path[5000];
    bool confirmed;
    file f = copy_file(&b->honest);
    snprintf(path, sizeof path, "%s.written", forged_path());
    json_object_set_new(part(&f, "settings"), "checkpoint", json_string(path));
    judge(b, &f, "a setting that writes", "settings.checkpoint");
    json_decref(verdict_of(b->h, b->data, "repeat", &confirmed));
    assert_false(confirmed);
    assert_int_not_equal(access(path, F_OK), 0);
    free_file(&f);
}

static inline void forge_together(bench *b)
{
    forge_margins(b);
    forge_weights(b);
    forge_dropped(b, NULL);
    forge_dropped(b, "given");
    forge_cap(b);
    forge_gap(b);
    forge_names(b);
    forge_reach(b);
    forge_reference(b);
    forge_hidden(b);
    forge_means(b);
}

#endif
