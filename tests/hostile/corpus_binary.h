/* corpus_binary.h - bad NPY, NPZ, MAT and IDX files: damaged, cut, lying about their sizes. */
#ifndef BDML_TESTS_CORPUS_BINARY_H
#define BDML_TESTS_CORPUS_BINARY_H

#include "corpus.h"

static const double NUMBERS[6] = {1, 2, 3, 4, 5, 6};

static inline void bad_npy(const char *name, const char *dict, bdml_status status,
                           const char *fragment)
{
    bytes b = {0};
    npy_dict(&b, 1, dict);
    for (int i = 0; i < 6; i++) put_double(&b, NUMBERS[i], false);
    expect(save(name, &b), status, fragment);
}
static inline void bad_type(const char *name, const char *descr, const char *fragment)
{
    bytes b = {0};
    npy_header(&b, descr, "False", "(3, 2)");
    for (int i = 0; i < 24; i++) put_double(&b, 1, false);
    expect(save(name, &b), FORMAT, fragment);
}

static inline void build_npy_headers(void)
{
#define GOOD "'descr': '<f8', 'fortran_order': False, "
    bad_npy("h-empty.npy", "", FORMAT, "ends where '{' was expected");
    bad_npy("h-list.npy", "[1, 2]", FORMAT, "'[' where '{' was expected");
    bad_npy("h-open.npy", "{" GOOD "'shape': (3, 2)", FORMAT, "',' or '}'");
    bad_npy("h-no-shape.npy", "{" GOOD "}", FORMAT, "lacks the key 'shape'");
    bad_npy("h-no-descr.npy", "{'fortran_order': False, 'shape': (3, 2)}", FORMAT,
            "lacks the key 'descr'");
    bad_npy("h-twice.npy", "{" GOOD "'shape': (3, 2), 'shape': (3, 2)}", FORMAT, "stands twice");
    bad_npy("h-extra.npy", "{" GOOD "'shape': (3, 2), 'evil': 1}", FORMAT,
            "key 'evil' is not one of");
    bad_npy("h-call.npy", "{" GOOD "'shape': exit(3)}", FORMAT, "'e' where '(' of the shape");
    bad_npy("h-negative.npy", "{" GOOD "'shape': (-3, 2)}", FORMAT, "negative size");
    bad_npy("h-float.npy", "{" GOOD "'shape': (3.0, 2)}", FORMAT, "'.' where ',' or ')'");
    bad_npy("h-digits.npy", "{" GOOD "'shape': (99999999999999999999, 2)}", FORMAT,
            "does not fit 64 bits");
    bad_npy("h-product.npy", "{" GOOD "'shape': (4611686018427387904, 4)}", FORMAT,
            "more than memory can address");
    bad_npy("h-rank.npy",
            "{" GOOD
            "'shape': (1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)}",
            FORMAT, "more than 32 dimensions");
    bad_npy("h-scalar.npy", "{" GOOD "'shape': ()}", DATA, "single number");
    bad_npy("h-no-rows.npy", "{" GOOD "'shape': (0, 2)}", DATA, "0 rows of 2 columns");
    bad_npy("h-no-columns.npy", "{" GOOD "'shape': (3, 0)}", DATA, "3 rows of 0 columns");
    bad_npy("h-bool.npy", "{'descr': '<f8', 'fortran_order': 0, 'shape': (3, 2)}", FORMAT,
            "True or False");
    bad_npy("h-tail.npy", "{" GOOD "'shape': (3, 2)} + 1", FORMAT,
            "'+' where the end of the header");
    bad_npy("h-quote.npy", "{'descr': '<f8, 'fortran_order': False}", FORMAT,
            "'f' where ',' or '}'");
    bad_npy("h-control.npy", "{'descr\x01': '<f8'}", FORMAT, "byte 0x01 where the end of a text");
    bad_npy("h-records.npy", "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (3,)}",
            FORMAT, "structured dtype");
    bad_type("t-object.npy", "|O", "python objects");
    bad_type("t-text.npy", "<U8", "is text, not numbers");
    bad_type("t-complex.npy", "<c16", "complex numbers");
    bad_type("t-date.npy", "<M8", "dates or durations");
    bad_type("t-half.npy", "<f2", "is not one of f4 f8");
    bad_type("t-order.npy", "|f8", "byte order");
    bad_type("t-junk.npy", "banana", "not a type of numbers");
    bad_type("t-none.npy", "", "dtype ''");
#undef GOOD
}

