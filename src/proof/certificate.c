/* certificate.c - a model or proof as text that other programs can check: docs/certificate.md.
 *
 * The map is the one of inside.c, and the claimed bracket is widened by WIDEN. */
#include "proof/internal.h"

#include <stdlib.h>

static const double WIDEN = 1e-12; /* of the upper end, to either side */

/* ---- text ---------------------------------------------------------------------------------------- */

typedef struct writer {
    bdml_handle *h;
    char *text; /* so far */
    size_t size, capacity;
    const bdml_model *model;
    const bdml_evidence *e;
    const bdml_proof_rows *rows;
    const int32_t *y; /* of the rows, which are all, or NULL */
    bool given;       /* rows are named, and their numbers left out */
    int dim;          /* of the points that the metric acts on */
    double *b;        /* q x dim, or NULL */
    double *room;     /* for the numbers of a row */
} writer;

static bdml_status put(writer *w, const char *fmt, ...) BDML_PRINTF(2, 3);

static bdml_status put(writer *w, const char *fmt, ...)
{
    enum { MOST = 128 }; /* of one call */
    va_list ap;
    BDML_TRY(bdml_grow(w->h, &w->text, &w->capacity, w->size + MOST, 1));
    va_start(ap, fmt);
    w->size += (size_t)bdml_vsnprintf(w->h->c_locale, w->text + w->size, MOST, fmt, ap);
    va_end(ap);
    return BDML_OK;
}

/* Nearly all of a certificate is numbers: each with what stands after it, without printf. */
static bdml_status put_number(writer *w, double x, char after)
{
    BDML_TRY(bdml_grow(w->h, &w->text, &w->capacity, w->size + BDML_NUMBER_SIZE, 1));
    w->size += (size_t)bdml_format_hex(x, w->text + w->size);
    w->text[w->size++] = after;
    return BDML_OK;
}

/* The number of a row, class, pair or constraint. */
static bdml_status put_count(writer *w, int64_t v, char after)
{
    char digit[BDML_NUMBER_SIZE]; /* from the last on */
    int digits = 0;
    if (v < 0) return put(w, "%lld%c", (long long)v, after);
    BDML_TRY(bdml_grow(w->h, &w->text, &w->capacity, w->size + BDML_NUMBER_SIZE, 1));
    do digit[digits++] = (char)('0' + v % 10);
    while ((v /= 10) > 0);
    while (digits > 0) w->text[w->size++] = digit[--digits];
    w->text[w->size++] = after;
    return BDML_OK;
}

static bdml_status put_numbers(writer *w, int64_t rows, int64_t columns, const double *x)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            BDML_TRY(put_number(w, x[i * columns + j], j + 1 < columns ? ' ' : '\n'));
    return BDML_OK;
}

static bdml_status put_matrix(writer *w, const char *name, int64_t rows, int64_t columns,
                              const double *x)
{
    if (!x) return put(w, "%s none\n", name);
    BDML_TRY(put(w, "%s %lld\n", name, (long long)rows));
    return put_numbers(w, rows, columns, x);
}

/* ---- sections --------------------------------------------------------------------------------------- */

static bool is_bracket(const bdml_evidence *e)
{
    return e->claim == BDML_CLAIM_OPTIMAL || e->claim == BDML_CLAIM_STOPPED;
}

/* "bracket", "lower", "infeasible" (up to this trace), "contradiction" (at any). */
static const char *claim_word(const writer *w)
{
    if (is_bracket(w->e)) return "bracket";
    if (w->e->claim == BDML_CLAIM_APPROXIMATE) return "lower";
    return isfinite(w->e->reach) ? "infeasible" : "contradiction";
}

static bdml_status put_problem(writer *w)
{
    const bdml_evidence *e = w->e;
    BDML_TRY(put(w, "bdml-certificate 1\nclaim %s\n", claim_word(w)));
    BDML_TRY(put(w, "form %s\n", e->hard ? "hard" : e->squared ? "squared-hinge" : "hinge"));
    BDML_TRY(put(w, "metric %s\ndistortion %a\n", e->diagonal ? "diagonal" : "full", e->K));
    double trace = e->claim == BDML_CLAIM_INFEASIBLE && isfinite(e->reach) ? e->reach : e->R;
    BDML_TRY(isfinite(trace) ? put(w, "trace %a\n", trace) : put(w, "trace none\n"));
    BDML_TRY(put(w, "margin %a\n", e->margin));
    BDML_TRY(e->hard ? put(w, "cost none\n") : put(w, "cost %a\n", e->cost));
    if (e->claim == BDML_CLAIM_INFEASIBLE) return put(w, "objective none\n");
    return put(w, "objective %s %a\n", e->pull == BDML_PULL_TARGETS ? "targets" : "within",
               e->g_scale);
}

