/* test_retrieve_queries.c - queries that look for documents: rankings with grades against plain loops, splits of the
 * queries, what is learned from, and the protocol of bdml_retrieve_queries. */
#include "check.h"
#include "evaluate/retrieve.h"

enum { Q = 40, N = 90, D = 4 };

static const char *write_file(const char *name, const char *text)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", BDML_TEST_BINARY_DIR, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    return path;
}

/* Documents in 4 columns, of which two are loud and say nothing. Query q is document 2q in the others; document 2q + 1
 * belongs to it too, of a smaller grade. Queries 38 and 39 have no line. */
static const char *make_world(bdml_handle *h, bdml_dataset **queries, bdml_dataset **corpus)
{
    static double q[Q * D], x[N * D];
    char text[4096] = "query,document,grade\n";
    bdml_rng r = bdml_rng_make(31, 4);
    for (int i = 0; i < N * D; i++) x[i] = (i % D < 2 ? 1.0 : 3.0) * bdml_rng_normal(&r);
    for (int i = 0; i < Q; i++) {
        for (int j = 0; j < D; j++) {
            double noise = bdml_rng_normal(&r);
            q[i * D + j] = j < 2 ? x[2 * i * D + j] + 0.05 * noise : 3.0 * noise;
        }
        for (int j = 0; j < 2; j++) x[(2 * i + 1) * D + j] = x[2 * i * D + j] + 0.1;
        if (i >= Q - 2) continue;
        size_t at = strlen(text);
        snprintf(text + at, sizeof text - at, "%d,%d,3\n%d,%d,1\n", i, 2 * i, i, 2 * i + 1);
    }
    check_ok(h, bdml_dataset_from_arrays(h, Q, D, q, D, NULL, queries));
    check_ok(h, bdml_dataset_from_arrays(h, N, D, x, D, NULL, corpus));
    return write_file("retrieve-queries.csv", text);
}

/* ---- rankings ----------------------------------------------------------------------------------------------- */

/* Random lines with repeats, on rows of few different values; some queries have none. nDCG, recall and mAP@R by their
 * definitions over the whole sorted corpus. */
static void by_plain_loops(void **state)
{
    bdml_handle *h = *state;
    enum { LINES = 200 };
    double q[Q * 2], x[N * 2], sum[BDML_RANKING_MEASURES] = {0}, grade[Q][N] = {{0}};
    bdml_answer line[LINES];
    bdml_rng r = bdml_rng_make(8, 0);
    int asked = 0;
    for (int i = 0; i < Q * 2; i++) q[i] = (double)bdml_rng_below(&r, 5);
    for (int i = 0; i < N * 2; i++) x[i] = (double)bdml_rng_below(&r, 5);
    for (int k = 0; k < LINES; k++) { /* queries 0 .. 29 in order; 7 answers of each at most */
        line[k] = (bdml_answer){k * 30 / LINES, (int32_t)bdml_rng_below(&r, N),
                                1.0 + (double)bdml_rng_below(&r, 4), k};
        if (line[k].query % 5 == 3) line[k].row = 6 + k % 2; /* two rows, again and again */
        double *g = &grade[line[k].query][line[k].row];
        if (line[k].grade > *g) *g = line[k].grade;
    }
    for (int i = 0; i < Q; i++) {
        int order[N], relevant = 0;
        double far[N], best[N] = {0}, gain = 0, ideal = 0, average = 0, hits = 0, near = 0;
        for (int j = 0; j < N; j++) {
            int at = j;
            far[j] = pow(q[2 * i] - x[2 * j], 2) + pow(q[2 * i + 1] - x[2 * j + 1], 2);
            for (; at > 0 && far[order[at - 1]] > far[j]; at--) order[at] = order[at - 1];
            order[at] = j;
            if (grade[i][j] == 0) continue;
            for (at = relevant++; at > 0 && best[at - 1] < grade[i][j]; at--)
                best[at] = best[at - 1];
            best[at] = grade[i][j];
        }
        if (relevant == 0) continue;
        asked++;
        for (int k = 0; k < 5; k++) sum[BDML_PRECISION_5] += (grade[i][order[k]] > 0) / 5.0;
        for (int k = 0; k < 10; k++) {
            gain += grade[i][order[k]] / log2(k + 2.0);
            ideal += best[k] / log2(k + 2.0);
            near += grade[i][order[k]] > 0;
        }
        for (int k = 0; k < relevant; k++) {
            hits += grade[i][order[k]] > 0;
            if (grade[i][order[k]] > 0) average += hits / (k + 1);
        }
        sum[BDML_RECALL_1] += grade[i][order[0]] > 0;
        sum[BDML_RECALL_10] += near > 0;
        sum[BDML_PRECISION_10] += near / 10;
        sum[BDML_FOUND_10] += near / relevant;
        sum[BDML_R_PRECISION] += hits / relevant;
        sum[BDML_MAP_R] += average / relevant;
        sum[BDML_NDCG_10] += gain / ideal;
    }
    const bdml_rows queries = {Q, 2, 2, q, NULL, 0, NULL}, corpus = {N, 2, 2, x, NULL, 0, NULL};
    const bdml_answers answers = {line, LINES, 0};
    bdml_ranking got;
    check_ok(h, bdml_rank(h, &h->options.neighbors, &corpus, &queries, &answers, &got));
    assert_int_equal(got.queries, asked);
    assert_int_equal(asked, 30);
    for (int m = 0; m < BDML_RANKING_MEASURES; m++)
        if (m != BDML_RECALL_5 && m != BDML_MRR_10)
            check_close(got.measure[m], 100.0 * sum[m] / asked, 1e-11);
}

