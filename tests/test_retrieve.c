/* test_retrieve.c - rankings against hand-worked cases and plain loops; splits of classes; the protocol of
 * bdml_retrieve: what training may see, the same result for any number of jobs, entrants that refuse. */
#include "check.h"
#include "evaluate/retrieve.h"

/* ---- measures ------------------------------------------------------------------------------------------- */

/* Ranks 2 and 4 of 12 are of the class, and a third row of it comes 11th. */
static void worked_by_hand(void **state)
{
    (void)state;
    const double grade[] = {0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0}, best[] = {1, 1, 1};
    double m[BDML_RANKING_MEASURES];
    bdml_rank_query(12, grade, 3, best, m);
    assert_true(m[BDML_RECALL_1] == 0.0 && m[BDML_RECALL_5] == 1.0 && m[BDML_RECALL_10] == 1.0);
    check_close(m[BDML_PRECISION_5], 0.4, 1e-15);
    check_close(m[BDML_PRECISION_10], 0.2, 1e-15);
    check_close(m[BDML_FOUND_10], 2.0 / 3.0, 1e-15);
    check_close(m[BDML_R_PRECISION], 1.0 / 3.0, 1e-15); /* one hit among three */
    check_close(m[BDML_MAP_R], (1.0 / 2.0) / 3.0, 1e-15);
    check_close(m[BDML_MRR_10], 0.5, 1e-15);
    double gain = 1.0 / log2(3.0) + 1.0 / log2(5.0);
    check_close(m[BDML_NDCG_10], gain / (1.0 + 1.0 / log2(3.0) + 0.5), 1e-15);
}

/* Grades 1 and 3 at ranks 1 and 3, and a row of grade 2 that is not among the nearest. */
static void grades_by_hand(void **state)
{
    (void)state;
    const double grade[] = {1, 0, 3, 0, 0, 0, 0, 0, 0, 0}, best[] = {3, 2, 1};
    double m[BDML_RANKING_MEASURES];
    bdml_rank_query(10, grade, 3, best, m);
    assert_true(m[BDML_RECALL_1] == 1.0);
    check_close(m[BDML_NDCG_10], (1.0 + 3.0 / 2.0) / (3.0 + 2.0 / log2(3.0) + 1.0 / 2.0), 1e-15);
    check_close(m[BDML_MAP_R], (1.0 + 2.0 / 3.0) / 3.0, 1e-15);
}

static void at_the_ends(void **state)
{
    (void)state;
    const double first[] = {1, 1, 0}, last[] = {0, 0, 1}, none[] = {0, 0, 0}, best[] = {1, 1};
    double m[BDML_RANKING_MEASURES];
    bdml_rank_query(3, first, 2, best, m); /* as good as can be */
    for (int k = 0; k < BDML_RANKING_MEASURES; k++)
        check_close(m[k], k == BDML_PRECISION_10 ? 0.2 : k == BDML_PRECISION_5 ? 0.4 : 1.0, 1e-15);
    bdml_rank_query(3, last, 1, best, m);
    assert_true(m[BDML_RECALL_1] == 0.0 && m[BDML_RECALL_5] == 1.0);
    assert_true(m[BDML_R_PRECISION] == 0.0 && m[BDML_MAP_R] == 0.0);
    check_close(m[BDML_MRR_10], 1.0 / 3.0, 1e-15);
    check_close(m[BDML_NDCG_10], 0.5, 1e-15);
    bdml_rank_query(3, none, 1, best, m); /* none is there */
    for (int k = 0; k < BDML_RANKING_MEASURES; k++) assert_true(m[k] == 0.0);
}

