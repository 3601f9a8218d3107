/* view.c - some of the points in the two directions in which they vary most, as prepared and under metrics, with
 * their nearest neighbours: for a report to draw. */
#include "cli.h"

#include <stdlib.h>

enum { MOST_POINTS = 400, MOST_DIMENSIONS = 1000, MOST_FEATURES = 4, MOST_NEIGHBORS = 10 };

/* Rows 0, step, 2 step, ... of the data. */
bool cli_view_open(cli *c, const bdml_dataset *data, cli_view *v)
{
    int64_t points = bdml_dataset_points(data);
    *v = (cli_view){.data = data, .step = (points + MOST_POINTS - 1) / MOST_POINTS};
    if (points < 2 || bdml_dataset_dimension(data) > MOST_DIMENSIONS) return false;
    v->n = (points + v->step - 1) / v->step;
    double k = bdml_get_number(c->h, "neighbors");
    v->neighbors = (int)MIN(MIN(MAX(k, 1.0), MOST_NEIGHBORS), (double)(v->n - 1));
    return true;
}

/* Five digits are more than a picture shows. */
static json_t *rounded(double v)
{
    char text[CLIENT_NUMBER];
    snprintf(text, sizeof text, "%.5g", v);
    return cli_real(strtod(text, NULL));
}

/* ---- a cloud ---------------------------------------------------------------------------------------- */

/* Two leading principal coordinates of n rows of d; where there is one alone the second is 0. */
static bdml_status project(cli *c, int64_t n, int d, const double *x, double *z)
{
    bdml_status status = BDML_OK;
    bdml_handle *h = NULL; /* with settings of its own */
    bdml_dataset *data = NULL;
    bdml_prepare *pca = NULL;

    GO(bdml_create(&h));
    GO(bdml_set(h, "pca", d > 1 ? "2" : "1"));
    GO(bdml_dataset_from_arrays(h, n, d, x, d, NULL, &data));
    GO(bdml_fit_preparation(h, data, &pca));
    int width = bdml_preparation_dimension(pca);
    GO(bdml_prepare_rows(h, pca, n, x, d, z));
    for (int64_t i = n - 1; i >= 0 && width == 1; i--) {
        z[2 * i] = z[i];
        z[2 * i + 1] = 0.0;
    }
done:
    if (status != BDML_OK && h) bdml_set_error(c->h, status, bdml_last_error(h));
    bdml_free_preparation(pca);
    bdml_free_dataset(data);
    bdml_free(h);
    return status;
}

/* Sum over columns of the mean square about the mean. */
static double variance(int64_t n, int d, const double *x)
{
    double sum = 0.0;
    for (int j = 0; j < d; j++) {
        double mean = 0.0;
        for (int64_t i = 0; i < n; i++) mean += x[i * d + j] / (double)n;
        for (int64_t i = 0; i < n; i++)
            sum += (x[i * d + j] - mean) * (x[i * d + j] - mean) / (double)n;
    }
    return sum;
}

/* Turn the axes (z by -1) so that the cloud lies as `like` does, and scale it to a total variance of 1: neither
 * changes which point is near to which. */
static json_t *points_json(int64_t n, const double *z, double total, const json_t *like)
{
    json_t *out = json_array();
    double along[2] = {0.0, 0.0};
    for (int64_t i = 0; i < n; i++)
        for (size_t k = 0; k < 2; k++)
            along[k] += z[2 * i + (int64_t)k] *
                        json_number_value(json_array_get(json_array_get(like, (size_t)i), k));
    for (int64_t i = 0; i < n; i++) {
        json_t *p = json_array();
        for (int k = 0; k < 2; k++)
            json_array_append_new(p, rounded((along[k] < 0.0 ? -1.0 : 1.0) * z[2 * i + k] /
                                             sqrt(total)));
        json_array_append_new(out, p);
    }
    return out;
}

static bdml_status neighbors_json(cli *c, int64_t n, int d, const double *x, int k, json_t *out)
{
    bdml_status status = BDML_OK;
    int32_t *index = NULL;
    NEW(c->h, index, (size_t)n * (size_t)k);
    GO(bdml_find_neighbors(c->h, n, d, x, d, NULL, n, NULL, d, NULL, BDML_ANY_CLASS, k, index,
                           NULL));
    for (int64_t i = 0; i < n; i++) {
        json_t *list = json_array();
        for (int t = 0; t < k; t++) json_array_append_new(list, json_integer(index[i * k + t]));
        json_array_append_new(out, list);
    }
done:
    free(index);
    return status;
}

