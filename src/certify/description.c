/* description.c - what goes with a claim: the data it is about, the words and figures in the model's
 * description, names, the distortion of the whole map, and the kept training points. A claim that holds is of
 * little use when the description tells of another one, or when k-NN votes over other points. */
#include "certify/plain.h"

#include <inttypes.h>
#include <stdlib.h>

static void note(bdml_plain *w, const char *what, const char *fields, bool holds,
                 const char *detail)
{
    bdml_verdict_note(w->v, BDML_LEVEL_NUMBERS, what, fields, holds, "%s", detail);
}

/* ---- data and names --------------------------------------------------------------------------------- */

/* The data's fingerprint is in the description: other data than those learned from prove nothing. */
static void check_data(bdml_plain *w)
{
    const json_t *info = w->model->info;
    char found[24], text[160];
    const char *asked = json_string_value(json_object_get(info, "data_fingerprint"));
    snprintf(found, sizeof found, "%016" PRIx64, bdml_dataset_fingerprint(w->data));
    long long rows = json_integer_value(json_object_get(info, "training_points"));
    bool same = asked && strcmp(asked, found) == 0 && w->c->n == w->n && rows == w->n;
    int used = snprintf(text, sizeof text, "%s that the model was learned from (fingerprint %s",
                        same ? "the data are those" : "not the data", found);
    if (rows == w->n)
        snprintf(text + used, sizeof text - (size_t)used, ")");
    else
        snprintf(text + used, sizeof text - (size_t)used, "; %lld rows wanted, %lld given)", rows,
                 (long long)w->n);
    note(w, "data",
         "data_fingerprint training_points evidence.rows input_dimension dimension "
         "output_dimension kind",
         same, text);
}

static bool same_names(int count, char *const *a, char *const *b)
{
    if (!a || !b) return !a == !b;
    for (int k = 0; k < count; k++)
        if (!a[k] || !b[k] || strcmp(a[k], b[k]) != 0) return false;
    return true;
}

/* Class 3 is called what the data call it; so are the columns, and the one of the labels, where the data name them: names
 * that the data do not have are no lie, but not checked. */
static void check_names(bdml_plain *w)
{
    const bdml_model *m = w->model;
    const char *label = json_string_value(json_object_get(m->info, "label_column"));
    bool columns = w->data->feature_name != NULL;
    bool labels = label && w->data->label_name;
    bool same = m->classes == w->data->classes &&
                same_names(m->classes, m->class_name, w->data->class_name) &&
                (!columns || same_names(w->data->d, m->feature_name, w->data->feature_name)) &&
                (!labels || strcmp(label, w->data->label_name) == 0);
    static const char *const fields[2][2] = {{"classes", "classes label_column"},
                                             {"classes feature_names name_bytes",
                                              "classes feature_names name_bytes label_column"}};
    note(w, "names", fields[columns || !m->feature_name][labels], same,
         !same     ? "classes or columns are not called what the data call them"
         : columns ? "classes and columns are called what the data call them"
                   : "classes are called what the data call them");
}

/* spread_j^2 = sum (x_ij - mean_j)^2 / (n_j - 1), over the n_j values that are there. */
static bool is_spread(const bdml_dataset *data, int j, double told)
{
    long double mean = 0.0L, squares = 0.0L, size = 0.0L;
    int64_t there = 0;
    for (int64_t i = 0; i < data->n; i++) {
        double v = data->x[i * data->d + j];
        if (isnan(v)) continue;
        mean += v;
        size = fmaxl(size, fabsl(v));
        there++;
    }
    if (there < 2) return told == 0.0;
    mean /= (long double)there;
    for (int64_t i = 0; i < data->n; i++) {
        double v = data->x[i * data->d + j];
        if (!isnan(v)) squares += (v - mean) * (v - mean);
    }
    long double spread = sqrtl(squares / (long double)(there - 1));
    return fabsl(told - spread) <= 1e-9L * spread + 1e-12L * size;
}

/* The spread of each feature, by which its weight is told. */
static void check_spread(bdml_plain *w)
{
    const json_t *list = json_object_get(w->model->info, "feature_spread");
    bool same = json_array_size(list) == (size_t)w->data->d;
    for (int j = 0; same && j < w->data->d; j++)
        same = json_is_number(json_array_get(list, (size_t)j)) &&
               is_spread(w->data, j, json_number_value(json_array_get(list, (size_t)j)));
    note(w, "spread", "feature_spread", same,
         same ? "the features spread as they do in the data"
              : "the features do not spread as in the data");
}

