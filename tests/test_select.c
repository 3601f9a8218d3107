/* test_select.c - how method bdml chooses: the rule of the choice by hand, the folds, the mining of the recipe, and what
 * becomes of scores that are known. */
#include "check.h"

#include <stdlib.h>

#include "train/plan.h"

enum { N = 100, D = 3, CLASSES = 2 };

typedef struct points {
    double x[N * D];
    int32_t y[N];
    bdml_training t;
} points;

/* Two classes apart along the first of three columns. No two rows are the same. */
static void make_points(points *p)
{
    bdml_rng r = bdml_rng_make(5, 0);
    for (int i = 0; i < N; i++) {
        p->y[i] = i % CLASSES;
        for (int j = 0; j < D; j++) p->x[i * D + j] = bdml_rng_normal(&r);
        p->x[i * D] += 2.0 * p->y[i];
    }
    p->t = (bdml_training){N, D, p->x, p->y, CLASSES, NULL, NULL, NULL, NULL};
}

/* ---- the paper's form ---------------------------------------------------------------------------------------- */

/* Its objective and neighbours are those of a stated problem, its reference the space as it is; cap and weight are open. */
static void papers_form_leaves_cap_and_weight_open(void **state)
{
    bdml_handle *h = *state;
    points p;
    bdml_plan plan;
    make_points(&p);
    check_ok(h, bdml_set(h, "recipe", "paper"));
    check_ok(h, bdml_set(h, "rule", "nearest"));
    check_ok(h, bdml_plan_make(h, &h->options, &p.t, &plan));
    assert_int_equal(plan.source, BDML_FROM_RULE);
    assert_int_equal(plan.pull, BDML_PULL_TARGETS);
    assert_int_equal(plan.references, 1);
    assert_int_equal(plan.reference[0], BDML_REFERENCE_NONE);
    assert_int_equal(plan.efforts, 2);
    check_true(plan.effort[0].again == 0 && plan.effort[1].again == 0);
    check_true(plan.caps > 1);
    check_close(plan.slack, 0.0, 0); /* the least error, unless se-rule is given */
    bdml_plan_free(&plan);
    check_ok(h, bdml_set(h, "se-rule", "1"));
    check_ok(h, bdml_plan_make(h, &h->options, &p.t, &plan));
    check_close(plan.slack, 1.0, 0);
    bdml_plan_free(&plan);
    check_ok(h, bdml_set(h, "distortion", "1e5"));
    check_ok(h, bdml_set(h, "reference", "zscore"));
    check_ok(h, bdml_plan_make(h, &h->options, &p.t, &plan));
    assert_int_equal(plan.reference[0], BDML_REFERENCE_ZSCORE);
    assert_int_equal(plan.caps, 1);
    check_close(plan.cap[0], 1e5, 0);
    bdml_plan_free(&plan);
    check_ok(h, bdml_set(h, "rank", "2"));
    check_fails(h, bdml_plan_make(h, &h->options, &p.t, &plan), BDML_ERR_ARGUMENT, "full rank");
}

/* ---- the rule --------------------------------------------------------------------------------------------- */

/* Four parts, two caps: the larger is better by 1 on average, s = 1.155 in the difference, so that its plain standard
 * error is s/2 = 0.577 and with as many rows tested as trained s sqrt(1/4 + 1) = 1.29. */
static void shared_rows_widen_the_error(void **state)
{
    (void)state;
    static const double error[] = {10, 10, 12, 10, 10, 10, 12, 10};
    const bdml_plan plan = {
        .references = 1, .scores = 1, .efforts = 1, .caps = 2, .cap = {1, 10}, .slack = 1.0};
    bdml_scores s = {&plan, 4, error, 0.0, INFINITY, NULL};
    bool wanted[2] = {true, true};
    double mean[2], se[2];
    bdml_summarise(&s, wanted, mean, se);
    check_close(mean[0], 11.0, 1e-14);
    check_close(se[0], 2.0 / sqrt(3.0) / 2.0, 1e-14);
    assert_int_equal(bdml_best(&s, wanted, mean), 1);
    assert_int_equal(bdml_choose(&s, wanted, mean), 1); /* 1 > 0.577 */
    s.tested_over_trained = 1.0;
    assert_int_equal(bdml_choose(&s, wanted, mean), 0); /* 1 < 1.29 */
    s.most_error = 0.9;
    assert_int_equal(bdml_choose(&s, wanted, mean), 1);
}

