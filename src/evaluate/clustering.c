/* clustering.c - how well groups agree with classes. Of n points n_uv are of class u and in group v, a_u of the class,
 * b_v in the group; p = 1/n times these.
 *
 *     NMI   I / ((H(u) + H(v)) / 2),   I = sum p_uv ln(p_uv / (p_u p_v)),   H = -sum p ln p
 *           of two partitions that are one group each: 1
 *     ARI   (S - E) / ((A + B) / 2 - E),   S = sum C(n_uv, 2), A = sum C(a_u, 2), B = sum C(b_v, 2), E = A B / C(n, 2)
 *           where all are the same, 1
 *
 * 1: the groups are the classes; 0 (ARI, on average): groups by chance. */
#include "evaluate/evaluate.h"

#include <stdlib.h>

static double choose_2(double n)
{
    return n * (n - 1.0) / 2.0;
}

static double entropy(int count, const double *size, double n)
{
    double h = 0.0;
    for (int k = 0; k < count; k++)
        if (size[k] > 0.0) h -= size[k] / n * log(size[k] / n);
    return h;
}

bdml_status bdml_compare_groups(bdml_handle *h, int64_t n, int classes, const int32_t *y,
                                int groups, const int32_t *group, bdml_agreement *out)
{
    bdml_status status = BDML_OK;
    double *both = NULL, *a = NULL, *b = NULL, all = (double)n;
    double information = 0.0, same = 0.0, same_class = 0.0, same_group = 0.0;

    BDML_NEW(h, both, (size_t)classes * (size_t)groups);
    BDML_NEW(h, a, classes);
    BDML_NEW(h, b, groups);
    for (int64_t i = 0; i < n; i++) {
        both[(size_t)y[i] * (size_t)groups + (size_t)group[i]] += 1.0;
        a[y[i]] += 1.0;
        b[group[i]] += 1.0;
    }
    for (int u = 0; u < classes; u++)
        for (int v = 0; v < groups; v++) {
            double n_uv = both[(size_t)u * (size_t)groups + (size_t)v];
            same += choose_2(n_uv);
            if (n_uv > 0.0) information += n_uv / all * log(n_uv * all / (a[u] * b[v]));
        }
    for (int u = 0; u < classes; u++) same_class += choose_2(a[u]);
    for (int v = 0; v < groups; v++) same_group += choose_2(b[v]);
    double mean = (entropy(classes, a, all) + entropy(groups, b, all)) / 2.0;
    double chance = n > 1 ? same_class * same_group / choose_2(all) : 0.0;
    double most = (same_class + same_group) / 2.0;
    out->nmi = mean > 0.0 ? BDML_MAX(information, 0.0) / mean : 1.0;
    out->ari = most > chance ? (same - chance) / (most - chance) : 1.0;
done:
    free(both);
    free(a);
    free(b);
    return status;
}
