/* plan.h - the method bdml, from settings to claim. Private to train.
 *
 *     plan        what the settings and the data leave open, and how a choice is fitted and judged   plan.c
 *     image       rows under a map, whole or made when they are asked for                            image.c
 *     whitening   what references are made of, shared by those of the same points                    whitening.c
 *     local       how near rows of a class and of others lie, direction by direction                 local.c
 *     reference   the metric that distortion is measured against                                     reference.c
 *     fit         points under a reference: constraints, problem, one solve                          fit.c
 *     sweep       all passes and caps of one fit, each solve from the one before                     sweep.c
 *     part        what to learn from, and what is left out to judge by                               part.c
 *     score       of the metrics of a sweep on what was left out                                     score.c
 *     candidate   one choice; which of them, by their scores                                         choose.c
 *     selection   parts x candidates -> scores -> one candidate                                      select.c
 *     claim       what the last solve proves, into the model                                         claim.c
 *     final       the chosen candidate fitted on everything, and claimed                             final.c
 *
 * A problem that the settings state is a plan of one candidate. Given pairs are another source of constraints and
 * another score. A rank is a step around: a map Q, then the same fit (lowrank.c). A path is the same plan on
 * several sets of rows, with a record of every solve (path.c). Whoever solves does so by bdml_sweep. Calls go up
 * this list, never down; JSON is made in describe.c and path_report.c alone. */
#ifndef BDML_PLAN_H
#define BDML_PLAN_H

#include <pthread.h>

#include "model/evidence.h"
#include "solver/solver.h"
#include "train/train.h"

/* ---- rows under a map (image.c) -------------------------------------------------------------------- */

/* Not to be moved while `rows` is in use, nor asked by two threads at a time. */
typedef struct bdml_image {
    bdml_made made;
    bdml_handle *h;
    bdml_rows of;
    int q;
    const double *map, *shift; /* q rows of of.d; taken off first, or NULL */
    double *room, *ws;
    double *own;    /* all of them, or NULL */
    bdml_rows rows; /* z = map (x - shift), q numbers each, classes as of `of` */
} bdml_image;
/* Whole, or where that takes much of the working memory and need not be, made when they are asked for: the same bits. `of`, map and
 * shift are borrowed. */
bdml_status bdml_image_open(bdml_handle *h, const bdml_rows *of, int q, const double *map,
                            const double *shift, bool whole, bdml_image *m);
void bdml_image_close(bdml_image *m);

/* ---- whitening (whitening.c) ---------------------------------------------------------------------- */

/* Steps on the way to references of one set of points, made when first asked for, once for all kinds. Jobs that run
 * beside each other may share it: the bits are the same whoever makes a step. */
typedef struct bdml_variation {
    int rows;
    double *columns;         /* rows of d: columns left in, as they are or z-scored */
    double *vector, *lambda; /* eigenvectors and eigenvalues of Sw of the points under these */
    double trace, shrinkage; /* tr Sw; as set, or by Ledoit and Wolf */
} bdml_variation;
typedef struct bdml_whitening {
    pthread_mutex_t lock;
    bdml_variation of[2]; /* columns as they are; z-scored */
    double *along,
        *along_lambda; /* of the between-class covariance of the points whitened after the z-score */
    double *hits,
        *misses; /* scatters of near rows of a class, and of other classes, of the points z-scored */
    bool far;    /* from the origin */
    double *mean;
} bdml_whitening;
void bdml_whitening_init(bdml_whitening *w);
void bdml_whitening_free(bdml_whitening *w);
/* *map, rows of t->d, is the caller's. The z-score; */
bdml_status bdml_whitening_columns(bdml_handle *h, const bdml_training *t, bdml_whitening *w,
                                   int *rows, double **map);
/* S^(-1/2), z-scored before or not, with this shrinkage (0: as set); */
bdml_status bdml_whitening_map(bdml_handle *h, const bdml_method_options *o, const bdml_training *t,
                               bdml_whitening *w, bool scale, double shrinkage, int *rows,
                               double **map);
/* the same after the z-score, squared lengths along the discriminants times `stretch`. */
bdml_status bdml_whitening_stretched(bdml_handle *h, const bdml_method_options *o,
                                     const bdml_training *t, bdml_whitening *w, double stretch,
                                     int *rows, double **map);
