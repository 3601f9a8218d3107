/* need.c - what each method takes beside the points, in bytes, before it begins: the large arrays of its file, those that grow with
 * the rows and the fixed ones apart. tests/test_method_limit.c holds them against what is really taken. */
#include "baselines/lmnn.h"
#include "baselines/pairs.h"
#include "solver/solver.h"

#define NEED(function)                                                          \
    bdml_need bdml_need_##function(const bdml_handle *h, const bdml_options *o, \
                                   const bdml_training *t)

static const char FEWER_PAIRS[] = "fewer pairs (--random-pairs)";

/* ---- parts that methods share --------------------------------------------------------------------------- */

static double square(int d)
{
    return 8.0 * d * d;
}

/* n rows of d. */
static double points(const bdml_training *t)
{
    return 8.0 * (double)t->n * t->d;
}

/* Gram matrices (bdml_la_gram), and eigenproblems after them. */
static double grams(int d)
{
    return 8.0 * (double)bdml_la_gram_size(d) + 4.0 * square(d);
}

/* A search of the k nearest rows of every row, in one block: the rows packed, and the candidates of each. */
static double search(const bdml_handle *h, const bdml_training *t, double k)
{
    double tiles = 8.0 * 256.0 * 256.0 * bdml_threads(h);
    return points(t) + (double)t->n * (12.0 * (2.0 * k + 33.0) + 24.0) + tiles;
}

/* L-BFGS over maps of q rows: ten pairs, and five vectors. */
static double lbfgs(int q, int d)
{
    return 8.0 * 25.0 * q * d;
}

static int rows_of_map(const bdml_options *o, const bdml_training *t)
{
    int q = (int)o->methods.components.value;
    return q == 0 || q > t->d ? t->d : q;
}

/* span.c: the points from their mean, and in the coordinates of the span. */
static bdml_need span(const bdml_training *t)
{
    return (bdml_need){.rows = 2.0 * points(t), .fixed = grams(t->d) + 3.0 * square(t->d)};
}

/* pairs.c with `more` numbers a pair beside: the points that pairs name, moved, and the operator over them. */
static bdml_need pairs(const bdml_handle *h, const bdml_options *o, const bdml_training *t,
                       double more)
{
    double m = bdml_pairs_expected(o, t), n = (double)t->n;
    double named = t->constraints ? BDML_MIN(2.0 * m, n) : n * (1.0 - exp(-2.0 * m / n));
    double bytes = 2.0 * 8.0 * named * t->d + m * (8.0 * 4.0 + 2.0 * 8.0 + 8.0 * more) +
                   bdml_margin_bytes(h, named, m, t->d);
    /* pairs that are given grow with the rows they are about, those that are drawn do not */
    bdml_need need = {.fixed = 6.0 * square(t->d), .advice = FEWER_PAIRS};
    double op_bytes = bdml_margin_bytes(h, 0.0, 0.0, t->d);
    need.fixed += op_bytes;
    *(t->constraints ? &need.rows : &need.fixed) += bytes - op_bytes;
    need.rows += 8.0 * n;
    return need;
}

/* ---- nothing learned, closed forms --------------------------------------------------------------------------- */

NEED(euclidean)
{
    (void)h, (void)o;
    return (bdml_need){.fixed = 5.0 * square(t->d)};
}

NEED(whiten)
{
    (void)h, (void)o;
    return (bdml_need){.fixed = grams(t->d)};
}

NEED(covariance)
{
    (void)h, (void)o;
    return span(t);
}

NEED(lda)
{
    (void)h, (void)o;
    return span(t);
}

NEED(rca)
{
    (void)h, (void)o;
    return span(t);
}

NEED(lfda)
{
    enum { TILE = 256 }; /* columns of affinities within a class */
    double n = (double)t->n, class = n / BDML_MAX(t->classes, 1);
    double k = (double)o->methods.lfda_neighbors.value;
    bdml_need need = span(t);
    need.rows = points(t) + n * (12.0 * k + 8.0) + 8.0 * class * (2.0 * t->d + TILE);
    need.blocks = search(h, t, k);
    return need;
}

NEED(gmml)
{
    enum {
        FOLDED = 2000,
        PLACES = 21
    }; /* rows that the choice of the place looks at, and its places */
    bdml_need need = span(t);
    double folded = BDML_MIN((double)t->n, FOLDED);
    (void)h, (void)o;
    need.rows += 16.0 * (double)t->n;
    need.fixed += 3.0 * 8.0 * folded * t->d + 500.0 * folded + PLACES * square(t->d);
    return need;
}

