/* relevant.c - constraints from positives alone: answers say what belongs to a query, nothing says what does not
 * (setting relevant-file).
 *
 *     triplets (q, p, u) of weight g(p)            p relevant to q with grade g, u of the corpus and not known to be
 *     triplets (q, p, u) of weight g(p) - g(u)     both relevant, u with a smaller grade
 *
 * The corpus: rows that stand first in no line, or all where every row does. Hard impostors are the nearest; but who is
 * far nearer to q than p is may be relevant and not known to be. So u is one of the nearest with
 *
 *     d(q,u) >= guard d(q,p),
 *
 * and where the REACH nearest hold too few of those, random rows that do. */
#include <stdlib.h>

#include "linalg/linalg.h"
#include "neighbors/neighbors.h"
#include "problem/problem.h"

enum {
    REACH = 100,
    TRIES = 10, /* random rows looked at for each that is asked for */
    BLOCK = 256 /* queries that are searched at a time */
};
static const uint64_t STREAM_RANDOM = (uint64_t)0x72656c << 40; /* of each query */

typedef struct miner {
    bdml_handle *h;
    const bdml_dataset *data;
    int impostors;
    double guard2; /* squared */
    uint64_t seed;
    const bdml_answer *line; /* by query, then as in the file */
    int64_t lines;
    int32_t *corpus;
    int64_t documents;
    int32_t *rows; /* triplets */
    double *weight;
    int64_t m;
    size_t row_room, weight_room;
    bdml_pairs target;
} miner;

static bdml_status find_corpus(miner *s)
{
    bdml_status status = BDML_OK;
    int64_t n = s->data->n;
    BDML_NEW(s->h, s->corpus, n);
    for (int64_t k = 0; k < s->lines; k++) s->corpus[s->line[k].query] = 1;
    for (int64_t i = 0; i < n; i++)
        if (!s->corpus[i]) s->corpus[s->documents++] = (int32_t)i;
    if (s->documents > 0) goto done;
    for (int64_t i = 0; i < n; i++) s->corpus[s->documents++] = (int32_t)i;
done:
    return status;
}

/* ---- triplets -------------------------------------------------------------------------------------------- */

static double distance2(const miner *s, int32_t i, int32_t j)
{
    const double *a = COL(s->data->x, s->data->d, i), *b = COL(s->data->x, s->data->d, j);
    double sum = 0.0;
    for (int k = 0; k < s->data->d; k++) sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sum;
}

static bdml_status add(miner *s, const bdml_answer *p, int32_t u, double weight)
{
    const int32_t row[3] = {p->query, p->row, u};
    BDML_TRY(bdml_grow(s->h, &s->rows, &s->row_room, 3 * (size_t)s->m + 3, sizeof *s->rows));
    BDML_TRY(bdml_grow(s->h, &s->weight, &s->weight_room, (size_t)s->m + 1, sizeof *s->weight));
    memcpy(s->rows + 3 * s->m, row, sizeof row);
    s->weight[s->m++] = weight;
    return BDML_OK;
}

/* Not the query, none of its lines, none of the triplets from `from` on, and beyond the guard. */
static bool may_be_impostor(const miner *s, int64_t lines, const bdml_answer *line, int64_t from,
                            const bdml_answer *p, int32_t u)
{
    if (u == p->query) return false;
    for (int64_t k = 0; k < lines; k++)
        if (line[k].row == u) return false;
    for (int64_t t = from; t < s->m; t++)
        if (s->rows[3 * t + 2] == u) return false;
    return distance2(s, p->query, u) >= s->guard2 * distance2(s, p->query, p->row);
}

/* Of one line p of a query with so many lines; near: rows of the corpus, nearest first, -1: no more. */
static bdml_status mine_line(miner *s, int64_t lines, const bdml_answer *line, const bdml_answer *p,
                             const int32_t *near, bdml_rng *rng)
{
    int64_t from = s->m;
    int found = 0;
    for (int k = 0; k < REACH && near[k] >= 0 && found < s->impostors; k++) {
        int32_t u = s->corpus[near[k]];
        if (!may_be_impostor(s, lines, line, from, p, u)) continue;
        BDML_TRY(add(s, p, u, p->grade));
        found++;
    }
    for (int k = 0; k < TRIES * s->impostors && found < s->impostors; k++) {
        int32_t u = s->corpus[bdml_rng_below(rng, (uint64_t)s->documents)];
        if (!may_be_impostor(s, lines, line, from, p, u)) continue;
        BDML_TRY(add(s, p, u, p->grade));
        found++;
    }
    int lower = 0;
    for (int64_t k = 0; k < lines && lower < s->impostors; k++) {
        if (!(line[k].grade < p->grade) || line[k].row == p->row) continue;
        BDML_TRY(add(s, p, line[k].row, p->grade - line[k].grade));
        lower++;
    }
    return bdml_pairs_add(s->h, &s->target, p->query, p->row);
}

