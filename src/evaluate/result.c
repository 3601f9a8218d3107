/* result.c - the result of an evaluation as JSON: what was asked, and per method what came out.
 *
 *     {points, dimension, classes, data, settings, scale, neighbors, splits, folds, train_points,
 *      test_points, ..., methods: [{method, error_mean, error_std, kappa, fit_seconds, chosen, versus,
 *      errors, kappas, chosen_per_split, recall, confusion}]}
 *
 * The same for any number of jobs and threads, but for fit_seconds. A method that refused has `error`
 * and no figures. Where there is no number (an infinite kappa, a test of one split) stands null. */
#include "evaluate/evaluate.h"

#include <stdlib.h>

static json_t *confusion_json(const bdml_confusion *c)
{
    if (!c->count) return json_null();
    json_t *rows = json_array();
    for (int t = 0; t < c->classes; t++) {
        json_t *row = json_array();
        for (int p = 0; p < c->classes; p++)
            bdml_json_push(&row,
                           json_integer(c->count[(size_t)t * (size_t)c->classes + (size_t)p]));
        bdml_json_push(&rows, row);
    }
    return rows;
}

/* ---- choices -------------------------------------------------------------------------------------- */

/* counts[value]++, the value as text. -1: out of memory. */
static int count_value(json_t *counts, json_t *value)
{
    char number[BDML_NUMBER_SIZE];
    const char *text = json_string_value(value);
    if (json_is_integer(value))
        snprintf(number, sizeof number, "%lld", (long long)json_integer_value(value));
    if (json_is_real(value)) snprintf(number, sizeof number, "%.15g", json_real_value(value));
    if (json_is_boolean(value)) text = json_is_true(value) ? "yes" : "no";
    if (!text && !json_is_number(value)) return 0;
    if (!text) text = number;
    json_int_t before = json_integer_value(json_object_get(counts, text));
    return json_object_set_new(counts, text, json_integer(before + 1));
}

/* {setting: {value: number of splits}}, null where nothing was chosen. */
static json_t *chosen_json(const bdml_score *s)
{
    json_t *all = json_object();
    int bad = !all;
    for (int split = 0; split < s->splits; split++) {
        const char *key;
        json_t *value;
        json_object_foreach(s->chosen[split], key, value)
        {
            if (!json_object_get(all, key)) bad |= json_object_set_new(all, key, json_object());
            bad |= count_value(json_object_get(all, key), value);
        }
    }
    if (json_object_size(all) > 0 && !bad) return all;
    json_decref(all);
    return bad ? NULL : json_null();
}

static json_t *chosen_list(const bdml_score *s)
{
    json_t *list = json_array();
    for (int split = 0; split < s->splits; split++)
        bdml_json_push(&list, s->chosen[split] ? json_incref(s->chosen[split]) : json_null());
    return list;
}

/* ---- comparison ----------------------------------------------------------------------------------- */

static const bdml_score *best_rival(int methods, const bdml_score *score, const bdml_score *of)
{
    const bdml_score *best = NULL;
    double least = INFINITY;
    for (int m = 0; m < methods; m++) {
        const bdml_score *s = &score[m];
        if (s == of || s->failed < s->splits) continue;
        double mean = bdml_mean(s->splits, s->error);
        if (mean < least) {
            least = mean;
            best = s;
        }
    }
    return best;
}

json_t *bdml_versus_json(const char *method, const bdml_paired *c, bool random)
{
    return json_pack("{s:s, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:i, s:i, s:i}", "method", method,
                     "difference", bdml_real_json(c->difference), "standard_error",
                     bdml_real_json(c->error), "standard_error_corrected",
                     random ? bdml_real_json(c->error_corrected) : json_null(), "test",
                     random ? "corrected resampled t" : "paired t", "t", bdml_real_json(c->t),
                     "degrees", bdml_real_json(c->degrees), "p_value", bdml_real_json(c->p), "wins",
                     c->wins, "ties", c->ties, "losses", c->losses);
}

