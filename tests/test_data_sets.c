/* test_data_sets.c - svmlight, ARFF, the writers, and data sets as a whole. */
#include "text_files.h"

/* ---- svmlight ----------------------------------------------------------------------------------------- */

static void test_svmlight(void **state)
{
    bdml_handle *h = *state;
    logged l = {""};
    bdml_set_log(h, keep_log, &l);
    bdml_dataset *data =
        read_text(h, "s.svm", "# a comment\n+1 1:0.5 3:-2e3 # here too\n\n-1 qid:4 2:7\n1.0\n");
    check_rows(data, 3, 3, (const double[]){0.5, 0, -2000, 0, 7, 0, 0, 0, 0},
               (const char *const[]){"1", "-1", "1"});
    bdml_free_dataset(data);
    assert_string_equal(l.text, "");
    data = read_text(h, "s.libsvm", "a 1:1\nb 0:2 1:3\n");
    check_rows(data, 2, 2, (const double[]){0, 1, 2, 3}, (const char *const[]){"a", "b"});
    bdml_free_dataset(data);
    check_true(strstr(l.text, "columns are numbered from 0") != NULL);
    /* Said, the base holds whether or not a 0 occurs. */
    set(h, "index-base", "0");
    data = read_text(h, "s.libsvm", "a 1:1\nb 2:3\n");
    check_rows(data, 2, 3, (const double[]){0, 1, 0, 0, 0, 3}, (const char *const[]){"a", "b"});
    bdml_free_dataset(data);
    set(h, "index-base", "1");
    must_refuse(h, "s.libsvm", "a 0:1\n", BDML_ERR_DATA, "an index 0 occurs, but index-base is 1");
    set(h, "index-base", "auto");
    set(h, "label", "none");
    data = read_text(h, "s.svm", "1 1:1\n2 2:3\n");
    check_rows(data, 2, 2, (const double[]){1, 0, 0, 3}, NULL);
    bdml_free_dataset(data);
}

static void test_svmlight_errors(void **state)
{
    bdml_handle *h = *state;
    must_refuse(h, "e.svm", "1 1:1 2:2\n1 2:1 2:3\n", BDML_ERR_DATA,
                "line 2: '2:3' follows index 2: indices must increase");
    must_refuse(h, "e.svm", "1 1:1 999999999:1\n", BDML_ERR_DATA,
                "line 1: '999999999:1' has an index above the limit of 1048576 columns");
    must_refuse(h, "e.svm", "1 1:1 99999999999999999999:1\n", BDML_ERR_DATA,
                "should begin with an index");
    must_refuse(h, "e.svm", "1 -1:1\n", BDML_ERR_DATA, "'-1:1' should begin with an index");
    must_refuse(h, "e.svm", "1 1:1 7\n", BDML_ERR_DATA, "'7' should be index:value");
    must_refuse(h, "e.svm", "1 1:1\n2 1:x\n", BDML_ERR_DATA,
                "line 2: '1:x' has no number as value");
    must_refuse(h, "e.svm", "1 1:1\n2 1:inf\n", BDML_ERR_DATA,
                "line 2, column 1: an infinite value");
    must_refuse(h, "e.svm", "1 1:1\n2 1:nan\n", BDML_ERR_DATA,
                "line 2, column 1: a value is missing");
    must_refuse(h, "e.svm", "1:1 2:1\n", BDML_ERR_DATA, "'1:1' stands where the label should be");
    must_refuse(h, "e.svm", "# only\n", BDML_ERR_DATA, "no rows of data");
    must_refuse(h, "e.svm", "1\n2\n", BDML_ERR_DATA, "no row has an index:value pair");
    set(h, "label", "x");
    must_refuse(h, "e.svm", "1 1:1\n", BDML_ERR_DATA, "label 'x' cannot be chosen");
}

/* Few bytes that announce more dense rows than any machine holds are refused before they are made. */
static void test_svmlight_bomb(void **state)
{
    bdml_handle *h = *state;
    enum { ROWS = 200000 };
    static const char row[] = "1 1048576:1\n";
    char *text = malloc(ROWS * (sizeof row - 1) + 1);
    for (int i = 0; i < ROWS; i++) memcpy(text + (size_t)i * (sizeof row - 1), row, sizeof row);
    must_refuse(h, "bomb.svm", text, BDML_ERR_DATA,
                "200000 x 1048576 places and 200000 numbers: it would fill 1562.5 GiB with zeros");
    free(text);
}

