/* prove.c - the certificate of a claim before the prover of bdml-check. */
#include "proof/internal.h"

#include <omp.h>
#include <stdlib.h>

#include "check/check.h"

typedef struct attempt {
    checker k;
    certificate c;
    proof p;
    bool refused; /* k.reason says why */
} attempt;

/* ---- rows as they are held ------------------------------------------------------------------------------- */

/* The rows in pairs: where they do not stand one behind the other, some of them at a time in `lot`. */
typedef struct source {
    const bdml_proof_rows *rows;
    double *lot;
} source;

static const double *rows_at(void *user, size_t from, size_t count)
{
    const source *s = user;
    const bdml_proof_rows *r = s->rows;
    size_t d = (size_t)r->d;
    if (r->own || (r->x && r->count == r->n)) return bdml_proof_row(r, (int64_t)from, NULL);
    for (size_t i = 0; i < count; i++) {
        const double *x = bdml_proof_row(r, (int64_t)(from + i), s->lot + i * d);
        if (x != s->lot + i * d) memcpy(s->lot + i * d, x, sizeof *s->lot * d);
    }
    return s->lot;
}

static const void *bytes_of(void *user, size_t place)
{
    const source *s = user;
    const bdml_proof_rows *r = s->rows;
    if (r->own || r->x) return bdml_proof_row(r, (int64_t)place, NULL);
    return r->single + (size_t)r->row[place] * (size_t)r->d;
}

/* ---- the proof --------------------------------------------------------------------------------------------- */

/* A user who stops a solve gets the proof of what it found; the clock ends that, and a user who leaves. Asked by any
 * thread: the first one asks the user. */
bool bdml_proof_is_late(void *user)
{
    bdml_handle *h = user;
    bool leaves = omp_get_thread_num() == 0 ? bdml_leaves(h, "proof") : h->leaving;
    return leaves || (h->deadline > 0.0 && bdml_now() >= h->deadline);
}

static void prove_text(attempt *a, FILE *f)
{
    if (setjmp(a->k.door)) {
        a->refused = true;
        return;
    }
    if (!ball_machine_ok())
        check_refuse(&a->k, "this machine does not round as the proof needs it");
    check_read(&a->k, f, &a->c);
    check_prove(&a->k, &a->c, &a->p);
}

static bdml_proven outcome(const attempt *a)
{
    bdml_proven out = {.refused = a->refused,
                       .confirmed = !a->refused && a->p.confirmed,
                       .every_trace = a->c.claim == CLAIM_CONTRADICTION,
                       .kappa = NAN,
                       .lower = NAN,
                       .upper = NAN,
                       .reach = NAN};
    snprintf(out.reason, sizeof out.reason, "%s", a->refused ? a->k.reason : a->p.failure);
    if (a->refused) return out;
    out.kappa = a->p.kappa;
    out.lower = a->p.lower;
    out.upper = a->p.upper;
    out.reach = a->p.reach;
    return out;
}

bdml_status bdml_prove_rows(bdml_handle *h, const bdml_model *model, const bdml_evidence *e,
                            const bdml_proof_rows *rows, bdml_proven *out)
{
    bdml_status status = BDML_OK;
    attempt *a = NULL;
    char *text = NULL;
    size_t size = 0;
    FILE *f = NULL;
    source from = {.rows = rows};
    size_t number = rows->own || rows->x ? sizeof(double) : sizeof(float);
    const given held = {rows_at, bytes_of, (size_t)rows->d * number, &from};
    const certificate shape = {.columns = (size_t)rows->d};

    BDML_NEW(h, a, 1);
    size_t lot = BDML_MIN(check_lot(&shape), (size_t)rows->count);
    from.lot = bdml_alloc(h, BDML_MAX(lot, 1) * (size_t)rows->d, sizeof *from.lot);
    if (!from.lot) BDML_GO(BDML_ERR_MEMORY);
    a->k.given = &held;
    a->k.stop = bdml_proof_is_late;
    a->k.user = h;
    a->k.scatter = rows->scatter;
    BDML_GO(bdml_certificate_of_rows(h, model, e, rows, NULL, true, &text, &size));
    f = fmemopen(text, size, "r");
    if (!f) {
        status = bdml_fail(h, BDML_ERR_MEMORY, "out of memory for the certificate");
        goto done;
    }
    /* About one product with a d x d matrix for each point and constraint; a small problem is done before a second
     * thread is awake. */
    double d = model->d;
    a->k.threads = bdml_threads_for(h, (double)(rows->count + e->constraints->m) * d * d);
    prove_text(a, f);
    if (a->refused) BDML_GO(bdml_leave_check(h, "proof"));
    *out = outcome(a);
done:
    if (f) fclose(f);
    if (a) check_free(&a->k);
    free(a);
    free(text);
    free(from.lot);
    return status;
}

double bdml_proof_bytes(double rows, double d, double constraints, double pairs)
{
    enum {
        A_CONSTRAINT = 100,
        A_PAIR = 190,
        A_ROW = 150,
        A_NUMBER = 6 * sizeof(ball),
        A_SQUARE = 640
    };
    return A_CONSTRAINT * constraints + A_PAIR * pairs + rows * (A_ROW + A_NUMBER * d) +
           A_SQUARE * d * d;
}

bdml_status bdml_prove(bdml_handle *h, const bdml_model *model, const bdml_evidence *e,
                       const bdml_dataset *data, bdml_proven *out)
{
    bdml_proof_rows rows;
    BDML_TRY(bdml_proof_rows_make(h, model, e, data, &rows));
    bdml_status status = bdml_prove_rows(h, model, e, &rows, out);
    bdml_proof_rows_free(&rows);
    return status;
}
