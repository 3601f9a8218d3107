/* test_engine_split.c - a solve split over ranks: threads that each hold a part of the constraints, of the target
 * pairs and of the rows, and that meet in the calls of the communicator alone. */
#include "engine_toy.h"
#include "ranks.h"

/* ---- ranks --------------------------------------------------------------------------------------- */

/* A problem whose other ranks hold nothing. */
static void nothing_to_add(void *user, int64_t count, double *a)
{
    (void)user, (void)count, (void)a;
}

static const bdml_comm ALONE = {.sum = nothing_to_add, .max = nothing_to_add, .size = 2};

/* ---- parts --------------------------------------------------------------------------------------- */

/* Constraints and target pairs number k with owner(k) == rank; rows that they do not name are zero. */
static toy take_part(bdml_handle *h, const toy *T, int own, int size, bool last_is_empty)
{
    const bdml_constraints *c = T->c;
    int holders = last_is_empty ? size - 1 : size;
    toy P = {.n = T->n, .d = T->d, .x = calloc((size_t)(T->n * T->d), sizeof(double))};
    int32_t *targets = calloc((size_t)(2 * c->targets + 1), sizeof *targets);
    int32_t *rows = calloc((size_t)(3 * c->m + 1), sizeof *rows);
    double *margin = calloc((size_t)c->m + 1, sizeof *margin);
    double *weight = calloc((size_t)c->m + 1, sizeof *weight);
    unsigned char *seen = calloc((size_t)c->pairs, 1);
    int64_t m = 0, count = 0;
    for (int64_t k = 0; k < c->targets; k++) {
        int32_t p = c->target[k];
        if (p % holders != own) continue;
        targets[2 * count] = seen[p] ? c->pj[p] : c->pi[p]; /* both directions count */
        targets[2 * count++ + 1] = seen[p] ? c->pi[p] : c->pj[p];
        seen[p] = 1;
    }
    for (int64_t t = 0; t < c->m; t++) {
        if (t * 7 % 5 % holders != own) continue;
        assert_int_equal(bdml_constraints_at(c, t, rows + 3 * m), BDML_OK);
        margin[m] = c->margin ? c->margin[t] : 1.0;
        weight[m++] = c->weight ? c->weight[t] : 1.0;
    }
    check_ok(h, bdml_constraints_build(h, T->n, count, targets, m, rows, margin, weight, &P.c));
    assert_true(P.c->m == m && P.c->targets == count);
    for (int64_t p = 0; p < P.c->pairs; p++)
        for (int e = 0; e < 2; e++) {
            int64_t i = e ? P.c->pj[p] : P.c->pi[p];
            memcpy(P.x + i * T->d, T->x + i * T->d, sizeof *P.x * (size_t)T->d);
        }
    free(targets), free(rows), free(margin), free(weight), free(seen);
    return P;
}

/* ---- a solve of all ranks ------------------------------------------------------------------------ */

typedef struct job {
    bdml_handle *h;
    toy part;
    bdml_comm comm;
    member me;
    const bdml_solve_settings *s;
    bool diagonal;
    const toy *shared; /* or NULL: `part` is what this rank knows */
    bool split;        /* shared: each rank has a part of it, or solves all of it */
    bdml_solve_result r;
    bdml_status status;
} job;

static void *solve_part(void *user)
{
    job *j = user;
    const toy *P = j->shared ? j->shared : &j->part;
    const bdml_rows rows = {.n = P->n, .d = P->d, .ld = P->d, .x = P->x};
    bdml_problem *p;
    j->status = j->shared ? bdml_problem_new_shared(j->h, NULL, j->split, P->n, &rows, P->c, NULL,
                                                    j->diagonal, &p)
                          : bdml_problem_new_split(j->h, &j->comm, P->n, P->d, P->x, P->d, P->c,
                                                   NULL, j->diagonal, &p);
    if (j->status == BDML_OK) j->status = bdml_problem_solve(j->h, p, j->s, &j->r);
    bdml_problem_free(p);
    return NULL;
}