/* the map of near rows (local.c) after the z-score; across: share of what is outside the diagonal of their scatters that counts. */
bdml_status bdml_whitening_local(bdml_handle *h, const bdml_training *t, bdml_whitening *w,
                                 double across, int *rows, double **map);
/* *shift: the mean, the caller's, where points are far from the origin; else it is left alone. */
bdml_status bdml_whitening_shift(bdml_handle *h, const bdml_training *t, bdml_whitening *w,
                                 double **shift);

/* ---- near rows (local.c) ------------------------------------------------------------------------ */

enum { BDML_LOCAL_ROWS = 700 }; /* that are looked at, at most */
/* *map, rows of t->d, the caller's: for the points under `columns`, rows of t->d. w: whose scatters of the first round are taken or made. */
bdml_status bdml_local_map(bdml_handle *h, const bdml_training *t, int rows, const double *columns,
                           double across, bdml_whitening *w, double **map);

/* ---- reference (reference.c) -------------------------------------------------------------------- */

/* Distortion is bounded relative to a reference metric: the metric is learned on p = R x. R has `rows`
 * rows of `columns` and full row rank; map NULL: identity. */
typedef enum bdml_reference_kind {
    BDML_REFERENCE_NONE,   /* the prepared points as they are */
    BDML_REFERENCE_ZSCORE, /* each column to standard deviation 1; constant columns are left out */
    BDML_REFERENCE_WITHIN, /* then whitened by the shrunk within-class covariance */
    BDML_REFERENCE_WITHIN_RAW, /* whitened likewise without the z-score */
    BDML_REFERENCE_SHRUNK_10,  /* whitened without the z-score, shrunk by 10 % */
    BDML_REFERENCE_SHRUNK_30,
    BDML_REFERENCE_SHRUNK_60,
    BDML_REFERENCE_SHRUNK_90,
    BDML_REFERENCE_FISHER_5, /* within, stretched along the directions in which the class means differ */
    BDML_REFERENCE_FISHER, /* by 20 */
    BDML_REFERENCE_FISHER_100,
    BDML_REFERENCE_FISHER_1000,
    BDML_REFERENCE_LDA, /* by 1e6 */
    BDML_REFERENCE_LOCAL, /* stretched where near rows of other classes are farther than those of the class */
    BDML_REFERENCE_LOCAL_60, /* what columns have in common counts 60 % less there */
    BDML_REFERENCE_FILE,
    BDML_REFERENCE_KINDS
} bdml_reference_kind;

/* Kinds that differ in a constant: one of each is a candidate. */
typedef enum bdml_reference_family {
    BDML_FAMILY_NONE,
    BDML_FAMILY_ZSCORE,
    BDML_FAMILY_WITHIN,
    BDML_FAMILY_FISHER,
    BDML_FAMILY_LOCAL,
    BDML_FAMILIES
} bdml_reference_family;
bdml_reference_family bdml_reference_family_of(bdml_reference_kind kind);

typedef struct bdml_reference {
    bdml_reference_kind kind;
    int rows, columns;
    double *map;
    double *shift; /* taken off points before they are mapped, or NULL; differences do not change */
} bdml_reference;

extern const char *const bdml_reference_names[BDML_REFERENCE_KINDS];
/* The kind of that name; a name that is none is a file. auto: the caller's affair. */
bdml_reference_kind bdml_reference_named(const char *name);
/* A map made elsewhere: a model, or a matrix. BDML_ERR_ARGUMENT with the names of all kinds when there is no such
 * file. */
bdml_status bdml_reference_read(bdml_handle *h, const char *path, bdml_reference *out);
/* The map that bdml_set_reference was given, likewise of kind FILE. */
bdml_status bdml_reference_given(bdml_handle *h, const bdml_given_map *given, bdml_reference *out);
/* Of the points of t; kind FILE: a copy of `file`, whose columns must be those of the points. shared: of the same
 * points, for all kinds that are made of them; NULL: this one is alone. */
bdml_status bdml_reference_make(bdml_handle *h, const bdml_method_options *o,
                                bdml_reference_kind kind, const bdml_reference *file,
                                const bdml_training *t, bdml_whitening *shared,
                                bdml_reference *out);
