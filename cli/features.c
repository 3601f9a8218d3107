/* features.c - which features matter to a metric.
 *
 * On the prepared points, with s_j the standard deviation of column j there (1 where no data are at hand),
 *
 *     weight_j = M_jj s_j^2 / sum_i M_ii s_i^2,     directions: eigenvectors of S M S = B'B, B = L S, S = diag(s):
 *
 * what a step of one standard deviation along a feature, or along a mixture of features, adds to squared
 * distances, as a share of what all of them do. After PCA the columns are components, not features. */
#include "cli.h"

#include <stdlib.h>

enum { DIRECTIONS = 3, LOADINGS = 6 };

typedef struct weighed {
    int column;
    double value;
} weighed;

static int heaviest_first(const void *a, const void *b)
{
    const weighed *x = a, *y = b;
    if (fabs(x->value) != fabs(y->value)) return fabs(x->value) < fabs(y->value) ? 1 : -1;
    return x->column - y->column;
}

/* After PCA. */
static bool has_components(const bdml_model *model)
{
    return !isnan(bdml_preparation_variance(bdml_model_preparation(model)));
}

static json_t *name_of(const bdml_model *model, int j)
{
    char text[64];
    bool components = has_components(model);
    const char *name = components ? NULL : bdml_model_feature_name(model, j);
    snprintf(text, sizeof text, "%s %d", components ? "component" : "column", j + 1);
    return client_text(name && *name ? name : text);
}

/* Standard deviation of each prepared column; 1 without data. */
static bdml_status spread(cli *c, const bdml_model *model, const bdml_dataset *data, double *s)
{
    enum { BLOCK = 256 };
    bdml_status status = BDML_OK;
    int d = bdml_model_metric_dimension(model), raw = bdml_model_input_dimension(model);
    double *z = NULL, *mean = NULL;
    for (int j = 0; j < d; j++) s[j] = data ? 0.0 : 1.0;
    if (!data) return BDML_OK;
    NEW(c->h, z, (size_t)BLOCK * (size_t)d);
    NEW(c->h, mean, d);
    int64_t n = bdml_dataset_points(data);
    for (int64_t i = 0; i < n; i += BLOCK) {
        int64_t rows = MIN(BLOCK, n - i);
        GO(bdml_prepare_rows(c->h, bdml_model_preparation(model), rows,
                             bdml_dataset_rows(data) + i * raw, raw, z));
        for (int64_t r = 0; r < rows; r++) /* Welford */
            for (int j = 0; j < d; j++) {
                double v = z[r * d + j], off = v - mean[j];
                mean[j] += off / (double)(i + r + 1);
                s[j] += off * (v - mean[j]);
            }
    }
    for (int j = 0; j < d; j++) s[j] = sqrt(s[j] / (double)MAX(n, 1));
done:
    free(z);
    free(mean);
    return status;
}

/* Eigenvectors of B'B: the principal directions of the rows of B and of -B, whose mean is 0. v: width rows of d. */
static bdml_status principal(cli *c, int q, int d, const double *b, int width, double *v)
{
    bdml_status status = BDML_OK;
    bdml_handle *h = NULL; /* with settings of its own */
    bdml_dataset *rows = NULL;
    bdml_prepare *pca = NULL;
    double *both = NULL, *unit = NULL, *z = NULL;
    char text[16];
    size_t size = (size_t)q * (size_t)d;

    GO(bdml_create(&h));
    NEW(h, both, 2 * size);
    NEW(h, unit, d);
    NEW(h, z, width);
    for (size_t i = 0; i < size; i++) {
        both[i] = b[i];
        both[size + i] = -b[i];
    }
    snprintf(text, sizeof text, "%d", width);
    GO(bdml_set(h, "pca", text));
    GO(bdml_dataset_from_arrays(h, 2 * (int64_t)q, d, both, d, NULL, &rows));
    GO(bdml_fit_preparation(h, rows, &pca));
    for (int j = 0; j < d; j++) {
        unit[j] = 1.0;
        GO(bdml_prepare_rows(h, pca, 1, unit, d, z));
        unit[j] = 0.0;
        for (int k = 0; k < width; k++) v[k * d + j] = z[k];
    }
done:
    if (status != BDML_OK && h) bdml_set_error(c->h, status, bdml_last_error(h));
    free(both);
    free(unit);
    free(z);
    bdml_free_preparation(pca);
    bdml_free_dataset(rows);
    bdml_free(h);
    return status;
}

