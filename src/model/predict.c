/* predict.c - k-NN classification of raw points under a model's metric. */
#include "model/model.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "linalg/linalg.h"
#include "neighbors/neighbors.h"

/* The points that vote, mapped, with classes numbered as the caller expects. */
struct bdml_voters {
    const bdml_model *model;
    bdml_rows points;
    double *own_z; /* when they had to be made */
    int32_t *own_y;
    bdml_index *index;
};
typedef struct bdml_voters voters;

static void voters_free(voters *v)
{
    free(v->own_z);
    free(v->own_y);
    bdml_index_free(v->index);
}

/* to[c] = the model's number of the data's class c. A model without classes takes the data's. Classes of both stand in the same
 * order as a rule: each is looked for from the one before it on, so that very many of them are found in one pass. */
static bdml_status match_classes(bdml_handle *h, const bdml_model *model, const bdml_dataset *data,
                                 int32_t *to)
{
    for (int c = 0, k = 0; c < data->classes; c++) {
        int tried = 0;
        while (tried < model->classes && strcmp(model->class_name[k], data->class_name[c]) != 0) {
            k = (k + 1) % model->classes;
            tried++;
        }
        to[c] = model->classes == 0 ? c : tried < model->classes ? k : -1;
    }
    for (int64_t i = 0; i < data->n; i++)
        if (to[data->y[i]] < 0)
            return bdml_fail(h, BDML_ERR_DATA,
                             "row %lld is of class '%.100s', which the model does not know",
                             (long long)i, data->class_name[data->y[i]]);
    return BDML_OK;
}

static bdml_status map_voters(bdml_handle *h, const bdml_model *model, const bdml_dataset *data,
                              voters *v)
{
    bdml_status status = BDML_OK;
    int32_t *to = NULL;

    BDML_NEW(h, to, data->classes);
    BDML_NEW(h, v->own_y, data->n);
    BDML_NEW(h, v->own_z, (size_t)data->n * (size_t)model->q);
    BDML_GO(match_classes(h, model, data, to));
    for (int64_t i = 0; i < data->n; i++) v->own_y[i] = to[data->y[i]];
    BDML_GO(bdml_dataset_widen(h, data));
    BDML_GO(bdml_transform(h, model, data->n, data->x, data->d, v->own_z));
    BDML_GO(bdml_dataset_confirm(h, data, status, NULL));
    v->points = (bdml_rows){
        .n = data->n,
        .d = model->q,
        .ld = model->q,
        .x = v->own_z,
        .y = v->own_y,
        .classes = model->classes > 0 ? model->classes : data->classes,
    };
done:
    free(to);
    return status;
}

static bdml_status find_voters(bdml_handle *h, const bdml_model *model, const bdml_dataset *train,
                               voters *v)
{
    v->model = model;
    if (train) {
        if (train->d != model->prepare.d_in)
            return bdml_fail(h, BDML_ERR_DATA,
                             "the training data have %d columns, the model takes %d", train->d,
                             model->prepare.d_in);
        if (!train->y || train->classes < 1 || train->n < 1)
            return bdml_fail(h, BDML_ERR_DATA,
                             "the training data have no labels: nothing can vote");
        return map_voters(h, model, train, v);
    }
    if (model->points < 1 || !model->y)
        return bdml_fail(
            h, BDML_ERR_DATA,
            "the model keeps no labelled points: give the training data, or train with "
            "keep-points = yes");
    v->points =
        (bdml_rows){model->points, model->q, model->q, model->z, model->y, model->classes, NULL};
    return BDML_OK;
}

/* ---- neighbours of raw points --------------------------------------------------------------------- */

/* Every class may vote: the index need not know them. */
static bdml_status make_index(bdml_handle *h, const bdml_neighbor_options *o, voters *v)
{
    bdml_rows points = v->points;
    points.y = NULL;
    return bdml_index_build(h, o, &points, &v->index);
}

typedef void (*each_fn)(void *user, int64_t first, int64_t rows, int k, const int32_t *index,
                        const double *distance);

/* The k nearest voters of n raw rows, handed out block by block within the setting "memory". */
static bdml_status each_block(bdml_handle *h, voters *v, int k, int64_t n, const double *x,
                              int64_t ld, bool distances, each_fn each, void *user)
{
    bdml_status status = BDML_OK;
    const bdml_model *model = v->model;
    size_t bytes = sizeof(double) * (size_t)model->q + sizeof(int32_t) * (size_t)k +
                   (distances ? sizeof(double) * (size_t)k : 0);
    int64_t block = BDML_MIN(bdml_model_block(h, bytes), n);
    double *z = NULL, *distance = NULL;
    int32_t *index = NULL;

    BDML_NEW(h, z, (size_t)block * (size_t)model->q);
    BDML_NEW(h, index, (size_t)block * (size_t)k);
    if (distances) BDML_NEW(h, distance, (size_t)block * (size_t)k);
    for (int64_t i = 0; i < n; i += block) {
        int64_t rows = BDML_MIN(block, n - i);
        const bdml_rows asked = {rows, model->q, model->q, z, NULL, 0, NULL};
        BDML_GO(bdml_transform_at(h, model, rows, COL(x, ld, i), ld, i, z));
        BDML_GO(bdml_index_query(h, v->index, &asked, BDML_ANY_CLASS, k, index, distance));
        each(user, i, rows, k, index, distance);
    }
done:
    free(z);
    free(index);
    free(distance);
    return status;
}

