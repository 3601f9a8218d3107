/* lmnn_rank.c - large margin nearest neighbours with a map L of q rows, M = L'L:
 *
 *     min over L of  f(L) = <G,L'L> + w sum_t [1 - <A_t,L'L>]_+,     grad f = 2 L (G - w sum over missed t of A_t)
 *
 * over a list of triplets (Torresani and Lee 2007). Not convex, and with kinks where a margin is just met; by
 * L-BFGS from the map given, which never goes up. Where it ends depends on the start: lmnn.c gives the leading
 * directions of the convex optimum. */
#include <stdlib.h>

#include "baselines/lmnn.h"
#include "linalg/linalg.h"
#include "baselines/lbfgs.h"

/* A step that gains no more than this share of the gap wanted, relative to f, ends it. */
static const double CHANGE = 0.05;
enum { MOST_STEPS = 200 /* over one list of triplets */ };

void bdml_lmnn_low_free(bdml_lmnn_low *a)
{
    bdml_margin_free(a->op);
    free(a->g);
    free(a->s);
    free(a->value);
    memset(a, 0, sizeof *a);
}

bdml_status bdml_lmnn_low_init(bdml_handle *h, const bdml_lmnn *a, const bdml_constraints *c, int q,
                               bdml_lmnn_low *out)
{
    bdml_status status = BDML_OK;
    size_t d = (size_t)a->d;

    *out = (bdml_lmnn_low){.d = a->d, .q = q, .m = c->m};
    out->weight = a->push / (double)a->targets;
    BDML_GO(bdml_margin_new(h, a->n, a->d, a->x, a->d, c, &out->op));
    BDML_NEW(h, out->g, d * d);
    BDML_NEW(h, out->s, d * d);
    BDML_NEW(h, out->value, c->m);
    bdml_margin_objective(out->op, out->g);
done:
    if (status != BDML_OK) bdml_lmnn_low_free(out);
    return status;
}

bdml_status bdml_lmnn_low_objective(void *low, const double *l, double *f, double *gradient)
{
    bdml_lmnn_low *a = low;
    int d = a->d, q = a->q;
    double push = 0.0, pull = 0.0;

    bdml_margin_forward_low(a->op, q, l, 1.0, a->value);
    for (int64_t t = 0; t < a->m; t++) {
        double miss = 1.0 - a->value[t];
        push += BDML_MAX(miss, 0.0);
        a->value[t] = miss > 0.0 ? -a->weight : 0.0;
    }
    bdml_la_gemm('N', 'N', d, q, d, 2.0, a->g, d, l, d, 0.0, gradient, d);
    pull = 0.5 * bdml_la_dot(d * q, l, gradient);
    *f = pull + a->weight * push;
    bdml_margin_adjoint(a->op, a->value, -1, NULL, a->s);
    bdml_la_gemm('N', 'N', d, q, d, 2.0, a->s, d, l, d, 1.0, gradient, d);
    return BDML_OK;
}

bdml_status bdml_lmnn_low_minimise(bdml_handle *h, const bdml_solve_options *o, const bdml_lmnn *a,
                                   const bdml_constraints *c, double gap, int q, double *l,
                                   double *value, int64_t *steps)
{
    bdml_status status = BDML_OK;
    bdml_lbfgs_settings s = bdml_lbfgs_defaults();
    bdml_lbfgs_result r;
    bdml_lmnn_low low = {0};

    s.what = "lmnn";
    s.max_iter = BDML_MAX(o->max_iter.value - *steps, (int64_t)1);
    s.max_iter = BDML_MIN(s.max_iter, (int64_t)MOST_STEPS);
    s.f_floor = 1e-12;
    s.gradient = CHANGE * gap;
    s.change = CHANGE * gap;
    BDML_GO(bdml_lmnn_low_init(h, a, c, q, &low));
    BDML_GO(bdml_lbfgs(h, q * a->d, l, bdml_lmnn_low_objective, &low, &s, &r));
    *value = r.f;
    *steps += r.iterations;
done:
    bdml_lmnn_low_free(&low);
    return status;
}
