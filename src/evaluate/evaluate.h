/* evaluate.h - how good is a metric? Methods side by side on the same splits.
 *
 * Called by the command; calls train, model, neighbors, data and below. */
#ifndef BDML_EVALUATE_H
#define BDML_EVALUATE_H

#include "stats/stats.h"
#include "train/train.h"

/* ---- scores (scores.c) -------------------------------------------------------------------------- */

/* One method over all splits. */
typedef struct bdml_score {
    const bdml_method *method;
    int splits;
    double *error;            /* percent, per split */
    double *kappa;            /* per split */
    double *fit_seconds;      /* per split */
    json_t **chosen;          /* per split: what was chosen inside the training rows, or NULL */
    bdml_confusion confusion; /* summed over the splits */

    int failed; /* the first split that the method refused; splits: none */
    bdml_status status;
    char reason[BDML_ERROR_SIZE];
} bdml_score;

/* The methods of the setting "methods", a list "a,b,c", or of "method" when that is unset; "all": those that
 * learn from `uses` and need no second domain. BDML_ERR_ARGUMENT for a name that is none. */
bdml_status bdml_methods_listed(bdml_handle *h, const bdml_options *o, bdml_uses uses, int *count,
                                const bdml_method ***out);
bdml_status bdml_scores_new(bdml_handle *h, int count, const bdml_method *const *method, int splits,
                            int classes, bdml_score **out);
void bdml_scores_free(int count, bdml_score *score);
/* What the model of a split chose inside its training rows, less the account of how. */
bdml_status bdml_score_keep_choice(bdml_handle *h, const bdml_model *model, int split,
                                   bdml_score *score);
/* The method ended a split with `status`. Refused, as opposed to broken off or broken, is BDML_OK: the
 * reason of the first split counts, whichever was run first. Anything else is returned. */
bdml_status bdml_score_settle(bdml_handle *own, bdml_status status, int split, bdml_score *score);
/* After jobs that were dealt out to ranks: what every rank has of it becomes that of all (ranks.c). */
bdml_status bdml_scores_gather(bdml_handle *h, int methods, bdml_score *score);
/* The time limit may have ended the jobs early (job = split * methods + method): the splits that every method has
 * finished are kept, *splits of them, which kept[] lists; a method that finished none is out. Says so, and
 * BDML_ERR_CANCELLED when nothing is left. */
bdml_status bdml_scores_keep(bdml_handle *h, int methods, bdml_score *score, const bool *finished,
                             int *splits, int *kept);
/* Share of the time left that splits may take: the rest is for the result. */
#define BDML_EVALUATE_BY 0.97
/* When every method refused there is no result: the first says why. */
bdml_status bdml_scores_any(bdml_handle *h, int count, const bdml_score *score);
/* BDML_ERR_ARGUMENT when a setting names a file of constraints. */
bdml_status bdml_refuse_constraint_files(bdml_handle *h, const bdml_constraint_options *o,
                                         const char *command);
/* BDML_ERR_ARGUMENT when a checkpoint is asked for: those are for one training, here are many. */
bdml_status bdml_refuse_checkpoint(bdml_handle *h, const bdml_train_options *o);
json_t *bdml_real_json(double v);                      /* null when not finite */
json_t *bdml_word_json(const char *words, int choice); /* one of BDML_WORDS(...) */
json_t *bdml_numbers_json(int n, const double *v);     /* a list of bdml_real_json */
json_t *bdml_classes_json(const bdml_dataset *data);   /* names of its classes */
/* The text of a result, which is freed; BDML_ERR_MEMORY when root is NULL. */
bdml_status bdml_result_text(bdml_handle *h, json_t *root, char **json);
/* Per class, in percent; null for a class that was never tested. */
json_t *bdml_recall_json(const bdml_confusion *c);

/* ---- result (result.c) --------------------------------------------------------------------------- */

/* How the rows were split, for the report. */
typedef struct bdml_protocol {
    const bdml_dataset *data;
    int splits, folds;   /* folds 0: random splits */
    int64_t train, test; /* rows of the first split */
} bdml_protocol;

/* What every report of a method holds. A method that refused: {method, error, status}; else {method, kappa,
 * fit_seconds, chosen, kappas, chosen_per_split}. */
json_t *bdml_refusal_json(const bdml_score *s);
json_t *bdml_fits_json(const bdml_score *s);
/* A paired comparison with `method`; random: over random splits, which share rows. */
json_t *bdml_versus_json(const char *method, const bdml_paired *c, bool random);
bdml_status bdml_evaluate_write(bdml_handle *h, const bdml_options *o,
                                const bdml_protocol *protocol, int methods, const bdml_score *score,
                                char **json);