static bdml_status check_points(bdml_handle *h, const bdml_model *model, int64_t n, const double *x,
                                int64_t ld, const void *out)
{
    if (!model || n < 0 || (n > 0 && (!x || !out)))
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "model, points and what is written to must not be NULL");
    if (ld < model->prepare.d_in)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "the model takes points of %d values, but rows are %lld "
                         "apart",
                         model->prepare.d_in, (long long)ld);
    return BDML_OK;
}

/* ---- votes ------------------------------------------------------------------------------------------ */

/* The setting "neighbors"; auto: what the training chose. */
static int64_t votes(const bdml_neighbor_options *o, const bdml_model *model)
{
    json_t *chosen = json_object_get(json_object_get(model->info, "selection"), "neighbors");
    int64_t k = o->neighbors.automatic ? json_integer_value(chosen) : 0;
    return k > 0 ? k : o->neighbors.value;
}

typedef struct ballot {
    const bdml_rows *points;
    int32_t *count; /* of each class, for one row */
    int32_t *label; /* out, or NULL */
    double *share;  /* out, rows of classes, or NULL */
} ballot;

static void count_votes(void *user, int64_t first, int64_t rows, int k, const int32_t *index,
                        const double *distance)
{
    ballot *b = user;
    int classes = b->points->classes;
    (void)distance;
    for (int64_t r = 0; r < rows; r++) {
        int32_t won = bdml_knn_vote(k, COL(index, k, r), b->points->y, classes, b->count);
        if (b->label) b->label[first + r] = won;
        for (int c = 0; b->share && c < classes; c++)
            COL(b->share, classes, first + r)[c] = (double)b->count[c] / k;
    }
}

static bdml_status vote(bdml_handle *h, const bdml_neighbor_options *o, voters *v, int64_t n,
                        const double *x, int64_t ld, int32_t *label, double *share)
{
    bdml_status status = BDML_OK;
    ballot b = {.points = &v->points, .label = label, .share = share};
    int k = (int)BDML_MIN(votes(o, v->model), v->points.n);

    BDML_NEW(h, b.count, v->points.classes);
    status = each_block(h, v, k, n, x, ld, false, count_votes, &b);
done:
    free(b.count);
    return status;
}

/* Of voters that serve once. */
static bdml_status predict(bdml_handle *h, const bdml_neighbor_options *o, const bdml_model *model,
                           const bdml_dataset *train, int64_t n, const double *x, int64_t ld,
                           int32_t *label, double *share)
{
    bdml_status status = BDML_OK;
    voters v = {0};

    BDML_TRY(check_points(h, model, n, x, ld, label ? (void *)label : (void *)share));
    BDML_GO(find_voters(h, model, train, &v));
    BDML_GO(make_index(h, o, &v));
    status = vote(h, o, &v, n, x, ld, label, share);
done:
    voters_free(&v);
    return status;
}

bdml_status bdml_predict_with(bdml_handle *h, const bdml_neighbor_options *o,
                              const bdml_model *model, const bdml_dataset *train, int64_t n,
                              const double *x, int64_t ld, int32_t *label)
{
    BDML_TRY(bdml_la_enter(h));
    bdml_status status = predict(h, o, model, train, n, x, ld, label, NULL);
    bdml_la_leave(h);
    return status;
}

bdml_status bdml_predict(bdml_handle *h, const bdml_model *model, const bdml_dataset *train,
                         int64_t n, const double *x, int64_t ld, int32_t *label)
{
    if (!h) return BDML_ERR_ARGUMENT;
    return bdml_predict_with(h, &h->options.neighbors, model, train, n, x, ld, label);
}

bdml_status bdml_predict_shares(bdml_handle *h, const bdml_model *model, const bdml_dataset *train,
                                int64_t n, const double *x, int64_t ld, double *share)
{
    if (!h) return BDML_ERR_ARGUMENT;
    BDML_TRY(bdml_la_enter(h));
    bdml_status status = predict(h, &h->options.neighbors, model, train, n, x, ld, NULL, share);
    bdml_la_leave(h);
    return status;
}

/* ---- voters that serve many times ------------------------------------------------------------------- */

void bdml_free_voters(bdml_voters *v)
{
    if (!v) return;
    voters_free(v);
    free(v);
}

