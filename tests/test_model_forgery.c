/* test_model_forgery.c - model files that lie, each in one place, with a valid checksum and in the order that the
 * library writes: none is confirmed at a level at which the place is claimed.
 *
 * Honest models of every form; of each file every value of the header and every array, as the file itself lists
 * them, is changed in every way that fits its type. A forgery passes the test when it is refused, refuted, or
 * confirmed with the place under "not checked", or at a level below the one at which the honest file has it checked. After
 * these, lies that take several places to be consistent with themselves. */
#include "check.h"

#include <jansson.h>

#include "model/evidence.h"

enum { MOST_ARRAYS = 40, MOST_KINDS = 200, NAME = 96 };

/* ---- files -------------------------------------------------------------------------------------------- */

typedef struct array {
    char name[NAME];
    bool real;
    int64_t rows, columns;
    void *cell;
} array;

typedef struct file {
    json_t *header;
    int arrays;
    array array[MOST_ARRAYS];
} file;

static int64_t cells(const array *a)
{
    return a->rows * (a->columns > 0 ? a->columns : 1);
}

static size_t bytes_of(const array *a)
{
    return (size_t)cells(a) * (a->real ? sizeof(double) : sizeof(int32_t));
}

static file read_file(bdml_handle *h, const bdml_model *model)
{
    file f = {0};
    bdml_container *c = NULL;
    void *bytes = NULL;
    size_t size = 0;
    check_ok(h, bdml_save_model_bytes(h, model, &bytes, &size));
    check_ok(h, bdml_container_from_bytes(h, bytes, size, "model", &c));
    f.header = json_deep_copy(bdml_container_header(c));
    for (; bdml_container_array(c, (size_t)f.arrays); f.arrays++) {
        array *a = &f.array[f.arrays];
        assert_true(f.arrays < MOST_ARRAYS);
        snprintf(a->name, sizeof a->name, "%s", bdml_container_array(c, (size_t)f.arrays));
        a->rows = a->columns = -1;
        a->real = bdml_container_get_f8(h, c, a->name, &a->rows, &a->columns,
                                        (double **)&a->cell) == BDML_OK;
        if (!a->real)
            check_ok(h, bdml_container_get_i4(h, c, a->name, &a->rows, &a->columns,
                                              (int32_t **)&a->cell));
    }
    bdml_container_free(c);
    bdml_free_bytes(bytes);
    return f;
}

static file copy_file(const file *from)
{
    file f = *from;
    f.header = json_deep_copy(from->header);
    for (int k = 0; k < f.arrays; k++) {
        f.array[k].cell = malloc(bytes_of(&from->array[k]) + 16); /* room for one more cell */
        memcpy(f.array[k].cell, from->array[k].cell, bytes_of(&from->array[k]));
    }
    return f;
}

static void free_file(file *f)
{
    json_decref(f->header);
    for (int k = 0; k < f->arrays; k++) free(f->array[k].cell);
}

static const char *forged_path(void)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/test_model_forgery.%d.bdml", BDML_TEST_BINARY_DIR,
             (int)getpid());
    return path;
}

static void write_file(bdml_handle *h, const file *f)
{
    bdml_container *c = NULL;
    check_ok(h, bdml_container_new(h, &c));
    json_object_update(bdml_container_header(c), f->header);
    for (int k = 0; k < f->arrays; k++) {
        const array *a = &f->array[k];
        if (a->real)
            check_ok(h, bdml_container_put_f8(h, c, a->name, a->rows, a->columns, a->cell));
        else
            check_ok(h, bdml_container_put_i4(h, c, a->name, a->rows, a->columns, a->cell));
    }
    check_ok(h, bdml_container_save(h, c, forged_path()));
    bdml_container_free(c);
}

static array *array_named(file *f, const char *name)
{
    for (int k = 0; k < f->arrays; k++)
        if (strcmp(f->array[k].name, name) == 0) return &f->array[k];
    return NULL;
}

/* ---- verdicts ------------------------------------------------------------------------------------------ */

static const char *const levels[] = {"auto", "numbers", "problem"};

static int rank_of(const char *level)
{
    for (int k = 0; k < 3; k++)
        if (level && strcmp(level, levels[k]) == 0) return k;
    return 0;
}

/* NULL: refused before anything could be checked. */
static json_t *verdict_of(bdml_handle *h, const bdml_dataset *data, const char *level,
                          bool *confirmed)
{
    char *text = NULL;
    int yes = 0;
    check_ok(h, bdml_set(h, "level", level));
    bdml_status status = bdml_certify(h, forged_path(), data, &yes, &text);
    json_t *o = status == BDML_OK ? json_loads(text, 0, NULL) : NULL;
    assert_true(status == BDML_OK || (!yes && bdml_last_error(h)[0]));
    *confirmed = yes;
    bdml_free_bytes(text);
    return o;
}