/* The measures of one query by their definitions: one loop each over the sorted order. */
static void plain_query(int64_t n, const int *hit, int64_t relevant, double *m)
{
    double ideal = 0.0;
    for (int k = 0; k < BDML_RANKING_MEASURES; k++) m[k] = 0.0;
    for (int64_t i = 0; i < n && i < 1; i++) m[BDML_RECALL_1] += hit[i];
    for (int64_t i = 0; i < n && i < 5; i++)
        if (hit[i]) m[BDML_RECALL_5] = 1.0;
    for (int64_t i = 0; i < n && i < 5; i++) m[BDML_PRECISION_5] += hit[i] / 5.0;
    for (int64_t i = 0; i < n && i < 10; i++) {
        if (hit[i]) m[BDML_RECALL_10] = 1.0;
        m[BDML_PRECISION_10] += hit[i] / 10.0;
        m[BDML_FOUND_10] += hit[i] / (double)relevant;
        m[BDML_NDCG_10] += hit[i] / log2((double)i + 2.0);
        if (i < relevant) ideal += 1.0 / log2((double)i + 2.0);
    }
    m[BDML_NDCG_10] /= ideal;
    for (int64_t i = n < 10 ? n - 1 : 9; i >= 0; i--)
        if (hit[i]) m[BDML_MRR_10] = 1.0 / (double)(i + 1);
    for (int64_t i = 0; i < relevant; i++) {
        double before = 0.0;
        for (int64_t j = 0; j <= i; j++) before += hit[j];
        m[BDML_R_PRECISION] += hit[i] / (double)relevant;
        m[BDML_MAP_R] += hit[i] * before / (double)(i + 1) / (double)relevant;
    }
}

/* Rows of few different values, so that many distances are equal and ties matter. */
static void by_plain_loops(void **state)
{
    bdml_handle *h = *state;
    enum { N = 90, D = 2, CLASSES = 5 };
    double x[N * D], sum[BDML_RANKING_MEASURES] = {0}, one[BDML_RANKING_MEASURES];
    int32_t y[N];
    int64_t queries = 0;
    bdml_rng r = bdml_rng_make(5, 0);
    for (int i = 0; i < N; i++) {
        y[i] = (int32_t)bdml_rng_below(&r, CLASSES - 1);
        for (int j = 0; j < D; j++) x[i * D + j] = (double)bdml_rng_below(&r, 4);
    }
    y[17] = CLASSES - 1; /* alone in its class: no query */
    for (int i = 0; i < N; i++) {
        int hit[N], order[N], n = 0;
        int64_t relevant = 0;
        double far[N];
        for (int j = 0; j < N; j++)
            far[j] = pow(x[i * D] - x[j * D], 2) + pow(x[i * D + 1] - x[j * D + 1], 2);
        for (int j = 0; j < N; j++) {
            int at = n;
            if (j == i) continue;
            while (at > 0 && far[order[at - 1]] > far[j]) {
                order[at] = order[at - 1];
                at--;
            }
            order[at] = j;
            n++;
            relevant += y[j] == y[i];
        }
        if (relevant == 0) continue;
        for (int k = 0; k < n; k++) hit[k] = y[order[k]] == y[i];
        plain_query(n, hit, relevant, one);
        for (int k = 0; k < BDML_RANKING_MEASURES; k++) sum[k] += one[k];
        queries++;
    }
    const bdml_rows rows = {N, D, D, x, y, CLASSES, NULL};
    bdml_ranking got;
    check_ok(h, bdml_rank(h, &h->options.neighbors, &rows, NULL, NULL, &got));
    assert_int_equal(got.queries, queries);
    assert_int_equal(queries, N - 1);
    for (int k = 0; k < BDML_RANKING_MEASURES; k++)
        check_close(got.measure[k], 100.0 * sum[k] / (double)queries, 1e-11);
}

/* Two classes of 1000 rows: in 1 MiB there is room for the lists of some hundred rows at a time. */
static void in_blocks(void **state)
{
    bdml_handle *h = *state;
    enum { N = 2000 };
    static double x[N];
    static int32_t y[N];
    bdml_ranking whole, blocks;
    bdml_rng r = bdml_rng_make(6, 0);
    for (int i = 0; i < N; i++) {
        y[i] = i % 2;
        x[i] = y[i] + bdml_rng_normal(&r);
    }
    const bdml_rows rows = {N, 1, 1, x, y, 2, NULL};
    check_ok(h, bdml_rank(h, &h->options.neighbors, &rows, NULL, NULL, &whole));
    check_ok(h, bdml_set(h, "memory", "1"));
    assert_true(bdml_model_block(h, sizeof(int32_t) * N / 2) < N / 4);
    check_ok(h, bdml_rank(h, &h->options.neighbors, &rows, NULL, NULL, &blocks));
    for (int k = 0; k < BDML_RANKING_MEASURES; k++)
        assert_true(whole.measure[k] == blocks.measure[k]);
}

