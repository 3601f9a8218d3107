/* path_report.c - the result of a path as JSON. What does not exist is null. */
#include "train/path.h"

static json_t *number(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

/* A failed allocation shows up as a member that is missing: counted once, at the end. */
static void put(json_t *o, const char *key, double v)
{
    json_object_set_new(o, key, number(v));
}
static void put_int(json_t *o, const char *key, int64_t v)
{
    json_object_set_new(o, key, json_integer((json_int_t)v));
}
static void put_text(json_t *o, const char *key, const char *v)
{
    json_object_set_new(o, key, json_string(v));
}
static void put_flag(json_t *o, const char *key, bool v)
{
    json_object_set_new(o, key, json_boolean(v));
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
    enum { MEMBERS = 19 };
    const recipe_record *r = path_at(p, 0, k);
    bool known = r->solved && !r->collapsed && r->outcome != BDML_INFEASIBLE;
    double train_se, test_se, train = path_mean(p, k, false, &train_se),
                              test = path_mean(p, k, true, &test_se);
    json_t *o = json_object();
    put(o, "distortion", p->grid.k[k]);
    put_text(o, "status", status_of(r));
    put(o, "objective", known ? r->upper : (double)NAN);
    put(o, "lower", r->solved ? r->lower : (double)NAN);
    put(o, "upper", r->solved ? r->upper : (double)NAN);
    put(o, "gap", known ? r->gap : (double)NAN);
    put(o, "kappa", known ? r->kappa : (double)NAN);
    put(o, "ln_kappa", known ? log(r->kappa) : (double)NAN);
    put(o, "C", r->C > 0.0 ? r->C : (double)NAN);
    put(o, "softness", r->C > 0.0 ? r->C / r->C0 : (double)NAN);
    put(o, "train_error", train);
    put(o, "train_se", train_se);
    put(o, "validation_error", p->valid[k]);
    put(o, "validation_se", p->valid_se[k]);
    put(o, "test_error", test);
    put(o, "test_se", test_se);
    put_int(o, "iterations", r->iterations);
    put(o, "seconds", r->seconds);
    json_object_set_new(o, "test_errors", test_errors(p, k));
    if (json_object_size(o) == MEMBERS) return o;
    json_decref(o);
    return NULL;
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
    enum { MEMBERS = 20 };
    json_t *o = json_object();
    put_int(o, "points", data->n);
    put_int(o, "features", data->d);
    put_int(o, "dimension", p->features);
    put_int(o, "classes", data->classes);
    put_text(o, "reference", bdml_reference_names[p->grid.reference[0]]);
    put_text(o, "kind", bdml_opt_text(h, BDML_OPT_KIND));
    put_text(o, "rule",
             bdml_opt_changed(h, BDML_OPT_RULE) ? bdml_opt_text(h, BDML_OPT_RULE) : "class");
    put_int(o, "targets", bdml_opt_int(h, BDML_OPT_TARGETS));
    put_int(o, "impostors", bdml_opt_int(h, BDML_OPT_IMPOSTORS));
    put_flag(o, "hard", bdml_opt_int(h, BDML_OPT_HARD) != 0);
    put_flag(o, "diagonal", bdml_opt_int(h, BDML_OPT_DIAGONAL) != 0);
    put_int(o, "passes", p->grid.pass[0] + 1);
    put(o, "softness", p->grid.c[0]);
    put_int(o, "neighbors", bdml_opt_int(h, BDML_OPT_NEIGHBORS));
    put_int(o, "splits", p->splits);
    put_int(o, "train_rows", p->train);
    put_int(o, "test_rows", p->test);
    put_flag(o, "stratified", bdml_opt_int(h, BDML_OPT_STRATIFY) != 0);
    put_int(o, "seed", bdml_opt_int(h, BDML_OPT_SEED));
    put(o, "seconds", p->seconds);
    if (json_object_size(o) == MEMBERS) return o;
    json_decref(o);
    return NULL;
}

bdml_status path_write(bdml_handle *h, const bdml_dataset *data, const path_result *p, char **json)
{
    json_t *root = setup_json(h, data, p), *rows = json_array();
    int bad = !root;
    for (int k = 0; k < p->grid.ks; k++) bad |= json_array_append_new(rows, row_json(p, k));
    bad |= json_object_set_new(root, "path", rows);
    bad |= json_object_set_new(root, "chosen", choice_json(p));
    bad |= json_object_set_new(root, "shape", shape_json(p));
    if (data->source && root) json_object_set_new(root, "data", bdml_json_text(data->source));
    *json = bad ? NULL : bdml_json_dump(root, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    json_decref(root);
    return *json ? BDML_OK
                 : bdml_fail(h, BDML_ERR_MEMORY, "out of memory while writing the result");
}
