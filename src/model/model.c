/* model.c - the learned metric: its life, and L, M and kappa of one another.
 *
 *     M = Q diag(lambda) Q' = L'L,   L = diag(sqrt(lambda)) Q',   kappa = lambda_max / lambda_min */
#include "model/internal.h"

#include <float.h>
#include <stdlib.h>

#include "linalg/linalg.h"
#include "model/evidence.h"

/* keep-points = auto: mapped points up to this many bytes are kept in the model. */
static const double KEEP_BYTES = 64.0 * 1048576.0;
/* An imported M may carry the rounding of the program that printed it, but no more. */
static const double IMPORT_SLACK = 1e-9;

/* ---- life --------------------------------------------------------------------------------------- */

static void free_names(int64_t count, char **names)
{
    for (int64_t k = 0; names && k < count; k++) free(names[k]);
    free(names);
}

void bdml_free_model(bdml_model *m)
{
    if (!m) return;
    bdml_evidence_free(m->evidence);
    free_names(m->classes, m->class_name);
    free_names(m->prepare.d_in, m->feature_name);
    bdml_prepare_free(&m->prepare);
    free(m->l);
    free(m->z);
    free(m->y);
    free(m->similarity);
    json_decref(m->info);
    free(m->description);
    free(m);
}

static bdml_status copy_names(bdml_handle *h, int count, char *const *from, char ***out)
{
    *out = bdml_calloc(h, (size_t)count, sizeof **out);
    if (!*out) return BDML_ERR_MEMORY;
    for (int k = 0; k < count; k++)
        if (!((*out)[k] = bdml_strdup(h, from[k] ? from[k] : ""))) return BDML_ERR_MEMORY;
    return BDML_OK;
}

bdml_status bdml_model_new(bdml_handle *h, const bdml_dataset *data, bdml_prepare *prepare, int q,
                           bdml_model **out)
{
    bdml_status status = BDML_OK;
    bdml_model *m;

    *out = NULL;
    BDML_NEW(h, m, 1);
    m->prepare = *prepare; /* borrowed until nothing can fail any more */
    m->d = prepare->d_out;
    m->q = q;
    m->kappa = INFINITY;
    m->info = json_pack("{s:s}", "library", bdml_version());
    if (!m->info) {
        status = bdml_fail(h, BDML_ERR_MEMORY, "out of memory for a model");
        goto done;
    }
    BDML_NEW(h, m->l, (size_t)q * (size_t)m->d);
    if (data && data->classes > 0) {
        m->classes = data->classes;
        BDML_GO(copy_names(h, data->classes, data->class_name, &m->class_name));
    }
    if (data && data->feature_name)
        BDML_GO(copy_names(h, data->d, data->feature_name, &m->feature_name));
done:
    if (status == BDML_OK) {
        memset(prepare, 0, sizeof *prepare);
        *out = m;
    } else if (m) {
        int names = m->prepare.d_in;
        memset(&m->prepare, 0, sizeof m->prepare);
        m->prepare.d_in = names;
        bdml_free_model(m);
    }
    return status;
}

/* ---- L, M, kappa ---------------------------------------------------------------------------------- */

/* Rows of L: sqrt(lambda) times the eigenvector, its largest entry positive. a: eigenvectors in
 * columns, eigenvalues ascending; the `q` largest, descending. */
static void metric_rows(int d, int q, const double *a, const double *lambda, double *l)
{
    for (int r = 0; r < q; r++) {
        const double *v = COL(a, d, d - 1 - r);
        double largest = 0.0, scale = sqrt(lambda[d - 1 - r]);
        for (int j = 0; j < d; j++)
            if (fabs(v[j]) > fabs(largest)) largest = v[j];
        if (largest < 0.0) scale = -scale;
        for (int j = 0; j < d; j++) COL(l, d, r)[j] = scale * v[j];
    }
}

/* What a model holds can be loaded again. */
static bdml_status take_map(bdml_handle *h, bdml_model *m, int q, double *l, double kappa)
{
    for (size_t e = 0; e < (size_t)q * (size_t)m->d; e++)
        if (!(fabs(l[e]) <= BDML_LONGEST)) {
            free(l);
            return bdml_fail(h, BDML_ERR_DATA,
                             "the map L of the metric has an entry beyond %g: squared distances "
                             "under it are no numbers; give it in another unit",
                             BDML_LONGEST);
        }
    free(m->l);
    m->l = l;
    m->q = q;
    m->kappa = kappa;
    return BDML_OK;
}

