/* boost.c - BoostMetric (Shen, Kim, Wang, van den Hengel 2009, 2012):
 *
 *     min over M >= 0 of  log( (1/m) sum_t exp(-<A_t,M>) ) + v trace(M),
 *
 * <A_t,M> = D(i,l) - D(i,j) of the triplets, M = sum_j w_j u_j u_j' with w >= 0: a weak learner is one
 * direction u. With p_t in proportion to exp(-<A_t,M>), M is optimal if and only if
 *
 *     lambda_max( sum_t p_t A_t ) <= v    and    <sum_t p_t A_t, M> = v trace(M).
 *
 * Totally corrective: each round takes the leading eigenvectors of sum p_t A_t, those above v, as new weak
 * learners, and then all weights are corrected: the convex problem in w >= 0 is solved by Newton's method on the
 * free weights. Stage-wise, as in boosting: each round moves one weight to its best, that of the leading
 * eigenvector or, which the source does not do and without which the optimum is missed, that of an earlier learner
 * where its slope is larger. It ends when lambda_max exceeds v by no more than the gap wanted, relative to v, and
 * no slope of a weight does either. v is given as a share of
 * lambda_max at M = 0, where it is free of units: at 1 and above M = 0 is best.
 *
 * At an optimum the objective is -KL(p || uniform) >= -log m. A value below proves that there is none: every triplet can
 * be met by more than v charges for it, and the objective falls without end as M grows. It then stops with what
 * it has, which meets all triplets: of its multiples by powers of 2 the smallest that still proves it, since steps towards
 * infinity may have gone anywhere. */
#include "baselines/baselines.h"

#include <float.h>
#include <stdlib.h>

#include "linalg/linalg.h"

/* Weights end when no free slope exceeds this share of v times the gap. */
static const double INNER = 0.1;
/* Regularisation of the Newton system relative to its mean diagonal: learners may resemble each other. */
static const double RIDGE = 1e-10;
static const double ARMIJO = 1e-4;

enum {
    NEW_LEARNERS = 4, /* of a round */
    MOST_NEWTON = 50,
    MOST_HALVINGS = 40
};

typedef struct boost {
    bdml_handle *h;
    const bdml_options *o;
    int d;
    int64_t m;
    bdml_margin *op;
    double v;
    int count, room; /* learners */
    bool stagewise;
    int only;           /* the one learner whose weight moves; -1: all */
    double *u;          /* d x room */
    double *value;      /* room x m: <A_t, u_j u_j'>, a constraint per column */
    double *w, *trial;  /* weights */
    double *margin, *p; /* m: <A_t,M>, and the weights of the triplets */
    double *s, *lambda; /* d x d, d */
    double *hessian, *gradient, *step, *ws, *one;
    int *free; /* numbers of the free weights */
    bdml_eigh_ws eigen;
} boost;

static void free_boost(boost *b)
{
    bdml_margin_free(b->op);
    free(b->u);
    free(b->value);
    free(b->w);
    free(b->trial);
    free(b->margin);
    free(b->p);
    free(b->s);
    free(b->lambda);
    free(b->hessian);
    free(b->gradient);
    free(b->step);
    free(b->ws);
    free(b->one);
    free(b->free);
    bdml_eigh_ws_free(&b->eigen);
}

static bdml_status init(boost *b, const bdml_training *t, const bdml_constraints *c)
{
    bdml_status status = BDML_OK;
    bdml_handle *h = b->h;
    size_t d = (size_t)t->d, m = (size_t)c->m;

    b->d = t->d;
    b->m = c->m;
    b->room =
        (int)d + 24; /* M itself has d directions at most: there is room for more after compress */
    size_t room = (size_t)b->room;
    BDML_GO(bdml_margin_new(h, t->n, t->d, t->x, t->d, c, &b->op));
    BDML_NEW(h, b->u, d * room);
    BDML_NEW(h, b->value, room * m);
    BDML_NEW(h, b->w, room);
    BDML_NEW(h, b->trial, room);
    BDML_NEW(h, b->margin, m);
    BDML_NEW(h, b->p, m);
    BDML_NEW(h, b->one, m);
    BDML_NEW(h, b->s, d * d);
    BDML_NEW(h, b->lambda, d);
    BDML_NEW(h, b->hessian, room * room);
    BDML_NEW(h, b->gradient, room);
    BDML_NEW(h, b->step, room);
    BDML_NEW(h, b->free, room);
    BDML_NEW(h, b->ws, bdml_la_gram_size(b->room) + room * room);
    status = bdml_eigh_ws_init(h, t->d, &b->eigen);
done:
    return status;
}

