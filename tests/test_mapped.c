/* test_mapped.c - NPY files used where they are: the same bits as read ones, and files that others change meanwhile. */
#include "binary_files.h"
#include "problem/problem.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <zlib.h>

enum { N = 3000, D = 7, CLASSES = 3 };

static double value(int i, int j)
{
    return sin(1.0 + 37.0 * i + 11.0 * j) + (i % CLASSES == j ? 2.0 : 0.0);
}

/* N x D doubles, `bad` at row 5, column 2, and labels beside. Returns the path. */
static const char *make_file(const char *descr, double bad)
{
    bytes x = {0}, y = {0};
    bool single = descr[2] == '4', big = descr[0] == '>';
    npy_header(&x, descr, "False", "(3000, 7)");
    npy_header(&y, "|u1", "False", "(3000,)");
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < D; j++) {
            double v = i == 5 && j == 2 && bad != 0.0 ? bad : value(i, j);
            put_item(&x, 'f', single ? 4 : 8, v, big);
        }
        put_int(&y, (uint64_t)(i % CLASSES), 1, false);
    }
    save("m.labels.npy", &y);
    return save("m.npy", &x);
}

static bdml_dataset *read_by(bdml_handle *h, const char *mapping, const char *path)
{
    bdml_dataset *data = NULL;
    check_ok(h, bdml_set(h, "mapping", mapping));
    check_ok(h, bdml_read_dataset(h, path, &data));
    return data;
}

static void check_same(const bdml_dataset *a, const bdml_dataset *b)
{
    size_t count = (size_t)a->n * (size_t)a->d;
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->d, b->d);
    assert_int_equal(a->classes, b->classes);
    assert_memory_equal(a->x, b->x, count * sizeof *a->x);
    assert_memory_equal(a->y, b->y, (size_t)a->n * sizeof *a->y);
    assert_true(bdml_dataset_fingerprint(a) == bdml_dataset_fingerprint(b));
}

/* ---- the same bits ------------------------------------------------------------------------------ */

static void mapped_is_what_is_read(void **state)
{
    bdml_handle *h = *state;
    static const char *const mode[] = {"error", "drop", "mean"};
    for (int m = 0; m < 3; m++) {
        const char *path = make_file("<f8", 0.0);
        check_ok(h, bdml_set(h, "missing", mode[m]));
        bdml_dataset *mapped = read_by(h, "yes", path), *read = read_by(h, "no", path);
        assert_non_null(mapped->file);
        assert_null(read->file);
        check_same(mapped, read);
        assert_true(mapped->x[D + 1] == value(1, 1));
        bdml_free_dataset(mapped);
        bdml_free_dataset(read);
    }
}

/* Small files are copied by default: nothing is gained by mapping them. */
static void small_files_are_read(void **state)
{
    bdml_dataset *data = read_by(*state, "auto", make_file("<f8", 0.0));
    assert_null(data->file);
    bdml_free_dataset(data);
}

/* Other types, picked columns and a label among the columns are read, mapping or not. */
static void others_are_read(void **state)
{
    bdml_handle *h = *state;
    static const char *const descr[] = {">f8", "<f4"};
    for (int k = 0; k < 2; k++) {
        const char *path = make_file(descr[k], 0.0);
        bdml_dataset *data = read_by(h, "yes", path), *read = read_by(h, "no", path);
        assert_null(data->file);
        check_same(data, read);
        bdml_free_dataset(data);
        bdml_free_dataset(read);
    }
    const char *path = make_file("<f8", 0.0);
    check_ok(h, bdml_set(h, "columns", "2-4"));
    bdml_dataset *data = read_by(h, "yes", path);
    assert_null(data->file);
    assert_int_equal(data->d, 3);
    bdml_free_dataset(data);
}

/* What a file is refused for, or rows are left out for, does not depend on it. */
static void bad_values_are_found(void **state)
{
    bdml_handle *h = *state;
    static const struct {
        double bad;
        const char *text;
    } kind[] = {{NAN, "row 6, column 3: a value is missing"},
                {INFINITY, "row 6, column 3: an infinite value"},
                {-INFINITY, "row 6, column 3: an infinite value"}};
    check_ok(h, bdml_set(h, "mapping", "yes"));
    for (int k = 0; k < 3; k++) {
        make_file("<f8", kind[k].bad);
        check_refused(h, make_file("<f8", kind[k].bad), kind[k].text);
    }
    const char *path = make_file("<f8", NAN);
    check_ok(h, bdml_set(h, "missing", "drop"));
    bdml_dataset *data = read_by(h, "yes", path), *read = read_by(h, "no", path);
    assert_int_equal(data->n, N - 1);
    check_same(data, read);
    bdml_free_dataset(data);
    bdml_free_dataset(read);
}

