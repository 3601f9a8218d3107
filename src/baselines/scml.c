/* scml.c - sparse compositional metric learning (Shi, Bellet, Sha 2014): M = sum_k w_k u_k u_k' of K given directions
 * (scml_directions.c), few of them with a weight:
 *
 *     min over w >= 0 of  F(w) = (1/m) sum_t [1 - v_t'w]_+ + beta sum_k w_k,
 *
 * v_tk = (u_k'(x_i - x_l))^2 - (u_k'(x_i - x_j))^2 over triplets: j shall be nearer to i than l. A direction is measured in the
 * root of its mean square over the far pairs, so that units do not matter; beta is the share scml-sparsity of the beta from which
 * on w = 0 is best, the largest of (1/m) sum_t v_tk.
 *
 * Solver: dual averaging with steps by AdaGrad (Xiao 2010; Duchi, Hazan, Singer 2011) over batches of triplets in an order that
 * is drawn anew for each epoch. With G the mean and H the sum of squares of the gradients so far, T of them,
 *
 *     w_k = max(0, -G_k - beta) T STEP / (1 + sqrt(H_k)).
 *
 * Bound. For any a_t in [0, 1/m] with sum_t a_t v_tk <= beta for all k, sum_t a_t <= F. After whole epochs -G = sum_t a_t v_t
 * where a_t is the share of epochs in which triplet t was missed over m, and it is made to fit by a factor. What is
 * kept is the best w that was looked at; it ends when the bracket is narrow (setting gap) or after scml-epochs. */
#include "baselines/scml.h"

#include <stdlib.h>

#include "linalg/linalg.h"

enum { STREAM_ORDER = 0x73637472 }; /* purpose of random numbers: the order of the triplets */
enum {
    BATCH = 10,
    BATCHES = 100 * BATCH, /* between looks at the clock */
    PER_DIMENSION = 20
};
static const double STEP =
    1.0; /* squared units of a direction: margins are 1, and so are mean squares */

typedef struct scml {
    bdml_handle *h;
    int d, count; /* directions */
    const bdml_constraints *c;
    const double *x; /* n rows of d */
    double *u;       /* count rows of d, in units of their own */
    double *unit;    /* of each direction */
    double
        *difference; /* d x 2 BATCH: of the far pair and the near one of each triplet of a batch, */
    double *along;   /* and count x 2 BATCH: those along the directions */
    double *w, *best;             /* weights */
    double *sum, *square, *slope; /* of gradients; of the batch */
    double *v;                    /* of the triplets of a batch */
    int64_t *missed, *order;      /* of each triplet: epochs in which it was; m */
    double pass;                  /* seconds of one through all triplets */
    double beta, f, bound;
} scml;

static void free_scml(scml *s)
{
    free(s->u);
    free(s->difference);
    free(s->along);
    free(s->unit);
    free(s->w);
    free(s->best);
    free(s->sum);
    free(s->square);
    free(s->slope);
    free(s->v);
    free(s->missed);
    free(s->order);
}

static bdml_status init(scml *s, const bdml_training *t, const bdml_directions *u)
{
    bdml_status status = BDML_OK;
    bdml_handle *h = s->h;
    size_t count = (size_t)u->count, m = (size_t)s->c->m, d = (size_t)t->d;

    s->d = t->d;
    s->x = t->x;
    s->count = u->count;
    BDML_NEW(h, s->u, count * d);
    BDML_NEW(h, s->difference, (size_t)2 * BATCH * d);
    BDML_NEW(h, s->along, (size_t)2 * BATCH * count);
    BDML_NEW(h, s->unit, count);
    BDML_NEW(h, s->w, count);
    BDML_NEW(h, s->best, count);
    BDML_NEW(h, s->sum, count);
    BDML_NEW(h, s->square, count);
    BDML_NEW(h, s->slope, count);
    BDML_NEW(h, s->v, count * BATCH);
    BDML_NEW(h, s->missed, m);
    BDML_NEW(h, s->order, m);
    memcpy(s->u, u->u, sizeof *s->u * count * d);
    for (size_t k = 0; k < m; k++) s->order[k] = (int64_t)k;
done:
    return status;
}

/* ---- triplets --------------------------------------------------------------------------------------------- */

static void difference_of(const scml *s, int32_t pair, double *f)
{
    const double *a = COL(s->x, s->d, s->c->pi[pair]), *b = COL(s->x, s->d, s->c->pj[pair]);
    for (int j = 0; j < s->d; j++) f[j] = a[j] - b[j];
}

/* v of the triplets number first .. first + some - 1 in the order (NULL: as they are listed), a column each. All n points along all
 * directions would be many times the data: the differences of a batch are taken along them when they are needed, by one product. */