bdml_status bdml_metric_factor(bdml_handle *h, int d, const double *m, int *rank, double **out,
                               double *kappa)
{
    bdml_status status = BDML_OK;
    int q = 0;
    double *a = NULL, *lambda = NULL, *l = NULL;
    bdml_eigh_ws ws = {0};

    *out = NULL;
    BDML_NEW(h, a, (size_t)d * (size_t)d);
    BDML_NEW(h, lambda, d);
    BDML_GO(bdml_eigh_ws_init(h, d, &ws));
    memcpy(a, m, sizeof(double) * (size_t)d * (size_t)d);
    BDML_GO(bdml_la_eigh(h, d, a, lambda, true, &ws));
    double most = lambda[d - 1], noise = d * DBL_EPSILON * most;
    if (!(most > 0.0) || !isfinite(most)) {
        status =
            bdml_fail(h, BDML_ERR_DATA,
                      "the metric has no positive eigenvalue (largest: %g): all distances would "
                      "be 0",
                      most);
        goto done;
    }
    if (lambda[0] < -BDML_MAX(IMPORT_SLACK * most, noise)) {
        status =
            bdml_fail(h, BDML_ERR_DATA,
                      "the metric must be positive semidefinite, its eigenvalues go from %g to %g",
                      lambda[0], most);
        goto done;
    }
    while (q < d && lambda[d - 1 - q] > noise) q++;
    BDML_NEW(h, l, (size_t)q * (size_t)d);
    metric_rows(d, q, a, lambda, l);
    *out = l;
    *rank = q;
    *kappa = q == d ? most / lambda[0] : INFINITY;
done:
    bdml_eigh_ws_free(&ws);
    free(lambda);
    free(a);
    return status;
}

bdml_status bdml_model_set_metric(bdml_handle *h, bdml_model *model, const double *m)
{
    int q = 0;
    double *l = NULL, kappa = INFINITY;
    BDML_TRY(bdml_metric_factor(h, model->d, m, &q, &l, &kappa));
    return take_map(h, model, q, l, kappa);
}

/* kappa(L'L) = (sigma_max / sigma_min)^2, from L itself: L'L would lose half of the digits. */
bdml_status bdml_model_set_map(bdml_handle *h, bdml_model *model, int q, const double *l)
{
    bdml_status status = BDML_OK;
    int d = model->d;
    size_t size = (size_t)q * (size_t)d;
    double *copy = NULL, *sigma = NULL;

    if (q < 1) return bdml_fail(h, BDML_ERR_ARGUMENT, "a map needs at least one row, got %d", q);
    for (size_t e = 0; e < size; e++)
        if (!isfinite(l[e]))
            return bdml_fail(h, BDML_ERR_DATA, "the map holds %g at row %lld, column %lld (from 0)",
                             l[e], (long long)(e / (size_t)d), (long long)(e % (size_t)d));
    BDML_NEW(h, copy, size);
    BDML_NEW(h, sigma, BDML_MIN(q, d));
    memcpy(copy, l, sizeof(double) * size);
    BDML_GO(bdml_la_singular_values(h, d, q, copy, sigma));
    if (!(sigma[0] > 0.0)) {
        status = bdml_fail(h, BDML_ERR_DATA, "the map is zero: all distances would be 0");
        goto done;
    }
    if (sigma[0] > BDML_LONGEST) {
        status = bdml_fail(h, BDML_ERR_DATA,
                           "the map stretches by %.3g: beyond %g the metric L'L is not finite",
                           sigma[0], BDML_LONGEST);
        goto done;
    }
    double least = q < d ? 0.0 : sigma[d - 1], noise = BDML_MAX(q, d) * DBL_EPSILON * sigma[0];
    double ratio = least > noise ? sigma[0] / least : INFINITY;
    memcpy(copy, l, sizeof(double) * size);
    status = take_map(h, model, q, copy, ratio * ratio);
    copy = NULL;
done:
    free(copy);
    free(sigma);
    return status;
}

/* All mapped points on every rank. */
static bdml_status gather_points(bdml_handle *h, const bdml_spread *over, int q, double *z)
{
    bdml_status status = BDML_OK;
    double *count = NULL;
    BDML_NEW(h, count, over->comm->size);
    for (int k = 0; k < over->comm->size; k++)
        count[k] = (double)(over->start[k + 1] - over->start[k]);
    bdml_comm_gather(over->comm, count, sizeof *z * (size_t)q, z);
done:
    free(count);
    return status;
}

