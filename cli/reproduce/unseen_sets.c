/* unseen_sets.c - sets with many classes: their files, which rows of them, and how they are prepared. */
#include "unseen_sets.h"

#include <stdlib.h>
#include <unistd.h>

static const char PEOPLE[] = "lfw/images.csv";
#define SURF(name) "office_caltech10_surf/" name "_SURF_L10.mat"

static const unseen_set sets[] = {
    {"MNIST", "mnist/train-images-idx3-ubyte.gz", NULL, NULL, "none", "50", "0.5", 4000, 5, false},
    {"USPS", "usps/usps.npz", NULL, NULL, "none", "50", "0.5", 4000, 5, false},
    {"digits", "digits/digits.csv.gz",
     "/usr/lib/python3/dist-packages/sklearn/datasets/data/digits.csv.gz", "65", "none", "0", "0.5",
     0, 10, false},
    {"Olivetti", "olivetti/olivetti.npz", NULL, NULL, "none", "60", "0.5", 0, 10, false},
    {"LFW", "lfw/lfw_sift9x3.npz", NULL, "none", "none", "60", "0.5", 0, 5, true},
    {"Amazon", SURF("amazon"), NULL, NULL, "unit", "40", "0.5", 0, 10, false},
    {"Caltech", SURF("Caltech10"), NULL, NULL, "unit", "40", "0.5", 0, 10, false},
    {"Webcam", SURF("webcam"), NULL, NULL, "unit", "40", "0.5", 0, 10, false},
    {"DSLR", SURF("dslr"), NULL, NULL, "unit", "30", "0.5", 0, 10, false},
    {"Segment", "uci/segment.csv", NULL, NULL, "zscore", "0", "0.4", 0, 10, false},
    {"Debian", "debian_lsa/debian_lsa.npz", NULL, NULL, "none", "0", "0.5", 5000, 5, false},
};

int unseen_set_count(void)
{
    return (int)(sizeof sets / sizeof *sets);
}

const unseen_set *unseen_set_at(int i)
{
    return &sets[i];
}

/* ---- rows ---------------------------------------------------------------------------------------------------- */

enum { LEAST_IMAGES = 8, MOST_IMAGES = 60, LEFT_OVER = 4000 };

/* Rows that take part, and of the others those that a PCA is fitted on: each evenly spaced. */
typedef struct rows {
    int64_t taken, others;
    int64_t *row;   /* taken */
    int64_t *other; /* others */
} rows;

static void rows_free(rows *r)
{
    free(r->row);
    free(r->other);
}

/* The first `count` of a list, thinned out evenly to at most `most`. */
static int64_t thin(int64_t count, int64_t most, int64_t *list)
{
    if (count <= most) return count;
    for (int64_t k = 0; k < most; k++) list[k] = list[k * count / most];
    return most;
}

/* in: per row, does it take part if there is room? NULL: all do. */
static bdml_status choose_rows(bdml_handle *h, int64_t n, const unsigned char *in, int64_t most,
                               rows *r)
{
    bdml_status status = BDML_OK;
    unsigned char *taken = NULL;
    NEW(h, r->row, n);
    NEW(h, r->other, n);
    NEW(h, taken, n);
    for (int64_t i = 0; i < n; i++)
        if (!in || in[i]) r->row[r->taken++] = i;
    r->taken = thin(r->taken, most, r->row);
    for (int64_t k = 0; k < r->taken; k++) taken[r->row[k]] = 1;
    for (int64_t i = 0; i < n; i++)
        if (!taken[i]) r->other[r->others++] = i;
    r->others = thin(r->others, LEFT_OVER, r->other);
done:
    free(taken);
    return status;
}

/* ---- LFW ----------------------------------------------------------------------------------------------------- */

/* person: of each row of the features, from images.csv. in: those with a middling number of images, so that nobody
 * stands for most of the rows. */