static inline void build_npy_bytes(void)
{
    bytes b = npy_doubles("(3, 2)", 6, NUMBERS);
    b.n -= 1;
    expect(save("short.npy", &b), FORMAT, "announces 48 bytes of data, file holds 47");
    b = npy_doubles("(3, 2)", 0, NUMBERS);
    expect(save("no-data.npy", &b), FORMAT, "announces 48 bytes of data, file holds 0");
    b = npy_doubles("(3000000000, 2)", 6, NUMBERS);
    expect(save("liar.npy", &b), FORMAT, "announces 48000000000 bytes of data, file holds 48");
    b = npy_doubles("(3000000001, 2)", 6, NUMBERS);
    expect(save_gzip("liar.npy.gz", &b), FORMAT,
           "announces 48000000016 bytes of data, file holds 48");
    b = npy_doubles("(3, 2)", 6, NUMBERS);
    put_byte(&b, 0);
    expect(save("long.npy", &b), FORMAT, "more than the 48 bytes");
    b = npy_doubles("(3, 2)", 6, NUMBERS);
    b.n = 7;
    expect(save("magic-only.npy", &b), FORMAT, "ends inside its first 8 bytes");
    b = npy_doubles("(3, 2)", 6, NUMBERS);
    b.n = 9;
    expect(save("length-cut.npy", &b), FORMAT, "inside the length of its header");
    b = npy_doubles("(3, 2)", 6, NUMBERS);
    b.n = 60;
    expect(save("header-cut.npy", &b), FORMAT, "announces a header of 118 bytes, file holds 50");
    b = npy_doubles("(3, 2)", 6, NUMBERS);
    b.b[6] = 9;
    expect(save("version.npy", &b), FORMAT, "NPY version 9.0");
    npy_dict(&b, 2, "{}");
    memcpy(b.b + 8, "\xFF\xFF\xFF\xFF", 4);
    expect(save("huge-header.npy", &b), FORMAT, "header of 4294967295 bytes");
    const double bad_values[4] = {1, NAN, 3, 4}, infinite[4] = {1, 2, -INFINITY, 4};
    b = npy_doubles("(2, 2)", 4, bad_values);
    expect(save("nan.npy", &b), DATA, "row 1, column 2");
    b = npy_doubles("(2, 2)", 4, infinite);
    expect(save("inf.npy", &b), DATA, "row 2, column 1");
    npy_header(&b, "<f8", "True", "(3, 2)");
    put_double(&b, 1, false);
    expect(save("short-fortran.npy", &b), FORMAT, "announces 48 bytes of data, file holds 8");
    with(expect_text("not.npy", "1,2\n3,4\n", FORMAT, "does not begin with \\x93NUMPY"),
         "format=npy");
}

static inline void build_npy_labels(void)
{
    static char setting[4][600];
    static const char *const name[] = {"l-few.npy", "l-square.npy", "l-inf.npy", "l-surrogate.npy"};
    static const char *const fragment[] = {"holds 2 labels, but", "labels must be a vector",
                                           "label 2 is infinite", "label 1 is not valid text"};
    static const char *const data[] = {"few.npy", "square.npy", "infinite.npy", "surrogate.npy"};
    const double infinite[3] = {1, INFINITY, 2};
    for (int i = 0; i < 4; i++) {
        bytes y = {0};
        if (i == 0) y = npy_doubles("(2,)", 2, NUMBERS);
        if (i == 1) y = npy_doubles("(3, 2)", 6, NUMBERS);
        if (i == 2) y = npy_doubles("(3,)", 3, infinite);
        if (i == 3) {
            npy_header(&y, "<U1", "False", "(3,)");
            for (int k = 0; k < 3; k++) put_int(&y, 0xD800, 4, false);
        }
        snprintf(setting[i], sizeof setting[i], "labels-file=%s", save(name[i], &y));
        y = npy_doubles("(3, 2)", 6, NUMBERS);
        with(expect(save(data[i], &y), DATA, fragment[i]), setting[i]);
    }
}

/* A good archive of X and y, to be damaged. */
static inline bytes good_zip(int method)
{
    member m[] = {{"X.npy", npy_doubles("(3, 2)", 6, NUMBERS)},
                  {"y.npy", npy_doubles("(3,)", 3, NUMBERS)}};
    return load(save_zip("good.zip", method, 2, m));
}

