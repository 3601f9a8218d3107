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

static json_t *list_of(int n, const double *v)
{
    json_t *list = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(list, isfinite(v[i]) ? json_real(v[i]) : json_null());
    return list;
}

/* Mean; an infinite one (a singular metric) is null: JSON has no infinity. */
static json_t *mean_of(int n, const double *v)
{
    double mean = bdml_mean(n, v);
    return isfinite(mean) ? json_real(mean) : json_null();
}

static json_t *curve(int folds, const bdml_verified *fold)
{
    json_t *fp = json_array(), *tp = json_array();
    for (int k = 0; k < BDML_ROC_POINTS; k++) {
        double sum = 0.0;
        for (int f = 0; f < folds; f++) sum += fold[f].roc.tp[k];
        json_array_append_new(fp, json_real(bdml_roc_rate(k)));
        json_array_append_new(tp, json_real(sum / folds));
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
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *score_json(const bdml_verify_setup *s, const bdml_verify_score *m, double *v)
{
    int n = s->pairs.folds;
    json_t *o = json_pack("{s:s}", "method", m->method->name);
    take(n, m->fold, accuracy, v);
    json_object_set_new(o, "accuracy_mean", mean_of(n, v));
    json_object_set_new(o, "accuracy_se", json_real(standard_error(n, v)));
    json_object_set_new(o, "accuracies", list_of(n, v));
    take(n, m->fold, auc, v);
    json_object_set_new(o, "auc", mean_of(n, v));
    json_object_set_new(o, "auc_se", json_real(standard_error(n, v)));
    take(n, m->fold, eer, v);
    json_object_set_new(o, "eer", mean_of(n, v));
    json_object_set_new(o, "eer_se", json_real(standard_error(n, v)));
    take(n, m->fold, kappa, v);
    json_object_set_new(o, "kappa", mean_of(n, v));
    take(n, m->fold, threshold, v);
    json_object_set_new(o, "thresholds", list_of(n, v));
    take(n, m->fold, fit_seconds, v);
    json_object_set_new(o, "fit_seconds", mean_of(n, v));
    if (m->fold[0].chosen) json_object_set_new(o, "chosen", chosen(n, m->fold));
    json_object_set_new(o, "roc", curve(n, m->fold));
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
        json_array_append_new(list, json_pack("{s:s, s:s, s:f, s:f, s:o}", "method",
                                              s->score[best].method->name, "against",
                                              s->score[m].method->name, "difference", mean,
                                              "standard_error", se, "t",
                                              se > 0.0 ? json_real(mean / se) : json_null()));
    }
    return list;
}

static json_t *describe_setup(bdml_handle *h, const bdml_verify_setup *s)
{
    static const char *const dealt[] = {"given", "dealt, no row in two", "dealt at random"};
    int64_t same = 0;
    for (int64_t k = 0; k < s->pairs.count; k++) same += s->pairs.same[k];
    json_t *o =
        json_pack("{s:I, s:i, s:o, s:I, s:I, s:I, s:i, s:s, s:s, s:f, s:s, s:I}", "points",
                  (json_int_t)s->data->n, "dimension", s->data->d, "pairs_file",
                  bdml_json_text(bdml_opt_text(h, BDML_OPT_PAIRS_FILE)), "pairs",
                  (json_int_t)s->pairs.count, "same", (json_int_t)same, "rows", (json_int_t)s->rows,
                  "folds", s->pairs.folds, "folds_are",
                  dealt[!s->dealt  ? 0
                        : s->apart ? 1
                                   : 2],
                  "scale", bdml_opt_text(h, BDML_OPT_SCALE), "pca", bdml_opt_real(h, BDML_OPT_PCA),
                  "pca_on", bdml_opt_text(h, BDML_OPT_PCA_ON), "seed",
                  (json_int_t)bdml_opt_int(h, BDML_OPT_SEED));
    if (o && s->data->source) json_object_set_new(o, "data", bdml_json_text(s->data->source));
    if (o && s->z) {
        json_object_set_new(o, "prepared_dimension", json_integer(s->d));
        json_object_set_new(o, "pca_variance", json_real(s->variance));
    }
    return o;
}

bdml_status bdml_verify_write(bdml_handle *h, const bdml_verify_setup *s, char **json)
{
    double *v = bdml_calloc(h, (size_t)s->pairs.folds, sizeof *v);
    if (!v) return BDML_ERR_MEMORY;
    json_t *root = describe_setup(h, s), *list = json_array();
    for (int m = 0; m < s->methods; m++)
        json_array_append_new(list, score_json(s, &s->score[m], v));
    int best = best_method(s, v);
    json_object_set_new(root, "best", json_string(s->score[best].method->name));
    json_object_set_new(root, "methods", list);
    json_object_set_new(root, "differences", differences(s, best, v));
    *json = root ? json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) : NULL;
    json_decref(root);
    free(v);
    return *json ? BDML_OK
                 : bdml_fail(h, BDML_ERR_MEMORY, "out of memory while writing the result");
}
