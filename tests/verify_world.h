/* verify_world.h - people, their pictures, pairs of them, and files of these */
#ifndef BDML_TESTS_VERIFY_WORLD_H
#define BDML_TESTS_VERIFY_WORLD_H

#include "check.h"

#include <jansson.h>

#include "evaluate/evaluate.h"

static char folder[] = "/tmp/bdml-verify-XXXXXX";

static inline int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static inline int drop_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

static inline const char *write_text(const char *name, const char *text)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    return path;
}

/* People are points in SIGNAL dimensions, their pictures these with little noise; the other dimensions
 * are loud and mean nothing. Four folds of people, pictures 2 each; pairs inside a fold only. */
enum { PEOPLE = 80, FOLDS = 4, SIGNAL = 3, D = 8, N = 2 * PEOPLE, PAIRS = 2 * PEOPLE };

typedef struct world {
    double x[N * D];
    int fold[PAIRS], row[2 * PAIRS], same[PAIRS];
} world;

static inline void make_world(world *w)
{
    bdml_rng r = bdml_rng_make(11, 0);
    for (int who = 0; who < PEOPLE; who++) {
        double centre[SIGNAL];
        for (int j = 0; j < SIGNAL; j++) centre[j] = bdml_rng_normal(&r);
        for (int picture = 0; picture < 2; picture++)
            for (int j = 0; j < D; j++)
                w->x[(2 * who + picture) * D + j] =
                    j < SIGNAL ? centre[j] + 0.3 * bdml_rng_normal(&r) : 2.0 * bdml_rng_normal(&r);
    }
    for (int k = 0; k < PAIRS; k++) {
        int who = k / 2, per_fold = PEOPLE / FOLDS, f = who / per_fold;
        int other = f * per_fold + (who + 1 - f * per_fold) % per_fold;
        w->fold[k] = f;
        w->same[k] = k % 2 == 0;
        w->row[2 * k] = 2 * who;
        w->row[2 * k + 1] = w->same[k] ? 2 * who + 1 : 2 * other + 1;
    }
}

static inline json_t *verify_world(bdml_handle *h, const world *w)
{
    char *text = NULL, path[256];
    bdml_dataset *data;
    snprintf(path, sizeof path, "%s/pairs.csv", folder);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    fputs("fold,i,j,same\n", f);
    for (int k = 0; k < PAIRS; k++)
        fprintf(f, "%d,%d,%d,%d\n", w->fold[k], w->row[2 * k], w->row[2 * k + 1], w->same[k]);
    fclose(f);
    check_ok(h, bdml_dataset_from_arrays(h, N, D, w->x, D, NULL, &data));
    check_ok(h, bdml_set(h, "pairs-file", path));
    bdml_status status = bdml_verify(h, data, &text);
    unlink(path);
    check_ok(h, status);
    json_t *result = json_loads(text, 0, NULL);
    assert_non_null(result);
    bdml_free_bytes(text);
    bdml_free_dataset(data);
    return result;
}

static inline json_t *method_of(json_t *result, size_t m)
{
    return json_array_get(json_object_get(result, "methods"), m);
}

static inline double listed(json_t *result, size_t m, const char *key, size_t fold)
{
    return json_number_value(json_array_get(json_object_get(method_of(result, m), key), fold));
}

static inline double single(json_t *result, size_t m, const char *key)
{
    return json_number_value(json_object_get(method_of(result, m), key));
}

#endif