/* *p: n rows of r->rows, x itself where r is the identity; else *own, the caller's to free, is what *p is. */
bdml_status bdml_reference_apply(bdml_handle *h, const bdml_reference *r, int64_t n,
                                 const double *x, const double **p, double **own);
/* r was made for the points Qx, Q q rows of d: from now on it maps x itself. */
bdml_status bdml_reference_after(bdml_handle *h, bdml_reference *r, int q, int d, const double *Q);
void bdml_reference_free(bdml_reference *r);

/* L, q rows of r, of the metric m = L'L on r dimensions; m NULL: the identity. */
bdml_status bdml_map_metric(bdml_handle *h, int r, const double *m, int *q, double **l);
/* *z = L x for n rows of d: n rows of q, the caller's. */
bdml_status bdml_map_points(bdml_handle *h, int q, int d, const double *l, int64_t n,
                            const double *x, double **z);

/* ---- plan (plan.c) ---------------------------------------------------------------------------------- */

/* Where constraints come from. */
typedef enum bdml_constraint_source {
    BDML_FROM_CALLER,   /* given with the points */
    BDML_FROM_SETTINGS, /* files, or mined by the rule of the settings; the user hears of doubts */
    BDML_FROM_RULE,     /* mined by the rule of the settings, in silence: one of many fits */
    BDML_FROM_RECIPE /* random anchors, their nearest targets, random impostors; in later passes near impostors */
} bdml_constraint_source;

/* What the weight C of missed margins is a multiple of: a threshold under which M = 0 is best. */
typedef enum bdml_weighing {
    BDML_WEIGH_BY_CAP,      /* that of the cap K of the solve */
    BDML_WEIGH_BY_IDENTITY, /* that of M = tI; where there is none, as above */
    /* that of M = tI; where impostors are nearer than targets under the reference, so that M = tI has none, that of
     * the smallest cap that has one. The same C for all caps, so that only K changes along them; thresholds fall with
     * K, so no larger K collapses. */
    BDML_WEIGH_ALIKE
} bdml_weighing;

enum {
    BDML_PLAN_CAPS = 100,
    BDML_PLAN_EFFORTS = 2,
    BDML_PLAN_SCORES = 2,
    BDML_PLAN_VOTES = 7,
    BDML_PLAN_GROUPS = 32,
    /* numbers of one reference on a part */
    BDML_PLAN_MOST = BDML_PLAN_CAPS * BDML_PLAN_EFFORTS * BDML_PLAN_SCORES * (1 + BDML_PLAN_GROUPS)
};

/* How hard impostors are pushed away. */
typedef struct bdml_effort {
    int again;     /* times that neighbours are mined again */
    double weight; /* C over its threshold */
} bdml_effort;

/* Candidates are all combinations of what is listed. */
typedef struct bdml_plan {
    const bdml_options *o;
    bdml_constraint_source source;
    bdml_weighing weighing;
    bdml_pull pull;
    bool diagonal;
    bool paper;              /* solved by the paper's algorithm */
    char *const *class_name; /* for doubts about the constraints, or NULL */
    bool pairs;              /* judged by pairs left out, and not by rows */
    /* many rows: near impostors of all of them or of as many as can be searched for, and triplets about the margin alone */
    bool large;
    /* Of these, rows that a mining of the last fit looks for the neighbours of. The folds take no more: an effort that needs all
     * rows as anchors would be better there, and not where it is wanted. */
    double anchors;
    bool unseen; /* judged by classes left out; the space as it is gives way to evidence alone */
    bool whole;  /* score every candidate on every part: none is dropped on the way */
    bool
        race; /* what is far behind is dropped early: on the first part alone, even before it is solved */
    /* Neighbours are mined again under the metric of these; 0: of each K and weight itself. */
    double mining_cap, mining_weight;
    double
        next_cap; /* large: a third time and on under that of this cap and the weight of the effort */
    bool rough_way;   /* metrics that are only mined under need not be those of the gap asked for */
    double rough_gap; /* of solves that only rank candidates or are mined under, */
    int64_t rough_steps; /* and their projections at most */
    double slack;        /* standard errors that the smallest cap may be worse than the best */

    /* Of classes left out, class c being of group c % groups: their misses are kept apart, so that the standard error of a
     * difference is one over classes; 0: classes are too few for that, it is one over parts */
    int groups;
    /* Times more that neighbours are mined in the last fit, where they are mined again at all: what is dear in
     * every part is cheap once. */
    int more;
    int votes; /* of bdml_votes, to choose the number of neighbours from; 0: it is not ours to choose */
    int references, scores, efforts, caps;
    bdml_reference_kind reference[BDML_REFERENCE_KINDS];
    bdml_score_kind score[BDML_PLAN_SCORES];
    bdml_effort effort[BDML_PLAN_EFFORTS];
    double cap[BDML_PLAN_CAPS]; /* K, ascending: each solve starts from the one before */
    bdml_reference file;        /* of kind FILE: a file's, or the caller's */
} bdml_plan;

