/* geodesic.c - PCA subspaces of two domains and the geodesic between them on the Grassmann manifold.
 *
 * With bases P_S, P_T (d x q) and P_S' P_T = U diag(cos theta) V':
 *
 *     a = P_S U,   b_i = (P_T v_i - cos(theta_i) a_i) / sin(theta_i)
 *
 * (Gong, Shi, Sha, Grauman, CVPR 2012, eq. 3-4, without the basis of the complement). The angle comes from
 * both its sine and its cosine, so that small ones are as sharp as large ones.
 *
 * Dimension: the subspace disagreement measure of the same paper (section 3.4),
 *
 *     D(k) = (sin alpha_k + sin beta_k) / 2
 *
 * alpha_k, beta_k the largest principal angles between the k leading components of source (target) and
 * those of both together: the smallest k at which D reaches 1, the last one before both subspaces hold
 * directions that the common one has nothing of. */
#include "baselines/domains.h"

#include <stdlib.h>

#include "linalg/linalg.h"

/* Sines from here on count as 1: angles above 87 degrees. */
static const double ORTHOGONAL = 0.9986;
/* Sines below this are rounding of sums of d products: the direction is shared. */
static const double SHARED = 1e-10;

void bdml_geodesic_free(bdml_geodesic *g)
{
    free(g->a);
    free(g->b);
    free(g->theta);
    *g = (bdml_geodesic){0};
}

/* One pair of principal vectors: b = p - cos a, made unit. */
static double angle_of(int d, double cosine, const double *a, const double *p, double *b)
{
    for (int j = 0; j < d; j++) b[j] = p[j] - cosine * a[j];
    double sine = bdml_la_norm(d, b);
    if (sine <= SHARED) {
        memset(b, 0, sizeof *b * (size_t)d);
        return 0.0;
    }
    for (int j = 0; j < d; j++) b[j] /= sine;
    return atan2(sine, cosine);
}

bdml_status bdml_geodesic_between(bdml_handle *h, int d, int q, const double *ps, const double *pt,
                                  bdml_geodesic *out)
{
    bdml_status status = BDML_OK;
    double *c = NULL, *u = NULL, *vt = NULL, *cosine = NULL, *p = NULL;
    size_t square = (size_t)q * (size_t)q, size = (size_t)d * (size_t)q;

    *out = (bdml_geodesic){.d = d, .q = q};
    BDML_NEW(h, c, square);
    BDML_NEW(h, u, square);
    BDML_NEW(h, vt, square);
    BDML_NEW(h, cosine, q);
    BDML_NEW(h, p, size);
    BDML_NEW(h, out->a, size);
    BDML_NEW(h, out->b, size);
    BDML_NEW(h, out->theta, q);
    bdml_la_gemm('T', 'N', q, q, d, 1.0, ps, d, pt, d, 0.0, c, q);
    BDML_GO(bdml_la_svd(h, q, q, c, cosine, u, vt));
    bdml_la_gemm('N', 'N', d, q, q, 1.0, ps, d, u, q, 0.0, out->a, d);
    bdml_la_gemm('N', 'T', d, q, q, 1.0, pt, d, vt, q, 0.0, p, d);
    for (int i = 0; i < q; i++)
        out->theta[i] = angle_of(d, BDML_MIN(cosine[i], 1.0), COL(out->a, d, i), COL(p, d, i),
                                 COL(out->b, d, i));
done:
    free(c);
    free(u);
    free(vt);
    free(cosine);
    free(p);
    if (status != BDML_OK) bdml_geodesic_free(out);
    return status;
}

/* ---- dimension -------------------------------------------------------------------------------------- */

bdml_status bdml_largest_sine(bdml_handle *h, int d, int k, const double *p, const double *r,
                              double *sine)
{
    bdml_status status = BDML_OK;
    double *c = NULL, *cosine = NULL;
    BDML_NEW(h, c, (size_t)k * (size_t)k);
    BDML_NEW(h, cosine, k);
    bdml_la_gemm('T', 'N', k, k, d, 1.0, p, d, r, d, 0.0, c, k);
    BDML_GO(bdml_la_singular_values(h, k, k, c, cosine));
    double least = BDML_MIN(cosine[k - 1], 1.0);
    *sine = sqrt(BDML_MAX(1.0 - least * least, 0.0));
done:
    free(c);
    free(cosine);
    return status;
}