/* ---- splits and what is learned from ------------------------------------------------------------------------- */

static void split_of_queries(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *queries, *corpus, *rows, *train;
    bdml_answers answers;
    bdml_constraints *triplets, *pairs;
    retrieve_split s;
    const char *path = make_world(h, &queries, &corpus);
    check_ok(h, retrieve_join(h, queries, corpus, &rows));
    check_ok(h, bdml_answers_read(h, path, Q, N, false, &answers));
    const retrieve_data data = {rows, &answers, Q};
    check_ok(h, retrieve_split_make(h, &h->options, &data, 2, &s));
    const retrieve_search *unseen = &s.scope[RETRIEVE_UNSEEN], *seen = &s.scope[RETRIEVE_SEEN];
    assert_int_equal(unseen->queries + seen->queries, Q - 2); /* those without a line ask nothing */
    assert_int_equal(unseen->queries, 11);                    /* 30 % of 38 */
    assert_int_equal(s.train, seen->queries + N);
    for (int64_t i = 0; i < unseen->queries; i++)
        for (int64_t k = 0; k < seen->queries; k++)
            assert_true(unseen->query[i] != seen->query[k] && unseen->query[i] < Q - 2);
    for (int64_t k = 0; k < N; k++) assert_true(unseen->row[k] == Q + k && seen->row[k] == Q + k);

    /* triplets: the query nearer to what belongs to it than to what does not, rows of the training set */
    check_ok(h, retrieve_train_rows(h, &data, &s, &train));
    const bdml_method *bdml = bdml_method_find(h, "bdml", 4);
    check_ok(h, retrieve_constraints(h, &h->options, bdml, &data, &s, train, &triplets));
    assert_true(triplets->n == s.train && triplets->targets == 2 * seen->queries);
    assert_true(triplets->weight != NULL);
    for (int64_t t = 0; t < triplets->m; t++) {
        int32_t row[3];
        assert_int_equal(bdml_constraints_at(triplets, t, row), BDML_OK);
        assert_true(row[0] < seen->queries);
        int64_t query = s.learn[row[0]], near = s.learn[row[1]] - Q, far = s.learn[row[2]] - Q;
        assert_int_equal(near / 2, query);
        if (far / 2 == query)
            assert_true(near == 2 * query && far == near + 1); /* grade 3 over 1 */
    }
    /* the same as pairs: the smaller grade is no stranger */
    const bdml_method *kissme = bdml_method_find(h, "kissme", 6);
    check_ok(h, retrieve_constraints(h, &h->options, kissme, &data, &s, train, &pairs));
    assert_true(bdml_constraints_are_pairs(pairs) && pairs->targets == 2 * seen->queries);
    assert_true(pairs->m > 0 && !pairs->weight);
    for (int64_t t = 0; t < pairs->m; t++) {
        int32_t p = pairs->far[t];
        int64_t query = s.learn[BDML_MIN(pairs->pi[p], pairs->pj[p])];
        assert_true((s.learn[BDML_MAX(pairs->pi[p], pairs->pj[p])] - Q) / 2 != query);
    }
    const bdml_method *lda = bdml_method_find(h, "lda", 3);
    bdml_constraints *none;
    check_fails(h, retrieve_constraints(h, &h->options, lda, &data, &s, train, &none),
                BDML_ERR_ARGUMENT, "learns from classes");
    bdml_free_constraints(triplets);
    bdml_free_constraints(pairs);
    retrieve_split_free(&s);
    bdml_answers_free(&answers);
    bdml_free_dataset(train);
    bdml_free_dataset(rows);
    bdml_free_dataset(queries);
    bdml_free_dataset(corpus);
}