/* Any setting that asks for one certain problem and not for our choice of one. */
bool bdml_plan_is_stated(const bdml_options *o);
/* The recipe on classes, with something to choose: it then chooses how many neighbours vote as well. */
bool bdml_plan_chooses_votes(const bdml_options *o, bool given);
/* The recipe on so many rows that it may take them to length 1 before PCA, how to scale being left open. */
bool bdml_plan_weighs_lengths(const bdml_options *o, bool given, int64_t n);
/* The recipe on so many columns that learning in them all takes many minutes (of few rows many more), nothing being said of PCA. */
bool bdml_plan_is_wide(const bdml_options *o, bool given, int64_t n, int d);
/* The fit on classes can be made of rows that are made when they are asked for. */
bool bdml_plan_streams(const bdml_handle *h, const bdml_options *o);
/* The fit can be made of rows that are dealt out to ranks. */
bool bdml_plan_spreads(const bdml_options *o);
/* For these points, with their classes or constraints. What cannot be learned from is told here. */
bdml_status bdml_plan_make(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                           bdml_plan *plan);
/* For a path over these caps. */
bdml_status bdml_plan_path(bdml_handle *h, const bdml_options *o, int caps, const double *cap,
                           bdml_plan *plan);
void bdml_plan_free(bdml_plan *plan);

/* ---- candidates (choose.c) ----------------------------------------------------------------------------- */

/* Positions in the lists of a plan. */
typedef struct bdml_candidate {
    int reference, score, effort, cap;
} bdml_candidate;

/* Times that neighbours are mined again. The metric of K = 1 is the reference whatever its neighbours are: unless
 * passes are asked for, none. */
int bdml_candidate_again(const bdml_plan *plan, bdml_candidate c);
/* The same in the last fit. */
int bdml_last_again(const bdml_plan *plan, bdml_candidate c);

/* Numbers that are kept of a candidate on a part: its error, then the errors of bdml_votes or the misses of each
 * group. */
int bdml_candidate_width(const bdml_plan *plan);
int bdml_candidate_count(const bdml_plan *plan);
int bdml_candidate_number(const bdml_plan *plan, bdml_candidate c);
bdml_candidate bdml_candidate_at(const bdml_plan *plan, int number);

/* Errors of the candidates of a plan, part by part. */
typedef struct bdml_scores {
    const bdml_plan *plan;
    int parts;
    /* part by part, each by number of the candidate, each bdml_candidate_width numbers; NaN: not fitted */
    const double *error;
    double tested_over_trained;
    double most_error;  /* the standard error of a difference counts for no more than this */
    const double *rows; /* tested of each group, over all parts; NULL: no groups */
} bdml_scores;

/* wanted: candidates in the race; those that a part could not fit leave it. */
void bdml_summarise(const bdml_scores *s, bool *wanted, double *mean, double *se);
int bdml_best(const bdml_scores *s, const bool *wanted, const double *mean); /* -1: none */
/* Not worse than the best by more than plan->slack standard errors: the smallest K, then the error. Of classes left
 * out: the best of those that bdml_is_sure of, else the space as it is. */
