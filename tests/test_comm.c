/* test_comm.c - what is made of the calls of a communicator: stretches, gathering, jobs and mining over ranks, which are
 * threads here. */
#include "ranks.h"

#include <stdlib.h>

#include "linalg/linalg.h"
#include "problem/problem.h"

/* ---- the communicator ------------------------------------------------------------------------------ */

static void stretches_cover_everything_once(void **state)
{
    (void)state;
    for (int size = 1; size <= 5; size++)
        for (int64_t total = 0; total < 20; total++) {
            bdml_comm comm = {.size = size};
            int64_t next = 0;
            for (int k = 0; k < size; k++) {
                bdml_stretch s = bdml_comm_stretch(&comm, k, total);
                assert_int_equal(s.first, next);
                int64_t length = s.end - s.first;
                check_true(length == total / size || length == total / size + 1);
                next = s.end;
            }
            assert_int_equal(next, total);
        }
}

static void a_rank_must_be_one_of_its_ranks(void **state)
{
    bdml_handle *h = *state;
    bdml_comm comm = {.sum = meet_sum, .max = meet_max, .rank = 2, .size = 2, .shift = meet_shift};
    check_fails(h, bdml_set_comm(h, &comm), BDML_ERR_ARGUMENT, "rank 2 of 2");
    comm.rank = 1;
    comm.shift = NULL;
    check_fails(h, bdml_set_comm(h, &comm), BDML_ERR_ARGUMENT, "sum, max and shift");
    check_ok(h, bdml_set_comm(h, NULL));
    assert_int_equal(h->comm->size, 1);
}

enum { D = 7 };
typedef struct exchanged {
    double count[MOST_RANKS], matrix[D * D];
    int32_t items[16];
    char text[3000];
} exchanged;

/* Rank k has k + 1 items, a matrix of numbers k + 1 times those of rank 0, and rank 1 something to say. */
static void exchange(rank *r)
{
    exchanged *x = r->user;
    int k = r->comm.rank, first = k * (k + 1) / 2;
    bdml_comm_counts(&r->comm, k + 1, x->count);
    for (int i = 0; i <= k; i++) x->items[first + i] = 100 * k + i;
    bdml_comm_gather(&r->comm, x->count, sizeof *x->items, x->items);
    for (int j = 0; j < D; j++)
        for (int i = 0; i < D; i++)
            x->matrix[j * D + i] = (k + 1) * (10.0 * BDML_MAX(i, j) + BDML_MIN(i, j));
    bdml_comm_sum_symmetric(&r->comm, D, x->matrix);
    for (size_t i = 0; k == 1 && i < sizeof x->text; i++) x->text[i] = (char)('a' + i % 26);
    bdml_comm_text(&r->comm, k == 1, sizeof x->text, x->text);
}

static void every_rank_gets_what_all_have(void **state)
{
    (void)state;
    for (int size = 2; size <= MOST_RANKS; size++) {
        exchanged x[MOST_RANKS] = {0};
        on_ranks(size, exchange, x, sizeof *x);
        for (int k = 0; k < size; k++) {
            for (int from = 0; from < size; from++) {
                check_true(x[k].count[from] == from + 1);
                for (int i = 0; i <= from; i++)
                    assert_int_equal(x[k].items[from * (from + 1) / 2 + i], 100 * from + i);
            }
            double times = size * (size + 1) / 2.0;
            for (int j = 0; j < D; j++)
                for (int i = 0; i < D; i++)
                    check_true(x[k].matrix[j * D + i] ==
                               times * (10.0 * BDML_MAX(i, j) + BDML_MIN(i, j)));
            for (size_t i = 0; i < sizeof x->text; i++)
                assert_int_equal(x[k].text[i], (char)('a' + i % 26));
        }
    }
}

/* ---- sums with the bits of one rank -------------------------------------------------------------------- */

enum { POINTS = 1000, WIDE = 5 };
typedef struct summed {
    double gram[WIDE * WIDE], weighted[WIDE * WIDE], total[WIDE];
} summed;
static double point[POINTS * WIDE], weight[POINTS];

/* Of `count` points; their sum, one after the other. */
static void add_up(const bdml_handle *h, const bdml_comm *comm, int64_t count, summed *s)
{
    bdml_stretch here = bdml_la_gram_stretch(comm, count);
    const double *x = point + here.first * WIDE;
    double *ws = malloc(sizeof *ws * bdml_la_gram_size(WIDE));
    bdml_la_gram_ranks(h, comm, WIDE, count, x, WIDE, NULL, s->gram, ws);
    bdml_la_gram_ranks(h, comm, WIDE, count, x, WIDE, weight + here.first, s->weighted, ws);
    bdml_comm_chain_begin(comm, WIDE, s->total);
    for (int64_t e = 0; e < (here.end - here.first) * WIDE; e++) s->total[e % WIDE] += x[e];
    bdml_comm_chain_end(comm, WIDE, s->total);
    free(ws);
}

