/* choices.h - the words that settings may be, and their numbers.
 *
 * BDML_SCALE_CHOICES lists the words of the setting "scale" once; from it come the type bdml_scaling with
 * BDML_SCALE_NONE = 0, BDML_SCALE_ZSCORE = 1, ..., and the text "none|zscore|..." of the table. */
#ifndef BDML_CHOICES_H
#define BDML_CHOICES_H

#define BDML_FORMAT_CHOICES(X)      \
    X(FORMAT, AUTO, "auto")         \
    X(FORMAT, CSV, "csv")           \
    X(FORMAT, TSV, "tsv")           \
    X(FORMAT, SVMLIGHT, "svmlight") \
    X(FORMAT, NPY, "npy")           \
    X(FORMAT, NPZ, "npz") X(FORMAT, MAT, "mat") X(FORMAT, ARFF, "arff") X(FORMAT, IDX, "idx")
#define BDML_AUTO_CHOICES(X)    X(AUTO, AUTO, "auto") X(AUTO, YES, "yes") X(AUTO, NO, "no")
#define BDML_STORAGE_CHOICES(X) X(STORAGE, FLOAT64, "float64") X(STORAGE, FLOAT32, "float32")
#define BDML_DECIMAL_CHOICES(X) X(DECIMAL, POINT, ".") X(DECIMAL, COMMA, ",")
#define BDML_ENCODE_CHOICES(X)  X(ENCODE, NONE, "none") X(ENCODE, ONEHOT, "onehot")
#define BDML_INDEX_BASE_CHOICES(X) \
    X(INDEX_BASE, AUTO, "auto") X(INDEX_BASE, 0, "0") X(INDEX_BASE, 1, "1")
#define BDML_MISSING_CHOICES(X) \
    X(MISSING, ERROR, "error") X(MISSING, DROP, "drop") X(MISSING, MEAN, "mean")
#define BDML_SCALE_CHOICES(X)  \
    X(SCALE, NONE, "none")     \
    X(SCALE, ZSCORE, "zscore") \
    X(SCALE, MINMAX, "minmax") X(SCALE, UNIT, "unit") X(SCALE, AUTO, "auto")
#define BDML_SEARCH_CHOICES(X) \
    X(SEARCH, AUTO, "auto")    \
    X(SEARCH, BRUTE, "brute") X(SEARCH, TREE, "tree") X(SEARCH, APPROXIMATE, "approximate")
#define BDML_CANDIDATES_CHOICES(X) X(CANDIDATES, DOUBLE, "double") X(CANDIDATES, FLOAT, "float")
#define BDML_KIND_CHOICES(X)       X(KIND, PAIR, "pair") X(KIND, TRIPLET, "triplet")
#define BDML_RULE_CHOICES(X) \
    X(RULE, AUTO, "auto") X(RULE, CLASS, "class") X(RULE, NEAREST, "nearest") X(RULE, BALL, "ball")
#define BDML_RECIPE_CHOICES(X) X(RECIPE, DEFAULT, "default") X(RECIPE, PAPER, "paper")
#define BDML_TASK_CHOICES(X) \
    X(TASK, CLASSIFY, "classify") X(TASK, RETRIEVE, "retrieve") X(TASK, CLUSTER, "cluster")
#define BDML_UNSEEN_CHOICES(X) X(UNSEEN, CLASSES, "classes") X(UNSEEN, ROWS, "rows")
#define BDML_LOSS_CHOICES(X)   X(LOSS, SQUARED_HINGE, "squared-hinge") X(LOSS, HINGE, "hinge")
#define BDML_SOLVER_CHOICES(X) \
    X(SOLVER, ENGINE, "engine") X(SOLVER, MWU, "mwu") X(SOLVER, MWU_CONE, "mwu-cone")
#define BDML_ROW_SCALING_CHOICES(X) \
    X(ROW_SCALING, AUTO, "auto")    \
    X(ROW_SCALING, NONE, "none")    \
    X(ROW_SCALING, OBJECTIVE, "objective") X(ROW_SCALING, WIDTH, "width")
#define BDML_LAMBDA_CHOICES(X) X(LAMBDA, FULL, "full") X(LAMBDA, DIAGONAL, "diagonal")
#define BDML_Q_STEP_CHOICES(X)      \
    X(Q_STEP, MANIFOLD, "manifold") \
    X(Q_STEP, HULL, "hull") X(Q_STEP, PAPER, "paper") X(Q_STEP, NONE, "none")
#define BDML_Q_RULE_CHOICES(X)   X(Q_RULE, SCALE_FREE, "scale-free") X(Q_RULE, PAPER, "paper")
#define BDML_Q_SOURCE_CHOICES(X) X(Q_SOURCE, MWU, "mwu") X(Q_SOURCE, ENGINE, "engine")
#define BDML_BOOST_FORM_CHOICES(X) \
    X(BOOST_FORM, CORRECTIVE, "corrective") X(BOOST_FORM, STAGEWISE, "stagewise")
