/* labelled.c - pairs of rows with the answer, same or different: reading, folds, constraints.
 *
 * Folds are dealt out so that pairs which share a row stay together: the connected parts of the graph
 * whose edges are the pairs go, largest first, to the fold that has the fewest pairs. */
#include "problem/lines.h"

#include <stdlib.h>

void bdml_labelled_free(bdml_labelled_pairs *p)
{
    free(p->row);
    free(p->same);
    free(p->fold);
    *p = (bdml_labelled_pairs){0};
}

static bdml_status make(bdml_handle *h, int64_t count, bool same, bool fold,
                        bdml_labelled_pairs *out)
{
    bdml_status status = BDML_OK;
    *out = (bdml_labelled_pairs){.count = count};
    BDML_NEW(h, out->row, 2 * count);
    if (same) BDML_NEW(h, out->same, count);
    if (fold) BDML_NEW(h, out->fold, count);
done:
    if (status != BDML_OK) bdml_labelled_free(out);
    return status;
}

/* ---- reading ------------------------------------------------------------------------------------------ */

/* Lines as they come in: 4 numbers each, the fold as written. */
typedef struct lines {
    int32_t (*value)[4]; /* i, j, same, fold */
    int64_t count;
    size_t capacity;
    int columns; /* of the first line; all others have as many */
} lines;

static bdml_status bad_columns(bdml_handle *h, const bdml_input *in, int count, bool answers,
                               const lines *l)
{
    return bdml_fail(h, BDML_ERR_DATA, "%s: line %lld has %d column%s; a pairs-file has %s%s",
                     bdml_input_name(in), (long long)bdml_input_line_number(in), count,
                     count == 1 ? "" : "s",
                     answers ? "3: i,j,same, or 4: fold,i,j,same"
                             : "2: i,j, 3: i,j,same, or 4: fold,i,j,same",
                     l->count > 0 ? ", the same in every line" : "");
}

static bdml_status read_fold(bdml_handle *h, const bdml_input *in, const bdml_field *f, int32_t *v)
{
    int64_t fold;
    if (!bdml_parse_int(f->text, f->n, &fold) || fold < INT32_MIN || fold > INT32_MAX)
        return bdml_fail(h, BDML_ERR_DATA,
                         "%s: line %lld, column 1: '%.*s' must be the number of a fold",
                         bdml_input_name(in), (long long)bdml_input_line_number(in),
                         (int)BDML_MIN(f->n, (size_t)40), f->text);
    *v = (int32_t)fold;
    return BDML_OK;
}

static bdml_status read_lines(bdml_handle *h, bdml_input *in, int64_t n, bool answers, lines *l)
{
    bool first = true;
    for (;;) {
        bdml_field fields[BDML_FIELDS + 1];
        int32_t v[4] = {0};
        int count;
        BDML_TRY(bdml_fields_next(h, in, &first, fields, &count));
        if (count == 0) break;
        if (l->count == 0) l->columns = count;
        if (count != l->columns || count < (answers ? 3 : 2) || count > 4)
            return bad_columns(h, in, count, answers, l);
        int at = count == 4;
        if (at) BDML_TRY(read_fold(h, in, &fields[0], &v[3]));
        BDML_TRY(bdml_field_row(h, in, at, &fields[at], n, &v[0]));
        BDML_TRY(bdml_field_row(h, in, at + 1, &fields[at + 1], n, &v[1]));
        BDML_TRY(bdml_rows_differ(h, in, at, 2, v));
        if (count > 2) BDML_TRY(bdml_field_same(h, in, at + 2, &fields[at + 2], &v[2]));
        BDML_TRY(bdml_grow(h, &l->value, &l->capacity, (size_t)l->count + 1, sizeof *l->value));
        memcpy(l->value[l->count++], v, sizeof v);
    }
    if (l->count == 0)
        return bdml_fail(h, BDML_ERR_DATA,
                         "%s: there is no constraint in it; a pairs-file has lines i,j,same",
                         bdml_input_name(in));
    return BDML_OK;
}