static bdml_status read_people(bdml_handle *h, const char *path, int64_t n, int64_t *person,
                               unsigned char *in)
{
    bdml_status status = BDML_OK;
    bdml_dataset *images = NULL;
    int64_t *count = NULL;

    GO(rp_set(h, "label", "person_id", "columns", "index", NULL));
    GO(bdml_read_dataset(h, path, &images));
    GO(rp_set(h, "label", NULL, "columns", NULL, NULL));
    if (bdml_dataset_points(images) != n)
        GO(client_fail(h, BDML_ERR_DATA, "%s is not about the %lld rows of the features", path,
                       (long long)n));
    const int32_t *y = bdml_dataset_labels(images);
    NEW(h, count, bdml_dataset_classes(images));
    for (int64_t i = 0; i < n; i++) count[y[i]]++;
    for (int64_t i = 0; i < n; i++) {
        person[i] = y[i];
        in[i] = count[y[i]] >= LEAST_IMAGES && count[y[i]] <= MOST_IMAGES;
    }
done:
    bdml_free_dataset(images);
    free(count);
    return status;
}

/* ---- a set ----------------------------------------------------------------------------------------------------- */

/* The rows of r with these labels, under PCA to so many components of the others. */
static bdml_status map_rows(bdml_handle *h, const bdml_dataset *all, const rows *r,
                            const int64_t *label, bdml_dataset **out)
{
    bdml_status status = BDML_OK;
    bdml_dataset *others = NULL, *taken = NULL;
    bdml_prepare *pca = NULL;
    double *z = NULL;
    int64_t *y = NULL;

    GO(bdml_dataset_subset(h, all, r->others, r->other, &others));
    GO(bdml_dataset_subset(h, all, r->taken, r->row, &taken));
    GO(bdml_fit_preparation(h, others, &pca));
    int q = bdml_preparation_dimension(pca);
    NEW(h, z, (size_t)r->taken * (size_t)q);
    NEW(h, y, r->taken);
    GO(bdml_prepare_rows(h, pca, r->taken, bdml_dataset_rows(taken), bdml_dataset_dimension(taken),
                         z));
    for (int64_t k = 0; k < r->taken; k++) y[k] = label[r->row[k]];
    status = bdml_dataset_from_arrays(h, r->taken, q, z, q, y, out);
done:
    bdml_free_preparation(pca);
    bdml_free_dataset(others);
    bdml_free_dataset(taken);
    free(z);
    free(y);
    return status;
}

/* The file of the rows, or NULL: it is not there. path: room for its name. */
static const char *find_file(const unseen_set *s, char *path)
{
    const char *file = rp_data(s->path, path);
    if (!file && s->other_place && access(s->other_place, R_OK) == 0) file = s->other_place;
    return file;
}

bool unseen_set_is_here(const unseen_set *s)
{
    char path[RP_PATH];
    return find_file(s, path) && (!s->people || rp_data(PEOPLE, path));
}

bdml_status unseen_set_read(bdml_handle *h, const unseen_set *s, int most, bdml_dataset **out)
{
    bdml_status status = BDML_OK;
    bdml_dataset *all = NULL;
    unsigned char *in = NULL;
    int64_t *label = NULL;
    rows r = {0};
    char path[RP_PATH], people[RP_PATH];
    const char *file = find_file(s, path);

    GO(rp_set(h, "label", s->label, "scale", s->scale, "unseen-share", s->share, "pca", s->pca,
              NULL));
    GO(bdml_read_dataset(h, file, &all));
    int64_t n = bdml_dataset_points(all);
    if (s->people) {
        NEW(h, in, n);
        NEW(h, label, n);
        GO(read_people(h, rp_data(PEOPLE, people), n, label, in));
    }
    int64_t room = s->rows > 0 ? s->rows : n;
    GO(choose_rows(h, n, in, most > 0 ? MIN(room, most) : room, &r));
    if (r.others > 0 && strcmp(s->pca, "0") != 0 && (s->people || s->rows > 0)) {
        if (!label) {
            const int32_t *y = bdml_dataset_labels(all);
            NEW(h, label, n);
            for (int64_t i = 0; i < n; i++) label[i] = y[i];
        }
        GO(map_rows(h, all, &r, label, out));
        GO(bdml_set(h, "pca", "0"));
    } else {
        GO(bdml_dataset_subset(h, all, r.taken, r.row, out));
    }
done:
    bdml_free_dataset(all);
    rows_free(&r);
    free(in);
    free(label);
    return status;
}