/* Two references, two caps, two parts. The best has the larger cap; both of the smaller cap are within an error of
 * it (3, from differences 6 apart), and of these the one with the smaller mean is taken. What could not be fitted in
 * a part is out. */
static void equal_caps_are_told_apart_by_error(void **state)
{
    (void)state;
    static const double error[] = {9, 10, 8, 30, 15, 10, 14, (double)NAN};
    const bdml_plan plan = {
        .references = 2, .scores = 1, .efforts = 1, .caps = 2, .cap = {1, 10}, .slack = 1.0};
    bdml_scores s = {&plan, 2, error, 0.0, INFINITY, NULL};
    bool wanted[4] = {true, true, true, true};
    double mean[4], se[4];
    bdml_summarise(&s, wanted, mean, se);
    check_true(wanted[0] && wanted[1] && wanted[2] && !wanted[3]);
    assert_int_equal(bdml_best(&s, wanted, mean), 1);
    assert_int_equal(bdml_choose(&s, wanted, mean), 2);
}

/* Two parts, two candidates, of each its error and those of 1, 3, 5, 7, 9, 11, 15 neighbours. Of the second the mean
 * is least at 3, alone; smoothed along the list by 1/4, 1/2, 1/4 it is least at 9, where those beside are low too. The
 * numbers do not take part in the choice of the candidate. */
static void votes_are_chosen_after_smoothing(void **state)
{
    (void)state;
    static const double error[] = {10, 1, 0, 1, 1, 1, 1, 1, 8, 20, 4, 20, 7, 5, 7, 9,
                                   10, 1, 0, 1, 1, 1, 1, 1, 8, 20, 4, 20, 7, 5, 7, 9};
    const bdml_plan plan = {
        .votes = 7, .references = 1, .scores = 1, .efforts = 1, .caps = 2, .cap = {1, 10}};
    bdml_scores s = {&plan, 2, error, 0.0, INFINITY, NULL};
    bool wanted[2] = {true, true};
    double mean[2], se[2];
    assert_int_equal(bdml_candidate_width(&plan), 8);
    bdml_summarise(&s, wanted, mean, se);
    check_close(mean[0], 10.0, 0);
    check_close(mean[1], 8.0, 0);
    assert_int_equal(bdml_choose(&s, wanted, mean), 1);
    assert_int_equal(bdml_choose_votes(&s, 1), 9);
    assert_int_equal(bdml_choose_votes(&s, 0), 3);
}

/* Candidates are counted without gaps, and back. */
static void candidates_are_numbered(void **state)
{
    (void)state;
    const bdml_plan plan = {.references = 3, .scores = 2, .efforts = 2, .caps = 5};
    int count = bdml_candidate_count(&plan);
    bool seen[3 * 2 * 2 * 5] = {false};
    assert_int_equal(count, 60);
    for (bdml_candidate c = {0}; c.reference < 3; c.reference++)
        for (c.score = 0; c.score < 2; c.score++)
            for (c.effort = 0; c.effort < 2; c.effort++)
                for (c.cap = 0; c.cap < 5; c.cap++) {
                    int number = bdml_candidate_number(&plan, c);
                    bdml_candidate back = bdml_candidate_at(&plan, number);
                    check_true(number >= 0 && number < count && !seen[number]);
                    seen[number] = true;
                    check_true(back.reference == c.reference && back.score == c.score &&
                               back.effort == c.effort && back.cap == c.cap);
                }
}