static void make_jobs(const toy *T, const bdml_solve_settings *s, bool diagonal, int size,
                      bool last_is_empty, meeting *all, job *list)
{
    meeting_begin(all, size);
    for (int r = 0; r < size; r++) {
        job *j = &list[r];
        *j = (job){.s = s, .diagonal = diagonal};
        check_ok(NULL, bdml_create(&j->h));
        check_ok(j->h, bdml_set(j->h, "threads", "1"));
        j->part = take_part(j->h, T, r, size, last_is_empty);
        j->comm = meeting_join(all, r, &j->me);
        check_ok(j->h, bdml_set_comm(j->h, &j->comm));
    }
}

static void run_jobs(int size, job *list)
{
    pthread_t thread[MOST_RANKS];
    for (int r = 0; r < size; r++)
        assert_int_equal(pthread_create(&thread[r], NULL, solve_part, &list[r]), 0);
    for (int r = 0; r < size; r++) pthread_join(thread[r], NULL);
}

static void free_jobs(int size, meeting *all, job *list)
{
    for (int r = 0; r < size; r++) {
        bdml_solve_result_free(&list[r].r);
        toy_free(&list[r].part);
        bdml_free(list[r].h);
        meeting_leave(&list[r].me);
    }
    meeting_end(all);
}

static void same_number(double a, double b)
{
    if (isfinite(b))
        check_close(a, b, 1e-10 * fabs(b));
    else
        check_true(a == b || (isnan(a) && isnan(b)));
}

/* In parts and in one: the same steps, ends, metric and multipliers, to 1e-10. */
static void compare(bdml_handle *h, const toy *T, const bdml_solve_settings *s, bool diagonal,
                    int size, bool last_is_empty)
{
    job list[MOST_RANKS];
    meeting all;
    bdml_solve_result one;
    solve_toy(h, T, s, diagonal, &one);
    make_jobs(T, s, diagonal, size, last_is_empty, &all, list);
    run_jobs(size, list);
    double sum = 0.0, sum_one = 0.0;
    for (int r = 0; r < size; r++) {
        const bdml_solve_result *mine = &list[r].r;
        check_ok(list[r].h, list[r].status);
        check_true(mine->outcome == one.outcome);
        assert_int_equal(mine->iterations, one.iterations);
        same_number(mine->lower, one.lower);
        same_number(mine->upper, one.upper);
        same_number(mine->trace, one.trace);
        check_true((mine->m == NULL) == (one.m == NULL));
        size_t entries = diagonal ? (size_t)T->d : (size_t)(T->d * T->d);
        for (size_t k = 0; one.m && k < entries; k++)
            check_close(mine->m[k], one.m[k], 1e-10 * one.trace);
        if (r > 0 && one.m) assert_memory_equal(mine->m, list[0].r.m, sizeof(double) * entries);
        for (int64_t t = 0; t < list[r].part.c->m; t++) sum += mine->y[t];
    }
    for (int64_t t = 0; t < T->c->m; t++) sum_one += one.y[t];
    check_close(sum, sum_one, 1e-9 * fabs(sum_one));
    free_jobs(size, &all, list);
    bdml_solve_result_free(&one);
}

static void a_split_solve_is_the_solve(void **state)
{
    bdml_handle *h = *state;
    for (int form = 0; form < 3; form++)
        for (int diagonal = 0; diagonal < 2; diagonal++)
            for (int span = 4; span <= 6; span += 2) {
                toy T = make_toy(h, 800 + (uint64_t)form, 60, 6, span, 90, form ? "mw" : "pw");
                bdml_solve_settings s = hard_settings(10, INFINITY, 1e-4);
                s.hard = form == 0;
                s.loss = form == 1 ? BDML_LOSS_HINGE : BDML_LOSS_SQUARED_HINGE;
                compare(h, &T, &s, diagonal, 2, false);
                toy_free(&T);
            }
}

/* Enough constraints for steps of second order. */
static void the_curvature_is_that_of_all_ranks(void **state)
{
    bdml_handle *h = *state;
    for (int diagonal = 0; diagonal < 2; diagonal++) {
        toy T = make_toy(h, 805, 300, 6, 6, 3000, "mw");
        bdml_solve_settings s = hard_settings(1e3, INFINITY, 1e-8);
        s.hard = false;
        s.softness = 50.0;
        compare(h, &T, &s, diagonal, 3, false);
        toy_free(&T);
    }
}

