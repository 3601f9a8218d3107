/* test_data_text.c - lines of text, names, and CSV: what is read, and every message they can give. */
#include "text_files.h"

/* ---- names --------------------------------------------------------------------------------------- */

static void test_names(void **state)
{
    bdml_handle *h = *state;
    bdml_names names = {0};
    char text[16];
    int32_t id;
    assert_int_equal(bdml_names_find(&names, "a", 1), -1);
    for (int round = 0; round < 2; round++) /* adding again changes nothing */
        for (int i = 0; i < 1000; i++) {
            int n = snprintf(text, sizeof text, "%d", 999 - i);
            check_ok(h, bdml_names_add(h, &names, text, (size_t)n, &id));
            assert_int_equal(id, i);
        }
    assert_int_equal(names.count, 1000);
    assert_int_equal(bdml_names_find(&names, "99", 1), bdml_names_find(&names, "9", 1));
    assert_int_equal(bdml_names_find(&names, "1000", 4), -1);
    int32_t order[1001];
    check_ok(h, bdml_names_sort(h, &names, order));
    for (int i = 0; i < 1000; i++) assert_int_equal(order[i], 999 - i); /* as numbers */
    check_ok(h, bdml_names_add(h, &names, "x", 1, &id));
    check_ok(h, bdml_names_sort(h, &names, order));
    assert_string_equal(names.text[order[1]], "1"); /* as text: 0 1 10 100 101 ... x */
    assert_string_equal(names.text[order[2]], "10");
    assert_string_equal(names.text[order[1000]], "x");
    bdml_names_free(&names);
}

/* ---- input ---------------------------------------------------------------------------------------- */

static void check_lines(bdml_handle *h, const char *path, const char *const *lines, int count)
{
    const unsigned char *rest;
    bdml_input *in;
    char *line;
    size_t n;
    check_ok(h, bdml_input_open(h, path, &in));
    for (int pass = 0; pass < 2; pass++) {
        bdml_input_mark(in);
        for (int i = 0; i < count; i++) {
            check_ok(h, bdml_input_line(h, in, &line, &n));
            assert_non_null(line);
            assert_string_equal(line, lines[i]);
            assert_int_equal(n, strlen(lines[i]));
            assert_int_equal(bdml_input_line_number(in), i + 1);
        }
        check_ok(h, bdml_input_line(h, in, &line, &n));
        assert_null(line);
        check_ok(h, bdml_input_peek(h, in, 1, &rest, &n));
        assert_int_equal(n, 0);
        check_ok(h, bdml_input_rewind(h, in));
    }
    bdml_input_close(in);
}

static void test_line_ends(void **state)
{
    bdml_handle *h = *state;
    static const char *const lines[] = {"one", "", "two", "three", "", "four"};
    const char *path = write_text("ends", "\357\273\277one\n\ntwo\r\nthree\r\rfour");
    check_lines(h, path, lines, 6);
    unlink(path);
    path = write_text("ends", "one\r\rtwo\rthree\r\rfour\r");
    check_lines(h, path, lines, 6);
    unlink(path);
}

/* "\r\n" and long lines across the ends of the buffer, whatever their place. */
static void test_buffer_ends(void **state)
{
    bdml_handle *h = *state;
    enum { SIZE = 900000 };
    char *text = malloc(SIZE + 1), *line;
    size_t n;
    for (int length = 262138; length < 262150; length++) {
        memset(text, 'a', SIZE);
        memcpy(text + length, "\r\n", 2);
        text[SIZE] = '\0';
        const char *path = write_text("long", text);
        bdml_input *in;
        check_ok(h, bdml_input_open(h, path, &in));
        check_ok(h, bdml_input_line(h, in, &line, &n));
        assert_int_equal(n, length);
        check_ok(h, bdml_input_line(h, in, &line, &n));
        assert_int_equal(n, SIZE - length - 2);
        assert_int_equal(strlen(line), n);
        bdml_input_close(in);
        unlink(path);
    }
    free(text);
}

