/* setup.c - a problem: checked, reduced to the data span, with its operator and objective. */
#include "solver/engine.h"

#include <stdlib.h>

/* G: the caller's, or the mean over the target pairs. */
static bdml_status set_objective(bdml_handle *h, bdml_problem *p)
{
    bdml_status status = BDML_OK;
    bdml_operator *A = &p->A;
    bdml_matrices whole = {.r = p->d, .size = p->form->row_ops->size(p->d, 0)};
    double *ws = NULL, *given = NULL;

    if (!p->objective) {
        A->ops->objective(A, A->g);
    } else {
        BDML_NEW(h, given, whole.size);
        BDML_NEW(h, ws, (size_t)p->d * (size_t)p->r);
        p->form->matrix_ops->take(&whole, p->objective, given);
        bdml_reduce_metric(p, given, A->g, ws);
    }
    double size = bdml_vec_dot(A->size, A->g, A->g);
    double trace = sqrt(p->r * size); /* of G at most: the mean |x_i - x_j|^2 that it is made of */
    A->g_rough = trace + (p->objective ? 0.0 : A->spread * sqrt(trace));
    if (!(size > 0.0) || !isfinite(size))
        status = bdml_fail(h, BDML_ERR_DATA,
                           "the objective is zero or not finite: it needs a target pair of "
                           "two different points");
done:
    free(ws);
    free(given);
    return status;
}

bdml_status bdml_problem_build(bdml_handle *h, const bdml_comm *comm, int d,
                               const bdml_statement *own, const bdml_statement *stated,
                               const double *objective, const bdml_form *form, bool reduce,
                               bdml_problem **out)
{
    bdml_status status = BDML_OK;
    bdml_problem *p = NULL;
    double *z = NULL;

    *out = NULL;
    BDML_TRY(bdml_operator_check(h, comm, own->n, own->c));
    BDML_TRY(bdml_la_enter(h));
    BDML_NEW(h, p, 1);
    *p = (bdml_problem){.form = form, .n = own->n, .d = d, .r = d, .x = own->x, .ld = own->ld};
    p->c = own->c;
    p->stated = stated ? *stated : *own;
    p->objective = objective;
    p->comm = p->clock = comm;
    p->exact = true;
    if (reduce) BDML_GO(bdml_reduce(h, p, &z));
    BDML_GO(bdml_operator_init(h, form->row_ops, comm, own->own, own->n, p->r, z ? z : own->x,
                               z ? p->r : own->ld, own->c, &p->A));
    BDML_GO(set_objective(h, p));
    *out = p;
    p = NULL;
done:
    free(z);
    bdml_problem_free(p);
    bdml_la_leave(h);
    return status;
}

static const bdml_form *form_of(bool diagonal)
{
    return diagonal ? &bdml_diagonal_form : &bdml_full_form;
}

bdml_status bdml_problem_new(bdml_handle *h, int64_t n, int d, const double *x, int64_t ld,
                             const bdml_constraints *c, const double *objective, bool diagonal,
                             bdml_problem **out)
{
    return bdml_problem_new_split(h, &bdml_comm_serial, n, d, x, ld, c, objective, diagonal, out);
}

bdml_status bdml_problem_new_split(bdml_handle *h, const bdml_comm *comm, int64_t n, int d,
                                   const double *x, int64_t ld, const bdml_constraints *c,
                                   const double *objective, bool diagonal, bdml_problem **out)
{
    const bdml_statement own = {.n = n, .x = x, .ld = ld, .c = c};
    return bdml_problem_build(h, comm, d, &own, NULL, objective, form_of(diagonal), true, out);
}

/* Multiplications of a step, values and gradient of all constraints, from which on ranks share them: some 10 ms of a core, where the sums of a step
 * take tenths of that on a network, and the waiting for each other more. */
static const double WORTH_SHARING = 1e8;