int bdml_choose(const bdml_scores *s, const bool *wanted, const double *mean);
/* Better than the space as it is by more than plan->slack standard errors of the difference. */
bool bdml_is_sure(const bdml_scores *s, const bool *wanted, const double *mean, int number);
/* How many neighbours vote best under this candidate, of bdml_votes; 0: that is not ours to choose. Errors are
 * smoothed along the list, by 1/4, 1/2, 1/4, since near numbers do much alike; of equals the fewest. */
int bdml_choose_votes(const bdml_scores *s, int number);
/* The space as it is: reference none, K = 1. -1: the plan has no such candidate. */
int bdml_untouched(const bdml_plan *plan);
/* Standard error of an error rate over so many rows, both in percent. */
double bdml_rate_error(double error, int64_t rows);
/* Standard error of the difference between two candidates, over the groups where there are some, else over the parts. */
double bdml_difference_error(const bdml_scores *s, const double *mean, int a, int b);

/* ---- one fit (fit.c) ------------------------------------------------------------------------------------ */

/* Points p = R x of t, and G = Sw / tr Sw where the plan pulls by it. */
typedef struct bdml_fit {
    bdml_handle *h;
    const bdml_plan *plan;
    const bdml_training *t;
    bdml_reference reference;
    bdml_image image; /* of the points of t under the reference, where that is not none */
    bdml_rows points; /* p: the image, or the points of t themselves */
    const double *p;  /* they, where they are held: those of a part are */
    double *g;        /* or NULL: mean over the target pairs */
    double g_scale;   /* 1 / tr Sw */
    int64_t anchors;  /* random points that the recipe gives constraints */
    int again;        /* times that neighbours are mined again, this one included, */
    bool mined_last;  /* and whether that is the last */
} bdml_fit;

/* Reference and points, without g. shared: as of bdml_reference_make. whole: f->p is wanted. */
bdml_status bdml_fit_open(bdml_handle *h, const bdml_plan *plan, const bdml_training *t,
                          bdml_reference_kind kind, bdml_whitening *shared, bool whole,
                          bdml_fit *f);
void bdml_fit_close(bdml_fit *f);
/* G = Sw / tr Sw of these points, d x d, the caller's, and 1 / tr Sw. */
bdml_status bdml_within_pull(bdml_handle *h, const bdml_training *points, double **g,
                             double *scale);
/* f->g, where the plan pulls by it. */
bdml_status bdml_fit_pull(bdml_fit *f);

/* Constraints of the first pass (before NULL), or those of the next: `before`, and neighbours under the metric m.
 * *own: the caller's to free, or NULL: *c is that of f->t. */
bdml_status bdml_fit_constraints(const bdml_fit *f, const bdml_constraints *before, const double *m,
                                 const bdml_constraints **c, bdml_constraints **own);
/* The problem of these constraints and the settings of its solves but for weight, K and the start. Not precise: to a
 * gap that ranks candidates. */
bdml_status bdml_fit_problem(const bdml_fit *f, const bdml_constraints *c, bool precise,
                             bdml_problem **problem, bdml_solve_settings *s);
/* This weight of missed margins, into the settings. */
bdml_status bdml_fit_weigh(const bdml_fit *f, const bdml_constraints *c, bdml_problem *problem,
                           double weight, bdml_solve_settings *s);
/* By the certified engine, or by the paper's algorithm when the setting "solver" says so. Metrics are full
 * matrices here, those of a diagonal problem too. Only precise solves are kept by checkpoints: others end at a limit of
 * our own, soon. */
bdml_status bdml_fit_solve(const bdml_fit *f, const bdml_constraints *c, bdml_problem *problem,
                           bool precise, bdml_solve_settings *s, bdml_solve_result *r);

/* *m, r numbers, becomes the diagonal matrix of them. */
bdml_status bdml_widen(bdml_handle *h, int r, double **m);

/* ---- all solves of a fit (sweep.c) --------------------------------------------------------------------- */

/* A problem that is solved for one weight after the other and caps ascending, each from the metric before. */
typedef struct bdml_chain {
    const bdml_constraints *c;
    bdml_constraints *own; /* c, or NULL: the caller's */
    bool precise;
    const double *start; /* metric that its first solve starts from, or NULL */
    bool warm;           /* that of a model (warm.h), which has multipliers too */
    bdml_problem *problem;
    bdml_solve_settings s; /* of the last solve */
    bdml_solve_result r;
    bool solved;
} bdml_chain;