/* The metric of K = 1 is the reference: neighbours are mined again for it only when passes are asked for. */
static void reference_needs_one_pass(void **state)
{
    bdml_handle *h = *state;
    const bdml_plan plan = {
        .o = &h->options, .efforts = 2, .effort = {{0, 1.5}, {1, 20}}, .caps = 2, .cap = {1, 3}};
    const bdml_candidate alone = {.effort = 1, .cap = 0}, learned = {.effort = 1, .cap = 1};
    assert_int_equal(bdml_candidate_again(&plan, alone), 0);
    assert_int_equal(bdml_candidate_again(&plan, learned), 1);
    check_ok(h, bdml_set(h, "passes", "2"));
    assert_int_equal(bdml_candidate_again(&plan, alone), 1);
}

/* Where neighbours are mined again at all, the last fit mines once more than the parts, unless passes are asked for. */
static void last_fit_has_one_pass_more(void **state)
{
    bdml_handle *h = *state;
    static points p;
    bdml_plan plan;
    const bdml_candidate alone = {.effort = 1, .cap = 0}, gentle = {.effort = 0, .cap = 1},
                         hard = {.effort = 1, .cap = 1};
    make_points(&p);
    check_ok(h, bdml_plan_make(h, &h->options, &p.t, &plan));
    assert_int_equal(bdml_last_again(&plan, alone), 0);
    assert_int_equal(bdml_last_again(&plan, gentle), 0);
    assert_int_equal(bdml_candidate_again(&plan, hard), 1);
    assert_int_equal(bdml_last_again(&plan, hard), 2);
    bdml_plan_free(&plan);
    check_ok(h, bdml_set(h, "passes", "2"));
    check_ok(h, bdml_plan_make(h, &h->options, &p.t, &plan));
    assert_int_equal(bdml_last_again(&plan, hard), 1);
    bdml_plan_free(&plan);
}

/* The hard effort alone at K = 10, with nothing to choose: its last fit. */
static double *fit_hard(bdml_handle *h, const bdml_training *t, int again, int more, int64_t *m)
{
    bdml_plan plan;
    bdml_final f;
    double *copy = malloc(sizeof *copy * D * D);
    assert_non_null(copy);
    check_ok(h, bdml_plan_make(h, &h->options, t, &plan));
    plan.references = plan.efforts = plan.caps = 1;
    plan.reference[0] = BDML_REFERENCE_NONE;
    plan.effort[0] = (bdml_effort){again, 20};
    plan.cap[0] = 10.0;
    plan.more = more;
    plan.rough_gap =
        1e-4; /* so that the metrics mined under differ from pass to pass, on these few points too */
    plan.rough_steps = 1000;
    check_ok(h, bdml_final_fit(h, &plan, t, &f));
    memcpy(copy, f.sweep.last->r.m, sizeof *copy * D * D);
    *m = f.sweep.last->c->m;
    bdml_final_free(&f);
    bdml_plan_free(&plan);
    return copy;
}

/* What was chosen, stated with the passes that the model tells, is the same problem to the bit. */
static void pass_more_is_a_pass(void **state)
{
    bdml_handle *h = *state;
    static points p;
    int64_t two, more, three;
    make_points(&p);
    double *a = fit_hard(h, &p.t, 1, 0, &two), *b = fit_hard(h, &p.t, 1, 1, &more),
           *c = fit_hard(h, &p.t, 2, 0, &three);
    check_true(more > two);
    assert_int_equal(more, three);
    assert_memory_equal(b, c, sizeof *b * D * D);
    check_true(memcmp(a, b, sizeof *a * D * D) != 0);
    free(a);
    free(b);
    free(c);
}

/* ---- folds ------------------------------------------------------------------------------------------------- */

/* Row of the points that these numbers are. */
static int row_of(const points *p, const double *x)
{
    for (int i = 0; i < N; i++)
        if (memcmp(p->x + i * D, x, sizeof *x * D) == 0) return i;
    return -1;
}

