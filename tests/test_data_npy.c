/* test_data_npy.c - NPY and NPZ against files built byte by byte or written by libzip, and the NPY writer. */
#include "asking.h"
#include "binary_files.h"

/* ---- NPY ----------------------------------------------------------------------------------------- */

/* Every type in both byte orders and all versions, with its extreme values (those of 64-bit integers
 * cut to what a double holds exactly). */
static void npy_reads_every_type(void **state)
{
    bdml_handle *h = *state;
    static const struct {
        char kind;
        int size;
        double x[6];
    } type[] = {{'i', 1, {-128, 127, 0, 1, -1, 5}},
                {'i', 2, {-32768, 32767, 0, 1, -1, 300}},
                {'i', 4, {-2147483648.0, 2147483647.0, 0, 1, -1, 70000}},
                {'i', 8, {-9223372036854775808.0, 9007199254740992.0, 0, 1, -1, 3e9}},
                {'u', 1, {0, 255, 128, 1, 2, 3}},
                {'u', 2, {0, 65535, 32768, 1, 2, 3}},
                {'u', 4, {0, 4294967295.0, 2147483648.0, 1, 2, 3}},
                {'u', 8, {0, 9223372036854775808.0, 9007199254740992.0, 1, 2, 3}},
                {'f', 4, {-FLT_MAX, FLT_MIN, 0.5, -0.0, 1, -1.25}},
                {'f', 8, {-DBL_MAX, DBL_MIN, 0.1, -0.0, 4.9e-324, 1e22}},
                {'b', 1, {0, 1, 1, 0, 1, 0}}};
    for (size_t t = 0; t < sizeof type / sizeof *type; t++)
        for (int big = 0; big < 2; big++)
            for (int version = 1; version <= 3; version++) {
                char dict[128];
                bytes b = {0};
                snprintf(dict, sizeof dict,
                         "{'descr': '%c%c%d', 'fortran_order': False, 'shape': (2, 3), }",
                         type[t].size == 1 ? '|'
                         : big             ? '>'
                                           : '<',
                         type[t].kind, type[t].size);
                npy_dict(&b, version, dict);
                for (int i = 0; i < 6; i++)
                    put_item(&b, type[t].kind, type[t].size, type[t].x[i], big);
                check_file(h, save("t.npy", &b), 2, 3, type[t].x);
            }
}

/* a[i][j][k] = 100 i + 10 j + k, 3 x 2 x 4, in both orders: the same 3 x 8 matrix. */
static void npy_orders_and_ranks(void **state)
{
    bdml_handle *h = *state;
    double x[24];
    bytes c = {0}, f = {0};
    npy_header(&c, "<f8", "False", "(3, 2, 4)");
    npy_header(&f, ">i4", "True", "(3, 2, 4)");
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 2; j++)
            for (int k = 0; k < 4; k++) {
                x[(i * 2 + j) * 4 + k] = 100 * i + 10 * j + k;
                put_double(&c, 100 * i + 10 * j + k, false);
            }
    for (int k = 0; k < 4; k++)
        for (int j = 0; j < 2; j++)
            for (int i = 0; i < 3; i++) put_int(&f, (uint64_t)(100 * i + 10 * j + k), 4, true);
    check_file(h, save("c.npy", &c), 3, 8, x);
    check_file(h, save("f.npy", &f), 3, 8, x);
    bytes one = npy_doubles("(24,)", 24, x), wide = npy_doubles("(1, 24)", 24, x);
    check_file(h, save("one.npy", &one), 24, 1, x);
    check_file(h, save("wide.npy", &wide), 1, 24, x);
}

/* Larger than the tiles of the transposition, and no multiple of them. */
static void npy_large_fortran(void **state)
{
    bdml_handle *h = *state;
    enum { N = 150, D = 71 };
    double *x = malloc(sizeof *x * N * D);
    bytes b = {0};
    assert_non_null(x);
    npy_header(&b, "<u2", "True", "(150, 71)");
    for (int j = 0; j < D; j++)
        for (int i = 0; i < N; i++) {
            x[i * D + j] = 400 * j + i;
            put_int(&b, (uint64_t)(400 * j + i), 2, false);
        }
    check_file(h, save("large.npy", &b), N, D, x);
    free(x);
}

