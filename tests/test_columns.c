/* What the columns of a file are taken for: index, label, numbers, words; lists of columns; and what is said
 * when a guess would be nonsense. */
#include "asking.h"
#include "check.h"
#include "data/columns.h"
#include "text_files.h"

/* `rows` lines, each made by `line` of its number. */
static const char *table(const char *header, int rows, void (*line)(int i, char *out))
{
    static char text[1 << 16];
    size_t n = (size_t)sprintf(text, "%s", header);
    for (int i = 0; i < rows; i++) {
        line(i, text + n);
        n += strlen(text + n);
    }
    return text;
}

static void counted(int i, char *out)
{
    sprintf(out, "%d,%d.5,%d.25,%s\n", i, i * 7 % 11, i * 3 % 5, i % 2 ? "a" : "b");
}
static void shuffled(int i, char *out)
{
    sprintf(out, "%d,%d.5,%d.25,%s\n", i * 17 % 40, i * 7 % 11, i * 3 % 5, i % 2 ? "a" : "b");
}
static void label_first(int i, char *out)
{
    sprintf(out, "%d,%d.5,%d\n", i % 3 + 1, i * 7 % 11, 100 + i * 31 % 97);
}
static void words_first(int i, char *out)
{
    sprintf(out, "%s,%d.5,%d.75\n", i % 3 ? "red" : "blue", i * 7 % 11, i * 31 % 97);
}
static void regression(int i, char *out)
{
    sprintf(out, "%d.5,%d,%d.%d\n", i % 7, i * 3 % 11, i * 31 % 97, i % 8 + 1);
}
static void categories(int i, char *out)
{
    static const char *const colour[] = {"red", "green", "blue"};
    sprintf(out, "%d,%s,%s,%s\n", i * 3 % 7, colour[i % 3], i % 2 ? "yes" : "no",
            i % 5 ? "p" : "q");
}
static void customers(int i, char *out) /* the label is the last column but one */
{
    sprintf(out, "%d.5,c%d,n%d,r%d,%d.25\n", i * 3 % 7, i % 4, i, i % 3, i * 31 % 97);
}
static void dated(int i, char *out)
{
    sprintf(out, "2024-01-%02d,%d.5,%s,%s\n", i % 28 + 1, i * 3 % 7, i % 3 ? "True" : "false",
            i % 2 ? "p" : "q");
}
static void numbered_id(int i, char *out)
{
    sprintf(out, "%d,%d.5,%s\n", 1000 + i * 37 % 101, i * 3 % 7, i % 2 ? "p" : "q");
}

static void test_index(void **state)
{
    bdml_handle *h = *state;
    logged l = {""};
    bdml_set_log(h, keep_log, &l);
    bdml_dataset *data = read_text(h, "i.csv", table(",u,v,class\n", 40, counted));
    assert_int_equal(data->d, 2);
    assert_string_equal(data->feature_name[0], "u");
    check_true(
        strstr(l.text, "column 1 (x1) numbers the rows and is left out; --index-column none"));
    bdml_free_dataset(data);
    data = read_text(h, "i.csv", table("", 40, counted)); /* it counts, whatever its name */
    assert_int_equal(data->d, 2);
    bdml_free_dataset(data);
    data = read_text(h, "i.csv", table("Unnamed: 0,u,v,class\n", 40, shuffled)); /* of a sample */
    assert_int_equal(data->d, 2);
    bdml_free_dataset(data);
    data = read_text(h, "i.csv", table("t,u,v,class\n", 40, shuffled)); /* a feature like others */
    assert_int_equal(data->d, 3);
    bdml_free_dataset(data);
    data = read_text(h, "i.csv", table("", 10, counted)); /* too few to be sure */
    assert_int_equal(data->d, 3);
    bdml_free_dataset(data);
    set(h, "index-column", "none");
    data = read_text(h, "i.csv", table(",u,v,class\n", 40, counted));
    assert_int_equal(data->d, 3);
    bdml_free_dataset(data);
    set(h, "index-column", "u");
    data = read_text(h, "i.csv", table(",u,v,class\n", 40, counted));
    assert_string_equal(data->feature_name[1], "v");
    bdml_free_dataset(data);
    set(h, "index-column", "w");
    must_refuse(h, "i.csv", table(",u,v,class\n", 40, counted), BDML_ERR_DATA,
                "--index-column: no column is called 'w'");
}

