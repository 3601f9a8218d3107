/* test_data_binary.c - MAT and IDX against files built byte by byte or written by matio; the same data
 * through every format; real files. */
#include "binary_files.h"

/* ---- MAT ------------------------------------------------------------------------------------------- */

static void mat_write(mat_t *mat, const char *name, enum matio_classes c, enum matio_types t,
                      size_t rows, size_t columns, const void *data, int flags, int packed)
{
    size_t dims[2] = {rows, columns};
    matvar_t *v = Mat_VarCreate(name, c, t, 2, dims, (void *)(uintptr_t)data, flags);
    assert_non_null(v);
    assert_int_equal(Mat_VarWrite(mat, v, packed ? MAT_COMPRESSION_ZLIB : MAT_COMPRESSION_NONE), 0);
    Mat_VarFree(v);
}

/* Every class, packed and not, written by matio, column-major 3 x 2. */
static void mat_reads_every_class(void **state)
{
    bdml_handle *h = *state;
    const double want[6] = {1, 4, 2, 5, 3, 6};
    const double f8[6] = {1, 2, 3, 4, 5, 6};
    const float f4[6] = {1, 2, 3, 4, 5, 6};
    const int8_t i1[6] = {1, 2, 3, 4, 5, 6};
    const int16_t i2[6] = {1, 2, 3, 4, 5, 6};
    const int32_t i4[6] = {1, 2, 3, 4, 5, 6};
    const int64_t i8[6] = {1, 2, 3, 4, 5, 6};
    const struct {
        enum matio_classes c;
        enum matio_types t;
        const void *data;
    } type[] = {{MAT_C_DOUBLE, MAT_T_DOUBLE, f8}, {MAT_C_SINGLE, MAT_T_SINGLE, f4},
                {MAT_C_INT8, MAT_T_INT8, i1},     {MAT_C_UINT8, MAT_T_UINT8, i1},
                {MAT_C_INT16, MAT_T_INT16, i2},   {MAT_C_UINT16, MAT_T_UINT16, i2},
                {MAT_C_INT32, MAT_T_INT32, i4},   {MAT_C_UINT32, MAT_T_UINT32, i4},
                {MAT_C_INT64, MAT_T_INT64, i8},   {MAT_C_UINT64, MAT_T_UINT64, i8}};
    for (size_t i = 0; i < sizeof type / sizeof *type; i++)
        for (int packed = 0; packed < 2; packed++) {
            const char *path = in_folder("m.mat");
            mat_t *mat = Mat_CreateVer(path, NULL, MAT_FT_MAT5);
            assert_non_null(mat);
            mat_write(mat, "before", MAT_C_DOUBLE, MAT_T_DOUBLE, 1, 6, f8, 0, packed);
            mat_write(mat, "X", type[i].c, type[i].t, 3, 2, type[i].data, 0, packed);
            mat_write(mat, "y", MAT_C_DOUBLE, MAT_T_DOUBLE, 1, 3, (const double[]){2, 1.5, 2}, 0,
                      packed);
            Mat_Close(mat);
            bdml_dataset *data = read_ok(h, path);
            check_rows(data, 3, 2, want);
            check_labels(data, (const char *const[]){"2", "1.5", "2"});
            bdml_free_dataset(data);
        }
}

static void mat_reads_sparse_and_logical(void **state)
{
    bdml_handle *h = *state;
    const char *path = in_folder("sparse.mat");
    mat_uint32_t ir[3] = {1, 0, 2}, jc[3] = {0, 1, 3};
    double value[3] = {5, -1, 0.5};
    mat_sparse_t s = {
        .nzmax = 3, .ir = ir, .nir = 3, .jc = jc, .njc = 3, .ndata = 3, .data = value};
    mat_t *mat = Mat_CreateVer(path, NULL, MAT_FT_MAT5);
    mat_write(mat, "data", MAT_C_SPARSE, MAT_T_DOUBLE, 3, 2, &s, MAT_F_DONT_COPY_DATA, 1);
    mat_write(mat, "labels", MAT_C_UINT8, MAT_T_UINT8, 3, 1, "\1\0\1", MAT_F_LOGICAL, 0);
    Mat_Close(mat);
    bdml_dataset *data = read_ok(h, path);
    check_rows(data, 3, 2, (const double[]){0, -1, 5, 0, 0, 0.5});
    check_labels(data, (const char *const[]){"1", "0", "1"});
    bdml_free_dataset(data);
}