/* ---- the certificate in the description ----------------------------------------------------------------- */

/* The number under a key is this one; an infinite one is written as null. */
static bool says_number(const json_t *o, const char *key, double value)
{
    const json_t *found = json_object_get(o, key);
    if (!isfinite(value)) return json_is_null(found);
    return json_is_number(found) && json_number_value(found) == value;
}

/* The same up to a relative error. */
static bool says_about(const json_t *o, const char *key, double value, double error)
{
    double said = json_number_value(json_object_get(o, key));
    return fabs(said - value) <= error * fabs(value);
}

static bool is_null(const json_t *o, const char *key)
{
    return json_is_null(json_object_get(o, key));
}

/* The constraints that are named as contradicting each other are those of the largest multipliers, the largest first,
 * with their rows. The multipliers of a proof may have been put on a grid, so coarse at most, after they were told. */
static bool names_constraints(const bdml_plain *w, const json_t *list)
{
    static const double GRID = 0x1p-10; /* of the largest */
    enum { NAMED = 20 };
    size_t i, named = json_array_size(list), above = 0;
    const json_t *o;
    double last = INFINITY, grid = 0.0;
    json_array_foreach(list, i, o)
    {
        int64_t t = json_integer_value(json_object_get(o, "constraint"));
        const json_t *near = json_object_get(o, "j");
        double y = json_number_value(json_object_get(o, "multiplier"));
        int32_t rows[3];
        if (i == 0) grid = GRID * y;
        if (bdml_constraints_at(w->c, t, rows) != BDML_OK) return false;
        bool same = rows[0] == json_integer_value(json_object_get(o, "i")) &&
                    rows[2] == json_integer_value(json_object_get(o, "k")) &&
                    (rows[1] < 0 ? json_is_null(near) : rows[1] == json_integer_value(near)) &&
                    y > 0.0 && y <= last && fabs(y - w->y[t]) <= grid;
        for (size_t k = 0; same && k < i; k++)
            same = json_integer_value(json_object_get(json_array_get(list, k), "constraint")) != t;
        if (!same) return false;
        last = y;
    }
    double least = named < NAMED ? 0.0 : last; /* all others are not above it */
    for (int64_t t = 0; t < w->c->m; t++) above += w->y[t] > least + grid;
    return named > 0 && named <= NAMED && above <= named;
}

static bool words_of_a_proof(const bdml_plain *w, const json_t *o)
{
    const char *proof = json_string_value(json_object_get(o, "proof"));
    return !w->model->l && proof && strcmp(proof, bdml_claim_scope(w->e)) == 0 &&
           says_number(o, "proof_trace", w->e->reach) && is_null(o, "upper") &&
           is_null(o, "lower") && is_null(o, "gap") && is_null(o, "kappa") && is_null(o, "trace") &&
           w->e->lower == 0.0 && (w->e->upper == 0.0 || isinf(w->e->upper)) && /* 0 in a file */
           names_constraints(w, json_object_get(o, "contradictions"));
}

static bool words_of_a_metric(const bdml_plain *w, const json_t *o)
{
    const bdml_evidence *e = w->e;
    const json_t *said = json_object_get(o, "kappa");
    double kappa = json_is_null(said) ? INFINITY : json_number_value(said), trace = 0.0;
    bool approximate = e->claim == BDML_CLAIM_APPROXIMATE;
    for (size_t i = 0; i < (size_t)w->d; i++) trace += (double)w->metric[i * (size_t)w->d + i];
    bool same = says_number(o, "lower", e->lower) && says_about(o, "trace", trace, 1e-7) &&
                bdml_same_kappa(w->d, kappa, w->v->kappa);
    if (approximate) /* what its metric costs is no upper end */
        return same && says_number(o, "margin_missed_by", e->slack) &&
               says_number(o, "objective", e->upper);
    return same && says_number(o, "upper", e->upper) && says_number(o, "gap", bdml_evidence_gap(e));
}