/* As R writes it: one name less than columns. */
static void test_row_names(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = read_text(h, "r.txt", "\"u\" \"v\" \"s\"\n\"a\" 1 2 p\n\"b\" 3 4 q\n");
    check_rows(data, 2, 2, (const double[]){1, 2, 3, 4}, (const char *const[]){"p", "q"});
    assert_string_equal(data->feature_name[0], "u");
    bdml_free_dataset(data);
}

static void test_lists(void **state)
{
    bdml_handle *h = *state;
    const char *text = "a,b,c,d,class\n1,2,3,4,p\n5,6,7,8,q\n";
    set(h, "columns", "b, 3-4");
    bdml_dataset *data = read_text(h, "l.csv", text);
    check_rows(data, 2, 3, (const double[]){2, 3, 4, 6, 7, 8}, (const char *const[]){"p", "q"});
    bdml_free_dataset(data);
    set(h, "drop", "c");
    data = read_text(h, "l.csv", text);
    check_rows(data, 2, 2, (const double[]){2, 4, 6, 8}, (const char *const[]){"p", "q"});
    bdml_free_dataset(data);
    set(h, "columns", "");
    set(h, "drop", "2-");
    must_refuse(h, "l.csv", text, BDML_ERR_DATA, "no column of numbers beside the label");
    set(h, "drop", "class"); /* what is dropped is not the label either */
    data = read_text(h, "l.csv", text);
    assert_int_equal(data->d, 3);
    assert_string_equal(data->class_name[0], "4");
    bdml_free_dataset(data);
    set(h, "drop", "9");
    must_refuse(h, "l.csv", text, BDML_ERR_DATA, "--drop: '9' is not among the columns 1 to 5");
    set(h, "drop", "wat");
    must_refuse(h, "l.csv", text, BDML_ERR_DATA, "--drop: no column is called 'wat'");
    must_refuse(h, "l.csv", "1,2,p\n3,4,q\n", BDML_ERR_DATA, "for there is no header");
    set(h, "drop", "1,3");
    data = read_text(h, "l.svm", "0 1:1 2:2 3:3 4:4\n1 1:5 2:6 3:7 4:8\n"); /* any format */
    check_rows(data, 2, 2, (const double[]){2, 4, 6, 8}, (const char *const[]){"0", "1"});
    bdml_free_dataset(data);
}

static void test_label_that_is_none(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = read_text(h, "n.csv", table("", 90, label_first));
    check_fails(
        h, bdml_dataset_need_classes(h, data), BDML_ERR_DATA,
        "column 3, taken for the label as it is the last, has 90 different numbers in 90 rows: "
        "measurements, it seems, not classes; column 1 looks like the label: --label 1");
    bdml_free_dataset(data);
    data = read_text(h, "n.csv", table("u,v,price\n", 60, regression));
    check_fails(h, bdml_dataset_need_classes(h, data), BDML_ERR_DATA, "--label price");
    bdml_free_dataset(data);
    set(h, "label", "price"); /* who says so is believed */
    logged l = {""};
    bdml_set_log(h, keep_log, &l);
    data = read_text(h, "n.csv", table("u,v,price\n", 60, regression));
    check_ok(h, bdml_dataset_need_classes(h, data));
    check_true(strstr(l.text, "column 3 (price), taken for the label, has 60 different numbers"));
    bdml_free_dataset(data);
    set(h, "label", "1");
    data = read_text(h, "n.csv", table("", 90, label_first));
    check_ok(h, bdml_dataset_need_classes(h, data));
    assert_int_equal(data->classes, 3);
    assert_string_equal(data->label_name, "1");
    bdml_free_dataset(data);
}

