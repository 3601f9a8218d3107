/* ranking.c - how good a ranking is. Of the rows nearest to a query, nearest first, g(i) > 0 is the grade of the i-th when
 * it belongs to the query and 0 when it does not; rel(i) = 1 or 0 likewise. R rows belong to it, of grades b(1) >= b(2) ...
 * Where classes say what belongs together all grades are 1.
 *
 *     recall@k      1 when rel(i) = 1 for an i <= k, else 0
 *     precision@k   (1/k) sum_{i <= k} rel(i)
 *     found@10      (1/R) sum_{i <= 10} rel(i)
 *     R-precision   precision@R
 *     mAP@R         (1/R) sum_{i <= R} rel(i) precision@i
 *     MRR@10        1/i for the first i <= 10 with rel(i) = 1, 0 when there is none
 *     nDCG@10       sum_{i <= 10} g(i) / log2(i+1)  over the same sum of b, the best that can be
 *
 * recall@k is what papers on metric learning call so; what those on search call recall@10 is found@10. R-precision and
 * mAP@R look as far as the class is large (Musgrave, Belongie, Lim: A metric learning reality check, 2020);
 * recall@1 = precision@1. */
#include "evaluate/evaluate.h"

#include <stdlib.h>

#include "linalg/linalg.h"

enum { CUT = BDML_RANKING_CUT };

const char *const bdml_ranking_keys[BDML_RANKING_MEASURES] = {"recall_at_1",     "recall_at_5",
                                                              "recall_at_10",    "precision_at_5",
                                                              "precision_at_10", "found_at_10",
                                                              "r_precision",     "map_at_r",
                                                              "mrr_at_10",       "ndcg_at_10"};

void bdml_rank_query(int64_t depth, const double *grade, int64_t relevant, const double *best,
                     double *measure)
{
    int64_t hits = 0, near = 0, first = depth + 1; /* near: hits among the CUT nearest, */
    int64_t nearer = 0;                            /* and among the 5 nearest */
    int64_t reach = BDML_MIN(depth, BDML_MAX(relevant, (int64_t)CUT));
    double precise = 0.0, average = 0.0, gain = 0.0, ideal = 0.0;
    for (int64_t i = 1; i <= reach; i++) {
        double discount = i <= CUT ? 1.0 / log2((double)i + 1.0) : 0.0;
        if (i <= CUT && i <= relevant) ideal += best[i - 1] * discount;
        if (!(grade[i - 1] > 0.0)) continue;
        hits++;
        if (first > depth) first = i;
        near += i <= CUT;
        nearer += i <= 5;
        gain += grade[i - 1] * discount;
        if (i > relevant) continue;
        precise += 1.0;
        average += (double)hits / (double)i;
    }
    measure[BDML_RECALL_1] = first <= 1;
    measure[BDML_RECALL_5] = first <= 5 && first <= depth;
    measure[BDML_RECALL_10] = near > 0;
    measure[BDML_PRECISION_5] = (double)nearer / 5.0;
    measure[BDML_PRECISION_10] = (double)near / CUT;
    measure[BDML_FOUND_10] = (double)near / (double)relevant;
    measure[BDML_R_PRECISION] = precise / (double)relevant;
    measure[BDML_MAP_R] = average / (double)relevant;
    measure[BDML_MRR_10] = near > 0 ? 1.0 / (double)first : 0.0;
    measure[BDML_NDCG_10] = gain / ideal;
}

/* ---- what belongs to a query ------------------------------------------------------------------------------ */

/* Rows of the query's class; or those that the answers name, in their order by query. */
typedef struct judge {
    const bdml_rows *corpus;
    bool itself;    /* queries are rows of the corpus: each without itself */
    int64_t *count; /* rows of each class, or NULL: */
    const bdml_answers *answers;
    int64_t next, end; /* lines of this query */
    double *given;     /* grade of each row of the corpus for this query */
    int64_t relevant;  /* R */
    double best[CUT];  /* grades, largest first; 0 beyond the last */
} judge;

static void add_best(judge *j, double grade)
{
    for (int k = 0; k < CUT && grade > 0.0; k++)
        if (grade > j->best[k]) {
            double before = j->best[k];
            j->best[k] = grade;
            grade = before;
        }
}

/* A row that is named twice has its largest grade. */
static void begin_answers(judge *j, int64_t query)
{
    const bdml_answer *line = j->answers->line;
    while (j->next < j->answers->count && line[j->next].query < query) j->next++;
    for (j->end = j->next; j->end < j->answers->count && line[j->end].query == query; j->end++) {
        double *given = &j->given[line[j->end].row];
        j->relevant += *given == 0.0;
        *given = BDML_MAX(*given, line[j->end].grade);
    }
    for (int64_t k = j->next; k < j->end; k++) { /* each row once: below 0 where it was counted */
        double *given = &j->given[line[k].row];
        add_best(j, *given);
        *given = -fabs(*given);
    }
    for (int64_t k = j->next; k < j->end; k++) j->given[line[k].row] = fabs(j->given[line[k].row]);
}