/* The level at which a field is checked, 0: it is not; *listed: it is told as not checked. */
static int checked_at(const json_t *verdict, const char *field, bool *listed)
{
    size_t i;
    const json_t *o;
    int at = 0;
    *listed = false;
    json_array_foreach(json_object_get(verdict, "checked"), i, o)
    {
        if (strcmp(json_string_value(json_object_get(o, "field")), field) == 0)
            at = rank_of(json_string_value(json_object_get(o, "level")));
    }
    json_array_foreach(json_object_get(verdict, "not_checked"), i, o)
    {
        if (strcmp(json_string_value(json_object_get(o, "field")), field) == 0) *listed = true;
    }
    return at;
}

/* ---- the bench ------------------------------------------------------------------------------------------ */

typedef struct form {
    const char *name, *settings;
    const char *source; /* "mined", "pairs", "triplets", "given" */
    bool missing;       /* some values are */
} form;

typedef struct bench {
    bdml_handle *h;
    const form *form;
    bdml_dataset *data;
    file honest;
    json_t *verdict[2]; /* of the honest file: as far as it goes, numbers alone */
    int forged, refused, refuted, confirmed, wrong, fields;
    int kinds;
    char kind[MOST_KINDS][NAME];
} bench;

static void count_kind(bench *b, const char *kind)
{
    for (int k = 0; k < b->kinds; k++)
        if (strcmp(b->kind[k], kind) == 0) return;
    assert_true(b->kinds < MOST_KINDS);
    snprintf(b->kind[b->kinds++], NAME, "%s", kind);
}

/* Is nothing claimed of the field in this verdict that the honest one has checked? */
static bool is_unclaimed(const bench *b, const json_t *verdict, int level, const char *field)
{
    bool listed, told;
    int reached = rank_of(json_string_value(json_object_get(verdict, "level")));
    int now = checked_at(verdict, field, &listed);
    int then = checked_at(b->verdict[level], field, &told);
    return listed || (now == 0 && (told || then > reached));
}

/* fields: those that were changed, between blanks. */
static void judge(bench *b, const file *f, const char *kind, const char *fields)
{
    write_file(b->h, f);
    b->forged++;
    count_kind(b, kind);
    for (int level = 0; level < 2; level++) {
        bool confirmed, fine = true;
        char list[1024], *save = NULL;
        json_t *o = verdict_of(b->h, b->data, levels[level], &confirmed);
        snprintf(list, sizeof list, "%s", fields);
        for (char *field = strtok_r(list, " ", &save); confirmed && field;
             field = strtok_r(NULL, " ", &save))
            fine = fine && is_unclaimed(b, o, level, field);
        if (level == 0) {
            b->refused += !o;
            b->refuted += o && !confirmed;
            b->confirmed += confirmed;
        }
        if (!fine) {
            b->wrong++;
            print_error("%s: %s: %s: confirmed at level %s\n", b->form->name, fields, kind,
                        json_string_value(json_object_get(o, "level")));
        }
        json_decref(o);
    }
}

/* ---- lies about a value of the header ----------------------------------------------------------------------- */

/* A setting's text as another one: a number doubled, the other answer, the next word. */
static json_t *other_setting(const char *field, const char *text)
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

static json_t *altered_list(const json_t *v)
{
    json_t *copy = json_deep_copy(v);
    if (json_array_size(copy) > 0) json_array_set_new(copy, 0, altered(json_array_get(v, 0)));
    return copy;
}

/* Something else of the same type. */
static json_t *altered(const json_t *v)
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
static json_t *lie_about(const json_t *v, const char *field, int k, const char **kind)
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
static void forge_value(bench *b, const char *key, const char *inner)
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

static void forge_header(bench *b)
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

static int64_t largest(const array *a)
{
    int64_t at = 0;
    for (int64_t i = 0; a->real && i < cells(a); i++) {
        double x = ((double *)a->cell)[i];
        if (isfinite(x) && !(fabs(((double *)a->cell)[at]) >= fabs(x))) at = i;
    }
    return at;
}

/* Lie number k; NULL: there are no more. */
static const char *lie_in(array *a, int k)
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
static bool is_harmless(const char *name, const char *kind)
{
    bool list = strcmp(name, "evidence.target") == 0 || strcmp(name, "evidence.far") == 0 ||
                strcmp(name, "evidence.near") == 0;
    return (list && strcmp(kind, "indices exchanged") == 0) ||
           (strcmp(name, "evidence.dual") == 0 && strcmp(kind, "cell a bit more") == 0);
}

static void forge_arrays(bench *b)
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

static json_t *part(file *f, const char *key)
{
    return json_object_get(f->header, key);
}