static void test_advice(void **state)
{
    bdml_handle *h = *state;
    must_refuse(h, "a.csv", table("kind,u,v\n", 60, words_first), BDML_ERR_DATA,
                "'blue' is not a number; this column looks like the label: --label kind");
    must_refuse(h, "a.csv", table("", 60, words_first), BDML_ERR_DATA, "--label 1");
    must_refuse(h, "a.csv", table("u,colour,ok,class\n", 60, categories), BDML_ERR_DATA,
                "'red' is not a number; --encode onehot turns columns of words into 0/1 columns, "
                "--drop colour,ok leaves them out");
    must_refuse(h, "a.csv", table("", 60, categories), BDML_ERR_DATA, "--drop 2,3"); /* no header */
    must_refuse(
        h, "a.csv", table("u,city,who,risk,noise\n", 60, customers), BDML_ERR_DATA,
        "'c0' is not a number; columns of words: city (4 different), who (60), risk (3); name "
        "the label, encode the other, leave out what is no category: --label risk --encode "
        "onehot --drop who");
    set(h, "label", "risk"); /* it is known: what the others can be */
    must_refuse(h, "a.csv", table("u,city,who,risk,noise\n", 60, customers), BDML_ERR_DATA,
                "--encode onehot turns columns of words into 0/1 columns, --drop city,who leaves");
    set(h, "label", "auto");
    must_refuse(h, "a.csv", table("u,colour,ok,class\n1,,no,p\n", 60, categories), BDML_ERR_DATA,
                "--drop colour,ok leaves them out; for empty cells: --missing mean");
    must_refuse(h, "a.csv", table("day,u,ok,class\n", 60, dated), BDML_ERR_DATA,
                "looks like a date or a time: leave it out with --drop day");
    must_refuse(h, "a.csv", "u;v;class\n1,5;2;p\n2,5;3;q\n", BDML_ERR_DATA,
                "'1,5' is not a number; it has a decimal comma: read such a file with --decimal ,");
    must_refuse(h, "a.csv", "u,v,class\n1,2,p\n2,3,q\n3,x,q\n4,4,p\n", BDML_ERR_DATA,
                "line 4, column 2 (v): 'x' is not a number; the others of this column are numbers");
    logged l = {""};
    bdml_set_log(h, keep_log, &l);
    bdml_free_dataset(read_text(h, "a.csv", table("ID,u,class\n", 60, numbered_id)));
    check_true(strstr(l.text, "leave it out with --drop ID"));
}

static void test_values(void **state)
{
    bdml_handle *h = *state;
    set(h, "drop", "day");
    bdml_dataset *data =
        read_text(h, "v.csv", table("day,u,ok,class\n", 4, dated)); /* truth values */
    check_rows(data, 4, 2, (const double[]){0.5, 0, 3.5, 1, 6.5, 1, 2.5, 0},
               (const char *const[]){"q", "p", "q", "p"});
    bdml_free_dataset(data);
    set(h, "drop", "");
    set(h, "decimal", ",");
    data = read_text(h, "v.csv", "1,5;2;0\n2,5;3;1\n");
    check_rows(data, 2, 2, (const double[]){1.5, 2, 2.5, 3}, (const char *const[]){"0", "1"});
    bdml_free_dataset(data);
    must_refuse(h, "v.csv", "1.5,2,0\n2.5,3,1\n", BDML_ERR_DATA, "cannot stand before decimals");
    set(h, "separator", ",");
    must_refuse(h, "v.csv", "1,5;2;0\n", BDML_ERR_DATA, "--separator says what else does");
    set(h, "separator", "xy");
    const char *path = write_text("v.csv", "1;2\n");
    bdml_dataset *none;
    check_fails(h, bdml_read_dataset(h, path, &none), BDML_ERR_ARGUMENT,
                "separator must be one character");
    set(h, "decimal", ".");
    set(h, "separator", "|");
    data = read_text(h, "v.csv", "1|2|p,r\n3|4|q\n"); /* a comma is text here */
    check_rows(data, 2, 2, (const double[]){1, 2, 3, 4}, (const char *const[]){"p,r", "q"});
    bdml_free_dataset(data);
}