static void begin_query(judge *j, int64_t query, int32_t y)
{
    j->relevant = 0;
    for (int k = 0; k < CUT; k++) j->best[k] = 0.0;
    if (j->answers) {
        begin_answers(j, query);
        return;
    }
    j->relevant = j->count[y] - j->itself;
    for (int64_t k = 0; k < BDML_MIN(j->relevant, (int64_t)CUT); k++) j->best[k] = 1.0;
}

static double grade_of(const judge *j, int32_t row, int32_t y)
{
    return j->answers ? j->given[row] : j->corpus->y[row] == y;
}

static void end_query(judge *j)
{
    if (!j->answers) return;
    for (; j->next < j->end; j->next++) j->given[j->answers->line[j->next].row] = 0.0;
}

/* *most: that belong to a query. */
static bdml_status open_judge(bdml_handle *h, const bdml_rows *corpus, bool itself,
                              const bdml_answers *answers, int64_t *most, judge *j)
{
    bdml_status status = BDML_OK;
    *j = (judge){.corpus = corpus, .itself = itself, .answers = answers};
    *most = 0;
    if (answers) {
        BDML_NEW(h, j->given, corpus->n);
        for (int64_t k = 0, run = 0; k < answers->count; k++) {
            bool same = k > 0 && answers->line[k].query == answers->line[k - 1].query;
            run = same ? run + 1 : 1;
            *most = BDML_MAX(*most, run);
        }
        goto done;
    }
    BDML_NEW(h, j->count, corpus->classes);
    for (int64_t i = 0; i < corpus->n; i++) j->count[corpus->y[i]]++;
    for (int c = 0; c < corpus->classes; c++) *most = BDML_MAX(*most, j->count[c] - itself);
done:
    return status;
}

static void close_judge(judge *j)
{
    free(j->count);
    free(j->given);
}

/* ---- all queries ------------------------------------------------------------------------------------------ */

/* Take the query itself out of its list of depth + 1. Where so many equal rows stand before it that it is not in the
 * list, the last goes. */
static void leave_out(int64_t depth, int32_t query, int32_t *nearest)
{
    int64_t at = 0;
    while (at < depth && nearest[at] != query) at++;
    memmove(nearest + at, nearest + at + 1, sizeof *nearest * (size_t)(depth - at));
}

bdml_status bdml_rank(bdml_handle *h, const bdml_neighbor_options *o, const bdml_rows *corpus,
                      const bdml_rows *queries, const bdml_answers *answers, bdml_ranking *out)
{
    bdml_status status = BDML_OK;
    const bdml_rows *all = queries ? queries : corpus;
    bdml_index *index = NULL;
    int64_t most, itself = !queries;
    int32_t *nearest = NULL;
    double one[BDML_RANKING_MEASURES], *grade = NULL;
    judge j;

    *out = (bdml_ranking){0};
    BDML_GO(open_judge(h, corpus, itself, answers, &most, &j));
    int64_t depth = BDML_MAX(BDML_MIN(BDML_MAX(most, (int64_t)CUT), corpus->n - itself), 0);
    int64_t list = depth + itself, block = bdml_model_block(h, sizeof *nearest * (size_t)list);
    block = BDML_MIN(block, all->n);
    BDML_NEW(h, nearest, (size_t)block * (size_t)list);
    BDML_NEW(h, grade, depth);
    BDML_GO(bdml_index_build(h, o, corpus, &index));
    for (int64_t from = 0; from < all->n; from += block) {
        bdml_rows part = *all;
        part.n = BDML_MIN(block, all->n - from);
        part.x = COL(all->x, all->ld, from);
        part.y = all->y ? all->y + from : NULL;
        BDML_GO(bdml_index_query(h, index, &part, BDML_ANY_CLASS, (int)list, nearest, NULL));
        for (int64_t i = 0; i < part.n; i++) {
            int32_t y = part.y ? part.y[i] : 0;
            begin_query(&j, from + i, y);
            if (j.relevant < 1) continue;
            int32_t *near = nearest + i * list;
            if (itself) leave_out(depth, (int32_t)(from + i), near);
            for (int64_t k = 0; k < depth; k++) grade[k] = grade_of(&j, near[k], y);
            bdml_rank_query(depth, grade, j.relevant, j.best, one);
            end_query(&j);
            for (int m = 0; m < BDML_RANKING_MEASURES; m++) out->measure[m] += one[m];
            out->queries++;
        }
    }
    for (int m = 0; m < BDML_RANKING_MEASURES; m++)
        out->measure[m] = 100.0 * out->measure[m] / (double)out->queries; /* no query: NaN */
done:
    close_judge(&j);
    bdml_index_free(index);
    free(nearest);
    free(grade);
    return status;
}
