/* store.c - a model as a file: which of its parts go into the JSON header, which are arrays.
 *
 * The header holds the keys below and, beside them, the keys of model->info as they are. A loaded
 * model equals the saved one to the bit, and saves to the same bytes. kappa is null when infinite. */
#include "model/evidence.h"
#include "model/internal.h"

#include <stdatomic.h>
#include <stdlib.h>

static const char *const shape_keys[] = {
    "kind",     "input_dimension", "dimension", "output_dimension", "kappa",  "scale",
    "fill",     "pca_variance",    "classes",   "feature_names",    "points", "name_bytes",
    "evidence", "verification",
};
const char bdml_model_kind[] = "model", bdml_proof_kind[] = "proof";

/* ---- names ---------------------------------------------------------------------------------------- */

/* JSON holds UTF-8 only, but a data file may have names in any encoding. If one name is not UTF-8, all
 * names are stored byte by byte, byte b as the character U+00b ("name_bytes": true). */
static json_t *name_json(const char *name, bool bytes)
{
    if (!bytes) return json_string(name);
    size_t n = strlen(name), at = 0;
    char *wide = malloc(2 * n + 1);
    if (!wide) return NULL;
    for (size_t k = 0; k < n; k++) {
        unsigned b = (unsigned char)name[k];
        if (b >= 0x80) wide[at++] = (char)(0xC0 | (b >> 6));
        wide[at++] = (char)(b >= 0x80 ? (0x80 | (b & 0x3F)) : b);
    }
    json_t *text = json_stringn(wide, at);
    free(wide);
    return text;
}

