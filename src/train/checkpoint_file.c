/* checkpoint_file.c - the file of a checkpoint: the container of model.h, kind "checkpoint".
 *
 * Header: "format", "made_of" (version, data, settings that were changed), "solves" (fingerprints of the finished
 * ones). Arrays: "finished" and "score" of the jobs of the cross-validation, "solve_N", "running". */
#include "train/checkpoint.h"

#include <inttypes.h>
#include <stdlib.h>

static const char KIND[] = "checkpoint";

enum { FORMAT = 2, NAME_SIZE = 32, MOST_SOLVES = 100000 };

/* ---- writing ------------------------------------------------------------------------------------- */

static bdml_status put_header(bdml_checkpoint *k, json_t *header)
{
    json_t *list = json_array();
    int bad = 0;
    for (int64_t i = 0; i < k->solves; i++) {
        char text[24];
        snprintf(text, sizeof text, "%016" PRIx64, k->solve[i].fingerprint);
        bdml_json_push(&list, json_string(text));
    }
    bad |= json_object_set_new(header, "kind", json_string(KIND));
    bad |= json_object_set_new(header, "format", json_integer(FORMAT));
    bad |= json_object_set(header, "made_of", k->made_of);
    bad |= json_object_set_new(header, "solves", list);
    return bad ? bdml_fail(k->own, BDML_ERR_MEMORY, "out of memory for a file header") : BDML_OK;
}

bdml_status bdml_checkpoint_write(bdml_checkpoint *k)
{
    bdml_status status = BDML_OK;
    bdml_handle *h = k->own;
    bdml_container *c = NULL;

    k->last = bdml_now();
    BDML_GO(bdml_container_new(h, &c));
    BDML_GO(put_header(k, bdml_container_header(c)));
    if (k->jobs > 0) {
        BDML_GO(bdml_container_put_i4(h, c, "finished", k->jobs, 0, k->finished));
        BDML_GO(bdml_container_put_f8(h, c, "score", k->jobs, k->size, k->score));
    }
    for (int64_t i = 0; i < k->solves; i++) {
        char name[NAME_SIZE];
        snprintf(name, sizeof name, "solve_%" PRId64, i);
        BDML_GO(bdml_container_put_f8(h, c, name, k->solve[i].count, 0, k->solve[i].number));
    }
    if (k->running.number)
        BDML_GO(bdml_container_put_f8(h, c, "running", k->running.count, 0, k->running.number));
    BDML_GO(bdml_container_save(h, c, k->path));
    k->changed = false;
done:
    bdml_container_free(c);
    return status;
}

/* ---- whether it is ours -------------------------------------------------------------------------- */

static bdml_status differs(bdml_handle *h, const char *what, const char *then, const char *now)
{
    return bdml_fail(h, BDML_ERR_ARGUMENT,
                     "the checkpoint is of another training: its %s is %s, now it is %s", what,
                     then ? then : "not set", now ? now : "not set");
}

static bdml_status compare_settings(bdml_handle *h, const json_t *then, const json_t *now)
{
    for (int i = 0; i < bdml_option_count(); i++) {
        const char *name = bdml_option_at(i)->name;
        const char *a = json_string_value(json_object_get(then, name));
        const char *b = json_string_value(json_object_get(now, name));
        if (a == b || (a && b && strcmp(a, b) == 0)) continue;
        return differs(h, name, a, b);
    }
    return BDML_OK;
}

static bdml_status compare(bdml_handle *h, const json_t *then, const json_t *now)
{
    static const char *const texts[] = {"version", "data"};
    static const char *const counts[] = {"points", "features"};
    char a[32], b[32];
    const char *was = json_string_value(json_object_get(then, texts[0]));
    const char *is = json_string_value(json_object_get(now, texts[0]));
    if (!was || strcmp(was, is) != 0) return differs(h, "version of bdml", was, is);
    for (int i = 0; i < 2; i++) {
        json_int_t x = json_integer_value(json_object_get(then, counts[i]));
        json_int_t y = json_integer_value(json_object_get(now, counts[i]));
        snprintf(a, sizeof a, "%lld", (long long)x);
        snprintf(b, sizeof b, "%lld", (long long)y);
        if (x != y) return differs(h, i == 0 ? "number of points" : "number of features", a, b);
    }
    was = json_string_value(json_object_get(then, texts[1]));
    is = json_string_value(json_object_get(now, texts[1]));
    if (!was || strcmp(was, is) != 0)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "the checkpoint is of another training: its data differ from those of now "
                         "(fingerprint %.20s, now %.20s)",
                         was ? was : "missing", is);
    was = json_string_value(json_object_get(then, "warm"));
    is = json_string_value(json_object_get(now, "warm"));
    if (was != is && !(was && is && strcmp(was, is) == 0))
        return differs(h, "model to start from", was, is);
    return compare_settings(h, json_object_get(then, "settings"), json_object_get(now, "settings"));
}