/* ---- the protocol ---------------------------------------------------------------------------------------------- */

static json_t *result_of(bdml_handle *h, const bdml_dataset *queries, const bdml_dataset *corpus,
                         const char *path, const char *jobs)
{
    char *text;
    check_ok(h, bdml_set(h, "splits", "3"));
    check_ok(h, bdml_set(h, "jobs", jobs));
    check_ok(h, bdml_set(h, "methods", "kissme,lda"));
    check_ok(h, bdml_set(h, "grid", "1,100"));
    check_ok(h, bdml_retrieve_queries(h, queries, corpus, path, &text));
    json_t *result = json_loads(text, 0, NULL);
    assert_non_null(result);
    bdml_free_bytes(text);
    return result;
}

static const json_t *entrant(const json_t *result, size_t i)
{
    return json_array_get(json_object_get(result, "methods"), i);
}

static double figure(const json_t *row, const char *scope, const char *measure)
{
    const json_t *all = json_object_get(json_object_get(row, scope), measure);
    return json_number_value(json_object_get(all, "mean"));
}

/* Learning tells the quiet columns from the loud ones, for queries that it has not seen; and says the same for any number
 * of jobs. The space as it is, by its own ranking. */
static void unseen_queries_gain(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *queries, *corpus, *rows;
    bdml_answers answers, of;
    retrieve_split s;
    bdml_ranking want;
    const char *path = make_world(h, &queries, &corpus);
    json_t *one = result_of(h, queries, corpus, path, "1");
    json_t *two = result_of(h, queries, corpus, path, "2");
    for (size_t m = 0; m < 5; m++) {
        json_object_del((json_t *)entrant(one, m), "fit_seconds");
        json_object_del((json_t *)entrant(two, m), "fit_seconds");
    }
    assert_true(json_equal(one, two));
    assert_string_equal(json_string_value(json_object_get(one, "protocol")), "queries");
    assert_int_equal(json_integer_value(json_object_get(one, "unseen_queries")), 11);

    check_ok(h, retrieve_join(h, queries, corpus, &rows));
    check_ok(h, bdml_answers_read(h, path, Q, N, false, &answers));
    check_ok(h, retrieve_split_make(h, &h->options, &(retrieve_data){rows, &answers, Q}, 0, &s));
    const retrieve_search *unseen = &s.scope[RETRIEVE_UNSEEN];
    bdml_dataset *asking;
    check_ok(h, bdml_dataset_subset(h, queries, unseen->queries, unseen->query, &asking));
    check_ok(h, bdml_answers_of(h, &answers, unseen->queries, unseen->query, 0, &of));
    const bdml_rows in = bdml_dataset_view(corpus), by = bdml_dataset_view(asking);
    check_ok(h, bdml_rank(h, &h->options.neighbors, &in, &by, &of, &want));
    const json_t *as_is = json_object_get(entrant(one, 0), "unseen");
    for (int m = 0; m < BDML_RANKING_MEASURES; m++) {
        const json_t *values =
            json_object_get(json_object_get(as_is, bdml_ranking_keys[m]), "values");
        check_close(json_number_value(json_array_get(values, 0)), want.measure[m], 1e-12);
    }

    double base = figure(entrant(one, 0), "unseen", "ndcg_at_10");
    assert_true(base < 30.0);
    assert_true(figure(entrant(one, 1), "unseen", "ndcg_at_10") > base + 20.0); /* kissme */
    assert_non_null(json_object_get(entrant(one, 2), "error"));                 /* lda */
    check_close(figure(entrant(one, 3), "unseen", "ndcg_at_10"), base, 1e-9);   /* K = 1 */
    assert_true(figure(entrant(one, 4), "unseen", "ndcg_at_10") > base + 20.0); /* K = 100 */
    assert_true(figure(entrant(one, 4), "unseen", "recall_at_1") >
                figure(entrant(one, 0), "unseen", "recall_at_1"));
    json_decref(one);
    json_decref(two);
    retrieve_split_free(&s);
    bdml_answers_free(&answers);
    bdml_answers_free(&of);
    bdml_free_dataset(rows);
    bdml_free_dataset(asking);
    bdml_free_dataset(queries);
    bdml_free_dataset(corpus);
}

