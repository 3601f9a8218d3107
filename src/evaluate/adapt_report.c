/* adapt_report.c - the result of a domain adaptation as JSON:
 *
 *     {source, target, semi, source_points, target_points, dimension, classes, splits, train_points,
 *      labelled_target_points, test_points, preparation: {...}, settings, seed,
 *      methods: [{method, accuracy_mean, accuracy_se, kappa, fit_seconds, chosen_per_split, versus,
 *      accuracies, recall}]}
 *
 * Accuracies in percent; accuracy_se is the standard error of the mean over the splits. versus: the
 * method against the best other one, split by split. The same for any number of jobs and threads, but
 * for fit_seconds. */
#include "evaluate/adapt.h"

#include <stdlib.h>

static json_t *accuracies(const bdml_score *s)
{
    json_t *list = json_array();
    for (int i = 0; i < s->splits; i++) bdml_json_push(&list, bdml_real_json(100.0 - s->error[i]));
    return list;
}

static json_t *chosen_list(const bdml_score *s)
{
    json_t *list = json_array();
    bool any = false;
    for (int i = 0; i < s->splits; i++) {
        any = any || s->chosen[i];
        bdml_json_push(&list, s->chosen[i] ? json_incref(s->chosen[i]) : json_null());
    }
    if (any) return list;
    json_decref(list);
    return json_null();
}

/* Against the best other method, in accuracy: above 0 when this one is better. Splits overlap, so the
 * standard error is that of independent splits, as in the paper's tables, and says so. */
static json_t *versus_json(const adapt_result *r, const bdml_score *of)
{
    const bdml_score *rival = NULL;
    for (int m = 0; m < r->methods; m++) {
        const bdml_score *s = &r->score[m];
        if (s == of || s->failed < s->splits) continue;
        if (!rival || bdml_mean(s->splits, s->error) < bdml_mean(rival->splits, rival->error))
            rival = s;
    }
    if (!rival) return json_null();
    bdml_paired c = bdml_compare_paired(of->splits, rival->error, of->error, 0.0);
    return json_pack("{s:s, s:o, s:o, s:i, s:i, s:i}", "method", rival->method->name, "difference",
                     bdml_real_json(c.difference), "standard_error", bdml_real_json(c.error),
                     "wins", c.losses, "ties", c.ties, "losses", c.wins);
}

static json_t *score_json(const adapt_result *r, const bdml_score *s)
{
    if (s->failed < s->splits)
        return json_pack("{s:s, s:o, s:s, s:n, s:n}", "method", s->method->name, "error",
                         bdml_json_text(s->reason), "status", bdml_status_text(s->status),
                         "accuracy_mean", "accuracy_se");
    double error = bdml_sample_std(s->splits, s->error) / sqrt(s->splits);
    return json_pack("{s:s, s:f, s:f, s:o, s:f, s:o, s:o, s:o, s:o}", "method", s->method->name,
                     "accuracy_mean", 100.0 - bdml_mean(s->splits, s->error), "accuracy_se", error,
                     "kappa", bdml_real_json(bdml_mean(s->splits, s->kappa)), "fit_seconds",
                     bdml_mean(s->splits, s->fit_seconds), "versus", versus_json(r, s),
                     "chosen_per_split", chosen_list(s), "accuracies", accuracies(s), "recall",
                     bdml_recall_json(&s->confusion));
}

static json_t *preparation_json(const bdml_adapt_options *o)
{
    return json_pack("{s:o, s:o, s:o, s:I, s:o, s:b}", "rows",
                     bdml_word_json(BDML_WORDS(ADAPT_ROWS), o->rows.value), "columns",
                     bdml_word_json(BDML_WORDS(COLUMN_SCALE), o->column_scale.value), "columns_of",
                     bdml_word_json(BDML_WORDS(COLUMN_SCALE_OF), o->column_scale_of.value),
                     "dimensions", (json_int_t)o->dimensions.value, "pca_domain",
                     bdml_word_json(BDML_WORDS(PCA_DOMAIN), o->pca_domain.value), "unit",
                     (int)o->unit.value);
}

static json_t *domain_name(const bdml_dataset *data)
{
    return data->source ? bdml_json_text(data->source) : json_null();
}

bdml_status adapt_write(bdml_handle *h, const bdml_options *o, const adapt_result *r, char **json)
{
    const adapt_split *first = &r->splits->split[0];
    bool semi = o->adapt.semi.value;
    json_t *list = json_array();
    for (int m = 0; m < r->methods; m++) bdml_json_push(&list, score_json(r, &r->score[m]));
    json_t *root = json_pack(
        "{s:o, s:o, s:b, s:I, s:I, s:i, s:o, s:i, s:I, s:I, s:I, s:o, s:I, s:o, s:I, s:o}",
        "source", domain_name(r->source), "target", domain_name(r->target), "semi", (int)semi,
        "source_points", (json_int_t)r->source->n, "target_points", (json_int_t)r->target->n,
        "dimension", r->source->d, "classes", bdml_classes_json(r->source), "splits",
        r->splits->count, "train_points", (json_int_t)first->sources, "labelled_target_points",
        (json_int_t)(semi ? first->targets : 0), "test_points", (json_int_t)r->tested,
        "preparation", preparation_json(&o->adapt), "neighbors", (json_int_t)o->adapt.votes.value,
        "settings", bdml_settings_json(h, o), "seed", (json_int_t)o->general.seed.value, "methods",
        list);
    return bdml_result_text(h, root, json);
}