/* ---- rankings (ranking.c) --------------------------------------------------------------------------- */

typedef enum bdml_ranking_measure {
    BDML_RECALL_1,
    BDML_RECALL_5,
    BDML_RECALL_10,
    BDML_PRECISION_5,
    BDML_PRECISION_10,
    BDML_FOUND_10,
    BDML_R_PRECISION,
    BDML_MAP_R,
    BDML_MRR_10,
    BDML_NDCG_10,
    BDML_RANKING_MEASURES
} bdml_ranking_measure;
extern const char *const bdml_ranking_keys[BDML_RANKING_MEASURES]; /* "recall_at_1", ... */

enum { BDML_RANKING_CUT = 10 }; /* how far the measures look that do not go by R */

/* One query: grades of the `depth` rows nearest to it, without itself and nearest first; 0: does not belong to it.
 * `relevant` >= 1 rows of all do, whose largest grades are best[0] >= best[1] ...; depth >= 1 is at least that, and 10
 * where there are so many rows. measure: 0 .. 1. */
void bdml_rank_query(int64_t depth, const double *grade, int64_t relevant, const double *best,
                     double *measure);

typedef struct bdml_ranking {
    int64_t queries;                       /* that something belongs to */
    double measure[BDML_RANKING_MEASURES]; /* percent, mean over them; NaN when there are none */
} bdml_ranking;
/* Each query (NULL: each row of the corpus, without itself) looks among the rows of the corpus for those of its class,
 * or with answers (lines by query) for those that they name. */
bdml_status bdml_rank(bdml_handle *h, const bdml_neighbor_options *o, const bdml_rows *corpus,
                      const bdml_rows *queries, const bdml_answers *answers, bdml_ranking *out);

/* ---- groups (kmeans.c, clustering.c) --------------------------------------------------------------------- */

/* k <= n groups of the points, each about its mean: group[i] in 0 .. k-1, and the sum of squared distances to the means. */
bdml_status bdml_kmeans(bdml_handle *h, const bdml_rows *x, int k, uint64_t seed, int32_t *group,
                        double *energy);

typedef struct bdml_agreement {
    double nmi, ari; /* at most 1 */
} bdml_agreement;
/* Of n >= 1 points with the classes y and the groups given. */
bdml_status bdml_compare_groups(bdml_handle *h, int64_t n, int classes, const int32_t *y,
                                int groups, const int32_t *group, bdml_agreement *out);

/* ---- verification of pairs (verify.c, verify_report.c, roc.c) ------------------------------------------- */

enum { BDML_ROC_POINTS = 201 };

typedef struct bdml_roc {
    double auc, eer; /* 0 .. 1 */
    double
        tp[BDML_ROC_POINTS]; /* true-positive rate at the false-positive rates of bdml_roc_rate */
} bdml_roc;
double bdml_roc_rate(int k); /* k / (BDML_ROC_POINTS - 1) */
bdml_status bdml_roc_measure(bdml_handle *h, int64_t count, const double *score,
                             const int32_t *same, bdml_roc *roc);

/* One fold tested with one method. */
typedef struct bdml_verified {
    double accuracy, train_accuracy; /* percent, at a threshold from the training folds */
    double threshold, kappa, fit_seconds;
    double kappa_on_range; /* of a metric of low rank, whose kappa is infinite; else NaN */
    bdml_roc roc;
    json_t *chosen; /* what the method chose by itself, or NULL */
} bdml_verified;

/* One method over all folds. */
typedef struct bdml_verify_score {
    const bdml_method *method;
    bdml_verified *fold;
} bdml_verify_score;

/* What all folds share. */
typedef struct bdml_verify_setup {
    const bdml_options *options; /* what the user set */
    bdml_options training;       /* the same for the training of prepared points */
    const bdml_dataset *data;
    bdml_labelled_pairs pairs; /* rows numbered among `row` */
    int64_t rows;              /* that pairs name */
    int64_t *row;              /* of the data, ascending */
    int d;                     /* prepared dimension, of the last fold when each has its own */
    double variance;           /* that PCA kept, likewise */
    double *z;                 /* the rows prepared, or NULL: each fold prepares its own */
    bool dealt, apart;         /* folds were dealt by us; no row is in two of them */
    int methods;
    bdml_verify_score *score;
} bdml_verify_setup;

/* The result as JSON text (verify_report.c). */
bdml_status bdml_verify_write(bdml_handle *h, const bdml_options *o, const bdml_verify_setup *s,
                              char **json);

#endif
