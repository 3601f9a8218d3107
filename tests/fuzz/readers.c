/* readers.c - data files of every format, labels, and lists of constraints. */
#include "data/data.h"
#include "fuzz.h"
#include "problem/problem.h"

#include <stdlib.h>

enum { POINTS = 12 }; /* that constraints speak of */

/* ---- data ------------------------------------------------------------------------------------------ */

/* Whatever comes out is used as its readers would. */
static void look_at(const bdml_dataset *data)
{
    double sum = 0.0;
    for (int64_t i = 0; i < data->n * data->d; i++) sum += data->x[i];
    for (int64_t i = 0; data->y && i < data->n; i++)
        if (data->y[i] < 0 || data->y[i] >= data->classes || !data->class_name[data->y[i]]) abort();
    for (int j = 0; data->feature_name && j < data->d; j++)
        sum += (double)strlen(data->feature_name[j]);
    if (data->n < 1 || data->d < 1 || isinf(sum - sum)) abort();
}

static void read_as(const char *settings, const unsigned char *bytes, size_t size)
{
    bdml_handle *h = fuzz_handle(settings);
    bdml_dataset *data = NULL;
    bdml_status status = bdml_read_dataset(h, fuzz_file(bytes, size), &data);
    fuzz_promise(h, status);
    if ((status == BDML_OK) != (data != NULL)) abort();
    if (data) look_at(data);
    bdml_free_dataset(data);
}

#define WAYS(list) (list)[fuzz_way(b, n, sizeof(list) / sizeof *(list))], b, n

static void run_csv(const unsigned char *b, size_t n)
{
    static const char *const ways[] = {
        "format=csv missing=drop",
        "format=csv missing=mean encode=onehot",
        "format=csv header=yes label=1",
        "format=csv decimal=, separator=;",
        "format=csv label=none header=no columns=1-2,4-",
        "format=csv separator=blank drop=2 index-column=1",
        "format=tsv missing=mean",
        "format=auto",
    };
    read_as(WAYS(ways));
}

static void run_svmlight(const unsigned char *b, size_t n)
{
    static const char *const ways[] = {"format=svmlight", "format=svmlight index-base=0",
                                       "format=svmlight index-base=1 columns=2-",
                                       "format=svmlight label=none"};
    read_as(WAYS(ways));
}

static void run_arff(const unsigned char *b, size_t n)
{
    static const char *const ways[] = {"format=arff missing=drop",
                                       "format=arff missing=mean encode=onehot",
                                       "format=arff label=1", "format=arff label=none drop=1"};
    read_as(WAYS(ways));
}

static void run_npy(const unsigned char *b, size_t n)
{
    static const char *const ways[] = {"format=npy missing=drop", "format=npy label=none",
                                       "format=npy label=1 missing=mean", "format=npy columns=2-"};
    read_as(WAYS(ways));
}

static void run_npz(const unsigned char *b, size_t n)
{
    static const char *const ways[] = {"format=npz missing=drop", "format=npz label-variable=none",
                                       "format=npz variable=X label-variable=y"};
    read_as(WAYS(ways));
}

static void run_mat(const unsigned char *b, size_t n)
{
    static const char *const ways[] = {"format=mat missing=drop", "format=mat label-variable=none",
                                       "format=mat variable=X label-variable=y"};
    read_as(WAYS(ways));
}

/* Files of fixed splits: train.source{i}. */
static void run_mat_lists(const unsigned char *b, size_t n)
{
    bdml_handle *h = fuzz_handle("");
    bdml_row_lists lists = {0};
    fuzz_promise(h, bdml_mat_lists_read(h, fuzz_file(b, n), "train", "source", &lists));
    bdml_row_lists_free(&lists);
}

static void run_idx(const unsigned char *b, size_t n)
{
    static const char *const ways[] = {"format=idx label=none", "format=idx label=1",
                                       "format=auto"};
    read_as(WAYS(ways));
}

