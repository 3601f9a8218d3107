/* mmdt.c - max-margin domain transform (Hoffman, Rodner, Donahue, Darrell, Saenko, "Efficient Learning of
 * Domain-invariant Image Representations", ICLR 2013): linear classifiers of the source and a map W of the
 * target into the source's space, learned together from one-against-all margins,
 *
 *     min  |W|^2/2 + sum_k |theta_k|^2/2 + C_s sum_{k, source i} max(0, 1 - y_ik <theta_k, (x_i, 1)>)
 *                                        + C_t sum_{k, target i} max(0, 1 - y_ik <theta_k, (W (x_i, 1), 1)>)
 *
 * y_ik = 1 when i is of class k, else -1. Convex in theta for fixed W (a support vector machine a class) and
 * in W for fixed theta (one machine over all classes, with rows theta_k (x_i, 1)'): by turns, from W = (I 0),
 * each to a duality gap (svm.c), so that the objective falls from turn to turn up to that gap. */
#include "baselines/domains.h"

#include <stdlib.h>

#include "linalg/linalg.h"

enum { SWEEPS = 20000 };

/* What the turns share. */
typedef struct domain_transform {
    int d, e, classes; /* e = d + 1 */
    int64_t ns, nt;    /* source rows, labelled target rows */
    double *x;         /* ns + nt rows of e: (x, 1), the target's behind: mapped by W, 1 */
    double *raw;       /* nt rows of e: (x, 1) as they are */
    const int32_t *ys;
    int32_t *yt;
    const double *theta;  /* of the machine over W */
    double *theta_square; /* |theta_k|^2 without the offset */
    double *raw_square;
} domain_transform;

void bdml_mmdt_free(bdml_mmdt *m)
{
    free(m->theta);
    free(m->w);
    *m = (bdml_mmdt){0};
}

bdml_mmdt_settings bdml_mmdt_from_options(const bdml_method_options *o, uint64_t seed)
{
    return (bdml_mmdt_settings){.source = o->mmdt_source.value,
                                .target = o->mmdt_target.value,
                                .gap = 1e-3,
                                .change = 1e-3,
                                .turns = (int)o->mmdt_turns.value,
                                .seed = seed};
}

/* ---- rows of the two machines ---------------------------------------------------------------------------- */

static double class_dot(const void *user, int64_t i, const double *w)
{
    const domain_transform *m = user;
    return bdml_la_dot(m->e, COL(m->x, m->e, i), w);
}

static void class_add(const void *user, int64_t i, double s, double *w)
{
    const domain_transform *m = user;
    const double *x = COL(m->x, m->e, i);
    for (int j = 0; j < m->e; j++) w[j] += s * x[j];
}

static double class_square(const void *user, int64_t i)
{
    return class_dot(user, i,
                     COL(((const domain_transform *)user)->x, ((const domain_transform *)user)->e,
                         i));
}

/* Row r = i * classes + k is theta_k (x_i, 1)'; W lies as d rows of e. */
static double map_dot(const void *user, int64_t r, const double *w)
{
    const domain_transform *m = user;
    const double *x = COL(m->raw, m->e, r / m->classes), *t = COL(m->theta, m->e, r % m->classes);
    double sum = 0.0;
    for (int a = 0; a < m->d; a++) sum += t[a] * bdml_la_dot(m->e, COL(w, m->e, a), x);
    return sum;
}

static void map_add(const void *user, int64_t r, double s, double *w)
{
    const domain_transform *m = user;
    const double *x = COL(m->raw, m->e, r / m->classes), *t = COL(m->theta, m->e, r % m->classes);
    for (int a = 0; a < m->d; a++)
        for (int j = 0; j < m->e; j++) COL(w, m->e, a)[j] += s * t[a] * x[j];
}

static double map_square(const void *user, int64_t r)
{
    const domain_transform *m = user;
    return m->theta_square[r % m->classes] * m->raw_square[r / m->classes];
}

/* ---- turns ---------------------------------------------------------------------------------------------- */

static void map_target(const domain_transform *m, const double *w)
{
    for (int64_t i = 0; i < m->nt; i++)
        for (int a = 0; a < m->d; a++) COL(m->x, m->e, m->ns + i)
    [a] = bdml_la_dot(m->e, COL(w, m->e, a), COL(m->raw, m->e, i));
}

static double relative(const bdml_svm_result *r)
{
    return r->primal > 0.0 ? (r->primal - r->dual) / r->primal : 0.0;
}

