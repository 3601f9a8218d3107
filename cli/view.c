/* view.c - some of the points in the two directions in which they vary most, as prepared and as mapped: for
 * a report to draw. */
#include "cli.h"

#include <stdlib.h>

enum { MOST_POINTS = 400, MOST_DIMENSIONS = 1000 };

/* Two leading principal coordinates of n rows of d, as [[x, y], ...]. */
static bdml_status project(cli *c, int64_t n, int d, const double *x, json_t **out)
{
    bdml_status status = BDML_OK;
    bdml_handle *h = NULL; /* with settings of its own */
    bdml_dataset *data = NULL;
    bdml_prepare *pca = NULL;
    double *z = NULL;

    *out = json_array();
    GO(bdml_create(&h));
    GO(bdml_set(h, "pca", d > 1 ? "2" : "1"));
    GO(bdml_dataset_from_arrays(h, n, d, x, d, NULL, &data));
    GO(bdml_fit_preparation(h, data, &pca));
    int width = bdml_preparation_dimension(pca);
    NEW(h, z, (size_t)n * (size_t)width);
    GO(bdml_prepare_rows(h, pca, n, x, d, z));
    for (int64_t i = 0; i < n; i++)
        json_array_append_new(*out,
                              json_pack("[f,f]", z[i * width], width > 1 ? z[i * width + 1] : 0.0));
done:
    if (status != BDML_OK && h) bdml_set_error(c->h, status, bdml_last_error(h));
    free(z);
    bdml_free_preparation(pca);
    bdml_free_dataset(data);
    bdml_free(h);
    return status;
}

/* Rows 0, step, 2 step, ... of the data: as prepared, and as mapped. */
static bdml_status some_rows(cli *c, const bdml_dataset *data, const bdml_model *model, int64_t n,
                             int64_t step, double **x, double **z, json_t *label)
{
    const double *rows = bdml_dataset_rows(data);
    const int32_t *y = bdml_dataset_labels(data);
    int64_t apart = step * bdml_dataset_dimension(data); /* every step-th row */
    bdml_status status = BDML_OK;
    NEW(c->h, *x, (size_t)n * (size_t)bdml_model_metric_dimension(model));
    NEW(c->h, *z, (size_t)n * (size_t)bdml_model_output_dimension(model));
    for (int64_t i = 0; i < n; i++) json_array_append_new(label, json_integer(y ? y[i * step] : 0));
    GO(bdml_prepare_rows(c->h, bdml_model_preparation(model), n, rows, apart, *x));
    status = bdml_transform(c->h, model, n, rows, apart, *z);
done:
    return status;
}

bdml_status cli_view_json(cli *c, const bdml_dataset *data, const bdml_model *model)
{
    bdml_status status = BDML_OK;
    int64_t points = bdml_dataset_points(data), step = (points + MOST_POINTS - 1) / MOST_POINTS;
    int64_t n = (points + step - 1) / step;
    int d = bdml_model_metric_dimension(model);
    double *x = NULL, *z = NULL;
    json_t *before = NULL, *after = NULL, *label = json_array(), *classes = json_array();

    if (d > MOST_DIMENSIONS || n < 2) goto done;
    GO(some_rows(c, data, model, n, step, &x, &z, label));
    GO(project(c, n, d, x, &before));
    GO(project(c, n, bdml_model_output_dimension(model), z, &after));
    for (int k = 0; k < bdml_dataset_classes(data); k++)
        json_array_append_new(classes, client_text(bdml_dataset_class_name(data, k)));
    cli_put(c->result, "view",
            json_pack("{s:O, s:O, s:O, s:O}", "before", before, "after", after, "class", label,
                      "classes", classes));
done:
    if (status == BDML_ERR_DATA) status = BDML_OK; /* points that are all equal: nothing to see */
    json_decref(before);
    json_decref(after);
    json_decref(label);
    json_decref(classes);
    free(x);
    free(z);
    return status;
}
