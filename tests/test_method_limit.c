/* test_method_limit.c - memory of every method, counted: the estimate made beforehand is what is then taken, and what the setting
 * "memory" says is kept to, or refused with the estimate. */
#include "counting_malloc.h"

#include "check.h"
#include "linalg/linalg.h"
#include "proof/proof.h"
#include "train/train.h"

static const double MIB = 1048576.0;

/* What is small beside anything that is refused: descriptions, messages, work of LAPACK, rounding up of malloc. */
static const double SMALL = 0.4 * 1048576.0;
/* Beyond what was said or allowed: tables of keys have powers of two for sizes. */
static const double SLACK = 1.05;

/* ---- a set for every method ------------------------------------------------------------------------------- */

typedef struct world {
    int64_t n;
    int d, classes;
    double *x;
    int32_t *y;
    bdml_dataset *data;
    bdml_constraints *given; /* pairs */
    bdml_domain target;
} world;

static world make(bdml_handle *h, int64_t n, int d, int classes)
{
    world w = {.n = n, .d = d, .classes = classes};
    bdml_rng r = bdml_rng_make(7, 1);
    int32_t *near = malloc(sizeof *near * (size_t)(2 * n)),
            *far = malloc(sizeof *far * (size_t)(2 * n));
    int64_t *label = malloc(sizeof *label * (size_t)n);
    w.x = malloc(sizeof *w.x * (size_t)(n * d));
    w.y = malloc(sizeof *w.y * (size_t)n);
    for (int64_t i = 0; i < n; i++) {
        label[i] = w.y[i] = (int32_t)(i % classes);
        for (int j = 0; j < d; j++)
            w.x[i * d + j] = bdml_rng_normal(&r) + (j % classes == w.y[i] ? 1.5 : 0.0);
        near[2 * i] = far[2 * i] = (int32_t)i;
        near[2 * i + 1] = (int32_t)((i + classes) % n);
        far[2 * i + 1] = (int32_t)((i + 1) % n);
    }
    check_ok(h, bdml_constraints_from_arrays(h, n, n, near, n, far, 0, NULL, &w.given));
    check_ok(h, bdml_dataset_from_arrays(h, n, d, w.x, d, label, &w.data));
    w.target = (bdml_domain){n, w.x, NULL};
    free(near);
    free(far);
    free(label);
    return w;
}

static void unmake(world *w)
{
    bdml_free_constraints(w->given);
    bdml_free_dataset(w->data);
    free(w->x);
    free(w->y);
}

/* Bytes that the fit took at most; *status: how it ended. */
static double taken(bdml_handle *h, const world *w, const bdml_method *m, bdml_status *status)
{
    bdml_prepare plain = {.d_in = w->d, .d_out = w->d, .scale = BDML_SCALE_NONE, .variance = 1.0};
    bdml_training t = {.n = w->n, .d = w->d, .x = w->x, .y = w->y, .classes = w->classes};
    bdml_model *model;
    if (m->uses & BDML_USES_DOMAINS)
        t.target = &w->target;
    else if (!(m->uses & (BDML_USES_LABELS | BDML_USES_NUMBERS)))
        t.y = NULL, t.constraints = w->given;
    check_ok(h, bdml_model_new(h, w->data, &plain, w->d, &model));
    counting_begin();
    check_ok(h, bdml_la_enter(h)); /* as training does: BLAS with one thread */
    *status = bdml_fit_within(h, &h->options, m, &t, model);
    bdml_la_leave(h);
    double peak = counting_peak();
    bdml_free_model(model);
    return peak;
}

static void settle(bdml_handle *h)
{
    check_ok(h, bdml_set(h, "threads", "1"));
    check_ok(h, bdml_set(h, "max-iter", "5"));
}

/* ---- tests --------------------------------------------------------------------------------------------------- */