static void mat_reads_text_labels(void **state)
{
    bdml_handle *h = *state;
    static const char *const name[] = {"cat", "ox", "cat"};
    for (int cells = 0; cells < 2; cells++) {
        const char *path = in_folder("text.mat");
        mat_t *mat = Mat_CreateVer(path, NULL, MAT_FT_MAT5);
        mat_write(mat, "fts", MAT_C_DOUBLE, MAT_T_DOUBLE, 3, 2, SIX, 0, 1);
        if (cells) {
            size_t dims[2] = {1, 3};
            matvar_t *v = Mat_VarCreate("gnd", MAT_C_CELL, MAT_T_CELL, 2, dims, NULL, 0);
            for (int i = 0; i < 3; i++) {
                size_t size[2] = {1, strlen(name[i])};
                Mat_VarSetCell(v, i,
                               Mat_VarCreate(NULL, MAT_C_CHAR, MAT_T_UTF8, 2, size,
                                             (void *)(uintptr_t)name[i], 0));
            }
            assert_int_equal(Mat_VarWrite(mat, v, MAT_COMPRESSION_NONE), 0);
            Mat_VarFree(v);
        } else {
            mat_write(mat, "gnd", MAT_C_CHAR, MAT_T_UTF8, 3, 3, "cocaxat t", 0, 1);
        }
        Mat_Close(mat);
        bdml_dataset *data;
        check_ok(h, read_piped(h, path, &data));
        check_rows(data, 3, 2, (const double[]){1, 4, 2, 5, 3, 6});
        check_labels(data, name);
        bdml_free_dataset(data);
    }
}

/* Built byte by byte: big-endian, packed, three dimensions, small elements, numbers stored narrower. */
static void mat_layouts(void **state)
{
    bdml_handle *h = *state;
    const double want[6] = {1, 4, 2, 5, 3, 6};
    bytes f = {0}, x = mat_doubles("X", 3, 2, SIX, true);
    mat_header(&f, 0x0100, true);
    mat_add(&f, &x, true);
    check_file(h, save("big.mat", &f), 3, 2, want);

    x = mat_doubles("only", 3, 2, SIX, false);
    mat_header(&f, 0x0100, false);
    mat_add_compressed(&f, &x);
    check_file(h, save("packed.mat", &f), 3, 2, want);

    mat_header(&f, 0x0100, false);
    mat_start(&x, MX_DOUBLE, 3, (const uint32_t[]){2, 2, 2}, "X", false);
    mat_part(&x, MI_UINT8, "\0\1\2\3\4\5\6\7", 8, false);
    mat_add(&f, &x, false);
    check_file(h, save("cube.mat", &f), 2, 4, (const double[]){0, 4, 2, 6, 1, 5, 3, 7});

    mat_header(&f, 0x0100, false);
    mat_start(&x, MX_DOUBLE, 2, (const uint32_t[]){2, 2}, "X", false);
    put_int(&x, 4u << 16 | MI_UINT8, 4, false); /* four bytes inside the tag */
    put(&x, "\1\2\3\4", 4);
    mat_add(&f, &x, false);
    check_file(h, save("small.mat", &f), 2, 2, (const double[]){1, 3, 2, 4});
}

/* Characters beyond ASCII: UTF-8 as scipy writes it, UTF-16 as MATLAB does, a pair of surrogates. */
static void mat_reads_unicode_labels(void **state)
{
    bdml_handle *h = *state;
    for (int layout = 0; layout < 3; layout++)
        for (int packed = 0; packed < 2; packed++) {
            bytes f = {0}, y = {0}, x = mat_doubles("X", 2, 3, SIX, false);
            mat_header(&f, 0x0100, false);
            mat_add(&f, &x, false);
            if (layout == 0) { /* two rows, column-major: e', u; e', x */
                mat_start(&y, MX_CHAR, 2, (const uint32_t[]){2, 2}, "y", false);
                mat_part(&y, MI_UTF8, "\xC3\xA9u\xC3\xA9x", 6, false);
            } else {
                mat_start(&y, MX_CELL, 2, (const uint32_t[]){1, 2}, "y", false);
                for (int i = 0; i < 2; i++) {
                    bytes cell = {0};
                    mat_start(&cell, MX_CHAR, 2, (const uint32_t[]){1, 2}, "", false);
                    if (layout == 1)
                        mat_part(&cell, MI_UTF8, i ? "ux" : "\xC3\xA9\xC3\xA9", i ? 2 : 4, false);
                    else
                        mat_part(&cell, MI_UTF16, i ? "u\0x" : "\x3D\xD8\x00\xDE", 4, false);
                    mat_add(&y, &cell, false);
                }
            }
            if (packed)
                mat_add_compressed(&f, &y);
            else
                mat_add(&f, &y, false);
            bdml_dataset *data = read_ok(h, save("unicode.mat", &f));
            check_labels(data, layout == 2 ? (const char *const[]){"\xF0\x9F\x98\x80", "ux"}
                                           : (const char *const[]){"\xC3\xA9\xC3\xA9", "ux"});
            bdml_free_dataset(data);
        }
}