/* Lines of the query of line k. */
static int64_t lines_of(const miner *s, int64_t k)
{
    int64_t end = k + 1;
    while (end < s->lines && s->line[end].query == s->line[k].query) end++;
    return end - k;
}

/* Of the queries from line k on, at most BLOCK of them, whose rows go to x: the line after them. */
static int64_t gather(const miner *s, int64_t k, double *x, int64_t *queries)
{
    size_t d = (size_t)s->data->d;
    for (*queries = 0; *queries < BLOCK && k < s->lines; ++*queries) {
        memcpy(x + (size_t)*queries * d, s->data->x + (size_t)s->line[k].query * d, d * sizeof *x);
        k += lines_of(s, k);
    }
    return k;
}

static bdml_status mine_queries(miner *s, const bdml_neighbor_options *o)
{
    bdml_status status = BDML_OK;
    bdml_handle *h = s->h;
    size_t d = (size_t)s->data->d;
    double *x = NULL, *asked = NULL;
    int32_t *near = NULL;
    int64_t queries;
    bdml_index *index = NULL;

    BDML_NEW(h, x, (size_t)s->documents * d);
    BDML_NEW(h, asked, BLOCK * d);
    BDML_NEW(h, near, BLOCK * REACH);
    for (int64_t i = 0; i < s->documents; i++)
        memcpy(x + (size_t)i * d, s->data->x + (size_t)s->corpus[i] * d, d * sizeof *x);
    const bdml_rows corpus = {s->documents, s->data->d, s->data->d, x, NULL, 0, NULL};
    BDML_GO(bdml_index_build(h, o, &corpus, &index));
    for (int64_t k = 0, end; k < s->lines; k = end) {
        end = gather(s, k, asked, &queries);
        const bdml_rows block = {queries, s->data->d, s->data->d, asked, NULL, 0, NULL};
        BDML_GO(bdml_index_query(h, index, &block, BDML_ANY_CLASS, REACH, near, NULL));
        for (int64_t q = 0, at = k; q < queries; q++) {
            const bdml_answer *line = s->line + at;
            int64_t lines = lines_of(s, at);
            bdml_rng rng = bdml_rng_make(s->seed, STREAM_RANDOM ^ (uint64_t)line->query);
            for (int64_t l = 0; l < lines; l++)
                BDML_GO(mine_line(s, lines, line, line + l, near + q * REACH, &rng));
            at += lines;
        }
    }
done:
    bdml_index_free(index);
    free(x);
    free(asked);
    free(near);
    return status;
}

static bdml_status build(miner *s, bdml_constraints **out)
{
    bool all_one = true;
    for (int64_t t = 0; t < s->m; t++) all_one = all_one && s->weight[t] == 1.0;
    if (s->m == 0)
        return bdml_fail(s->h, BDML_ERR_DATA,
                         "no row of the corpus is as far as guard allows from any query: lower "
                         "guard, or give more rows");
    return bdml_constraints_build(s->h, s->data->n, s->target.count, s->target.row, s->m, s->rows,
                                  NULL, all_one ? NULL : s->weight, out);
}

bdml_status bdml_answers_mine(bdml_handle *h, const bdml_options *o, const bdml_dataset *data,
                              const bdml_answers *answers, bdml_constraints **out)
{
    bdml_status status = BDML_OK;
    const bdml_constraint_options *c = &o->constraints;
    double guard = c->guard.value;
    miner s = {.h = h,
               .data = data,
               .impostors = (int)c->impostors.value,
               .guard2 = guard * guard,
               .seed = (uint64_t)o->general.seed.value,
               .line = answers->line,
               .lines = answers->count};

    BDML_GO(find_corpus(&s));
    BDML_GO(mine_queries(&s, &o->neighbors));
    status = build(&s, out);
done:
    free(s.corpus);
    free(s.rows);
    free(s.weight);
    bdml_pairs_free(&s.target);
    return status;
}

bdml_status bdml_relevant_mine(bdml_handle *h, const bdml_options *o, const bdml_dataset *data,
                               bdml_constraints **out)
{
    bdml_answers answers;
    const char *path = o->constraints.relevant_file.value;
    BDML_TRY(bdml_answers_read(h, path, data->n, data->n, true, &answers));
    bdml_status status = bdml_answers_mine(h, o, data, &answers, out);
    bdml_answers_free(&answers);
    return status;
}
