/* identity.c - what a state is tied to: points, constraints, objective, start and settings, each as
 * numbers that can be compared, so that a refusal can say what is different. Limits are left out: a
 * solve may go on with others. What sums over ranks are taken of (points that are prepared by means, the objective, a metric
 * to start from) has other last digits on another number of ranks: over ranks it is not known, and matches anything. The
 * data themselves are compared by checkpoints. */
#include "solver/engine.h"

/* Places of the identity. A fingerprint takes two: its halves are exact as doubles. */
enum {
    SIZE_N,
    SIZE_D,
    POINTS,
    CONSTRAINT_COUNT = POINTS + 2,
    CONSTRAINTS,
    OBJECTIVE = CONSTRAINTS + 2,
    DIAGONAL = OBJECTIVE + 2,
    SET,
    DISTORTION,
    TRACE,
    MARGIN,
    HARD,
    LOSS,
    SOFTNESS,
    WEIGHT,
    GAP,
    START,
    SPECTRUM = START + 2,
    IDENTITY_END = SPECTRUM + 2
};
_Static_assert((int)IDENTITY_END <= (int)BDML_IDENTITY_SIZE, "the identity must fit in its array");

/* ---- fingerprints ------------------------------------------------------------------------------ */

static uint64_t mix_doubles(uint64_t hash, size_t n, const double *a)
{
    uint64_t bits;
    if (!a) return bdml_mix(hash, 0);
    for (size_t i = 0; i < n; i++) {
        memcpy(&bits, a + i, sizeof bits);
        hash = bdml_mix(hash, bits);
    }
    return bdml_mix(hash, n);
}

static uint64_t mix_ints(uint64_t hash, int64_t n, const int32_t *a)
{
    for (int64_t i = 0; i < n; i++) hash = bdml_mix(hash, (uint64_t)(int64_t)a[i]);
    return bdml_mix(hash, (uint64_t)n);
}

static void put_hash(double *at, uint64_t hash)
{
    at[0] = (double)(hash >> 32);
    at[1] = (double)(hash & 0xffffffffu);
}

static uint64_t points_hash(const bdml_problem *p)
{
    uint64_t hash = 0;
    const bdml_statement all = p->stated, named = {.n = p->n, .x = p->x, .ld = p->ld};
    const bdml_statement *s = all.x ? &all : &named; /* rows that are made: those that are named */
    for (int64_t i = 0; i < s->n; i++) hash = mix_doubles(hash, (size_t)p->d, s->x + i * s->ld);
    return hash;
}

static uint64_t constraints_hash(const bdml_constraints *c)
{
    uint64_t hash = mix_ints(mix_ints(0, c->pairs, c->pi), c->pairs, c->pj);
    hash = mix_ints(hash, c->targets, c->target);
    hash = mix_ints(mix_ints(hash, c->m, c->far), c->m, c->near);
    return mix_doubles(mix_doubles(hash, (size_t)c->m, c->margin), (size_t)c->m, c->weight);
}

/* ---- identity ---------------------------------------------------------------------------------- */

void bdml_identity_make(const bdml_problem *p, const bdml_solve_settings *s, double *identity)
{
    bool alone = p->clock->size == 1;
    size_t d = (size_t)p->d, metric = p->form->row_ops->size(p->d, 0), m = (size_t)p->stated.c->m;
    memset(identity, 0, sizeof *identity * BDML_IDENTITY_SIZE);
    identity[SIZE_N] = (double)p->stated.n;
    identity[SIZE_D] = p->d;
    if (alone) put_hash(identity + POINTS, points_hash(p));
    identity[CONSTRAINT_COUNT] = (double)p->stated.c->m;
    put_hash(identity + CONSTRAINTS, constraints_hash(p->stated.c));
    if (alone) put_hash(identity + OBJECTIVE, mix_doubles(1, d * d, p->objective));
    identity[DIAGONAL] = p->form == &bdml_diagonal_form;
    identity[SET] = (double)s->set;
    identity[DISTORTION] = s->K;
    identity[TRACE] = s->trace;
    identity[MARGIN] = s->margin;
    identity[HARD] = s->hard;
    identity[LOSS] = s->hard ? 0.0 : (double)s->loss;
    identity[SOFTNESS] = s->hard || s->C > 0.0 ? 0.0 : s->softness;
    identity[WEIGHT] = s->hard ? 0.0 : s->C;
    identity[GAP] = s->gap;
    if (alone)
        put_hash(identity + START,
                 mix_doubles(mix_doubles(2, metric, s->warm_metric), m, s->warm_multiplier));
    if (s->set == BDML_SET_HULL || s->set == BDML_SET_RANK)
        put_hash(identity + SPECTRUM, mix_doubles((uint64_t)s->rank, (size_t)s->rank, s->spectrum));
}

/* Hashes that are not known over ranks. */
static const int summed[] = {POINTS, OBJECTIVE, START};

/* Of what any number of ranks knows to the bit. */
uint64_t bdml_problem_fingerprint(const bdml_problem *p, const bdml_solve_settings *s)
{
    double identity[BDML_IDENTITY_SIZE];
    bdml_identity_make(p, s, identity);
    for (size_t k = 0; k < sizeof summed / sizeof *summed; k++)
        identity[summed[k]] = identity[summed[k] + 1] = 0.0;
    identity[WEIGHT] = 0.0;
    return mix_doubles(3, BDML_IDENTITY_SIZE, identity);
}

/* A weight is made of sums over constraints. */
static const double ROUNDING = 1e-9;

static bool is_unknown(const double *identity, int at)
{
    for (size_t k = 0; k < sizeof summed / sizeof *summed; k++)
        if (summed[k] == at) return identity[at] == 0.0 && identity[at + 1] == 0.0;
    return false;
}

bdml_status bdml_identity_check(bdml_handle *h, const double *now, const double *then)
{
    static const struct {
        int at, numbers;
        bool hash; /* its numbers say nothing to a person */
        const char *what;
    } part[] = {
        {SIZE_N, 1, false, "number of points"},
        {SIZE_D, 1, false, "dimension"},
        {POINTS, 2, true, "points"},
        {CONSTRAINT_COUNT, 1, false, "number of constraints"},
        {CONSTRAINTS, 2, true, "constraints"},
        {OBJECTIVE, 2, true, "objective"},
        {DIAGONAL, 1, false, "diagonal form"},
        {SET, 1, false, "set of metrics"},
        {DISTORTION, 1, false, "distortion"},
        {TRACE, 1, false, "trace"},
        {MARGIN, 1, false, "margin"},
        {HARD, 1, false, "hard form"},
        {LOSS, 1, false, "loss"},
        {SOFTNESS, 1, false, "softness"},
        {WEIGHT, 1, false, "weight C of missed margins"},
        {GAP, 1, false, "gap"},
        {START, 2, true, "start"},
        {SPECTRUM, 2, true, "rank or spectrum"},
    };
    for (size_t k = 0; k < sizeof part / sizeof *part; k++) {
        int at = part[k].at;
        bool same = now[at] == then[at] && (part[k].numbers == 1 || now[at + 1] == then[at + 1]);
        if (same || is_unknown(now, at) || is_unknown(then, at)) continue;
        if (at == WEIGHT && fabs(now[at] - then[at]) <= ROUNDING * fabs(then[at])) continue;
        if (part[k].hash)
            return bdml_fail(
                h, BDML_ERR_ARGUMENT,
                "the checkpoint is of another problem: its %s differ from those of now",
                part[k].what);
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "the checkpoint is of another problem: its %s is %.15g, now it is %.15g",
                         part[k].what, then[at], now[at]);
    }
    return BDML_OK;
}