static void test_input_bytes(void **state)
{
    bdml_handle *h = *state;
    enum { SIZE = 1000000 };
    unsigned char *bytes = malloc(SIZE), *back = malloc(SIZE);
    const unsigned char *head;
    size_t n, got;
    bdml_input *in;
    for (int i = 0; i < SIZE; i++) bytes[i] = (unsigned char)(i * 7 + i / 251);
    const char *path = write_bytes("bytes", bytes, SIZE);
    check_ok(h, bdml_input_open(h, path, &in));
    check_ok(h, bdml_input_peek(h, in, 5, &head, &n));
    assert_int_equal(n, 5);
    assert_memory_equal(head, bytes, 5);
    assert_int_equal(bdml_input_remaining(in), SIZE);
    check_ok(h, bdml_input_read(h, in, back, 10, &got));
    assert_int_equal(bdml_input_remaining(in), SIZE - 10);
    check_ok(h, bdml_input_read(h, in, back + 10, 900000, &got));
    assert_memory_equal(back, bytes, 900010);
    assert_int_equal(bdml_input_remaining(in), SIZE - 900010);
    assert_int_equal(got, 900000);
    check_ok(h, bdml_input_read(h, in, back, 100000, &got)); /* what is left */
    assert_int_equal(got, 99990);
    assert_memory_equal(back, bytes + 900010, 99990);
    check_ok(h, bdml_input_peek(h, in, 1, &head, &n));
    assert_int_equal(n, 0);
    bdml_input_close(in);
    unlink(path);
    free(bytes);
    free(back);
}

static void test_input_errors(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data;
    check_fails(h, bdml_read_dataset(h, "/nowhere/at.csv", &data), BDML_ERR_IO,
                "/nowhere/at.csv: cannot be read: No such file");
    check_fails(h, bdml_read_dataset(h, "/", &data), BDML_ERR_IO, "/: is a directory");
    check_fails(h, bdml_read_dataset(h, NULL, &data), BDML_ERR_ARGUMENT, "must not be NULL");
    check_fails(h, bdml_read_dataset(h, "x", NULL), BDML_ERR_ARGUMENT, "must not be NULL");
    if (geteuid() != 0) {
        const char *path = write_text("secret.csv", "1,2\n");
        chmod(path, 0);
        check_fails(h, bdml_read_dataset(h, path, &data), BDML_ERR_IO, "Permission denied");
        unlink(path);
    }
    const char *path = write_bytes("nul.csv", "1,2\n3,\0004\n", 9);
    check_fails(h, bdml_read_dataset(h, path, &data), BDML_ERR_FORMAT, "line 2: a NUL byte");
    unlink(path);
    must_refuse(h, "empty.csv", "", BDML_ERR_DATA, "the file is empty");
    must_refuse(h, "blank.csv", "\n \n\n", BDML_ERR_DATA, "no rows of data");
    must_refuse(h, "comments.csv", "# nothing\n", BDML_ERR_DATA, "no rows of data");
    must_refuse(h, "header.csv", "a,b,class\n", BDML_ERR_DATA, "no rows of data");
}

static const char *write_gzip(const char *name, const char *text, size_t cut, int flip)
{
    const char *path = temp_path(name);
    gzFile gz = gzopen(path, "wb");
    assert_non_null(gz);
    assert_int_equal(gzwrite(gz, text, (unsigned)strlen(text)), strlen(text));
    assert_int_equal(gzclose(gz), Z_OK);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    if (cut) assert_int_equal(truncate(path, st.st_size - (off_t)cut), 0);
    if (flip) {
        FILE *f = fopen(path, "r+b");
        fseek(f, (long)st.st_size - flip, SEEK_SET);
        int c = fgetc(f);
        fseek(f, (long)st.st_size - flip, SEEK_SET);
        fputc(c ^ 0x55, f);
        fclose(f);
    }
    return path;
}