static json_t *versus_json(const bdml_protocol *p, int methods, const bdml_score *score,
                           const bdml_score *of)
{
    const bdml_score *rival = best_rival(methods, score, of);
    if (!rival) return json_null();
    double ratio = p->folds ? 0.0 : (double)p->test / (double)p->train;
    bdml_paired c = bdml_compare_paired(of->splits, of->error, rival->error, ratio);
    return bdml_versus_json(rival->method->name, &c, !p->folds);
}

/* ---- the whole -------------------------------------------------------------------------------------- */

json_t *bdml_refusal_json(const bdml_score *s)
{
    return json_pack("{s:s, s:o, s:s, s:n, s:n, s:n}", "method", s->method->name, "error",
                     bdml_json_text(s->reason), "status", bdml_status_text(s->status), "kappa",
                     "fit_seconds", "chosen");
}

json_t *bdml_fits_json(const bdml_score *s)
{
    return json_pack("{s:s, s:o, s:f, s:o, s:o, s:o}", "method", s->method->name, "kappa",
                     bdml_real_json(bdml_mean(s->splits, s->kappa)), "fit_seconds",
                     bdml_mean(s->splits, s->fit_seconds), "chosen", chosen_json(s), "kappas",
                     bdml_numbers_json(s->splits, s->kappa), "chosen_per_split", chosen_list(s));
}

static json_t *score_json(const bdml_protocol *p, int methods, const bdml_score *score,
                          const bdml_score *s)
{
    if (s->failed < s->splits) {
        json_t *refused = bdml_refusal_json(s);
        bdml_json_put(&refused, "error_mean", json_null());
        bdml_json_put(&refused, "error_std", json_null());
        bdml_json_put(&refused, "versus", json_null());
        return refused;
    }
    json_t *o = bdml_fits_json(s);
    bdml_json_put(&o, "error_mean", json_real(bdml_mean(s->splits, s->error)));
    bdml_json_put(&o, "error_std", json_real(bdml_sample_std(s->splits, s->error)));
    bdml_json_put(&o, "versus", versus_json(p, methods, score, s));
    bdml_json_put(&o, "errors", bdml_numbers_json(s->splits, s->error));
    bdml_json_put(&o, "recall", bdml_recall_json(&s->confusion));
    bdml_json_put(&o, "confusion", confusion_json(&s->confusion));
    return o;
}

static json_t *neighbors_json(const bdml_int *k)
{
    return k->automatic ? json_string("auto") : json_integer(k->value);
}

static json_t *result_json(bdml_handle *h, const bdml_options *o, const bdml_protocol *p,
                           int methods, const bdml_score *score)
{
    const bdml_dataset *data = p->data;
    json_t *list = json_array();
    for (int m = 0; m < methods; m++)
        bdml_json_push(&list, score_json(p, methods, score, &score[m]));
    double fraction = p->folds ? 1.0 / (double)p->folds : o->evaluate.test_fraction.value;
    json_t *root =
        json_pack("{s:I, s:i, s:o, s:o, s:o, s:o, s:i, s:i, s:f, s:I, s:I, s:b, s:I, s:o}",
                  "points", (json_int_t)data->n, "dimension", data->d, "classes",
                  bdml_classes_json(data), "settings", bdml_settings_json(h, o), "neighbors",
                  neighbors_json(&o->neighbors.neighbors), "scale",
                  bdml_word_json(BDML_WORDS(SCALE), o->prepare.scale.value), "splits", p->splits,
                  "folds", p->folds, "test_fraction", fraction, "train_points",
                  (json_int_t)p->train, "test_points", (json_int_t)p->test, "stratified",
                  (int)o->evaluate.stratify.value, "seed", (json_int_t)o->general.seed.value,
                  "methods", list);
    if (data->source) bdml_json_put(&root, "data", bdml_json_text(data->source));
    return root;
}

bdml_status bdml_evaluate_write(bdml_handle *h, const bdml_options *o,
                                const bdml_protocol *protocol, int methods, const bdml_score *score,
                                char **json)
{
    return bdml_result_text(h, result_json(h, o, protocol, methods, score), json);
}
