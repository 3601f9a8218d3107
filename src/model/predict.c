/* predict.c - k-NN classification of raw points under a model's metric. */
#include "model/model.h"

#include <stdlib.h>

#include "linalg/linalg.h"
#include "neighbors/neighbors.h"

/* The points that vote, mapped, with classes numbered as the caller expects. */
typedef struct voters {
    int64_t n;
    int classes;
    const double *z;
    const int32_t *y;
    double *own_z; /* when they had to be made */
    int32_t *own_y;
} voters;

static void voters_free(voters *v)
{
    free(v->own_z);
    free(v->own_y);
}

/* to[c] = the model's number of the data's class c. A model without classes takes the data's. */
static bdml_status match_classes(bdml_handle *h, const bdml_model *model, const bdml_dataset *data,
                                 int32_t *to)
{
    for (int c = 0; c < data->classes; c++) {
        int k = 0;
        while (k < model->classes && strcmp(model->class_name[k], data->class_name[c]) != 0) k++;
        to[c] = model->classes == 0 ? c : k;
        if (model->classes > 0 && k == model->classes) to[c] = -1;
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
    BDML_GO(bdml_transform(h, model, data->n, data->x, data->d, v->own_z));
    v->n = data->n;
    v->classes = model->classes > 0 ? model->classes : data->classes;
    v->z = v->own_z;
    v->y = v->own_y;
done:
    free(to);
    return status;
}

static bdml_status find_voters(bdml_handle *h, const bdml_model *model, const bdml_dataset *train,
                               voters *v)
{
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
    v->n = model->points;
    v->classes = model->classes;
    v->z = model->z;
    v->y = model->y;
    return BDML_OK;
}

/* The setting "neighbors"; auto: what the training chose. */
static int64_t votes(const bdml_neighbor_options *o, const bdml_model *model)
{
    json_t *chosen = json_object_get(json_object_get(model->info, "selection"), "neighbors");
    int64_t k = o->neighbors.automatic ? json_integer_value(chosen) : 0;
    return k > 0 ? k : o->neighbors.value;
}

static bdml_status predict(bdml_handle *h, const bdml_neighbor_options *o, const bdml_model *model,
                           const bdml_dataset *train, int64_t n, const double *x, int64_t ld,
                           int32_t *label)
{
    bdml_status status = BDML_OK;
    voters v = {0};
    double *z = NULL;
    int32_t *index = NULL, *count = NULL;

    BDML_GO(find_voters(h, model, train, &v));
    int k = (int)BDML_MIN(votes(o, model), v.n);
    size_t bytes = sizeof(double) * (size_t)model->q + sizeof(int32_t) * (size_t)k;
    int64_t block = BDML_MIN(bdml_model_block(h, bytes), n);
    BDML_NEW(h, z, (size_t)block * (size_t)model->q);
    BDML_NEW(h, index, (size_t)block * (size_t)k);
    BDML_NEW(h, count, v.classes);
    const bdml_rows points = {v.n, model->q, model->q, v.z, v.y, v.classes};
    for (int64_t i = 0; i < n; i += block) {
        int64_t rows = BDML_MIN(block, n - i);
        const bdml_rows asked = {rows, model->q, model->q, z, NULL, 0};
        BDML_GO(bdml_transform(h, model, rows, COL(x, ld, i), ld, z));
        BDML_GO(bdml_knn_search(h, o, &points, &asked, BDML_ANY_CLASS, k, index, NULL));
        for (int64_t r = 0; r < rows; r++)
            label[i + r] = bdml_knn_vote(k, COL(index, k, r), v.y, v.classes, count);
    }
done:
    voters_free(&v);
    free(z);
    free(index);
    free(count);
    return status;
}

bdml_status bdml_predict(bdml_handle *h, const bdml_model *model, const bdml_dataset *train,
                         int64_t n, const double *x, int64_t ld, int32_t *label)
{
    if (!h) return BDML_ERR_ARGUMENT;
    if (!model || n < 0 || (n > 0 && (!x || !label)))
        return bdml_fail(h, BDML_ERR_ARGUMENT, "model, points and labels must not be NULL");
    if (ld < model->prepare.d_in)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "the model takes points of %d values, but rows are %lld "
                         "apart",
                         model->prepare.d_in, (long long)ld);
    bdml_la_enter(h);
    bdml_status status = predict(h, &h->options.neighbors, model, train, n, x, ld, label);
    bdml_la_leave(h);
    return status;
}