static void test_gzip(void **state)
{
    bdml_handle *h = *state;
    static const double x[] = {1, 2, 3, 4};
    static const char *const y[] = {"a", "b"};
    static const char text[] = "1,2,a\n3,4,b\n";
    bdml_dataset *data;
    const char *path = write_gzip("packed.csv.gz", text, 0, 0);
    check_ok(h, bdml_read_dataset(h, path, &data));
    check_rows(data, 2, 2, x, y);
    bdml_free_dataset(data);
    path = write_gzip("packed.svm.gz", "1 1:1 2:2\n2 1:3 2:4\n", 0, 0); /* scanned, then read */
    check_ok(h, bdml_read_dataset(h, path, &data));
    check_rows(data, 2, 2, x, (const char *const[]){"1", "2"});
    bdml_free_dataset(data);
    unlink(path);
    path = write_gzip("packed.csv.gz", text, 6, 0);
    check_fails(h, bdml_read_dataset(h, path, &data), BDML_ERR_FORMAT, "gzip file is truncated");
    path = write_gzip("packed.csv.gz", text, 0, 7); /* in the checksum */
    check_fails(h, bdml_read_dataset(h, path, &data), BDML_ERR_FORMAT, "gzip file is damaged");
    check_true(strstr(bdml_last_error(h), path) != NULL);
    unlink(path);
}

/* Read `text` from standard input, which is a pipe. */
static bdml_status read_standard(bdml_handle *h, const char *text, bdml_dataset **data)
{
    int ends[2], saved = dup(STDIN_FILENO);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], text, strlen(text)), strlen(text));
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    bdml_status status = bdml_read_dataset(h, "-", data);
    dup2(saved, STDIN_FILENO);
    close(saved);
    return status;
}

static void test_standard_input(void **state)
{
    bdml_handle *h = *state;
    static const double x[] = {1, 2, 3, 4};
    static const char *const y[] = {"1", "2"}, *const named[] = {"a b", "c"};
    bdml_dataset *data;
    check_ok(h, read_standard(h, "1,2,1\n3,4,2\n", &data));
    check_rows(data, 2, 2, x, y);
    bdml_free_dataset(data);
    /* svmlight is told by its content, read twice, and its comments survive that. */
    check_ok(h, read_standard(h, "1 1:1 2:2 # one\n2 qid:3 1:3 2:4\n", &data));
    check_rows(data, 2, 2, x, y);
    bdml_free_dataset(data);
    check_ok(h, read_standard(h, "# class 1 = a b\n# class 2 = c\n1 1:1 2:2 \n2 1:3 2:4\n", &data));
    check_rows(data, 2, 2, x, named);
    bdml_free_dataset(data);
    check_fails(h, read_standard(h, "", &data), BDML_ERR_DATA, "standard input: the file is empty");
    check_fails(h, read_standard(h, "1,2\n3,x,\n", &data), BDML_ERR_DATA, "standard input: line 2");
}

/* ---- CSV ------------------------------------------------------------------------------------------- */

static void test_csv_quotes(void **state)
{
    bdml_handle *h = *state;
    static const double x[] = {1, 2, 3, 4, 5, 6};
    static const char *const y[] = {"a,b", "say \"hi\"", "two\nlines"};
    bdml_dataset *data = read_text(h, "quotes.csv",
                                   "\"w,idth\",\"x \"\"y\"\"\",class\n\"1\",2,\"a,b\"\n"
                                   "3, \"4\" ,\"say \"\"hi\"\"\"\n5,6,\"two\r\nlines\"\n");
    check_rows(data, 3, 2, x, y);
    assert_string_equal(data->feature_name[0], "w,idth");
    assert_string_equal(data->feature_name[1], "x \"y\"");
    assert_null(bdml_dataset_feature_name(data, 2));
    bdml_free_dataset(data);
    must_refuse(h, "open.csv", "a,class\n1,\"x\n2,y\n", BDML_ERR_FORMAT,
                "line 2: a quote (\") is opened here and never closed");
    must_refuse(h, "behind.csv", "a,class\n1,\"x\"z\n", BDML_ERR_FORMAT,
                "line 2, column 2: text stands behind a closing quote");
    /* Line numbers count lines of the file, not records. */
    must_refuse(h, "lines.csv", "a,class\n1,\"x\ny\"\nb,z\n", BDML_ERR_DATA,
                "line 4, column 1 (a): 'b' is not a number");
}