/* ---- ARFF ----------------------------------------------------------------------------------------------- */

#define ARFF_HEAD                                                   \
    "% comment\n@RELATION 'my data'\n@attribute \"sepal w\" REAL\n" \
    "@Attribute n integer\n@ATTRIBUTE kind {a, 'b c',\"d\"}\n"

static void test_arff(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data =
        read_text(h, "a.arff", ARFF_HEAD "@DATA\n% one\n1.5,2,a\n\n 3 , 4 ,'b c'\n");
    check_rows(data, 2, 2, (const double[]){1.5, 2, 3, 4}, (const char *const[]){"a", "b c"});
    assert_string_equal(data->feature_name[0], "sepal w");
    assert_int_equal(data->classes, 2); /* "d" is declared but does not occur */
    bdml_free_dataset(data);
    /* Told by its content, whatever it is called; sparse rows. */
    data = read_text(h, "a.txt", ARFF_HEAD "@data\n{0 1.5, 2 d}\n{1 4}\n{}\n");
    check_rows(data, 3, 2, (const double[]){1.5, 0, 0, 4, 0, 0},
               (const char *const[]){"d", "a", "a"});
    bdml_free_dataset(data);
    set(h, "missing", "drop");
    data = read_text(h, "a.arff", ARFF_HEAD "@data\n1,?,a\n3,4,d\n3,4,?\n");
    check_rows(data, 1, 2, (const double[]){3, 4}, (const char *const[]){"d"});
    bdml_free_dataset(data);
    /* A column called class beats a later nominal one, which is then no feature. */
    must_refuse(h, "a.arff",
                "@relation r\n@attribute class {0,1}\n@attribute z {u,v}\n@data\n0,u\n",
                BDML_ERR_DATA, "attribute 2 'z' is nominal, but features are numbers");
    data = read_text(h, "a.arff",
                     "@relation r\n@attribute a numeric\n@attribute b numeric\n@data\n1,2\n");
    check_rows(data, 1, 2, (const double[]){1, 2}, NULL);
    bdml_free_dataset(data);
    set(h, "label", "b");
    data = read_text(h, "a.arff",
                     "@relation r\n@attribute a numeric\n@attribute b string\n@data\n1,'x\\'y'\n");
    check_rows(data, 1, 1, (const double[]){1}, (const char *const[]){"x'y"});
    bdml_free_dataset(data);
}

static void test_arff_errors(void **state)
{
    bdml_handle *h = *state;
    must_refuse(h, "e.arff", ARFF_HEAD, BDML_ERR_FORMAT, "the file ends before @data");
    must_refuse(h, "e.arff", "@relation r\n@data\n", BDML_ERR_FORMAT, "@data comes before any");
    must_refuse(h, "e.arff", "@relation r\n@atribute a real\n", BDML_ERR_FORMAT,
                "line 2: '@atribute' is not @relation, @attribute or @data");
    must_refuse(h, "e.arff", "@relation r\n@attribute a complex\n", BDML_ERR_FORMAT,
                "attribute 'a' has the unknown type 'complex'");
    must_refuse(h, "e.arff", "@relation r\n@attribute a {x,y\n", BDML_ERR_FORMAT,
                "no closing brace");
    must_refuse(h, "e.arff", "@relation r\n@attribute 'a real\n", BDML_ERR_FORMAT, "never closed");
    must_refuse(h, "e.arff", "@relation r\n@attribute a string\n@attribute b {u}\n@data\n",
                BDML_ERR_DATA, "attribute 1 'a' is of type string");
    must_refuse(h, "e.arff", "@relation r\n@attribute a date yyyy\n@attribute b {u}\n@data\n",
                BDML_ERR_DATA, "attribute 1 'a' is of type date");
    must_refuse(h, "e.arff", ARFF_HEAD "@data\n1,2\n", BDML_ERR_DATA,
                "line 7: there are 2 values, but 3 attributes");
    must_refuse(h, "e.arff", ARFF_HEAD "@data\n1,2,a,4\n", BDML_ERR_DATA, "there are 4 values");
    must_refuse(h, "e.arff", ARFF_HEAD "@data\n1,two,a\n", BDML_ERR_DATA,
                "line 7, column 2 (n): 'two' is not a number");
    must_refuse(h, "e.arff", ARFF_HEAD "@data\n1,2,z\n", BDML_ERR_DATA,
                "line 7, column 3: 'z' is not among the declared values");
    must_refuse(h, "e.arff", ARFF_HEAD "@data\n1,2,'a' b\n", BDML_ERR_FORMAT,
                "behind a closing quote");
    must_refuse(h, "e.arff", ARFF_HEAD "@data\n{3 1}\n", BDML_ERR_DATA,
                "increasing indices from 0 to 2");
    must_refuse(h, "e.arff", ARFF_HEAD "@data\n{1 1, 1 2}\n", BDML_ERR_DATA, "increasing indices");
    must_refuse(h, "e.arff", ARFF_HEAD "@data\n{1 1\n", BDML_ERR_FORMAT, "no closing brace");
    must_refuse(h, "e.arff", ARFF_HEAD "@data\n", BDML_ERR_DATA, "no rows of data");
}

