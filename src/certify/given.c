/* given.c - constraints from files: the files, as they are now, hold the same.
 *
 * Files that this call names (settings targets-file, ...) are taken instead of those of the same kind whose names
 * stand in the model. A name from a model is followed only to a plain file. */
#include "certify/stated.h"

#include <stdlib.h>
#include <sys/stat.h>

#define FILES \
    " settings.targets-file settings.impostors-file settings.pairs-file settings.triplets-file"
static const char FIELDS[] = BDML_CONSTRAINT_FIELDS FILES,
                  FIELDS_AND_KIND[] = BDML_CONSTRAINT_FIELDS FILES " settings.kind";

static bool is_plain_file(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

/* Name by name: what is said now, or what the model says. False: one is not there. */
static bool find_files(const bdml_constraint_options *now, bdml_constraint_options *c,
                       const char **missing)
{
    const struct {
        const bdml_text *now;
        bdml_text *then;
    } files[] = {{&now->targets_file, &c->targets_file},
                 {&now->impostors_file, &c->impostors_file},
                 {&now->pairs_file, &c->pairs_file},
                 {&now->triplets_file, &c->triplets_file}};
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        if (!files[k].then->value[0]) continue;
        if (files[k].now->value[0]) *files[k].then = *files[k].now;
        *missing = files[k].then->value;
        if (!is_plain_file(*missing)) return false;
    }
    return true;
}

static bdml_status read_files(bdml_handle *own, const bdml_constraint_options *c, int64_t n,
                              bdml_constraints **out)
{
    bdml_labelled_pairs pairs = {0};
    if (!bdml_pairs_file_alone(c)) return bdml_constraint_files_read(own, c, n, out);
    BDML_TRY(bdml_labelled_read(own, c->pairs_file.value, n, true, &pairs));
    bdml_status status = bdml_labelled_constraints(own, n, &pairs, out);
    bdml_labelled_free(&pairs);
    return status;
}

static bool same_rows(int64_t count, const int32_t *a, const int32_t *b)
{
    return count == 0 || memcmp(a, b, sizeof *a * (size_t)count) == 0;
}

static bool all_one(int64_t count, const double *v)
{
    for (int64_t t = 0; v && t < count; t++)
        if (v[t] != 1.0) return false;
    return true;
}

/* Weights; NULL: all 1. */
static bool same_values(int64_t count, const double *a, const double *b)
{
    for (int64_t t = 0; t < count; t++)
        if ((a ? a[t] : 1.0) != (b ? b[t] : 1.0)) return false;
    return true;
}

static bool same_constraints(const bdml_constraints *a, const bdml_constraints *b)
{
    return a->pairs == b->pairs && a->targets == b->targets && a->m == b->m &&
           same_rows(a->pairs, a->pi, b->pi) && same_rows(a->pairs, a->pj, b->pj) &&
           same_rows(a->targets, a->target, b->target) && same_rows(a->m, a->far, b->far) &&
           same_rows(a->m, a->near, b->near) && all_one(b->m, b->margin) &&
           same_values(a->m, a->weight, b->weight);
}

bdml_status bdml_check_given(bdml_plain *w, const bdml_stated *s)
{
    bdml_constraint_options c = s->o->constraints;
    bdml_constraints *read = NULL;
    const char *missing = "", *fields = bdml_pairs_file_alone(&c) ? FIELDS : FIELDS_AND_KIND;

    if (!find_files(w->files, &c, &missing)) {
        bdml_verdict_trust(w->v, "constraints", fields,
                           "constraints taken on trust: there is no file %.120s; name it again",
                           missing);
        return BDML_OK;
    }
    if (read_files(s->own, &c, w->n, &read) != BDML_OK) {
        bdml_verdict_note(w->v, BDML_LEVEL_PROBLEM, "constraints", fields, false, "%.200s",
                          bdml_last_error(s->own));
        return BDML_OK;
    }
    bool same = same_constraints(read, w->c);
    bdml_verdict_note(w->v, BDML_LEVEL_PROBLEM, "constraints", fields, same,
                      same ? "the %lld constraints and %lld target pairs of the files"
                           : "not the %lld constraints and %lld target pairs of the files",
                      (long long)read->m, (long long)read->targets);
    bdml_free_constraints(read);
    return BDML_OK;
}