static void test_csv_delimiters(void **state)
{
    bdml_handle *h = *state;
    static const double x[] = {1, 2, 3, 4};
    static const char *const y[] = {"u", "v"};
    static const char *const texts[] = {
        "1,2,u\n3,4,v\n",
        "1\t2\tu\n3\t4\tv",
        "1;2;u\r\n3;4;v\r\n",
        "  1   2 u\n3 4\tv  \n\n",
        "# a comment\n\n# another\na, b, class\n1, 2, u\n\n3 ,4 ,v\n",
        "\357\273\277a b label\r1 2 u\r3 4 v\r",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        bdml_dataset *data = read_text(h, "delimiter.txt", texts[i]);
        check_rows(data, 2, 2, x, y);
        bdml_free_dataset(data);
    }
    /* In a .tsv file only tabs delimit. */
    bdml_dataset *data = read_text(h, "t.tsv", "1\t2\tu, or so\n3\t4\tv, w, z\n");
    check_rows(data, 2, 2, x, (const char *const[]){"u, or so", "v, w, z"});
    bdml_free_dataset(data);
}

static void test_csv_header(void **state)
{
    bdml_handle *h = *state;
    static const struct {
        const char *text, *header;
        int64_t n;
        bool named;
    } cases[] = {
        {"5,3,setosa\n6,2,virginica\n", "auto", 2, false}, /* a text among numbers is a label */
        {"a,b,c\n6,2,1\n", "auto", 1, true},
        {"0,1,2,species\n5,6,7,x\n", "auto", 1, true}, /* numbers that count are names */
        {"1,2,3,species\n5,6,7,x\n", "auto", 2, false},
        {"0,1,5,species\n5,6,7,x\n", "auto", 2, false},
        {"5,6,class\n5,6,7\n", "auto", 1, true},
        {"1,2,3\n4,5,6\n", "auto", 2, false},
        {"1,?,3\n4,5,6\n", "no", 2, false},
        {"1,2,3\n4,5,6\n", "yes", 1, true},
        {"1,2,c\n4,5,d\n", "no", 2, false},
        {"a,a,class\n4,5,d\n", "auto", 1, true}, /* two columns of one name */
        {"\"1\",\"2\",\"3\"\n4,5,6\n", "auto", 1, true},
    };
    set(h, "missing", "mean");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        set(h, "header", cases[i].header);
        bdml_dataset *data = read_text(h, "header.csv", cases[i].text);
        if (data->n != cases[i].n || (data->feature_name != NULL) != cases[i].named)
            fail_msg("case %zu: %lld rows", i, (long long)data->n);
        bdml_free_dataset(data);
    }
}