static void values(const scml *s, const int64_t *order, int64_t first, int some)
{
    int count = s->count, d = s->d;
    for (int k = 0; k < some; k++) {
        int64_t t = order ? order[first + k] : first + k;
        difference_of(s, s->c->far[t], COL(s->difference, d, 2 * k));
        difference_of(s, s->c->near[t], COL(s->difference, d, 2 * k + 1));
    }
    bdml_la_gemm('T', 'N', count, 2 * some, d, 1.0, s->u, d, s->difference, d, 0.0, s->along,
                 count);
    for (int k = 0; k < some; k++) {
        const double *far = COL(s->along, count, 2 * k), *near = COL(s->along, count, 2 * k + 1);
        double *v = COL(s->v, count, k);
        for (int j = 0; j < count; j++) v[j] = far[j] * far[j] - near[j] * near[j];
    }
}

static int batch_from(const scml *s, int64_t first)
{
    return (int)BDML_MIN((int64_t)BATCH, s->c->m - first);
}

/* Directions in units of their own, and beta. *learned: false when w = 0 is best. An error where there is no time for a look at what
 * would be found. */
static bdml_status set_units(scml *s, double share, bool *learned)
{
    double m = (double)s->c->m, most = 0.0, begin = bdml_now();
    int count = s->count, d = s->d;
    for (int64_t first = 0; first < s->c->m; first += BATCH) {
        int some = batch_from(s, first);
        if (first % BATCHES == 0) BDML_TRY(bdml_progress(s->h, "scml: units", first, s->c->m));
        values(s, NULL, first, some);
        for (int k = 0; k < some; k++)
            for (int j = 0; j < count; j++) {
                double far = COL(s->along, count, 2 * k)[j];
                s->unit[j] += far * far / m;
                s->sum[j] += COL(s->v, count, k)[j] / m;
            }
    }
    s->pass = bdml_now() - begin;
    for (int j = 0; j < count; j++) {
        s->unit[j] = s->unit[j] > 0.0 ? sqrt(s->unit[j]) : INFINITY; /* takes no part */
        for (int i = 0; i < d; i++) COL(s->u, d, j)[i] /= s->unit[j];
        most = BDML_MAX(most, s->sum[j] / s->unit[j] / s->unit[j]);
    }
    s->beta = share * most;
    memset(s->sum, 0, sizeof *s->sum * (size_t)count);
    *learned = most > 0.0;
    return *learned ? bdml_deadline_ahead(s->h, "scml", s->pass) : BDML_OK;
}

/* ---- epochs ------------------------------------------------------------------------------------------------ */

/* What is left of the limit is what a look at the objective takes. */
static bool time_to_look(const scml *s)
{
    return bdml_time_is_short(s->h, s->pass);
}

/* One step per batch; steps: taken before, and counted on. False: there was no time for all of it. */
static bool run_epoch(scml *s, bdml_rng *rng, int64_t *steps)
{
    bdml_rng_shuffle(rng, s->c->m, s->order);
    for (int64_t first = 0; first < s->c->m; first += BATCH) {
        if (first > 0 && first % BATCHES == 0 && time_to_look(s)) return false;
        int some = batch_from(s, first);
        memset(s->slope, 0, sizeof *s->slope * (size_t)s->count);
        values(s, s->order, first, some);
        for (int k = 0; k < some; k++) {
            const double *v = COL(s->v, s->count, k);
            if (bdml_la_dot(s->count, v, s->w) >= 1.0) continue;
            s->missed[s->order[first + k]]++;
            for (int j = 0; j < s->count; j++) s->slope[j] -= v[j] / BATCH;
        }
        ++*steps;
        for (int j = 0; j < s->count; j++) {
            s->sum[j] += s->slope[j];
            s->square[j] += s->slope[j] * s->slope[j];
            double pull = -s->sum[j] - s->beta * (double)*steps;
            s->w[j] = pull > 0.0 ? pull * STEP / (1.0 + sqrt(s->square[j])) : 0.0;
        }
    }
    return true;
}

/* F at w, which is kept when it is the best so far. */
static void look_at(scml *s)
{
    double m = (double)s->c->m, f = 0.0;
    for (int64_t first = 0; first < s->c->m; first += BATCH) {
        int some = batch_from(s, first);
        values(s, NULL, first, some);
        for (int k = 0; k < some; k++)
            f += BDML_MAX(1.0 - bdml_la_dot(s->count, COL(s->v, s->count, k), s->w), 0.0) / m;
    }
    for (int k = 0; k < s->count; k++) f += s->beta * s->w[k];
    if (f >= s->f) return;
    s->f = f;
    memcpy(s->best, s->w, sizeof *s->w * (size_t)s->count);
}

