/* view.c - some of the points in the two directions in which they vary most, as prepared and as mapped: for
 * a report to draw. */
#include "cli.h"

#include <stdlib.h>

#include "linalg/linalg.h"

enum { MOST_POINTS = 400, MOST_DIMENSIONS = 1000 };

/* Two leading principal coordinates of n centred rows of d, as [[x, y], ...]. */
static bdml_status project(cli *c, int64_t n, int d, double *x, json_t **out)
{
    bdml_status status = BDML_OK;
    size_t rows = (size_t)n, width = (size_t)d;
    double *gram = NULL, *ws = NULL, *lambda = NULL;
    bdml_eigh_ws eigen = {0};

    *out = NULL;
    BDML_NEW(c->h, gram, width * width);
    BDML_NEW(c->h, lambda, width);
    BDML_NEW(c->h, ws, bdml_la_gram_size(d));
    BDML_GO(bdml_eigh_ws_init(c->h, d, &eigen));
    for (size_t j = 0; j < width; j++) {
        double mean = 0.0;
        for (size_t i = 0; i < rows; i++) mean += x[i * width + j] / (double)n;
        for (size_t i = 0; i < rows; i++) x[i * width + j] -= mean;
    }
    bdml_la_enter(c->h);
    bdml_la_gram(c->h, d, n, x, d, NULL, gram, ws);
    status = bdml_la_eigh(c->h, d, gram, lambda, true, &eigen);
    bdml_la_leave(c->h);
    if (status != BDML_OK) goto done;
    *out = json_array();
    for (size_t i = 0; i < rows; i++) {
        double at[2] = {0.0, 0.0};
        for (size_t k = 0; k < BDML_MIN(width, (size_t)2); k++)
            for (size_t j = 0; j < width; j++)
                at[k] += x[i * width + j] * gram[(width - 1 - k) * width + j];
        json_array_append_new(*out, json_pack("[f,f]", at[0], at[1]));
    }
done:
    bdml_eigh_ws_free(&eigen);
    free(gram);
    free(lambda);
    free(ws);
    return status;
}

/* Rows 0, step, 2 step, ... of the data, prepared. */
static bdml_status prepared_rows(cli *c, const bdml_dataset *data, const bdml_model *model,
                                 int64_t n, int64_t step, double **x, json_t *label)
{
    bdml_status status = BDML_OK;
    double *raw = NULL;
    size_t d = (size_t)data->d;
    BDML_NEW(c->h, raw, (size_t)n * d);
    BDML_NEW(c->h, *x, (size_t)n * (size_t)model->d);
    for (int64_t i = 0; i < n; i++) {
        memcpy(raw + (size_t)i * d, data->x + (size_t)(i * step) * d, sizeof *raw * d);
        json_array_append_new(label, json_integer(data->y ? data->y[i * step] : 0));
    }
    status = bdml_prepare_apply(c->h, &model->prepare, n, raw, data->d, *x);
done:
    free(raw);
    return status;
}

bdml_status cli_view_json(cli *c, const bdml_dataset *data, const bdml_model *model)
{
    bdml_status status = BDML_OK;
    int64_t step = (data->n + MOST_POINTS - 1) / MOST_POINTS, n = (data->n + step - 1) / step;
    double *x = NULL, *z = NULL;
    json_t *before = NULL, *after = NULL, *label = json_array(), *classes = json_array();

    if (model->d > MOST_DIMENSIONS || n < 2) goto done;
    BDML_GO(prepared_rows(c, data, model, n, step, &x, label));
    BDML_NEW(c->h, z, (size_t)n * (size_t)model->q);
    BDML_GO(bdml_model_map(c->h, model, n, x, z));
    BDML_GO(project(c, n, model->d, x, &before));
    BDML_GO(project(c, n, model->q, z, &after));
    for (int k = 0; k < data->classes; k++)
        json_array_append_new(classes, bdml_json_text(data->class_name[k]));
    json_t *view = json_pack("{s:O, s:O, s:O, s:O}", "before", before, "after", after, "class",
                             label, "classes", classes);
    cli_put(c->result, "view", view);
done:
    json_decref(before);
    json_decref(after);
    json_decref(label);
    json_decref(classes);
    free(x);
    free(z);
    return status;
}
