/* verify_report.c - the result of a verification as JSON: means over the folds with their standard
 * errors, the curve averaged over the folds at equal false-positive rates, differences fold by fold. */
#include "evaluate/evaluate.h"

#include <stdlib.h>

/* v[f] = one figure of every fold. */
typedef double (*figure)(const bdml_verified *v);

static double accuracy(const bdml_verified *v)
{
    return v->accuracy;
}
static double auc(const bdml_verified *v)
{
    return v->roc.auc;
}
static double eer(const bdml_verified *v)
{
    return 100.0 * v->roc.eer;
}
static double kappa(const bdml_verified *v)
{
    return v->kappa;
}
static double kappa_on_range(const bdml_verified *v)
{
    return v->kappa_on_range;
}
static double fit_seconds(const bdml_verified *v)
{
    return v->fit_seconds;
}
static double threshold(const bdml_verified *v)
{
    return v->threshold;
}

static void take(int folds, const bdml_verified *fold, figure what, double *v)
{
    for (int f = 0; f < folds; f++) v[f] = what(&fold[f]);
}

static double standard_error(int n, const double *v)
{
    return n > 0 ? bdml_sample_std(n, v) / sqrt(n) : NAN;
}

/* Mean; an infinite one (a singular metric) is null: JSON has no infinity. */
static json_t *mean_of(int n, const double *v)
{
    return bdml_real_json(bdml_mean(n, v));
}

static json_t *curve(int folds, const bdml_verified *fold)
{
    json_t *fp = json_array(), *tp = json_array();
    for (int k = 0; k < BDML_ROC_POINTS; k++) {
        double sum = 0.0;
        for (int f = 0; f < folds; f++) sum += fold[f].roc.tp[k];
        bdml_json_push(&fp, json_real(bdml_roc_rate(k)));
        bdml_json_push(&tp, json_real(sum / folds));
    }
    return json_pack("{s:o, s:o}", "false_positive", fp, "true_positive", tp);
}

/* What the method chose in each fold, the long tables of what was tried left out. */
static json_t *chosen(int folds, const bdml_verified *fold)
{
    json_t *list = json_array();
    for (int f = 0; f < folds; f++) {
        json_t *one = fold[f].chosen ? json_copy(fold[f].chosen) : json_null();
        if (json_is_object(one)) json_object_del(one, "tried");
        bdml_json_push(&list, one);
    }
    return list;
}

static json_t *score_json(const bdml_verify_setup *s, const bdml_verify_score *m, double *v)
{
    int n = s->pairs.folds;
    json_t *o = json_pack("{s:s}", "method", m->method->name);
    take(n, m->fold, accuracy, v);
    bdml_json_put(&o, "accuracy_mean", mean_of(n, v));
    bdml_json_put(&o, "accuracy_se", json_real(standard_error(n, v)));
    bdml_json_put(&o, "accuracies", bdml_numbers_json(n, v));
    take(n, m->fold, auc, v);
    bdml_json_put(&o, "auc", mean_of(n, v));
    bdml_json_put(&o, "auc_se", json_real(standard_error(n, v)));
    take(n, m->fold, eer, v);
    bdml_json_put(&o, "eer", mean_of(n, v));
    bdml_json_put(&o, "eer_se", json_real(standard_error(n, v)));
    take(n, m->fold, kappa, v);
    bdml_json_put(&o, "kappa", mean_of(n, v));
    take(n, m->fold, kappa_on_range, v);
    if (isfinite(bdml_mean(n, v))) bdml_json_put(&o, "kappa_on_range", mean_of(n, v));
    take(n, m->fold, threshold, v);
    bdml_json_put(&o, "thresholds", bdml_numbers_json(n, v));
    take(n, m->fold, fit_seconds, v);
    bdml_json_put(&o, "fit_seconds", mean_of(n, v));
    if (m->fold[0].chosen) bdml_json_put(&o, "chosen", chosen(n, m->fold));
    bdml_json_put(&o, "roc", curve(n, m->fold));
    return o;
}

static int best_method(const bdml_verify_setup *s, double *v)
{
    int best = 0;
    double top = -INFINITY;
    for (int m = 0; m < s->methods; m++) {
        take(s->pairs.folds, s->score[m].fold, accuracy, v);
        double mean = bdml_mean(s->pairs.folds, v);
        if (mean > top) top = mean, best = m;
    }
    return best;
}

/* Accuracy of the best method less that of each other one, paired by fold, with Student's t. */
static json_t *differences(const bdml_verify_setup *s, int best, double *v)
{
    json_t *list = json_array();
    int n = s->pairs.folds;
    for (int m = 0; m < s->methods; m++) {
        if (m == best) continue;
        for (int f = 0; f < n; f++)
            v[f] = s->score[best].fold[f].accuracy - s->score[m].fold[f].accuracy;
        double mean = bdml_mean(n, v), se = standard_error(n, v);
        bdml_json_push(&list,
                       json_pack("{s:s, s:s, s:f, s:f, s:o}", "method", s->score[best].method->name,
                                 "against", s->score[m].method->name, "difference", mean,
                                 "standard_error", se, "t",
                                 se > 0.0 ? json_real(mean / se) : json_null()));
    }
    return list;
}

static json_t *describe_setup(const bdml_options *o, const bdml_verify_setup *s)
{
    static const char *const dealt[] = {"given", "dealt, no row in two", "dealt at random"};
    int64_t same = 0;
    for (int64_t k = 0; k < s->pairs.count; k++) same += s->pairs.same[k];
    json_t *root = json_pack("{s:I, s:i, s:o, s:I, s:I, s:I, s:i, s:s, s:o, s:f, s:o, s:I}",
                             "points", (json_int_t)s->data->n, "dimension", s->data->d,
                             "pairs_file", bdml_json_text(o->constraints.pairs_file.value), "pairs",
                             (json_int_t)s->pairs.count, "same", (json_int_t)same, "rows",
                             (json_int_t)s->rows, "folds", s->pairs.folds, "folds_are",
                             dealt[!s->dealt  ? 0
                                   : s->apart ? 1
                                              : 2],
                             "scale", bdml_word_json(BDML_WORDS(SCALE), o->prepare.scale.value),
                             "pca", o->prepare.pca.value, "pca_on",
                             bdml_word_json(BDML_WORDS(PCA_ON), o->verify.pca_on.value), "seed",
                             (json_int_t)o->general.seed.value);
    if (s->data->source) bdml_json_put(&root, "data", bdml_json_text(s->data->source));
    if (s->z) {
        bdml_json_put(&root, "prepared_dimension", json_integer(s->d));
        bdml_json_put(&root, "pca_variance", json_real(s->variance));
    }
    return root;
}

bdml_status bdml_verify_write(bdml_handle *h, const bdml_options *o, const bdml_verify_setup *s,
                              char **json)
{
    double *v = bdml_calloc(h, (size_t)s->pairs.folds, sizeof *v);
    if (!v) return BDML_ERR_MEMORY;
    json_t *root = describe_setup(o, s), *list = json_array();
    for (int m = 0; m < s->methods; m++) bdml_json_push(&list, score_json(s, &s->score[m], v));
    int best = best_method(s, v);
    bdml_json_put(&root, "best", json_string(s->score[best].method->name));
    bdml_json_put(&root, "methods", list);
    bdml_json_put(&root, "differences", differences(s, best, v));
    free(v);
    return bdml_result_text(h, root, json);
}