/* A repeat of the folds leaves out every row once, and does so in another way than the repeats before. */
static void folds_are_repeated_anew(void **state)
{
    bdml_handle *h = *state;
    static points p;
    bdml_plan plan;
    bdml_parts parts;
    int fold[8][N];
    make_points(&p);
    check_ok(h, bdml_plan_make(h, &h->options, &p.t, &plan));
    check_ok(h, bdml_parts_make(h, &plan, &p.t, &parts));
    int repeats = parts.count / parts.splits;
    assert_int_equal(parts.splits, 5);
    assert_int_equal(repeats, 2);
    for (int r = 0; r < repeats; r++) {
        for (int i = 0; i < N; i++) fold[r][i] = -1;
        for (int k = 0; k < parts.splits; k++) {
            const bdml_part *part = &parts.part[r * parts.splits + k];
            assert_int_equal(part->test + part->t.n, N);
            for (int64_t i = 0; i < part->test; i++) {
                int row = row_of(&p, part->vx + i * D);
                check_true(row >= 0 && fold[r][row] < 0);
                assert_int_equal(part->vy[i], p.y[row]);
                fold[r][row] = k;
            }
            for (int64_t i = 0; i < part->t.n; i++) /* learned from: the others */
                check_true(fold[r][row_of(&p, part->t.x + i * D)] != k);
        }
        for (int before = 0; before < r; before++) /* by chance alone, 1 of 5 rows would agree */
        {
            int together = 0;
            for (int i = 0; i < N; i++) together += fold[r][i] == fold[before][i];
            check_true(together < N / 2);
        }
    }
    bdml_parts_free(&parts);
    bdml_plan_free(&plan);
}

/* ---- the recipe's passes ------------------------------------------------------------------------------------ */

typedef struct trail {
    bdml_sweep *w;
    int solves;
    double K[8], weight[8];
    bool last[8];
} trail;

static bdml_status follow(void *user, const bdml_fit *f, bool last, int effort, int cap,
                          const bdml_solve_result *r)
{
    trail *t = user;
    (void)f, (void)effort, (void)cap, (void)r;
    t->K[t->solves] = t->w->last->s.K;
    t->weight[t->solves] = t->w->last->s.softness;
    t->last[t->solves++] = last;
    return BDML_OK;
}

static bool holds(const bdml_constraints *c, const int32_t rows[3])
{
    for (int64_t t = 0; t < c->m; t++) {
        int32_t own[3];
        if (bdml_constraints_at(c, t, own) == BDML_OK && memcmp(own, rows, sizeof own) == 0)
            return true;
    }
    return false;
}

/* Neighbours are mined again under the metric of the gentle effort at K = 10, whatever K is, and come to the
 * constraints of the first pass, random impostors and all. */
static void second_pass_adds_neighbours(void **state)
{
    bdml_handle *h = *state;
    static points p;
    bdml_plan plan;
    make_points(&p);
    check_ok(h, bdml_plan_make(h, &h->options, &p.t, &plan));
    assert_int_equal(plan.caps, 5); /* 1 3 10 30 100 */
    assert_int_equal(plan.efforts, 2);
    for (int cap = 1; cap < 5; cap += 3) {
        bdml_fit f;
        bool wanted[BDML_PLAN_EFFORTS * BDML_PLAN_CAPS] = {false};
        bdml_sweep w = {.fit = &f, .wanted = wanted, .solved = follow};
        trail t = {.w = &w};
        wanted[plan.caps + cap] = true;
        w.user = &t;
        check_ok(h, bdml_fit_open(h, &plan, &p.t, BDML_REFERENCE_NONE, NULL, true, &f));
        check_ok(h, bdml_sweep_run(&w));
        assert_int_equal(t.solves, 2);
        check_true(!t.last[0] && t.last[1]);
        check_close(t.K[0], 10.0, 0.0);
        check_close(t.K[1], plan.cap[cap], 0.0);
        check_close(t.weight[0], plan.effort[0].weight, 0.0);
        check_close(t.weight[1], plan.effort[1].weight, 0.0);
        const bdml_constraints *first = w.first.c, *last = w.last->c;
        assert_int_equal(first->m, N * 3 * 5); /* targets, random impostors */
        check_true(last->m > first->m);
        check_true(last->m <= N * 3 * (5 + 10)); /* near impostors */
        for (int64_t k = 0; k < first->m; k++) {
            int32_t rows[3];
            check_ok(h, bdml_constraints_at(first, k, rows));
            check_true(holds(last, rows));
        }
        bdml_sweep_free(&w);
        bdml_fit_close(&f);
    }
    bdml_plan_free(&plan);
}

