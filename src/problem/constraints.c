/* constraints.c - constraints as numbers into a list of distinct pairs: building, merging, getters.
 *
 * Pairs are unordered, d(i,j) = d(j,i), and stand sorted by (smaller row, larger row), so that the
 * margin operator walks over points in order. */
#include "problem/problem.h"

#include <stdlib.h>

/* ---- pairs -------------------------------------------------------------------------------------- */

/* One pair of rows i < j, and its number in keys. */
typedef struct numbered {
    int32_t i, j, id;
} numbered;

/* Sort by i or by j, both below n, keeping the order of equals: counting sort. start: room for n + 1. */
static void sort_by(int64_t n, bool by_i, int64_t count, const numbered *from, int64_t *start,
                    numbered *to)
{
    memset(start, 0, sizeof *start * ((size_t)n + 1));
    for (int64_t k = 0; k < count; k++) start[(by_i ? from[k].i : from[k].j) + 1]++;
    for (int64_t i = 0; i < n; i++) start[i + 1] += start[i];
    for (int64_t k = 0; k < count; k++) to[start[by_i ? from[k].i : from[k].j]++] = from[k];
}

/* Sort the pairs found; place[number in keys] = place in the sorted list. */
static bdml_status sort_pairs(bdml_handle *h, const bdml_keys *keys, bdml_constraints *c,
                              int32_t *place)
{
    bdml_status status = BDML_OK;
    numbered *list = NULL, *by_j = NULL;
    int64_t *start = NULL, k = 0;
    c->pairs = keys->count;
    BDML_NEW(h, list, c->pairs);
    BDML_NEW(h, by_j, c->pairs);
    BDML_NEW(h, start, c->n + 1);
    BDML_NEW(h, c->pi, c->pairs);
    BDML_NEW(h, c->pj, c->pairs);
    for (size_t s = 0; s < keys->slots; s++)
        if (keys->slot[s])
            list[k++] = (numbered){(int32_t)((keys->slot[s] - 1) >> 32),
                                   (int32_t)((keys->slot[s] - 1) & UINT32_MAX), keys->id[s]};
    sort_by(c->n, false, c->pairs, list, start, by_j);
    sort_by(c->n, true, c->pairs, by_j, start, list);
    for (k = 0; k < c->pairs; k++) {
        c->pi[k] = list[k].i;
        c->pj[k] = list[k].j;
        place[list[k].id] = (int32_t)k;
    }
done:
    free(list);
    free(by_j);
    free(start);
    return status;
}

/* ---- building ----------------------------------------------------------------------------------- */

/* Number the pairs of the target rows; a row that was there before, in this order of its ends, is
 * dropped. */
static bdml_status add_targets(bdml_handle *h, int64_t targets, const int32_t *target,
                               bdml_keys *pairs, bdml_constraints *c)
{
    bdml_status status = BDML_OK;
    bdml_keys seen = {0};
    BDML_GO(bdml_keys_reserve(h, &seen, targets));
    for (int64_t k = 0; k < targets; k++) {
        int32_t i = target[2 * k], j = target[2 * k + 1], id;
        int64_t before = seen.count;
        BDML_GO(bdml_keys_add(h, &seen, (uint64_t)i << 32 | (uint64_t)j, &id));
        if (seen.count == before) {
            c->duplicates++;
            continue;
        }
        BDML_GO(bdml_keys_add(h, pairs, bdml_pair_key(i, j), &c->target[c->targets]));
        c->targets++;
    }
done:
    bdml_keys_free(&seen);
    return status;
}

static uint64_t constraint_key(int32_t far, int32_t near)
{
    return (uint64_t)far << 32 | (uint64_t)(near + 1);
}

/* Number the pairs of the constraints, keeping the first of equal ones with its margin; weights of equal ones add up.
 * Two that say the opposite of each other are a contradiction. width 3: rows i, j, k say D(i,k) > D(i,j), or
 * without j D(i,k) alone; 4: i, j, k, l say D(k,l) > D(i,j). */
