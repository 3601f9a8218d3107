/* files.c - constraints from text files of row numbers.
 *
 *     targets-file    i,j          impostors-file   i,k
 *     pairs-file      i,j,same     triplets-file    i,j,k or i,j,k,weight
 *     quadruplets-file  i,j,k,l
 *
 * in lines as lines.h says; gzip is undone. */
#include "problem/lines.h"

#include <stdlib.h>

/* One kind of file: its setting and columns. Pairs are read by labelled.c. */
typedef struct form {
    size_t option; /* place of its name in the settings */
    const char *name;
    int columns;
    const char *example;
} form;

enum { TARGETS, IMPOSTORS, PAIRS, TRIPLETS, QUADRUPLETS, FORMS };
static const form forms[FORMS] = {
    {offsetof(bdml_constraint_options, targets_file), "targets-file", 2, "i,j"},
    {offsetof(bdml_constraint_options, impostors_file), "impostors-file", 2, "i,k"},
    {offsetof(bdml_constraint_options, pairs_file), "pairs-file", 3, "i,j,same"},
    {offsetof(bdml_constraint_options, triplets_file), "triplets-file", 3, "i,j,k[,weight]"},
    {offsetof(bdml_constraint_options, quadruplets_file), "quadruplets-file", 4, "i,j,k,l"},
};

/* All that the files hold; the tuples are triplets, or quadruplets where that file is given. */
typedef struct contents {
    bdml_lists lists;
    int32_t *tuple;
    int64_t tuples;
    size_t capacity;
    double *weight; /* of the triplets, where all have one; else NULL */
    size_t weight_capacity;
} contents;

static const char *name_of(const bdml_constraint_options *o, int f)
{
    return ((const bdml_text *)(const void *)((const char *)o + forms[f].option))->value;
}

static bool given(const bdml_constraint_options *o, int f)
{
    return name_of(o, f)[0] != '\0';
}

/* ---- one file -------------------------------------------------------------------------------------- */

/* A triplet may have a fourth column: all of a file, or none. */
static bdml_status keep_weight(bdml_handle *h, const bdml_input *in, bool has, const bdml_field *f,
                               contents *all)
{
    double w;
    if (has != (all->weight != NULL) && all->tuples > 1)
        return bdml_fail(h, BDML_ERR_DATA, "%s: line %lld: every triplet has a weight, or none has",
                         bdml_input_name(in), (long long)bdml_input_line_number(in));
    if (!has) return BDML_OK;
    if (!bdml_parse_double(h->c_locale, f->text, f->n, &w) || !isfinite(w) || !(w > 0.0))
        return bdml_fail(h, BDML_ERR_DATA,
                         "%s: line %lld, column 4: '%.*s' is not a weight; weights are above 0",
                         bdml_input_name(in), (long long)bdml_input_line_number(in),
                         (int)BDML_MIN(f->n, (size_t)40), f->text);
    BDML_TRY(bdml_grow(h, &all->weight, &all->weight_capacity, (size_t)all->tuples,
                       sizeof *all->weight));
    all->weight[all->tuples - 1] = w;
    return BDML_OK;
}

static bdml_status keep(bdml_handle *h, int f, const int32_t *v, contents *all)
{
    if (f == TARGETS) return bdml_pairs_add(h, &all->lists.target, v[0], v[1]);
    if (f == IMPOSTORS) return bdml_pairs_add(h, &all->lists.impostor, v[0], v[1]);
    size_t width = (size_t)forms[f].columns, used = width * (size_t)all->tuples++;
    BDML_TRY(bdml_grow(h, &all->tuple, &all->capacity, used + width, sizeof *all->tuple));
    memcpy(all->tuple + used, v, sizeof *v * width);
    return BDML_OK;
}

/* Rows of one constraint differ; of a quadruplet, those of each pair, and the pairs. */
static bdml_status check_rows(bdml_handle *h, const bdml_input *in, int f, const int32_t *v)
{
    if (f != QUADRUPLETS) return bdml_rows_differ(h, in, 0, forms[f].columns, v);
    BDML_TRY(bdml_rows_differ(h, in, 0, 2, v));
    BDML_TRY(bdml_rows_differ(h, in, 2, 2, v + 2));
    if (bdml_pair_key(v[0], v[1]) != bdml_pair_key(v[2], v[3])) return BDML_OK;
    return bdml_fail(h, BDML_ERR_DATA,
                     "%s: line %lld: the pair of rows %d and %d cannot be nearer than itself",
                     bdml_input_name(in), (long long)bdml_input_line_number(in), (int)v[0],
                     (int)v[1]);
}

/* Row numbers only. */
static bdml_status read_lines(bdml_handle *h, bdml_input *in, int f, int64_t n, contents *all)
{
    const form *kind = &forms[f];
    bool first = true;
    for (int64_t kept = 0;; kept++) {
        bdml_field fields[BDML_FIELDS + 1];
        int32_t value[BDML_FIELDS];
        int count;
        BDML_TRY(bdml_fields_next(h, in, &first, fields, &count));
        if (count == 0 && kept > 0) return BDML_OK;
        if (count == 0)
            return bdml_fail(h, BDML_ERR_DATA,
                             "%s: there is no constraint in it; a %s has lines %s",
                             bdml_input_name(in), kind->name, kind->example);
        bool weighted = f == TRIPLETS && count == kind->columns + 1;
        if (count != kind->columns && !weighted)
            return bdml_fail(h, BDML_ERR_DATA, "%s: line %lld has %d column%s; a %s has %d: %s",
                             bdml_input_name(in), (long long)bdml_input_line_number(in), count,
                             count == 1 ? "" : "s", kind->name, kind->columns, kind->example);
        for (int c = 0; c < kind->columns; c++)
            BDML_TRY(bdml_field_row(h, in, c, &fields[c], n, &value[c]));
        BDML_TRY(check_rows(h, in, f, value));
        BDML_TRY(keep(h, f, value, all));
        if (f == TRIPLETS) BDML_TRY(keep_weight(h, in, weighted, &fields[3], all));
    }
}