/* Structures, complex numbers, objects beside the wanted matrix do not disturb; asked for, they are
 * refused by name. */
static void mat_passes_over_what_it_cannot_use(void **state)
{
    bdml_handle *h = *state;
    static const char *const fields[] = {"a", NULL};
    size_t one[2] = {1, 1}, dims[2] = {3, 2};
    double im[6] = {0};
    mat_complex_split_t z = {(void *)(uintptr_t)SIX, im};
    char path[512];
    snprintf(path, sizeof path, "%s", in_folder("mixed.mat"));
    mat_t *mat = Mat_CreateVer(path, NULL, MAT_FT_MAT5);
    matvar_t *v = Mat_VarCreateStruct2("S", 2, one, fields);
    assert_int_equal(Mat_VarWrite(mat, v, MAT_COMPRESSION_NONE), 0);
    Mat_VarFree(v);
    v = Mat_VarCreate("Z", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, dims, &z, MAT_F_COMPLEX);
    assert_int_equal(Mat_VarWrite(mat, v, MAT_COMPRESSION_NONE), 0);
    Mat_VarFree(v);
    mat_write(mat, "M", MAT_C_DOUBLE, MAT_T_DOUBLE, 3, 2, SIX, 0, 0);
    Mat_Close(mat);
    check_file(h, path, 3, 2, (const double[]){1, 4, 2, 5, 3, 6});
    check_ok(h, bdml_set(h, "variable", "S"));
    check_refused(h, path, "variable S is a structure, not a matrix of numbers");
    check_ok(h, bdml_set(h, "variable", "Z"));
    check_refused(h, path, "complex");
    check_ok(h, bdml_set(h, "variable", "Q"));
    check_refused(
        h, path,
        "no variable 'Q'; the file holds S (1 x 1, no numbers), Z (3 x 2, no numbers), M (3 x 2)");
}

/* ---- IDX -------------------------------------------------------------------------------------------- */

static void idx_reads_every_type(void **state)
{
    bdml_handle *h = *state;
    static const struct {
        unsigned code;
        char kind;
        int size;
        double x[6];
    } type[] = {{0x08, 'u', 1, {0, 255, 128, 1, 2, 3}},
                {0x09, 'i', 1, {-128, 127, 0, 1, -1, 5}},
                {0x0B, 'i', 2, {-32768, 32767, 0, 1, -1, 300}},
                {0x0C, 'i', 4, {-2147483648.0, 2147483647.0, 0, 1, -1, 70000}},
                {0x0D, 'f', 4, {-FLT_MAX, FLT_MIN, 0.5, -0.0, 1, -1.25}},
                {0x0E, 'f', 8, {-DBL_MAX, DBL_MIN, 0.1, -0.0, 4.9e-324, 1e22}}};
    for (size_t t = 0; t < sizeof type / sizeof *type; t++)
        for (int packed = 0; packed < 2; packed++) {
            bytes b = {0};
            idx_header(&b, type[t].code, 3, (const uint32_t[]){2, 1, 3});
            for (int i = 0; i < 6; i++)
                put_item(&b, type[t].kind, type[t].size, type[t].x[i], true);
            check_file(h, packed ? save_gzip("t.idx.gz", &b) : save("t.idx", &b), 2, 3, type[t].x);
        }
}