static bdml_status add_constraints(bdml_handle *h, int64_t m, int width, const int32_t *rows,
                                   const double *margin, const double *weight, bdml_keys *pairs,
                                   bdml_constraints *c)
{
    bdml_status status = BDML_OK;
    bdml_keys seen = {0};
    unsigned char *role = NULL; /* of a pair up to now: 1 far, 2 near */
    uint64_t last = UINT64_MAX; /* the near pair before: mined triplets of one come in a row */
    int32_t near_last = -1;
    BDML_GO(bdml_keys_reserve(h, &seen, m));
    BDML_NEW(h, role, (size_t)pairs->count + 2 * (size_t)m);
    for (int64_t t = 0; t < m; t++) {
        const int32_t *r = rows + (size_t)width * (size_t)t;
        int32_t far, near = -1, id;
        int64_t before = seen.count;
        BDML_GO(bdml_keys_add(h, pairs, bdml_pair_key(r[width == 3 ? 0 : 2], r[width - 1]), &far));
        if (r[1] >= 0) {
            uint64_t key = bdml_pair_key(r[0], r[1]);
            if (key != last) BDML_GO(bdml_keys_add(h, pairs, key, &near_last));
            last = key;
            near = near_last;
        }
        BDML_GO(bdml_keys_add(h, &seen, constraint_key(far, near), &id));
        if (seen.count == before) {
            c->duplicates++;
            if (weight) c->weight[id] += weight[t];
            continue;
        }
        role[far] |= 1;
        if (near >= 0) role[near] |= 2;
        if (near >= 0 && role[far] == 3 && role[near] == 3)
            c->contradictions += bdml_keys_find(&seen, constraint_key(near, far)) >= 0;
        c->far[c->m] = far;
        c->near[c->m] = near;
        if (margin) c->margin[c->m] = margin[t];
        if (weight) c->weight[c->m] = weight[t];
        c->m++;
    }
done:
    bdml_keys_free(&seen);
    free(role);
    return status;
}

/* Target pairs that are at the same time to be far apart. */
static bdml_status count_both(bdml_handle *h, bdml_constraints *c)
{
    unsigned char *wanted = bdml_calloc(h, (size_t)c->pairs, 1); /* 1: near, 2: told */
    if (!wanted) return BDML_ERR_MEMORY;
    for (int64_t k = 0; k < c->targets; k++) wanted[c->target[k]] = 1;
    for (int64_t t = 0; t < c->m; t++) {
        if (c->near[t] >= 0 || wanted[c->far[t]] != 1) continue;
        wanted[c->far[t]] = 2;
        c->contradictions++;
    }
    free(wanted);
    return BDML_OK;
}

static void renumber(int64_t count, int32_t *id, const int32_t *place)
{
    for (int64_t k = 0; k < count; k++)
        if (id[k] >= 0) id[k] = place[id[k]];
}

static bdml_status build(bdml_handle *h, int64_t n, int64_t targets, const int32_t *target,
                         int64_t m, int width, const int32_t *rows, const double *margin,
                         const double *weight, bdml_constraints **out)
{
    bdml_status status = BDML_OK;
    bdml_constraints *c = NULL;
    bdml_keys pairs = {0};
    int32_t *place = NULL;

    *out = NULL;
    BDML_NEW(h, c, 1);
    c->n = n;
    BDML_NEW(h, c->target, targets);
    BDML_NEW(h, c->far, m);
    BDML_NEW(h, c->near, m);
    if (margin) BDML_NEW(h, c->margin, m);
    if (weight) BDML_NEW(h, c->weight, m);
    BDML_GO(bdml_keys_reserve(h, &pairs, targets + m / 3)); /* of 3 targets each, which is usual */
    BDML_GO(add_targets(h, targets, target, &pairs, c));
    BDML_GO(add_constraints(h, m, width, rows, margin, weight, &pairs, c));
    BDML_NEW(h, place, pairs.count);
    BDML_GO(sort_pairs(h, &pairs, c, place));
    renumber(c->targets, c->target, place);
    renumber(c->m, c->far, place);
    renumber(c->m, c->near, place);
    BDML_GO(count_both(h, c));
    *out = c;
    c = NULL;
done:
    bdml_keys_free(&pairs);
    free(place);
    bdml_free_constraints(c);
    return status;
}

bdml_status bdml_constraints_build(bdml_handle *h, int64_t n, int64_t targets,
                                   const int32_t *target, int64_t m, const int32_t *rows,
                                   const double *margin, const double *weight,
                                   bdml_constraints **out)
{
    return build(h, n, targets, target, m, 3, rows, margin, weight, out);
}