static void npy_header_variants(void **state)
{
    bdml_handle *h = *state;
    const double x[2] = {1.5, -2};
    static const char *const good[] = {
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 1), }",
        "{'shape':(2,1),'descr':'<f8','fortran_order':False}",
        "  {  \"descr\" : \"<f8\" , \"fortran_order\" : True , \"shape\" : ( 2 , 1 , ) }  ",
        "{'descr': '=f8', 'fortran_order': False, 'shape': (2L, 1L), }",
        "{'descr': '<f8',\n 'fortran_order': False,\n 'shape': (2,)}"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        bytes b = {0};
        npy_dict(&b, 1, good[i]);
        put_double(&b, x[0], false);
        put_double(&b, x[1], false);
        check_file(h, save("v.npy", &b), 2, 1, x);
    }
}

/* Blocks of 7 rows, rows longer than the decoder's chunk, and a pipe. */
static void npy_streams(void **state)
{
    bdml_handle *h = *state;
    enum { N = 100, D = 9001 };
    double *x = malloc(sizeof *x * N * D);
    assert_non_null(x);
    for (int i = 0; i < N * D; i++) x[i] = i * 0.25;
    bytes b = npy_doubles("(100, 9001)", (size_t)N * D, x);
    const char *path = save("s.npy", &b);
    bdml_source *s;
    bdml_block block;
    int64_t row = 0;
    check_ok(h, bdml_source_open(h, &h->options.input, path, NULL, &s));
    assert_int_equal(s->rows, N);
    assert_int_equal(s->d, D);
    check_ok(h, bdml_block_init(h, 7, D, &block));
    for (;;) {
        check_ok(h, bdml_source_next(h, s, &block));
        if (block.n == 0) break;
        check_true(block.n == 7 || row + block.n == N);
        for (int64_t i = 0; i < block.n; i++, row++) {
            assert_int_equal(block.line[i], row + 1);
            assert_memory_equal(block.x + i * D, x + row * D, sizeof *x * D);
        }
    }
    assert_int_equal(row, N);
    bdml_block_free(&block);
    bdml_source_close(s);
    bdml_dataset *data;
    check_ok(h, read_piped(h, path, &data));
    check_rows(data, N, D, x);
    bdml_free_dataset(data);
    free(x);
}

/* A pipe that announces a petabyte in one row: refused without asking for the memory. */
static void npy_claims_are_not_believed(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data;
    bytes b = {0}, f = {0};
    npy_header(&b, "<f8", "False", "(65536, 2147483647)");
    put_double(&b, 1, false);
    check_fails(h, read_piped(h, save("huge.npy", &b), &data), BDML_ERR_FORMAT,
                "announces 1125899906318336 bytes of data, file holds 8");
    npy_header(&f, "<f8", "True", "(65536, 2147483647)");
    put_double(&f, 1, false);
    check_fails(h, read_piped(h, save("hugef.npy", &f), &data), BDML_ERR_FORMAT,
                "announces 1125899906318336 bytes of data, file holds 8");
}

static void labels_file_is_read(void **state)
{
    bdml_handle *h = *state;
    char path[512], labels[512];
    bytes x = npy_doubles("(3, 2)", 6, SIX), y;
    snprintf(path, sizeof path, "%s", save("x.npy", &x));
    snprintf(labels, sizeof labels, "%s", in_folder("l"));
    check_ok(h, bdml_set(h, "labels-file", labels));
    struct {
        const char *descr, *shape, *name[3];
        int kind; /* what is written: 0 int16, 1 double, 2 bool, 3 UTF-32, 4 bytes, 5 uint64 */
        bool big;
    } t[] = {{"<i2", "(3,)", {"-7", "300", "-7"}, 0, false},
             {">i2", "(1, 3)", {"-7", "300", "-7"}, 0, true},
             {"<f8", "(3, 1)", {"0.5", "2", "0"}, 1, false},
             {"|b1", "(3,)", {"1", "0", "1"}, 2, false},
             {"<U3", "(3,)", {"cat", "dog", "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"}, 3, false},
             {">U3", "(3,)", {"cat", "dog", "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"}, 3, true},
             {"|S4", "(3,)", {"cat", "bird", "cat"}, 4, false},
             {"<u8", "(3,)", {"18446744073709551615", "1", "1"}, 5, false}};
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        static const uint32_t utf[9] = {'c', 'a', 't', 'd', 'o', 'g', 0xE9, 0x20AC, 0x1F600};
        y = (bytes){0};
        npy_header(&y, t[i].descr, "False", t[i].shape);
        if (t[i].kind == 0)
            for (int k = 0; k < 3; k++)
                put_int(&y, (uint64_t)(int64_t)(k == 1 ? 300 : -7), 2, t[i].big);
        if (t[i].kind == 1) put_double(&y, 0.5, 0), put_double(&y, 2, 0), put_double(&y, -0.0, 0);
        if (t[i].kind == 2) put(&y, "\1\0\1", 3);
        if (t[i].kind == 3)
            for (int k = 0; k < 9; k++) put_int(&y, utf[k], 4, t[i].big);
        if (t[i].kind == 4) put(&y, "cat\0birdcat", 12);
        if (t[i].kind == 5)
            put_int(&y, UINT64_MAX, 8, 0), put_int(&y, 1, 8, 0), put_int(&y, 1, 8, 0);
        save("l", &y);
        bdml_dataset *data = read_ok(h, path);
        check_rows(data, 3, 2, SIX);
        check_labels(data, t[i].name);
        bdml_free_dataset(data);
    }
    /* IDX labels, gzipped */
    y = (bytes){0};
    idx_header(&y, 0x08, 1, (const uint32_t[]){3});
    put(&y, "\5\7\5", 3);
    save_gzip("l", &y);
    bdml_dataset *data = read_ok(h, path);
    check_labels(data, (const char *const[]){"5", "7", "5"});
    bdml_free_dataset(data);
    /* a header says how many rows there are: known before the first is read */
    y = (bytes){0};
    idx_header(&y, 0x08, 1, (const uint32_t[]){2});
    put(&y, "\5\7", 2);
    save("l", &y);
    check_refused(h, path, "x.npy holds 3 rows");
}