static int by_number(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Folds 0, 1, ... in the order of the numbers that name them. */
static bdml_status number_folds(bdml_handle *h, bdml_labelled_pairs *p)
{
    bdml_status status = BDML_OK;
    int32_t *name = NULL;
    BDML_NEW(h, name, p->count);
    memcpy(name, p->fold, sizeof *name * (size_t)p->count);
    qsort(name, (size_t)p->count, sizeof *name, by_number);
    for (int64_t k = 0; k < p->count; k++)
        if (k == 0 || name[k] != name[k - 1]) name[p->folds++] = name[k];
    for (int64_t k = 0; k < p->count; k++) {
        const int32_t *at = bsearch(&p->fold[k], name, (size_t)p->folds, sizeof *name, by_number);
        p->fold[k] = (int32_t)(at - name);
    }
done:
    free(name);
    return status;
}

bdml_status bdml_labelled_read(bdml_handle *h, const char *path, int64_t n, bool answers,
                               bdml_labelled_pairs *out)
{
    bdml_status status = BDML_OK;
    bdml_input *in = NULL;
    lines l = {0};

    *out = (bdml_labelled_pairs){0};
    BDML_GO(bdml_input_open(h, path, &in));
    BDML_GO(read_lines(h, in, n, answers, &l));
    BDML_GO(make(h, l.count, l.columns > 2, l.columns == 4, out));
    for (int64_t k = 0; k < l.count; k++) {
        memcpy(out->row + 2 * k, l.value[k], 2 * sizeof(int32_t));
        if (out->same) out->same[k] = l.value[k][2];
        if (out->fold) out->fold[k] = l.value[k][3];
    }
    if (out->fold) status = number_folds(h, out);
done:
    if (status != BDML_OK) bdml_labelled_free(out);
    bdml_input_close(in);
    free(l.value);
    return status;
}

static bdml_status check_pair(bdml_handle *h, int64_t n, int64_t k, const int32_t *row,
                              const int32_t *same)
{
    for (int e = 0; e < 2; e++)
        if (row[2 * k + e] < 0 || row[2 * k + e] >= n)
            return bdml_fail(h, BDML_ERR_ARGUMENT,
                             "pair %lld names row %d, which is not among the %lld rows of the data",
                             (long long)k, (int)row[2 * k + e], (long long)n);
    if (row[2 * k] == row[2 * k + 1])
        return bdml_fail(h, BDML_ERR_ARGUMENT, "pair %lld is row %d with itself", (long long)k,
                         (int)row[2 * k]);
    if (same && same[k] != 0 && same[k] != 1)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "pair %lld: same is 1 or 0, got %d", (long long)k,
                         (int)same[k]);
    return BDML_OK;
}

bdml_status bdml_labelled_make(bdml_handle *h, int64_t n, int64_t count, const int32_t *rows,
                               const int32_t *same, const int32_t *fold, bdml_labelled_pairs *out)
{
    bdml_status status = BDML_OK;
    size_t bytes = (size_t)count * sizeof *rows;
    *out = (bdml_labelled_pairs){0};
    for (int64_t k = 0; k < count; k++) BDML_TRY(check_pair(h, n, k, rows, same));
    BDML_GO(make(h, count, same != NULL, fold != NULL, out));
    memcpy(out->row, rows, 2 * bytes);
    if (same) memcpy(out->same, same, bytes);
    if (fold) memcpy(out->fold, fold, bytes);
    if (fold) status = number_folds(h, out);
done:
    if (status != BDML_OK) bdml_labelled_free(out);
    return status;
}

/* ---- parts --------------------------------------------------------------------------------------------- */

bdml_status bdml_labelled_part(bdml_handle *h, const bdml_labelled_pairs *p, int fold, bool inside,
                               const int32_t *place, bdml_labelled_pairs *out)
{
    int64_t count = 0, at = 0;
    for (int64_t k = 0; k < p->count; k++) count += (p->fold[k] == fold) == inside;
    BDML_TRY(make(h, count, p->same != NULL, true, out));
    out->folds = p->folds;
    for (int64_t k = 0; k < p->count; k++) {
        if ((p->fold[k] == fold) != inside) continue;
        for (int e = 0; e < 2; e++) {
            int32_t r = p->row[2 * k + e];
            out->row[2 * at + e] = place ? place[r] : r;
        }
        if (p->same) out->same[at] = p->same[k];
        out->fold[at++] = p->fold[k];
    }
    return BDML_OK;
}

