/* adapt_prepare.c - bring the rows of two domains into one space, without looking at labels.
 *
 *     rows      sum    x / sum x                    a histogram as shares
 *               root   sqrt(x / sum x)              so that |x - y| is Hellinger's distance of the shares
 *               unit   x / |x|
 *     columns   (x - mean) / std or x - mean, of the split's source rows and of all target rows, each by
 *               its own (column-scale-of domain: takes out what shifts and stretches whole domains), or of both;
 *               column-scale-of all: by its own, over all rows of the source
 *     PCA       of the scaled rows: source, target or both
 *     unit      x / |x|: distances of directions, since lengths differ between domains
 *
 * z-scored shares are what Gong et al. (2012) advise for their histograms. */
#include "evaluate/adapt.h"

#include <stdlib.h>

#include "linalg/linalg.h"

/* ---- rows ------------------------------------------------------------------------------------------------ */

static void row_unit(int d, double *x)
{
    double norm = bdml_la_norm(d, x);
    for (int j = 0; j < d && norm > 0.0; j++) x[j] /= norm;
}

bdml_status adapt_rows(bdml_handle *h, const bdml_adapt_options *o, bdml_dataset *data)
{
    int rows = o->rows.value, d = data->d;
    for (int64_t i = 0; i < data->n && rows != BDML_ADAPT_ROWS_NONE; i++) {
        double *x = COL(data->x, d, i), sum = 0.0;
        if (rows == BDML_ADAPT_ROWS_UNIT) {
            row_unit(d, x);
            continue;
        }
        for (int j = 0; j < d; j++) {
            if (!(x[j] >= 0.0))
                return bdml_fail(
                    h, BDML_ERR_DATA,
                    "%s: row %lld, column %d (from 0) is %g: rows = root and sum are for "
                    "counts, which are 0 or more; use rows = none or unit",
                    data->source ? data->source : "data", (long long)i, j, x[j]);
            sum += x[j];
        }
        for (int j = 0; j < d && sum > 0.0; j++)
            x[j] = rows == BDML_ADAPT_ROWS_ROOT ? sqrt(x[j] / sum) : x[j] / sum;
    }
    return BDML_OK;
}

/* ---- columns --------------------------------------------------------------------------------------------- */

/* Columns that are constant in a domain are many in histograms and no reason to warn. */
static bdml_status fit_columns(bdml_handle *h, int columns, const bdml_dataset *data,
                               bdml_prepare *p)
{
    bdml_log_fn log = h->log;
    *p = (bdml_prepare){.d_in = data->d, .d_out = data->d, .scale = BDML_SCALE_ZSCORE};
    h->log = NULL;
    const bdml_rows rows = bdml_dataset_view(data);
    bdml_status status = bdml_prepare_widths(h, &rows, NULL, NULL, p);
    h->log = log;
    if (status != BDML_OK) return status;
    if (columns == BDML_COLUMN_SCALE_CENTER)
        for (int j = 0; j < data->d; j++)
            if (isfinite(p->width[j])) p->width[j] = 1.0;
    return BDML_OK;
}

/* Fit on `of`, apply to n rows of x. */
static bdml_status scale_by(bdml_handle *h, int columns, const bdml_dataset *of, int64_t n,
                            double *x)
{
    bdml_prepare p = {0};
    bdml_status status = fit_columns(h, columns, of, &p);
    if (status == BDML_OK) status = bdml_prepare_scale(h, &p, n, x, of->d, 0, x);
    bdml_prepare_free(&p);
    return status;
}

/* xs and xt lie one behind the other; all: every row of the source. */
static bdml_status scale_columns(bdml_handle *h, const bdml_adapt_options *o,
                                 const bdml_dataset *all, const adapt_points *p)
{
    bdml_dataset source = {.n = p->ns, .d = p->d, .x = p->xs},
                 target = {.n = p->nt, .d = p->d, .x = p->xt},
                 both = {.n = p->ns + p->nt, .d = p->d, .x = p->xs};
    int columns = o->column_scale.value;
    if (columns == BDML_COLUMN_SCALE_NONE) return BDML_OK;
    if (o->column_scale_of.value == BDML_COLUMN_SCALE_OF_BOTH)
        return scale_by(h, columns, &both, both.n, p->xs);
    bool every = o->column_scale_of.value == BDML_COLUMN_SCALE_OF_ALL;
    BDML_TRY(scale_by(h, columns, every ? all : &source, p->ns, p->xs));
    return scale_by(h, columns, &target, p->nt, p->xt);
}

/* ---- PCA --------------------------------------------------------------------------------------------------- */

static bdml_status reduce(bdml_handle *h, const bdml_options *o, adapt_points *p)
{
    bdml_status status = BDML_OK;
    int asked = (int)o->adapt.dimensions.value, on = o->adapt.pca_domain.value;
    bdml_rows of = {.n = p->ns + p->nt, .d = p->d, .ld = p->d, .x = p->xs};
    bdml_prepare pca = {.d_in = p->d, .d_out = p->d, .scale = BDML_SCALE_NONE};

    if (on == BDML_PCA_DOMAIN_SOURCE) of.n = p->ns;
    if (on == BDML_PCA_DOMAIN_TARGET)
        of = (bdml_rows){.n = p->nt, .d = p->d, .ld = p->d, .x = p->xt};
    if (asked > 0)
        BDML_GO(bdml_pca_fit(h, asked, (uint64_t)o->general.seed.value, &of, NULL, &pca));
    p->q = pca.d_out;
    BDML_NEW(h, p->zs, (size_t)(p->ns + p->nt) * (size_t)p->q);
    p->zt = p->zs + (size_t)p->ns * (size_t)p->q;
    BDML_GO(bdml_prepare_apply(h, &pca, p->ns + p->nt, p->xs, p->d, p->zs));
    for (int64_t i = 0; i < p->ns + p->nt && o->adapt.unit.value; i++) {
        row_unit(p->q, COL(p->zs, p->q, i));
        row_unit(p->d, COL(p->xs, p->d, i));
    }
done:
    bdml_prepare_free(&pca);
    return status;
}

void adapt_points_free(adapt_points *p)
{
    free(p->xs); /* the target's rows lie behind the source's */
    free(p->zs);
    *p = (adapt_points){0};
}

bdml_status adapt_prepare(bdml_handle *h, const bdml_options *o, const bdml_dataset *source,
                          const bdml_dataset *target, const adapt_split *split, adapt_points *out)
{
    bdml_status status = BDML_OK;
    size_t d = (size_t)source->d;

    *out = (adapt_points){.ns = split->sources, .nt = target->n, .d = source->d, .y = target->y};
    BDML_NEW(h, out->xs, (size_t)(out->ns + out->nt) * d);
    out->xt = out->xs + (size_t)out->ns * d;
    for (int64_t i = 0; i < out->ns; i++)
        memcpy(COL(out->xs, d, i), COL(source->x, d, split->source[i]), d * sizeof(double));
    memcpy(out->xt, target->x, (size_t)target->n * d * sizeof(double));
    BDML_GO(scale_columns(h, &o->adapt, source, out));
    status = reduce(h, o, out);
done:
    if (status != BDML_OK) adapt_points_free(out);
    return status;
}