/* ---- reading ------------------------------------------------------------------------------------- */

static bdml_status damaged(bdml_handle *h, const char *what)
{
    return bdml_fail(h, BDML_ERR_FORMAT, "damaged checkpoint: %s", what);
}

static bdml_status read_scores(bdml_handle *h, const bdml_container *c, bdml_checkpoint *k)
{
    int64_t jobs = -1, vector = 0, rows = -1, size = -1;
    BDML_TRY(bdml_container_get_i4(h, c, "finished", &jobs, &vector, &k->finished));
    BDML_TRY(bdml_container_get_f8(h, c, "score", &rows, &size, &k->score));
    if (!k->finished && !k->score) return BDML_OK;
    if (!k->finished || !k->score || jobs < 1 || jobs > INT32_MAX || rows != jobs || size < 1 ||
        size > INT32_MAX)
        return damaged(h, "its scores contradict themselves");
    k->jobs = (int)jobs;
    k->size = (int)size;
    return BDML_OK;
}

static bdml_status read_solves(bdml_handle *h, const bdml_container *c, const json_t *list,
                               bdml_checkpoint *k)
{
    size_t count = json_array_size(list);
    if (!json_is_array(list) || count > MOST_SOLVES) return damaged(h, "it has no list of solves");
    BDML_TRY(bdml_grow(h, &k->solve, &k->capacity, count, sizeof *k->solve));
    for (size_t i = 0; i < count; i++) {
        const char *text = json_string_value(json_array_get(list, i));
        char name[NAME_SIZE];
        int64_t rows = -1, vector = 0;
        double *number;
        snprintf(name, sizeof name, "solve_%zu", i);
        BDML_TRY(bdml_container_get_f8(h, c, name, &rows, &vector, &number));
        k->solve[k->solves++] =
            (bdml_kept_solve){text ? strtoull(text, NULL, 16) : 0, rows, number};
        if (!text || !number) return damaged(h, "a finished solve is missing");
    }
    return BDML_OK;
}

static bdml_status unpack(bdml_handle *h, bdml_container *c, bdml_checkpoint *k)
{
    json_t *header = bdml_container_header(c);
    const char *kind = json_string_value(json_object_get(header, "kind"));
    int64_t rows = -1, vector = 0;
    if (!kind || strcmp(kind, KIND) != 0)
        return bdml_fail(h, BDML_ERR_FORMAT, "this bdml file holds no checkpoint but '%.50s'",
                         kind ? kind : "something unnamed");
    if (json_integer_value(json_object_get(header, "format")) != FORMAT)
        return bdml_fail(h, BDML_ERR_FORMAT,
                         "the checkpoint is written as another version of bdml writes it: begin "
                         "without it");
    BDML_TRY(compare(h, json_object_get(header, "made_of"), k->made_of));
    BDML_TRY(read_scores(h, c, k));
    BDML_TRY(read_solves(h, c, json_object_get(header, "solves"), k));
    BDML_TRY(bdml_container_get_f8(h, c, "running", &rows, &vector, &k->running.number));
    k->running.count = k->running.number ? rows : 0;
    return BDML_OK;
}

bdml_status bdml_checkpoint_read(bdml_handle *h, bdml_checkpoint *k, const char *path)
{
    bdml_container *c = NULL;
    BDML_TRY(bdml_container_load(h, path, &c));
    bdml_status status = unpack(h, c, k);
    bdml_container_free(c);
    bool named = status == BDML_ERR_FORMAT || status == BDML_ERR_ARGUMENT;
    return named ? bdml_fail_context(h, status, "%.500s", path) : status;
}
