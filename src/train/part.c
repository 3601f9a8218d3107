/* part.c - parts of the training data to learn from, with what is left out to judge by: folds of the rows, by class,
 * of whole classes, or of given pairs, by the groups that belong together. */
#include "train/plan.h"

#include <stdlib.h>

enum {
    FOLDS_SMALL = 5, /* up to FEW points; */
    FIRST_SMALL = 3, /* the first round has so many of them */
    FOLDS_LARGE = 3, /* the first round is one fold */
    FEW = 500,
    MOST_POINTS = 3500,    /* more are sampled down, class by class */
    MOST_OF_LARGE = 12000, /* of a plan for many rows, */
    SPLITS_OF_LARGE = 4,
    PARTS_OF_LARGE = 2,
    FOLDS_PAIRS = 3,
    FOLDS_CLASSES =
        2, /* learn from half of the classes, judge by the other half, and the reverse, */
    REPEATS_CLASSES = 3, /* so many times */
    MOST_OF_CLASSES =
        2000, /* more points are sampled down likewise: halves need not be nearly all of them */
    FEWEST_CLASSES = 4
};

/* How many rows are left out. */
typedef struct amounts {
    int fold;    /* in a fold of many points, where there are enough: the rest is to learn from */
    int under;   /* repeat the folds of few points until so many have been left out, */
    int repeats; /* at most so many times */
} amounts;
/* A path scores every cap on every part, of one reference: it can afford more of them. */
static const amounts of_recipe = {300, 400, 2}, of_path = {500, 600, 4};

static bdml_status share(bdml_handle *h, bdml_part *part)
{
    bdml_status status = BDML_OK;
    BDML_NEW(h, part->shared, 1);
    bdml_whitening_init(&part->shared->whitening);
    pthread_mutex_init(&part->shared->lock, NULL);
done:
    return status;
}

static void free_shared(bdml_part_shared *shared)
{
    if (!shared) return;
    bdml_whitening_free(&shared->whitening);
    pthread_mutex_destroy(&shared->lock);
    free(shared->near);
    free(shared);
}

void bdml_part_free(bdml_part *part)
{
    free_shared(part->shared);
    free(part->own_x);
    free(part->own_vx);
    free(part->own_y);
    free(part->own_vy);
    free(part->count);
    bdml_labelled_free(&part->learned);
    bdml_labelled_free(&part->left_out);
    bdml_free_constraints(part->own_constraints);
    *part = (bdml_part){0};
}

void bdml_parts_free(bdml_parts *parts)
{
    for (int k = 0; parts->part && k < parts->count; k++) bdml_part_free(&parts->part[k]);
    free(parts->part);
    *parts = (bdml_parts){0};
}

/* ---- rows ------------------------------------------------------------------------------------------------- */

/* Rows left out by class; those that no other is of the class of, and the others by group. */
static bdml_status count_rows(bdml_handle *h, const bdml_plan *plan, const bdml_training *t,
                              bdml_part *part)
{
    bdml_status status = BDML_OK;
    BDML_NEW(h, part->count, t->classes);
    for (int64_t i = 0; i < part->test; i++) part->count[part->vy[i]]++;
    for (int c = 0; c < t->classes; c++) {
        int64_t count = part->count[c];
        part->single += count == 1;
        if (plan->groups > 0 && count > 1) part->rows[c % plan->groups] += (double)count;
    }
done:
    return status;
}