bdml_status bdml_model_keep_points(bdml_handle *h, bdml_yes_no_auto keep, bdml_model *model,
                                   const bdml_spread *over, int64_t n, const bdml_rows *rows,
                                   const int32_t *y)
{
    bdml_status status = BDML_OK;
    double bytes = 8.0 * (double)n * (double)model->q;
    double *z = NULL;
    int32_t *labels = NULL;
    bdml_scan s = {0};

    if (keep == BDML_AUTO_NO || n < 1) return BDML_OK;
    if (keep == BDML_AUTO_AUTO && bytes > KEEP_BYTES) {
        bdml_log(
            h, BDML_LOG_INFO,
            "the mapped training points (%.0f MiB) are not kept in the model; keep-points = yes "
            "keeps them",
            bytes / 1048576.0);
        return BDML_OK;
    }
    BDML_NEW(h, z, (size_t)n * (size_t)model->q);
    if (y) {
        BDML_NEW(h, labels, n);
        memcpy(labels, y, sizeof(int32_t) * (size_t)n);
    }
    double *here = z + (size_t)bdml_spread_first(over) * (size_t)model->q;
    BDML_GO(bdml_scan_begin(h, rows, &s));
    while (bdml_scan_next(&s))
        BDML_GO(bdml_model_map(h, model, s.count, s.x, here + (size_t)s.from * (size_t)model->q));
    if (over) BDML_GO(gather_points(h, over, model->q, z));
    free(model->z);
    free(model->y);
    model->points = n;
    model->z = z;
    model->y = labels;
    z = NULL;
    labels = NULL;
done:
    bdml_scan_end(&s);
    free(z);
    free(labels);
    return status;
}

/* ---- a map made elsewhere --------------------------------------------------------------------------- */

/* Copy of M, symmetric to the last bit; `m` need only be so up to IMPORT_SLACK. */
static bdml_status symmetrize(bdml_handle *h, int d, const double *m, double *out)
{
    double largest = 0.0;
    for (size_t e = 0; e < (size_t)d * (size_t)d; e++) {
        if (!isfinite(m[e]))
            return bdml_fail(h, BDML_ERR_DATA,
                             "the metric holds %g at row %lld, column %lld (from 0)", m[e],
                             (long long)(e / (size_t)d), (long long)(e % (size_t)d));
        largest = BDML_MAX(largest, fabs(m[e]));
    }
    for (int i = 0; i < d; i++)
        for (int j = 0; j <= i; j++) {
            double a = COL(m, d, i)[j], b = COL(m, d, j)[i];
            if (!(fabs(a - b) <= IMPORT_SLACK * largest))
                return bdml_fail(
                    h, BDML_ERR_DATA,
                    "the metric must be symmetric, but row %d, column %d is %.15g and row "
                    "%d, column %d is %.15g",
                    i, j, a, j, i, b);
            COL(out, d, i)[j] = COL(out, d, j)[i] = 0.5 * a + 0.5 * b;
        }
    return BDML_OK;
}

static bdml_status from_map(bdml_handle *h, int q, int d, const double *l, bool is_metric,
                            bdml_model **out)
{
    bdml_status status = BDML_OK;
    bdml_prepare prepare = {.d_in = d, .d_out = d, .scale = BDML_SCALE_NONE, .variance = 1.0};
    bdml_model *model = NULL;
    double *m = NULL;

    BDML_GO(bdml_model_new(h, NULL, &prepare, q, &model));
    if (is_metric) {
        BDML_NEW(h, m, (size_t)d * (size_t)d);
        BDML_GO(symmetrize(h, d, l, m));
        BDML_GO(bdml_model_set_metric(h, model, m));
    } else {
        BDML_GO(bdml_model_set_map(h, model, q, l));
    }
    status = bdml_model_tell(h, model, "method", json_string("imported"));
done:
    free(m);
    if (status == BDML_OK)
        *out = model;
    else
        bdml_free_model(model);
    return status;
}

bdml_status bdml_model_from_map(bdml_handle *h, int q, int d, const double *l, int is_metric,
                                bdml_model **out)
{
    if (out) *out = NULL;
    if (!h || !out) return BDML_ERR_ARGUMENT;
    if (!l) return bdml_fail(h, BDML_ERR_ARGUMENT, "bdml_model_from_map: l must not be NULL");
    if (q < 1 || d < 1)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "a map needs at least 1 row and 1 column, got %d x %d", q, d);
    if (is_metric && q != d)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "a metric is square, got %d x %d", q, d);
    BDML_TRY(bdml_la_enter(h));
    bdml_status status = from_map(h, q, d, l, is_metric != 0, out);
    bdml_la_leave(h);
    return status;
}