bdml_status cli_view_cloud(cli *c, const cli_view *v, const bdml_model *model, bool mapped,
                           const json_t *like, json_t **out)
{
    bdml_status status = BDML_OK;
    int64_t apart = v->step * bdml_dataset_dimension(v->data);
    int d = mapped ? bdml_model_output_dimension(model) : bdml_model_metric_dimension(model);
    const double *rows = bdml_dataset_rows(v->data);
    double *x = NULL, *z = NULL;
    json_t *near = json_array(), *share = json_array();

    *out = json_object();
    NEW(c->h, x, (size_t)v->n * (size_t)d);
    NEW(c->h, z, 2 * (size_t)v->n);
    if (mapped)
        GO(bdml_transform(c->h, model, v->n, rows, apart, x));
    else
        GO(bdml_prepare_rows(c->h, bdml_model_preparation(model), v->n, rows, apart, x));
    GO(bdml_confirm_dataset(c->h, v->data));
    GO(project(c, v->n, d, x, z));
    double total = variance(v->n, d, x);
    for (int k = 0; k < 2; k++) {
        double square = 0.0;
        for (int64_t i = 0; i < v->n; i++) square += z[2 * i + k] * z[2 * i + k] / (double)v->n;
        json_array_append_new(share, rounded(square / total));
    }
    GO(neighbors_json(c, v->n, d, x, v->neighbors, near));
    cli_put(*out, "points",
            points_json(v->n, z, total, like ? json_object_get(like, "points") : NULL));
    cli_put(*out, "share", json_incref(share));
    cli_put(*out, "neighbors", json_incref(near));
done:
    json_decref(near);
    json_decref(share);
    free(x);
    free(z);
    return status;
}

/* ---- who the points are ---------------------------------------------------------------------------------- */

void cli_view_points(const cli_view *v, const json_t *features, json_t *out)
{
    const int32_t *y = bdml_dataset_labels(v->data);
    const double *x = bdml_dataset_rows(v->data);
    int d = bdml_dataset_dimension(v->data);
    json_t *row = json_array(), *label = json_array(), *classes = json_array();
    json_t *name = json_array(), *value = json_array();
    const json_t *column = json_object_get(features, "column"),
                 *names = json_object_get(features, "name");
    /* of components there is no column in the data */
    bool known = strcmp(client_string(features, "kind"), "features") == 0;
    size_t shown = known ? MIN((size_t)d, MOST_FEATURES) : 0;

    for (size_t f = 0; f < shown; f++) json_array_append(name, json_array_get(names, f));
    for (int64_t i = 0; i < v->n; i++) {
        int64_t r = i * v->step;
        json_t *list = json_array();
        json_array_append_new(row, json_integer(r));
        json_array_append_new(label, json_integer(y ? y[r] : 0));
        for (size_t f = 0; f < shown; f++)
            json_array_append_new(list,
                                  rounded(
                                      x[r * d + json_integer_value(json_array_get(column, f))]));
        json_array_append_new(value, list);
    }
    for (int k = 0; k < bdml_dataset_classes(v->data); k++)
        json_array_append_new(classes, client_text(bdml_dataset_class_name(v->data, k)));
    cli_put(out, "rows", json_integer(bdml_dataset_points(v->data)));
    cli_put(out, "row", row);
    cli_put(out, "class", label);
    cli_put(out, "classes", classes);
    cli_put(out, "feature", name);
    cli_put(out, "value", value);
}

bdml_status cli_view_json(cli *c, const bdml_dataset *data, const bdml_model *model)
{
    bdml_status status = BDML_OK;
    json_t *before = NULL, *after = NULL, *view = json_object();
    cli_view v;

    if (!cli_view_open(c, data, &v)) goto done;
    cli_view_points(&v, json_object_get(c->result, "features_that_matter"), view);
    GO(cli_view_cloud(c, &v, model, false, NULL, &before));
    GO(cli_view_cloud(c, &v, model, true, before, &after));
    cli_put(view, "before", json_incref(before));
    cli_put(view, "after", json_incref(after));
    cli_put(c->result, "view", json_incref(view));
done:
    if (status == BDML_ERR_DATA) status = BDML_OK; /* points that are all equal: nothing to see */
    json_decref(before);
    json_decref(after);
    json_decref(view);
    return status;
}