/* By content, unpacked on the fly. */
static void run_gz(const unsigned char *b, size_t n)
{
    static const char *const ways[] = {"missing=drop", "missing=mean label=none"};
    read_as(WAYS(ways));
}

static void run_labels(const unsigned char *b, size_t n)
{
    bdml_handle *h = fuzz_handle("");
    bdml_names names = {0};
    int32_t *label = NULL;
    int64_t count = 0;
    fuzz_promise(h, bdml_labels_read(h, fuzz_file(b, n), &names, &label, &count));
    free(label);
    bdml_names_free(&names);
}

/* ---- constraints -------------------------------------------------------------------------------------- */

static void run_constraints(const unsigned char *b, size_t n)
{
    static const struct {
        const char *setting, *kind;
    } ways[] = {{"pairs-file", "pair"},       {"pairs-file", "triplet"},
                {"triplets-file", "triplet"}, {"quadruplets-file", "triplet"},
                {"targets-file", "pair"},     {"impostors-file", "pair"}};
    size_t way = fuzz_way(b, n, sizeof ways / sizeof *ways);
    bdml_handle *h = fuzz_handle("");
    const char *path = fuzz_file(b, n);
    bdml_constraints *c = NULL;
    if (bdml_set(h, ways[way].setting, path) != BDML_OK ||
        bdml_set(h, "kind", ways[way].kind) != BDML_OK)
        abort();
    if (strcmp(ways[way].setting, "targets-file") == 0 ||
        strcmp(ways[way].setting, "impostors-file") == 0) /* one and the same as both */
        if (bdml_set(h, "targets-file", path) != BDML_OK ||
            bdml_set(h, "impostors-file", path) != BDML_OK)
            abort();
    bdml_status status = bdml_constraint_files_read(h, &h->options.constraints, POINTS, &c);
    fuzz_promise(h, status);
    for (int64_t t = 0; c && t < bdml_constraints_count(c); t++) {
        int32_t row[4];
        if (bdml_constraints_quadruplet_at(c, t, row) != BDML_OK) abort();
        for (int k = 0; k < 4; k++)
            if (row[k] < -1 || row[k] >= POINTS) abort();
    }
    bdml_free_constraints(c);
    static const char *const files[] = {"pairs-file", "triplets-file", "quadruplets-file",
                                        "targets-file", "impostors-file"};
    for (size_t k = 0; k < sizeof files / sizeof *files; k++)
        if (bdml_set(h, files[k], NULL) != BDML_OK) abort();
}

/* Relevant rows of queries, in one file or two; pairs with answers, in folds or not. */
static void run_answers(const unsigned char *b, size_t n)
{
    bdml_handle *h = fuzz_handle("");
    size_t way = fuzz_way(b, n, 4);
    if (way < 2) {
        bdml_answers list = {0};
        bdml_status status =
            bdml_answers_read(h, fuzz_file(b, n), POINTS / 2, POINTS, way == 1, &list);
        fuzz_promise(h, status);
        if (status == BDML_OK) bdml_answers_free(&list);
        return;
    }
    bdml_labelled_pairs *pairs = NULL;
    bdml_constraints *c = NULL;
    bdml_status status = bdml_read_pairs(h, fuzz_file(b, n), POINTS, way == 3, &pairs);
    fuzz_promise(h, status);
    if (status == BDML_OK && way == 3)
        fuzz_promise(h, bdml_constraints_from_pairs(h, POINTS, pairs, &c));
    bdml_free_constraints(c);
    bdml_free_pairs(pairs);
}

const fuzz_target fuzz_readers[] = {
    {"csv", run_csv},
    {"svmlight", run_svmlight},
    {"arff", run_arff},
    {"npy", run_npy},
    {"npz", run_npz},
    {"mat", run_mat},
    {"idx", run_idx},
    {"gz", run_gz},
    {"mat_lists", run_mat_lists},
    {"labels", run_labels},
    {"constraints", run_constraints},
    {"answers", run_answers},
    {NULL, NULL},
};
