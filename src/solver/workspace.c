/* workspace.c - everything a solve allocates, at its beginning. */
#include "solver/engine.h"

#include <stdlib.h>

static bdml_spectral make_set(const bdml_problem *p, const bdml_solve_settings *s, double *scratch)
{
    bdml_spectral whole;
    switch (s->set) {
    case BDML_SET_PSD_BALL:
        whole = bdml_spectral_psd_ball(p->d, s->trace);
        break;
    case BDML_SET_PSD_SIMPLEX:
        whole = bdml_spectral_psd_simplex(p->d, s->trace);
        break;
    case BDML_SET_HULL:
        whole = bdml_spectral_hull(p->d, s->rank, s->spectrum, scratch);
        break;
    case BDML_SET_RANK:
        whole = bdml_spectral_rank(p->d, s->rank, s->K);
        break;
    default:
        whole = bdml_spectral_distortion(p->d, s->K, s->trace);
    }
    return bdml_spectral_reduce(&whole, p->r);
}

static bdml_status allocate_active(bdml_engine *e)
{
    bdml_status status = BDML_OK;
    bdml_active *a = &e->active;
    BDML_NEW(e->h, a->t, e->m);
    double **arrays[] = {&a->w, &a->b,     &a->q,   &a->u,   &a->y0,
                         &a->v, &a->v_old, &a->v_z, &a->y_z, &a->scratch};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) BDML_NEW(e->h, *arrays[i], e->m);
done:
    return status;
}

bdml_status bdml_engine_init(bdml_engine *e, bdml_handle *h, bdml_problem *p,
                             const bdml_solve_settings *s)
{
    bdml_status status = BDML_OK;
    memset(e, 0, sizeof *e);
    e->h = h;
    e->p = p;
    e->s = s;
    e->r = p->r;
    e->size = p->size;
    e->m = p->m;
    e->started = bdml_now();
    if (s->set == BDML_SET_HULL) BDML_NEW(h, e->hull, 2 * (size_t)p->d);
    e->set = make_set(p, s, e->hull);
    e->user_trace = e->set.trace;
    e->upper = e->stall_gap = INFINITY;
    e->lower = -INFINITY;
    e->interior_slack = 0.0;
    e->before = INFINITY;
    e->aim = 1.0;
    e->step_inv = 1.0;
    double **matrices[] = {&e->g, &e->M, &e->M_old, &e->Z, &e->S, &e->T, &e->best, &e->interior};
    for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++)
        BDML_NEW(h, *matrices[i], e->size);
    double **vectors[] = {&e->w, &e->b,     &e->q,      &e->u,          &e->v,
                          &e->y, &e->y_try, &e->best_y, &e->interior_v, &e->proof_y};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) BDML_NEW(h, *vectors[i], e->m);
    BDML_NEW(h, e->lambda, e->r);
    BDML_NEW(h, e->l, e->r);
    BDML_NEW(h, e->sorted, e->r);
    BDML_NEW(h, e->order, e->r);
    BDML_NEW(h, e->listed, e->m);
    BDML_NEW(h, e->scaled, e->size);
    BDML_GO(allocate_active(e));
    BDML_GO(bdml_newton_init(e));
    if (!p->diagonal) BDML_GO(bdml_eigh_ws_init(h, e->r, &e->eigen));
done:
    if (status != BDML_OK) bdml_engine_free(e);
    return status;
}

void bdml_engine_free(bdml_engine *e)
{
    bdml_active *a = &e->active;
    double *arrays[] = {e->g,      e->M,        e->M_old,  e->Z,      e->S,          e->T,
                        e->best,   e->interior, e->w,      e->b,      e->q,          e->u,
                        e->v,      e->y,        e->y_try,  e->best_y, e->interior_v, e->proof_y,
                        e->lambda, e->l,        e->sorted, e->scaled, a->w,          a->b,
                        a->q,      a->u,        a->y0,     a->v,      a->v_old,      a->v_z,
                        a->y_z,    a->scratch};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
    free(e->order);
    free(e->hull);
    free(e->state.number);
    free(e->listed);
    free(a->t);
    bdml_newton_free(&e->newton);
    bdml_eigh_ws_free(&e->eigen);
    memset(e, 0, sizeof *e);
}