static double distance_under(const double *m, const double *a, const double *b)
{
    double sum = 0.0;
    for (int i = 0; i < D; i++)
        for (int j = 0; j < D; j++) sum += m[i * D + j] * (a[i] - b[i]) * (a[j] - b[j]);
    return sum;
}

/* More than 5000 rows: near impostors of all rows, and the third time only triplets that the metric before, of the
 * weight of the effort, does not hold by the margin. The parts are larger. */
static void many_rows_are_all_anchors(void **state)
{
    enum { MANY = 5001 };
    bdml_handle *h = *state;
    static double x[MANY * D];
    static int32_t y[MANY];
    bdml_rng r = bdml_rng_make(6, 0);
    bdml_plan plan;
    bdml_parts parts;
    bdml_fit f;
    bool wanted[BDML_PLAN_EFFORTS * BDML_PLAN_CAPS] = {false};
    bdml_sweep w = {.fit = &f, .wanted = wanted, .solved = follow};
    trail t = {.w = &w};

    for (int i = 0; i < MANY; i++) {
        y[i] = i % CLASSES;
        for (int j = 0; j < D; j++) x[i * D + j] = bdml_rng_normal(&r);
        x[i * D] += 4.0 * y[i];
    }
    bdml_training many = {MANY - 1, D, x, y, CLASSES, NULL, NULL, NULL, NULL};
    check_ok(h, bdml_plan_make(h, &h->options, &many, &plan));
    check_true(!plan.large && plan.effort[1].again == 1);
    bdml_plan_free(&plan);
    many.n = MANY;
    check_ok(h, bdml_plan_make(h, &h->options, &many, &plan));
    check_true(plan.large && plan.effort[1].again == 2);
    check_ok(h, bdml_parts_make(h, &plan, &many, &parts));
    assert_int_equal(parts.count, 2);
    assert_int_equal(parts.part[0].t.n + parts.part[0].test, MANY);
    bdml_parts_free(&parts);

    w.user = &t;
    wanted[plan.caps + 2] = true; /* hard, K = 10 */
    check_ok(h, bdml_fit_open(h, &plan, &many, BDML_REFERENCE_NONE, NULL, true, &f));
    check_ok(h, bdml_sweep_run(&w));
    assert_int_equal(t.solves, 3);
    check_close(t.K[0], 10.0, 0.0);
    check_close(t.weight[0], plan.effort[0].weight, 0.0);
    check_close(t.K[1], 30.0, 0.0);
    check_close(t.weight[1], plan.effort[1].weight, 0.0);
    check_true(!t.last[1] && t.last[2]);
    const bdml_constraints *second = w.later[0].c, *third = w.last->c;
    check_true(second->m > MANY * 8 * 3 - 1);
    /* those about the margin are the problem, about 16 for each anchor of the many that there are here */
    check_true(third->m >= MANY && third->m < 18 * MANY);
    for (int64_t k = 0; k < third->m; k++) {
        int32_t rows[3];
        check_ok(h, bdml_constraints_at(third, k, rows));
        const double *m = w.later[0].r.m, *at = x + rows[0] * D;
        check_true(distance_under(m, at, x + rows[2] * D) <
                   distance_under(m, at, x + rows[1] * D) + 1.0 + 1e-9);
    }
    bdml_sweep_free(&w);
    bdml_fit_close(&f);
    bdml_plan_free(&plan);
}