/* ---- neighbours and triplets --------------------------------------------------------------------------------- */

/* Rows that have any. */
static double anchors_of(const bdml_mining *how, const bdml_training *t)
{
    double n = (double)t->n;
    return how->anchors > 0 ? BDML_MIN(n, (double)how->anchors) : n;
}

/* Triplets that mining will find: of each row every target with every impostor. Those within a ball are as many as they are, and
 * are counted when they are there. */
static double triplets(const bdml_options *o, const bdml_training *t)
{
    const bdml_mining how = bdml_mining_from_options(o);
    double k = how.targets, l = how.impostors + how.random_impostors;
    if (t->constraints) return (double)t->constraints->m;
    return anchors_of(&how, t) *
           (how.rule == BDML_RULE_NEAREST ? 0.25 * k * k : k * BDML_MAX(l, 1.0));
}

/* Pairs that they are made of. */
static double pairs_of(const bdml_options *o, const bdml_training *t)
{
    const bdml_mining how = bdml_mining_from_options(o);
    double l = how.impostors + how.random_impostors;
    if (t->constraints) return (double)t->constraints->pairs;
    return anchors_of(&how, t) * (how.rule == BDML_RULE_NEAREST ? how.targets : how.targets + l);
}

/* The constraints as they are held, and while they are built: rows, and keys that are told apart. */
static double held_triplets(double m, double pairs)
{
    return 8.0 * m + 8.0 * pairs;
}

static double building_triplets(double m, double pairs)
{
    return m * (12.0 + 8.0 + 2.0 + 12.0 * 2.0) + pairs * (16.0 + 12.0 * 3.0 + 24.0);
}

NEED(lmnn)
{
    int q = rows_of_map(o, t);
    double k = (double)BDML_MIN(o->constraints.targets.value, t->n - 1), n = (double)t->n;
    double all = n * k, op_bytes = bdml_margin_bytes(h, 0.0, 0.0, t->d);
    bdml_need need = span(t);
    /* the points in the span with, of every target, the difference; then, unless there is another pass, without them */
    double made = points(t) * (1.0 + BDML_MAX(k, 1.0)) + 4.0 * all;
    double kept = points(t) * (o->train.passes.value > 1 ? 2.0 : 1.0) + 4.0 * all;
    /* one impostor of each target, which is the least there can be; with all targets in a solve, or in a look at all triplets */
    double least = all * BDML_LMNN_TRIPLET;
    double solve = bdml_margin_bytes(h, n, all, t->d) - op_bytes + 4.0 * n + 12.0 * all + least;
    double look = 8.0 * n * (t->d + k + 3.0 + BDML_LMNN_ROWS * (double)bdml_threads(h)) +
                  all * (12.0 + BDML_LMNN_HELD + BDML_LMNN_KEYS + BDML_LMNN_LISTED);
    need.rows = BDML_MAX(BDML_MAX(need.rows, made), kept + BDML_MAX(solve, look));
    need.fixed += bdml_solve_bytes(h, 0.0, 0.0, all, t->d, false) - all * BDML_SOLVE_CONSTRAINT +
                  lbfgs(q, t->d);
    /* ten of each; and what joins */
    need.blocks = (BDML_LMNN_IMPOSTORS - 1.0) * least;
    need.advice = "fewer --targets";
    return need;
}

NEED(boost)
{
    double m = triplets(o, t), pairs = pairs_of(o, t), room = t->d + 24.0;
    double op_bytes = bdml_margin_bytes(h, 0.0, 0.0, t->d);
    double worked =
        8.0 * m * (room + 3.0) + bdml_margin_bytes(h, (double)t->n, pairs, t->d) - op_bytes;
    double most = BDML_MAX(building_triplets(m, pairs), worked);
    return (bdml_need){.rows = held_triplets(m, pairs) + most,
                       .fixed = op_bytes + grams(t->d + 24) + 6.0 * square(t->d + 24),
                       .blocks =
                           BDML_MAX(search(h, t, 3.0) - most, 0.0), /* of mining, before that */
                       .advice = "fewer --targets or --impostors"};
}

NEED(lsml)
{
    double m = bdml_pairs_expected(o, t), n = (double)t->n, named = n * (1.0 - exp(-2.0 * m / n));
    bdml_need need = span(t);
    if (o->methods.prior.value != BDML_PRIOR_COVARIANCE)
        need.rows = points(t); /* in its coordinates */
    need.fixed += m * 60.0 + bdml_margin_bytes(h, named, m, t->d);
    need.advice = FEWER_PAIRS;
    return need;
}