/* A column of the matrix may be the label, as in a CSV file; but only when asked for. */
static void labels_from_a_column(void **state)
{
    bdml_handle *h = *state;
    const double x[4] = {1, 3, 4, 6};
    char path[512];
    bytes b = npy_doubles("(2, 3)", 6, SIX);
    snprintf(path, sizeof path, "%s", save("column.npy", &b));
    check_file(h, path, 2, 3, SIX);
    check_ok(h, bdml_set(h, "label", "2"));
    bdml_dataset *data = read_ok(h, path);
    check_rows(data, 2, 2, x);
    check_labels(data, (const char *const[]){"2", "5"});
    bdml_free_dataset(data);
    check_ok(h, bdml_set(h, "columns", "3")); /* by its number in the file */
    data = read_ok(h, path);
    check_rows(data, 2, 1, (const double[]){3, 6});
    bdml_free_dataset(data);
    check_ok(h, bdml_set(h, "label", "3"));
    check_ok(h, bdml_set(h, "columns", "1"));
    data = read_ok(h, path);
    check_rows(data, 2, 1, (const double[]){1, 4});
    check_labels(data, (const char *const[]){"3", "6"});
    bdml_free_dataset(data);
    check_ok(h, bdml_set(h, "columns", ""));
    check_ok(h, bdml_set(h, "label", "last"));
    data = read_ok(h, path);
    check_rows(data, 2, 2, (const double[]){1, 2, 4, 5});
    check_labels(data, (const char *const[]){"3", "6"});
    bdml_free_dataset(data);
    check_ok(h, bdml_set(h, "label", "4"));
    check_refused(h, path, "label column 4 is not among the 3 columns");
    check_ok(h, bdml_set(h, "label", "species"));
    check_refused(h, path, "no column is called 'species'");
}

/* ---- NPZ ------------------------------------------------------------------------------------------ */

static bytes npy_words(const char *a, const char *b, const char *c)
{
    bytes out = {0};
    const char *word[] = {a, b, c};
    npy_header(&out, "|S8", "False", "(3,)");
    for (int i = 0; i < 3; i++) {
        char item[8] = "";
        memcpy(item, word[i], strlen(word[i]));
        put(&out, item, 8);
    }
    return out;
}

