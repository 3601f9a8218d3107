/* scatter.c - the scatter within classes of all rows, with bounds: the sums of check/scatter.c over the rows that are here, and where
 * rows are dealt out those of all ranks, added ball by ball in the order of the ranks. */
#include "proof/internal.h"

#include <stdlib.h>

#include "check/check.h"

/* The rows that are here, with what is missing filled in. */
typedef struct held {
    const bdml_rows *rows;
    const double *fill;
    size_t d;
    double *lot;
    size_t capacity; /* rows of it */
    checker *k;
} held;

static const double *rows_at(void *user, size_t from, size_t rows)
{
    held *s = user;
    if (!s->fill && !s->rows->made) return s->rows->x + from * s->d;
    if (rows > s->capacity) {
        s->lot = check_take(s->k, rows * s->d, sizeof *s->lot);
        s->capacity = rows;
    }
    bdml_rows_copy(s->rows, (int64_t)rows, NULL, (int64_t)from, s->lot);
    for (size_t v = 0; s->fill && v < rows * s->d; v++)
        if (isnan(s->lot[v])) s->lot[v] = s->fill[v % s->d];
    return s->lot;
}

typedef struct work {
    bdml_handle *h;
    checker k;
    certificate c;
    lots rows;
    held here;
    bdml_rows all;
    scatter s;
    ball *out;
    bool sharp;
} work;

/* What the certificate says of the preparation. */
static void describe(work *w, const bdml_model *model, const bdml_evidence *e)
{
    const bdml_prepare *p = &model->prepare;
    certificate *c = &w->c;
    c->columns = (size_t)p->d_in;
    c->unit = p->scale == BDML_SCALE_UNIT;
    c->basis_rows = (size_t)p->d_out;
    c->basis = p->basis;
    c->reference = e->reference;
    c->dim = c->reference_rows = e->reference ? (size_t)e->reference_rows : c->basis_rows;
    if (!p->width) return;
    c->width = check_take(&w->k, c->columns, sizeof *c->width);
    for (size_t j = 0; j < c->columns; j++) c->width[j] = isfinite(p->width[j]) ? p->width[j] : 0.0;
}

/* A double near the mean of each column, the same on every rank. */
static void find_centre(work *w, const bdml_dataset *data)
{
    size_t d = w->here.d;
    double *centre = check_take(&w->k, d, sizeof *centre);
    for (size_t i = 0; i < w->rows.rows; i++) {
        const double *x = rows_at(&w->here, i, 1);
        for (size_t j = 0; j < d; j++) centre[j] += x[j] / (double)data->n;
    }
    bdml_spread_sum(data->over, (int64_t)d, centre);
    for (size_t j = 0; j < d; j++)
        if (!isfinite(centre[j])) centre[j] = 0.0;
    w->rows.centre = centre;
}

/* A turn of the checker's work: whatever it refuses ends here. */
static bdml_status guarded(work *w, void (*turn)(work *w, bool again), bool again)
{
    if (setjmp(w->k.door)) {
        BDML_TRY(bdml_leave_check(w->h, "proof"));
        return bdml_fail(w->h, BDML_ERR_MEMORY, "proof: %s", w->k.reason);
    }
    turn(w, again);
    return BDML_OK;
}

static void sum_rows(work *w, bool again)
{
    check_scatter_sums(&w->k, &w->c, &w->rows, again, &w->s);
}

static void end_sums(work *w, bool again)
{
    (void)again;
    w->sharp = check_scatter_end(&w->k, &w->c, &w->s, w->out);
}

/* a <- sum over ranks. Some at a time, from all ranks. */
static bdml_status sum_balls(bdml_handle *h, const bdml_spread *over, size_t count, ball *a)
{
    enum { SLAB = 1 << 15 };
    bdml_status status = BDML_OK;
    ball *all = NULL;
    double *each = NULL;
    size_t size = over ? (size_t)over->comm->size : 1;

    if (!over) return BDML_OK;
    BDML_NEW(h, all, size * SLAB);
    BDML_NEW(h, each, size);
    for (size_t from = 0; from < count; from += SLAB) {
        size_t now = BDML_MIN(count - from, (size_t)SLAB);
        for (size_t k = 0; k < size; k++) each[k] = (double)now;
        memcpy(all + (size_t)over->comm->rank * now, a + from, sizeof *a * now);
        bdml_comm_gather(over->comm, each, sizeof *a, all);
        for (size_t v = 0; v < now; v++) {
            a[from + v] = all[v];
            for (size_t k = 1; k < size; k++) a[from + v] = ball_add(a[from + v], all[k * now + v]);
        }
    }
done:
    free(all);
    free(each);
    return status;
}

/* Rows here, all rows, and what comes of them; once more after the reference where before is not sharp. */
static bdml_status make(work *w, const bdml_dataset *data)
{
    for (int again = 0; again < 2 && !w->sharp; again++) {
        BDML_TRY(bdml_spread_agree(w->h, data->over, guarded(w, sum_rows, again)));
        bdml_spread_sum(data->over, (int64_t)w->s.classes, w->s.count);
        BDML_TRY(sum_balls(w->h, data->over, w->s.classes * w->s.width, w->s.sum));
        BDML_TRY(sum_balls(w->h, data->over, w->s.width * w->s.width, w->s.product));
        BDML_TRY(bdml_spread_agree(w->h, data->over, guarded(w, end_sums, again)));
    }
    return BDML_OK;
}

static bdml_status begin(work *w, const bdml_model *model, const bdml_evidence *e,
                         const bdml_dataset *data)
{
    const bdml_rows here = w->all = bdml_dataset_view(data);
    if (!here.y) return bdml_fail(w->h, BDML_ERR_DATA, "the objective within needs classes");
    if (setjmp(w->k.door)) return bdml_fail(w->h, BDML_ERR_MEMORY, "proof: %s", w->k.reason);
    describe(w, model, e);
    int64_t *label = check_take(&w->k, (size_t)here.n, sizeof *label);
    for (int64_t i = 0; i < here.n; i++) label[i] = here.y[i];
    w->here = (held){.rows = &w->all, .fill = model->prepare.fill, .d = (size_t)here.d, .k = &w->k};
    w->rows = (lots){.rows = (size_t)here.n,
                     .classes = (size_t)data->classes,
                     .at = rows_at,
                     .user = &w->here,
                     .label = label};
    find_centre(w, data);
    return BDML_OK;
}

bdml_status bdml_proof_rows_scatter(bdml_handle *h, const bdml_model *model, const bdml_evidence *e,
                                    const bdml_dataset *data, bdml_proof_rows *r)
{
    bdml_status status = BDML_OK;
    work *w = NULL;

    BDML_NEW(h, w, 1);
    w->h = h;
    w->k.stop = bdml_proof_is_late;
    w->k.user = h;
    double d = model->d;
    w->k.threads = bdml_threads_for(h, (double)bdml_spread_held(data->over, data->n) * d * d);
    BDML_GO(begin(w, model, e, data));
    BDML_NEW(h, r->scatter, w->c.dim * w->c.dim);
    w->out = r->scatter;
    status = make(w, data);
done:
    if (w) check_free(&w->k);
    free(w);
    return status;
}