static void test_csv_label(void **state)
{
    bdml_handle *h = *state;
    static const char text[] = "p,Class,q,r\n1,2,3,4\n5,6,7,8\n", bare[] = "1,2,3,4\n5,6,7,8\n";
    static const struct {
        const char *label, *text;
        int column; /* -1 = none */
    } cases[] = {
        {"auto", text, 1},  {"auto", bare, 3},  {"last", text, 3}, {"last", bare, 3},
        {"none", text, -1}, {"none", bare, -1}, {"1", text, 0},    {"3", bare, 2},
        {"q", text, 2},     {"Class", text, 1},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        set(h, "label", cases[k].label);
        bdml_dataset *data = read_text(h, "label.csv", cases[k].text);
        assert_int_equal(data->d, cases[k].column < 0 ? 4 : 3);
        assert_int_equal(data->classes, cases[k].column < 0 ? 0 : 2);
        for (int i = 0, at = 0; i < 2; i++)
            for (int c = 0; c < 4; c++) {
                double v = 4 * i + c + 1;
                if (c == cases[k].column)
                    check_true(atof(data->class_name[data->y[i]]) == v);
                else
                    check_true(data->x[at++] == v);
            }
        bdml_free_dataset(data);
    }
    set(h, "label", "colour");
    must_refuse(h, "l.csv", text, BDML_ERR_DATA,
                "no column is called 'colour'; there are: p, Class, q, r");
    must_refuse(h, "l.csv", bare, BDML_ERR_DATA,
                "for there is no header; columns have the numbers 1 to 4");
    set(h, "label", "5");
    must_refuse(h, "l.csv", text, BDML_ERR_DATA, "label column 5 is not among the 4 columns");
    set(h, "label", "0");
    must_refuse(h, "l.csv", text, BDML_ERR_DATA, "label column 0 is not among the 4 columns");
    set(h, "label", "last");
    must_refuse(h, "l.csv", "1\n2\n", BDML_ERR_DATA, "no column of numbers beside the label");
    set(h, "label", "auto"); /* a single column is data */
    bdml_dataset *data = read_text(h, "l.csv", "1\n2\n");
    check_rows(data, 2, 1, (const double[]){1, 2}, NULL);
    bdml_free_dataset(data);
}

/* What a model expects decides whether the last column is a label. */
static void test_expected_columns(void **state)
{
    bdml_handle *h = *state;
    bdml_source *s;
    const char *path = write_text("expected.csv", "1,2,3\n4,5,6\n");
    check_ok(h, bdml_source_open(h, &h->options.input, path, &(bdml_wanted){.d = 3}, &s));
    assert_int_equal(s->d, 3);
    check_true(!s->labelled);
    bdml_source_close(s);
    check_ok(h, bdml_source_open(h, &h->options.input, path, &(bdml_wanted){.d = 2}, &s));
    check_true(s->labelled && s->d == 2);
    bdml_source_close(s);
    check_fails(h, bdml_source_open(h, &h->options.input, path, &(bdml_wanted){.d = 4}, &s),
                BDML_ERR_DATA, "there are 2 columns beside the label, wanted are 4");
    assert_null(s);
    unlink(path);
    path = write_text("expected.svm", "1 2:1\n2 3:5\n");
    check_ok(h,
             bdml_source_open(h, &h->options.input, path, &(bdml_wanted){.d = 5}, &s)); /* padded */
    bdml_block b;
    check_ok(h, bdml_block_init(h, 10, s->d, &b));
    check_ok(h, bdml_source_next(h, s, &b));
    assert_int_equal(b.n, 2);
    check_true(b.x[1] == 1 && b.x[7] == 5 && b.x[4] == 0 && b.x[9] == 0 && b.line[1] == 2);
    check_ok(h, bdml_source_next(h, s, &b));
    assert_int_equal(b.n, 0);
    bdml_block_free(&b);
    bdml_source_close(s);
    check_fails(h, bdml_source_open(h, &h->options.input, path, &(bdml_wanted){.d = 2}, &s),
                BDML_ERR_DATA, "index 3 occurs, but only 2 columns are wanted (from 1 to 2)");
    unlink(path);
}

static void test_csv_errors(void **state)
{
    bdml_handle *h = *state;
    must_refuse(h, "e.csv", "a,b,class\n1,2,x\n1,2\n", BDML_ERR_DATA,
                "line 3 has 2 fields, but line 1 has 3");
    /* A short row whose label slid into a feature's place is short first of all. */
    must_refuse(h, "e.csv", "a,b,class\n1,2,x\n3,y\n", BDML_ERR_DATA,
                "line 3 has 2 fields, but line 1 has 3");
    must_refuse(h, "e.csv", "1,2,x\n1,2,3,4,y\n", BDML_ERR_DATA,
                "line 2 has 5 fields, but line 1 has 3");
    must_refuse(h, "e.csv", "class,w,v\nx,1,2\ny,3,12 apples\n", BDML_ERR_DATA,
                "line 3, column 3 (v): '12 apples' is not a number");
    must_refuse(h, "e.csv", "1,2,x\n1,0x10,y\n", BDML_ERR_DATA, "line 2, column 2: '0x10' is not");
    must_refuse(h, "e.csv", "1,2,x\n1,-inf,y\n", BDML_ERR_DATA,
                "line 2, column 2: an infinite value cannot be used");
    must_refuse(h, "e.csv", "1,2,x\n1,1e999,y\n", BDML_ERR_DATA, "line 2, column 2: an infinite");
    must_refuse(
        h, "e.csv",
        "a,class\n1,x\nlong long long long long long long long long long long long long text,y\n",
        BDML_ERR_DATA, "'long long long long long long long long long long long long ...'");
    must_refuse(h, "e.csv", "a,class\n1,x\n\"two\nlines\",y\n", BDML_ERR_DATA,
                "'two lines' is not");
}