/* ---- writing ---------------------------------------------------------------------------------------- */

/* A small set with every kind of double and difficult class names. */
static bdml_dataset *difficult(bdml_handle *h, bool numbers)
{
    static const double values[] = {0.1,
                                    -0.0,
                                    1e-320,
                                    1.7976931348623157e308,
                                    1.0 / 3.0,
                                    5e-324,
                                    123456789012345678.0,
                                    2.2250738585072014e-308,
                                    0,
                                    -1,
                                    4,
                                    0};
    static const char *const names[] = {"",   " x ",      "\"q\"",       "#5",          "?",
                                        "NA", "a,b;c\td", "line\nbreak", "back\\slash", "plain"};
    static const char *const plain[] = {"-1", "0", "0.5", "1",     "2",
                                        "3",  "4", "10",  "1e+30", "2e+30"};
    enum { N = 400, D = 12, C = 10 };
    bdml_dataset *data;
    bdml_rng r = bdml_rng_make(7, 7);
    check_ok(h, bdml_dataset_new(h, N, D, C, &data));
    for (int k = 0; k < N * D; k++) {
        double v = values[k % 12];
        if (k >= 12 * 4 && k % D < 10) {
            uint64_t bits = bdml_rng_u64(&r);
            memcpy(&v, &bits, sizeof v);
            if (!isfinite(v)) v = 0.0;
        }
        data->x[k] = v;
    }
    for (int i = 0; i < N; i++) data->y[i] = i % C;
    for (int c = 0; c < C; c++) data->class_name[c] = bdml_strdup(h, numbers ? plain[c] : names[c]);
    if (!numbers) { /* the empty name cannot be told from a missing label */
        free(data->class_name[0]);
        data->class_name[0] = bdml_strdup(h, "\t");
    }
    data->feature_name = bdml_calloc(h, D, sizeof(char *));
    for (int j = 0; j < D; j++) {
        char text[32];
        snprintf(text, sizeof text, j == 3 ? "class" : j == 4 ? "a,\"b\"" : "%d", j);
        data->feature_name[j] = bdml_strdup(h, text);
    }
    return data;
}

/* Compare by class name: numbering follows the order of the names. */
static void same_by_name(const bdml_dataset *a, const bdml_dataset *b)
{
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->d, b->d);
    assert_int_equal(a->classes, b->classes);
    assert_memory_equal(a->x, b->x, (size_t)a->n * (size_t)a->d * sizeof(double));
    for (int64_t i = 0; i < a->n; i++)
        assert_string_equal(a->class_name[a->y[i]], b->class_name[b->y[i]]);
}

static void test_round_trips(void **state)
{
    bdml_handle *h = *state;
    static const char *const endings[] = {"r.csv", "r.svm", "r.tsv", "r.svmlight", "r.csv"};
    for (int numbers = 0; numbers < 2; numbers++) {
        bdml_dataset *first = difficult(h, numbers), *data = NULL, *next;
        for (size_t k = 0; k < sizeof endings / sizeof *endings; k++) {
            const char *path = temp_path(endings[k]);
            check_ok(h, bdml_write_dataset(h, data ? data : first, path));
            check_ok(h, bdml_read_dataset(h, path, &next));
            same_by_name(first, next);
            if (data) same_data(data, next);
            if (k == 0)
                for (int j = 0; j < 12; j++)
                    assert_string_equal(next->feature_name[j], first->feature_name[j]);
            bdml_free_dataset(data);
            data = next;
            unlink(path);
        }
        bdml_free_dataset(data);
        bdml_free_dataset(first);
    }
}