static void an_empty_rank_changes_nothing(void **state)
{
    bdml_handle *h = *state;
    toy T = make_toy(h, 810, 40, 4, 4, 50, "p");
    bdml_solve_settings s = hard_settings(10, INFINITY, 1e-4);
    compare(h, &T, &s, false, 3, true);
    toy_free(&T);
}

/* Trace bound that is active, fixed trace, and proofs: over the cone, and of one absurd constraint. */
static void every_end_is_the_same_on_all_ranks(void **state)
{
    bdml_handle *h = *state;
    toy T = make_toy(h, 820, 40, 4, 4, 50, "p");
    bdml_solve_settings s = hard_settings(10, INFINITY, 1e-4);
    bdml_solve_result r;
    solve_toy(h, &T, &s, false, &r);
    s.trace = 1.05 * r.trace;
    compare(h, &T, &s, false, 2, false);
    s.set = BDML_SET_PSD_SIMPLEX;
    compare(h, &T, &s, false, 2, false);
    s = hard_settings(10, 0.01 * r.trace, 1e-4);
    compare(h, &T, &s, false, 2, false); /* infeasible for this trace */
    bdml_solve_result_free(&r);
    toy_free(&T);
    T = make_toy(h, 821, 40, 3, 3, 60, "t");
    s = hard_settings(2, INFINITY, 1e-4);
    compare(h, &T, &s, false, 2, false); /* infeasible for every one */
    toy_free(&T);
    T = make_toy(h, 822, 20, 3, 3, 20, "p");
    int32_t p = T.c->far[7];
    memcpy(T.x + 3 * T.c->pi[p], T.x + 3 * T.c->pj[p], 3 * sizeof *T.x);
    s = hard_settings(10, INFINITY, 1e-4);
    compare(h, &T, &s, false, 2, false);
    toy_free(&T);
}

static int refuse(void *user, const char *what, int64_t done, int64_t total)
{
    (void)user, (void)what, (void)total;
    return done >= 20;
}

/* What one rank knows all must: the wish to stop, and constraints that are refused. */
static void one_rank_stops_all(void **state)
{
    bdml_handle *h = *state;
    toy T = make_toy(h, 830, 60, 6, 6, 90, "pw");
    bdml_solve_settings s = hard_settings(10, INFINITY, 1e-13);
    job list[MOST_RANKS];
    meeting all;
    for (int form = 0; form < 3; form++) { /* in parts; shared and split; each solves all */
        make_jobs(&T, &s, false, 2, false, &all, list);
        for (int r = 0; r < 2; r++) {
            list[r].shared = form > 0 ? &T : NULL;
            list[r].split = form == 1;
        }
        bdml_set_progress(list[1].h, refuse, NULL);
        run_jobs(2, list);
        for (int r = 0; r < 2; r++) {
            check_ok(list[r].h, list[r].status);
            check_true(list[r].r.stop == BDML_STOP_CANCELLED);
            assert_int_equal(list[r].r.iterations, list[0].r.iterations);
        }
        free_jobs(2, &all, list);
    }
    make_jobs(&T, &s, false, 2, false, &all, list);
    list[1].part.c->margin[0] = -1.0;
    run_jobs(2, list);
    check_fails(list[0].h, list[0].status, BDML_ERR_DATA, "another rank");
    check_fails(list[1].h, list[1].status, BDML_ERR_DATA, "margin of constraint 0");
    free_jobs(2, &all, list);
    toy_free(&T);
}

/* ---- a problem that all ranks know ---------------------------------------------------------------- */

static void share_jobs(const toy *T, const bdml_solve_settings *s, int size, bool split,
                       meeting *all, job *list)
{
    make_jobs(T, s, false, size, false, all, list);
    for (int r = 0; r < size; r++) {
        list[r].shared = T;
        list[r].split = split;
    }
    run_jobs(size, list);
    for (int r = 0; r < size; r++) check_ok(list[r].h, list[r].status);
}

