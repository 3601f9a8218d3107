/* test_lists.c - approximate search: what it finds beside the exact one, whatever the threads. */
#include "check.h"

#include "neighbors/neighbors.h"
#include "train/train.h"

enum { N = 12000, D = 20, K = 4, CLASSES = 4 };

typedef struct world {
    bdml_handle *h;
    double *x;
    int32_t *y, *index, *exact;
    double *distance, *exact_distance;
} world;

/* `apart`: how far the centers of the classes are from each other. */
static world make_world(bdml_handle *h, double apart)
{
    bdml_rng r = bdml_rng_make(7, 1);
    size_t found = (size_t)N * K;
    world w = {h,
               malloc(sizeof(double) * N * D),
               malloc(sizeof(int32_t) * N),
               malloc(sizeof(int32_t) * found),
               malloc(sizeof(int32_t) * found),
               malloc(sizeof(double) * found),
               malloc(sizeof(double) * found)};
    for (int i = 0; i < N; i++) {
        w.y[i] = (int32_t)bdml_rng_below(&r, CLASSES);
        for (int j = 0; j < D; j++)
            w.x[i * D + j] = bdml_rng_normal(&r) + (j == w.y[i] ? apart : 0.0);
    }
    for (int j = 0; j < D; j++) w.x[77 * D + j] = w.x[5 * D + j]; /* a tie */
    return w;
}

static void drop_world(world *w)
{
    free(w->x);
    free(w->y);
    free(w->index);
    free(w->exact);
    free(w->distance);
    free(w->exact_distance);
}

static void search(const world *w, const char *how, bdml_restrict which, const double *q,
                   int32_t *index, double *distance)
{
    check_ok(w->h, bdml_set(w->h, "search", how));
    check_ok(w->h, bdml_find_neighbors(w->h, N, D, w->x, D, w->y, N, q, D, q ? w->y : NULL, which,
                                       K, index, distance));
}

static bool allowed(const world *w, bdml_restrict which, int i, int32_t j)
{
    if (which == BDML_ANY_CLASS) return true;
    return (w->y[i] == w->y[j]) == (which == BDML_SAME_CLASS);
}

static double plain(const double *a, const double *b)
{
    double sum = 0.0;
    for (int j = 0; j < D; j++) {
        double t = a[j] - b[j], square = t * t;
        sum += square;
    }
    return sum;
}

/* Distances are exact, rows are those that may be found, in order, each once, never the query itself. */
static void check_found(const world *w, bdml_restrict which, bool self)
{
    for (int i = 0; i < N; i++)
        for (int c = 0; c < K; c++) {
            int32_t j = w->index[i * K + c];
            double far = w->distance[i * K + c];
            assert_true(j >= 0 && j < N && allowed(w, which, i, j));
            if (self) assert_int_not_equal(j, i);
            assert_true(far == plain(w->x + i * D, w->x + j * D));
            if (c == 0) continue;
            double before = w->distance[i * K + c - 1];
            assert_true(before < far || (before == far && w->index[i * K + c - 1] < j));
        }
}

static double recall(const world *w)
{
    double hits = 0.0;
    for (int i = 0; i < N; i++)
        for (int c = 0; c < K; c++)
            for (int b = 0; b < K; b++) hits += w->exact[i * K + c] == w->index[i * K + b];
    return hits / N / K;
}

/* A seventh of the lists at this size. The rows have no structure for lists to find, and most neighbours are found. */
static void finds_most(void **state)
{
    check_ok((bdml_handle *)*state, bdml_set(*state, "threads", "1"));
    world w = make_world(*state, 1.0);
    for (int which = BDML_ANY_CLASS; which <= BDML_OTHER_CLASS; which++)
        for (int apart = 0; apart < 2; apart++) {
            const double *q = apart ? w.x : NULL;
            search(&w, "brute", (bdml_restrict)which, q, w.exact, w.exact_distance);
            search(&w, "approximate", (bdml_restrict)which, q, w.index, w.distance);
            check_found(&w, (bdml_restrict)which, !apart);
            double share = recall(&w);
            if (!(share > 0.7)) fail_msg("class %d: recall %.3f", which, share);
            assert_true(share < 1.0); /* or nothing was left out, and this is not that search */
        }
    drop_world(&w);
}

/* Rows of other classes are in lists far away: those are looked for, and found. */
static void finds_classes_far_apart(void **state)
{
    check_ok((bdml_handle *)*state, bdml_set(*state, "threads", "1"));
    world w = make_world(*state, 50.0);
    search(&w, "brute", BDML_OTHER_CLASS, NULL, w.exact, w.exact_distance);
    search(&w, "approximate", BDML_OTHER_CLASS, NULL, w.index, w.distance);
    check_found(&w, BDML_OTHER_CLASS, true);
    assert_true(recall(&w) > 0.5);
    drop_world(&w);
}

static void threads_do_not_matter(void **state)
{
    check_ok((bdml_handle *)*state, bdml_set(*state, "threads", "1"));
    world w = make_world(*state, 1.0);
    check_ok(w.h, bdml_set(w.h, "threads", "1"));
    search(&w, "approximate", BDML_SAME_CLASS, NULL, w.exact, w.exact_distance);
    check_ok(w.h, bdml_set(w.h, "threads", "3"));
    search(&w, "approximate", BDML_SAME_CLASS, NULL, w.index, w.distance);
    assert_memory_equal(w.exact, w.index, sizeof *w.index * N * K);
    assert_memory_equal(w.exact_distance, w.distance, sizeof *w.distance * N * K);
    drop_world(&w);
}

