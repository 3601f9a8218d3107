/* scml_directions.c - the directions of scml: discriminants of parts of the data, as Shi, Bellet and Sha 2014 take them, or
 * differences of points. */
#include "baselines/scml.h"

#include <stdlib.h>

#include "linalg/linalg.h"

enum { STREAM_SEEDS = 0x73636d6c, STREAM_PAIRS }; /* purposes of random numbers */
enum { SCALES = 2, MOST_EACH = 50 };
static const int near_each[SCALES] = {20, MOST_EACH}; /* points of each class around a point */

static void add(bdml_directions *out, int d, const double *u)
{
    double length = bdml_la_norm(d, u);
    if (!(length > 0.0)) return;
    for (int i = 0; i < d; i++) COL(out->u, d, out->count)[i] = u[i] / length;
    out->count++;
}

/* ---- discriminants of parts -------------------------------------------------------------------------------- */

/* Points drawn at random, and around each the nearest of every class. */
typedef struct parts {
    int64_t middles;
    double *x; /* middles x classes rows: a point stands there once for each class */
    int32_t *y;
    int32_t *index; /* for each of these rows its neighbours, MOST_EACH of them */
    double *part;   /* rows of one part, and their classes */
    int32_t *label;
} parts;

static void free_parts(parts *p)
{
    free(p->x);
    free(p->y);
    free(p->index);
    free(p->part);
    free(p->label);
}

static bdml_status find_parts(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                              parts *p)
{
    bdml_status status = BDML_OK;
    bdml_rng rng = bdml_rng_make((uint64_t)o->general.seed.value, STREAM_SEEDS);
    const bdml_rows rows = bdml_training_rows(t);
    size_t d = (size_t)t->d, classes = (size_t)t->classes, queries = (size_t)p->middles * classes;

    BDML_NEW(h, p->x, queries * d);
    BDML_NEW(h, p->y, queries);
    BDML_NEW(h, p->index, queries * MOST_EACH);
    BDML_NEW(h, p->part, classes * MOST_EACH * d);
    BDML_NEW(h, p->label, classes * MOST_EACH);
    for (size_t m = 0; m < (size_t)p->middles; m++) {
        const double *middle = t->x + bdml_rng_below(&rng, (uint64_t)t->n) * d;
        for (size_t c = 0; c < classes; c++) {
            memcpy(p->x + (m * classes + c) * d, middle, sizeof *p->x * d);
            p->y[m * classes + c] = (int32_t)c;
        }
    }
    const bdml_rows asked = {(int64_t)queries, t->d, t->d, p->x, p->y, t->classes, NULL};
    status = bdml_knn_search(h, &o->neighbors, &rows, &asked, BDML_SAME_CLASS, MOST_EACH, p->index,
                             NULL);
done:
    return status;
}

/* The discriminants of the `each` nearest points of every class around middle m, as far as there is room. Where the means of
 * a part are the same there are none. */
static bdml_status add_part(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                            const parts *p, int64_t m, int each, bdml_model *model, int want,
                            bdml_directions *out)
{
    size_t d = (size_t)t->d;
    int64_t count = 0;
    for (int c = 0; c < t->classes; c++)
        for (int k = 0; k < each; k++) {
            int32_t i = p->index[(m * t->classes + c) * MOST_EACH + k];
            if (i < 0) break;
            memcpy(p->part + (size_t)count * d, t->x + (size_t)i * d, sizeof *p->part * d);
            p->label[count++] = c;
        }
    const bdml_training part = {count, t->d, p->part, p->label, t->classes, NULL, NULL, NULL, NULL};
    bdml_status status = bdml_fit_lda(h, o, &part, model);
    if (status == BDML_ERR_DATA) return BDML_OK;
    for (int k = 0; status == BDML_OK && k < model->q && out->count < want; k++)
        add(out, t->d, model->l + (size_t)k * d);
    return status;
}

static bdml_status discriminants(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                                 int want, bdml_directions *out)
{
    bdml_status status = BDML_OK;
    bdml_prepare plain = {.d_in = t->d, .d_out = t->d, .scale = BDML_SCALE_NONE, .variance = 1.0};
    int each = SCALES * BDML_MAX(BDML_MIN(t->classes - 1, t->d), 1); /* directions of a middle */
    parts p = {.middles = (want + each - 1) / each};
    bdml_model *model = NULL;

    BDML_GO(find_parts(h, o, t, &p));
    BDML_GO(bdml_model_new(h, NULL, &plain, t->d, &model));
    for (int64_t m = 0; m < p.middles; m++) {
        BDML_GO(bdml_progress(h, "scml: directions", m, p.middles));
        for (int s = 0; s < SCALES; s++)
            BDML_GO(add_part(h, o, t, &p, m, near_each[s], model, want, out));
    }
done:
    free_parts(&p);
    bdml_free_model(model);
    return status;
}

/* ---- differences ------------------------------------------------------------------------------------------- */

static bdml_status differences(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                               const bdml_constraints *c, int want, bdml_directions *out)
{
    bdml_status status = BDML_OK;
    bdml_rng rng = bdml_rng_make((uint64_t)o->general.seed.value, STREAM_PAIRS);
    size_t d = (size_t)t->d;
    double *u = NULL;

    BDML_NEW(h, u, d);
    for (int64_t k = 0; k < BDML_MAX(c->pairs, want) && out->count < want; k++) {
        /* all of them where they are few */
        int64_t p = c->pairs <= want ? k : (int64_t)bdml_rng_below(&rng, (uint64_t)c->pairs);
        if (p >= c->pairs) break;
        for (size_t j = 0; j < d; j++)
            u[j] = t->x[(size_t)c->pi[p] * d + j] - t->x[(size_t)c->pj[p] * d + j];
        add(out, t->d, u);
    }
done:
    free(u);
    return status;
}

bdml_status bdml_scml_directions(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                                 const bdml_constraints *c, int want, bdml_directions *out)
{
    bdml_status status = BDML_OK;
    *out = (bdml_directions){0};
    BDML_NEW(h, out->u, (size_t)t->d * (size_t)want);
    BDML_GO(t->y && !t->constraints ? discriminants(h, o, t, want, out)
                                    : differences(h, o, t, c, want, out));
    if (out->count == 0)
        status =
            bdml_fail(h, BDML_ERR_DATA, "scml: all points are the same, so there is no direction");
done:
    return status;
}