/* A new array where the library writes it: behind the one called `after`. */
static array *add_array(file *f, const char *after, const char *name, int64_t rows, double value)
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
static void forge_margins(bench *b)
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
static void forge_weights(bench *b)
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
static void forge_dropped(bench *b, const char *origin)
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
static void forge_cap(bench *b)
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
static void forge_gap(bench *b)
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
static void forge_names(bench *b)
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
static void forge_reach(bench *b)
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
static void forge_reference(bench *b)
{
    static const char *const names[] = {"none", "zscore", "within", "fisher", "lda"};
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
static void forge_hidden(bench *b)
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
static void forge_means(bench *b)
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

static void forge_together(bench *b)
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

/* ---- honest models --------------------------------------------------------------------------------------------------- */

/* 20 flowers of each kind; missing: two values are not there. */
static bdml_dataset *make_data(bdml_handle *h, bool missing)
{
    bdml_dataset *all = NULL, *some = NULL;
    int64_t row[60];
    check_ok(h, bdml_read_dataset(h, source_path("data/iris.csv"), &all));
    for (int64_t i = 0; i < 60; i++) row[i] = i / 20 * 50 + i % 20;
    check_ok(h, bdml_dataset_subset(h, all, 60, row, &some));
    if (missing) some->x[9] = some->x[47] = NAN;
    bdml_free_dataset(all);
    return some;
}

static const char *constraint_path(const char *source)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/test_model_forgery.%d.%s.csv", BDML_TEST_BINARY_DIR,
             (int)getpid(), source);
    return path;
}

/* Pairs i,j,same or triplets i,j,k over the 60 rows. */
static void write_constraints(const char *source)
{
    FILE *f = fopen(constraint_path(source), "w");
    assert_non_null(f);
    for (int i = 0; i < 60; i++) {
        int near = i / 20 * 20 + (i + 1) % 20, far = (i + 20 + i % 7) % 60;
        if (strcmp(source, "pairs") == 0)
            fprintf(f, "%d,%d,1\n%d,%d,0\n", i, near, i, far);
        else
            fprintf(f, "%d,%d,%d\n", i, near, far);
    }
    fclose(f);
}

static bdml_model *make_model(bdml_handle *h, const form *as, const bdml_dataset *data)
{
    char text[512], *save = NULL;
    bdml_model *model = NULL;
    bdml_constraints *given = NULL;
    snprintf(text, sizeof text, "%s", as->settings);
    check_ok(h, bdml_set(h, "threads", "1"));
    for (char *name = strtok_r(text, " ", &save); name; name = strtok_r(NULL, " ", &save))
        check_ok(h, bdml_set(h, name, strtok_r(NULL, " ", &save)));
    if (strcmp(as->source, "mined") != 0) write_constraints(as->source);
    if (strcmp(as->source, "pairs") == 0)
        check_ok(h, bdml_set(h, "pairs-file", constraint_path("pairs")));
    if (strcmp(as->source, "triplets") == 0)
        check_ok(h, bdml_set(h, "triplets-file", constraint_path("triplets")));
    if (strcmp(as->source, "given") == 0) {
        int32_t target[] = {0, 1, 20, 21, 40, 41}, triplet[] = {0, 1, 20, 20, 21, 40, 40, 41, 3};
        double margin[] = {1, 2, 3}, weight[] = {1, 2, 1};
        check_ok(h, bdml_constraints_from_arrays(h, 60, 3, target, 0, NULL, 3, triplet, &given));
        check_ok(h, bdml_constraints_set_margins(h, given, margin));
        check_ok(h, bdml_constraints_set_weights(h, given, weight));
    }
    bdml_status status = bdml_train(h, data, given, &model);
    if (status != BDML_OK && status != BDML_ERR_INFEASIBLE)
        fail_msg("%s: %s", as->name, bdml_last_error(h));
    bdml_free_constraints(given);
    return model;
}

static const form forms[] = {
    {"hard pairs", "hard yes kind pair scale zscore distortion 30", "mined", false},
    {"hard triplets, reference", "hard yes distortion 300 reference zscore", "mined", false},
    {"soft", "rule class scale minmax distortion 30 softness 4", "mined", false},
    {"hinge", "rule nearest targets 6 loss hinge reference within shrinkage 0.2", "mined", false},
    {"trace", "rule ball trace 0.5 scale zscore distortion 30", "mined", false},
    {"diagonal", "diagonal yes reference fisher kind pair distortion 3", "mined", false},
    {"stopped", "rule class scale zscore max-iter 5 gap 1e-9", "mined", false},
    {"basis, missing", "rule class scale unit pca 3 missing mean margin 2", "mined", true},
    {"rank", "rank 2 scale zscore distortion 3 softness 5 passes 1", "mined", false},
    {"recipe", "seed 3", "mined", false},
    {"recipe, mined again", "passes 2 distortion 3 softness 5 reference within", "mined", false},
    {"lifted", "solver mwu kind pair rounds 50 scale zscore distortion 30", "mined", false},
    {"pairs", "scale zscore", "pairs", false},
    {"pairs, hard", "hard yes distortion 1000 pair-score cosine", "pairs", false},
    {"triplets", "scale zscore distortion 30 softness 3", "triplets", false},
    {"given", "distortion 30 softness 3", "given", false},
    {"contradiction", "hard yes distortion 2 scale zscore rule nearest targets 12", "mined", false},
    {"no room", "hard yes kind pair trace 0.01 scale zscore distortion 30", "mined", false},
};

