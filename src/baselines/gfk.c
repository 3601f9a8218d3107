/* gfk.c - the geodesic flow kernel (Gong, Shi, Sha, Grauman, "Geodesic Flow Kernel for Unsupervised
 * Domain Adaptation", CVPR 2012):
 *
 *     M = integral over t in 0..1 of Phi(t) Phi(t)'
 *       = sum_i [a_i b_i] [ l1 l2 ; l2 l3 ] [a_i b_i]'
 *     l1 = (1 + sin 2theta / 2theta) / 2,  l2 = (1 - cos 2theta) / 4theta,  l3 = 1 - l1
 *
 * Phi(t) the subspaces on the geodesic from the source's PCA to the target's (geodesic.h). A pair of
 * points is compared in all of them at once. L has two rows for each angle, since the 2 x 2 matrix has the
 * eigenvalues (1 +- sin theta / theta) / 2 with eigenvectors at half the angle, (cos theta/2, sin theta/2)
 * and (-sin theta/2, cos theta/2). */
#include "baselines/domains.h"

#include <stdlib.h>

#include "linalg/linalg.h"

/* Rows 2i and 2i+1 of the map. */
static void put_rows(const bdml_geodesic *g, int i, double *l)
{
    double theta = g->theta[i], ratio = theta > 0.0 ? sin(theta) / theta : 1.0;
    double c = cos(theta / 2), s = sin(theta / 2);
    double large = sqrt((1.0 + ratio) / 2), small = sqrt(BDML_MAX(1.0 - ratio, 0.0) / 2);
    const double *a = COL(g->a, g->d, i), *b = COL(g->b, g->d, i);
    double *first = COL(l, g->d, 2 * i), *second = first + g->d;
    for (int j = 0; j < g->d; j++) {
        first[j] = large * (c * a[j] + s * b[j]);
        second[j] = small * (c * b[j] - s * a[j]);
    }
}

bdml_status bdml_fit_gfk(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                         bdml_model *model)
{
    bdml_status status = BDML_OK;
    bdml_geodesic g = {0};
    double *l = NULL;

    BDML_GO(bdml_geodesic_fit(h, (int)o->methods.subspace.value, (uint64_t)o->general.seed.value, t,
                              &g));
    BDML_NEW(h, l, 2 * (size_t)g.q * (size_t)g.d);
    for (int i = 0; i < g.q; i++) put_rows(&g, i, l);
    BDML_GO(bdml_model_set_map(h, model, 2 * g.q, l));
    status = bdml_model_tell(h, model, "selection", json_pack("{s:i}", "subspace", g.q));
done:
    bdml_geodesic_free(&g);
    free(l);
    return status;
}