static void test_words(void **state)
{
    bdml_handle *h = *state;
    set(h, "encode", "onehot");
    bdml_dataset *data = read_text(h, "w.csv", table("u,colour,ok,class\n", 6, categories));
    static const char *const names[] = {"u", "colour=blue", "colour=green", "colour=red", "ok=yes"};
    assert_int_equal(data->d, 5);
    for (int j = 0; j < 5; j++) assert_string_equal(data->feature_name[j], names[j]);
    const double first[] = {0, 0, 0, 1, 0}, second[] = {3, 0, 1, 0, 1};
    assert_memory_equal(data->x, first, sizeof first);
    assert_memory_equal(data->x + 5, second, sizeof second);
    /* What a model wants is found by name, in any order, its words among them. */
    const bdml_wanted wanted = {5, data->feature_name, "class"};
    const char *path =
        write_text("w2.csv", "ok,more,class,u,colour\nyes,1,p,9,green\nno,2,q,8,pink\n");
    bdml_source *s;
    bdml_block b;
    check_ok(h, bdml_source_open(h, &h->options.input, path, &wanted, &s));
    check_ok(h, bdml_block_init(h, 4, 5, &b));
    logged l = {""};
    bdml_set_log(h, keep_log, &l);
    check_ok(h, bdml_source_next(h, s, &b));
    const double found[] = {9, 0, 1, 0, 1, 8, 0, 0, 0, 0};
    assert_int_equal(b.n, 2);
    assert_memory_equal(b.x, found, sizeof found);
    assert_string_equal(s->classes.text[b.label[1]], "q");
    check_true(strstr(l.text, "'pink' of column colour was not met in training"));
    bdml_block_free(&b);
    bdml_source_close(s);
    bdml_free_dataset(data);
    unlink(path);
    data = read_text(h, "w.arff",
                     "@relation r\n@attribute c {x,y,z}\n@attribute u numeric\n"
                     "@attribute class {p,q}\n@data\ny,1,p\nx,2,q\n");
    check_rows(data, 2, 4, (const double[]){0, 1, 0, 1, 1, 0, 0, 2},
               (const char *const[]){"p", "q"});
    bdml_free_dataset(data);
}

/* Two columns of a name that a model wants are not two of its features: such a file is read by place, and its names tell
 * that one is lacking. */
static void test_names_that_stand_twice(void **state)
{
    bdml_handle *h = *state;
    static char *names[] = {"a", "b", "c=y", "c=z"};
    const bdml_wanted numbers = {3, (char *[]){"a", "b", "c"}, "class"},
                      words = {4, names, "class"};
    bdml_source *s;
    bdml_block b;
    const char *path = write_text("t.csv", "a,a,b,class\n1,2,3,p\n4,5,6,q\n");
    check_ok(h, bdml_source_open(h, &h->options.input, path, &numbers, &s));
    check_ok(h, bdml_block_init(h, 4, 3, &b));
    check_ok(h, bdml_source_next(h, s, &b));
    const double by_place[] = {1, 2, 3, 4, 5, 6};
    assert_int_equal(b.n, 2);
    assert_memory_equal(b.x, by_place, sizeof by_place);
    for (int j = 0; j < 3; j++) assert_string_equal(s->feature_name[j], j < 2 ? "a" : "b");
    bdml_block_free(&b);
    bdml_source_close(s);
    path = write_text("t.csv", "a,a,b,c,class\n1,2,3,4,p\n"); /* which of the two? */
    check_fails(h, bdml_source_open(h, &h->options.input, path, &numbers, &s), BDML_ERR_DATA,
                "there are 4 columns beside the label, wanted are 3");
    path = write_text("t.csv", "c,c,class\ny,z,p\nz,y,q\n"); /* 2 + 2 words are not all 4 */
    check_fails(h, bdml_source_open(h, &h->options.input, path, &words, &s), BDML_ERR_DATA,
                "there is no column 'a'");
    unlink(path);
}

