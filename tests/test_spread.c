/* test_spread.c - rows dealt out to ranks, which are threads here: what is made of them is what one rank that has all rows makes. */
#include "ranks.h"

#include <stdlib.h>

#include "baselines/baselines.h"
#include "proof/proof.h"
#include "train/train.h"

enum { N = 1100, D = 5, CLASSES = 3 }; /* five blocks of rows, the last one short */

/* A rank and what it holds of the rows. */
typedef struct holder {
    bdml_handle *h;
    bdml_comm comm;
    bdml_spread *over;
    double *x; /* its rows */
    void *user;
} holder;

typedef struct work {
    void (*run)(holder *r);
    void *user;
} work;

static double all_x[N * D];
static int32_t all_y[N];

static void fill_rows(void)
{
    bdml_rng r = bdml_rng_make(11, 5);
    for (int i = 0; i < N; i++) {
        all_y[i] = (int32_t)bdml_rng_below(&r, CLASSES);
        for (int j = 0; j < D; j++)
            all_x[i * D + j] = bdml_rng_normal(&r) * (j + 1) + 3.0 * (all_y[i] == j % CLASSES);
    }
}

static void hold(rank *r)
{
    const work *w = r->user;
    holder own = {.h = r->h, .comm = r->comm, .user = w->user};
    bdml_stretch part = bdml_spread_stretch(&own.comm, own.comm.rank, N);
    size_t count = (size_t)(part.end - part.first) * D;
    check_ok(own.h, bdml_spread_new(own.h, &own.comm, part.end - part.first, &own.over));
    own.x = malloc(sizeof *own.x * (count + 1));
    if (count > 0) memcpy(own.x, all_x + part.first * D, sizeof *own.x * count);
    w->run(&own);
    free(own.x);
    bdml_spread_free(own.over);
}

/* `run` on so many ranks, each with its rows and its item of user, where there is one. */
static void on_holders(int size, void (*run)(holder *r), void *user, size_t item)
{
    work w[MOST_RANKS];
    for (int k = 0; k < size; k++)
        w[k] = (work){run, user ? (char *)user + (size_t)k * item : NULL};
    on_ranks(size, hold, w, sizeof *w);
}

static bdml_training training_of(const holder *r)
{
    return (bdml_training){N, D, r->x, all_y, CLASSES, NULL, NULL, r->over, NULL};
}

/* ---- stretches and copies ------------------------------------------------------------------------------ */

static void ranks_hold_whole_blocks(void **state)
{
    (void)state;
    for (int size = 1; size <= 7; size++)
        for (int64_t n = 1; n < 200000; n = 3 * n + 100) {
            bdml_comm comm = {.size = size};
            int64_t next = 0;
            for (int k = 0; k < size; k++) {
                bdml_stretch s = bdml_spread_stretch(&comm, k, n);
                assert_int_equal(s.first, next);
                check_true(s.end == n || s.end % bdml_block_rows(n) == 0);
                next = s.end;
            }
            assert_int_equal(next, n);
        }
}

/* Rank k asks for 3 k rows from everywhere, some of them twice, and for its own first one, which the rank before it does not have;
 * rank 0 for none. */
static void ask(holder *r)
{
    int64_t row[3 * MOST_RANKS] = {0}, count = 3 * r->comm.rank;
    double got[3 * MOST_RANKS * D];
    for (int64_t i = 0; i < count; i++) row[i] = (i * 397 + r->comm.rank * 31) % N;
    if (count > 1) row[1] = row[0];
    if (count > 2) row[2] = bdml_spread_first(r->over) % N;
    check_ok(r->h, bdml_spread_fetch(r->h, r->over, D, r->x, D, count, row, got));
    for (int64_t i = 0; i < count; i++)
        assert_memory_equal(got + i * D, all_x + row[i] * D, sizeof *got * D);
}

static void a_rank_gets_the_rows_that_it_asks_for(void **state)
{
    (void)state;
    for (int size = 2; size <= MOST_RANKS; size++) on_holders(size, ask, NULL, 0);
}

/* ---- sums ------------------------------------------------------------------------------------------------ */

typedef struct made {
    double mean[CLASSES * D], within[D * D], width[D];
    bdml_constraints *c;
    bdml_mining how;
    bdml_status status;
    char error[BDML_ERROR_SIZE];
} made;

static void make(bdml_handle *h, const bdml_training *t, made *m)
{
    bdml_prepare p = {.d_in = D, .d_out = D, .scale = BDML_SCALE_ZSCORE};
    int64_t count[CLASSES];
    const bdml_rows rows = bdml_training_rows(t);
    check_ok(h, bdml_class_means(h, &rows, t->over, count, m->mean, NULL));
    check_ok(h, bdml_within_covariance(h, t, m->within));
    check_ok(h, bdml_prepare_widths(h, &rows, t->over, NULL, &p));
    memcpy(m->width, p.width, sizeof m->width);
    bdml_prepare_free(&p);
}