static inline void build_npz(void)
{
    bytes b = good_zip(ZIP_CM_STORE);
    b.n /= 2;
    expect(save("half.npz", &b), FORMAT, "not a zip archive, or truncated");
    b = good_zip(ZIP_CM_STORE);
    b.b[find_record(&b, "PK\3\4", 0) + 35 + 128 + 20] ^= 1; /* a digit of a number of X */
    expect(save("crc.npz", &b), FORMAT, "X: the checksum (CRC) is wrong");
    b = good_zip(ZIP_CM_DEFLATE);
    b.b[find_record(&b, "PK\3\4", 0) + 35] |= 6; /* a block of a kind that does not exist */
    expect(save("deflate.npz", &b), FORMAT, "X: damaged zip archive: Zlib error");
    b = good_zip(ZIP_CM_STORE);
    for (int k = 0; k < 2; k++) {
        b.b[find_record(&b, "PK\1\2", k) + 8] |= 1;
        b.b[find_record(&b, "PK\3\4", k) + 6] |= 1;
    }
    expect(save("encrypted.npz", &b), FORMAT, "is encrypted");
    b = good_zip(ZIP_CM_DEFLATE);
    memcpy(b.b + find_record(&b, "PK\1\2", 0) + 24, "\xFF\xFF\xFF\x7F", 4);
    memcpy(b.b + find_record(&b, "PK\3\4", 0) + 22, "\xFF\xFF\xFF\x7F", 4);
    expect(save("directory-lies.npz", &b), FORMAT, "directory 2147483647");
    b = good_zip(ZIP_CM_DEFLATE);
    b.b[find_record(&b, "PK\1\2", 0) + 10] = 97;
    b.b[find_record(&b, "PK\3\4", 0) + 8] = 97;
    expect(save("method.npz", &b), FORMAT, "ompression method");
    member liar[] = {{"X.npy", npy_doubles("(1000000, 1000000)", 6, NUMBERS)}};
    expect(save_zip("header-lies.npz", ZIP_CM_DEFLATE, 1, liar), FORMAT,
           "announces 8000000000128 bytes");
    member bomb[] = {{"X.npy", npy_doubles("(3, 2)", 6, NUMBERS)}};
    for (int i = 0; i < 1 << 20; i++) put_byte(&bomb[0].content, 0);
    b = load(save_zip("bomb.zip", ZIP_CM_DEFLATE, 1, bomb));
    memcpy(b.b + find_record(&b, "PK\1\2", 0) + 24, "\xB0\0\0\0", 4); /* 176: as its header says */
    memcpy(b.b + find_record(&b, "PK\3\4", 0) + 22, "\xB0\0\0\0", 4);
    expect(save("bomb.npz", &b), FORMAT, "X: holds more than the 48 bytes of data");
    member none[] = {{"readme.txt", {0}}};
    put_text(&none[0].content, "hello");
    expect(save_zip("no-arrays.npz", ZIP_CM_STORE, 1, none), DATA, "no NPY arrays");
    member few[] = {{"X.npy", npy_doubles("(3, 2)", 6, NUMBERS)},
                    {"y.npy", npy_doubles("(2,)", 2, NUMBERS)}};
    expect(save_zip("few-labels.npz", ZIP_CM_STORE, 2, few), DATA,
           "X has 3 rows but y has 2 labels");
    member vectors[] = {{"a.npy", npy_doubles("(6,)", 6, NUMBERS)},
                        {"b.npy", npy_doubles("(2,)", 2, NUMBERS)}};
    expect(save_zip("vectors.npz", ZIP_CM_STORE, 2, vectors), DATA,
           "the file holds a (6), b (2): say");
    member two[] = {{"a.npy", npy_doubles("(3, 2)", 6, NUMBERS)},
                    {"b.npy", npy_doubles("(2, 3)", 6, NUMBERS)}};
    expect(save_zip("two.npz", ZIP_CM_STORE, 2, two), DATA,
           "more than one matrix of numbers; the file holds a (3 x 2), b");
    member text[] = {{"X.npy", {0}}};
    put_text(&text[0].content, "this is not an array");
    expect(save_zip("not-npy.npz", ZIP_CM_STORE, 1, text), FORMAT, "X: not an NPY file");
    b = good_zip(ZIP_CM_STORE);
    with(expect(save("asked.npz", &b), DATA, "no variable 'Z'; the file holds X (3 x 2), y (3)"),
         "variable=Z");
    b = good_zip(ZIP_CM_STORE);
    with(expect(save("asked-label.npz", &b), DATA, "no variable 'Z' for the labels"),
         "label-variable=Z");
    member name[] = {{"a\nb\x1B[2J.npy", npy_doubles("(6,)", 6, NUMBERS)}};
    expect(save_zip("terminal.npz", ZIP_CM_STORE, 1, name), DATA, "the file holds a");
}