static void test_bundled_round_trips(void **state)
{
    bdml_handle *h = *state;
    static const struct {
        const char *name;
        int64_t n;
        int d, classes;
    } sets[] = {{"data/iris.csv", 150, 4, 3},
                {"data/wine.csv", 178, 13, 3},
                {"data/diabetes.csv", 768, 8, 2},
                {"data/segment.csv", 2310, 19, 7}};
    for (size_t k = 0; k < 4; k++) {
        bdml_dataset *data, *back;
        const char *path = temp_path("b.svm");
        check_ok(h, bdml_read_dataset(h, source_path(sets[k].name), &data));
        assert_int_equal(bdml_dataset_points(data), sets[k].n);
        assert_int_equal(bdml_dataset_dimension(data), sets[k].d);
        assert_int_equal(bdml_dataset_classes(data), sets[k].classes);
        check_ok(h, bdml_write_dataset(h, data, path));
        check_ok(h, bdml_read_dataset(h, path, &back));
        same_data(data, back);
        bdml_free_dataset(back);
        bdml_free_dataset(data);
        unlink(path);
    }
}

static void test_write_errors(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data;
    const double x[] = {1, 2};
    check_ok(h, bdml_dataset_from_arrays(h, 2, 1, x, 1, NULL, &data));
    check_fails(h, bdml_write_dataset(h, data, "x.doc"), BDML_ERR_ARGUMENT,
                "x.doc: the format is told");
    check_fails(h, bdml_write_dataset(h, data, "/nowhere/x.csv"), BDML_ERR_IO, "cannot be written");
    check_fails(h, bdml_write_dataset(h, NULL, "x.csv"), BDML_ERR_ARGUMENT, "must not be NULL");
    static const char *const endings[] = {"w.csv", "w.svm"};
    for (int k = 0; k < 2; k++) { /* the n-th write fails: the old file stays */
        const char *path = write_text(endings[k], "old");
        bdml_status status = BDML_ERR_IO;
        for (int64_t nth = 1; status != BDML_OK; nth++) {
            h->fail_write = nth;
            status = bdml_write_dataset(h, data, path);
            h->fail_write = 0;
            char text[4] = "";
            FILE *f = fopen(path, "rb");
            assert_int_equal(fread(text, 1, 3, f), 3);
            fclose(f);
            assert_int_equal(strcmp(text, "old") == 0, status != BDML_OK);
            assert_true(nth < 100);
        }
        unlink(path);
    }
    bdml_free_dataset(data);
}

/* ---- data sets ------------------------------------------------------------------------------------------ */