/* All classifiers for the W at hand. *sum: their objectives. alpha: classes rows of ns + nt. */
static bdml_status fit_classes(bdml_handle *h, const domain_transform *m,
                               const bdml_mmdt_settings *s, const double *c, signed char *sign,
                               double *alpha, double *theta, double *sum, double *gap)
{
    bdml_svm_rows rows = {m->ns + m->nt, (size_t)m->e, class_dot, class_add, class_square, m};
    bdml_svm_result r;
    *sum = *gap = 0.0;
    for (int k = 0; k < m->classes; k++) {
        for (int64_t i = 0; i < rows.n; i++)
            sign[i] = (i < m->ns ? m->ys[i] : m->yt[i - m->ns]) == k ? 1 : -1;
        BDML_TRY(bdml_svm_solve(h, s->seed, &rows, sign, c, NULL, s->gap, SWEEPS,
                                COL(alpha, rows.n, k), COL(theta, m->e, k), &r));
        *sum += r.primal;
        *gap = BDML_MAX(*gap, relative(&r));
    }
    return BDML_OK;
}

/* W for the classifiers at hand: margins less what the offsets give already. */
static bdml_status fit_map(bdml_handle *h, domain_transform *m, const bdml_mmdt_settings *s,
                           const double *theta, double *margin, const double *c, signed char *sign,
                           double *alpha, double *w, bdml_svm_result *r)
{
    bdml_svm_rows rows = {
        m->nt * m->classes, (size_t)m->d * (size_t)m->e, map_dot, map_add, map_square, m};
    m->theta = theta;
    for (int k = 0; k < m->classes; k++)
        m->theta_square[k] = bdml_la_dot(m->d, COL(theta, m->e, k), COL(theta, m->e, k));
    for (int64_t i = 0; i < rows.n; i++) {
        int k = (int)(i % m->classes);
        sign[i] = m->yt[i / m->classes] == k ? 1 : -1;
        margin[i] = 1.0 - sign[i] * COL(theta, m->e, k)[m->d];
    }
    return bdml_svm_solve(h, s->seed, &rows, sign, c, margin, s->gap, SWEEPS, alpha, w, r);
}

/* |theta|^2/2 and the source's losses: what a change of W leaves alone. */
static double source_part(const domain_transform *m, double c, const double *theta)
{
    double sum = 0.0;
    for (int k = 0; k < m->classes; k++) {
        const double *t = COL(theta, m->e, k);
        sum += 0.5 * bdml_la_dot(m->e, t, t);
        for (int64_t i = 0; i < m->ns; i++) {
            double score = bdml_la_dot(m->e, t, COL(m->x, m->e, i));
            sum += c * BDML_MAX(1.0 - (m->ys[i] == k ? score : -score), 0.0);
        }
    }
    return sum;
}

static bdml_status take_turns(bdml_handle *h, domain_transform *m, const bdml_mmdt_settings *s,
                              bdml_mmdt *out)
{
    bdml_status status = BDML_OK;
    int64_t n = m->ns + m->nt, rows = m->nt * m->classes, most = BDML_MAX(n, rows);
    double *c = NULL, *ct = NULL, *margin = NULL, *alpha = NULL, *beta = NULL, before = INFINITY;
    signed char *sign = NULL;

    BDML_NEW(h, c, n);
    BDML_NEW(h, ct, rows);
    BDML_NEW(h, margin, rows);
    BDML_NEW(h, alpha, (size_t)n * (size_t)m->classes);
    BDML_NEW(h, beta, rows);
    BDML_NEW(h, sign, most);
    for (int64_t i = 0; i < n; i++) c[i] = i < m->ns ? s->source : s->target;
    for (int64_t i = 0; i < rows; i++) ct[i] = s->target;
    for (out->turns = 1; out->turns <= s->turns; out->turns++) {
        double classes, gap;
        bdml_svm_result r;
        map_target(m, out->w);
        BDML_GO(fit_classes(h, m, s, c, sign, alpha, out->theta, &classes, &gap));
        BDML_GO(fit_map(h, m, s, out->theta, margin, ct, sign, beta, out->w, &r));
        out->objective = source_part(m, s->source, out->theta) + r.primal;
        out->gap = BDML_MAX(gap, relative(&r));
        if (before - out->objective <= s->change * out->objective) break;
        before = out->objective;
    }
    out->turns = BDML_MIN(out->turns, s->turns);
done:
    free(c);
    free(ct);
    free(margin);
    free(alpha);
    free(beta);
    free(sign);
    return status;
}