/* A good file of X (and y), to be damaged. X begins at byte 128, its flags at 136, sizes at 152. */
static inline bytes good_mat(bool packed)
{
    bytes f = {0}, x = mat_doubles("X", 3, 2, NUMBERS, false);
    mat_header(&f, 0x0100, false);
    if (packed)
        mat_add_compressed(&f, &x);
    else
        mat_add(&f, &x, false);
    return f;
}
static inline void bad_mat(const char *name, size_t at, const char *patch, size_t n,
                           const char *fragment)
{
    bytes b = good_mat(false);
    memcpy(b.b + at, patch, n);
    expect(save(name, &b), FORMAT, fragment);
}

static inline void build_mat_damage(void)
{
    bytes b = good_mat(false);
    b.n -= 8;
    expect(save("cut.mat", &b), FORMAT, "announces 104 bytes, file holds 96");
    b = good_mat(false);
    put_int(&b, 14, 4, false);
    expect(save("tag-cut.mat", &b), FORMAT, "inside the tag of a variable at byte 240");
    b = good_mat(false);
    b.n = 128;
    expect(save("nothing.mat", &b), DATA, "the file holds no variables");
    b = good_mat(false);
    b.n = 100;
    with(expect(save("header-cut.mat", &b), FORMAT, "100 bytes, its header alone has 128"),
         "format=mat");
    bad_mat("hdf5.mat", 124, "\0\2", 2, "v7.3 (HDF5)");
    bad_mat("version.mat", 124, "\0\7", 2, "MAT version 0x0700");
    bad_mat("element.mat", 128, "\x4D", 1, "element of type 77 at byte 128");
    bad_mat("flags.mat", 136, "\x09", 1, "flags are damaged");
    bad_mat("class.mat", 144, "\x63", 1, "of an unknown class, not a matrix");
    bad_mat("struct.mat", 144, "\x02", 1, "is a structure, not a matrix");
    bad_mat("complex.mat", 145, "\x08", 1, "complex numbers");
    bad_mat("sizes.mat", 152, "\x06", 1, "sizes are damaged");
    bad_mat("negative.mat", 160, "\xFF\xFF\xFF\xFF", 4, "negative size");
    bad_mat("more.mat", 160, "\x04", 1, "announce 8 numbers, it holds 6");
    bad_mat("huge.mat", 160, "\xFF\xFF\xFF\x7F\xFF\xFF\xFF\x7F", 8, "more than memory can address");
    bad_mat("zero.mat", 160, "\0", 1, "0 rows of 2 columns");
    corpus[corpus_size - 1].status = DATA;
    bad_mat("name.mat", 172, "\x7F", 1, "name is damaged");
    bad_mat("type.mat", 184, "\x63", 1, "type of its numbers is unknown");
    bad_mat("data-bytes.mat", 188, "\x31", 1, "announces more numbers than it holds");
    bad_mat("data-less.mat", 188, "\x28", 1, "announce 6 numbers, it holds 5");
    b = good_mat(true);
    b.b[139] ^= 0xFF;
    expect(save("packed-damage.mat", &b), FORMAT, "");
    b = good_mat(true);
    b.b[b.n - 1] ^= 1;
    expect(save("packed-sum.mat", &b), FORMAT, "checksum");
    b = good_mat(true);
    b.n -= 10;
    expect(save("packed-cut.mat", &b), FORMAT, "truncated?");
    with(expect_text("not.mat", "1,2\n3,4\n", FORMAT, "not a MAT v5 file"), "format=mat");
}