static void refusals(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *queries, *corpus, *narrow;
    char *text;
    const double x[] = {1, 2, 3, 4};
    make_world(h, &queries, &corpus);
    check_fails(h, bdml_retrieve_queries(h, queries, corpus, NULL, &text), BDML_ERR_ARGUMENT,
                "must not be NULL");
    check_ok(h, bdml_dataset_from_arrays(h, 2, 2, x, 2, NULL, &narrow));
    check_fails(h, bdml_retrieve_queries(h, narrow, corpus, "x", &text), BDML_ERR_DATA,
                "queries have 2 columns and documents 4");
    const char *path = write_file("retrieve-far.csv", "0,90\n");
    check_fails(h, bdml_retrieve_queries(h, queries, corpus, path, &text), BDML_ERR_DATA,
                "line 1, column 2: '90' is not a row number; the data have 90 rows");
    path = write_file("retrieve-far.csv", "40,1\n");
    check_fails(h, bdml_retrieve_queries(h, queries, corpus, path, &text), BDML_ERR_DATA,
                "column 1: '40' is not a row number; the data have 40 rows");
    path =
        write_file("retrieve-far.csv", "3,3\n3,4\n"); /* one query, and 3 is not its own answer */
    check_fails(h, bdml_retrieve_queries(h, queries, corpus, path, &text), BDML_ERR_DATA,
                "1 of 40 queries has relevant documents");
    check_ok(h, bdml_set(h, "scale", "auto"));
    check_fails(h, bdml_retrieve_queries(h, queries, corpus, path, &text), BDML_ERR_ARGUMENT,
                "scale must be none, zscore, minmax or unit");
    check_ok(h, bdml_set(h, "scale", "none"));
    check_ok(h, bdml_set(h, "hard", "yes"));
    check_ok(h, bdml_set(h, "splits", "1"));
    path = write_file("retrieve-graded.csv", "0,0,2\n1,2,3\n2,4,1\n3,6,2\n");
    check_ok(h, bdml_retrieve_queries(h, queries, corpus, path, &text));
    check_true(strstr(text, "leave out hard, or the weights and grades") != NULL);
    bdml_free_bytes(text);
    check_ok(h, bdml_set(h, "relevant-file", path));
    check_fails(h, bdml_retrieve_queries(h, queries, corpus, path, &text), BDML_ERR_ARGUMENT,
                "constraint files name rows of the whole data");
    bdml_free_dataset(queries);
    bdml_free_dataset(corpus);
    bdml_free_dataset(narrow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(by_plain_loops),
        handle_test(split_of_queries),
        handle_test(unseen_queries_gain),
        handle_test(refusals),
    };
    return cmocka_run_group_tests_name("retrieve_queries", tests, NULL, NULL);
}
