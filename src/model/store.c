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
    for (int k = 0; k < count; k++) bdml_json_push(&list, name_json(names[k], bytes));
    return list;
}

/* Each byte sequence as the Unicode standard (table 3-7) allows it. */
static bool is_utf8(const char *s)
{
    for (const unsigned char *p = (const unsigned char *)s; *p; p++) {
        int more = *p < 0x80   ? 0
                   : *p < 0xC2 ? -1
                   : *p < 0xE0 ? 1
                   : *p < 0xF0 ? 2
                   : *p < 0xF5 ? 3
                               : -1;
        unsigned low = *p == 0xE0 ? 0xA0 : *p == 0xF0 ? 0x90 : 0x80;
        unsigned high = *p == 0xED ? 0x9F : *p == 0xF4 ? 0x8F : 0xBF;
        if (more < 0) return false;
        for (; more > 0; more--, low = 0x80, high = 0xBF)
            if (*++p < low || *p > high) return false;
    }
    return true;
}

static bool all_utf8(int count, char *const *names)
{
    for (int k = 0; names && k < count; k++)
        if (!is_utf8(names[k])) return false;
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
    if (!c->known) return o;
    bdml_json_put(&o, "threshold", json_real(c->threshold));
    bdml_json_put(&o, "accuracy", json_real(c->accuracy));
    bdml_json_put(&o, "pairs", json_integer(c->pairs));
    return o;
}

/* The whole self-description; NULL when memory runs out. */
static json_t *describe(const bdml_model *m)
{
    char scale[16];
    const bdml_prepare *p = &m->prepare;
    bool bytes = !all_utf8(m->classes, m->class_name) || !all_utf8(p->d_in, m->feature_name);
    json_t *o = json_deep_copy(m->info);

    bdml_json_put(&o, "kind", json_string(m->l ? bdml_model_kind : bdml_proof_kind));
    bdml_json_put(&o, "input_dimension", json_integer(p->d_in));
    bdml_json_put(&o, "dimension", json_integer(m->d));
    bdml_json_put(&o, "output_dimension", json_integer(m->q));
    bdml_json_put(&o, "kappa", isfinite(m->kappa) ? json_real(m->kappa) : json_null());
    bdml_json_put(&o, "scale", json_string(scale_name(p->scale, scale)));
    bdml_json_put(&o, "fill", json_boolean(p->fill != NULL));
    bdml_json_put(&o, "points", json_integer(m->points));
    bdml_json_put(&o, "classes", names_json(m->classes, m->class_name, bytes));
    if (p->basis) bdml_json_put(&o, "pca_variance", json_real(p->variance));
    if (m->feature_name)
        bdml_json_put(&o, "feature_names", names_json(p->d_in, m->feature_name, bytes));
    if (bytes) bdml_json_put(&o, "name_bytes", json_true());
    if (m->score != BDML_SCORE_DISTANCE || m->calibration.known)
        bdml_json_put(&o, "verification", verification(m));
    return o;
}

static bdml_status no_memory(bdml_handle *h)
{
    return bdml_fail(h, BDML_ERR_MEMORY, "out of memory while describing the model");
}

bdml_status bdml_model_tell(bdml_handle *h, bdml_model *model, const char *key, json_t *value)
{
    return json_object_set_new(model->info, key, value) == 0 ? BDML_OK : no_memory(h);
}

bdml_status bdml_model_json(bdml_handle *h, const bdml_model *model, json_t **out)
{
    *out = describe(model);
    return *out ? BDML_OK : no_memory(h);
}

/* Made once; when two threads ask at the same time, the first text stays. */
const char *bdml_model_describe(const bdml_model *model)
{
    if (!model) return NULL;
    bdml_model *m = (bdml_model *)model; /* the cache is no part of the model's value */
    char *known = atomic_load(&m->description), *text = NULL;
    if (known) return known;
    json_t *o = describe(model);
    if (o) text = bdml_json_dump(o, JSON_SORT_KEYS | JSON_INDENT(2) | JSON_REAL_PRECISION(17));
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
    if (bad) return no_memory(h);
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

bdml_status bdml_model_pack(bdml_handle *h, const bdml_model *model, bdml_container **out)
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
    BDML_TRY(bdml_model_pack(h, model, &c));
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
    BDML_TRY(bdml_model_pack(h, model, &c));
    bdml_status status = bdml_container_to_bytes(h, c, bytes, size);
    bdml_container_free(c);
    return status;
}

void bdml_free_bytes(void *bytes)
{
    free(bytes);
}