/* ---- folds ---------------------------------------------------------------------------------------------- */

static int32_t find(int32_t *parent, int32_t i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

/* A connected part of the graph. */
typedef struct part {
    int64_t pairs;
    int32_t root, fold;
} part;

static int by_size(const void *a, const void *b)
{
    const part *p = a, *q = b;
    if (p->pairs != q->pairs) return p->pairs < q->pairs ? 1 : -1;
    return (p->root > q->root) - (p->root < q->root);
}

/* part_of[row] = number of its part among *parts, for rows that a pair names. */
static bdml_status find_parts(bdml_handle *h, int64_t n, const bdml_labelled_pairs *p,
                              int32_t *part_of, part **out, int64_t *parts)
{
    bdml_status status = BDML_OK;
    int32_t *parent = NULL;
    *parts = 0;
    BDML_NEW(h, parent, n);
    BDML_NEW(h, *out, p->count);
    for (int64_t i = 0; i < n; i++) parent[i] = (int32_t)i, part_of[i] = -1;
    for (int64_t k = 0; k < p->count; k++) {
        int32_t a = find(parent, p->row[2 * k]), b = find(parent, p->row[2 * k + 1]);
        parent[BDML_MAX(a, b)] = BDML_MIN(a, b);
    }
    for (int64_t k = 0; k < p->count; k++) {
        int32_t root = find(parent, p->row[2 * k]);
        if (part_of[root] < 0) {
            part_of[root] = (int32_t)*parts;
            (*out)[(*parts)++].root = root;
        }
        (*out)[part_of[root]].pairs++;
    }
    for (int64_t i = 0; i < n; i++) part_of[i] = part_of[find(parent, (int32_t)i)];
done:
    free(parent);
    return status;
}

/* Whole parts to folds; false when that leaves a fold less than half of its share. Parts of one size
 * come in random order. */
static bool deal_parts(int folds, bdml_rng *rng, int64_t parts, part *list, int64_t *order,
                       int64_t *filled, int64_t pairs)
{
    for (int64_t k = 0; k < parts; k++) order[k] = k;
    bdml_rng_shuffle(rng, parts, order);
    for (int64_t k = 0; k < parts; k++) list[k].root = (int32_t)order[k]; /* as the second key */
    for (int64_t k = 0; k < parts; k++) list[k].fold = (int32_t)k;        /* its number, for now */
    qsort(list, (size_t)parts, sizeof *list, by_size);
    for (int64_t k = 0; k < parts; k++) order[list[k].fold] = k;
    for (int64_t k = 0; k < parts; k++) {
        int least = 0;
        for (int f = 1; f < folds; f++)
            if (filled[f] < filled[least]) least = f;
        filled[least] += list[k].pairs;
        list[k].fold = least;
    }
    for (int f = 0; f < folds; f++)
        if (2 * (int64_t)folds * filled[f] < pairs) return false;
    return true;
}

bdml_status bdml_labelled_deal(bdml_handle *h, int64_t n, int folds, uint64_t seed,
                               bdml_labelled_pairs *p, bool *apart)
{
    bdml_status status = BDML_OK;
    bdml_rng rng = bdml_rng_make(seed, UINT64_MAX);
    int32_t *part_of = NULL;
    part *list = NULL;
    int64_t *order = NULL, *filled = NULL, parts;

    if (folds < 2 || folds > p->count)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "folds must be from 2 to the number of pairs, %lld; got %d",
                         (long long)p->count, folds);
    free(p->fold);
    p->folds = folds;
    BDML_NEW(h, p->fold, p->count);
    BDML_NEW(h, part_of, n);
    BDML_NEW(h, filled, folds);
    BDML_GO(find_parts(h, n, p, part_of, &list, &parts));
    BDML_NEW(h, order, parts);
    *apart = parts >= folds && deal_parts(folds, &rng, parts, list, order, filled, p->count);
    if (*apart)
        for (int64_t k = 0; k < p->count; k++)
            p->fold[k] = list[order[part_of[p->row[2 * k]]]].fold;
    else
        status = bdml_split_folds(h, p->count, p->same, folds, seed, 0, p->fold);
done:
    free(part_of);
    free(list);
    free(order);
    free(filled);
    return status;
}