/* What the method says beforehand, and what it then takes. */
static void estimates_are_true(void **state)
{
    bdml_handle *h = *state;
    static const int shapes[][3] = {{6000, 20, 5}, {2000, 60, 4}};
    if (!COUNTING) skip();
    settle(h);
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        world w = make(h, shapes[s][0], shapes[s][1], shapes[s][2]);
        for (int k = 0; k < bdml_method_count(); k++) {
            const bdml_method *m = bdml_method_at(k);
            bdml_status status;
            if (!m->fit) continue;
            double peak = taken(h, &w, m, &status), said = h->memory_estimate;
            /* what bdml chooses is not known before: its estimate is that of the dearest choice */
            double loose = strcmp(m->name, "bdml") == 0 ? 2.0 : 1.5;
            print_message("%-12s %5lld x %2d: %6.2f MiB, estimated %6.2f\n", m->name,
                          (long long)w.n, w.d, peak / MIB, said / MIB);
            check_ok(h, status);
            if (peak > SLACK * said + SMALL || said > loose * peak + SMALL)
                fail_msg("%s takes %.2f MiB, and says %.2f", m->name, peak / MIB, said / MIB);
        }
        unmake(&w);
    }
}

/* Where every row has many triplets, they count for more than the rows. */
static void many_triplets_are_counted(void **state)
{
    bdml_handle *h = *state;
    static const char *const methods[] = {"lmnn", "boost", "scml"};
    if (!COUNTING) skip();
    settle(h);
    check_ok(h, bdml_set(h, "targets", "20"));
    check_ok(h, bdml_set(h, "impostors", "20"));
    check_ok(h, bdml_set(h, "scml-directions", "20"));
    world w = make(h, 3000, 5, 3);
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        const bdml_method *m = bdml_method_find(h, methods[k], strlen(methods[k]));
        bdml_status status;
        double peak = taken(h, &w, m, &status), said = h->memory_estimate;
        print_message("%-12s %6.2f MiB, estimated %6.2f\n", m->name, peak / MIB, said / MIB);
        check_ok(h, status);
        if (peak > SLACK * said + SMALL || said > 1.5 * peak + SMALL)
            fail_msg("%s takes %.2f MiB, and says %.2f", m->name, peak / MIB, said / MIB);
        /* the least that it says it needs is enough, and kept to */
        check_ok(h, bdml_set(h, "memory", "8"));
        taken(h, &w, m, &status);
        assert_int_equal(status, BDML_ERR_MEMORY);
        const char *advised = strstr(bdml_last_error(h), "raise it to ");
        char text[32];
        assert_non_null(advised);
        int least = atoi(advised + strlen("raise it to "));
        snprintf(text, sizeof text, "%d", least);
        check_ok(h, bdml_set(h, "memory", text));
        peak = taken(h, &w, m, &status);
        print_message("%-12s %6.2f MiB of %d\n", m->name, peak / MIB, least);
        /* lmnn with one impostor of each target may find that M = 0 is best over these, and says that it is for memory */
        if (status != BDML_OK) assert_non_null(strstr(bdml_last_error(h), "M = 0 is optimal"));
        if (peak > SLACK * least * MIB + SMALL)
            fail_msg("%s takes %.2f MiB of the %d allowed", m->name, peak / MIB, least);
        check_ok(h, bdml_set(h, "memory", "auto"));
    }
    unmake(&w);
}

/* At a limit below the estimate: kept to by smaller blocks, or refused before anything is taken; at what the refusal advises, it runs. */
static void limits_are_kept(void **state)
{
    bdml_handle *h = *state;
    static const double shares[] = {0.3, 0.7, 1.1};
    int refused = 0, kept = 0;
    if (!COUNTING) skip();
    settle(h);
    world w = make(h, 4000, 30, 5);
    for (int k = 0; k < bdml_method_count(); k++) {
        const bdml_method *m = bdml_method_at(k);
        bdml_status status;
        if (!m->fit) continue;
        check_ok(h, bdml_set(h, "memory", "auto"));
        taken(h, &w, m, &status);
        check_ok(h, status);
        double said = h->memory_estimate;
        for (size_t s = 0; s < sizeof shares / sizeof *shares; s++) {
            char text[32];
            double limit = ceil(shares[s] * said / MIB);
            snprintf(text, sizeof text, "%.0f", limit);
            check_ok(h, bdml_set(h, "memory", text));
            double peak = taken(h, &w, m, &status);
            const char *advised = strstr(bdml_last_error(h), "raise it to ");
            if (status == BDML_OK) {
                kept++;
                if (peak > SLACK * limit * MIB + SMALL)
                    fail_msg("%s takes %.2f MiB of the %.0f allowed", m->name, peak / MIB, limit);
                continue;
            }
            refused++;
            assert_int_equal(status, BDML_ERR_MEMORY);
            check_true(shares[s] < 1.0 && peak < SMALL && advised);
            assert_non_null(strstr(bdml_last_error(h), "on 4000 rows of 30 columns needs about "));
            snprintf(text, sizeof text, "%d", atoi(advised + strlen("raise it to ")));
            check_ok(h, bdml_set(h, "memory", text));
            peak = taken(h, &w, m, &status);
            check_ok(h, status);
            check_true(peak <= SLACK * atoi(text) * MIB + SMALL);
        }
    }
    check_true(refused > 20 && kept > 30); /* both happen */
    unmake(&w);
}