static void test_from_arrays(void **state)
{
    bdml_handle *h = *state;
    const double x[] = {1, 2, -1, 3, 4, -1, 5, 6, -1};
    const int64_t y[] = {7, -5000000000, 7};
    bdml_dataset *data, *part;
    check_ok(h, bdml_dataset_from_arrays(h, 3, 2, x, 3, y, &data));
    check_rows(data, 3, 2, (const double[]){1, 2, 3, 4, 5, 6},
               (const char *const[]){"7", "-5000000000", "7"});
    assert_int_equal(bdml_dataset_labels(data)[0], 1);
    assert_string_equal(bdml_dataset_class_name(data, 0), "-5000000000");
    assert_null(bdml_dataset_class_name(data, 2));
    assert_null(bdml_dataset_class_name(data, -1));
    const int64_t rows[] = {2, 0};
    check_ok(h, bdml_dataset_subset(h, data, 2, rows, &part));
    check_rows(part, 2, 2, (const double[]){5, 6, 1, 2}, (const char *const[]){"7", "7"});
    assert_int_equal(part->classes, 2);
    check_fails(h, bdml_dataset_need_classes(h, part), BDML_ERR_DATA, "one class, '7'");
    bdml_free_dataset(part);
    check_fails(h, bdml_dataset_subset(h, data, 1, (const int64_t[]){3}, &part), BDML_ERR_ARGUMENT,
                "row 3 is not among the 3 rows");
    uint64_t mark = bdml_dataset_fingerprint(data);
    data->x[3] = nextafter(data->x[3], 9);
    check_true(bdml_dataset_fingerprint(data) != mark);
    data->x[3] = 4;
    check_true(bdml_dataset_fingerprint(data) == mark);
    data->y[1] = 1;
    check_true(bdml_dataset_fingerprint(data) != mark);
    bdml_free_dataset(data);

    check_fails(h, bdml_dataset_from_arrays(h, 0, 2, x, 2, y, &data), BDML_ERR_ARGUMENT, "n 0");
    check_fails(h, bdml_dataset_from_arrays(h, 3, 2, x, 1, y, &data), BDML_ERR_ARGUMENT, "ld 1");
    check_fails(h, bdml_dataset_from_arrays(h, 3, 2, x, INT64_MAX, y, &data), BDML_ERR_ARGUMENT,
                "numbers apart are no memory");
    check_fails(h, bdml_dataset_from_arrays(h, 3, 2, NULL, 2, y, &data), BDML_ERR_ARGUMENT, "NULL");
    check_fails(h, bdml_dataset_from_arrays(h, (int64_t)INT32_MAX + 1, 1, x, 1, y, &data),
                BDML_ERR_DATA, "2147483648 rows are too many");
    check_fails(h, bdml_dataset_from_arrays(h, 1, 2, (const double[]){1, NAN}, 2, NULL, &data),
                BDML_ERR_DATA, "x at row 0, column 1 is NaN");
    assert_null(data);
    check_fails(h, bdml_dataset_new(h, INT32_MAX, INT32_MAX, 0, &data), BDML_ERR_MEMORY,
                "more than memory");
    assert_int_equal(bdml_dataset_points(NULL), 0);
    assert_null(bdml_dataset_rows(NULL));
    bdml_free_dataset(NULL);
}

/* Class means are the means of two triangles, variances 1 + (h_a - h_b)^2/12. */
static void test_waveform(void **state)
{
    bdml_handle *h = *state;
    enum { N = 60000, D = 21 };
    static const int peaks[3][2] = {{11, 15}, {11, 7}, {15, 7}};
    double sum[3][D] = {{0}}, square[3][D] = {{0}}, count[3] = {0};
    bdml_dataset *data, *shorter;
    set(h, "seed", "3");
    check_ok(h, bdml_generate(h, "waveform", N, &data));
    assert_int_equal(data->d, D);
    assert_int_equal(data->classes, 3);
    for (int i = 0; i < N; i++) {
        count[data->y[i]]++;
        for (int j = 0; j < D; j++) {
            sum[data->y[i]][j] += data->x[i * D + j];
            square[data->y[i]][j] += data->x[i * D + j] * data->x[i * D + j];
        }
    }
    for (int c = 0; c < 3; c++) {
        /* Six standard errors: 126 comparisons, a false alarm once in 4 million runs; the seed is fixed. */
        check_close(count[c] / N, 1.0 / 3.0, 6.0 * sqrt(2.0 / 9.0 / N));
        for (int j = 0; j < D; j++) {
            double a = fmax(6 - abs(j + 1 - peaks[c][0]), 0),
                   b = fmax(6 - abs(j + 1 - peaks[c][1]), 0);
            double mean = sum[c][j] / count[c], variance = square[c][j] / count[c] - mean * mean;
            double expected = 1.0 + (a - b) * (a - b) / 12.0;
            check_close(mean, (a + b) / 2.0, 6.0 * sqrt(expected / count[c]));
            check_close(variance, expected, 6.0 * expected * sqrt(2.0 / count[c]));
        }
    }
    check_ok(h, bdml_generate(h, "waveform", 10, &shorter)); /* row i is a function of (seed, i) */
    assert_memory_equal(shorter->x, data->x, 10 * D * sizeof(double));
    bdml_free_dataset(shorter);
    set(h, "seed", "4");
    check_ok(h, bdml_generate(h, "waveform", 10, &shorter));
    check_true(memcmp(shorter->x, data->x, 10 * D * sizeof(double)) != 0);
    bdml_free_dataset(shorter);
    bdml_free_dataset(data);
    check_ok(h, bdml_generate(h, "waveform", 1, &data));
    assert_int_equal(data->classes, 1);
    bdml_free_dataset(data);
    check_fails(h, bdml_generate(h, "waveform", 0, &data), BDML_ERR_ARGUMENT,
                "must be 1 or more, got 0");
}