/* Solved by each rank: the bits of one process. */
static void check_whole(const toy *T, const bdml_solve_result *one, int size, const job *list)
{
    for (int r = 0; r < size; r++) {
        const bdml_solve_result *mine = &list[r].r;
        assert_int_equal(mine->iterations, one->iterations);
        check_true(mine->lower == one->lower && mine->upper == one->upper);
        if (one->m) assert_memory_equal(mine->m, one->m, sizeof(double) * (size_t)(T->d * T->d));
        assert_memory_equal(mine->y, one->y, sizeof(double) * (size_t)T->c->m);
    }
}

/* The result of every rank is that of the problem in one piece, multipliers and proof of all constraints too. */
static void check_shared(const toy *T, const bdml_solve_result *one, int size, const job *list)
{
    double most = 0.0;
    for (int64_t t = 0; t < T->c->m; t++) most = fmax(most, one->y[t]);
    for (int r = 0; r < size; r++) {
        const bdml_solve_result *mine = &list[r].r;
        check_true(mine->outcome == one->outcome);
        assert_int_equal(mine->iterations, one->iterations);
        same_number(mine->lower, one->lower);
        same_number(mine->upper, one->upper);
        for (int k = 0; one->m && k < T->d * T->d; k++)
            check_close(mine->m[k], one->m[k], 1e-10 * one->trace);
        for (int64_t t = 0; t < T->c->m; t++) check_close(mine->y[t], one->y[t], 1e-8 * most);
        assert_memory_equal(mine->y, list[0].r.y, sizeof(double) * (size_t)T->c->m);
        assert_int_equal(mine->contradicting, one->contradicting);
        for (int64_t k = 0; k < one->contradicting; k++)
            assert_int_equal(mine->important[k], one->important[k]);
    }
}

static void a_shared_problem_has_one_result(void **state)
{
    bdml_handle *h = *state;
    const struct {
        double K, trace;
        const char *kind;
        int m;
    } hard[] = {{10, INFINITY, "pw", 90}, {10, 1e-3, "pw", 90}, {10, INFINITY, "p", 2}};
    for (size_t k = 0; k < sizeof hard / sizeof *hard; k++)
        for (int size = 2; size <= 3; size++) {
            toy T = make_toy(h, 840, 60, 6, 4, hard[k].m, hard[k].kind);
            bdml_solve_settings s = hard_settings(hard[k].K, hard[k].trace, 1e-4);
            bdml_solve_result one;
            job list[MOST_RANKS];
            meeting all;
            solve_toy(h, &T, &s, false, &one);
            for (int split = 0; split < 2; split++) {
                share_jobs(&T, &s, size, split, &all, list);
                check_shared(&T, &one, size, list);
                if (!split) check_whole(&T, &one, size, list);
                free_jobs(size, &all, list);
            }
            bdml_solve_result_free(&one);
            toy_free(&T);
        }
}

/* The last state that was saved. */
static bdml_status remember(void *user, const bdml_solve_state *state)
{
    bdml_solve_state *kept = user;
    size_t bytes = sizeof *state->number * (size_t)state->count;
    kept->number = realloc(kept->number, bytes);
    kept->count = state->count;
    memcpy(kept->number, state->number, bytes);
    return BDML_OK;
}