static void make_on_rank(holder *r)
{
    bdml_training t = training_of(r);
    make(r->h, &t, r->user);
}

/* To the bit: means and widths by sums of twice the precision, scatter block by block. */
static void sums_do_not_depend_on_the_ranks(void **state)
{
    bdml_handle *h = *state;
    made one = {0}, m[MOST_RANKS];
    bdml_training t = {N, D, all_x, all_y, CLASSES, NULL, NULL, NULL, NULL};
    make(h, &t, &one);
    for (int size = 2; size <= MOST_RANKS; size++) {
        on_holders(size, make_on_rank, m, sizeof *m);
        for (int k = 0; k < size; k++) {
            assert_memory_equal(m[k].mean, one.mean, sizeof one.mean);
            assert_memory_equal(m[k].within, one.within, sizeof one.within);
            assert_memory_equal(m[k].width, one.width, sizeof one.width);
        }
    }
}

/* ---- mining ------------------------------------------------------------------------------------------------ */

static void mine(holder *r)
{
    made *m = r->user;
    const bdml_rows rows = {.n = bdml_spread_held(r->over, N), .d = D, .ld = D, .x = r->x};
    check_ok(r->h, bdml_mine_spread(r->h, r->over, N, &rows, all_y, &m->how, &m->c));
}

static void mining_around_the_ring_is_mining(void **state)
{
    bdml_handle *h = *state;
    const int rules[] = {BDML_RULE_CLASS, BDML_RULE_NEAREST};
    const int64_t anchors[] = {0, 37, 2};
    made m[MOST_RANKS];
    for (int j = 0; j < D; j++) all_x[300 * D + j] = all_x[900 * D + j]; /* ties, apart */
    for (int k = 0; k < 6; k++) {
        bdml_mining how = {.kind = BDML_KIND_TRIPLET,
                           .rule = rules[k / 3],
                           .targets = 5,
                           .impostors = 4,
                           .random_impostors = k % 2,
                           .anchors = anchors[k % 3],
                           .seed = 5};
        bdml_constraints *one = NULL;
        check_ok(h, bdml_mine(h, N, D, all_x, D, all_y, &how, &one));
        for (int r = 0; r < MOST_RANKS; r++) m[r] = (made){.how = how};
        on_holders(3 + k % 2, mine, m, sizeof *m);
        for (int r = 0; r < 3 + k % 2; r++) {
            const bdml_constraints *c = m[r].c;
            check_true(c->pairs == one->pairs && c->m == one->m && c->targets == one->targets);
            assert_memory_equal(c->pi, one->pi, sizeof *c->pi * (size_t)c->pairs);
            assert_memory_equal(c->pj, one->pj, sizeof *c->pj * (size_t)c->pairs);
            assert_memory_equal(c->far, one->far, sizeof *c->far * (size_t)c->m);
            assert_memory_equal(c->near, one->near, sizeof *c->near * (size_t)c->m);
            bdml_free_constraints(m[r].c);
        }
        bdml_free_constraints(one);
    }
}

/* ---- failures ---------------------------------------------------------------------------------------------- */

/* Rank 1 has a value that is not a number: all hear of it, in the words of rank 1 and with its name. */
static void prepare_holes(holder *r)
{
    made *m = r->user;
    bdml_prepare p = {.d_in = D, .d_out = D, .scale = BDML_SCALE_ZSCORE};
    bdml_training t = training_of(r);
    if (r->comm.rank == 1) r->x[D + 2] = NAN;
    const bdml_rows rows = bdml_training_rows(&t);
    m->status = bdml_prepare_widths(r->h, &rows, r->over, NULL, &p);
    snprintf(m->error, sizeof m->error, "%s", bdml_last_error(r->h));
    bdml_prepare_free(&p);
}

static void what_one_rank_finds_wrong_all_say(void **state)
{
    (void)state;
    made m[3] = {0};
    char said[64];
    bdml_comm comm = {.size = 3};
    snprintf(said, sizeof said, "rank 1 of 3: row %d, column 2",
             (int)bdml_spread_stretch(&comm, 1, N).first + 1);
    on_holders(3, prepare_holes, m, sizeof *m);
    for (int k = 0; k < 3; k++) {
        assert_int_equal(m[k].status, BDML_ERR_DATA);
        check_true(strstr(m[k].error, said) != NULL);
    }
}

int main(void)
{
    fill_rows();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_hold_whole_blocks),
        cmocka_unit_test(a_rank_gets_the_rows_that_it_asks_for),
        handle_test(sums_do_not_depend_on_the_ranks),
        handle_test(mining_around_the_ring_is_mining),
        cmocka_unit_test(what_one_rank_finds_wrong_all_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