static bdml_status read_pairs(bdml_handle *h, const char *path, int64_t n, bdml_lists *lists)
{
    bdml_labelled_pairs pairs = {0};
    BDML_TRY(bdml_labelled_read(h, path, n, true, &pairs));
    bdml_status status = bdml_labelled_lists(h, &pairs, lists);
    bdml_labelled_free(&pairs);
    return status;
}

static bdml_status read_file(bdml_handle *h, const char *path, int f, int64_t n, contents *all)
{
    bdml_input *in = NULL;
    if (f == PAIRS) return read_pairs(h, path, n, &all->lists);
    BDML_TRY(bdml_input_open(h, path, &in));
    bdml_status status = read_lines(h, in, f, n, all);
    bdml_input_close(in);
    return status;
}

/* ---- all files -------------------------------------------------------------------------------------- */

/* Combinations of files and kind that make no problem. */
static bdml_status check_combination(bdml_handle *h, const bdml_constraint_options *o)
{
    int kind = o->kind.value;
    if (o->relevant_file.value[0])
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "relevant-file stands alone, for method bdml: its impostors are mined");
    bool target = given(o, TARGETS) || given(o, PAIRS), triplet = given(o, TRIPLETS);
    bool impostor = given(o, IMPOSTORS) || given(o, PAIRS);
    if (given(o, QUADRUPLETS)) {
        if (!target && !impostor && !triplet) return BDML_OK;
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "quadruplets-file stands alone; write what the other files say as "
                         "quadruplets too: a triplet i,j,k is i,j,i,k");
    }
    if (kind == BDML_KIND_PAIR && triplet)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "triplets-file holds triplets, but kind is pair; set kind triplet");
    if (triplet && (target || !impostor)) return BDML_OK;
    if (!target)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "impostors-file alone says only what is far; give targets-file too, or "
                         "pairs-file");
    if (!impostor)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "targets-file alone says only what is near; give impostors-file too, or "
                         "pairs-file%s",
                         kind == BDML_KIND_TRIPLET ? " or triplets-file" : "");
    return BDML_OK;
}

/* Triplets alone: their near pairs are the objective. */
static bdml_status targets_of_triplets(bdml_handle *h, contents *all)
{
    bdml_keys seen = {0};
    bdml_status status = BDML_OK;
    for (int64_t t = 0; t < all->tuples; t++) {
        int32_t i = all->tuple[3 * t], j = all->tuple[3 * t + 1], id;
        int64_t before = seen.count;
        BDML_GO(bdml_keys_add(h, &seen, (uint64_t)i << 32 | (uint64_t)j, &id));
        if (seen.count > before) BDML_GO(bdml_pairs_add(h, &all->lists.target, i, j));
    }
done:
    bdml_keys_free(&seen);
    return status;
}

static bdml_status need_some(bdml_handle *h, const char *pairs, const contents *all)
{
    if (all->lists.target.count == 0)
        return bdml_fail(h, BDML_ERR_DATA, "%s: no pair is of the same class (1)", pairs);
    if (all->tuples == 0 && all->lists.impostor.count == 0)
        return bdml_fail(h, BDML_ERR_DATA, "%s: no pair is of different classes (0)", pairs);
    return BDML_OK;
}

bool bdml_pairs_file_alone(const bdml_constraint_options *o)
{
    for (int f = 0; f < FORMS; f++)
        if (given(o, f) != (f == PAIRS)) return false;
    return true;
}

bool bdml_relevant_file_alone(const bdml_constraint_options *o)
{
    for (int f = 0; f < FORMS; f++)
        if (given(o, f)) return false;
    return o->relevant_file.value[0] != '\0';
}

bool bdml_constraint_files_given(const bdml_constraint_options *o)
{
    for (int f = 0; f < FORMS; f++)
        if (given(o, f)) return true;
    return o->relevant_file.value[0] != '\0';
}

bdml_status bdml_constraint_files_read(bdml_handle *h, const bdml_constraint_options *o, int64_t n,
                                       bdml_constraints **out)
{
    bdml_status status = BDML_OK;
    contents all = {0};

    *out = NULL;
    BDML_TRY(check_combination(h, o));
    for (int f = 0; f < FORMS; f++)
        if (given(o, f)) BDML_GO(read_file(h, name_of(o, f), f, n, &all));
    if (given(o, QUADRUPLETS)) {
        status = bdml_quadruplets_build(h, n, all.tuples, all.tuple, out);
        goto done;
    }
    if (all.tuples > 0 && all.lists.target.count == 0) BDML_GO(targets_of_triplets(h, &all));
    BDML_GO(need_some(h, o->pairs_file.value, &all));
    BDML_GO(bdml_constraints_combine(h, n, o->kind.value, &all.lists, all.tuples, all.tuple,
                                     all.weight, out));
    if ((*out)->m == 0) {
        bdml_free_constraints(*out);
        *out = NULL;
        status = bdml_fail(h, BDML_ERR_DATA,
                           "no row is first in both a target and an impostor pair, so there are no "
                           "triplets; give pairs with the same first row, or set kind pair");
    }
done:
    bdml_lists_free(&all.lists);
    free(all.tuple);
    free(all.weight);
    return status;
}