static void npz_chooses_variables(void **state)
{
    bdml_handle *h = *state;
    const double other[6] = {9, 8, 7, 6, 5, 4};
    static const char *const y[] = {"b", "a", "b"}, *const gnd[] = {"p", "q", "r"};
    member m[] = {{"gnd.npy", npy_words("p", "q", "r")},
                  {"other.npy", npy_doubles("(3, 2)", 6, other)},
                  {"X.npy", npy_doubles("(3, 2)", 6, SIX)},
                  {"notes.txt", {0}},
                  {"y.npy", npy_words("b", "a", "b")}};
    put_text(&m[3].content, "hello");
    char path[512];
    snprintf(path, sizeof path, "%s", save_zip("a.npz", ZIP_CM_DEFLATE, 5, m));
    bdml_dataset *data = read_ok(h, path);
    check_rows(data, 3, 2, SIX);
    check_labels(data, y);
    bdml_free_dataset(data);
    check_ok(h, read_piped(h, path, &data));
    check_rows(data, 3, 2, SIX);
    check_labels(data, y);
    bdml_free_dataset(data);
    bytes packed = load(path);
    data = read_ok(h, save_gzip("a.npz.gz", &packed));
    check_rows(data, 3, 2, SIX);
    check_labels(data, y);
    bdml_free_dataset(data);
    check_ok(h, bdml_set(h, "variable", "other"));
    check_ok(h, bdml_set(h, "label-variable", "gnd"));
    data = read_ok(h, path);
    check_rows(data, 3, 2, other);
    check_labels(data, gnd);
    bdml_free_dataset(data);
    check_ok(h, bdml_set(h, "label-variable", "none"));
    data = read_ok(h, path);
    assert_null(bdml_dataset_labels(data));
    bdml_free_dataset(data);
    check_ok(h, bdml_set(h, "label-variable", "nope"));
    check_refused(
        h, path,
        "no variable 'nope' for the labels; the file holds gnd (3, text), other (3 x 2), X");
    check_ok(h, bdml_set(h, "variable", "nada"));
    check_refused(h, path, "no variable 'nada'; the file holds gnd (3, text), other (3 x 2)");
}

/* As scikit-learn's bunches are saved, and others: names in any case, labels by their length. */
/* A member in Fortran order, and labels, are unpacked as a whole before there is a row: the clock and the user are asked in it. */
static void npz_is_stopped_within_a_member(void **state)
{
    enum { ROWS = 3 << 19, EACH = 8 * 2 * ROWS, ASKED = EACH >> 22 };
    bdml_handle *h = *state;
    bdml_dataset *data;
    bdml_source *s;
    asking a = {.h = h};
    member m[] = {{"X.npy", {0}}};
    char path[512], *zeros = calloc(EACH, 1);
    npy_header(&m[0].content, "<f8", "True", "(1572864, 2)");
    put(&m[0].content, zeros, EACH);
    snprintf(path, sizeof path, "%s", save_zip("f.npz", ZIP_CM_DEFLATE, 1, m));
    bdml_set_progress(h, ask, &a);
    check_ok(h, bdml_source_open(h, &h->options.input, path, NULL, &s)); /* it is unpacked here */
    bdml_source_close(s);
    check_true(a.calls >= ASKED);
    int calls = a.calls;
    for (int k = 1; k <= calls; k++) {
        a = (asking){.h = h, .stop_at = k};
        check_fails(h, bdml_read_dataset(h, path, &data), BDML_ERR_CANCELLED,
                    "stopped on request during: reading");
    }
    bdml_set_progress(h, NULL, NULL);
    free(zeros);
}

static void npz_finds_by_name_and_shape(void **state)
{
    bdml_handle *h = *state;
    static const char *const y[] = {"b", "a", "b"};
    const double two[2] = {1, 2};
    static const char *const names[][2] = {{"data.npy", "target.npy"},
                                           {"x.npy", "labels.npy"},
                                           {"Features.npy", "Class.npy"},
                                           {"X_train.npy", "Y_train.npy"},
                                           {"wine.npy", "kind.npy"}}; /* by shape alone */
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        member m[] = {{"target_names.npy", npy_doubles("(2,)", 2, two)},
                      {names[k][1], npy_words("b", "a", "b")},
                      {names[k][0], npy_doubles("(3, 2)", 6, SIX)}};
        bdml_dataset *data = read_ok(h, save_zip("n.npz", ZIP_CM_STORE, 3, m));
        check_rows(data, 3, 2, SIX);
        check_labels(data, y);
        bdml_free_dataset(data);
    }
    member m[] = {{"X.npy", npy_doubles("(2, 3)", 6, SIX)}, {"y.npy", npy_words("b", "a", "b")}};
    check_refused(h, save_zip("t.npz", ZIP_CM_STORE, 2, m),
                  "X has 2 rows but y has 3 labels: a point is a row here; save the transpose");
}

