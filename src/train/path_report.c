/* path_report.c - the result of a path as JSON. What does not exist is null. */
#include "train/path.h"

static json_t *number(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

static const char *status_of(const recipe_record *r)
{
    static const char *const names[] = {
        [BDML_OPTIMAL] = "optimal", [BDML_STOPPED] = "stopped", [BDML_INFEASIBLE] = "infeasible"};
    return !r->solved ? "none" : r->collapsed ? "collapsed" : names[r->outcome];
}

static json_t *test_errors(const path_result *p, int k)
{
    json_t *list = json_array();
    for (int s = 1; s <= p->splits; s++)
        json_array_append_new(list, number(path_at(p, s, k)->test_error));
    return list;
}

static json_t *row_json(const path_result *p, int k)
{
    const recipe_record *r = path_at(p, 0, k);
    bool known = r->solved && !r->collapsed && r->outcome != BDML_INFEASIBLE;
    double train_se, test_se, train = path_mean(p, k, false, &train_se),
                              test = path_mean(p, k, true, &test_se);
    return json_pack("{s:f, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
                     "s:I, s:f, s:o}",
                     "distortion", p->grid.k[k], "status", status_of(r), "objective",
                     number(known ? r->upper : (double)NAN), "lower",
                     number(r->solved ? r->lower : (double)NAN), "upper",
                     number(r->solved ? r->upper : (double)NAN), "gap",
                     number(known ? r->gap : (double)NAN), "kappa",
                     number(known ? r->kappa : (double)NAN), "ln_kappa",
                     number(known ? log(r->kappa) : (double)NAN), "C",
                     number(r->C > 0.0 ? r->C : (double)NAN), "train_error", number(train),
                     "validation_error", number(p->valid[k]), "validation_se",
                     number(p->valid_se[k]), "test_error", number(test), "test_se", number(test_se),
                     "train_se", number(train_se), "iterations", (json_int_t)r->iterations,
                     "seconds", r->seconds, "test_errors", test_errors(p, k));
}

/* Cross-validation on all rows, and what the same choice gave inside each split. */
static json_t *choice_json(const path_result *p)
{
    json_t *per_split = json_array(), *errors = json_array();
    double mean = 0.0, square = 0.0;
    for (int s = 1; s <= p->splits; s++) {
        double e = path_at(p, s, p->chosen[s])->test_error;
        mean += e / p->splits;
        json_array_append_new(per_split, json_real(p->grid.k[p->chosen[s]]));
        json_array_append_new(errors, number(e));
    }
    for (int s = 1; s <= p->splits; s++)
        square += pow(path_at(p, s, p->chosen[s])->test_error - mean, 2);
    double se = p->splits > 1 ? sqrt(square / (p->splits - 1) / p->splits) : (double)NAN;
    int k = p->chosen[0];
    return json_pack("{s:f, s:f, s:o, s:o, s:o, s:o, s:o, s:o}", "distortion", p->grid.k[k],
                     "se_rule", p->grid.slack, "validation_error", number(p->valid[k]),
                     "validation_se", number(p->valid_se[k]), "test_error", number(mean), "test_se",
                     number(se), "distortions", per_split, "test_errors", errors);
}

static json_t *shape_json(const path_result *p)
{
    path_shape s;
    path_find_shape(p, &s);
    if (strcmp(s.verdict, "unknown") == 0)
        return json_pack("{s:s, s:s}", "verdict", s.verdict, "text", s.text);
    return json_pack("{s:s, s:s, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "verdict",
                     s.verdict, "text", s.text, "first", p->grid.k[s.first], "best",
                     p->grid.k[s.best], "last", p->grid.k[s.last], "fall", s.fall, "fall_se",
                     s.fall_se, "rise", s.rise, "rise_se", s.rise_se, "across", s.across,
                     "across_se", s.across_se);
}

static json_t *setup_json(const bdml_handle *h, const bdml_dataset *data, const path_result *p)
{
    return json_pack(
        "{s:I, s:i, s:i, s:i, s:s, s:s, s:b, s:i, s:I, s:i, s:I, s:I, s:f, s:b, s:I, s:f}",
        "points", (json_int_t)data->n, "features", data->d, "dimension", p->features, "classes",
        data->classes, "reference", bdml_reference_names[p->grid.reference[0]], "constraints",
        p->grid.stated ? "stated" : "recipe", "hard", (int)bdml_opt_int(h, BDML_OPT_HARD), "passes",
        p->grid.pass[0] + 1, "neighbors", (json_int_t)bdml_opt_int(h, BDML_OPT_NEIGHBORS), "splits",
        p->splits, "train_rows", (json_int_t)p->train, "test_rows", (json_int_t)p->test, "softness",
        p->grid.c[0], "stratified", (int)bdml_opt_int(h, BDML_OPT_STRATIFY), "seed",
        (json_int_t)bdml_opt_int(h, BDML_OPT_SEED), "seconds", p->seconds);
}

bdml_status path_write(bdml_handle *h, const bdml_dataset *data, const path_result *p, char **json)
{
    json_t *root = setup_json(h, data, p), *rows = json_array();
    int bad = !root;
    for (int k = 0; k < p->grid.ks; k++) bad |= json_array_append_new(rows, row_json(p, k));
    bad |= json_object_set_new(root, "path", rows);
    bad |= json_object_set_new(root, "chosen", choice_json(p));
    bad |= json_object_set_new(root, "shape", shape_json(p));
    if (data->source && root) json_object_set_new(root, "data", json_string(data->source));
    *json = bad ? NULL : json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    json_decref(root);
    return *json ? BDML_OK
                 : bdml_fail(h, BDML_ERR_MEMORY, "out of memory while writing the result");
}