static int64_t how_many;
static void add_up_on_rank(rank *r)
{
    add_up(r->h, &r->comm, how_many, r->user);
}

/* Nine and fewer points: some ranks have none. */
static void sums_over_ranks_have_the_bits_of_one(void **state)
{
    const int64_t counts[] = {0, 1, 3, 9, 777, POINTS};
    bdml_rng random = bdml_rng_make(11, 3);
    for (int e = 0; e < POINTS * WIDE; e++) point[e] = exp(5.0 * bdml_rng_normal(&random));
    for (int i = 0; i < POINTS; i++) weight[i] = bdml_rng_normal(&random);
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        summed one;
        how_many = counts[k];
        add_up(*state, &bdml_comm_serial, how_many, &one);
        for (int j = 0; j < WIDE; j++) { /* and they are sums */
            double plain = 0.0, size = 0.0;
            for (int64_t i = 0; i < how_many; i++) {
                double term = weight[i] * point[i * WIDE + j] * point[i * WIDE];
                plain += term;
                size += fabs(term);
            }
            check_close(one.weighted[j], plain, 1e-14 * (double)POINTS * size);
        }
        for (int size = 2; size <= MOST_RANKS; size++) {
            summed each[MOST_RANKS];
            on_ranks(size, add_up_on_rank, each, sizeof *each);
            for (int r = 0; r < size; r++) assert_memory_equal(&each[r], &one, sizeof one);
        }
    }
}

/* ---- jobs ------------------------------------------------------------------------------------------ */

enum { JOBS = 11 };
typedef struct dealt {
    int64_t fails, excused; /* numbers of jobs, -1: none */
    double result[JOBS][2];
    bool finished[JOBS];
    int done; /* by this rank */
    char why[BDML_ERROR_SIZE], error[BDML_ERROR_SIZE];
    bdml_status status;
} dealt;

static bdml_status one_job(bdml_handle *own, void *user, int64_t job)
{
    dealt *x = user;
    x->done++;
    if (job == x->fails) return bdml_fail(own, BDML_ERR_LAPACK, "job %d broke", (int)job);
    if (job == x->excused) return bdml_fail(own, BDML_ERR_DATA, "job %d refused", (int)job);
    x->result[job][0] = (double)job * 3.0;
    x->result[job][1] = NAN;
    return BDML_OK;
}

static void deal(rank *r)
{
    dealt *x = r->user;
    bdml_jobs jobs = {.what = "work",
                      .total = JOBS,
                      .count = JOBS,
                      .workers = 1,
                      .run = one_job,
                      .user = x,
                      .result = x->result[0],
                      .size = 2,
                      .finished = x->finished,
                      .why = x->why};
    x->status = bdml_jobs_run(r->h, &jobs);
    snprintf(x->error, sizeof x->error, "%s", bdml_last_error(r->h));
}

static void a_job_is_done_by_one_rank_for_all(void **state)
{
    (void)state;
    static dealt x[3];
    for (int k = 0; k < 3; k++) {
        x[k] = (dealt){.fails = -1, .excused = 4};
        for (int job = 0; job < JOBS; job++)
            x[k].result[job][0] = x[k].result[job][1] = 7.0; /* known before */
    }
    on_ranks(3, deal, x, sizeof *x);
    assert_int_equal(x[0].done + x[1].done + x[2].done, JOBS);
    for (int k = 0; k < 3; k++) {
        assert_int_equal(x[k].status, BDML_OK);
        assert_string_equal(x[k].why, "job 4 refused");
        for (int job = 0; job < JOBS; job++) {
            assert_int_equal(x[k].finished[job], job != 4);
            if (job == 4) {
                check_true(x[k].result[job][0] == 7.0 && x[k].result[job][1] == 7.0);
                continue;
            }
            check_true(x[k].result[job][0] == 3.0 * job && isnan(x[k].result[job][1]));
        }
    }
}