/* Training, and a data set written again, give the same to the bit. */
static void commands_give_the_same(void **state)
{
    bdml_handle *h = *state;
    double map[2][D * D];
    bdml_constraints *mined[2];
    const char *path = make_file("<f8", 0.0);
    check_ok(h, bdml_set(h, "distortion", "10"));
    check_ok(h, bdml_set(h, "max-iter", "20"));
    for (int k = 0; k < 2; k++) {
        bdml_dataset *data = read_by(h, k ? "yes" : "no", path);
        bdml_model *model = NULL;
        check_ok(h, bdml_train(h, data, NULL, &model));
        assert_int_equal(bdml_model_output_dimension(model), D);
        check_ok(h, bdml_model_get_map(h, model, map[k]));
        check_ok(h, bdml_write_dataset(h, data, in_folder(k ? "1.csv" : "0.csv")));
        check_ok(h, bdml_mine_constraints(h, data, &mined[k]));
        bdml_free_model(model);
        bdml_free_dataset(data);
    }
    assert_memory_equal(map[0], map[1], sizeof map[0]);
    assert_int_equal(mined[0]->m, mined[1]->m);
    assert_memory_equal(mined[0]->far, mined[1]->far, sizeof *mined[0]->far * (size_t)mined[0]->m);
    for (int k = 0; k < 2; k++) bdml_free_constraints(mined[k]);
    bdml_dataset *written[2] = {read_by(h, "no", in_folder("0.csv")), NULL};
    written[1] = read_by(h, "no", in_folder("1.csv"));
    check_same(written[0], written[1]);
    for (int k = 0; k < 2; k++) bdml_free_dataset(written[k]);
}

/* ---- changed meanwhile -------------------------------------------------------------------------------- */

static double sum_of(const bdml_dataset *data)
{
    double sum = 0.0;
    for (size_t k = 0; k < (size_t)data->n * (size_t)data->d; k++) sum += data->x[k];
    return sum;
}

static void shortened_files_are_noticed(void **state)
{
    bdml_handle *h = *state;
    bdml_model *model = NULL;
    const char *path = make_file("<f8", 0.0);
    bdml_dataset *data = read_by(h, "yes", path);
    double before = sum_of(data);
    assert_int_equal(truncate(path, 200), 0);
    assert_true(isfinite(sum_of(data)) && sum_of(data) != before); /* zeros, and no signal */
    assert_true(data->x[0] == value(0, 0));                        /* what is there stays */
    check_fails(h, bdml_train(h, data, NULL, &model), BDML_ERR_IO, "changed while it was in use");
    assert_null(model);
    check_fails(h, bdml_write_dataset(h, data, in_folder("copy.npy")), BDML_ERR_IO, "--mapping no");
    assert_int_equal(access(in_folder("copy.npy"), F_OK), -1);
    check_fails(h, bdml_write_dataset(h, data, in_folder("copy.csv")), BDML_ERR_IO, "--mapping no");
    assert_int_equal(access(in_folder("copy.csv"), F_OK), -1);
    bdml_free_dataset(data);
}