/* 40 equal rows: a row may have more equals before it than its list is long. */
static void equal_rows(void **state)
{
    bdml_handle *h = *state;
    enum { N = 40 };
    double x[N] = {0};
    int32_t y[N];
    for (int i = 0; i < N; i++)
        y[i] = i / 2; /* pairs: the other is at rank 1 for the first two only */
    const bdml_rows rows = {N, 1, 1, x, y, N / 2, NULL};
    bdml_ranking got;
    check_ok(h, bdml_rank(h, &h->options.neighbors, &rows, NULL, NULL, &got));
    check_close(got.measure[BDML_RECALL_1], 100.0 * 2 / N, 1e-12);
    check_close(got.measure[BDML_RECALL_5], 100.0 * 6 / N, 1e-12); /* lists are 0 1 2 3 4 (5) */
}

/* Every class has one row: nothing to ask. */
static void no_queries(void **state)
{
    bdml_handle *h = *state;
    double x[3] = {0, 1, 2};
    int32_t y[3] = {0, 1, 2};
    const bdml_rows rows = {3, 1, 1, x, y, 3, NULL};
    bdml_ranking got;
    check_ok(h, bdml_rank(h, &h->options.neighbors, &rows, NULL, NULL, &got));
    assert_int_equal(got.queries, 0);
    assert_true(isnan(got.measure[BDML_MAP_R]));
}

/* ---- splits ------------------------------------------------------------------------------------------------ */

static void splits_keep_classes_apart(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data, *train;
    retrieve_split s;
    int held[7] = {0};
    check_ok(h, bdml_read_dataset(h, source_path("data/segment.csv"), &data));
    const retrieve_data of = {.rows = data};
    for (int split = 0; split < 12; split++) {
        int seen[7] = {0}, classes = 0;
        check_ok(h, retrieve_split_make(h, &h->options, &of, split, &s));
        const retrieve_search *in = s.scope;
        char *met = calloc((size_t)data->n, 1); /* each row once */
        assert_int_equal(s.train + in[RETRIEVE_UNSEEN].rows + in[RETRIEVE_SEEN].rows, data->n);
        for (int64_t k = 0; k < s.train; k++) {
            assert_false(met[s.learn[k]]++);
            seen[data->y[s.learn[k]]] = 1;
        }
        for (int scope = 0; scope < RETRIEVE_SCOPES; scope++) {
            assert_null(in[scope].query); /* each row searches, without itself */
            for (int64_t k = 0; k < in[scope].rows; k++) {
                assert_false(met[in[scope].row[k]]++);
                assert_int_equal(seen[data->y[in[scope].row[k]]], scope == RETRIEVE_SEEN);
            }
        }
        free(met);
        for (int c = 0; c < 7; c++) {
            classes += seen[c];
            held[c] += !seen[c];
        }
        assert_int_equal(classes, s.classes[RETRIEVE_SEEN]);
        assert_int_equal(7 - classes, s.classes[RETRIEVE_UNSEEN]);
        assert_int_equal(in[RETRIEVE_SEEN].rows, 99 * classes); /* 30 % of 330 rows each */
        check_ok(h, retrieve_train_rows(h, &of, &s, &train));
        assert_int_equal(train->classes, classes);
        for (int64_t k = 0; k < train->n; k++)
            assert_string_equal(train->class_name[train->y[k]],
                                data->class_name[data->y[s.learn[k]]]);
        bdml_free_dataset(train);
        retrieve_split_free(&s);
    }
    for (int c = 0; c < 7; c++) assert_true(held[c] > 0 && held[c] < 12); /* now these, now those */
    check_ok(h, bdml_set(h, "unseen-share", "0.1"));
    check_fails(h, retrieve_split_make(h, &h->options, &of, 0, &s), BDML_ERR_DATA,
                "at least 2 are needed on either side");
    bdml_free_dataset(data);
}