static void open_bench(bench *b, const form *as)
{
    bool confirmed;
    bdml_model *model;
    bdml_handle *trainer = NULL;
    b->form = as;
    check_ok(b->h, bdml_create(&trainer));
    b->data = make_data(b->h, as->missing);
    model = make_model(trainer, as, b->data);
    b->honest = read_file(b->h, model);
    write_file(b->h, &b->honest);
    for (int level = 0; level < 2; level++) {
        b->verdict[level] = verdict_of(b->h, b->data, levels[level], &confirmed);
        if (!confirmed)
            fail_msg("%s: the honest model is not confirmed: %s", as->name,
                     b->verdict[level] ? json_dumps(b->verdict[level], JSON_INDENT(1))
                                       : bdml_last_error(b->h));
    }
    bdml_free_model(model);
    bdml_free(trainer);
}

static void close_bench(bench *b)
{
    free_file(&b->honest);
    json_decref(b->verdict[0]);
    json_decref(b->verdict[1]);
    bdml_free_dataset(b->data);
    unlink(forged_path());
    unlink(constraint_path(b->form->source));
}

static void no_lie_is_confirmed(void **state)
{
    bench b = {.h = *state};
    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
        int before = b.forged, fields = b.fields;
        open_bench(&b, &forms[k]);
        forge_header(&b);
        forge_arrays(&b);
        forge_together(&b);
        print_message("%-24s level %-8s %4d forgeries of %3d fields\n", forms[k].name,
                      json_string_value(json_object_get(b.verdict[0], "level")), b.forged - before,
                      b.fields - fields);
        close_bench(&b);
    }
    print_message(
        "%d forgeries of %d kinds: %d refused, %d refuted, %d confirmed with the place under "
        "'not checked' or at a level below; %d wrong\n",
        b.forged, b.kinds, b.refused, b.refuted, b.confirmed, b.wrong);
    assert_true(b.forged >= 150 && b.kinds >= 20);
    assert_int_equal(b.wrong, 0);
}

/* A metric of distortion 1e12 as one of 10: trained on a column that is 1e6 times too small, in a file that says the
 * column was scaled so. The numbers hold; the scaling is not that of the data. */
static void scaling_is_made_again(void **state)
{
    bench b = {.h = *state, .form = &forms[0]};
    bdml_handle *trainer = NULL;
    bool confirmed;
    char fingerprint[24];
    check_ok(b.h, bdml_create(&trainer));
    b.data = make_data(b.h, false);
    bdml_dataset *squeezed = make_data(b.h, false);
    for (int64_t i = 0; i < 60; i++) squeezed->x[4 * i] *= 0x1p-20;
    bdml_model *model =
        make_model(trainer, &(form){"", "hard yes kind pair", "mined", false}, squeezed);
    file f = read_file(b.h, model);
    add_array(&f, "map", "shift", 4, 0);
    ((double *)add_array(&f, "shift", "width", 4, 1)->cell)[0] = 0x1p20;
    snprintf(fingerprint, sizeof fingerprint, "%016llx",
             (unsigned long long)bdml_dataset_fingerprint(b.data));
    json_object_set_new(f.header, "data_fingerprint", json_string(fingerprint));
    json_object_set_new(f.header, "scale", json_string("zscore"));
    json_object_set_new(json_object_get(f.header, "settings"), "scale", json_string("zscore"));
    write_file(b.h, &f);
    json_t *o = verdict_of(b.h, b.data, "numbers", &confirmed);
    assert_non_null(o);
    if (!confirmed) /* of the problem in the file it is true */
        fail_msg("%s", json_dumps(json_object_get(o, "checks"), JSON_INDENT(1)));
    json_decref(o);
    o = verdict_of(b.h, b.data, "auto", &confirmed);
    assert_non_null(o);
    assert_false(confirmed);
    json_decref(o);
    free_file(&f);
    bdml_free_model(model);
    bdml_free_dataset(squeezed);
    bdml_free_dataset(b.data);
    bdml_free(trainer);
    unlink(forged_path());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(no_lie_is_confirmed),
        handle_test(scaling_is_made_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