static void test_missing(void **state)
{
    bdml_handle *h = *state;
    logged l = {""};
    static const char text[] = "u,v,class\n1,2,a\n,4,a\n3,NA,b\n5,6,b\n8,nan,?\n";
    must_refuse(h, "m.csv", text, BDML_ERR_DATA,
                "line 3, column 1 (u): a value is missing; --missing drop leaves such rows out, "
                "--missing mean fills in");
    bdml_set_log(h, keep_log, &l);
    set(h, "missing", "drop");
    bdml_dataset *data = read_text(h, "m.csv", text);
    check_rows(data, 2, 2, (const double[]){1, 2, 5, 6}, (const char *const[]){"a", "b"});
    bdml_free_dataset(data);
    check_true(strstr(l.text, "3 of 5 rows left out") != NULL);
    must_refuse(h, "m.csv", "a,class\n?,1\n?,2\n", BDML_ERR_DATA,
                "all 2 rows have a missing value, none is left");
    /* A class that lost all its rows is no class. */
    data = read_text(h, "m.csv", "a,class\n1,a\n?,b\n2,c\n");
    assert_int_equal(data->classes, 2);
    assert_string_equal(data->class_name[1], "c");
    assert_int_equal(data->y[1], 1);
    bdml_free_dataset(data);

    set(h, "missing", "mean");
    must_refuse(h, "m.csv", text, BDML_ERR_DATA, "line 6, column 3: the label is missing");
    data = read_text(h, "m.csv", "u,v,class\n1,2,a\n,4,a\n3,N/A,b\n5,6,b\n");
    /* What is missing stays NaN: the mean to fill in is that of the training rows. */
    check_true(isnan(data->x[2]) && isnan(data->x[5]));
    check_true(strstr(l.text, "2 values are missing; the mean of the training rows") != NULL);
    bdml_prepare p;
    bdml_dataset *part;
    check_ok(h, bdml_dataset_subset(h, data, 2, (const int64_t[]){1, 2}, &part));
    check_ok(h, bdml_prepare_fit(h, &h->options, part, &p));
    check_true(p.fill[0] == 3 && p.fill[1] == 4);
    bdml_prepare_free(&p);
    bdml_free_dataset(part);
    check_ok(h, bdml_dataset_fill(h, data));
    check_rows(data, 4, 2, (const double[]){1, 2, 3, 4, 3, 4, 5, 6},
               (const char *const[]){"a", "a", "b", "b"});
    bdml_free_dataset(data);
    must_refuse(h, "m.csv", "u,v,class\n1,?,a\n2,?,b\n", BDML_ERR_DATA,
                "column 2 (v) has no value at all");
    /* Nothing missing: the means are there all the same, for new data. */
    data = read_text(h, "m.csv", "u,class\n1,a\n3,b\n");
    check_ok(h, bdml_prepare_fit(h, &h->options, data, &p));
    check_true(p.fill && p.fill[0] == 2);
    bdml_prepare_free(&p);
    bdml_free_dataset(data);
}