/* ---- lmnn, round by round -------------------------------------------------------------------------------------- */

typedef struct rounds {
    int64_t most; /* looks at all triplets */
    bool dropped;
} rounds;

static int count_rounds(void *user, const char *phase, int64_t done, int64_t total)
{
    rounds *r = user;
    (void)total;
    if (strcmp(phase, "lmnn") == 0) r->most = BDML_MAX(r->most, done + 1);
    return 0;
}

static void hear(void *user, bdml_log_level level, const char *text)
{
    rounds *r = user;
    (void)level;
    if (strstr(text, "made room for others") || strstr(text, "all of them have a say"))
        r->dropped = true;
}

/* Many looks at a limit that has room for some triplets: they join, make room, and join again; and never does it take more. */
static void lmnn_keeps_its_limit(void **state)
{
    bdml_handle *h = *state;
    const double limit = 48.0; /* MiB */
    rounds seen = {0};
    bdml_status status;
    if (!COUNTING) skip();
    settle(h);
    world w = make(h, 6000, 5, 4);
    const bdml_method *m = bdml_method_find(h, "lmnn", 4);
    check_ok(h, bdml_set(h, "max-iter", "300"));
    check_ok(h, bdml_set(h, "targets", "1"));
    check_ok(h, bdml_set(h, "lmnn-push", "0.9"));
    check_ok(h, bdml_set(h, "memory", "48"));
    bdml_set_progress(h, count_rounds, &seen);
    bdml_set_log(h, hear, &seen);
    double peak = taken(h, &w, m, &status);
    check_ok(h, status);
    print_message("lmnn, %lld looks: %.2f MiB of %.0f\n", (long long)seen.most, peak / MIB, limit);
    if (peak > SLACK * limit * MIB + SMALL)
        fail_msg("lmnn takes %.2f MiB of the %.0f allowed", peak / MIB, limit);
    check_true(seen.most >= 5 && seen.dropped);
    check_true(peak > 0.6 * limit * MIB); /* the limit is one that matters */
    unmake(&w);
}

/* Of the rows that a refusal names, the limit has room for so many. */
static void rows_that_fit(void **state)
{
    bdml_handle *h = *state;
    bdml_status status;
    settle(h);
    world w = make(h, 6000, 30, 5);
    const bdml_method *m = bdml_method_find(h, "boost", 5);
    check_ok(h, bdml_set(h, "memory", "12"));
    taken(h, &w, m, &status);
    assert_int_equal(status, BDML_ERR_MEMORY);
    const char *about = strstr(bdml_last_error(h), "or: about ");
    assert_non_null(about);
    assert_non_null(strstr(about, " rows, fewer --targets or --impostors"));
    int rows = atoi(about + strlen("or: about "));
    check_true(rows > 1000 && rows < 4000);
    unmake(&w);
    w = make(h, rows, 30, 5);
    taken(h, &w, m, &status);
    check_ok(h, status);
    unmake(&w);
}

/* Nothing given: half of what is free. */
static void a_share_of_the_machine(void **state)
{
    bdml_handle *h = *state;
    bdml_status status;
    settle(h);
    world w = make(h, 6000, 30, 5);
    const bdml_method *m = bdml_method_find(h, "lmnn", 4);
    h->pretend_free = 80.0 * MIB;
    taken(h, &w, m, &status);
    assert_int_equal(status, BDML_ERR_MEMORY);
    assert_non_null(strstr(bdml_last_error(h), "and half of what is free are 40.0 MiB; --memory "));
    h->pretend_free = 0.0;
    unmake(&w);
}