/* Means and variances of single features by class, within six standard errors. */
static void test_generated(void **state)
{
    enum { N = 40000 };
    static const struct law {
        const char *name;
        int d, c, j;
        double mean, variance;
    } law[] = {{"waveform-noise", 40, 1, 39, 0, 1},
               {"twonorm", 20, 0, 7, 0.4472136, 1},
               {"twonorm", 20, 1, 7, -0.4472136, 1},
               {"threenorm", 20, 0, 3, 0, 1.2},
               {"threenorm", 20, 1, 3, -0.4472136, 1},
               {"ringnorm", 20, 0, 5, 0, 4},
               {"ringnorm", 20, 1, 5, 0.2236068, 1},
               {"needle", 30, 1, 0, 3, 1},
               {"needle", 30, 2, 0, 0, 1},
               {"needle", 30, 2, 1, 3, 1},
               {"stretched", 15, 0, 14, NAN, 1000},
               {"stretched", 15, 3, 0, NAN, 1},
               {"clusters", 12, 2, 11, 0, 16}};
    bdml_handle *h = *state;
    bdml_dataset *data;
    for (size_t k = 0; k < sizeof law / sizeof *law; k++) {
        const struct law *l = &law[k];
        double sum = 0, square = 0, count = 0;
        check_ok(h, bdml_generate(h, l->name, N, &data));
        assert_int_equal(data->d, l->d);
        for (int i = 0; i < N; i++)
            if (data->y[i] == l->c) {
                double v = data->x[i * l->d + l->j];
                count++, sum += v, square += v * v;
            }
        double mean = sum / count, variance = square / count - mean * mean;
        if (!isnan(l->mean)) check_close(mean, l->mean, 6.0 * sqrt(l->variance / count));
        check_close(variance, l->variance, 6.0 * l->variance * sqrt(2.0 / count));
        bdml_free_dataset(data);
    }
    for (int k = 0; k < bdml_generator_count(); k++) {
        check_ok(h, bdml_generate(h, bdml_generator_name(k), 50, &data));
        check_true(data->classes >= 2);
        bdml_free_dataset(data);
    }
    check_true(bdml_generator_name(bdml_generator_count()) == NULL);
    check_fails(h, bdml_generate(h, "wavelet", 5, &data), BDML_ERR_ARGUMENT, "waveform, ");
}

static void test_format_guess(void **state)
{
    (void)state;
    static const struct {
        const char *path, *head;
        size_t n;
        int format;
    } cases[] = {
        {"a", "\x93NUMPY\x01", 7, BDML_FORMAT_NPY},
        {"a.csv", "PK\x03\x04", 4, BDML_FORMAT_NPZ},
        {"a", "MATLAB 5.0 MAT-file", 19, BDML_FORMAT_MAT},
        {"a", "\0\0\x08\x03", 4, BDML_FORMAT_IDX},
        {"a", "\0\0\x07\x03", 4, BDML_FORMAT_CSV},
        {"a.csv", "% x\n\n @Relation r\n", 18, BDML_FORMAT_ARFF},
        {"a.TSV.gz", "1\t2", 3, BDML_FORMAT_TSV},
        {"a.libsvm", "1 2", 3, BDML_FORMAT_SVMLIGHT},
        {"a.csv", "1 2:3", 5, BDML_FORMAT_CSV},
        {"a", "1 2:3", 5, BDML_FORMAT_SVMLIGHT},
        {"a", "# c\n-1.5 qid:3 2:3", 18, BDML_FORMAT_SVMLIGHT},
        {"a", "12:30 1:2", 9, BDML_FORMAT_CSV},
        {"-", "1,2", 3, BDML_FORMAT_CSV},
        {"train-images-idx3-ubyte.gz", "xx", 2, BDML_FORMAT_IDX},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int got =
            bdml_format_guess(cases[i].path, (const unsigned char *)cases[i].head, cases[i].n);
        if (got != cases[i].format) fail_msg("case %zu: got %d", i, got);
    }
}