static inline void build_mat_content(void)
{
    bytes f = {0}, x = {0};
    const uint32_t big[2] = {1000000, 1000000}, three[2] = {3, 2};
    bytes jc = {0};
    for (int i = 0; i <= 1000000; i++) put_int(&jc, 0, 4, false);
    mat_header(&f, 0x0100, false);
    mat_start(&x, MX_SPARSE, 2, big, "X", false);
    mat_part(&x, MI_INT32, "", 0, false);
    mat_part(&x, MI_INT32, jc.b, jc.n, false);
    mat_part(&x, MI_DOUBLE, "", 0, false);
    drop(&jc);
    mat_add_compressed(&f, &x);
    expect(save("sparse-bomb.mat", &f), DATA, "would fill 7450.6 GiB with zeros");

    static const struct {
        const char *name, *fragment;
        uint32_t jc[3], ir[2];
    } sparse[] = {{"sparse-row.mat", "row index is out of range", {0, 1, 2}, {0, 3}},
                  {"sparse-order.mat", "do not ascend", {0, 2, 1}, {0, 1}},
                  {"sparse-far.mat", "lead beyond the numbers", {0, 1, 9}, {0, 1}}};
    for (int i = 0; i < 3; i++) {
        mat_header(&f, 0x0100, false);
        mat_start(&x, MX_SPARSE, 2, three, "X", false);
        mat_part(&x, MI_INT32, sparse[i].ir, 8, false);
        mat_part(&x, MI_INT32, sparse[i].jc, 12, false);
        mat_part(&x, MI_DOUBLE, NUMBERS, 16, false);
        mat_add(&f, &x, false);
        expect(save(sparse[i].name, &f), FORMAT, sparse[i].fragment);
    }
    f = good_mat(false);
    x = mat_doubles("y", 1, 4, NUMBERS, false);
    mat_add(&f, &x, false);
    expect(save("many-labels.mat", &f), DATA, "X has 3 rows but y has 4 labels");
    f = good_mat(false);
    x = mat_doubles("y", 3, 2, NUMBERS, false);
    mat_add(&f, &x, false);
    expect(save("square-labels.mat", &f), DATA, "labels must be a vector, this is 3 x 2");
    f = good_mat(false);
    mat_start(&x, MX_CELL, 2, (const uint32_t[]){3, 1}, "y", false);
    mat_add(&f, &x, false);
    expect(save("no-cells.mat", &f), FORMAT, "more cells than it holds");
    f = good_mat(false); /* a text of no characters whose part announces some */
    bytes cell = {0};
    mat_start(&x, MX_CELL, 2, (const uint32_t[]){1, 1}, "y", false);
    mat_start(&cell, MX_CHAR, 2, (const uint32_t[]){0, 0}, "", false);
    put_int(&cell, MI_UTF8, 4, false);
    put_int(&cell, 0x2B000800, 4, false);
    mat_add(&x, &cell, false);
    mat_add(&f, &x, false);
    expect(save("empty-cell.mat", &f), FORMAT, "more text than it holds");
    f = good_mat(false);
    with(expect(save("asked.mat", &f), DATA, "no variable 'Z'; the file holds X"), "variable=Z");
}

static inline void build_idx(void)
{
    bytes b = {0};
    idx_header(&b, 0x08, 2, (const uint32_t[]){3, 2});
    put(&b, "\1\2\3\4\5", 5);
    expect(save("short.idx", &b), FORMAT, "announces 6 bytes of data, file holds 5");
    idx_header(&b, 0x08, 2, (const uint32_t[]){3, 2});
    put(&b, "\1\2\3\4", 4);
    expect(save_gzip("short.idx.gz", &b), FORMAT, "announces 6 bytes of data, file holds 4");
    idx_header(&b, 0x08, 2, (const uint32_t[]){3, 2});
    put(&b, "\1\2\3\4\5\6\7", 7);
    expect(save("long.idx", &b), FORMAT, "more than the 6 bytes");
    idx_header(&b, 0x0A, 2, (const uint32_t[]){3, 2});
    with(expect(save("type.idx", &b), FORMAT, "IDX type 0x0a"), "format=idx");
    idx_header(&b, 0x08, 0, NULL);
    with(expect(save("rank.idx", &b), FORMAT, "0 dimensions"), "format=idx");
    idx_header(&b, 0x08, 3, (const uint32_t[]){1, 1, 1});
    b.n = 10;
    expect(save("sizes-cut.idx", &b), FORMAT, "inside its sizes");
    idx_header(&b, 0x0E, 4, (const uint32_t[]){UINT32_MAX, UINT32_MAX, UINT32_MAX, 1});
    expect(save("product.idx", &b), FORMAT, "more than memory can address");
    idx_header(&b, 0x08, 2, (const uint32_t[]){UINT32_MAX, 784});
    put(&b, "\1\2\3\4\5\6\7", 7);
    expect(save("liar.idx", &b), FORMAT, "announces 3367254359280 bytes of data, file holds 7");
    idx_header(&b, 0x08, 2, (const uint32_t[]){2, UINT32_MAX});
    put(&b, "\1", 1);
    expect(save_gzip("wide.idx.gz", &b), DATA, "4294967295 columns");
    idx_header(&b, 0x08, 2, (const uint32_t[]){0, 784});
    expect(save("empty.idx", &b), DATA, "0 rows of 784 columns");
    with(expect_text("not.idx", "12345", FORMAT, "not an IDX file"), "format=idx");
    idx_header(&b, 0x08, 2, (const uint32_t[]){3, 2});
    put(&b, "\1\2\3\4\5\6", 6);
    const char *path = save_gzip("cut.idx.gz", &b);
    b = load(path);
    b.n -= 9;
    expect(save("cut.idx.gz", &b), FORMAT, "gzip");
}

static inline void build_binary_corpus(void)
{
    build_npy_headers();
    build_npy_bytes();
    build_npy_labels();
    build_npz();
    build_mat_damage();
    build_mat_content();
    build_idx();
}

#endif