/* Rows of every class on either side; those left out look among those trained on, which look among each other. */
static void splits_of_rows(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data;
    retrieve_split s;
    int64_t left[3] = {0};
    check_ok(h, bdml_read_dataset(h, source_path("data/iris.csv"), &data));
    check_ok(h, bdml_set(h, "unseen", "rows"));
    check_ok(h, retrieve_split_make(h, &h->options, &(retrieve_data){.rows = data}, 1, &s));
    const retrieve_search *unseen = &s.scope[RETRIEVE_UNSEEN], *seen = &s.scope[RETRIEVE_SEEN];
    assert_true(s.train == 105 && unseen->queries == 45);
    assert_true(unseen->rows == s.train && seen->rows == s.train && !seen->query);
    for (int64_t k = 0; k < s.train; k++)
        assert_true(unseen->row[k] == s.learn[k] && seen->row[k] == s.learn[k]);
    for (int64_t i = 0; i < unseen->queries; i++) {
        left[data->y[unseen->query[i]]]++;
        for (int64_t k = 0; k < s.train; k++) assert_true(s.learn[k] != unseen->query[i]);
    }
    assert_true(left[0] == 15 && left[1] == 15 && left[2] == 15);
    retrieve_split_free(&s);
    bdml_free_dataset(data);
}

/* ---- the protocol -------------------------------------------------------------------------------------------- */

/* 8 classes, 20 rows each. Means of classes 0..3 differ in feature 0, of all in feature 1; feature 2 is noise. */
static bdml_dataset *make_data(bdml_handle *h)
{
    enum { N = 160, D = 3 };
    static double x[N * D];
    static int64_t y[N];
    bdml_dataset *data;
    bdml_rng r = bdml_rng_make(9, 1);
    for (int i = 0; i < N; i++) {
        y[i] = i % 8;
        x[i * D] = 2.0 * (double)(y[i] % 4) + 0.5 * bdml_rng_normal(&r);
        x[i * D + 1] = 2.0 * (double)(y[i] / 2) + 0.5 * bdml_rng_normal(&r);
        x[i * D + 2] = 2.0 * bdml_rng_normal(&r);
    }
    check_ok(h, bdml_dataset_from_arrays(h, N, D, x, D, y, &data));
    return data;
}

static json_t *result_of(const bdml_dataset *data, const char *jobs, const char *grid)
{
    bdml_handle *h;
    char *text;
    assert_int_equal(bdml_create(&h), BDML_OK);
    check_ok(h, bdml_set(h, "splits", "4"));
    check_ok(h, bdml_set(h, "jobs", jobs));
    check_ok(h, bdml_set(h, "methods", "lda,whiten,euclidean"));
    if (grid[0]) check_ok(h, bdml_set(h, "grid", grid));
    check_ok(h, bdml_retrieve(h, data, &text));
    json_t *result = json_loads(text, 0, NULL);
    assert_non_null(result);
    bdml_free_bytes(text);
    bdml_free(h);
    return result;
}

static json_t *entrant(const json_t *result, size_t i)
{
    return json_array_get(json_object_get(result, "methods"), i);
}

static const json_t *figure(const json_t *row, const char *scope, const char *measure)
{
    return json_object_get(json_object_get(row, scope), measure);
}

static double value(const json_t *figure, size_t split)
{
    return json_number_value(json_array_get(json_object_get(figure, "values"), split));
}