bdml_status bdml_labelled_regroup(bdml_handle *h, int64_t n, int folds, uint64_t seed,
                                  bdml_labelled_pairs *p)
{
    bool apart;
    if (p->fold && p->folds > 1) {
        int used = 0;
        int32_t *number = bdml_alloc(h, (size_t)p->folds, sizeof *number);
        if (!number) return BDML_ERR_MEMORY;
        for (int g = 0; g < p->folds; g++) number[g] = -1;
        for (int64_t k = 0; k < p->count; k++) number[p->fold[k]] = 0;
        for (int g = 0; g < p->folds; g++)
            if (number[g] == 0) number[g] = used++ % folds;
        for (int64_t k = 0; k < p->count; k++) p->fold[k] = number[p->fold[k]];
        free(number);
        p->folds = folds;
        if (used >= folds) return BDML_OK;
    }
    return bdml_labelled_deal(h, n, folds, seed, p, &apart);
}

/* ---- constraints ------------------------------------------------------------------------------------------ */

bdml_status bdml_labelled_lists(bdml_handle *h, const bdml_labelled_pairs *p, bdml_lists *lists)
{
    for (int64_t k = 0; k < p->count; k++)
        BDML_TRY(bdml_pairs_add(h, p->same[k] ? &lists->target : &lists->impostor, p->row[2 * k],
                                p->row[2 * k + 1]));
    return BDML_OK;
}

/* c->group from the folds; a pair in two folds is in the first. */
static bdml_status set_groups(bdml_handle *h, const bdml_labelled_pairs *p, bdml_constraints *c)
{
    bdml_status status = BDML_OK;
    bdml_keys keys = {0};
    int32_t *group = NULL, id;
    BDML_NEW(h, group, c->pairs);
    for (int64_t k = 0; k < c->pairs; k++)
        BDML_GO(bdml_keys_add(h, &keys, bdml_pair_key(c->pi[k], c->pj[k]), &id));
    for (int64_t k = p->count - 1; k >= 0; k--) {
        id = bdml_keys_find(&keys, bdml_pair_key(p->row[2 * k], p->row[2 * k + 1]));
        if (id >= 0) group[id] = p->fold[k];
    }
    c->group = group;
    group = NULL;
done:
    free(group);
    bdml_keys_free(&keys);
    return status;
}

bdml_status bdml_labelled_constraints(bdml_handle *h, int64_t n, const bdml_labelled_pairs *p,
                                      bdml_constraints **out)
{
    bdml_status status = BDML_OK;
    bdml_lists lists = {0};

    *out = NULL;
    BDML_GO(bdml_labelled_lists(h, p, &lists));
    if (lists.target.count == 0 || lists.impostor.count == 0) {
        status = bdml_fail(h, BDML_ERR_DATA,
                           "there are %lld pairs of the same class (1) and %lld of different "
                           "classes (0); learning from pairs needs both",
                           (long long)lists.target.count, (long long)lists.impostor.count);
        goto done;
    }
    BDML_GO(bdml_constraints_combine(h, n, BDML_KIND_PAIR, &lists, 0, NULL, NULL, out));
    if (p->fold) status = set_groups(h, p, *out);
    if (status != BDML_OK) {
        bdml_free_constraints(*out);
        *out = NULL;
    }
done:
    bdml_lists_free(&lists);
    return status;
}

bool bdml_constraints_are_pairs(const bdml_constraints *c)
{
    for (int64_t t = 0; t < c->m; t++)
        if (c->near[t] >= 0) return false;
    return c->m > 0 && c->targets > 0;
}

bdml_status bdml_labelled_from(bdml_handle *h, const bdml_constraints *c, bdml_labelled_pairs *out)
{
    BDML_TRY(make(h, c->targets + c->m, true, c->group != NULL, out));
    for (int64_t k = 0; k < out->count; k++) {
        int32_t pair = k < c->targets ? c->target[k] : c->far[k - c->targets];
        out->row[2 * k] = c->pi[pair];
        out->row[2 * k + 1] = c->pj[pair];
        out->same[k] = k < c->targets;
        if (c->group) {
            out->fold[k] = c->group[pair];
            out->folds = BDML_MAX(out->folds, c->group[pair] + 1);
        }
    }
    return BDML_OK;
}