static void foreign_files_get_advice(void **state)
{
    bdml_handle *h = *state;
    static const struct {
        const char *name, *begins, *says;
    } file[] = {{"a.xlsx", "PK\3\4", "an Excel workbook, which bdml does not read; save it as CSV"},
                {"a.parquet", "PAR1", "pandas.read_parquet"},
                {"a.pkl", "\x80\x04", "numpy.savez"},
                {"a.dat", "\x80\x04\x95", "a Python pickle"},
                {"a.h5", "\x89HDF\r\n\x1a\n", "an HDF5 file"},
                {"a.json", "[{}]", "pandas.read_json"}};
    for (size_t k = 0; k < sizeof file / sizeof *file; k++) {
        bytes content = {0};
        put_text(&content, file[k].begins);
        check_refused(h, save(file[k].name, &content), file[k].says);
    }
}

static void npz_takes_the_only_matrix(void **state)
{
    bdml_handle *h = *state;
    bytes f = {0};
    npy_header(&f, "<f8", "True", "(3, 2)");
    for (int j = 0; j < 2; j++)
        for (int i = 0; i < 3; i++) put_double(&f, SIX[2 * i + j], false);
    member m[] = {{"w.npy", npy_doubles("(6,)", 6, SIX)}, {"q.npy", f}};
    check_file(h, save_zip("b.npz", ZIP_CM_STORE, 2, m), 3, 2, SIX);
    member two[] = {{"p.npy", npy_doubles("(3, 2)", 6, SIX)},
                    {"q.npy", npy_doubles("(2, 3)", 6, SIX)}};
    check_refused(h, save_zip("c.npz", ZIP_CM_STORE, 2, two), "more than one matrix");
}

/* ---- the NPY writer ---------------------------------------------------------------------------------- */

static void npy_writer_gives_these_bytes(void **state)
{
    bdml_handle *h = *state;
    const char *path = in_folder("w.npy");
    check_ok(h, bdml_write_npy_matrix(h, path, 3, 2, SIX));
    bytes got = load(path), want = npy_doubles("(3, 2)", 6, SIX);
    assert_int_equal(got.n, want.n);
    assert_int_equal((got.n - 48) % 64, 0); /* the data begin at a multiple of 64 */
    assert_memory_equal(got.b, want.b, want.n);
    drop(&got);
    drop(&want);
    check_fails(h, bdml_write_npy_matrix(h, NULL, 3, 2, SIX), BDML_ERR_ARGUMENT, "path");
    check_fails(h, bdml_write_npy_matrix(h, path, -1, 2, SIX), BDML_ERR_ARGUMENT, "sizes");
}

/* In blocks, the number of rows told or not, as doubles or singles: the bytes of the whole matrix. */
static void npy_writer_takes_rows(void **state)
{
    bdml_handle *h = *state;
    static const char *const descr[] = {"'<f8'", "'<f4'"};
    char path[512];
    snprintf(path, sizeof path, "%s", in_folder("rows.npy"));
    for (int t = 0; t < 4; t++) {
        bool told = t % 2, single = t / 2;
        bdml_npy *f;
        check_ok(h, bdml_npy_create(h, path, told ? 3 : -1, 2, single, &f));
        check_ok(h, bdml_npy_write(h, f, 1, SIX));
        check_ok(h, bdml_npy_write(h, f, 0, SIX));
        check_ok(h, bdml_npy_write(h, f, 2, SIX + 2));
        check_ok(h, bdml_npy_commit(h, f, NULL, 0, NULL));
        bytes b = load(path);
        assert_int_equal(b.n, 128 + 6 * (single ? 4 : 8));
        check_true(memmem(b.b, b.n, descr[single], 5) && memmem(b.b, b.n, "(3, 2)", 6));
        drop(&b);
        bdml_dataset *data = read_ok(h, path);
        check_rows(data, 3, 2, SIX);
        bdml_free_dataset(data);
    }
}

/* What single precision cannot hold is refused, and the old file stays; a device has no start to go back to. */
static void npy_writer_refuses(void **state)
{
    bdml_handle *h = *state;
    static const double large[] = {1e300};
    char path[512];
    bdml_npy *f;
    snprintf(path, sizeof path, "%s", in_folder("large.npy"));
    check_ok(h, bdml_write_npy_matrix(h, path, 3, 2, SIX));
    check_ok(h, bdml_npy_create(h, path, 1, 1, 1, &f));
    check_fails(h, bdml_npy_write(h, f, 1, large), BDML_ERR_DATA, "float32");
    bdml_npy_discard(f);
    bytes got = load(path);
    assert_int_equal(got.n, 128 + sizeof SIX);
    drop(&got);
    check_ok(h, bdml_npy_create(h, "/dev/null", -1, 1, 0, &f));
    check_ok(h, bdml_npy_write(h, f, 1, SIX));
    check_fails(h, bdml_npy_commit(h, f, NULL, 0, NULL), BDML_ERR_IO, "regular file");
    check_fails(h, bdml_npy_create(h, NULL, 1, 1, 0, &f), BDML_ERR_ARGUMENT, "path");
}