/* Few queries or few rows: exact, to the bit. */
static void few_are_exact(void **state)
{
    check_ok((bdml_handle *)*state, bdml_set(*state, "threads", "1"));
    world w = make_world(*state, 1.0);
    int32_t index[2][100 * K];
    for (int k = 0; k < 2; k++) {
        check_ok(w.h, bdml_set(w.h, "search", k ? "approximate" : "brute"));
        check_ok(w.h, bdml_find_neighbors(w.h, N, D, w.x, D, w.y, 100, w.x, D, w.y,
                                          BDML_OTHER_CLASS, K, index[k], NULL));
    }
    assert_memory_equal(index[0], index[1], sizeof index[0]);
    for (int k = 0; k < 2; k++) {
        check_ok(w.h, bdml_set(w.h, "search", k ? "approximate" : "brute"));
        check_ok(w.h, bdml_find_neighbors(w.h, 5000, D, w.x, D, w.y, 5000, NULL, D, NULL,
                                          BDML_SAME_CLASS, K, k ? w.index : w.exact, NULL));
    }
    assert_memory_equal(w.exact, w.index, sizeof *w.index * 5000 * K);
    drop_world(&w);
}

/* A class with fewer rows than are asked for: all of them are found. */
static void small_classes_are_found_whole(void **state)
{
    check_ok((bdml_handle *)*state, bdml_set(*state, "threads", "1"));
    world w = make_world(*state, 1.0);
    for (int i = 0; i < N; i++)
        if (w.y[i] == 3) w.y[i] = 2;
    w.y[10] = w.y[6000] = w.y[11000] = 3;
    search(&w, "brute", BDML_SAME_CLASS, NULL, w.exact, w.exact_distance);
    search(&w, "approximate", BDML_SAME_CLASS, NULL, w.index, w.distance);
    static const int rows[] = {10, 6000, 11000};
    for (int r = 0; r < 3; r++)
        assert_memory_equal(w.exact + rows[r] * K, w.index + rows[r] * K, sizeof *w.index * K);
    drop_world(&w);
}

/* More rows are asked for than the lists hold that a query looks into: it is searched for exactly. */
static void more_than_the_lists_hold(void **state)
{
    enum { QUERIES = 500, MANY = N / 3 };
    world w = make_world(*state, 1.0);
    int32_t *index[2];
    double *distance[2];
    for (int k = 0; k < 2; k++) {
        index[k] = malloc(sizeof **index * QUERIES * MANY);
        distance[k] = malloc(sizeof **distance * QUERIES * MANY);
        assert_true(index[k] && distance[k]);
        check_ok(w.h, bdml_set(w.h, "search", k ? "approximate" : "auto"));
        check_ok(w.h, bdml_find_neighbors(w.h, N, D, w.x, D, NULL, QUERIES, w.x, D, NULL,
                                          BDML_ANY_CLASS, MANY, index[k], distance[k]));
    }
    assert_memory_equal(index[0], index[1], sizeof **index * QUERIES * MANY);
    assert_memory_equal(distance[0], distance[1], sizeof **distance * QUERIES * MANY);
    for (int k = 0; k < 2; k++) {
        free(index[k]);
        free(distance[k]);
    }
    drop_world(&w);
}

/* Every allocation in turn. */
static void memory_may_fail(void **state)
{
    check_ok((bdml_handle *)*state, bdml_set(*state, "threads", "1"));
    world w = make_world(*state, 1.0);
    check_ok(w.h, bdml_set(w.h, "search", "approximate"));
    int64_t n = 0;
    for (bool over = false; !over; n += over ? 0 : 1 + n / 8) {
        w.h->fail_alloc = n + 1;
        bdml_status status = bdml_find_neighbors(w.h, N, D, w.x, D, w.y, N, NULL, D, NULL,
                                                 BDML_OTHER_CLASS, K, w.index, w.distance);
        over = w.h->fail_alloc > 0;
        w.h->fail_alloc = 0;
        assert_int_equal(status, over ? BDML_OK : BDML_ERR_MEMORY);
    }
    assert_true(n > 20);
    drop_world(&w);
}

/* A model says that its constraints were found so, and its claim is proven for them. */
static void models_tell(void **state)
{
    check_ok((bdml_handle *)*state, bdml_set(*state, "threads", "1"));
    world w = make_world(*state, 1.0);
    bdml_dataset *data = NULL;
    bdml_model *model = NULL;
    int64_t *y = malloc(sizeof *y * N);
    int confirmed = 0;
    char *json = NULL;
    for (int i = 0; i < N; i++) y[i] = w.y[i];
    static const char *const set[][2] = {{"search", "approximate"}, {"distortion", "10"},
                                         {"reference", "none"},     {"softness", "5"},
                                         {"passes", "1"},           {"scale", "none"},
                                         {"targets", "1"},          {"impostors", "1"},
                                         {"rule", "class"},         {"gap", "0.05"}};
    for (size_t k = 0; k < sizeof set / sizeof *set; k++)
        check_ok(w.h, bdml_set(w.h, set[k][0], set[k][1]));
    check_ok(w.h, bdml_dataset_from_arrays(w.h, N, D, w.x, D, y, &data));
    check_ok(w.h, bdml_train(w.h, data, NULL, &model));
    check_ok(w.h, bdml_certify_model(w.h, model, data, &confirmed, &json));
    assert_int_equal(confirmed, 1);
    assert_non_null(strstr(json, "mined by an approximate search"));
    bdml_free_bytes(json);
    bdml_free_model(model);
    bdml_free_dataset(data);
    free(y);
    drop_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(finds_most),
        handle_test(finds_classes_far_apart),
        handle_test(threads_do_not_matter),
        handle_test(few_are_exact),
        handle_test(small_classes_are_found_whole),
        handle_test(more_than_the_lists_hold),
        handle_test(memory_may_fail),
        handle_test(models_tell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
