/* retrieve_report.c - the result of bdml_retrieve as JSON.
 *
 *     {protocol: classes, classes, unseen_share, seen_classes, unseen_classes, train_points, seen_points, unseen_points,
 *      or protocol: rows, classes, train_points, unseen_points,
 *      or protocol: queries, queries, documents, relevant, seen_queries, unseen_queries,
 *      points, dimension, data, settings, scale, splits, test_fraction, seed,
 *      methods: [{method, distortion, kappa, fit_seconds, chosen, kappas, chosen_per_split,
 *                 seen: {measure: {mean, std, values, versus}}, unseen: likewise}]}
 *
 * Measures are in percent, larger is better. distortion: of the grid, null elsewhere. The same for any number of jobs
 * and threads, but for fit_seconds. A method that refused has `error` and no figures. */
#include "evaluate/retrieve.h"

static const char *const scope_name[RETRIEVE_SCOPES] = {"unseen", "seen"};

const char *retrieve_key(int measure)
{
    return measure == RETRIEVE_NMI   ? "nmi"
           : measure == RETRIEVE_ARI ? "ari"
                                     : bdml_ranking_keys[measure];
}

int retrieve_measures(const bdml_options *o)
{
    bool grouped = o->retrieve.cluster.value || o->train.task.value == BDML_TASK_CLUSTER;
    return grouped ? RETRIEVE_MEASURES : BDML_RANKING_MEASURES;
}

/* Test over training: classes where those are split, queries or rows where only these are. */
static double test_ratio(const retrieval *r, retrieve_scope scope)
{
    const retrieve_split *s = &r->first;
    const retrieve_search *unseen = &s->scope[RETRIEVE_UNSEEN], *seen = &s->scope[RETRIEVE_SEEN];
    if (r->data.answers) return (double)unseen->queries / (double)seen->queries;
    if (s->classes[RETRIEVE_UNSEEN] == 0) return (double)unseen->queries / (double)s->train;
    if (scope == RETRIEVE_UNSEEN)
        return (double)s->classes[RETRIEVE_UNSEEN] / (double)s->classes[RETRIEVE_SEEN];
    return (double)seen->rows / (double)s->train;
}

/* Against the space as it is. The comparison is one of errors: what loses there has more here, and wins. */
static json_t *versus_json(const retrieval *r, int entrant, retrieve_scope scope, int measure)
{
    const bdml_score *base = &r->score[0];
    if (entrant == 0 || base->failed < r->splits) return json_null();
    bdml_paired c =
        bdml_compare_paired(r->splits, retrieve_values(r, entrant, scope, measure),
                            retrieve_values(r, 0, scope, measure), test_ratio(r, scope));
    int wins = c.losses;
    c.losses = c.wins;
    c.wins = wins;
    return bdml_versus_json(base->method->name, &c, true);
}

static json_t *scope_json(const retrieval *r, int entrant, retrieve_scope scope)
{
    json_t *all = json_object();
    for (int m = 0; m < retrieve_measures(r->options); m++) {
        const double *value = retrieve_values(r, entrant, scope, m);
        bdml_json_put(&all, retrieve_key(m),
                      json_pack("{s:o, s:o, s:o, s:o}", "mean",
                                bdml_real_json(bdml_mean(r->splits, value)), "std",
                                bdml_real_json(bdml_sample_std(r->splits, value)), "values",
                                bdml_numbers_json(r->splits, value), "versus",
                                versus_json(r, entrant, scope, m)));
    }
    return all;
}

static json_t *entrant_json(const retrieval *r, int entrant)
{
    const bdml_score *s = &r->score[entrant];
    json_t *o = s->failed < s->splits ? bdml_refusal_json(s) : bdml_fits_json(s);
    bdml_json_put(&o, "distortion", bdml_real_json(r->distortion[entrant]));
    for (int scope = 0; scope < RETRIEVE_SCOPES; scope++)
        bdml_json_put(&o, scope_name[scope],
                      s->failed < s->splits ? json_null()
                                            : scope_json(r, entrant, (retrieve_scope)scope));
    return o;
}

/* How classes, rows or queries were split. */
static json_t *split_json(const retrieval *r)
{
    const retrieve_split *s = &r->first;
    const retrieve_search *unseen = &s->scope[RETRIEVE_UNSEEN], *seen = &s->scope[RETRIEVE_SEEN];
    if (r->data.answers)
        return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I}", "protocol", "queries", "queries",
                         (json_int_t)r->data.queries, "documents", (json_int_t)seen->rows,
                         "relevant", (json_int_t)r->data.answers->count, "seen_queries",
                         (json_int_t)seen->queries, "unseen_queries", (json_int_t)unseen->queries);
    if (s->classes[RETRIEVE_UNSEEN] == 0)
        return json_pack("{s:s, s:o, s:I, s:I}", "protocol", "rows", "classes",
                         bdml_classes_json(r->data.rows), "train_points", (json_int_t)s->train,
                         "unseen_points", (json_int_t)unseen->queries);
    return json_pack("{s:s, s:o, s:f, s:i, s:i, s:I, s:I, s:I}", "protocol", "classes", "classes",
                     bdml_classes_json(r->data.rows), "unseen_share",
                     r->options->retrieve.unseen_share.value, "seen_classes",
                     s->classes[RETRIEVE_SEEN], "unseen_classes", s->classes[RETRIEVE_UNSEEN],
                     "train_points", (json_int_t)s->train, "seen_points", (json_int_t)seen->rows,
                     "unseen_points", (json_int_t)unseen->rows);
}

bdml_status retrieve_write(bdml_handle *h, const retrieval *r, char **json)
{
    const bdml_options *o = r->options;
    const bdml_dataset *data = r->data.rows;
    json_t *list = json_array(), *root = split_json(r);
    for (int k = 0; k < r->entrants; k++) bdml_json_push(&list, entrant_json(r, k));
    bdml_json_put(&root, "points", json_integer(data->n));
    bdml_json_put(&root, "dimension", json_integer(data->d));
    bdml_json_put(&root, "settings", bdml_settings_json(h, o));
    bdml_json_put(&root, "scale", bdml_word_json(BDML_WORDS(SCALE), o->prepare.scale.value));
    bdml_json_put(&root, "splits", json_integer(r->splits));
    bdml_json_put(&root, "test_fraction", json_real(o->evaluate.test_fraction.value));
    bdml_json_put(&root, "seed", json_integer((json_int_t)o->general.seed.value));
    bdml_json_put(&root, "methods", list);
    if (data->source) bdml_json_put(&root, "data", bdml_json_text(data->source));
    return bdml_result_text(h, root, json);
}