/* Words that come again below are data, but where they stand above all columns of numbers. */
static void test_words_that_recur(void **state)
{
    bdml_handle *h = *state;
    must_refuse(h, "r.csv", "a,b,y\n1,2,x\n3,4,y\noops,5,x\n", BDML_ERR_DATA,
                "line 4, column 1 (a): 'oops' is not a number; the others of this column are");
    must_refuse(h, "r.csv", "a,b,class\n1,2,x\n3,4,y\na,5,x\n", BDML_ERR_DATA,
                "line 4, column 1 (a): 'a' is not a number");
    bdml_dataset *data = read_text(h, "r.csv", "a,b,y\n1,2,x\n3,4,y\n");
    check_rows(data, 2, 2, (const double[]){1, 2, 3, 4}, (const char *const[]){"x", "y"});
    bdml_free_dataset(data);
    /* a slip of the pen in the first of the rows, or what is written where nothing is known: no header */
    must_refuse(h, "r.csv", "l5,1,x\n1,2,x\n3,4,y\n", BDML_ERR_DATA,
                "line 1, column 1: 'l5' is not a number; correct it, or, where line 1 is the "
                "header, say --header yes: its word of column 3 comes again further down");
    must_refuse(h, "r.csv", "none,none,x\n1,2,x\n3,4,y\n", BDML_ERR_DATA, "line 1, column 1: ");
    must_refuse(h, "r.csv", "f,red\n1,red\n2,blue\n", BDML_ERR_DATA, "say --header yes");
    /* of words in their column nothing of the kind is said, nor of later lines */
    must_refuse(h, "r.csv", "red,p\nblue,q\nred,p\n", BDML_ERR_DATA, "--encode onehot");
    must_refuse(h, "r.csv", "l5,x\n1,x\n3,y\n4,y\n", BDML_ERR_DATA, "line 1, column 1");
    must_refuse(h, "r.csv", "1,red\n2,red\nl5,blue\n6,blue\n", BDML_ERR_DATA,
                "line 3, column 1: 'l5' is not a number; the others of this column are numbers");
}

/* A line may have millions of fields: the clock and the user are asked in whatever goes over them. */
static void test_many_columns(void **state)
{
    enum { COLUMNS = 4 * BDML_COLUMNS_ASKED, PARTS = COLUMNS / BDML_COLUMNS_ASKED };
    bdml_handle *h = *state;
    asking a = {.h = h};
    bdml_dataset *data;
    char *text = malloc(4 * (size_t)COLUMNS * 2), *p = text;
    for (int j = 0; j < COLUMNS; j++) p += sprintf(p, "%s", j ? ",ab" : "ab");
    p += sprintf(p, "\n");
    for (int j = 0; j < COLUMNS; j++) p += sprintf(p, "%s", j ? ",1" : "1");
    p += sprintf(p, "\n");
    const char *path = write_bytes("many.csv", text, (size_t)(p - text));
    bdml_set_progress(h, ask, &a);
    check_ok(h, bdml_read_dataset(h, path, &data));
    assert_int_equal(data->d, COLUMNS - 1);
    bdml_free_dataset(data);
    /* counted, cut, header or not, label by its name, names of columns, rows looked at (counted, looked), words that recur, names
     * again, the label again, features, their names, identifiers, values */
    check_true(a.calls >= 12 * PARTS);
    int calls = a.calls;
    for (int k = 1; k <= calls; k += 3) {
        a = (asking){.h = h, .stop_at = k};
        check_fails(h, bdml_read_dataset(h, path, &data), BDML_ERR_CANCELLED,
                    "stopped on request during: reading");
        assert_null(data);
    }
    bdml_set_progress(h, NULL, NULL);
    h->pretend_free = 600.0 * COLUMNS;
    check_fails(h, bdml_read_dataset(h, path, &data), BDML_ERR_MEMORY,
                "reading 65536 columns of text needs about 4");
    check_true(strstr(bdml_last_error(h), "such columns would fit; an NPY file"));
    h->pretend_free = 0.0;
    unlink(path);
    free(text);
}