/* Rows that constraints are about the neighbours of. */
static int64_t anchors_of(const bdml_constraints *c, int64_t n)
{
    static bool seen[1 << 16];
    int64_t count = 0;
    memset(seen, 0, sizeof seen);
    for (int64_t t = 0; t < c->m; t++) {
        int32_t rows[3];
        if (bdml_constraints_at(c, t, rows) != BDML_OK || rows[0] >= n) return -1;
        count += !seen[rows[0]];
        seen[rows[0]] = true;
    }
    return count;
}

/* Of a million rows 3600 are anchors, and so they are in the folds that the choice is made by. */
static void folds_have_the_anchors_of_the_last_fit(void **state)
{
    enum { MANY = 6000, WHOLE = 1000000 };
    bdml_handle *h = *state;
    static double x[MANY * D];
    static int32_t y[MANY];
    bdml_rng r = bdml_rng_make(8, 0);
    bdml_plan plan;
    bdml_fit f;
    bool wanted[BDML_PLAN_EFFORTS * BDML_PLAN_CAPS] = {false};
    bdml_sweep w = {.fit = &f, .wanted = wanted};

    for (int i = 0; i < MANY; i++) {
        y[i] = i % CLASSES;
        for (int j = 0; j < D; j++) x[i * D + j] = bdml_rng_normal(&r);
        x[i * D] += y[i];
    }
    bdml_training fold = {MANY, D, x, y, CLASSES, NULL, NULL, NULL, NULL}, whole = fold;
    whole.n = WHOLE;
    check_ok(h, bdml_plan_make(h, &h->options, &whole, &plan));
    wanted[plan.caps + 2] = true; /* hard, K = 10 */
    check_ok(h, bdml_fit_open(h, &plan, &fold, BDML_REFERENCE_NONE, NULL, true, &f));
    check_ok(h, bdml_sweep_run(&w));
    int64_t anchors = anchors_of(w.last->c, MANY);
    check_true(anchors > 3600 / 10 * 9 &&
               anchors <= 3600); /* a few hold all theirs by the margin */
    bdml_sweep_free(&w);
    bdml_fit_close(&f);
    bdml_plan_free(&plan);
}

/* Learning in very many columns is told beforehand, unless PCA is asked for or declined, or nothing is chosen. */
static void wide_data_are_told(void **state)
{
    bdml_handle *h = *state;
    check_true(bdml_plan_is_wide(&h->options, false, 5001, 301));
    check_true(!bdml_plan_is_wide(&h->options, false, 5000, 301));
    check_true(!bdml_plan_is_wide(&h->options, false, 5001, 300));
    check_true(
        bdml_plan_is_wide(&h->options, false, 100, 1001)); /* very many, of however few rows */
    check_true(!bdml_plan_is_wide(&h->options, false, 100, 1000));
    check_true(!bdml_plan_is_wide(&h->options, true, 5001, 301));
    check_ok(h, bdml_set(h, "pca", "0"));
    check_true(!bdml_plan_is_wide(&h->options, false, 5001, 301));
    check_ok(h, bdml_set(h, "pca", NULL));
    check_ok(h, bdml_set(h, "rule", "class"));
    check_true(!bdml_plan_is_wide(&h->options, false, 5001, 301));
}

