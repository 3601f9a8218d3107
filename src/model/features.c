/* features.c - which features matter: the metric on raw points, each feature measured in its own spread.
 *
 *     N = S A'A S,   A the linear map on raw points (linear.c), S = diag(spread_j), the standard deviation of
 *                    feature j in the training data
 *
 * N_jj / trace N is the share of feature j in the squared distance of two points that differ by one spread in every
 * feature, crossed terms aside. Eigenvectors of N are the directions that count, its eigenvalues over the trace how much. */
#include "model/model.h"

#include <stdlib.h>

#include "linalg/linalg.h"

/* Of one column: values that are there, their mean, and squared deviations from it. */
typedef struct column {
    double there, mean, squares;
} column;

/* All columns, with the rows that s goes over added (Welford). */
static void look_at(bdml_scan *s, column *of)
{
    int d = s->rows->d;
    while (bdml_scan_next(s))
        for (int64_t i = 0; i < s->count; i++)
            for (int j = 0; j < d; j++) {
                double v = s->x[(size_t)i * (size_t)s->ld + (size_t)j];
                if (isnan(v)) continue;
                double off = v - of[j].mean;
                of[j].there += 1.0;
                of[j].mean += off / of[j].there;
                of[j].squares += off * (v - of[j].mean);
            }
}

/* Where rows are dealt out a rank goes on with what the one before it found, so that the bits are those of one process. */
bdml_status bdml_model_tell_spread(bdml_handle *h, bdml_model *model, const bdml_dataset *data)
{
    enum { NUMBERS = sizeof(column) / sizeof(double) };
    bdml_status status = BDML_OK;
    const bdml_comm *comm = data->over ? data->over->comm : &bdml_comm_serial;
    const bdml_rows rows = bdml_dataset_view(data);
    column *of = NULL;
    bdml_scan s = {0};

    BDML_NEW(h, of, data->d);
    BDML_GO(bdml_scan_begin(h, &rows, &s));
    bdml_comm_chain_begin(comm, (int64_t)data->d * NUMBERS, &of->there);
    look_at(&s, of);
    bdml_comm_chain_end(comm, (int64_t)data->d * NUMBERS, &of->there);
    json_t *list = json_array();
    for (int j = 0; j < data->d; j++) {
        double spread = of[j].there > 1.0 ? sqrt(of[j].squares / (of[j].there - 1.0)) : 0.0;
        bdml_json_push(&list, json_real(spread));
    }
    status = bdml_model_tell(h, model, "feature_spread", list);
done:
    bdml_scan_end(&s);
    free(of);
    return status;
}

/* B = A S, q rows of d_in. */
static bdml_status spread_map(bdml_handle *h, const bdml_model *model, double **out)
{
    bdml_status status = BDML_OK;
    size_t q = (size_t)model->q, d = (size_t)model->prepare.d_in;
    const json_t *spread = json_object_get(model->info, "feature_spread");
    double *b = NULL;

    *out = NULL;
    BDML_TRY(bdml_model_need_map(h, model));
    if (json_array_size(spread) != d)
        return bdml_fail(
            h, BDML_ERR_ARGUMENT,
            "the model does not say how far its features spread: it was not trained from "
            "points by this version");
    BDML_NEW(h, b, q * d);
    BDML_GO(bdml_model_get_linear(h, model, b));
    for (size_t i = 0; i < q; i++)
        for (size_t j = 0; j < d; j++) b[i * d + j] *= json_number_value(json_array_get(spread, j));
    *out = b;
    b = NULL;
done:
    free(b);
    return status;
}

bdml_status bdml_model_feature_weights(bdml_handle *h, const bdml_model *model, double *weight)
{
    double *b, sum = 0.0;
    if (!h) return BDML_ERR_ARGUMENT;
    if (!model || !weight)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "bdml_model_feature_weights: model and weight must not be NULL");
    BDML_TRY(spread_map(h, model, &b));
    int d = model->prepare.d_in;
    for (int j = 0; j < d; j++) {
        weight[j] = 0.0;
        for (int i = 0; i < model->q; i++) weight[j] += COL(b, d, i)[j] * COL(b, d, i)[j];
        sum += weight[j];
    }
    for (int j = 0; j < d && sum > 0.0; j++) weight[j] /= sum;
    free(b);
    return BDML_OK;
}

/* Eigenvectors u of B B' (q x q, q <= d) give those of B'B: v = B'u / |B'u|. */
bdml_status bdml_model_directions(bdml_handle *h, const bdml_model *model, int count, double *share,
                                  double *loading)
{
    bdml_status status = BDML_OK;
    bdml_eigh_ws ws = {0};
    double *b = NULL, *g = NULL, *lambda = NULL, trace = 0.0;

    if (!h) return BDML_ERR_ARGUMENT;
    if (!model || !share || !loading || count < 1)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "bdml_model_directions: no argument may be NULL, and count is at least 1");
    BDML_TRY(bdml_la_enter(h));
    int q = model->q, d = model->prepare.d_in;
    BDML_GO(spread_map(h, model, &b));
    BDML_NEW(h, g, (size_t)q * (size_t)q);
    BDML_NEW(h, lambda, q);
    BDML_GO(bdml_eigh_ws_init(h, q, &ws));
    bdml_la_gemm('T', 'N', q, q, d, 1.0, b, d, b, d, 0.0, g, q);
    BDML_GO(bdml_la_eigh(h, q, g, lambda, true, &ws));
    for (int i = 0; i < q; i++) trace += BDML_MAX(lambda[i], 0.0);
    for (int k = 0; k < count; k++) {
        double *v = loading + (size_t)k * (size_t)d, largest = 0.0, scale;
        memset(v, 0, (size_t)d * sizeof *v);
        share[k] = 0.0;
        if (k >= q || !(lambda[q - 1 - k] > 0.0)) continue;
        share[k] = lambda[q - 1 - k] / trace;
        bdml_la_gemv('N', d, q, 1.0, b, d, COL(g, q, q - 1 - k), 0.0, v);
        for (int j = 0; j < d; j++)
            if (fabs(v[j]) > fabs(largest)) largest = v[j];
        scale = copysign(1.0 / bdml_la_norm(d, v), largest); /* its largest entry is positive */
        for (int j = 0; j < d; j++) v[j] *= scale;
    }
done:
    bdml_la_leave(h);
    bdml_eigh_ws_free(&ws);
    free(b);
    free(g);
    free(lambda);
    return status;
}