/* Whoever goes over a file, and whatever for, is stopped in it: for its largest index, for all words, for labels, past comments. */
static void test_long_files(void **state)
{
    enum { LENGTH = 1 << 22, LEAST = 10 };
    bdml_handle *h = *state;
    static const struct {
        const char *name, *head, *line, *setting[2];
    } files[] = {
        {"l.svm", "", "1 1:5 2:6\n2 1:7 3:8\n", {"label", "auto"}},
        {"w.csv", "a,b,class\n", "1,red,p\n2,blue,q\n", {"encode", "onehot"}},
        {"c.csv", "", "# nothing\n", {"label", "auto"}},
    };
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        asking a = {.h = h};
        bdml_source *s;
        char *text = malloc(LENGTH + 64);
        size_t n = (size_t)sprintf(text, "%s", files[k].head);
        while (n < LENGTH) n += (size_t)sprintf(text + n, "%s", files[k].line);
        n += (size_t)sprintf(text + n, "%s", *files[k].head ? "" : "1 1:2\n");
        const char *path = write_bytes(files[k].name, text, n);
        set(h, files[k].setting[0], files[k].setting[1]);
        bdml_set_progress(h, ask, &a);
        check_ok(h, bdml_source_open(h, &h->options.input, path, NULL, &s));
        bdml_source_close(s);
        check_true(a.calls >= LEAST);
        a = (asking){.h = h, .stop_at = LEAST};
        check_fails(h, bdml_source_open(h, &h->options.input, path, NULL, &s), BDML_ERR_CANCELLED,
                    "stopped on request during: reading");
        bdml_set_progress(h, NULL, NULL);
        unlink(path);
        free(text);
    }
}

/* One field may be as long as a line: what goes over it in one piece asks before and after. */
static void test_long_field(void **state)
{
    enum { LENGTH = 3 << 20 };
    bdml_handle *h = *state;
    asking a = {.h = h};
    bdml_dataset *data;
    char *text = malloc((size_t)LENGTH + 64);
    size_t n = (size_t)sprintf(text, "1,\"\"\"");
    memset(text + n, 'x', LENGTH);
    memcpy(text + n + LENGTH / 2, "\"\"", 2);
    n += LENGTH;
    n += (size_t)sprintf(text + n, "\"\n2,b\n");
    const char *path = write_bytes("long.csv", text, n);
    bdml_set_progress(h, ask, &a);
    check_ok(h, bdml_read_dataset(h, path, &data));
    bdml_set_progress(h, NULL, NULL);
    check_true(a.calls >= 8);
    const char *name = data->class_name[data->y[0]];
    assert_int_equal(strlen(name), LENGTH);
    check_true(name[0] == '"' && name[LENGTH / 2 + 1] == '"' && name[LENGTH / 2] == 'x' &&
               name[LENGTH / 2 + 2] == 'x');
    bdml_free_dataset(data);
    unlink(path);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(test_words_that_recur),
        handle_test(test_many_columns),
        handle_test(test_long_field),
        handle_test(test_long_files),
        handle_test(test_index),
        handle_test(test_row_names),
        handle_test(test_lists),
        handle_test(test_label_that_is_none),
        handle_test(test_advice),
        handle_test(test_values),
        handle_test(test_words),
        handle_test(test_names_that_stand_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