/* ---- objective ------------------------------------------------------------------------------------- */

/* The objective at the weights w; margins and p follow. */
static double objective(boost *b, const double *w)
{
    double least = INFINITY, sum = 0.0, trace = 0.0;
    for (int j = 0; j < b->count; j++) trace += w[j];
    if (b->count > 0)
        bdml_la_gemv('T', b->count, (int)b->m, 1.0, b->value, b->room, w, 0.0, b->margin);
    for (int64_t t = 0; t < b->m; t++) least = BDML_MIN(least, b->margin[t]);
    for (int64_t t = 0; t < b->m; t++) sum += b->p[t] = exp(least - b->margin[t]);
    for (int64_t t = 0; t < b->m; t++) b->p[t] /= sum;
    return log(sum / (double)b->m) - least + b->v * trace;
}

/* ---- weights --------------------------------------------------------------------------------------- */

/* Free weights: positive ones, and those at 0 that want to grow, among those that move. Returns their number;
 * *slope: the largest free slope. */
static int find_free(boost *b, double *slope)
{
    int count = 0;
    *slope = 0.0;
    bdml_la_gemv('N', b->count, (int)b->m, -1.0, b->value, b->room, b->p, 0.0, b->gradient);
    for (int j = 0; j < b->count; j++) {
        b->gradient[j] += b->v;
        if (b->only >= 0 && j != b->only) continue;
        if (b->w[j] <= 0.0 && b->gradient[j] >= 0.0) continue;
        *slope = BDML_MAX(*slope, fabs(b->gradient[j]));
        b->free[count++] = j;
    }
    return count;
}

/* Newton's step on the free weights: Hessian H diag(p) H' - (H p)(H p)', H p = v - gradient. */
static bool newton_step(boost *b, int count)
{
    int n = b->count;
    double *whole = b->ws + bdml_la_gram_size(b->room), trace = 0.0;
    bdml_la_gram(b->h, n, b->m, b->value, b->room, b->p, whole, b->ws);
    for (int i = 0; i < count; i++) {
        int a = b->free[i];
        for (int k = 0; k < count; k++) {
            int c = b->free[k];
            COL(b->hessian, count, i)
            [k] = COL(whole, n, a)[c] - (b->v - b->gradient[a]) * (b->v - b->gradient[c]);
        }
        trace += COL(b->hessian, count, i)[i];
        b->step[i] = -b->gradient[a];
    }
    for (int i = 0; i < count; i++) COL(b->hessian, count, i)[i] += RIDGE * trace / count + 1e-300;
    return bdml_la_solve_spd(count, b->hessian, b->step);
}

/* Minimise over w >= 0; *f in and out. */
static bdml_status correct(boost *b, double tolerance, double *f)
{
    for (int round = 0; round < MOST_NEWTON; round++) {
        double slope;
        int count = find_free(b, &slope);
        if (count == 0 || slope <= tolerance) return BDML_OK;
        if (round > 0 && bdml_time_is_up(b->h)) return BDML_OK;
        if (!newton_step(b, count))
            for (int i = 0; i < count; i++) b->step[i] = -b->gradient[b->free[i]];
        double size = 1.0, next = INFINITY;
        for (int tries = 0; tries < MOST_HALVINGS; tries++, size *= 0.5) {
            double fall = 0.0;
            memcpy(b->trial, b->w, sizeof *b->w * (size_t)b->count);
            for (int i = 0; i < count; i++) {
                int j = b->free[i];
                b->trial[j] = BDML_MAX(b->w[j] + size * b->step[i], 0.0);
                fall += b->gradient[j] * (b->trial[j] - b->w[j]);
            }
            next = objective(b, b->trial);
            if (next <= *f + ARMIJO * fall && fall < 0.0) break;
            next = INFINITY;
        }
        if (!(next < *f)) { /* rounding: the last point stays */
            *f = objective(b, b->w);
            return BDML_OK;
        }
        memcpy(b->w, b->trial, sizeof *b->w * (size_t)b->count);
        *f = next;
    }
    return BDML_OK;
}