/* ---- questions ------------------------------------------------------------------------------------- */

int bdml_model_input_dimension(const bdml_model *model)
{
    return model ? model->prepare.d_in : 0;
}

int bdml_model_metric_dimension(const bdml_model *model)
{
    return model ? model->d : 0;
}

int bdml_model_output_dimension(const bdml_model *model)
{
    return model ? model->q : 0;
}

double bdml_model_kappa(const bdml_model *model)
{
    return model ? model->kappa : NAN;
}

int bdml_model_classes(const bdml_model *model)
{
    return model ? model->classes : 0;
}

const char *bdml_model_class_name(const bdml_model *model, int c)
{
    return model && c >= 0 && c < model->classes ? model->class_name[c] : NULL;
}

bdml_status bdml_model_need_map(bdml_handle *h, const bdml_model *model)
{
    return model->l ? BDML_OK
                    : bdml_fail(h, BDML_ERR_ARGUMENT,
                                "this is no metric but the proof that there is none");
}

bdml_status bdml_model_get_map(bdml_handle *h, const bdml_model *model, double *l)
{
    if (!h) return BDML_ERR_ARGUMENT;
    if (!model || !l)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "bdml_model_get_map: model and l must not be NULL");
    BDML_TRY(bdml_model_need_map(h, model));
    memcpy(l, model->l, sizeof(double) * (size_t)model->q * (size_t)model->d);
    return BDML_OK;
}

/* A = V S U' (A' = U S V' as columns), so A^-1 = U S^-1 V'. */
bdml_status bdml_map_inverse(bdml_handle *h, int d, const double *a, double *inverse)
{
    bdml_status status = BDML_OK;
    size_t size = (size_t)d * (size_t)d;
    double *copy = NULL, *u = NULL, *vt = NULL, *sigma = NULL;

    BDML_NEW(h, copy, size);
    BDML_NEW(h, u, size);
    BDML_NEW(h, vt, size);
    BDML_NEW(h, sigma, d);
    memcpy(copy, a, size * sizeof *a);
    BDML_GO(bdml_la_svd(h, d, d, copy, sigma, u, vt));
    if (!(sigma[d - 1] > (double)d * DBL_EPSILON * sigma[0]))
        BDML_GO(bdml_fail(h, BDML_ERR_DATA, "the map is singular to the digits of doubles"));
    for (int k = 0; k < d; k++)
        for (int i = 0; i < d; i++) COL(u, d, k)[i] /= sigma[k];
    bdml_la_gemm('T', 'T', d, d, d, 1.0, vt, d, u, d, 0.0, inverse, d);
done:
    free(copy);
    free(u);
    free(vt);
    free(sigma);
    return status;
}

bdml_status bdml_model_get_inverse(bdml_handle *h, const bdml_model *model, double *inverse)
{
    if (!h) return BDML_ERR_ARGUMENT;
    if (!model || !inverse)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "bdml_model_get_inverse: model and inverse must not be NULL");
    BDML_TRY(bdml_model_need_map(h, model));
    if (model->q != model->d)
        return bdml_fail(h, BDML_ERR_DATA,
                         "the map takes %d dimensions to %d: what is lost there cannot be brought "
                         "back, and L has no inverse",
                         model->d, model->q);
    BDML_TRY(bdml_la_enter(h));
    bdml_status status = bdml_map_inverse(h, model->d, model->l, inverse);
    bdml_la_leave(h);
    size_t cells = (size_t)model->d * (size_t)model->d;
    for (size_t k = 0; status == BDML_OK && k < cells; k++)
        if (!isfinite(inverse[k]))
            status = bdml_fail(h, BDML_ERR_DATA,
                               "the map is so short that its inverse holds %g: it has none in "
                               "double precision",
                               inverse[k]);
    return status;
}

bdml_status bdml_model_get_metric(bdml_handle *h, const bdml_model *model, double *m)
{
    if (!h) return BDML_ERR_ARGUMENT;
    if (!model || !m)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "bdml_model_get_metric: model and m must not be NULL");
    BDML_TRY(bdml_model_need_map(h, model));
    BDML_TRY(bdml_la_enter(h));
    bdml_la_syrk('N', model->d, model->q, 1.0, model->l, model->d, 0.0, m, model->d);
    bdml_la_mirror(model->d, m, model->d);
    bdml_la_leave(h);
    return BDML_OK;
}
