/* constraint_notes.h - points on a grid, and the warnings that a call gives */
#ifndef BDML_TESTS_CONSTRAINT_NOTES_H
#define BDML_TESTS_CONSTRAINT_NOTES_H

#include "check.h"

#include "problem/problem.h"

/* Points on a small grid, so that there are ties, in three classes. */
static inline bdml_dataset *grid_points(bdml_handle *h, int64_t n, int d)
{
    bdml_rng r = bdml_rng_make(17, (uint64_t)n);
    double *x = malloc(sizeof *x * (size_t)(n * d));
    int64_t *y = malloc(sizeof *y * (size_t)n);
    bdml_dataset *data;
    for (int64_t i = 0; i < n; i++) {
        y[i] = (int64_t)bdml_rng_below(&r, 3);
        for (int a = 0; a < d; a++) x[i * d + a] = (double)bdml_rng_below(&r, 7) + (double)y[i];
    }
    check_ok(h, bdml_dataset_from_arrays(h, n, d, x, d, y, &data));
    free(x), free(y);
    return data;
}

typedef struct notes {
    char text[4096];
} notes;

static inline void take_note(void *user, bdml_log_level level, const char *line)
{
    notes *n = user;
    size_t used = strlen(n->text);
    (void)level;
    snprintf(n->text + used, sizeof n->text - used, "%s\n", line);
}

#define check_said(n, part)                                                           \
    do {                                                                              \
        if (!strstr((n).text, (part))) fail_msg("'%s' lacks '%s'", (n).text, (part)); \
    } while (0)

#endif