/* All ranks hear of the failure, in its words: none waits for one that is gone. */
static void what_breaks_on_one_rank_breaks_on_all(void **state)
{
    (void)state;
    static dealt x[3];
    for (int k = 0; k < 3; k++) x[k] = (dealt){.fails = 7, .excused = -1};
    on_ranks(3, deal, x, sizeof *x);
    for (int k = 0; k < 3; k++) {
        assert_int_equal(x[k].status, BDML_ERR_LAPACK);
        assert_string_equal(x[k].error, "work: job 7 broke");
    }
}

/* ---- mining ---------------------------------------------------------------------------------------- */

enum { N = 40, DIM = 3 };
typedef struct mined {
    const double *x;
    const int32_t *y;
    const bdml_mining *how;
    bdml_constraints *c;
} mined;

static void mine(rank *r)
{
    mined *m = r->user;
    check_ok(r->h, bdml_mine(r->h, N, DIM, m->x, DIM, m->y, m->how, &m->c));
}

static void same_constraints(const bdml_constraints *a, const bdml_constraints *b)
{
    check_true(a->pairs == b->pairs && a->targets == b->targets && a->m == b->m);
    assert_memory_equal(a->pi, b->pi, sizeof *a->pi * (size_t)a->pairs);
    assert_memory_equal(a->pj, b->pj, sizeof *a->pj * (size_t)a->pairs);
    assert_memory_equal(a->target, b->target, sizeof *a->target * (size_t)a->targets);
    assert_memory_equal(a->far, b->far, sizeof *a->far * (size_t)a->m);
    assert_memory_equal(a->near, b->near, sizeof *a->near * (size_t)a->m);
}

static int by_key(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Far pairs, ascending: the caller's to free. */
static uint64_t *far_pairs(const bdml_constraints *c)
{
    uint64_t *key = calloc((size_t)c->m + 1, sizeof *key);
    for (int64_t t = 0; t < c->m; t++) key[t] = bdml_pair_key(c->pi[c->far[t]], c->pj[c->far[t]]);
    qsort(key, (size_t)c->m, sizeof *key, by_key);
    return key;
}

/* The same pair constraints, in whatever order. */
static void same_far_pairs(const bdml_constraints *a, const bdml_constraints *b)
{
    uint64_t *x = far_pairs(a), *y = far_pairs(b);
    check_true(a->m == b->m && a->targets == b->targets);
    assert_memory_equal(x, y, sizeof *x * (size_t)a->m);
    free(x);
    free(y);
}

/* Anchors of all ranks give the constraints of one, also where some rank has no anchor; in the same order, but for pairs of
 * rule ball, which come as their balls are closed. */
static void mining_over_ranks_is_mining(void **state)
{
    bdml_handle *h = *state;
    bdml_rng rng = bdml_rng_make(3, 4);
    double x[N * DIM];
    int32_t y[N];
    for (int i = 0; i < N * DIM; i++) x[i] = bdml_rng_normal(&rng);
    for (int i = 0; i < N; i++) y[i] = i % 3;
    const int rules[] = {BDML_RULE_CLASS, BDML_RULE_NEAREST, BDML_RULE_BALL};
    const int64_t anchors[] = {0, 13, 2};
    for (int k = 0; k < 9; k++)
        for (int kind = 0; kind < 2; kind++) {
            bdml_mining how = {.kind = kind ? BDML_KIND_TRIPLET : BDML_KIND_PAIR,
                               .rule = rules[k / 3],
                               .targets = 9,
                               .impostors = 2,
                               .random_impostors = k % 2 ? 2 : 0,
                               .anchors = anchors[k % 3],
                               .seed = 5};
            bdml_constraints *one = NULL;
            mined m[MOST_RANKS];
            check_ok(h, bdml_mine(h, N, DIM, x, DIM, y, &how, &one));
            for (int r = 0; r < MOST_RANKS; r++) m[r] = (mined){x, y, &how, NULL};
            on_ranks(MOST_RANKS, mine, m, sizeof *m);
            for (int r = 0; r < MOST_RANKS; r++) {
                bool by_ball = how.rule == BDML_RULE_BALL && how.kind == BDML_KIND_PAIR;
                (by_ball ? same_far_pairs : same_constraints)(one, m[r].c);
                bdml_free_constraints(m[r].c);
            }
            bdml_free_constraints(one);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stretches_cover_everything_once),
        handle_test(a_rank_must_be_one_of_its_ranks),
        cmocka_unit_test(every_rank_gets_what_all_have),
        handle_test(sums_over_ranks_have_the_bits_of_one),
        cmocka_unit_test(a_job_is_done_by_one_rank_for_all),
        cmocka_unit_test(what_breaks_on_one_rank_breaks_on_all),
        handle_test(mining_over_ranks_is_mining),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