/* Every call that takes something out of the rows, and a program that did so itself. */
static void what_is_taken_out_is_confirmed(void **state)
{
    bdml_handle *h = *state;
    const char *path = make_file("<f8", 0.0);
    bdml_dataset *data = read_by(h, "yes", path), *part = NULL;
    bdml_prepare *prepare = NULL;
    bdml_constraints *mined = NULL;
    bdml_model *model = NULL;
    bdml_voters *voters = NULL;
    char *json = NULL;
    double row[D] = {0.0}, share[CLASSES];
    int32_t label;
    const int64_t rows[2] = {0, N - 1};
    check_ok(h, bdml_set(h, "method", "lda"));
    check_ok(h, bdml_train(h, data, NULL, &model));
    check_ok(h, bdml_confirm_dataset(h, data));
    check_ok(h, bdml_dataset_subset(h, data, 2, rows, &part));
    bdml_free_dataset(part);
    assert_int_equal(truncate(path, 200), 0);
    static const char word[] = "changed while it was in use";
    check_fails(h, bdml_confirm_dataset(h, data), BDML_ERR_IO, word);
    check_fails(h, bdml_dataset_subset(h, data, 2, rows, &part), BDML_ERR_IO, word);
    check_fails(h, bdml_fit_preparation(h, data, &prepare), BDML_ERR_IO, word);
    check_fails(h, bdml_mine_constraints(h, data, &mined), BDML_ERR_IO, word);
    check_fails(h, bdml_predict(h, model, data, 1, row, D, &label), BDML_ERR_IO, word);
    check_fails(h, bdml_predict_shares(h, model, data, 1, row, D, share), BDML_ERR_IO, word);
    check_fails(h, bdml_make_voters(h, model, data, &voters), BDML_ERR_IO, word);
    check_fails(h, bdml_model_set_points(h, model, data), BDML_ERR_IO, word);
    check_fails(h, bdml_drift(h, model, data, NULL, &json), BDML_ERR_IO, word);
    assert_true(!part && !prepare && !mined && !voters && !json);
    check_fails(h, bdml_confirm_dataset(h, NULL), BDML_ERR_ARGUMENT, "must not be NULL");
    bdml_free_model(model);
    bdml_free_dataset(data);
}

/* A command that has mapped m.npy waits for its next file, the pipe later.csv, while m.npy is shortened: it must end in the error
 * and write nothing. before, after: its arguments, but for the two files. */
static void command_notices(const char *before, const char *after, const char *piped)
{
    char command[1400], text[600] = "", name[512];
    const char *path = make_file("<f8", 0.0);
    snprintf(name, sizeof name, "%s", in_folder("later.csv"));
    assert_int_equal(mkfifo(name, 0600), 0);
    snprintf(command, sizeof command, "%s %s %s %s %s -o %s --mapping yes 2>&1",
             getenv("BDML_COMMAND"), before, path, after, name, in_folder("out.csv"));
    FILE *run = popen(command, "r");
    assert_non_null(run);
    int fd = -1; /* it can be opened to write when the command has opened it to read */
    for (int tries = 0; fd < 0 && tries < 2000; tries++)
        if ((fd = open(name, O_WRONLY | O_NONBLOCK)) < 0) usleep(10000);
    if (fd >= 0) {
        assert_int_equal(truncate(path, 200), 0);
        assert_int_equal(write(fd, piped, strlen(piped)), strlen(piped));
        assert_int_equal(close(fd), 0);
    }
    size_t got = fread(text, 1, sizeof text - 1, run);
    text[got] = '\0';
    int status = pclose(run);
    if (fd < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 2 ||
        !strstr(text, "changed while it was in use"))
        fail_msg("%s: status %d: %s", command, status, text);
    assert_int_equal(access(in_folder("out.csv"), F_OK), -1);
    assert_int_equal(unlink(name), 0);
}

static void commands_notice(void **state)
{
    bdml_handle *h = *state;
    bdml_model *model = NULL;
    bdml_dataset *data = read_by(h, "no", make_file("<f8", 0.0));
    char before[600];
    check_ok(h, bdml_set(h, "method", "lda"));
    check_ok(h, bdml_train(h, data, NULL, &model));
    check_ok(h, bdml_save_model(h, model, in_folder("m.bdml")));
    bdml_free_model(model);
    bdml_free_dataset(data);
    command_notices("neighbors -k 1 --label none", "", "1,2,3,4,5,6,7\n7,6,5,4,3,2,1\n");
    snprintf(before, sizeof before, "neighbors -k 1 --label none --model %s", in_folder("m.bdml"));
    command_notices(before, "", "1,2,3,4,5,6,7\n7,6,5,4,3,2,1\n");
    snprintf(before, sizeof before, "predict %s", in_folder("m.bdml"));
    command_notices(before, "--pairs", "0,1\n2,2999\n");
}

/* The same size, other numbers. */
static void rewritten_files_are_noticed(void **state)
{
    bdml_handle *h = *state;
    char *json = NULL;
    const char *path = make_file("<f8", 0.0);
    bdml_dataset *data = read_by(h, "yes", path);
    struct timeval times[2] = {{1000, 0}, {1000, 0}};
    int fd = open(path, O_WRONLY);
    assert_int_equal(pwrite(fd, "other", 5, 4096), 5);
    assert_int_equal(close(fd), 0);
    assert_int_equal(utimes(path, times), 0);
    check_ok(h, bdml_set(h, "splits", "1"));
    check_fails(h, bdml_evaluate(h, data, &json), BDML_ERR_IO, "changed while it was in use");
    assert_null(json);
    bdml_free_dataset(data);
}