/* The same, and the bound of all epochs so far. */
static void look(scml *s, int64_t epochs)
{
    double m = (double)s->c->m, total = 0.0, most = 0.0;
    look_at(s);
    for (int64_t t = 0; t < s->c->m; t++) total += (double)s->missed[t] / (double)epochs / m;
    /* batches that are not full would count for more: the sum over triplets is what they are divided by */
    for (int k = 0; k < s->count; k++)
        most = BDML_MAX(most, -s->sum[k] * BATCH / (double)epochs / m);
    s->bound = BDML_MAX(s->bound, total * BDML_MIN(1.0, s->beta / BDML_MAX(most, 1e-300)));
}

static bdml_status solve(scml *s, const bdml_options *o, bdml_stopping *stop)
{
    bdml_rng rng = bdml_rng_make((uint64_t)o->general.seed.value, STREAM_ORDER);
    int64_t steps = 0, most = BDML_MIN(o->methods.scml_epochs.value, o->solve.max_iter.value);

    s->f = 1.0; /* at w = 0 */
    for (stop->iterations = 0;;) {
        stop->reached = 1.0 - s->bound / s->f;
        if (stop->reached <= stop->wanted || stop->iterations >= most) break;
        if (stop->iterations > 0 && time_to_look(s)) break;
        BDML_TRY(bdml_progress(s->h, "scml", stop->iterations, most));
        if (!run_epoch(s, &rng, &steps)) { /* what it came to counts, but proves nothing */
            look_at(s);
            stop->iterations += s->f < 1.0;
            break;
        }
        look(s, ++stop->iterations);
    }
    stop->objective = s->f;
    if (!(s->f < 1.0) && time_to_look(s))
        return bdml_fail(s->h, BDML_ERR_CANCELLED,
                         "the time limit is over, during: scml"); /* no weights better than none */
    return BDML_OK;
}

/* ---- the method ------------------------------------------------------------------------------------------- */

static bdml_status set_metric(scml *s, const bdml_directions *u, bdml_model *model)
{
    bdml_status status = BDML_OK;
    double *m = NULL, *weight = NULL, *ws = NULL;
    int kept = 0;

    BDML_NEW(s->h, m, (size_t)s->d * (size_t)s->d);
    BDML_NEW(s->h, weight, s->count);
    BDML_NEW(s->h, ws, bdml_la_gram_size(s->d));
    for (int k = 0; k < s->count; k++) {
        weight[k] = s->best[k] / s->unit[k] / s->unit[k];
        kept += s->best[k] > 0.0;
    }
    bdml_la_gram(s->h, s->d, s->count, u->u, s->d, weight, m, ws);
    BDML_GO(bdml_model_set_metric(s->h, model, m));
    status = bdml_model_tell(s->h, model, "directions",
                             json_pack("{s:i, s:i}", "given", s->count, "kept", kept));
done:
    free(m);
    free(weight);
    free(ws);
    return status;
}

bdml_status bdml_fit_scml(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                          bdml_model *model)
{
    bdml_status status = BDML_OK;
    bdml_constraints *mined = NULL;
    bdml_mining how = bdml_mining_from_options(o);
    bdml_directions u = {0};
    bdml_stopping stop = {.rule = "certified gap", .wanted = o->solve.gap.value};
    scml s = {.h = h};
    int want = (int)o->methods.scml_directions.value;

    how.kind = BDML_KIND_TRIPLET;
    if (!t->constraints) {
        BDML_GO(bdml_need_classes(h, t, "scml"));
        BDML_GO(bdml_mine(h, t->n, t->d, t->x, t->d, t->y, &how, &mined));
    }
    s.c = t->constraints ? t->constraints : mined;
    for (int64_t k = 0; k < s.c->m; k++)
        if (s.c->near[k] < 0) {
            status =
                bdml_fail(h, BDML_ERR_DATA,
                          "scml learns from triplets, and constraint %lld is a pair", (long long)k);
            goto done;
        }
    if (want == 0) want = PER_DIMENSION * t->d;
    BDML_GO(bdml_scml_directions(h, o, t, s.c, want, &u));
    BDML_GO(init(&s, t, &u));
    bool learned;
    BDML_GO(set_units(&s, o->methods.scml_sparsity.value, &learned));
    if (learned) BDML_GO(solve(&s, o, &stop));
    BDML_GO(learned ? set_metric(&s, &u, model) : bdml_keep_euclidean(h, "scml", model));
    status = bdml_record_stopping(h, model, &stop);
done:
    free_scml(&s);
    free(u.u);
    bdml_free_constraints(mined);
    return bdml_start_if_late(h, status, model);
}