bdml_status bdml_quadruplets_build(bdml_handle *h, int64_t n, int64_t m, const int32_t *rows,
                                   bdml_constraints **out)
{
    bdml_status status = BDML_OK;
    int32_t *near = NULL;

    *out = NULL;
    BDML_NEW(h, near, 2 * m);
    for (int64_t t = 0; t < m; t++) memcpy(near + 2 * t, rows + 4 * t, sizeof *near * 2);
    BDML_GO(build(h, n, m, near, m, 4, rows, NULL, NULL, out));
    (*out)->duplicates -= m - (*out)->targets; /* near pairs may stand in many of them */
done:
    free(near);
    return status;
}

/* ---- from arrays ---------------------------------------------------------------------------------- */

static bdml_status check_rows(bdml_handle *h, const char *what, int64_t n, int64_t count, int width,
                              const int32_t *rows)
{
    if (count < 0 || (count > 0 && !rows))
        return bdml_fail(h, BDML_ERR_ARGUMENT, "%ss: %lld of them need an array of rows", what,
                         (long long)count);
    for (int64_t t = 0; t < count; t++) {
        const int32_t *r = rows + (size_t)width * (size_t)t;
        for (int a = 0; a < width; a++) {
            if (r[a] < 0 || r[a] >= n)
                return bdml_fail(h, BDML_ERR_DATA, "%s %lld: row %d is not one of 0 to %lld", what,
                                 (long long)t, (int)r[a], (long long)n - 1);
            for (int b = 0; b < a; b++)
                if (r[a] == r[b])
                    return bdml_fail(h, BDML_ERR_DATA,
                                     "%s %lld: row %d stands twice; its rows must differ", what,
                                     (long long)t, (int)r[a]);
        }
    }
    return BDML_OK;
}

bdml_status bdml_constraints_from_arrays(bdml_handle *h, int64_t n, int64_t targets,
                                         const int32_t *target_pairs, int64_t impostors,
                                         const int32_t *impostor_pairs, int64_t triplets,
                                         const int32_t *triplet_rows, bdml_constraints **out)
{
    bdml_status status = BDML_OK;
    int32_t *rows = NULL;

    if (out) *out = NULL;
    if (!h) return BDML_ERR_ARGUMENT;
    if (!out) return bdml_fail(h, BDML_ERR_ARGUMENT, "out must not be NULL");
    if (n < 1 || n > INT32_MAX)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "n must be from 1 to %d, got %lld", INT32_MAX,
                         (long long)n);
    BDML_TRY(check_rows(h, "target pair", n, targets, 2, target_pairs));
    BDML_TRY(check_rows(h, "impostor pair", n, impostors, 2, impostor_pairs));
    BDML_TRY(check_rows(h, "triplet", n, triplets, 3, triplet_rows));

    bdml_phase previous = bdml_phase_enter(h, BDML_PHASE_CONSTRAINTS);
    BDML_NEW(h, rows, 3 * ((size_t)impostors + (size_t)triplets));
    for (int64_t t = 0; t < impostors; t++) {
        rows[3 * t] = impostor_pairs[2 * t];
        rows[3 * t + 1] = -1;
        rows[3 * t + 2] = impostor_pairs[2 * t + 1];
    }
    if (triplets > 0)
        memcpy(rows + 3 * impostors, triplet_rows, sizeof *rows * 3 * (size_t)triplets);
    BDML_GO(bdml_constraints_build(h, n, targets, target_pairs, impostors + triplets, rows, NULL,
                                   NULL, out));
done:
    free(rows);
    bdml_phase_leave(h, previous);
    return status;
}