bdml_status bdml_make_voters(bdml_handle *h, const bdml_model *model, const bdml_dataset *train,
                             bdml_voters **out)
{
    bdml_status status = BDML_OK;
    bdml_voters *v = NULL;

    if (!h) return BDML_ERR_ARGUMENT;
    if (!model || !out) return bdml_fail(h, BDML_ERR_ARGUMENT, "model and voters must not be NULL");
    *out = NULL;
    BDML_TRY(bdml_la_enter(h));
    BDML_NEW(h, v, 1);
    BDML_GO(find_voters(h, model, train, v));
    BDML_GO(make_index(h, &h->options.neighbors, v));
    if (h->options.neighbors.neighbors.value > v->points.n)
        bdml_log(h, BDML_LOG_WARNING, "all %lld points vote; neighbors asks for %lld",
                 (long long)v->points.n, (long long)h->options.neighbors.neighbors.value);
    *out = v;
    v = NULL;
done:
    bdml_la_leave(h);
    bdml_free_voters(v);
    return status;
}

int bdml_voters_classes(const bdml_voters *v)
{
    return v ? v->points.classes : 0;
}

bdml_status bdml_vote(bdml_handle *h, bdml_voters *v, int64_t n, const double *x, int64_t ld,
                      int32_t *label, double *share)
{
    if (!h) return BDML_ERR_ARGUMENT;
    if (!v) return bdml_fail(h, BDML_ERR_ARGUMENT, "voters must not be NULL");
    BDML_TRY(check_points(h, v->model, n, x, ld, label ? (void *)label : (void *)share));
    BDML_TRY(bdml_la_enter(h));
    bdml_status status = vote(h, &h->options.neighbors, v, n, x, ld, label, share);
    bdml_la_leave(h);
    return status;
}

/* ---- neighbours ------------------------------------------------------------------------------------- */

typedef struct list {
    int32_t *index;
    double *distance; /* or NULL */
} list;

static void keep(void *user, int64_t first, int64_t rows, int k, const int32_t *index,
                 const double *distance)
{
    list *l = user;
    size_t cells = (size_t)rows * (size_t)k;
    memcpy(COL(l->index, k, first), index, sizeof *index * cells);
    if (l->distance) memcpy(COL(l->distance, k, first), distance, sizeof *distance * cells);
}

bdml_status bdml_model_neighbors(bdml_handle *h, const bdml_model *model, int64_t n,
                                 const double *x, int64_t ld, int k, int32_t *index,
                                 double *distance)
{
    bdml_status status = BDML_OK;
    list found = {index, distance};

    if (!h) return BDML_ERR_ARGUMENT;
    BDML_TRY(check_points(h, model, n, x, ld, index));
    if (k < 1) return bdml_fail(h, BDML_ERR_ARGUMENT, "k must be at least 1, got %d", k);
    if (model->points < 1)
        return bdml_fail(h, BDML_ERR_DATA,
                         "the model keeps no points; train with keep-points = yes");
    voters v = {.model = model,
                .points = {.n = model->points,
                           .d = model->q,
                           .ld = model->q,
                           .x = model->z,
                           .y = model->y,
                           .classes = model->classes}};
    BDML_TRY(bdml_la_enter(h));
    BDML_GO(make_index(h, &h->options.neighbors, &v));
    status = each_block(h, &v, k, n, x, ld, distance != NULL, keep, &found);
done:
    voters_free(&v);
    bdml_la_leave(h);
    return status;
}

/* ---- other voters ------------------------------------------------------------------------------------- */

/* Copies of the data's class names, for a model that has none. */
static bdml_status copy_classes(bdml_handle *h, const bdml_dataset *data, char ***out)
{
    char **name = *out = bdml_calloc(h, (size_t)data->classes, sizeof *name);
    if (!name) return BDML_ERR_MEMORY;
    for (int c = 0; c < data->classes; c++)
        if (!(name[c] = bdml_strdup(h, data->class_name[c]))) return BDML_ERR_MEMORY;
    return BDML_OK;
}

bdml_status bdml_model_set_points(bdml_handle *h, bdml_model *model, const bdml_dataset *train)
{
    bdml_status status = BDML_OK;
    voters v = {0};
    char **name = NULL;

    if (!h) return BDML_ERR_ARGUMENT;
    if (!model || !train)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "bdml_model_set_points: model and train must not be NULL");
    BDML_GO(find_voters(h, model, train, &v));
    if (model->classes == 0) {
        BDML_GO(copy_classes(h, train, &name));
        free(model->class_name);
        model->class_name = name;
        model->classes = train->classes;
        name = NULL;
    }
    free(model->z);
    free(model->y);
    model->points = train->n;
    model->z = v.own_z;
    model->y = v.own_y;
    free(atomic_exchange(&model->description, NULL)); /* it tells of classes and points */
    v.own_z = NULL;
    v.own_y = NULL;
done:
    for (int c = 0; name && c < train->classes; c++) free(name[c]);
    free(name);
    voters_free(&v);
    return status;
}