/* A file of the same name in its place does no harm: what is mapped is the old one. */
static void replaced_files_do_no_harm(void **state)
{
    bdml_handle *h = *state;
    const char *path = make_file("<f8", 0.0);
    bdml_dataset *data = read_by(h, "yes", path);
    assert_int_equal(rename(path, in_folder("old.npy")), 0);
    make_file("<f8", NAN);
    check_ok(h, bdml_write_dataset(h, data, in_folder("copy.npy")));
    bdml_free_dataset(data);
}

static volatile sig_atomic_t others;
static void others_bus(int number)
{
    (void)number;
    if (++others > 100) _exit(1); /* the access that ours should have mended, again and again */
}

/* Who had a handler before has it again, and hears of what is not ours meanwhile. */
static void handlers_are_given_back(void **state)
{
    bdml_handle *h = *state;
    struct sigaction mine = {.sa_flags = 0}, now, kept;
    mine.sa_handler = others_bus;
    sigemptyset(&mine.sa_mask);
    assert_int_equal(sigaction(SIGBUS, &mine, &kept), 0);
    const char *path = make_file("<f8", 0.0);
    bdml_dataset *a = read_by(h, "yes", path), *b = read_by(h, "yes", path);
    raise(SIGBUS);
    assert_int_equal(others, 1);
    bdml_free_dataset(a);
    raise(SIGBUS);
    assert_int_equal(others, 2);
    assert_int_equal(truncate(path, 200), 0); /* with one of two gone the handler is still there */
    assert_true(isfinite(sum_of(b)));
    assert_int_equal(others, 2);
    bdml_free_dataset(b);
    assert_int_equal(sigaction(SIGBUS, NULL, &now), 0);
    assert_true(now.sa_handler == others_bus);
    assert_int_equal(sigaction(SIGBUS, &kept, NULL), 0);
}

/* ---- faults ---------------------------------------------------------------------------------------- */

/* Means are filled in on pages of our own: the file stays as it was. */
static void writing_leaves_the_file(void **state)
{
    bdml_handle *h = *state;
    const char *path = make_file("<f8", 0.0);
    bdml_dataset *data = read_by(h, "yes", path);
    check_ok(h, bdml_dataset_own(h, data));
    data->x[3] = 77.0;
    bdml_dataset *again = read_by(h, "no", path);
    assert_true(again->x[3] == value(0, 3));
    check_ok(h, bdml_dataset_confirm(h, data, BDML_OK, NULL));
    bdml_free_dataset(data);
    bdml_free_dataset(again);
}

/* Every allocation in turn. */
static void memory_may_fail(void **state)
{
    bdml_handle *h = *state;
    const char *path = make_file("<f8", 0.0);
    bdml_dataset *data = NULL;
    check_ok(h, bdml_set(h, "mapping", "yes"));
    int64_t n = 0;
    do {
        h->fail_alloc = ++n;
        bdml_status status = bdml_read_dataset(h, path, &data);
        bool over = h->fail_alloc > 0;
        h->fail_alloc = 0;
        if (over) {
            check_ok(h, status);
            break;
        }
        assert_int_equal(status, BDML_ERR_MEMORY);
        assert_null(data);
    } while (n < 1000);
    assert_true(n > 5 && n < 1000);
    assert_non_null(data->file);
    bdml_free_dataset(data);
}

/* Nothing is mapped beyond the end of a file, nor of what is no file: the caller reads, and finds out. */
static void only_what_is_there_is_mapped(void **state)
{
    bdml_handle *h = *state;
    const char *path = make_file("<f8", 0.0);
    struct stat st;
    bdml_mapped *m = NULL;
    int fd = open(path, O_RDONLY), ends[2];
    assert_true(fd >= 0 && fstat(fd, &st) == 0 && pipe(ends) == 0);
    size_t size = (size_t)st.st_size;
    check_ok(h, bdml_mapped_new(h, fd, 10, size - 10, &m));
    assert_true(m && memcmp(bdml_mapped_bytes(m), "{'descr'", 8) == 0);
    bdml_mapped_free(m);
    check_ok(h, bdml_mapped_new(h, fd, 10, size - 9, &m));
    assert_null(m);
    check_ok(h, bdml_mapped_new(h, fd, -8, 8, &m));
    assert_null(m);
    check_ok(h, bdml_mapped_new(h, ends[0], 0, 8, &m));
    assert_null(m);
    close(fd), close(ends[0]), close(ends[1]);
}