static void test_classes(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = read_text(h, "c.csv", "1,10\n2,9\n3,-1\n4,9\n");
    check_rows(data, 4, 1, (const double[]){1, 2, 3, 4},
               (const char *const[]){"10", "9", "-1", "9"});
    assert_string_equal(data->class_name[0], "-1"); /* as numbers */
    assert_string_equal(data->class_name[2], "10");
    check_ok(h, bdml_dataset_need_classes(h, data));
    bdml_free_dataset(data);
    data = read_text(h, "c.csv", "1,b10\n2,b9\n3,-1\n");
    assert_string_equal(data->class_name[1], "b10"); /* as text */
    bdml_free_dataset(data);
    data = read_text(h, "c.csv", "1,only\n2,only\n");
    check_fails(h, bdml_dataset_need_classes(h, data), BDML_ERR_DATA,
                "all 2 rows are of one class, 'only'");
    bdml_free_dataset(data);
    set(h, "label", "none");
    data = read_text(h, "c.csv", "1,3\n2,4\n");
    check_fails(h, bdml_dataset_need_classes(h, data), BDML_ERR_DATA, "there are no labels");
    bdml_free_dataset(data);
}

static void test_doubtful_label(void **state)
{
    bdml_handle *h = *state;
    char text[2048] = "";
    for (int i = 0; i < 30; i++) sprintf(text + strlen(text), "%d,%d.5\n", i, i);
    bdml_dataset *data = read_text(h, "doubt.csv", text);
    check_fails(h, bdml_dataset_need_classes(h, data), BDML_ERR_DATA,
                "column 2, taken for the label as it is the last, has 30 different numbers");
    bdml_free_dataset(data);
}

static void test_labels_file(void **state)
{
    bdml_handle *h = *state;
    const char *labels = write_text("labels.txt", "red\n green \nred\n");
    set(h, "labels-file", labels);
    bdml_dataset *data = read_text(h, "x.csv", "1,2\n3,4\n5,6\n");
    check_rows(data, 3, 2, (const double[]){1, 2, 3, 4, 5, 6},
               (const char *const[]){"red", "green", "red"});
    bdml_free_dataset(data);
    must_refuse(h, "x.csv", "1,2\n3,4\n", BDML_ERR_DATA, "labels.txt holds 3 labels, but");
    check_true(strstr(bdml_last_error(h), "holds 2 rows") != NULL);
    must_refuse(h, "x.csv", "1\n2\n3\n4\n", BDML_ERR_DATA, "holds at least 4 rows");
    must_refuse(h, "x.svm", "0 1:1\n0 1:2\n", BDML_ERR_DATA, "holds 2 rows"); /* known at once */
    /* A label that is missing goes with its row. */
    write_text("labels.txt", "red\n?\nblue\n");
    set(h, "missing", "drop");
    data = read_text(h, "x.csv", "1,2\n3,4\n5,6\n");
    check_rows(data, 2, 2, (const double[]){1, 2, 5, 6}, (const char *const[]){"red", "blue"});
    bdml_free_dataset(data);
    set(h, "label", "last");
    const char *path = write_text("x.csv", "1,2\n");
    check_fails(h, bdml_read_dataset(h, path, &data), BDML_ERR_ARGUMENT, "exclude each other");
    set(h, "label", "auto");
    write_text("labels.txt", "\n");
    check_fails(h, bdml_read_dataset(h, path, &data), BDML_ERR_DATA, "holds no labels");
    unlink(labels);
    check_fails(h, bdml_read_dataset(h, path, &data), BDML_ERR_IO, "labels.txt: cannot be read");
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(test_names),          handle_test(test_line_ends),
        handle_test(test_buffer_ends),    handle_test(test_input_bytes),
        handle_test(test_input_errors),   handle_test(test_gzip),
        handle_test(test_standard_input), handle_test(test_csv_quotes),
        handle_test(test_csv_delimiters), handle_test(test_csv_header),
        handle_test(test_csv_label),      handle_test(test_expected_columns),
        handle_test(test_csv_errors),     handle_test(test_missing),
        handle_test(test_classes),        handle_test(test_doubtful_label),
        handle_test(test_labels_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