bdml_status bdml_constraints_from_quadruplets(bdml_handle *h, int64_t n, int64_t quadruplets,
                                              const int32_t *rows, bdml_constraints **out)
{
    if (out) *out = NULL;
    if (!h) return BDML_ERR_ARGUMENT;
    if (!out || !rows || quadruplets < 1)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "bdml_constraints_from_quadruplets: out and rows must not be NULL, and "
                         "there must be quadruplets");
    if (n < 1 || n > INT32_MAX)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "n must be from 1 to %d, got %lld", INT32_MAX,
                         (long long)n);
    BDML_TRY(check_rows(h, "pair", n, 2 * quadruplets, 2, rows));
    for (int64_t t = 0; t < quadruplets; t++) {
        const int32_t *r = rows + 4 * t;
        if (bdml_pair_key(r[0], r[1]) == bdml_pair_key(r[2], r[3]))
            return bdml_fail(h, BDML_ERR_DATA,
                             "quadruplet %lld: the pair of rows %d and %d cannot be nearer than "
                             "itself",
                             (long long)t, (int)r[0], (int)r[1]);
    }
    bdml_phase previous = bdml_phase_enter(h, BDML_PHASE_CONSTRAINTS);
    bdml_status status = bdml_quadruplets_build(h, n, quadruplets, rows, out);
    bdml_phase_leave(h, previous);
    return status;
}

/* ---- merging --------------------------------------------------------------------------------------- */

/* Target rows of c. A pair that stands there twice stood as (i,j) and (j,i): so it is given back. */
static bdml_status target_rows(bdml_handle *h, const bdml_constraints *c, int32_t *rows)
{
    unsigned char *seen = bdml_calloc(h, (size_t)c->pairs, 1);
    if (!seen) return BDML_ERR_MEMORY;
    for (int64_t k = 0; k < c->targets; k++) {
        int32_t p = c->target[k];
        rows[2 * k] = seen[p] ? c->pj[p] : c->pi[p];
        rows[2 * k + 1] = seen[p] ? c->pi[p] : c->pj[p];
        seen[p] = 1;
    }
    free(seen);
    return BDML_OK;
}

/* value[from..] = old, or 1 where there is none. */
static void put_values(int64_t count, const double *old, double *value)
{
    for (int64_t t = 0; t < count; t++) value[t] = old ? old[t] : 1.0;
}

bdml_status bdml_constraints_merge(bdml_handle *h, const bdml_constraints *a,
                                   const bdml_constraints *b, bdml_constraints **out)
{
    bdml_status status = BDML_OK;
    int64_t targets = a->targets + b->targets, m = a->m + b->m;
    int32_t *target = NULL, *rows = NULL;
    double *margin = NULL, *weight = NULL;

    *out = NULL;
    if (a->n != b->n)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "constraints about %lld and about %lld rows cannot be merged",
                         (long long)a->n, (long long)b->n);
    BDML_NEW(h, target, 2 * targets);
    BDML_NEW(h, rows, 3 * m);
    if (a->margin || b->margin) BDML_NEW(h, margin, m);
    if (a->weight || b->weight) BDML_NEW(h, weight, m);
    BDML_GO(target_rows(h, a, target));
    BDML_GO(target_rows(h, b, target + 2 * a->targets));
    for (int64_t t = 0; t < a->m; t++) bdml_constraints_at(a, t, rows + 3 * t);
    for (int64_t t = 0; t < b->m; t++) bdml_constraints_at(b, t, rows + 3 * (a->m + t));
    if (margin) {
        put_values(a->m, a->margin, margin);
        put_values(b->m, b->margin, margin + a->m);
    }
    if (weight) {
        put_values(a->m, a->weight, weight);
        put_values(b->m, b->weight, weight + a->m);
    }
    BDML_GO(bdml_constraints_build(h, a->n, targets, target, m, rows, margin, weight, out));
    /* what was found about points, not pairs, is not found again */
    (*out)->contradictions =
        BDML_MAX((*out)->contradictions, BDML_MAX(a->contradictions, b->contradictions));
done:
    free(target);
    free(rows);
    free(margin);
    free(weight);
    return status;
}

/* ---- getters, setters, end ----------------------------------------------------------------------------- */

int64_t bdml_constraints_count(const bdml_constraints *c)
{
    return c ? c->m : 0;
}

int64_t bdml_constraints_targets(const bdml_constraints *c)
{
    return c ? c->targets : 0;
}

int64_t bdml_constraints_duplicates(const bdml_constraints *c)
{
    return c ? c->duplicates : 0;
}

int64_t bdml_constraints_contradictions(const bdml_constraints *c)
{
    return c ? c->contradictions : 0;
}