#define BDML_NCA_START_CHOICES(X) \
    X(NCA_START, AUTO, "auto")    \
    X(NCA_START, IDENTITY, "identity") X(NCA_START, PCA, "pca") X(NCA_START, LDA, "lda")
#define BDML_PRIOR_CHOICES(X) X(PRIOR, IDENTITY, "identity") X(PRIOR, COVARIANCE, "covariance")
#define BDML_PAIR_SCORE_CHOICES(X) \
    X(PAIR_SCORE, AUTO, "auto") X(PAIR_SCORE, DISTANCE, "distance") X(PAIR_SCORE, COSINE, "cosine")
#define BDML_ADAPT_ROWS_CHOICES(X) \
    X(ADAPT_ROWS, ROOT, "root")    \
    X(ADAPT_ROWS, SUM, "sum") X(ADAPT_ROWS, UNIT, "unit") X(ADAPT_ROWS, NONE, "none")
#define BDML_COLUMN_SCALE_CHOICES(X)  \
    X(COLUMN_SCALE, ZSCORE, "zscore") \
    X(COLUMN_SCALE, CENTER, "center") X(COLUMN_SCALE, NONE, "none")
#define BDML_COLUMN_SCALE_OF_CHOICES(X)  \
    X(COLUMN_SCALE_OF, DOMAIN, "domain") \
    X(COLUMN_SCALE_OF, BOTH, "both") X(COLUMN_SCALE_OF, ALL, "all")
#define BDML_PCA_DOMAIN_CHOICES(X) \
    X(PCA_DOMAIN, BOTH, "both") X(PCA_DOMAIN, SOURCE, "source") X(PCA_DOMAIN, TARGET, "target")
#define BDML_PCA_ON_CHOICES(X) \
    X(PCA_ON, TRAIN, "train") X(PCA_ON, PAIRS, "pairs") X(PCA_ON, ALL, "all")
#define BDML_LEVEL_CHOICES(X) \
    X(LEVEL, AUTO, "auto")    \
    X(LEVEL, NUMBERS, "numbers") X(LEVEL, PROBLEM, "problem") X(LEVEL, REPEAT, "repeat")

#define BDML_CHOICE_NUMBER(list, id, word) BDML_##list##_##id,
#define BDML_CHOICE_WORD(list, id, word)   "|" word
/* "none|zscore|...": the words, each behind a bar, without the first bar */
#define BDML_WORDS(list)             (&BDML_##list##_CHOICES(BDML_CHOICE_WORD)[1])
#define BDML_CHOICE_TYPE(type, list) typedef enum { BDML_##list##_CHOICES(BDML_CHOICE_NUMBER) } type

BDML_CHOICE_TYPE(bdml_format, FORMAT);
BDML_CHOICE_TYPE(bdml_yes_no_auto, AUTO);
BDML_CHOICE_TYPE(bdml_decimal, DECIMAL);
BDML_CHOICE_TYPE(bdml_storage, STORAGE);
BDML_CHOICE_TYPE(bdml_encode, ENCODE);
BDML_CHOICE_TYPE(bdml_index_base, INDEX_BASE);
BDML_CHOICE_TYPE(bdml_missing, MISSING);
BDML_CHOICE_TYPE(bdml_scaling, SCALE);
BDML_CHOICE_TYPE(bdml_search_way, SEARCH);
BDML_CHOICE_TYPE(bdml_candidates, CANDIDATES);
BDML_CHOICE_TYPE(bdml_kind, KIND);
BDML_CHOICE_TYPE(bdml_rule, RULE);
BDML_CHOICE_TYPE(bdml_recipe, RECIPE);
BDML_CHOICE_TYPE(bdml_task, TASK);
BDML_CHOICE_TYPE(bdml_unseen, UNSEEN);
BDML_CHOICE_TYPE(bdml_loss, LOSS);
BDML_CHOICE_TYPE(bdml_solver, SOLVER);
BDML_CHOICE_TYPE(bdml_row_scaling, ROW_SCALING);
BDML_CHOICE_TYPE(bdml_lambda, LAMBDA);
BDML_CHOICE_TYPE(bdml_q_step, Q_STEP);
BDML_CHOICE_TYPE(bdml_q_rule, Q_RULE);
BDML_CHOICE_TYPE(bdml_q_source, Q_SOURCE);
BDML_CHOICE_TYPE(bdml_boost_form, BOOST_FORM);
BDML_CHOICE_TYPE(bdml_nca_start, NCA_START);
BDML_CHOICE_TYPE(bdml_prior, PRIOR);
BDML_CHOICE_TYPE(bdml_pair_score, PAIR_SCORE);
BDML_CHOICE_TYPE(bdml_adapt_rows, ADAPT_ROWS);
BDML_CHOICE_TYPE(bdml_column_scale, COLUMN_SCALE);
BDML_CHOICE_TYPE(bdml_column_scale_of, COLUMN_SCALE_OF);
BDML_CHOICE_TYPE(bdml_pca_domain, PCA_DOMAIN);
BDML_CHOICE_TYPE(bdml_pca_on, PCA_ON);
BDML_CHOICE_TYPE(bdml_level, LEVEL);

#endif