/* The figures of a split by hand: train with the public calls, map, rank. */
static void as_by_hand(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = make_data(h), *train, *rows;
    json_t *result = result_of(data, "1", "1,5");
    static const char *const scope_name[] = {"unseen", "seen"};
    static const char *const method[] = {"euclidean", "lda", "whiten", "bdml", "bdml", "bdml"};
    assert_int_equal(json_array_size(json_object_get(result, "methods")), 6);
    for (size_t m = 0; m < 6; m++) {
        assert_string_equal(json_string_value(json_object_get(entrant(result, m), "method")),
                            method[m]);
        check_ok(h, bdml_set(h, "method", method[m]));
        if (m == 3) check_ok(h, bdml_set(h, "task", "retrieve")); /* chosen by itself */
        if (m == 5) {
            check_ok(h, bdml_set(h, "distortion", "5"));
            check_ok(h, bdml_set(h, "reference", "none"));
            check_ok(h, bdml_set(h, "softness", "5"));
            check_ok(h, bdml_set(h, "passes", "1"));
        }
        for (int split = 0; split < 4 && m != 4; split++) {
            retrieve_split s;
            bdml_model *model;
            const retrieve_data of = {.rows = data};
            check_ok(h, retrieve_split_make(h, &h->options, &of, split, &s));
            check_ok(h, retrieve_train_rows(h, &of, &s, &train));
            check_ok(h, bdml_train(h, train, NULL, &model));
            for (int scope = 0; scope < RETRIEVE_SCOPES; scope++) {
                bdml_ranking want;
                check_ok(h, bdml_dataset_subset(h, data, s.scope[scope].rows, s.scope[scope].row,
                                                &rows));
                int q = bdml_model_output_dimension(model);
                double *z = malloc(sizeof *z * (size_t)rows->n * (size_t)q);
                check_ok(h, bdml_transform(h, model, rows->n, rows->x, rows->d, z));
                bdml_rows mapped = {rows->n, q, q, z, rows->y, rows->classes, NULL};
                check_ok(h, bdml_rank(h, &h->options.neighbors, &mapped, NULL, NULL, &want));
                for (int k = 0; k < BDML_RANKING_MEASURES; k++)
                    check_close(value(figure(entrant(result, m), scope_name[scope],
                                             bdml_ranking_keys[k]),
                                      (size_t)split),
                                want.measure[k], 1e-12); /* as printed with 15 digits */
                free(z);
                bdml_free_dataset(rows);
            }
            bdml_free_model(model);
            bdml_free_dataset(train);
            retrieve_split_free(&s);
        }
    }
    json_decref(result);
    bdml_free_dataset(data);
}

/* Differences are to the space as it is, and more is better. K = 1 is that space. */
static void against_the_space_as_it_is(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = make_data(h);
    json_t *result = result_of(data, "2", "1,5");
    const json_t *base = figure(entrant(result, 0), "unseen", "map_at_r");
    assert_true(json_is_null(json_object_get(base, "versus")));
    for (size_t m = 1; m < 6; m++) {
        const json_t *mine = figure(entrant(result, m), "unseen", "map_at_r");
        const json_t *versus = json_object_get(mine, "versus");
        double sum = 0.0;
        int wins = 0;
        for (size_t s = 0; s < 4; s++) {
            sum += value(mine, s) - value(base, s);
            wins += value(mine, s) > value(base, s);
        }
        check_close(json_number_value(json_object_get(versus, "difference")), sum / 4.0, 1e-11);
        assert_int_equal(json_integer_value(json_object_get(versus, "wins")), wins);
    }
    const json_t *still = figure(entrant(result, 4), "unseen", "map_at_r");
    for (size_t s = 0; s < 4; s++) check_close(value(still, s), value(base, s), 1e-9);
    assert_true(json_number_value(json_object_get(entrant(result, 5), "kappa")) <= 5.0 + 1e-9);
    json_decref(result);
    bdml_free_dataset(data);
}

/* The same for any number of jobs, times apart. */
static void any_number_of_jobs(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = make_data(h);
    json_t *a = result_of(data, "1", "3"), *b = result_of(data, "3", "3");
    for (size_t m = 0; m < 5; m++) {
        assert_int_equal(json_object_del(entrant(a, m), "fit_seconds"), 0);
        assert_int_equal(json_object_del(entrant(b, m), "fit_seconds"), 0);
    }
    assert_true(json_equal(a, b));
    json_decref(a);
    json_decref(b);
    bdml_free_dataset(data);
}