bool bdml_sharing_pays(const bdml_constraints *c, int d, bool diagonal)
{
    double width = diagonal ? d : (double)d * d;
    return 4.0 * (double)BDML_MIN(c->n, c->pairs) * width > WORTH_SHARING;
}

bdml_status bdml_problem_new_shared(bdml_handle *h, const bdml_spread *over, bool split, int64_t n,
                                    const bdml_rows *rows, const bdml_constraints *c,
                                    const double *objective, bool diagonal, bdml_problem **out)
{
    bdml_status status = BDML_OK;
    const bdml_comm *comm = split ? h->comm : &bdml_comm_serial;
    bdml_share share = {0};
    double *own = NULL;
    int d = rows->d;

    if (h->comm->size == 1 && !rows->made)
        return bdml_problem_new(h, n, d, rows->x, rows->ld, c, objective, diagonal, out);
    *out = NULL;
    BDML_GO(bdml_share_make(h, comm, c, &share));
    BDML_NEW(h, own, (size_t)share.c->n * (size_t)d);
    if (over)
        BDML_GO(bdml_spread_fetch(h, over, d, rows->x, rows->ld, share.c->n, share.row, own));
    else
        bdml_rows_copy(rows, share.c->n, share.row, 0, own);
    const bdml_statement here = {.n = share.c->n,
                                 .x = own,
                                 .ld = d,
                                 .c = share.c,
                                 .own = share.own},
                         all = {n, rows->x, rows->ld, c, over, NULL, rows->made};
    BDML_GO(bdml_problem_build(h, comm, d, &here, &all, objective, form_of(diagonal), true, out));
    (*out)->clock = h->comm;
    (*out)->share = share;
    (*out)->share_x = own;
    share = (bdml_share){0};
    own = NULL;
done:
    bdml_share_free(&share);
    free(own);
    return status;
}

bdml_status bdml_problem_new_whole(bdml_handle *h, int64_t n, int d, const double *x, int64_t ld,
                                   const bdml_constraints *c, bool diagonal, bdml_problem **out)
{
    const bdml_statement own = {.n = n, .x = x, .ld = ld, .c = c};
    return bdml_problem_build(h, &bdml_comm_serial, d, &own, NULL, NULL, form_of(diagonal), false,
                              out);
}

bdml_status bdml_problem_unreduced(bdml_handle *h, bdml_problem *p)
{
    const bdml_statement own = {.n = p->n, .x = p->x, .ld = p->ld, .c = p->c, .own = p->share.own};
    if (p->whole) return BDML_OK;
    BDML_TRY(bdml_problem_build(h, p->comm, p->d, &own, &p->stated, p->objective, p->form, false,
                                &p->whole));
    p->whole->share.first = p->share.first;
    p->whole->clock = p->clock;
    return BDML_OK;
}

int64_t bdml_problem_constraints(const bdml_problem *p)
{
    return p->stated.c->m;
}

const bdml_comm *bdml_problem_comm(const bdml_problem *p)
{
    return p->comm;
}

const bdml_operator *bdml_problem_operator(const bdml_problem *p)
{
    return &p->A;
}

const bdml_matrix_ops *bdml_problem_matrices(const bdml_problem *p)
{
    return p->form->matrix_ops;
}

const double *bdml_problem_points(const bdml_problem *p, int64_t *n, int64_t *ld)
{
    *n = p->stated.n;
    *ld = p->stated.ld;
    return p->stated.over ? NULL : p->stated.x;
}

const double *bdml_problem_held(const bdml_problem *p, int64_t *ld, const bdml_constraints **c)
{
    *ld = p->ld;
    *c = p->c;
    return p->x;
}

void bdml_problem_free(bdml_problem *p)
{
    if (!p) return;
    bdml_problem_free(p->whole);
    bdml_operator_free(&p->A);
    bdml_share_free(&p->share);
    free(p->share_x);
    free(p->basis);
    free(p->kept);
    free(p);
}