/* ---- learners --------------------------------------------------------------------------------------- */

/* Keep the learners whose weight is not 0. */
static void drop_idle(boost *b)
{
    int kept = 0;
    for (int j = 0; j < b->count; j++) {
        if (b->w[j] <= 0.0) continue;
        if (kept < j) {
            memcpy(COL(b->u, b->d, kept), COL(b->u, b->d, j), sizeof *b->u * (size_t)b->d);
            for (int64_t t = 0; t < b->m; t++)
                COL(b->value, b->room, t)[kept] = COL(b->value, b->room, t)[j];
            b->w[kept] = b->w[j];
        }
        kept++;
    }
    b->count = kept;
}

/* Learners that span the same directions with fewer: M's own eigenvectors. */
static bdml_status compress(boost *b)
{
    int d = b->d;
    memset(b->s, 0, sizeof *b->s * (size_t)d * (size_t)d);
    for (int j = 0; j < b->count; j++)
        for (int k = 0; k < d; k++)
            for (int i = k; i < d; i++)
                COL(b->s, d, k)[i] += b->w[j] * COL(b->u, d, j)[i] * COL(b->u, d, j)[k];
    BDML_TRY(bdml_la_eigh(b->h, d, b->s, b->lambda, true, &b->eigen));
    b->count = 0;
    for (int k = d - 1; k >= 0 && b->lambda[k] > 1e-14 * b->lambda[d - 1]; k--) {
        memcpy(COL(b->u, d, b->count), COL(b->s, d, k), sizeof *b->u * (size_t)d);
        b->w[b->count++] = b->lambda[k];
    }
    for (int j = 0; j < b->count; j++) {
        bdml_margin_forward_low(b->op, 1, COL(b->u, d, j), 1.0, b->one);
        for (int64_t t = 0; t < b->m; t++) COL(b->value, b->room, t)[j] = b->one[t];
    }
    return BDML_OK;
}

/* Eigenvalues and vectors of sum p_t A_t into lambda and s. */
static bdml_status look(boost *b)
{
    bdml_margin_adjoint(b->op, b->p, -1, NULL, b->s);
    return bdml_la_eigh(b->h, b->d, b->s, b->lambda, true, &b->eigen);
}

static void add_learners(boost *b, int most)
{
    int d = b->d;
    for (int k = d - 1; k >= 0 && k >= d - most && b->lambda[k] > b->v; k--) {
        int j = b->count++;
        memcpy(COL(b->u, d, j), COL(b->s, d, k), sizeof *b->u * (size_t)d);
        b->w[j] = 0.0;
        bdml_margin_forward_low(b->op, 1, COL(b->u, d, j), 1.0, b->one);
        for (int64_t t = 0; t < b->m; t++) COL(b->value, b->room, t)[j] = b->one[t];
    }
}

/* The largest slope of a weight there is, and whose it is. */
static double steepest(boost *b, int *learner)
{
    double slope;
    b->only = -1;
    *learner = -1;
    int count = b->count > 0 ? find_free(b, &slope) : 0;
    for (int i = 0; i < count; i++)
        if (*learner < 0 || fabs(b->gradient[b->free[i]]) > fabs(b->gradient[*learner]))
            *learner = b->free[i];
    return *learner < 0 ? 0.0 : fabs(b->gradient[*learner]);
}

/* Learners that join a round, and the weights that are to move. */
static void next_round(boost *b)
{
    if (!b->stagewise) {
        add_learners(b, NEW_LEARNERS);
        return;
    }
    int learner;
    if (steepest(b, &learner) < b->lambda[b->d - 1] - b->v) {
        learner = b->count;
        add_learners(b, 1);
    }
    b->only = learner;
}

/* How far from optimal, relative to v. */
static double distance_left(boost *b)
{
    int learner;
    double left = BDML_MAX(b->lambda[b->d - 1] / b->v - 1.0, 0.0);
    return b->stagewise ? BDML_MAX(left, steepest(b, &learner) / b->v) : left;
}