/* ---- the proof ------------------------------------------------------------------------------------------------- */

typedef struct proof_watch {
    int64_t before; /* what was held when training began */
    bool begun;
} proof_watch;

static int watch_proof(void *user, const char *phase, int64_t done, int64_t total)
{
    proof_watch *w = user;
    (void)done;
    (void)total;
    if (strcmp(phase, "proof") != 0 || w->begun) return 0;
    w->begun = true;
    counting_begin();          /* the most from here on, */
    counting_base = w->before; /* beyond what was held then */
    return 0;
}

/* Bytes that the proof of a training took at most, beside the data; 0: it was not begun. */
static double taken_by_proof(bdml_handle *h, const world *w, int targets, int impostors,
                             bdml_status *status)
{
    proof_watch seen = {counting_held, false};
    char text[32];
    bdml_model *model;
    snprintf(text, sizeof text, "%d", targets);
    check_ok(h, bdml_set(h, "targets", text));
    snprintf(text, sizeof text, "%d", impostors);
    check_ok(h, bdml_set(h, "impostors", text));
    bdml_set_progress(h, watch_proof, &seen);
    *status = bdml_train(h, w->data, NULL, &model);
    bdml_set_progress(h, NULL, NULL);
    bdml_free_model(model);
    return seen.begun ? counting_peak() : 0.0;
}

/* What the proof is said to take is what it takes, whether constraints or dimensions are many; and without room for it nothing is learned. */
static void proof_is_counted(void **state)
{
    bdml_handle *h = *state;
    static const struct {
        int n, d, targets, impostors;
        const char *reference;
    } each[] = {{6000, 10, 3, 10, "none"},    {6000, 10, 3, 30, "within"},
                {3000, 60, 3, 10, "none"},    {3000, 60, 3, 30, "within"},
                {1200, 200, 3, 10, "within"}, {1200, 200, 3, 30, "none"}};
    static const char *const problem[][2] = {{"rule", "class"},    {"kind", "triplet"},
                                             {"distortion", "10"}, {"softness", "50"},
                                             {"passes", "1"},      {"keep-points", "no"}};
    if (!COUNTING) skip();
    settle(h);
    for (size_t k = 0; k < sizeof problem / sizeof *problem; k++)
        check_ok(h, bdml_set(h, problem[k][0], problem[k][1]));
    for (size_t k = 0; k < sizeof each / sizeof *each; k++) {
        world w = make(h, each[k].n, each[k].d, 4);
        double rows = each[k].n, near = each[k].targets, far = each[k].impostors;
        double said = bdml_proof_bytes(rows, each[k].d, rows * near * far, rows * (near + far));
        bdml_status status;
        char text[32];
        check_ok(h, bdml_set(h, "memory", "auto"));
        check_ok(h, bdml_set(h, "reference", each[k].reference));
        double peak = taken_by_proof(h, &w, each[k].targets, each[k].impostors, &status);
        print_message("proof        %5d x %3d: %6.2f MiB, estimated %6.2f\n", each[k].n, each[k].d,
                      peak / MIB, said / MIB);
        check_ok(h, status);
        if (!(peak > 0.0) || peak > SLACK * said + SMALL || said > 1.5 * peak + SMALL)
            fail_msg("the proof takes %.2f MiB, and says %.2f", peak / MIB, said / MIB);
        snprintf(text, sizeof text, "%.0f", floor(0.9 * said / MIB));
        check_ok(h, bdml_set(h, "memory", text));
        check_true(taken_by_proof(h, &w, each[k].targets, each[k].impostors, &status) == 0.0);
        assert_int_equal(status, BDML_ERR_MEMORY);
        assert_non_null(strstr(bdml_last_error(h), "the proof of what bdml learns from "));
        unmake(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(estimates_are_true), handle_test(many_triplets_are_counted),
        handle_test(limits_are_kept),    handle_test(lmnn_keeps_its_limit),
        handle_test(rows_that_fit),      handle_test(a_share_of_the_machine),
        handle_test(proof_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