static bdml_status put_preparation(writer *w)
{
    const bdml_prepare *p = &w->model->prepare;
    BDML_TRY(put(w, "data %lld %d\n", (long long)w->rows->n, p->d_in));
    BDML_TRY(put(w, p->fill ? "missing\n" : "missing none\n"));
    if (p->fill) BDML_TRY(put_numbers(w, 1, p->d_in, p->fill));
    BDML_TRY(put(w, p->scale == BDML_SCALE_UNIT ? "unit yes\n" : "unit no\n"));
    BDML_TRY(put(w, p->width ? "width\n" : "width none\n"));
    for (int j = 0; p->width && j < p->d_in; j++)
        BDML_TRY(isfinite(p->width[j]) ? put(w, "%a\n", p->width[j]) : put(w, "constant\n"));
    BDML_TRY(put_matrix(w, "basis", p->d_out, p->d_in, p->basis));
    return put_matrix(w, "reference", w->e->reference_rows, w->e->reference_columns,
                      w->e->reference);
}

static bdml_status put_rows(writer *w)
{
    const bdml_proof_rows *r = w->rows;
    int64_t d = w->model->prepare.d_in;
    BDML_TRY(put(w, "rows %lld\n", (long long)r->count));
    for (int64_t i = 0; i < r->count; i++) {
        BDML_TRY(bdml_leave_check(w->h, "proof"));
        BDML_TRY(put_count(w, r->row[i], w->given ? '\n' : ' '));
        if (!w->given) BDML_TRY(put_numbers(w, 1, d, bdml_proof_row(r, i, w->room)));
    }
    if (!w->y) return put(w, "classes none\n");
    BDML_TRY(put(w, "classes %lld\n", (long long)r->n));
    for (int64_t i = 0; i < r->n; i++) BDML_TRY(put_count(w, w->y[i], '\n'));
    return BDML_OK;
}

static bdml_status put_constraints(writer *w)
{
    const bdml_constraints *c = w->e->constraints;
    bool targets = w->e->claim != BDML_CLAIM_INFEASIBLE && w->e->pull == BDML_PULL_TARGETS;
    BDML_TRY(put(w, "pairs %lld\n", (long long)c->pairs));
    for (int64_t k = 0; k < c->pairs; k++) {
        BDML_TRY(put_count(w, c->pi[k], ' '));
        BDML_TRY(put_count(w, c->pj[k], '\n'));
    }
    BDML_TRY(put(w, "targets %lld\n", targets ? (long long)c->targets : 0LL));
    for (int64_t t = 0; targets && t < c->targets; t++) BDML_TRY(put_count(w, c->target[t], '\n'));
    BDML_TRY(put(w, "constraints %lld\n", (long long)c->m));
    for (int64_t t = 0; t < c->m; t++) {
        BDML_TRY(put_count(w, c->far[t], ' '));
        BDML_TRY(c->near[t] >= 0 ? put_count(w, c->near[t], ' ') : put(w, "- "));
        BDML_TRY(put_number(w, c->margin ? c->margin[t] : 1.0, ' '));
        BDML_TRY(put_number(w, c->weight ? c->weight[t] : 1.0, '\n'));
    }
    return BDML_OK;
}

static bdml_status put_evidence(writer *w)
{
    const bdml_evidence *e = w->e;
    BDML_TRY(put_matrix(w, "map", w->model->q, w->dim, w->b));
    BDML_TRY(put(w, "multipliers %lld\n", (long long)e->duals));
    for (int64_t k = 0; k < e->duals; k++) {
        BDML_TRY(put_count(w, e->dual_constraint[k], ' '));
        BDML_TRY(put_number(w, e->dual[k], '\n'));
    }
    double room = WIDEN * fabs(is_bracket(e) ? e->upper : e->lower);
    if (e->claim != BDML_CLAIM_INFEASIBLE) BDML_TRY(put(w, "lower %a\n", e->lower - room));
    if (is_bracket(e)) BDML_TRY(put(w, "upper %a\n", e->upper + room));
    return put(w, "end\n");
}

/* ---- entry ------------------------------------------------------------------------------------------- */

bdml_status bdml_certificate_of_rows(bdml_handle *h, const bdml_model *model,
                                     const bdml_evidence *e, const bdml_proof_rows *rows,
                                     const int32_t *y, bool given, char **text, size_t *size)
{
    bdml_status status = BDML_OK;
    writer w = {.h = h,
                .model = model,
                .e = e,
                .rows = rows,
                .y = y,
                .given = given,
                .dim = e->reference ? e->reference_rows : model->d};

    BDML_NEW(h, w.room, rows->d);
    if (is_bracket(e)) BDML_GO(bdml_map_inside(h, model, e, rows, &w.b));
    BDML_GO(put_problem(&w));
    BDML_GO(put_preparation(&w));
    BDML_GO(put_rows(&w));
    BDML_GO(put_constraints(&w));
    BDML_GO(put_evidence(&w));
    *text = w.text;
    *size = w.size;
    w.text = NULL;
done:
    free(w.text);
    free(w.b);
    free(w.room);
    return status;
}

bdml_status bdml_certificate_text(bdml_handle *h, const bdml_model *model, const bdml_evidence *e,
                                  const bdml_dataset *data, char **text, size_t *size)
{
    bool all = bdml_objective_is_scatter(e);
    bdml_proof_rows rows;
    BDML_TRY(bdml_dataset_need_all(h, data, "a certificate"));
    BDML_TRY(bdml_proof_rows_take(h, model, e, data, all, &rows));
    bdml_status status =
        bdml_certificate_of_rows(h, model, e, &rows, all ? data->y : NULL, false, text, size);
    bdml_proof_rows_free(&rows);
    return status;
}