/* The objective along a ray is convex, 0 at M = 0, and below `least` where M is: it crosses once. */
static double bring_down(boost *b, double least)
{
    int enough = 0, short_of = 2 - DBL_MIN_EXP + DBL_MANT_DIG + DBL_MAX_EXP; /* 2^-that is 0 */
    while (short_of - enough > 1) {
        int middle = enough + (short_of - enough) / 2;
        for (int j = 0; j < b->count; j++) b->trial[j] = ldexp(b->w[j], -middle);
        if (objective(b, b->trial) < least)
            enough = middle;
        else
            short_of = middle;
    }
    for (int j = 0; j < b->count; j++) b->w[j] = ldexp(b->w[j], -enough);
    return objective(b, b->w);
}

/* *learned: false when M = 0 is best. */
static bdml_status run(boost *b, bdml_stopping *stop, bool *learned)
{
    bdml_handle *h = b->h;
    int64_t most = b->o->solve.max_iter.value;
    double f = objective(b, b->w);

    BDML_TRY(look(b));
    if (b->lambda[0] == 0.0 && b->lambda[b->d - 1] == 0.0)
        return bdml_fail(h, BDML_ERR_DATA, "boost: the points of every triplet are the same");
    *learned = b->lambda[b->d - 1] > 0.0;
    if (!*learned) return BDML_OK;
    b->v = b->o->methods.boost_trace.value * b->lambda[b->d - 1];
    for (stop->iterations = 0;; stop->iterations++) {
        stop->reached = distance_left(b);
        if (stop->reached <= stop->wanted || stop->iterations >= most) break;
        if (stop->iterations > 0 && bdml_time_is_up(h)) break;
        BDML_TRY(bdml_progress(h, "boost", stop->iterations, 0));
        if (b->count + NEW_LEARNERS > b->room) {
            BDML_TRY(compress(b));
            f = objective(b, b->w);
            BDML_TRY(look(b));
        }
        next_round(b);
        double before = f;
        BDML_TRY(correct(b, INNER * stop->wanted * b->v, &f));
        drop_idle(b);
        f = objective(b, b->w);
        BDML_TRY(look(b));
        if (!(f < before)) break; /* rounding */
        if (f < -log((double)b->m)) {
            f = bring_down(b, -log((double)b->m));
            bdml_log(
                h, BDML_LOG_INFO,
                "boost: the triplets can be met by more than boost-trace charges, so the objective "
                "has no minimum; a metric that shows it is kept");
            break;
        }
    }
    stop->objective = f;
    return BDML_OK;
}

/* Row j of the map is sqrt(w_j) u_j. */
static bdml_status set_metric(boost *b, bdml_model *model)
{
    bdml_status status = BDML_OK;
    double *m = NULL;
    size_t d = (size_t)b->d;
    BDML_NEW(b->h, m, d * d);
    for (int j = 0; j < b->count; j++)
        for (size_t k = 0; k < d; k++)
            for (size_t i = 0; i < d; i++)
                m[k * d + i] += b->w[j] * COL(b->u, b->d, j)[i] * COL(b->u, b->d, j)[k];
    status = bdml_model_set_metric(b->h, model, m);
done:
    free(m);
    return status;
}

bdml_status bdml_fit_boost(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                           bdml_model *model)
{
    bdml_status status = BDML_OK;
    bdml_constraints *mined = NULL;
    bdml_mining how = bdml_mining_from_options(o);
    bdml_stopping stop = {.rule = "largest eigenvalue over its bound, less 1"};
    boost b = {.h = h, .o = o, .only = -1};

    b.stagewise = o->methods.boost_form.value == BDML_BOOST_FORM_STAGEWISE;
    stop.wanted = 10.0 * o->solve.gap.value;
    how.kind = BDML_KIND_TRIPLET;
    if (!t->constraints) {
        BDML_GO(bdml_need_classes(h, t, "boost"));
        BDML_GO(bdml_mine(h, t->n, t->d, t->x, t->d, t->y, &how, &mined));
    }
    BDML_GO(init(&b, t, t->constraints ? t->constraints : mined));
    bool learned;
    BDML_GO(run(&b, &stop, &learned));
    BDML_GO(learned ? set_metric(&b, model) : bdml_keep_euclidean(h, "boost", model));
    status = bdml_record_stopping(h, model, &stop);
done:
    free_boost(&b);
    bdml_free_constraints(mined);
    return bdml_start_if_late(h, status, model);
}