typedef struct bdml_sweep {
    bdml_fit *fit;
    const bool *wanted;  /* efforts rows of caps: to be solved */
    bool precise;        /* those to the gap asked for */
    int more;            /* times more that neighbours are mined, where they are mined again */
    const double *start; /* metric of a model that all this starts from, or NULL */
    /* After each solve. last: of what is wanted; else one on the way, that is only mined under. NULL: nobody asks. */
    bdml_status (*solved)(void *user, const bdml_fit *f, bool last, int effort, int cap,
                          const bdml_solve_result *r);
    /* Is what is wanted of an effort worth its solves, after the efforts before? NULL: it is. */
    bool (*worth)(void *user, const bdml_fit *f, int effort);
    void *user;

    double *under; /* metric of the mining cap and weight, when a candidate was that; else NULL */
    bdml_chain first, later[2];
    bdml_chain *last; /* the one that was solved last, or NULL */
    int passes_done; /* of more that were wanted, where clock or user cut the next one short; else 0 */
} bdml_sweep;

bdml_status bdml_sweep_run(bdml_sweep *w);
void bdml_sweep_free(bdml_sweep *w);
/* There is a metric other than M = 0. */
bool bdml_is_usable(const bdml_solve_result *r);

/* ---- parts (part.c) -------------------------------------------------------------------------------------- */

/* What jobs on the same part find for each other. None of it changes a result, but its time. */
typedef struct bdml_part_shared {
    bdml_whitening whitening;
    pthread_mutex_t lock;
    int32_t *near; /* neighbours of the rows left out under the metric judged last, or NULL */
} bdml_part_shared;

/* Rows or pairs to learn from, rows or pairs left out. */
typedef struct bdml_part {
    bdml_training t;               /* to learn from */
    int64_t test;                  /* rows left out */
    int64_t *count;                /* of them by class, its own; NULL: pairs */
    int64_t single;                /* of them alone in their class */
    double rows[BDML_PLAN_GROUPS]; /* the others, by group */
    const double *vx;
    const int32_t *vy;
    bdml_labelled_pairs learned, left_out; /* pairs likewise */
    /* what it owns of the above */
    double *own_x, *own_vx;
    int32_t *own_y, *own_vy;
    bdml_constraints *own_constraints;
    bdml_part_shared *shared; /* or NULL: nothing is */
} bdml_part;

/* Training data split into parts, once or several times over. */
typedef struct bdml_parts {
    int splits; /* parts of one repeat */
    int count;
    int first; /* parts of the first round */
    bdml_part *part;
} bdml_parts;

bdml_status bdml_parts_make(bdml_handle *h, const bdml_plan *plan, const bdml_training *t,
                            bdml_parts *out);
void bdml_parts_free(bdml_parts *parts);
void bdml_part_free(bdml_part *part); /* what it owns */

/* ---- scores (score.c) -------------------------------------------------------------------------------------- */

/* Numbers of neighbours that vote on rows left out, ascending. */
extern const int bdml_votes[BDML_PLAN_VOTES];

/* Scores of one (part, reference): bdml_candidate_width numbers at (score * efforts + effort) * caps + cap, left alone
 * where no fit was possible or wanted (efforts rows of caps). K = 1 is the reference itself, whatever the effort.
 * known: the best error of any reference alone on this part; candidates that are far behind are then left alone too.
 * NaN: none is. */
bdml_status bdml_score_part(bdml_handle *h, const bdml_plan *plan, const bdml_part *part,
                            int reference, const bool *wanted, double known, double *error);

/* ---- selection (select.c) ------------------------------------------------------------------------------------ */

/* What was tried and what came out. */
typedef struct bdml_selection {
    int chosen; /* number of the candidate */
    int votes;  /* neighbours that vote best under it, 0: that was not to be chosen */
    bool late;  /* time cut it short: chosen from what was known by then */
    int candidates;
    double *mean,
        *se;    /* error of each in percent, NaN: could not be fitted; and its standard error */
    int *parts; /* that it was scored on */
    int alone;  /* references scored alone: */
    bdml_reference_kind alone_kind[BDML_REFERENCE_KINDS];
    double alone_error[BDML_REFERENCE_KINDS];
    int alone_parts[BDML_REFERENCE_KINDS];
    /* Classes left out: the space as it is (-1: no candidate), and against it what was chosen, or the best. */
    int untouched, best;
    double gain, gain_error; /* errors less, in percent, and the standard error of that */
} bdml_selection;