/* ---- the fit -------------------------------------------------------------------------------------------- */

static void transform_free(domain_transform *m)
{
    free(m->x);
    free(m->raw);
    free(m->yt);
    free(m->theta_square);
    free(m->raw_square);
}

static bdml_status transform_init(bdml_handle *h, const bdml_training *t, domain_transform *m)
{
    bdml_status status = BDML_OK;
    size_t d = (size_t)t->d, e = d + 1;
    int64_t at = 0;

    *m =
        (domain_transform){.d = t->d, .e = t->d + 1, .classes = t->classes, .ns = t->n, .ys = t->y};
    for (int64_t i = 0; t->target && t->target->y && i < t->target->n; i++)
        m->nt += t->target->y[i] >= 0;
    if (m->nt == 0 || !t->y || t->classes < 2)
        return bdml_fail(h, BDML_ERR_DATA,
                         "mmdt learns from labelled rows of both domains, of at least two classes; "
                         "there are %lld of the target: use it semi-supervised",
                         (long long)m->nt);
    BDML_NEW(h, m->x, (size_t)(m->ns + m->nt) * e);
    BDML_NEW(h, m->raw, (size_t)m->nt * e);
    BDML_NEW(h, m->yt, m->nt);
    BDML_NEW(h, m->theta_square, m->classes);
    BDML_NEW(h, m->raw_square, m->nt);
    for (int64_t i = 0; i < t->n; i++) memcpy(COL(m->x, e, i), COL(t->x, d, i), d * sizeof(double));
    for (int64_t i = 0; i < t->target->n; i++) {
        if (t->target->y[i] < 0) continue;
        memcpy(COL(m->raw, e, at), COL(t->target->x, d, i), d * sizeof(double));
        COL(m->raw, e, at)[d] = 1.0;
        m->raw_square[at] = bdml_la_dot((int)e, COL(m->raw, e, at), COL(m->raw, e, at));
        m->yt[at++] = t->target->y[i];
    }
    for (int64_t i = 0; i < m->ns + m->nt; i++) COL(m->x, e, i)[d] = 1.0;
done:
    return status;
}

bdml_status bdml_mmdt_fit(bdml_handle *h, const bdml_training *t, const bdml_mmdt_settings *s,
                          bdml_mmdt *out)
{
    bdml_status status = BDML_OK;
    domain_transform m = {0};
    size_t d = (size_t)t->d, e = d + 1;

    *out = (bdml_mmdt){.d = t->d, .classes = t->classes};
    BDML_GO(transform_init(h, t, &m));
    BDML_NEW(h, out->theta, (size_t)t->classes * e);
    BDML_NEW(h, out->w, d * e);
    for (size_t a = 0; a < d; a++) out->w[a * e + a] = 1.0;
    status = take_turns(h, &m, s, out);
done:
    transform_free(&m);
    if (status != BDML_OK) bdml_mmdt_free(out);
    return status;
}

/* argmax_k <theta_k, (W (x,1), 1)>, ties to the lower class. z: d numbers of room. */
static int32_t answer(const bdml_mmdt *m, const double *x, double *z)
{
    int d = m->d, e = d + 1;
    int32_t best = 0;
    double most = -INFINITY;
    for (int a = 0; a < d; a++) z[a] = bdml_la_dot(d, COL(m->w, e, a), x) + COL(m->w, e, a)[d];
    for (int k = 0; k < m->classes; k++) {
        const double *t = COL(m->theta, e, k);
        double score = bdml_la_dot(d, t, z) + t[d];
        if (score > most) {
            most = score;
            best = k;
        }
    }
    return best;
}

bdml_status bdml_classify_mmdt(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                               int64_t n, const double *x, int32_t *label)
{
    bdml_status status = BDML_OK;
    bdml_mmdt_settings s = bdml_mmdt_from_options(&o->methods, (uint64_t)o->general.seed.value);
    bdml_mmdt m = {0};
    double *z = NULL;

    BDML_NEW(h, z, t->d);
    BDML_GO(bdml_mmdt_fit(h, t, &s, &m));
    for (int64_t i = 0; i < n; i++) label[i] = answer(&m, COL(x, t->d, i), z);
done:
    bdml_mmdt_free(&m);
    free(z);
    return status;
}