/* Where a candidate is the metric that is mined under, it is not solved a second time. */
static void what_is_mined_under_is_solved_once(void **state)
{
    bdml_handle *h = *state;
    static points p;
    bdml_plan plan;
    bdml_fit f = {0};
    bool wanted[BDML_PLAN_EFFORTS * BDML_PLAN_CAPS];
    make_points(&p);
    check_ok(h, bdml_plan_make(h, &h->options, &p.t, &plan));
    check_ok(h, bdml_fit_open(h, &plan, &p.t, BDML_REFERENCE_NONE, NULL, true, &f));
    for (int k = 0; k < plan.efforts * plan.caps; k++) wanted[k] = plan.cap[k % plan.caps] > 1.0;
    bdml_sweep w = {.fit = &f, .wanted = wanted, .solved = follow};
    trail t = {.w = &w};
    w.user = &t;
    check_ok(h, bdml_sweep_run(&w));
    assert_int_equal(t.solves, 8); /* two efforts, K = 3 10 30 100 */
    for (int k = 0; k < t.solves; k++) check_true(t.last[k]);
    check_true(w.under && w.later[0].c->m > w.first.c->m);
    bdml_sweep_free(&w);
    bdml_fit_close(&f);
    bdml_plan_free(&plan);
}

static void score_all(bdml_handle *h, const bdml_plan *plan, const bdml_part *part, double known,
                      double *error)
{
    bool wanted[BDML_PLAN_EFFORTS * BDML_PLAN_CAPS];
    for (int k = 0; k < BDML_PLAN_MOST; k++) error[k] = NAN;
    for (int k = 0; k < plan->efforts * plan->caps; k++) wanted[k] = true;
    check_ok(h, bdml_score_part(h, plan, part, 0, wanted, known, error));
}

/* The hard effort is left out where reference and gentle effort are all far behind what is known, and only there. */
static void efforts_far_behind_are_not_solved(void **state)
{
    bdml_handle *h = *state;
    static points p;
    static double all[BDML_PLAN_MOST], near[BDML_PLAN_MOST], far[BDML_PLAN_MOST];
    bdml_plan plan;
    bdml_parts parts;
    make_points(&p);
    check_ok(h, bdml_plan_make(h, &h->options, &p.t, &plan));
    check_true(plan.race);
    check_ok(h, bdml_parts_make(h, &plan, &p.t, &parts));
    score_all(h, &plan, &parts.part[0], NAN, all);
    double least = INFINITY;
    int width = bdml_candidate_width(&plan), gentle = plan.caps * width;
    for (int k = 0; k < gentle; k += width) least = fmin(least, all[k]);
    double step = bdml_rate_error(least, parts.part[0].test);
    score_all(h, &plan, &parts.part[0], least, near);
    assert_memory_equal(all, near, sizeof all);
    score_all(h, &plan, &parts.part[0], least - 2.0 * step, far);
    for (int k = 0; k < gentle; k++) check_true(far[k] == all[k]);
    for (int k = width; k < gentle; k++)
        check_true(isnan(far[gentle + k]) && !isnan(all[gentle + k]));
    bdml_parts_free(&parts);
    bdml_plan_free(&plan);
}

/* ---- plans -------------------------------------------------------------------------------------------------- */

/* Chosen of points whose classes are so far apart; solved: candidates that have a score, of those with K > 1. */
static bdml_candidate choose_apart(bdml_handle *h, double apart, bool whole, int *solved)
{
    points p;
    bdml_plan plan;
    bdml_selection s;
    make_points(&p);
    for (int i = 0; i < N; i++) p.x[(size_t)i * D] += apart * p.y[i];
    check_ok(h, bdml_plan_make(h, &h->options, &p.t, &plan));
    plan.whole = whole;
    check_ok(h, bdml_select(h, &plan, &p.t, &s));
    bdml_candidate chosen = bdml_candidate_at(&plan, s.chosen);
    *solved = 0;
    for (int k = 0; k < s.candidates; k++)
        *solved += plan.cap[bdml_candidate_at(&plan, k).cap] > 1.0 && !isnan(s.mean[k]);
    bdml_selection_free(&s);
    bdml_plan_free(&plan);
    return chosen;
}

