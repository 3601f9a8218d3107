/* load.c - a model from a file: every number of the header and every array checked before use. */
#include "model/evidence.h"
#include "model/internal.h"

#include <stdlib.h>

/* ---- checks ---------------------------------------------------------------------------------------- */

static bdml_status damaged(bdml_handle *h, const char *what)
{
    return bdml_fail(h, BDML_ERR_FORMAT, "damaged model: %s", what);
}

/* A whole number of the header from `least` to `most`. */
static bdml_status read_int(bdml_handle *h, const json_t *header, const char *key, int64_t least,
                            int64_t most, int64_t *out)
{
    const json_t *v = json_object_get(header, key);
    *out = json_integer_value(v);
    if (json_is_integer(v) && *out >= least && *out <= most) return BDML_OK;
    return bdml_fail(h, BDML_ERR_FORMAT,
                     "damaged model: '%s' must be a whole number from %lld to %lld", key,
                     (long long)least, (long long)most);
}

/* Numbers as they are in any model: finite; widths above 0, infinite that of a constant column; of map and points no
 * larger than training and import let them be, so that squares are numbers. */
static bool may_hold(const char *name, double v)
{
    if (strcmp(name, "width") == 0) return v > 0.0;
    if (strcmp(name, "map") == 0 || strcmp(name, "points") == 0) return fabs(v) <= BDML_LONGEST;
    return isfinite(v);
}

/* An array of such numbers that must be there exactly when `wanted`. */
static bdml_status read_array(bdml_handle *h, const bdml_container *c, const char *name,
                              int64_t rows, int64_t columns, bool wanted, double **out)
{
    BDML_TRY(bdml_container_get_f8(h, c, name, &rows, &columns, out));
    if ((*out != NULL) != wanted)
        return bdml_fail(h, BDML_ERR_FORMAT, "damaged model: array '%s' %s", name,
                         wanted ? "is missing" : "does not belong there");
    size_t cells = (size_t)rows * (size_t)BDML_MAX(columns, 1);
    for (size_t k = 0; *out && k < cells; k++)
        if (!may_hold(name, (*out)[k]))
            return bdml_fail(h, BDML_ERR_FORMAT, "damaged model: array '%s' holds %g", name,
                             (*out)[k]);
    return BDML_OK;
}

/* ---- parts ------------------------------------------------------------------------------------------- */

static bdml_status read_prepare(bdml_handle *h, const bdml_container *c, const json_t *header,
                                bdml_prepare *p)
{
    int64_t d_in, d_out;
    const char *scale = json_string_value(json_object_get(header, "scale"));
    const json_t *variance = json_object_get(header, "pca_variance");
    const json_t *fill = json_object_get(header, "fill");

    BDML_TRY(read_int(h, header, "input_dimension", 1, INT32_MAX, &d_in));
    BDML_TRY(read_int(h, header, "dimension", 1, INT32_MAX, &d_out));
    p->d_in = (int)d_in;
    p->d_out = (int)d_out;
    p->scale = scale ? bdml_choice_index(bdml_option_at(BDML_OPT_SCALE)->choices, scale) : -1;
    if (p->scale == BDML_SCALE_AUTO) p->scale = -1;
    if (p->scale < 0) return damaged(h, "its scaling is unknown");
    if (!json_is_boolean(fill)) return damaged(h, "'fill' must be true or false");
    if (variance && !json_is_number(variance)) return damaged(h, "'pca_variance' must be a number");
    if (variance ? d_out > d_in : d_in != d_out)
        return damaged(h, "its dimensions contradict each other");
    p->variance = variance ? json_number_value(variance) : 1.0;
    bool columns = p->scale == BDML_SCALE_ZSCORE || p->scale == BDML_SCALE_MINMAX;
    BDML_TRY(read_array(h, c, "fill", d_in, 0, json_is_true(fill), &p->fill));
    BDML_TRY(read_array(h, c, "shift", d_in, 0, columns, &p->shift));
    BDML_TRY(read_array(h, c, "width", d_in, 0, columns, &p->width));
    BDML_TRY(read_array(h, c, "center", d_in, 0, variance != NULL, &p->center));
    return read_array(h, c, "basis", d_out, d_in, variance != NULL, &p->basis);
}

static bdml_status read_map(bdml_handle *h, const bdml_container *c, const json_t *header,
                            bdml_model *m)
{
    int64_t q;
    const json_t *kappa = json_object_get(header, "kappa");

    m->d = m->prepare.d_out;
    m->kappa = INFINITY;
    if (strcmp(json_string_value(json_object_get(header, "kind")), bdml_proof_kind) == 0)
        return BDML_OK; /* a proof that there is no metric */
    BDML_TRY(read_int(h, header, "output_dimension", 1, INT32_MAX, &q));
    m->q = (int)q;
    m->kappa = json_is_null(kappa) ? INFINITY : json_number_value(kappa);
    if (!(m->kappa >= 1.0)) return damaged(h, "'kappa' must be a number of at least 1, or null");
    BDML_TRY(read_array(h, c, "map", q, m->d, true, &m->l));
    for (size_t k = 0; k < (size_t)q * (size_t)m->d; k++)
        if (m->l[k] != 0.0) return BDML_OK;
    return damaged(h, "its map is zero: all distances would be 0");
}