/* The rows number[i] != left_out to learn from, the others to judge by. */
static bdml_status take_rows(bdml_handle *h, const bdml_plan *plan, const bdml_training *t,
                             int64_t rows, const int64_t *row, const int32_t *number, int left_out,
                             bdml_part *part)
{
    bdml_status status = BDML_OK;
    size_t d = (size_t)t->d;
    int64_t test = 0, a = 0, b = 0;
    const bdml_rows all = bdml_training_rows(t);
    double *x = NULL; /* of all `rows` */

    BDML_GO(share(h, part));
    for (int64_t i = 0; i < rows; i++) test += number[i] == left_out;
    BDML_NEW(h, part->own_x, (size_t)(rows - test) * d);
    BDML_NEW(h, part->own_y, rows - test);
    BDML_NEW(h, part->own_vx, (size_t)test * d);
    BDML_NEW(h, part->own_vy, test);
    BDML_NEW(h, x, t->over ? (size_t)rows * d : 0);
    if (t->over) BDML_GO(bdml_spread_fetch(h, t->over, t->d, t->x, t->d, rows, row, x));
    for (int64_t i = 0; i < rows; i++) {
        bool out = number[i] == left_out;
        double *to = out ? part->own_vx + (size_t)b * d : part->own_x + (size_t)a * d;
        if (t->over)
            memcpy(to, x + (size_t)i * d, d * sizeof *to);
        else
            bdml_rows_copy(&all, 1, row + i, 0, to);
        *(out ? &part->own_vy[b++] : &part->own_y[a++]) = t->y[row[i]];
    }
    part->t =
        (bdml_training){a, t->d, part->own_x, part->own_y, t->classes, NULL, NULL, NULL, NULL};
    part->test = b;
    part->vx = part->own_vx;
    part->vy = part->own_vy;
    status = count_rows(h, plan, t, part);
done:
    free(x);
    return status;
}

/* Rows to cross-validate on: all, or `most` of them, class by class. */
static bdml_status sample_rows(bdml_handle *h, const bdml_training *t, int64_t most, uint64_t seed,
                               int64_t *rows, int64_t **row)
{
    bdml_status status = BDML_OK;
    BDML_NEW(h, *row, t->n);
    for (int64_t i = 0; i < t->n; i++) (*row)[i] = i;
    *rows = t->n;
    if (t->n > most)
        status = bdml_split_random(h, t->n, t->y, 1.0 - (double)most / (double)t->n, seed,
                                   UINT64_MAX, *row, rows);
done:
    return status;
}

static void count_folds(const bdml_plan *plan, int64_t rows, bdml_parts *p)
{
    const amounts *out = plan->whole ? &of_path : &of_recipe;
    if (plan->unseen) { /* few classes differ much: all halves are looked at before any choice is dropped */
        p->splits = FOLDS_CLASSES;
        p->count = p->first = FOLDS_CLASSES * REPEATS_CLASSES;
    } else if (plan->large) {
        p->splits = SPLITS_OF_LARGE;
        p->count = PARTS_OF_LARGE;
        p->first = 1;
    } else if (rows <= FEW) {
        p->splits = (int)BDML_MIN(rows, FOLDS_SMALL);
        p->count = p->splits * (int)BDML_MAX(1, BDML_MIN(out->repeats, out->under / rows));
        p->first = BDML_MIN(p->splits, FIRST_SMALL);
    } else { /* few of the folds: what is learned should be learned from nearly all rows */
        p->splits = (int)BDML_MAX(FOLDS_LARGE, rows / out->fold);
        p->count = FOLDS_LARGE;
        p->first = 1;
    }
}

/* Folds of whole classes; those of one row, which cannot be looked for, are dealt apart from the others. */
static bdml_status deal_classes(bdml_handle *h, int64_t rows, const int32_t *y, int classes,
                                int folds, uint64_t seed, uint64_t repeat, int32_t *number)
{
    bdml_status status = BDML_OK;
    int64_t *count = NULL;
    int32_t *single = NULL, *fold = NULL;
    int there = 0, of_many = 0;

    BDML_NEW(h, count, classes);
    BDML_NEW(h, single, classes);
    BDML_NEW(h, fold, classes);
    for (int64_t i = 0; i < rows; i++) count[y[i]]++;
    for (int c = 0; c < classes; c++) {
        of_many += count[c] > 1;
        if (count[c] > 0) single[there++] = count[c] == 1;
    }
    if (of_many < FEWEST_CLASSES)
        BDML_GO(bdml_fail(h, BDML_ERR_DATA,
                          "task retrieve chooses by classes that are left out, and needs at least "
                          "%d classes of two rows or more; the data have %d. With fewer, state "
                          "reference and distortion, or leave task at classify",
                          FEWEST_CLASSES, of_many));
    BDML_GO(bdml_split_folds(h, there, single, folds, seed, repeat, fold));
    for (int c = classes; c-- > 0;) /* from the classes that are there to all, in place */
        if (count[c] > 0) fold[c] = fold[--there];
    for (int64_t i = 0; i < rows; i++) number[i] = fold[y[i]];
done:
    free(count);
    free(single);
    free(fold);
    return status;
}