/* Move the rows that no training of split 0 may see: its kappa stays to the last bit. */
static void training_sees_its_rows_alone(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = make_data(h);
    retrieve_split s;
    json_t *before = result_of(data, "1", "7");
    check_ok(h, retrieve_split_make(h, &h->options, &(retrieve_data){.rows = data}, 0, &s));
    for (int scope = 0; scope < RETRIEVE_SCOPES; scope++)
        for (int64_t k = 0; k < s.scope[scope].rows; k++)
            for (int j = 0; j < data->d; j++)
                data->x[s.scope[scope].row[k] * data->d + j] *= 1.0 + (double)(k % 5);
    json_t *after = result_of(data, "1", "7");
    for (size_t m = 0; m < 5; m++) {
        double was =
            json_number_value(json_array_get(json_object_get(entrant(before, m), "kappas"), 0));
        double is =
            json_number_value(json_array_get(json_object_get(entrant(after, m), "kappas"), 0));
        assert_true(was == is);
    }
    assert_true(value(figure(entrant(before, 0), "unseen", "map_at_r"), 0) !=
                value(figure(entrant(after, 0), "unseen", "map_at_r"), 0));
    retrieve_split_free(&s);
    json_decref(before);
    json_decref(after);
    bdml_free_dataset(data);
}

static json_t *take(char *text)
{
    json_t *result = json_loads(text, 0, NULL);
    assert_non_null(result);
    bdml_free_bytes(text);
    return result;
}

/* Unseen rows: that the nearest row trained on is of the class is what the vote of one neighbour measures. */
static void rows_as_the_vote_of_one(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = make_data(h);
    char *text;
    check_ok(h, bdml_set(h, "unseen", "rows"));
    check_ok(h, bdml_set(h, "splits", "3"));
    check_ok(h, bdml_set(h, "methods", "euclidean,lda"));
    check_ok(h, bdml_set(h, "neighbors", "1"));
    check_ok(h, bdml_set(h, "stratify", "yes"));
    check_ok(h, bdml_retrieve(h, data, &text));
    json_t *found = take(text);
    check_ok(h, bdml_evaluate(h, data, &text));
    json_t *votes = take(text);
    assert_string_equal(json_string_value(json_object_get(found, "protocol")), "rows");
    assert_int_equal(json_integer_value(json_object_get(found, "unseen_points")), 48);
    for (size_t m = 0; m < 2; m++)
        for (size_t s = 0; s < 3; s++) {
            double wrong =
                json_number_value(json_array_get(json_object_get(entrant(votes, m), "errors"), s));
            check_close(value(figure(entrant(found, m), "unseen", "recall_at_1"), s), 100.0 - wrong,
                        1e-11);
        }
    json_decref(found);
    json_decref(votes);
    bdml_free_dataset(data);
}

static void refusals(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data;
    char *text;
    check_ok(h, bdml_read_dataset(h, source_path("data/iris.csv"), &data));
    check_fails(h, bdml_retrieve(h, data, &text), BDML_ERR_DATA, "on either side");
    bdml_free_dataset(data);
    data = make_data(h);
    check_ok(h, bdml_set(h, "grid", "1,10,3"));
    check_fails(h, bdml_retrieve(h, data, &text), BDML_ERR_ARGUMENT, "ascend");
    check_ok(h, bdml_set(h, "grid", "1,10"));
    check_ok(h, bdml_set(h, "distortion", "3"));
    check_fails(h, bdml_retrieve(h, data, &text), BDML_ERR_ARGUMENT, "leave out distortion");
    check_ok(h, bdml_set(h, "distortion", "auto"));
    check_ok(h, bdml_set(h, "folds", "5"));
    check_fails(h, bdml_retrieve(h, data, &text), BDML_ERR_ARGUMENT, "folds must be 0");
    check_fails(h, bdml_retrieve(h, NULL, &text), BDML_ERR_ARGUMENT, "must not be NULL");
    bdml_free_dataset(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worked_by_hand),
        cmocka_unit_test(grades_by_hand),
        cmocka_unit_test(at_the_ends),
        handle_test(by_plain_loops),
        handle_test(in_blocks),
        handle_test(equal_rows),
        handle_test(no_queries),
        handle_test(splits_keep_classes_apart),
        handle_test(splits_of_rows),
        handle_test(rows_as_the_vote_of_one),
        handle_test(as_by_hand),
        handle_test(against_the_space_as_it_is),
        handle_test(any_number_of_jobs),
        handle_test(training_sees_its_rows_alone),
        handle_test(refusals),
    };
    return cmocka_run_group_tests_name("retrieve", tests, NULL, NULL);
}