static void check_words(bdml_plain *w)
{
    const bdml_evidence *e = w->e;
    const json_t *o = json_object_get(w->model->info, "certificate");
    const char *status = json_string_value(json_object_get(o, "status"));
    bool same =
        status && strcmp(status, bdml_claim_name(e)) == 0 && says_number(o, "distortion", e->K) &&
        says_number(o, "active", (double)e->duals) &&
        says_number(o, "constraints", (double)w->c->m) &&
        (e->hard ? e->cost == 0.0 : says_number(o, "C", e->cost)) &&
        (e->claim == BDML_CLAIM_INFEASIBLE ? words_of_a_proof(w, o) : words_of_a_metric(w, o));
    note(w, "description",
         "certificate.status certificate.upper certificate.lower certificate.gap certificate.kappa "
         "certificate.trace certificate.distortion certificate.active certificate.constraints "
         "certificate.C certificate.proof certificate.contradictions certificate.margin_missed_by "
         "certificate.objective certificate.proof_trace "
         "evidence.upper evidence.lower",
         same,
         same ? "the description says what the evidence says"
              : "the description of the model says something else than the evidence");
}

/* ---- the map ------------------------------------------------------------------------------------------ */

/* kappa(L'L), which is not the claim's where there is a reference. */
static bdml_status check_kappa(bdml_handle *h, bdml_plain *w)
{
    bdml_status status = BDML_OK;
    const bdml_model *m = w->model;
    size_t d = (size_t)m->d;
    long double *metric = NULL, *lambda = NULL;
    double kappa = INFINITY;

    BDML_NEW(h, metric, d * d);
    BDML_NEW(h, lambda, d);
    for (size_t r = 0; m->q >= m->d && r < (size_t)m->q; r++)
        for (size_t i = 0; i < d; i++)
            for (size_t j = 0; j < d; j++)
                metric[i * d + j] += (long double)m->l[r * d + i] * m->l[r * d + j];
    if (m->q >= m->d && bdml_plain_eigenvalues(m->d, metric, lambda) && lambda[0] > 0.0L)
        kappa = (double)(lambda[d - 1] / lambda[0]);
    bool same =
        isinf(kappa) ? m->q >= m->d || isinf(m->kappa) : bdml_same_kappa(m->d, kappa, m->kappa);
    bdml_verdict_note(w->v, BDML_LEVEL_NUMBERS, "kappa", "kappa", same,
                      "distortion of the whole map L %.12g, said to be %.12g", kappa, m->kappa);
done:
    free(metric);
    free(lambda);
    return status;
}

/* Row i of the kept points = L p_i, and its label that of the data. */
static bdml_status check_points(bdml_handle *h, bdml_plain *w)
{
    bdml_status status = BDML_OK;
    const bdml_model *m = w->model;
    const bdml_dataset *data = w->data;
    long double *scaled = NULL, *p = NULL, off = 0.0L, size = 0.0L;
    bool same = m->l && m->points == data->n && !m->y == !data->y;

    BDML_NEW(h, scaled, m->prepare.d_in);
    BDML_NEW(h, p, m->d);
    for (int64_t i = 0; same && i < data->n; i++) {
        same = bdml_plain_prepare(&m->prepare, data->x + i * data->d, scaled, p) &&
               (!m->y || m->y[i] == data->y[i]);
        for (int r = 0; same && r < m->q; r++) {
            long double sum = 0.0L, terms = 0.0L;
            for (int j = 0; j < m->d; j++) {
                sum += m->l[(size_t)r * (size_t)m->d + (size_t)j] * p[j];
                terms += fabsl(m->l[(size_t)r * (size_t)m->d + (size_t)j] * p[j]);
            }
            long double miss = fabsl(sum - m->z[(size_t)i * (size_t)m->q + (size_t)r]);
            off = isnan(miss) ? INFINITY : fmaxl(off, miss);
            size = fmaxl(size, terms);
        }
    }
    same = same && off <= 1e-11L * size;
    note(w, "points", "points labels", same,
         same ? "the kept training points are those of the data under L"
              : "the kept training points are not those of the data under L");
done:
    free(scaled);
    free(p);
    return status;
}

bdml_status bdml_check_description(bdml_handle *h, bdml_plain *w)
{
    const bdml_model *m = w->model;
    check_data(w);
    check_names(w);
    check_spread(w);
    check_words(w);
    if (m->l) BDML_TRY(check_kappa(h, w));
    if (m->points > 0)
        BDML_TRY(check_points(h, w));
    else
        note(w, "points", "points labels", !m->y,
             m->y ? "labels of no points" : "no points are kept");
    if (!m->l) note(w, "kappa", "kappa", isinf(m->kappa) || m->kappa == 0.0, "there is no map");
    return BDML_OK;
}