/* Saved by three ranks, a solve goes on in two and in one process, to the end of the whole. */
static void goes_on_elsewhere(bdml_handle *h, bool split)
{
    toy T = make_toy(h, 850, 60, 6, 6, 90, "pw");
    bdml_solve_settings s = hard_settings(10, INFINITY, 1e-6), cut = s;
    bdml_solve_result one, rest;
    bdml_solve_state kept[MOST_RANKS] = {{0}};
    bdml_solve_settings each[MOST_RANKS];
    job list[MOST_RANKS];
    meeting all;
    solve_toy(h, &T, &s, false, &one);
    cut.max_iter = one.iterations / 2;
    cut.save = remember;
    make_jobs(&T, &cut, false, 3, false, &all, list);
    for (int r = 0; r < 3; r++) {
        each[r] = cut;
        each[r].save_user = &kept[r];
        list[r].s = &each[r];
        list[r].shared = &T;
        list[r].split = split;
    }
    run_jobs(3, list);
    for (int r = 0; r < 3; r++) {
        check_ok(list[r].h, list[r].status);
        check_true(list[r].r.stop == BDML_STOP_ITERATIONS && kept[r].count > 0);
        assert_int_equal(kept[r].count, kept[0].count);
        int others = 0; /* but for the seconds that a rank has taken, where each tells its own */
        for (int64_t k = 0; k < kept[0].count; k++)
            others += memcmp(&kept[r].number[k], &kept[0].number[k], sizeof(double)) != 0;
        check_true(others <= !split);
    }
    free_jobs(3, &all, list);
    s.resume = &kept[0];
    share_jobs(&T, &s, 2, !split, &all, list);
    check_shared(&T, &one, 2, list);
    free_jobs(2, &all, list);
    solve_toy(h, &T, &s, false, &rest);
    assert_int_equal(rest.iterations, one.iterations);
    for (int k = 0; k < T.d * T.d; k++) check_close(rest.m[k], one.m[k], 1e-10 * one.trace);
    for (int r = 0; r < 3; r++) free(kept[r].number);
    bdml_solve_result_free(&one);
    bdml_solve_result_free(&rest);
    toy_free(&T);
}

static void another_number_of_ranks_goes_on(void **state)
{
    goes_on_elsewhere(*state, true);
    goes_on_elsewhere(*state, false);
}

/* ---- vectors ------------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* By partial sorting and by bisection on the bits: the number that a sort puts in the middle. */
static void both_medians_are_that_of_a_sort(void **state)
{
    bdml_rng rng = bdml_rng_make(5, 6);
    (void)state;
    for (int64_t m = 1; m < 60; m++)
        for (int kind = 0; kind < 3; kind++) {
            double a[60], sorted[60];
            for (int64_t t = 0; t < m; t++) {
                double v = bdml_rng_uniform(&rng);
                a[t] = sorted[t] = kind == 0   ? v
                                   : kind == 1 ? floor(4.0 * v)
                                               : exp(200.0 * v - 100.0);
            }
            qsort(sorted, (size_t)m, sizeof *sorted, ascending);
            bdml_cspace one = {m, (double)m, &bdml_comm_serial}, apart = {m, (double)m, &ALONE};
            check_true(bdml_cvec_median(&apart, a) == sorted[m / 2]);
            check_true(bdml_cvec_median(&one, a) == sorted[m / 2]);
            check_true(bdml_cvec_largest(&one, a) == sorted[m - 1]);
        }
}

/* A sum begins with its start once, on the first rank. */
static void the_start_of_a_sum_counts_once(void **state)
{
    double a[3] = {1, -2, 4}, b[3] = {3, 1, 0.5};
    bdml_comm second = ALONE;
    second.rank = 1;
    bdml_cspace first = {3, 6, &ALONE}, other = {3, 6, &second};
    (void)state;
    check_true(bdml_cvec_dot(&first, 5.0, a, b) == 8.0 && bdml_cvec_dot(&other, 5.0, a, b) == 3.0);
    check_true(bdml_cvec_sum(&first, 5.0, a) == 8.0 && bdml_cvec_sum(&other, 5.0, a) == 3.0);
    check_true(bdml_cvec_sum_abs(&first, 5.0, a) == 12.0);
    check_true(bdml_cvec_sum_abs(&other, 5.0, a) == 7.0);
    check_true(bdml_cvec_mean_abs(&other, a) == 1.0 / 6 + 2.0 / 6 + 4.0 / 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(a_split_solve_is_the_solve),
        handle_test(the_curvature_is_that_of_all_ranks),
        handle_test(an_empty_rank_changes_nothing),
        handle_test(every_end_is_the_same_on_all_ranks),
        handle_test(one_rank_stops_all),
        handle_test(a_shared_problem_has_one_result),
        handle_test(another_number_of_ranks_goes_on),
        handle_test(both_medians_are_that_of_a_sort),
        handle_test(the_start_of_a_sum_counts_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