/* The smallest k up to `most` at which the disagreement reaches 1, or the k where it is largest. */
static bdml_status disagreement(bdml_handle *h, int d, int most, const double *s, const double *t,
                                const double *both, int *out)
{
    double largest = -1.0;
    *out = 1;
    for (int k = 1; k <= most; k++) {
        double alpha, beta;
        BDML_TRY(bdml_largest_sine(h, d, k, s, both, &alpha));
        BDML_TRY(bdml_largest_sine(h, d, k, t, both, &beta));
        double D = 0.5 * (alpha + beta);
        if (D > largest) {
            largest = D;
            *out = k;
        }
        if (D >= ORTHOGONAL) return BDML_OK;
    }
    return BDML_OK;
}

/* ---- the two domains -------------------------------------------------------------------------------- */

/* Leading components, at most `most`; *count: how many there are. */
static bdml_status components(bdml_handle *h, uint64_t seed, int64_t n, int d, const double *x,
                              int most, bdml_prepare *p, int *count)
{
    const bdml_rows data = {.n = n, .d = d, .ld = d, .x = x};
    int asked = (int)BDML_MIN((int64_t)most, n - 1);
    *p = (bdml_prepare){.d_in = d, .d_out = d, .scale = BDML_SCALE_NONE};
    BDML_TRY(bdml_pca_fit(h, asked, seed, &data, NULL, p));
    *count = p->d_out;
    return BDML_OK;
}

static bdml_status choose(bdml_handle *h, uint64_t seed, const bdml_training *t,
                          const bdml_prepare *s, const bdml_prepare *u, int most, int *q)
{
    bdml_status status = BDML_OK;
    size_t row = sizeof(double) * (size_t)t->d;
    bdml_prepare both = {0};
    double *x = NULL;
    int count;

    BDML_NEW(h, x, (size_t)(t->n + t->target->n) * (size_t)t->d);
    memcpy(x, t->x, (size_t)t->n * row);
    memcpy(COL(x, t->d, t->n), t->target->x, (size_t)t->target->n * row);
    BDML_GO(components(h, seed, t->n + t->target->n, t->d, x, most, &both, &count));
    status = disagreement(h, t->d, BDML_MIN(most, count), s->basis, u->basis, both.basis, q);
done:
    bdml_prepare_free(&both);
    free(x);
    return status;
}

bdml_status bdml_geodesic_fit(bdml_handle *h, int subspace, uint64_t seed, const bdml_training *t,
                              bdml_geodesic *out)
{
    bdml_status status = BDML_OK;
    bool automatic = subspace == 0;
    /* two subspaces of more than half the dimensions share directions whatever the data are */
    int q, ns, nt, most = automatic ? BDML_MAX(t->d / 2, 1) : BDML_MIN(subspace, t->d);
    bdml_prepare s = {0}, u = {0};

    *out = (bdml_geodesic){0};
    if (!t->target || t->target->n < 2 || t->n < 2)
        return bdml_fail(
            h, BDML_ERR_DATA,
            "subspaces of two domains need at least 2 points of each; got %lld and %lld",
            (long long)t->n, (long long)(t->target ? t->target->n : 0));
    BDML_GO(components(h, seed, t->n, t->d, t->x, most, &s, &ns));
    BDML_GO(components(h, seed, t->target->n, t->d, t->target->x, ns, &u, &nt));
    q = most = BDML_MIN(ns, nt);
    if (automatic) BDML_GO(choose(h, seed, t, &s, &u, most, &q));
    status = bdml_geodesic_between(h, t->d, q, s.basis, u.basis, out);
done:
    bdml_prepare_free(&s);
    bdml_prepare_free(&u);
    return status;
}