/* More files at once than places: the rest are read. */
static void many_files(void **state)
{
    enum { FILES = 70 };
    bdml_handle *h = *state;
    bdml_dataset *data[FILES];
    const char *path = make_file("<f8", 0.0);
    int mapped = 0;
    for (int k = 0; k < FILES; k++) {
        data[k] = read_by(h, "yes", path);
        mapped += data[k]->file != NULL;
        check_same(data[0], data[k]);
    }
    assert_int_equal(mapped, 64);
    for (int k = 0; k < FILES; k++) bdml_free_dataset(data[k]);
}

/* ---- files that are read, and changed meanwhile ---------------------------------------------------------- */

static const char *put_file(const char *name, const void *text, size_t n, bool packed)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/changing-%ld-%s", BDML_TEST_BINARY_DIR, (long)getpid(), name);
    if (packed) {
        gzFile gz = gzopen(path, "wb");
        assert_non_null(gz);
        assert_int_equal(gzwrite(gz, text, (unsigned)n), n);
        assert_int_equal(gzclose(gz), Z_OK);
    } else {
        FILE *f = fopen(path, "wb"); /* the same file where there is one */
        assert_non_null(f);
        assert_int_equal(fwrite(text, 1, n, f), n);
        assert_int_equal(fclose(f), 0);
    }
    return path;
}

/* Later than any time that it had: clocks of file systems may stand still for some milliseconds. */
static void touch(const char *path)
{
    static time_t later;
    const struct timespec t = {time(NULL) + ++later, 0};
    assert_int_equal(utimensat(AT_FDCWD, path, (struct timespec[2]){t, t}, 0), 0);
}

/* `first` is looked at, then `second` is read. */
typedef struct change {
    const char *name, *first, *second;
    bool packed;
} change;

static bdml_status read_changed(bdml_handle *h, const change *c, bool in_place, int64_t *rows,
                                double *value)
{
    bdml_source *s;
    bdml_block b = {0};
    char path[4200];
    snprintf(path, sizeof path, "%s", put_file(c->name, c->first, strlen(c->first), c->packed));
    touch(path);
    check_ok(h, bdml_source_open(h, &h->options.input, path, NULL, &s));
    if (in_place) {
        put_file(c->name, c->second, strlen(c->second), c->packed);
        touch(path);
    } else {
        const char *other = put_file("other", c->second, strlen(c->second), c->packed);
        assert_int_equal(rename(other, path), 0);
    }
    check_ok(h, bdml_block_init(h, 100, s->d, &b));
    bdml_status status = bdml_source_next(h, s, &b);
    *rows = b.n;
    *value = b.n > 0 ? b.x[0] : NAN;
    bdml_block_free(&b);
    bdml_source_close(s);
    unlink(path);
    return status;
}

/* The first rows tell what the columns are, all of them how many: read from a file that was written over since, labels would be
 * values, and columns others. */
static void a_file_changed_between_look_and_read(void **state)
{
    bdml_handle *h = *state;
    static const change changes[] = {
        {"s.csv", "a,b,class\n1,2,0\n3,4,1\n", "b,class,a\n2,0,1\n4,1,3\n", false}, /* as long */
        {"g.csv", "a,b,class\n1,2,0\n", "a,b,class\n1,2,0\n3,4,1\n", false},        /* grown */
        {"t.csv", "a,b,class\n1,2,0\n3,4,1\n", "a,b,class\n1,2,0\n", false},        /* shrunk */
        {"c.csv", "a,b,class\n1,2,0\n3,4,1\n", "a,b,class\n1,2,0\n3,", false},      /* cut */
        {"p.csv.gz", "a,b,class\n1,2,0\n3,4,1\n", "b,class,a\n2,0,1\n4,1,3\n", true},
        {"b.svm", "1 0:5 1:6\n2 0:7 1:8\n", "1 1:5 2:6\n2 1:7 2:8\n", false}, /* another base */
        {"r.svm", "1 1:5 2:6\n2 1:7 2:8\n", "1 1:5 2:6\n", false},
        {"a.arff", "@relation r\n@attribute a numeric\n@attribute c {p,q}\n@data\n1,p\n2,q\n",
         "@relation r\n@attribute a numeric\n@attribute c {q,p}\n@data\n1,p\n", false},
    };
    for (size_t k = 0; k < sizeof changes / sizeof *changes; k++) {
        int64_t rows;
        double value;
        bdml_status status = read_changed(h, &changes[k], true, &rows, &value);
        if (status != BDML_ERR_IO) fail_msg("%s: status %d", changes[k].name, (int)status);
        check_true(strstr(bdml_last_error(h), "the file was changed while it was being read"));
        check_true(strstr(bdml_last_error(h), changes[k].name));
        check_true(!strchr(bdml_last_error(h), '\n'));
    }
}