static double energy(int q, int d, const double *b, const double *v)
{
    double sum = 0.0;
    for (int i = 0; i < q; i++) {
        double t = 0.0;
        for (int j = 0; j < d; j++) t += b[(size_t)i * (size_t)d + (size_t)j] * v[j];
        sum += t * t;
    }
    return sum;
}

/* One direction: its share, and its largest loadings, the largest of them positive. */
static json_t *direction_json(const bdml_model *model, int d, const double *v, double share,
                              weighed *order)
{
    json_t *o = json_object(), *name = json_array(), *loading = json_array();
    for (int j = 0; j < d; j++) order[j] = (weighed){j, v[j]};
    qsort(order, (size_t)d, sizeof *order, heaviest_first);
    double sign = order[0].value < 0.0 ? -1.0 : 1.0;
    for (int k = 0; k < MIN(d, LOADINGS); k++) {
        json_array_append_new(name, name_of(model, order[k].column));
        json_array_append_new(loading, cli_real(sign * order[k].value));
    }
    cli_put(o, "share", cli_real(share));
    cli_put(o, "feature", name);
    cli_put(o, "loading", loading);
    return o;
}

bdml_status cli_features_json(cli *c, const bdml_model *model, const bdml_dataset *data,
                              json_t *out)
{
    bdml_status status = BDML_OK;
    int d = bdml_model_metric_dimension(model), q = bdml_model_output_dimension(model);
    int width = MIN(DIRECTIONS, MIN(q, d));
    double *b = NULL, *s = NULL, *v = NULL, total = 0.0;
    weighed *order = NULL;
    json_t *o = json_object(), *name = json_array(), *weight = json_array(), *column = json_array(),
           *directions = json_array();

    NEW(c->h, b, (size_t)q * (size_t)d);
    NEW(c->h, s, d);
    NEW(c->h, v, (size_t)width * (size_t)d);
    NEW(c->h, order, d);
    GO(bdml_model_get_map(c->h, model, b));
    GO(spread(c, model, data, s));
    for (int j = 0; j < d; j++) {
        order[j].column = j;
        for (int i = 0; i < q; i++) {
            double *entry = &b[(size_t)i * (size_t)d + (size_t)j];
            *entry *= s[j];
            order[j].value += *entry * *entry;
        }
        total += order[j].value;
    }
    if (!(total > 0.0)) goto done; /* points that are all the same: nothing matters */
    qsort(order, (size_t)d, sizeof *order, heaviest_first);
    for (int k = 0; k < d; k++) {
        json_array_append_new(name, name_of(model, order[k].column));
        json_array_append_new(weight, cli_real(order[k].value / total));
        json_array_append_new(column, json_integer(order[k].column));
    }
    GO(principal(c, q, d, b, width, v));
    for (int k = 0; k < width; k++)
        json_array_append_new(directions,
                              direction_json(model, d, v + (size_t)k * (size_t)d,
                                             energy(q, d, b, v + (size_t)k * (size_t)d) / total,
                                             order));
    cli_put(o, "kind", json_string(has_components(model) ? "components" : "features"));
    cli_put(o, "name", json_incref(name));
    cli_put(o, "column", json_incref(column));
    cli_put(o, "weight", json_incref(weight));
    cli_put(o, "direction", json_incref(directions));
    cli_put(out, "features_that_matter", json_incref(o));
done:
    json_decref(o);
    json_decref(name);
    json_decref(weight);
    json_decref(column);
    json_decref(directions);
    free(b);
    free(s);
    free(v);
    free(order);
    return status;
}
