/* svm.c - dual coordinate descent for the linear support vector machine with hinge loss (Hsieh, Chang, Lin,
 * Keerthi, Sundararajan, "A Dual Coordinate Descent Method for Large-scale Linear SVM", ICML 2008):
 *
 *     max over 0 <= alpha_i <= c_i of  sum_i m_i alpha_i - |w|^2 / 2,   w = sum_i alpha_i s_i x_i
 *
 * one alpha_i at a time: alpha_i <- clip(alpha_i + (m_i - s_i <w,x_i>) / |x_i|^2). Rows in an order that is
 * drawn anew for every sweep. Primal minus dual value bounds the distance from the optimum and is the
 * stopping rule. */
#include "baselines/domains.h"

#include <stdlib.h>

enum { CHECK_EVERY = 5 }; /* sweeps between two looks at the gap, which costs as much as one */

/* What the steps share. */
typedef struct machine {
    const bdml_svm_rows *rows;
    const signed char *sign;
    const double *c, *margin;
    double *alpha, *w;
} machine;

static double margin_of(const machine *m, int64_t i)
{
    return m->margin ? m->margin[i] : 1.0;
}

static void start(const machine *m)
{
    memset(m->w, 0, sizeof *m->w * m->rows->size);
    for (int64_t i = 0; i < m->rows->n; i++) {
        m->alpha[i] = BDML_MIN(BDML_MAX(m->alpha[i], 0.0), m->c[i]);
        if (m->alpha[i] > 0.0) m->rows->add(m->rows->user, i, m->alpha[i] * m->sign[i], m->w);
    }
}

static void step(const machine *m, int64_t i, double square)
{
    const bdml_svm_rows *r = m->rows;
    double miss = margin_of(m, i) - m->sign[i] * r->dot(r->user, i, m->w), before = m->alpha[i];
    if (square > 0.0)
        m->alpha[i] = BDML_MIN(BDML_MAX(before + miss / square, 0.0), m->c[i]);
    else /* a row of zeros: nothing but its own term */
        m->alpha[i] = miss > 0.0 ? m->c[i] : 0.0;
    if (m->alpha[i] != before) r->add(r->user, i, (m->alpha[i] - before) * m->sign[i], m->w);
}

static void bracket(const machine *m, bdml_svm_result *out)
{
    const bdml_svm_rows *r = m->rows;
    double square = 0.0, loss = 0.0, gain = 0.0;
    for (size_t j = 0; j < r->size; j++) square += m->w[j] * m->w[j];
    for (int64_t i = 0; i < r->n; i++) {
        double miss = margin_of(m, i) - m->sign[i] * r->dot(r->user, i, m->w);
        loss += m->c[i] * BDML_MAX(miss, 0.0);
        gain += m->alpha[i] * margin_of(m, i);
    }
    out->primal = 0.5 * square + loss;
    out->dual = gain - 0.5 * square;
}

bdml_status bdml_svm_solve(bdml_handle *h, uint64_t seed, const bdml_svm_rows *rows,
                           const signed char *sign, const double *c, const double *margin,
                           double tolerance, int64_t sweeps, double *alpha, double *w,
                           bdml_svm_result *result)
{
    bdml_status status = BDML_OK;
    machine m = {rows, sign, c, margin, alpha, w};
    bdml_rng r = bdml_rng_make(seed, UINT64_C(0x73766d));
    int64_t *order = NULL;
    double *square = NULL;

    BDML_NEW(h, order, rows->n);
    BDML_NEW(h, square, rows->n);
    for (int64_t i = 0; i < rows->n; i++) {
        order[i] = i;
        square[i] = rows->square(rows->user, i);
    }
    start(&m);
    bracket(&m, result);
    for (result->sweeps = 0; result->sweeps < sweeps; result->sweeps++) {
        if (result->sweeps % CHECK_EVERY == 0) {
            BDML_GO(bdml_progress(h, "svm", result->sweeps, 0));
            bracket(&m, result);
            if (result->primal - result->dual <= tolerance * result->primal) break;
        }
        bdml_rng_shuffle(&r, rows->n, order);
        for (int64_t k = 0; k < rows->n; k++) step(&m, order[k], square[order[k]]);
    }
    bracket(&m, result);
done:
    free(order);
    free(square);
    return status;
}
