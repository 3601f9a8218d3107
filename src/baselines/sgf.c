/* sgf.c - sampled geodesic flow (Gopalan, Li, Chellappa, "Domain Adaptation for Object Recognition: An
 * Unsupervised Approach", ICCV 2011): a point is its projections onto N+1 subspaces from the source's PCA
 * to the target's, one behind the other,
 *
 *     x -> (Phi(0)'x, Phi(1/N)'x, ..., Phi(1)'x) / sqrt(N+1)
 *
 * so that M = mean of Phi Phi' and, with N growing, the kernel of gfk.c. Neighbours are found on all of it;
 * the partial least squares that the paper puts between is left out, as in the comparison of Gong et al. */
#include "baselines/domains.h"

#include <stdlib.h>

#include "linalg/linalg.h"

bdml_status bdml_fit_sgf(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                         bdml_model *model)
{
    bdml_status status = BDML_OK;
    int steps = (int)o->methods.flow_steps.value;
    double scale = 1.0 / sqrt(steps + 1.0), *l = NULL;
    bdml_geodesic g = {0};

    BDML_GO(bdml_geodesic_fit(h, (int)o->methods.subspace.value, (uint64_t)o->general.seed.value, t,
                              &g));
    if (g.q > INT32_MAX / (steps + 1)) {
        status = bdml_fail(h, BDML_ERR_ARGUMENT, "flow-steps %d are too many for a subspace of %d",
                           steps, g.q);
        goto done;
    }
    BDML_NEW(h, l, (size_t)(steps + 1) * (size_t)g.q * (size_t)g.d);
    for (int k = 0; k <= steps; k++)
        for (int i = 0; i < g.q; i++) {
            double angle = g.theta[i] * k / steps, c = scale * cos(angle), s = scale * sin(angle);
            const double *a = COL(g.a, g.d, i), *b = COL(g.b, g.d, i);
            double *row = COL(l, g.d, (size_t)k * (size_t)g.q + (size_t)i);
            for (int j = 0; j < g.d; j++) row[j] = c * a[j] + s * b[j];
        }
    BDML_GO(bdml_model_set_map(h, model, (steps + 1) * g.q, l));
    status = bdml_model_tell(h, model, "selection", json_pack("{s:i}", "subspace", g.q));
done:
    bdml_geodesic_free(&g);
    free(l);
    return status;
}