/* By cross-validation; leaves one reference of each family in the plan. */
bdml_status bdml_select(bdml_handle *h, bdml_plan *plan, const bdml_training *t,
                        bdml_selection *out);
void bdml_selection_free(bdml_selection *s);

/* ---- claim (claim.c) ------------------------------------------------------------------------------------------ */

/* A solved problem, with all that is needed to write down what was proven. */
typedef struct bdml_solved {
    const bdml_reference *reference;
    const bdml_constraints *constraints;
    const bdml_solve_settings *settings;
    const bdml_solve_result *result;
    bool diagonal;
    bdml_pull pull;
    double g_scale;
} bdml_solved;

/* Put metric, evidence and the "certificate" of the description into the model. BDML_ERR_INFEASIBLE
 * when the result proves that, with what contradicts what on the handle; a collapse to M = 0 is
 * BDML_ERR_DATA with the reason. */
bdml_status bdml_claim_result(bdml_handle *h, const bdml_solved *s, bdml_model *model);
/* Fails with BDML_ERR_INFEASIBLE and what the evidence proves. */
bdml_status bdml_say_infeasible(bdml_handle *h, const bdml_evidence *e);

/* ---- proof (prove.c) ------------------------------------------------------------------------------------------ */

/* Put the claim of a trained model before the prover, and claim what it proves and no more. BDML_ERR_INFEASIBLE: it
 * is a proof; BDML_ERR_DATA, with what would help: the digits of doubles are too few to prove anything. The deadline
 * leaves a model without a claim. */
bdml_status bdml_prove_claim(bdml_handle *h, const bdml_dataset *data, bdml_model *model);

/* ---- the last fit (final.c) ------------------------------------------------------------------------------------ */

/* The candidate of a plan, chosen where there are several, fitted on everything. */
typedef struct bdml_final {
    bdml_selection selection; /* candidates 0: there was nothing to choose */
    bdml_candidate at;
    bool taken; /* the choice of a model (warm.h), without any score; selection.votes is its too */
    bdml_fit fit;
    double *start;    /* its metric, or NULL */
    bdml_sweep sweep; /* sweep.last: its problem and result */
} bdml_final;
bdml_status bdml_final_fit(bdml_handle *h, bdml_plan *plan, const bdml_training *t, bdml_final *f);
void bdml_final_free(bdml_final *f);

/* t holds the points Qx of these (Q: model->d columns), or map NULL: the prepared points themselves. */
typedef struct bdml_mapped {
    int rows;
    const double *map; /* rows of model->d */
} bdml_mapped;
/* The same, and its claim, into the model. */
bdml_status bdml_fit_plan(bdml_handle *h, bdml_plan *plan, const bdml_training *t, bdml_mapped by,
                          bdml_model *model);

/* A metric of the rank that the setting "rank" says (lowrank.c). */
bdml_status bdml_fit_lowrank(bdml_handle *h, bdml_plan *plan, const bdml_training *t,
                             bdml_model *model);
enum { BDML_MANY_ROWS = 5000 };
/* Rows of n that a mining of the recipe looks for the neighbours of, many rows given (fit.c). */
double bdml_recipe_anchors(double n);
/* Constraints and pairs of the recipe's last problem on n rows at most, and the bytes that a fold of the choice takes (fit.c); asked: the
 * setting anchors, 0 where it is left open. */
void bdml_recipe_most(double n, double asked, double *m, double *pairs, double *choice);
/* BDML_ERR_MEMORY when the proof of the claim would take more memory than there is for it: asked before anything is learned. */
bdml_status bdml_proof_fits(bdml_handle *h, const bdml_options *o, const bdml_training *t);
/* The method (method.c). */
bdml_need bdml_need_bdml(const bdml_handle *h, const bdml_options *o, const bdml_training *t);
bdml_status bdml_fit_bdml(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                          bdml_model *model);

#endif
