/* forgery_bench.h - what certify says of a forgery, judged */
#ifndef BDML_TESTS_FORGERY_BENCH_H
#define BDML_TESTS_FORGERY_BENCH_H

#include "forged_file.h"

#include <jansson.h>

/* ---- verdicts ------------------------------------------------------------------------------------------ */

static const char *const levels[] = {"auto", "numbers", "problem"};

static inline int rank_of(const char *level)
{
    for (int k = 0; k < 3; k++)
        if (level && strcmp(level, levels[k]) == 0) return k;
    return 0;
}

/* NULL: refused before anything could be checked. */
static inline json_t *verdict_of(bdml_handle *h, const bdml_dataset *data, const char *level,
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
static inline int checked_at(const json_t *verdict, const char *field, bool *listed)
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

static inline void count_kind(bench *b, const char *kind)
{
    for (int k = 0; k < b->kinds; k++)
        if (strcmp(b->kind[k], kind) == 0) return;
    assert_true(b->kinds < MOST_KINDS);
    snprintf(b->kind[b->kinds++], NAME, "%s", kind);
}

/* Is nothing claimed of the field in this verdict that the honest one has checked? */
static inline bool is_unclaimed(const bench *b, const json_t *verdict, int level, const char *field)
{
    bool listed, told;
    int reached = rank_of(json_string_value(json_object_get(verdict, "level")));
    int now = checked_at(verdict, field, &listed);
    int then = checked_at(b->verdict[level], field, &told);
    return listed || (now == 0 && (told || then > reached));
}

/* fields: those that were changed, between blanks. */
static inline void judge(bench *b, const file *f, const char *kind, const char *fields)
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

#endif