/* Each repeat of the folds has a stream of random numbers of its own. */
static bdml_status make_rows(bdml_handle *h, const bdml_plan *plan, uint64_t seed,
                             const bdml_training *t, bdml_parts *p)
{
    bdml_status status = BDML_OK;
    int64_t *row = NULL, rows;
    int32_t *y = NULL, *number = NULL;

    int64_t most = plan->unseen ? MOST_OF_CLASSES : plan->large ? MOST_OF_LARGE : MOST_POINTS;
    BDML_GO(sample_rows(h, t, most, seed, &rows, &row));
    count_folds(plan, rows, p);
    BDML_NEW(h, p->part, p->count);
    BDML_NEW(h, y, rows);
    BDML_NEW(h, number, rows);
    for (int64_t i = 0; i < rows; i++) y[i] = t->y[row[i]];
    for (int k = 0; k < p->count; k++) {
        uint64_t repeat = (uint64_t)(k / p->splits);
        if (plan->unseen)
            BDML_GO(deal_classes(h, rows, y, t->classes, p->splits, seed, repeat, number));
        else
            BDML_GO(bdml_split_folds(h, rows, y, p->splits, seed, repeat, number));
        BDML_GO(take_rows(h, plan, t, rows, row, number, k % p->splits, &p->part[k]));
    }
done:
    free(row);
    free(y);
    free(number);
    return status;
}

/* ---- pairs ------------------------------------------------------------------------------------------------ */

/* Pairs that belong to one group (a fold of the file: the same people) are left out together; where groups are not
 * known, pairs that share a row are. The rows are those of t. */
static bdml_status make_pairs(bdml_handle *h, uint64_t seed, const bdml_training *t, bdml_parts *p)
{
    bdml_status status = BDML_OK;
    bdml_labelled_pairs pairs = {0};

    BDML_GO(bdml_labelled_from(h, t->constraints, &pairs));
    if (pairs.count < 2 * (int64_t)FOLDS_PAIRS) {
        status = bdml_fail(h, BDML_ERR_DATA,
                           "%lld pairs are too few to choose the distortion by cross-validation; "
                           "set distortion",
                           (long long)pairs.count);
        goto done;
    }
    BDML_GO(bdml_labelled_regroup(h, t->n, FOLDS_PAIRS, seed, &pairs));
    p->splits = p->count = p->first = FOLDS_PAIRS;
    BDML_NEW(h, p->part, p->count);
    for (int k = 0; k < p->count; k++) {
        bdml_part *part = &p->part[k];
        BDML_GO(share(h, part));
        BDML_GO(bdml_labelled_part(h, &pairs, k, false, NULL, &part->learned));
        BDML_GO(bdml_labelled_part(h, &pairs, k, true, NULL, &part->left_out));
        BDML_GO(bdml_labelled_constraints(h, t->n, &part->learned, &part->own_constraints));
        part->t = *t;
        part->t.constraints = part->own_constraints;
    }
done:
    bdml_labelled_free(&pairs);
    return status;
}

bdml_status bdml_parts_make(bdml_handle *h, const bdml_plan *plan, const bdml_training *t,
                            bdml_parts *out)
{
    uint64_t seed = (uint64_t)plan->o->general.seed.value;
    *out = (bdml_parts){0};
    if (plan->pairs) return make_pairs(h, seed, t, out);
    return make_rows(h, plan, seed, t, out);
}