static bdml_status read_points(bdml_handle *h, const bdml_container *c, const json_t *header,
                               bdml_model *m)
{
    int64_t n, rows, columns = 0;
    BDML_TRY(read_int(h, header, "points", 0, INT64_MAX, &n));
    BDML_TRY(read_array(h, c, "points", n, m->q, n > 0, &m->z));
    rows = n;
    BDML_TRY(bdml_container_get_i4(h, c, "labels", &rows, &columns, &m->y));
    for (int64_t i = 0; m->y && i < n; i++)
        if (m->y[i] < 0 || m->y[i] >= m->classes) return damaged(h, "a label is of no class");
    m->points = n;
    return BDML_OK;
}

/* Absent in older files and where pairs are compared by distance alone. */
static bdml_status read_verification(bdml_handle *h, const bdml_container *c, const json_t *header,
                                     bdml_model *m)
{
    const json_t *o = json_object_get(header, "verification");
    const char *score = o ? json_string_value(json_object_get(o, "score")) : bdml_score_names[0];
    const json_t *threshold = json_object_get(o, "threshold");
    int kind = BDML_SCORE_DISTANCE;
    while (score && kind <= BDML_SCORE_SIMILARITY && strcmp(score, bdml_score_names[kind]) != 0)
        kind++;
    if (!score || kind > BDML_SCORE_SIMILARITY) return damaged(h, "its score is unknown");
    m->score = (bdml_score_kind)kind;
    if (threshold) {
        m->calibration = (bdml_calibration){true, json_number_value(threshold),
                                            json_number_value(json_object_get(o, "accuracy")),
                                            json_integer_value(json_object_get(o, "pairs"))};
        if (!json_is_number(threshold)) return damaged(h, "its threshold is no number");
    }
    return read_array(h, c, "similarity", m->d, m->d, kind == BDML_SCORE_SIMILARITY,
                      &m->similarity);
}

static bdml_status read_all_names(bdml_handle *h, const json_t *header, bdml_model *m)
{
    const json_t *classes = json_object_get(header, "classes");
    const json_t *features = json_object_get(header, "feature_names");
    bool bytes = json_is_true(json_object_get(header, "name_bytes"));

    if (!json_is_array(classes) || json_array_size(classes) > INT32_MAX)
        return damaged(h, "'classes' must be a list of names");
    m->classes = (int)json_array_size(classes);
    if (m->classes > 0)
        BDML_TRY(bdml_model_read_names(h, classes, m->classes, bytes, &m->class_name));
    if (!features) return BDML_OK;
    if (json_array_size(features) != (size_t)m->prepare.d_in)
        return damaged(h, "'feature_names' must name every column");
    return bdml_model_read_names(h, features, m->prepare.d_in, bytes, &m->feature_name);
}

/* ---- the whole ------------------------------------------------------------------------------------------ */

static bdml_status unpack(bdml_handle *h, bdml_container *c, bdml_model *m)
{
    json_t *header = bdml_container_header(c);
    const char *kind = json_string_value(json_object_get(header, "kind"));

    if (!kind || (strcmp(kind, bdml_model_kind) != 0 && strcmp(kind, bdml_proof_kind) != 0))
        return bdml_fail(h, BDML_ERR_FORMAT, "this bdml file holds no model but '%.50s'",
                         kind ? kind : "something unnamed");
    BDML_TRY(read_prepare(h, c, header, &m->prepare));
    BDML_TRY(read_map(h, c, header, m));
    BDML_TRY(read_all_names(h, header, m));
    BDML_TRY(read_points(h, c, header, m));
    BDML_TRY(read_verification(h, c, header, m));
    BDML_TRY(bdml_evidence_get(h, c, &m->evidence));
    if (m->evidence && !bdml_evidence_fits(m->evidence, m->d, m->l ? m->q : 0))
        return damaged(h, "its reference does not fit its map");
    if (!m->l && (!m->evidence || m->evidence->claim != BDML_CLAIM_INFEASIBLE))
        return damaged(h, "it is called a proof and proves nothing");
    m->info = json_incref(header);
    bdml_model_strip(m->info);
    return BDML_OK;
}

/* Frees the container. */
static bdml_status model_from(bdml_handle *h, bdml_container *c, const char *name, bdml_model **out)
{
    bdml_status status = BDML_OK;
    bdml_model *m = bdml_calloc(h, 1, sizeof *m);
    status = m ? unpack(h, c, m) : BDML_ERR_MEMORY;
    bdml_container_free(c);
    if (status == BDML_OK)
        *out = m;
    else
        bdml_free_model(m);
    return status == BDML_ERR_FORMAT ? bdml_fail_context(h, status, "%.500s", name) : status;
}

bdml_status bdml_load_model(bdml_handle *h, const char *path, bdml_model **out)
{
    bdml_container *c;
    if (out) *out = NULL;
    if (!h || !out) return BDML_ERR_ARGUMENT;
    if (!path) return bdml_fail(h, BDML_ERR_ARGUMENT, "bdml_load_model: path must not be NULL");
    BDML_TRY(bdml_container_load(h, path, &c));
    return model_from(h, c, path, out);
}

bdml_status bdml_load_model_bytes(bdml_handle *h, const void *bytes, size_t size, bdml_model **out)
{
    bdml_container *c;
    if (out) *out = NULL;
    if (!h || !out) return BDML_ERR_ARGUMENT;
    if (!bytes)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "bdml_load_model_bytes: bytes must not be NULL");
    BDML_TRY(bdml_container_from_bytes(h, bytes, size, "model in memory", &c));
    return model_from(h, c, "model in memory", out);
}