bdml_status bdml_constraints_quadruplet_at(const bdml_constraints *c, int64_t t, int32_t rows[4])
{
    if (!c || !rows || t < 0 || t >= c->m) return BDML_ERR_ARGUMENT;
    int32_t far = c->far[t], near = c->near[t];
    rows[0] = near < 0 ? -1 : c->pi[near];
    rows[1] = near < 0 ? -1 : c->pj[near];
    rows[2] = c->pi[far];
    rows[3] = c->pj[far];
    return BDML_OK;
}

/* True when a row is in both pairs of constraint t. */
static bool has_anchor(const bdml_constraints *c, int64_t t)
{
    int32_t r[4];
    return bdml_constraints_quadruplet_at(c, t, r) == BDML_OK &&
           (r[0] == r[2] || r[0] == r[3] || r[1] == r[2] || r[1] == r[3]);
}

bool bdml_constraints_are_quadruplets(const bdml_constraints *c)
{
    for (int64_t t = 0; t < c->m; t++)
        if (c->near[t] >= 0 && !has_anchor(c, t)) return true;
    return false;
}

/* The anchor i of a triplet is the row that both of its pairs have. */
bdml_status bdml_constraints_at(const bdml_constraints *c, int64_t t, int32_t rows[3])
{
    if (!c || !rows || t < 0 || t >= c->m) return BDML_ERR_ARGUMENT;
    if (c->near[t] >= 0 && !has_anchor(c, t)) return BDML_ERR_ARGUMENT;
    int32_t far = c->far[t], near = c->near[t];
    int32_t i = c->pi[far], k = c->pj[far], j = -1;
    if (near >= 0) {
        if (i != c->pi[near] && i != c->pj[near]) {
            i = c->pj[far];
            k = c->pi[far];
        }
        j = c->pi[near] == i ? c->pj[near] : c->pi[near];
    }
    rows[0] = i;
    rows[1] = j;
    rows[2] = k;
    return BDML_OK;
}

double bdml_constraints_margin(const bdml_constraints *c, int64_t t)
{
    if (!c || t < 0 || t >= c->m) return NAN;
    return c->margin ? c->margin[t] : 1.0;
}

bdml_status bdml_constraints_target_at(const bdml_constraints *c, int64_t t, int32_t rows[2])
{
    if (!c || !rows || t < 0 || t >= c->targets) return BDML_ERR_ARGUMENT;
    rows[0] = c->pi[c->target[t]];
    rows[1] = c->pj[c->target[t]];
    return BDML_OK;
}

int64_t bdml_constraints_points(const bdml_constraints *c)
{
    return c ? c->n : 0;
}

static bdml_status set_values(bdml_handle *h, const bdml_constraints *c, const char *what,
                              const double *value, double **kept)
{
    double *copy = NULL;
    if (value) {
        for (int64_t t = 0; t < c->m; t++)
            if (!(isfinite(value[t]) && value[t] > 0.0))
                return bdml_fail(h, BDML_ERR_ARGUMENT,
                                 "%s of constraint %lld must be finite and above 0, got %g", what,
                                 (long long)t, value[t]);
        copy = bdml_alloc(h, (size_t)c->m, sizeof *copy);
        if (!copy) return BDML_ERR_MEMORY;
        memcpy(copy, value, sizeof *copy * (size_t)c->m);
    }
    free(*kept);
    *kept = copy;
    return BDML_OK;
}

bdml_status bdml_constraints_set_margins(bdml_handle *h, bdml_constraints *c, const double *margin)
{
    if (!h) return BDML_ERR_ARGUMENT;
    if (!c) return bdml_fail(h, BDML_ERR_ARGUMENT, "constraints must not be NULL");
    return set_values(h, c, "margin", margin, &c->margin);
}

bdml_status bdml_constraints_set_weights(bdml_handle *h, bdml_constraints *c, const double *weight)
{
    if (!h) return BDML_ERR_ARGUMENT;
    if (!c) return bdml_fail(h, BDML_ERR_ARGUMENT, "constraints must not be NULL");
    return set_values(h, c, "weight", weight, &c->weight);
}

void bdml_free_constraints(bdml_constraints *c)
{
    if (!c) return;
    free(c->pi);
    free(c->pj);
    free(c->target);
    free(c->far);
    free(c->near);
    free(c->margin);
    free(c->weight);
    free(c->group);
    free(c);
}