static void npy_writer_keeps_labels(void **state)
{
    bdml_handle *h = *state;
    static const char *const text[] = {
        "f1,class\n1,3\n2,-1\n3,3\n",
        "f1,class\n1,caf\xC3\xA9\n2,\xF0\x9F\x98\x80 b\n3,caf\xC3\xA9\n"};
    static const char *const name[2][3] = {{"3", "-1", "3"},
                                           {"caf\xC3\xA9", "\xF0\x9F\x98\x80 b", "caf\xC3\xA9"}};
    static const char *const descr[] = {"'<i8'", "'<U4'"};
    for (int i = 0; i < 2; i++) {
        bdml_dataset *data = read_ok(h, save_text("l.csv", text[i]));
        char path[512];
        snprintf(path, sizeof path, "%s", in_folder("l.npy"));
        check_ok(h, bdml_write_dataset(h, data, path));
        bdml_free_dataset(data);
        bytes b = load(in_folder("l.labels.npy"));
        check_true(memmem(b.b, b.n, descr[i], strlen(descr[i])) != NULL);
        drop(&b);
        check_ok(h, bdml_set(h, "labels-file", in_folder("l.labels.npy")));
        data = read_ok(h, path);
        check_rows(data, 3, 1, SIX);
        check_labels(data, name[i]);
        bdml_free_dataset(data);
        check_ok(h, bdml_set(h, "labels-file", ""));
    }
}

/* Labels of an earlier file beside one without labels: said, for the reader will take them. */
static void npy_writer_warns_of_old_labels(void **state)
{
    bdml_handle *h = *state;
    char log[1024] = "";
    bdml_dataset *data;
    bdml_set_log(h, keep_log, log);
    save_text("old.labels.npy", "");
    check_ok(h, bdml_dataset_from_arrays(h, 3, 2, SIX, 2, NULL, &data));
    check_ok(h, bdml_write_dataset(h, data, in_folder("old.npy")));
    check_true(strstr(log, "old.labels.npy is there") != NULL);
    bdml_free_dataset(data);
}

/* Whichever write or allocation fails, neither file appears. */
static void npy_writer_leaves_nothing_half_done(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = read_ok(h, save_text("n.csv", "a,class\n1,u\n2,v\n3,u\n"));
    const char *path = in_folder("half.npy"), *labels = in_folder("half.labels.npy");
    for (int fault = 0; fault < 2; fault++)
        for (int64_t k = 1;; k++) {
            *(fault ? &h->fail_alloc : &h->fail_write) = k;
            bdml_status status = bdml_write_dataset(h, data, path);
            h->fail_alloc = h->fail_write = 0;
            if (status == BDML_OK) {
                assert_true(k > 3);
                assert_int_equal(unlink(path), 0);
                assert_int_equal(unlink(labels), 0);
                break;
            }
            assert_int_equal(status, fault ? BDML_ERR_MEMORY : BDML_ERR_IO);
            assert_int_equal(access(path, F_OK), -1);
            assert_int_equal(access(labels, F_OK), -1);
        }
    bdml_free_dataset(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(npy_reads_every_type),
        handle_test(npy_orders_and_ranks),
        handle_test(npy_large_fortran),
        handle_test(npy_header_variants),
        handle_test(npy_streams),
        handle_test(npy_claims_are_not_believed),
        handle_test(labels_file_is_read),
        handle_test(labels_from_a_column),
        handle_test(npz_chooses_variables),
        handle_test(npz_is_stopped_within_a_member),
        handle_test(npz_finds_by_name_and_shape),
        handle_test(foreign_files_get_advice),
        handle_test(npz_takes_the_only_matrix),
        handle_test(npy_writer_gives_these_bytes),
        handle_test(npy_writer_takes_rows),
        handle_test(npy_writer_refuses),
        handle_test(npy_writer_keeps_labels),
        handle_test(npy_writer_warns_of_old_labels),
        handle_test(npy_writer_leaves_nothing_half_done),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