/* The setting wins over name and content. */
static void test_format_setting(void **state)
{
    bdml_handle *h = *state;
    set(h, "format", "svmlight");
    bdml_dataset *data = read_text(h, "f.csv", "1 1:5\n2 1:6\n");
    check_rows(data, 2, 1, (const double[]){5, 6}, (const char *const[]){"1", "2"});
    bdml_free_dataset(data);
    set(h, "format", "tsv");
    data = read_text(h, "f.csv", "5\ta,b\n6\tc;d\n");
    check_rows(data, 2, 1, (const double[]){5, 6}, (const char *const[]){"a,b", "c;d"});
    bdml_free_dataset(data);
}

static int stop_now(void *user, const char *phase, int64_t done, int64_t total)
{
    (void)user, (void)phase, (void)done, (void)total;
    return 1;
}

static void test_cancel(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data;
    bdml_set_progress(h, stop_now, NULL);
    check_fails(h, bdml_read_dataset(h, source_path("data/segment.csv"), &data), BDML_ERR_CANCELLED,
                "reading");
    assert_null(data);
    check_fails(h, bdml_generate(h, "waveform", 100, &data), BDML_ERR_CANCELLED,
                "stopped on request during: generate");
    assert_null(data);
}

/* Fail every allocation in turn: BDML_ERR_MEMORY each time, nothing leaked (the sanitizer tells). */
static void test_allocation_failures(void **state)
{
    bdml_handle *h = *state;
    static const struct {
        const char *name, *text;
    } files[] = {
        {"f.csv", "a,b,class\n1,2,\"x\ny\"\n3,,z\n5,6,w\n"},
        {"f.svm", "# class 1 = one\n# class 2 = two\n1 1:1 3:4\n2 2:2\n"},
        {"f.arff", ARFF_HEAD "@data\n1,2,a\n?,4,d\n{1 3}\n"},
    };
    const char *labels = write_text("f.labels", "p\nq\np\n");
    set(h, "missing", "mean");
    for (int k = 0; k < 4; k++) {
        const char *path = write_text(files[k % 3].name, k < 3 ? files[k].text : "1,2\n3,4\n5,6\n");
        bdml_status status = BDML_ERR_MEMORY;
        if (k == 3) set(h, "labels-file", labels);
        int64_t nth = 1;
        for (; status != BDML_OK; nth++) {
            bdml_dataset *data = (bdml_dataset *)h;
            h->fail_alloc = nth;
            status = bdml_read_dataset(h, path, &data);
            h->fail_alloc = 0;
            if (status == BDML_OK)
                bdml_free_dataset(data);
            else
                assert_null(data);
            if (status != BDML_OK && status != BDML_ERR_MEMORY) fail_msg("%s", bdml_last_error(h));
            assert_true(nth < 1000);
        }
        assert_true(nth > 12); /* the sweep went through reading, not past it */
        unlink(path);
    }
    unlink(labels);
    bdml_dataset *data, *part;
    for (int64_t nth = 1;; nth++) {
        h->fail_alloc = nth;
        if (bdml_generate(h, "waveform", 50, &data) == BDML_OK) break;
        assert_null(data);
    }
    h->fail_alloc = 0;
    for (int64_t nth = 1;; nth++) {
        h->fail_alloc = nth;
        if (bdml_dataset_subset(h, data, 2, (const int64_t[]){4, 9}, &part) == BDML_OK) break;
        assert_null(part);
    }
    h->fail_alloc = 0;
    bdml_free_dataset(part);
    bdml_free_dataset(data);
    for (int64_t nth = 1;; nth++) {
        h->fail_alloc = nth;
        if (bdml_dataset_from_arrays(h, 2, 1, (const double[]){1, 2}, 1, (const int64_t[]){1, 2},
                                     &data) == BDML_OK)
            break;
        assert_null(data);
    }
    h->fail_alloc = 0;
    bdml_free_dataset(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(test_svmlight),
        handle_test(test_svmlight_errors),
        handle_test(test_svmlight_bomb),
        handle_test(test_arff),
        handle_test(test_arff_errors),
        handle_test(test_round_trips),
        handle_test(test_bundled_round_trips),
        handle_test(test_write_errors),
        handle_test(test_from_arrays),
        handle_test(test_waveform),
        handle_test(test_generated),
        handle_test(test_format_guess),
        handle_test(test_format_setting),
        handle_test(test_cancel),
        handle_test(test_allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