NEED(scml)
{
    double m = triplets(o, t), pairs = pairs_of(o, t);
    double want = (double)o->methods.scml_directions.value;
    if (want == 0.0) want = 20.0 * t->d;
    double middles = want / (2.0 * BDML_MAX(BDML_MIN(t->classes - 1, t->d), 1));
    double parts = middles * t->classes * (8.0 * t->d + 4.0 * 50.0);
    double most = BDML_MAX(building_triplets(m, pairs), 16.0 * m);
    return (bdml_need){.rows = held_triplets(m, pairs) + most,
                       .fixed =
                           parts + 8.0 * want * (2.0 * t->d + 40.0) + grams(t->d) + square(t->d),
                       .blocks = BDML_MAX(search(h, t, 3.0) - most, 0.0),
                       .advice = "fewer --targets or --impostors"};
}

/* x and z, 16 sums of columns, and of each thread 32 rows of distances. */
static double sums_over_pairs(const bdml_handle *h, const bdml_training *t, int q)
{
    enum { ROWS = 32, PARTS = 16 };
    return 8.0 * (double)t->n * (t->d + q + PARTS + 3.0 + ROWS * bdml_threads(h));
}

NEED(nca)
{
    int q = rows_of_map(o, t);
    double n = (double)t->n, lists = 8.0 * n * bdml_threads(h);
    return (bdml_need){.rows = sums_over_pairs(h, t, q) + lists + 8.0 * n * q * (1.0 + 2.0 / 16.0),
                       .fixed = 17.0 * square(t->d) + grams(t->d) + lbfgs(q, t->d)};
}

NEED(mlkr)
{
    int q = rows_of_map(o, t);
    return (bdml_need){.rows = sums_over_pairs(h, t, q),
                       .fixed = 17.0 * square(t->d) + grams(t->d) + lbfgs(q, t->d)};
}

/* ---- similar and dissimilar pairs ------------------------------------------------------------------------------ */

NEED(kissme)
{
    if (bdml_pairs_given(&o->constraints, t) || !t->y) return pairs(h, o, t, 0.0);
    return (bdml_need){.rows = points(t) + 8.0 * (double)t->n,
                       .fixed = grams(t->d) + 8.0 * square(t->d)};
}

NEED(itml)
{
    bdml_need need = pairs(h, o, t, 5.0);
    return need;
}

NEED(mmc)
{
    return pairs(h, o, t, 3.0);
}

NEED(mmc_diagonal)
{
    return pairs(h, o, t, 3.0);
}

NEED(dmleig)
{
    bdml_need need = pairs(h, o, t, 0.0);
    double m = 0.5 * bdml_pairs_expected(o, t);
    need.fixed += bdml_solve_bytes(h, BDML_MIN(2.0 * m, (double)t->n), m, m, t->d, false);
    return need;
}

NEED(ldml)
{
    bdml_need need = pairs(h, o, t, 4.0);
    return need;
}

NEED(sdml)
{
    return pairs(h, o, t, 0.0);
}

/* ---- verification of pairs --------------------------------------------------------------------------------------- */

static double intra_rows(const bdml_training *t)
{
    return points(t) + grams(t->d) + 3.0 * square(t->d);
}

NEED(sub_ml)
{
    double m = bdml_pairs_expected(o, t);
    (void)h;
    return (bdml_need){.rows = points(t) + 8.0 * m * (t->d + 8.0),
                       .fixed = intra_rows(t) - points(t)};
}

NEED(sub_sml)
{
    double m = bdml_pairs_expected(o, t);
    (void)h;
    return (bdml_need){.rows = points(t) + 8.0 * m * (2.0 * t->d + 8.0),
                       .fixed = intra_rows(t) - points(t)};
}

NEED(csml)
{
    int q = rows_of_map(o, t);
    (void)h;
    return (bdml_need){.rows = 3.0 * 8.0 * (double)t->n * q, .fixed = intra_rows(t) - points(t)};
}

NEED(sub_itml)
{
    bdml_need need = bdml_need_itml(h, o, t);
    need.rows += points(t);
    return need;
}

/* ---- two domains --------------------------------------------------------------------------------------------------- */

static bdml_need domains(const bdml_training *t)
{
    double both = points(t) + 8.0 * (double)(t->target ? t->target->n : 0) * t->d;
    return (bdml_need){.rows = 2.0 * both, .fixed = grams(t->d) + 6.0 * square(t->d)};
}

NEED(gfk)
{
    (void)h, (void)o;
    return domains(t);
}

NEED(sgf)
{
    (void)h, (void)o;
    return domains(t);
}