/* A reference that errs nowhere is taken without a solve, and by the rule over all candidates too. */
static void what_errs_nowhere_is_taken_at_once(void **state)
{
    int solved;
    bdml_candidate quick = choose_apart(*state, 100.0, false, &solved);
    assert_int_equal(solved, 0);
    bdml_candidate slow = choose_apart(*state, 100.0, true, &solved);
    check_true(solved > 0);
    check_true(quick.cap == 0 && slow.cap == 0 && quick.reference == slow.reference &&
               quick.effort == slow.effort);
    choose_apart(*state, 0.0, false, &solved); /* some rows are on the wrong side */
    check_true(solved > 0);
    bdml_handle *h = *state;
    check_ok(h, bdml_set(h, "distortion", "10")); /* K = 1 is none of the candidates */
    choose_apart(h, 100.0, false, &solved);
    check_true(solved > 0);
}

/* A name that is no reference is told before anything is learned, with all the names there are. */
static void references_are_named(void **state)
{
    bdml_handle *h = *state;
    static points p;
    bdml_plan plan;
    make_points(&p);
    check_ok(h, bdml_set(h, "reference", "fischer"));
    for (int k = 0; k < BDML_REFERENCE_FILE; k++)
        check_fails(h, bdml_plan_make(h, &h->options, &p.t, &plan), BDML_ERR_ARGUMENT,
                    bdml_reference_names[k]);
    check_fails(h, bdml_plan_make(h, &h->options, &p.t, &plan), BDML_ERR_ARGUMENT, "'fischer'");
    for (int k = 0; k < BDML_REFERENCE_FILE; k++) {
        check_ok(h, bdml_set(h, "reference", bdml_reference_names[k]));
        check_ok(h, bdml_plan_make(h, &h->options, &p.t, &plan));
        assert_int_equal(plan.references, 1);
        assert_int_equal(plan.reference[0], k);
        bdml_plan_free(&plan);
    }
}

/* What is given is not chosen; a stated problem leaves nothing open. */
static void given_settings_are_not_open(void **state)
{
    bdml_handle *h = *state;
    static points p;
    bdml_plan plan;
    make_points(&p);
    check_ok(h, bdml_plan_make(h, &h->options, &p.t, &plan));
    assert_int_equal(bdml_candidate_count(&plan), 11 * 2 * 5);
    check_ok(h, bdml_set(h, "distortion", "10")); /* what stands for auto, but given */
    check_ok(h, bdml_set(h, "softness", "5"));
    check_ok(h, bdml_set(h, "passes", "2"));
    check_ok(h, bdml_plan_make(h, &h->options, &p.t, &plan));
    assert_int_equal(bdml_candidate_count(&plan), 11);
    check_true(plan.cap[0] == 10 && plan.effort[0].weight == 5 && plan.effort[0].again == 1);
    check_ok(h, bdml_set(h, "rule", "nearest"));
    check_ok(h, bdml_plan_make(h, &h->options, &p.t, &plan));
    assert_int_equal(bdml_candidate_count(&plan), 1);
    assert_int_equal(plan.reference[0], BDML_REFERENCE_NONE);
    assert_int_equal(plan.effort[0].again, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_rows_widen_the_error),
        cmocka_unit_test(equal_caps_are_told_apart_by_error),
        cmocka_unit_test(votes_are_chosen_after_smoothing),
        cmocka_unit_test(candidates_are_numbered),
        handle_test(reference_needs_one_pass),
        handle_test(last_fit_has_one_pass_more),
        handle_test(pass_more_is_a_pass),
        handle_test(folds_are_repeated_anew),
        handle_test(second_pass_adds_neighbours),
        handle_test(many_rows_are_all_anchors),
        handle_test(wide_data_are_told),
        handle_test(folds_have_the_anchors_of_the_last_fit),
        handle_test(what_is_mined_under_is_solved_once),
        handle_test(efforts_far_behind_are_not_solved),
        handle_test(what_errs_nowhere_is_taken_at_once),
        handle_test(references_are_named),
        handle_test(given_settings_are_not_open),
        handle_test(papers_form_leaves_cap_and_weight_open),
    };
    return cmocka_run_group_tests_name("select", tests, NULL, NULL);
}