static void idx_finds_the_labels_beside(void **state)
{
    bdml_handle *h = *state;
    char log[1024] = "", path[512];
    bytes x = {0}, y = {0};
    idx_header(&x, 0x08, 3, (const uint32_t[]){3, 1, 2});
    put(&x, "\1\2\3\4\5\6", 6);
    idx_header(&y, 0x08, 1, (const uint32_t[]){3});
    put(&y, "\7\0\7", 3);
    snprintf(path, sizeof path, "%s", save("toy-images-idx3-ubyte", &x));
    save_gzip("toy-labels-idx1-ubyte.gz", &y); /* packed though the images are not */
    bdml_set_log(h, keep_log, log);
    bdml_dataset *data = read_ok(h, path);
    check_rows(data, 3, 2, SIX);
    check_labels(data, (const char *const[]){"7", "0", "7"});
    check_true(strstr(log, "toy-labels-idx1-ubyte.gz") != NULL);
    bdml_free_dataset(data);
    check_ok(h, bdml_set(h, "label", "none"));
    data = read_ok(h, path);
    assert_null(bdml_dataset_labels(data));
    bdml_free_dataset(data);
    check_ok(h, bdml_set(h, "label", "auto"));
    idx_header(&y, 0x08, 1, (const uint32_t[]){2});
    put(&y, "\7\0", 2);
    save_gzip("toy-labels-idx1-ubyte.gz", &y);
    check_refused(h, path, "has 3 rows but");
}

/* ---- the same data through every format ----------------------------------------------------------------- */

static void write_arff(const bdml_dataset *data, const char *path)
{
    FILE *f = fopen(path, "w");
    fprintf(f, "%% made by a test\n@RELATION wine\n");
    for (int j = 0; j < data->d; j++) fprintf(f, "@ATTRIBUTE f%d NUMERIC\n", j);
    fprintf(f, "@ATTRIBUTE class {1,2,3}\n@DATA\n");
    for (int64_t i = 0; i < data->n; i++) {
        for (int j = 0; j < data->d; j++) fprintf(f, "%.17g,", data->x[i * data->d + j]);
        fprintf(f, "%s\n", data->class_name[data->y[i]]);
    }
    fclose(f);
}

static void write_mat(const bdml_dataset *data, const char *path)
{
    size_t n = (size_t)data->n, d = (size_t)data->d;
    double *x = malloc(n * d * sizeof *x), *y = malloc(n * sizeof *y);
    assert_true(x && y);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < d; j++) x[j * n + i] = data->x[i * d + j];
        y[i] = atof(data->class_name[data->y[i]]);
    }
    mat_t *mat = Mat_CreateVer(path, NULL, MAT_FT_MAT5);
    mat_write(mat, "X", MAT_C_DOUBLE, MAT_T_DOUBLE, n, d, x, 0, 1);
    mat_write(mat, "y", MAT_C_DOUBLE, MAT_T_DOUBLE, n, 1, y, 0, 1);
    Mat_Close(mat);
    free(x);
    free(y);
}

static void write_idx(const bdml_dataset *data, const char *name, const char *labels)
{
    bytes b = {0}, y = {0};
    idx_header(&b, 0x0E, 2, (const uint32_t[]){(uint32_t)data->n, (uint32_t)data->d});
    idx_header(&y, 0x0C, 1, (const uint32_t[]){(uint32_t)data->n});
    for (int64_t i = 0; i < data->n * data->d; i++) put_double(&b, data->x[i], true);
    for (int64_t i = 0; i < data->n; i++)
        put_int(&y, (uint64_t)atoi(data->class_name[data->y[i]]), 4, true);
    save(name, &b);
    save(labels, &y);
}