/* Binary files that are read, and archives, whose parts are looked up one by one. */
static void a_binary_file_changed_while_it_is_read(void **state)
{
    bdml_handle *h = *state;
    check_ok(h, bdml_set(h, "mapping", "no"));
    const char *path = make_file("<f8", 0.0);
    touch(path);
    bdml_source *s;
    bdml_block b = {0};
    check_ok(h, bdml_source_open(h, &h->options.input, path, NULL, &s));
    check_ok(h, bdml_block_init(h, N / 2, s->d, &b));
    check_ok(h, bdml_source_next(h, s, &b));
    touch(path);
    check_ok(h, bdml_source_next(h, s, &b));
    assert_int_equal(b.n, N / 2);
    check_fails(h, bdml_source_next(h, s, &b), BDML_ERR_IO, "the file was changed");
    bdml_block_free(&b);
    bdml_source_close(s);
}

/* What is opened twice is one file: not one written over since, and not another under its name. */
static void a_file_opened_again_is_the_same(void **state)
{
    bdml_handle *h = *state;
    static const char text[] = "a,b\n1,2\n", longer[] = "a,b\n1,2\n3,4\n";
    char path[4200];
    snprintf(path, sizeof path, "%s", put_file("twice.csv", text, strlen(text), false));
    for (int how = 0; how < 3; how++) {
        bdml_input *first, *second;
        put_file("twice.csv", text, strlen(text), false);
        check_ok(h, bdml_input_open(h, path, &first));
        if (how == 1) put_file("twice.csv", longer, strlen(longer), false);
        if (how == 2)
            assert_int_equal(rename(put_file("other", text, strlen(text), false), path), 0);
        check_ok(h, bdml_input_open(h, path, &second));
        if (how == 0)
            check_ok(h, bdml_input_same(h, first, second));
        else
            check_fails(h, bdml_input_same(h, first, second), BDML_ERR_IO,
                        "twice.csv: the file was changed");
        bdml_input_close(first);
        bdml_input_close(second);
    }
    unlink(path);
}

/* Another file in its place does no harm: what was opened is read to its end. */
static void a_file_replaced_is_read_as_it_was(void **state)
{
    bdml_handle *h = *state;
    static const change changes[] = {
        {"s.csv", "a,b,class\n1,2,0\n3,4,1\n", "b,class,a\n2,0,1\n4,1,3\n5,1,3\n", false},
        {"b.svm", "1 1:1 2:6\n2 1:7 2:8\n", "1 0:5 1:6\n", false},
    };
    for (size_t k = 0; k < sizeof changes / sizeof *changes; k++) {
        int64_t rows;
        double value;
        check_ok(h, read_changed(h, &changes[k], false, &rows, &value));
        assert_int_equal(rows, 2);
        check_close(value, 1.0, 0.0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(a_file_changed_between_look_and_read),
        handle_test(a_binary_file_changed_while_it_is_read),
        handle_test(a_file_replaced_is_read_as_it_was),
        handle_test(a_file_opened_again_is_the_same),
        handle_test(mapped_is_what_is_read),
        handle_test(small_files_are_read),
        handle_test(others_are_read),
        handle_test(bad_values_are_found),
        handle_test(commands_give_the_same),
        handle_test(shortened_files_are_noticed),
        handle_test(what_is_taken_out_is_confirmed),
        handle_test(commands_notice),
        handle_test(rewritten_files_are_noticed),
        handle_test(replaced_files_do_no_harm),
        handle_test(handlers_are_given_back),
        handle_test(writing_leaves_the_file),
        handle_test(memory_may_fail),
        handle_test(many_files),
        handle_test(only_what_is_there_is_mapped),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