static json_t *names_json(int count, char *const *names, bool bytes)
{
    json_t *list = json_array();
    for (int k = 0; list && k < count; k++)
        if (json_array_append_new(list, name_json(names[k], bytes)) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static bool all_utf8(int count, char *const *names)
{
    for (int k = 0; names && k < count; k++) {
        json_t *text = json_string(names[k]);
        if (!text) return false;
        json_decref(text);
    }
    return true;
}

/* Undo name_json in place; false when a character is above U+00FF. */
static bool narrow(char *name)
{
    char *to = name;
    for (const char *p = name; *p; p++) {
        unsigned b = (unsigned char)*p;
        if (b >= 0xC4) return false;
        if (b >= 0xC0) b = ((b & 3) << 6) | ((unsigned char)*++p & 0x3F);
        *to++ = (char)b;
    }
    *to = '\0';
    return true;
}

bdml_status bdml_model_read_names(bdml_handle *h, const json_t *list, int count, bool bytes,
                                  char ***out)
{
    *out = bdml_calloc(h, (size_t)count, sizeof **out);
    if (!*out) return BDML_ERR_MEMORY;
    for (int k = 0; k < count; k++) {
        const char *text = json_string_value(json_array_get(list, (size_t)k));
        if (!text) return bdml_fail(h, BDML_ERR_FORMAT, "damaged: a name is no text");
        (*out)[k] = bdml_strdup(h, text);
        if (!(*out)[k]) return BDML_ERR_MEMORY;
        if (bytes && !narrow((*out)[k]))
            return bdml_fail(h, BDML_ERR_FORMAT, "damaged: a name is not made of bytes");
    }
    return BDML_OK;
}

/* ---- header ----------------------------------------------------------------------------------------- */

static const char *scale_name(int scale, char out[16])
{
    const char *p = bdml_option_at(BDML_OPT_SCALE)->choices;
    for (int k = 0; k < scale; k++) p = strchr(p, '|') + 1;
    size_t n = BDML_MIN(strcspn(p, "|"), 15);
    memcpy(out, p, n);
    out[n] = '\0';
    return out;
}

void bdml_model_strip(json_t *header)
{
    for (size_t k = 0; k < sizeof shape_keys / sizeof *shape_keys; k++)
        json_object_del(header, shape_keys[k]);
}

/* How pairs are scored, and the threshold: NULL when there is nothing to say beyond distances. */
static json_t *verification(const bdml_model *m)
{
    const bdml_calibration *c = &m->calibration;
    json_t *o = json_pack("{s:s}", "score", bdml_score_names[m->score]);
    if (o && c->known)
        json_object_update_new(o,
                               json_pack("{s:f, s:f, s:I}", "threshold", c->threshold, "accuracy",
                                         c->accuracy, "pairs", (json_int_t)c->pairs));
    return o;
}

/* The whole self-description; NULL when memory runs out. */
static json_t *describe(const bdml_model *m)
{
    char scale[16];
    const bdml_prepare *p = &m->prepare;
    bool bytes = !all_utf8(m->classes, m->class_name) || !all_utf8(p->d_in, m->feature_name);
    json_t *o = json_deep_copy(m->info);
    int bad = o == NULL;

    bad |= json_object_set_new(o, "kind", json_string(m->l ? bdml_model_kind : bdml_proof_kind));
    bad |= json_object_set_new(o, "input_dimension", json_integer(p->d_in));
    bad |= json_object_set_new(o, "dimension", json_integer(m->d));
    bad |= json_object_set_new(o, "output_dimension", json_integer(m->q));
    bad |= json_object_set_new(o, "kappa", isfinite(m->kappa) ? json_real(m->kappa) : json_null());
    bad |= json_object_set_new(o, "scale", json_string(scale_name(p->scale, scale)));
    bad |= json_object_set_new(o, "fill", json_boolean(p->fill != NULL));
    bad |= json_object_set_new(o, "points", json_integer(m->points));
    bad |= json_object_set_new(o, "classes", names_json(m->classes, m->class_name, bytes));
    if (p->basis) bad |= json_object_set_new(o, "pca_variance", json_real(p->variance));
    if (m->feature_name)
        bad |= json_object_set_new(o, "feature_names", names_json(p->d_in, m->feature_name, bytes));
    if (bytes) bad |= json_object_set_new(o, "name_bytes", json_true());
    if (m->score != BDML_SCORE_DISTANCE || m->calibration.known)
        bad |= json_object_set_new(o, "verification", verification(m));
    if (!bad) return o;
    json_decref(o);
    return NULL;
}

bdml_status bdml_model_json(bdml_handle *h, const bdml_model *model, json_t **out)
{
    *out = describe(model);
    return *out ? BDML_OK
                : bdml_fail(h, BDML_ERR_MEMORY, "out of memory while describing the model");
}

/* Made once; when two threads ask at the same time, the first text stays. */
const char *bdml_model_describe(const bdml_model *model)
{
    if (!model) return NULL;
    bdml_model *m = (bdml_model *)model; /* the cache is no part of the model's value */
    char *known = atomic_load(&m->description), *text = NULL;
    if (known) return known;
    json_t *o = describe(model);
    if (o) text = json_dumps(o, JSON_SORT_KEYS | JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    json_decref(o);
    if (text && !atomic_compare_exchange_strong(&m->description, &known, text)) {
        free(text);
        return known;
    }
    return text;
}

/* ---- saving ------------------------------------------------------------------------------------------- */

static bdml_status put(bdml_handle *h, bdml_container *c, const char *name, int64_t rows,
                       int64_t columns, const double *data)
{
    return data ? bdml_container_put_f8(h, c, name, rows, columns, data) : BDML_OK;
}

static bdml_status pack(bdml_handle *h, const bdml_model *m, bdml_container *c)
{
    const bdml_prepare *p = &m->prepare;
    json_t *o;
    BDML_TRY(bdml_model_json(h, m, &o));
    int bad = json_object_update(bdml_container_header(c), o);
    json_decref(o);
    if (bad) return bdml_fail(h, BDML_ERR_MEMORY, "out of memory while describing the model");
    BDML_TRY(put(h, c, "map", m->q, m->d, m->l));
    BDML_TRY(put(h, c, "fill", p->d_in, 0, p->fill));
    BDML_TRY(put(h, c, "shift", p->d_in, 0, p->shift));
    BDML_TRY(put(h, c, "width", p->d_in, 0, p->width));
    BDML_TRY(put(h, c, "center", p->d_in, 0, p->center));
    BDML_TRY(put(h, c, "basis", p->d_out, p->d_in, p->basis));
    BDML_TRY(put(h, c, "points", m->points, m->q, m->z));
    BDML_TRY(put(h, c, "similarity", m->d, m->d, m->similarity));
    if (m->y) BDML_TRY(bdml_container_put_i4(h, c, "labels", m->points, 0, m->y));
    return m->evidence ? bdml_evidence_put(h, m->evidence, c) : BDML_OK;
}

static bdml_status packed(bdml_handle *h, const bdml_model *model, bdml_container **out)
{
    BDML_TRY(bdml_container_new(h, out));
    bdml_status status = pack(h, model, *out);
    if (status != BDML_OK) {
        bdml_container_free(*out);
        *out = NULL;
    }
    return status;
}

bdml_status bdml_save_model(bdml_handle *h, const bdml_model *model, const char *path)
{
    bdml_container *c;
    if (!h) return BDML_ERR_ARGUMENT;
    if (!model || !path)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "bdml_save_model: model and path must not be NULL");
    BDML_TRY(packed(h, model, &c));
    bdml_status status = bdml_container_save(h, c, path);
    bdml_container_free(c);
    return status;
}

bdml_status bdml_save_model_bytes(bdml_handle *h, const bdml_model *model, void **bytes,
                                  size_t *size)
{
    bdml_container *c;
    if (bytes) *bytes = NULL;
    if (size) *size = 0;
    if (!h) return BDML_ERR_ARGUMENT;
    if (!model || !bytes || !size)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "bdml_save_model_bytes: model, bytes and size must not be NULL");
    BDML_TRY(packed(h, model, &c));
    bdml_status status = bdml_container_to_bytes(h, c, bytes, size);
    bdml_container_free(c);
    return status;
}

void bdml_free_bytes(void *bytes)
{
    free(bytes);
}