static void all_formats_give_the_same_doubles(void **state)
{
    bdml_handle *h = *state;
    static const char *const file[] = {"wine.csv",  "wine.tsv",
                                       "wine.svm",  "wine.npy",
                                       "wine.npz",  "wine.mat",
                                       "wine.arff", "wine-images-idx3-double"};
    bdml_dataset *wine = read_ok(h, source_path("data/wine.csv"));
    assert_int_equal(wine->n, 178);
    assert_int_equal(wine->d, 13);
    assert_int_equal(wine->classes, 3);
    for (int i = 0; i < 4; i++) check_ok(h, bdml_write_dataset(h, wine, in_folder(file[i])));
    member m[] = {{"X.npy", load(in_folder("wine.npy"))},
                  {"y.npy", load(in_folder("wine.labels.npy"))}};
    save_zip("wine.npz", ZIP_CM_DEFLATE, 2, m);
    write_mat(wine, in_folder("wine.mat"));
    write_arff(wine, in_folder("wine.arff"));
    write_idx(wine, "wine-images-idx3-double", "wine-labels-idx1-double");
    for (size_t i = 0; i < sizeof file / sizeof *file; i++)
        for (int piped = 0; piped < 2; piped++) {
            bdml_dataset *data;
            bool beside = piped && (i == 3 || i == 7); /* a pipe has no neighbour */
            if (beside)
                check_ok(h, bdml_set(h, "labels-file",
                                     in_folder(i == 3 ? "wine.labels.npy"
                                                      : "wine-labels-idx1-double")));
            if (piped && i == 1) check_ok(h, bdml_set(h, "format", "tsv"));
            if (piped && i == 2) check_ok(h, bdml_set(h, "format", "svmlight"));
            if (piped)
                check_ok(h, read_piped(h, in_folder(file[i]), &data));
            else
                data = read_ok(h, in_folder(file[i]));
            check_ok(h, bdml_set(h, "labels-file", ""));
            check_ok(h, bdml_set(h, "format", "auto"));
            check_rows(data, wine->n, wine->d, wine->x);
            assert_int_equal(data->classes, 3);
            for (int c = 0; c < 3; c++)
                assert_string_equal(data->class_name[c], wine->class_name[c]);
            assert_memory_equal(data->y, wine->y, sizeof *wine->y * (size_t)wine->n);
            check_true(bdml_dataset_fingerprint(data) == bdml_dataset_fingerprint(wine));
            bdml_free_dataset(data);
        }
    bdml_free_dataset(wine);
}

/* Each allocation of each reader fails in turn: out of memory, said so, nothing lost. */
static void readers_survive_allocation_failures(void **state)
{
    bdml_handle *h = *state;
    static const char *const file[] = {"wine.npy",  "wine.npz",
                                       "wine.mat",  "wine-images-idx3-double",
                                       "f.npy",     "text.mat",
                                       "packed.mat"};
    bytes fortran = {0};
    npy_header(&fortran, "<f8", "True", "(3, 2)");
    for (int i = 0; i < 6; i++) put_double(&fortran, SIX[i], false);
    save("f.npy", &fortran);
    for (size_t i = 0; i < sizeof file / sizeof *file; i++)
        for (int64_t k = 1;; k++) {
            bdml_dataset *data;
            h->fail_alloc = k;
            bdml_status status = bdml_read_dataset(h, in_folder(file[i]), &data);
            h->fail_alloc = 0;
            if (status == BDML_OK) {
                assert_true(k > 4);
                bdml_free_dataset(data);
                break;
            }
            assert_int_equal(status, BDML_ERR_MEMORY);
            assert_null(data);
        }
}

/* ---- real files ------------------------------------------------------------------------------------------ */

static void check_real(bdml_handle *h, const char *name, int64_t n, int d, int classes, double sum)
{
    const char *path = extra_data(name);
    if (!path) skip();
    bdml_dataset *data = read_ok(h, path);
    double total = 0; /* of whole numbers: exact in any order */
    assert_int_equal(data->n, n);
    assert_int_equal(data->d, d);
    assert_int_equal(data->classes, classes);
    for (int64_t i = 0; i < n * d; i++) total += data->x[i];
    check_close(total, sum, 0.0);
    bdml_free_dataset(data);
}

static void real_office_mat(void **state)
{
    check_real(*state, "office_caltech10_surf/amazon_SURF_L10.mat", 958, 800, 10, 152852);
}
static void real_mnist_idx(void **state)
{
    check_real(*state, "mnist/t10k-images-idx3-ubyte.gz", 10000, 784, 10, 264923200);
}
static void real_olivetti_npz(void **state)
{
    check_real(*state, "olivetti/olivetti.npz", 400, 4096, 40, 216898402);
}
static void real_usps_npz(void **state)
{
    check_real(*state, "usps/usps.npz", 9298, 256, 10, 153014930);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(mat_reads_every_class),
        handle_test(mat_reads_sparse_and_logical),
        handle_test(mat_reads_text_labels),
        handle_test(mat_reads_unicode_labels),
        handle_test(mat_layouts),
        handle_test(mat_passes_over_what_it_cannot_use),
        handle_test(idx_reads_every_type),
        handle_test(idx_finds_the_labels_beside),
        handle_test(all_formats_give_the_same_doubles),
        handle_test(readers_survive_allocation_failures),
        handle_test(real_office_mat),
        handle_test(real_mnist_idx),
        handle_test(real_olivetti_npz),
        handle_test(real_usps_npz),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
