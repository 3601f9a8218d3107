/* path_report.c - the result of a path as JSON. What does not exist is null. */
#include "train/path.h"

static const char *status_of(const path_record *r)
{
    static const char *const names[] = {
        [BDML_OPTIMAL] = "optimal", [BDML_STOPPED] = "stopped", [BDML_INFEASIBLE] = "infeasible"};
    return !r->solved ? "none" : r->collapsed ? "collapsed" : names[r->outcome];
}

static json_t *test_errors(const path_result *p, int k)
{
    json_t *list = json_array();
    for (int s = 1; s <= p->splits; s++)
        bdml_json_push(&list, bdml_json_real(path_at(p, s, k)->test_error));
    return list;
}

static json_t *row_json(const path_result *p, int k)
{
    const path_record *r = path_at(p, 0, k);
    bool known = r->solved && !r->collapsed && r->outcome != BDML_INFEASIBLE;
    double train_se, test_se, train = path_mean(p, k, false, &train_se),
                              test = path_mean(p, k, true, &test_se);
    json_t *o = json_object();
    bdml_json_put(&o, "distortion", bdml_json_real(p->plan.cap[k]));
    bdml_json_put(&o, "status", json_string(status_of(r)));
    bdml_json_put(&o, "objective", bdml_json_real(known ? r->upper : (double)NAN));
    bdml_json_put(&o, "lower", bdml_json_real(r->solved ? r->lower : (double)NAN));
    bdml_json_put(&o, "upper", bdml_json_real(r->solved ? r->upper : (double)NAN));
    bdml_json_put(&o, "gap", bdml_json_real(known ? r->gap : (double)NAN));
    bdml_json_put(&o, "kappa", bdml_json_real(known ? r->kappa : (double)NAN));
    bdml_json_put(&o, "ln_kappa", bdml_json_real(known ? log(r->kappa) : (double)NAN));
    bdml_json_put(&o, "C", bdml_json_real(r->C > 0.0 ? r->C : (double)NAN));
    bdml_json_put(&o, "softness", bdml_json_real(r->C > 0.0 ? r->C / r->C0 : (double)NAN));
    bdml_json_put(&o, "train_error", bdml_json_real(train));
    bdml_json_put(&o, "train_se", bdml_json_real(train_se));
    bdml_json_put(&o, "validation_error", bdml_json_real(p->valid[k]));
    bdml_json_put(&o, "validation_se", bdml_json_real(p->valid_se[k]));
    bdml_json_put(&o, "test_error", bdml_json_real(test));
    bdml_json_put(&o, "test_se", bdml_json_real(test_se));
    bdml_json_put(&o, "iterations", json_integer(r->iterations));
    bdml_json_put(&o, "seconds", bdml_json_real(r->seconds));
    bdml_json_put(&o, "test_errors", test_errors(p, k));
    return o;
}

/* Cross-validation on all rows, and what the same choice gave inside each split. */
static json_t *choice_json(const path_result *p)
{
    json_t *per_split = json_array(), *errors = json_array();
    double mean = 0.0, square = 0.0;
    for (int s = 1; s <= p->splits; s++) {
        double e = path_at(p, s, p->chosen[s])->test_error;
        mean += e / p->splits;
        bdml_json_push(&per_split, json_real(p->plan.cap[p->chosen[s]]));
        bdml_json_push(&errors, bdml_json_real(e));
    }
    for (int s = 1; s <= p->splits; s++)
        square += pow(path_at(p, s, p->chosen[s])->test_error - mean, 2);
    double se = p->splits > 1 ? sqrt(square / (p->splits - 1) / p->splits) : (double)NAN;
    int k = p->chosen[0];
    json_t *o = json_object();
    bdml_json_put(&o, "distortion", json_real(p->plan.cap[k]));
    bdml_json_put(&o, "se_rule", json_real(p->plan.slack));
    bdml_json_put(&o, "validation_error", bdml_json_real(p->valid[k]));
    bdml_json_put(&o, "validation_se", bdml_json_real(p->valid_se[k]));
    bdml_json_put(&o, "test_error", bdml_json_real(mean));
    bdml_json_put(&o, "test_se", bdml_json_real(se));
    bdml_json_put(&o, "distortions", per_split);
    bdml_json_put(&o, "test_errors", errors);
    return o;
}

static json_t *shape_json(const path_result *p)
{
    path_shape s;
    json_t *o = json_object();
    path_find_shape(p, &s);
    bdml_json_put(&o, "verdict", json_string(s.verdict));
    bdml_json_put(&o, "text", json_string(s.text));
    if (strcmp(s.verdict, "unknown") == 0) return o;
    bdml_json_put(&o, "first", json_real(p->plan.cap[s.first]));
    bdml_json_put(&o, "best", json_real(p->plan.cap[s.best]));
    bdml_json_put(&o, "last", json_real(p->plan.cap[s.last]));
    bdml_json_put(&o, "fall", json_real(s.fall));
    bdml_json_put(&o, "fall_se", json_real(s.fall_se));
    bdml_json_put(&o, "rise", json_real(s.rise));
    bdml_json_put(&o, "rise_se", json_real(s.rise_se));
    bdml_json_put(&o, "across", json_real(s.across));
    bdml_json_put(&o, "across_se", json_real(s.across_se));
    return o;
}

static json_t *setup_json(const bdml_dataset *data, const path_result *p)
{
    const bdml_options *from = p->plan.o;
    const bdml_constraint_options *c = &from->constraints;
    int rule = c->rule.value == BDML_RULE_AUTO ? BDML_RULE_CLASS : c->rule.value;
    json_t *o = json_object();
    bdml_json_put(&o, "points", json_integer(data->n));
    bdml_json_put(&o, "features", json_integer(data->d));
    bdml_json_put(&o, "dimension", json_integer(p->features));
    bdml_json_put(&o, "classes", json_integer(data->classes));
    bdml_json_put(&o, "reference", json_string(bdml_reference_names[p->plan.reference[0]]));
    bdml_json_put(&o, "kind", bdml_json_word(BDML_WORDS(KIND), c->kind.value));
    bdml_json_put(&o, "rule", bdml_json_word(BDML_WORDS(RULE), rule));
    bdml_json_put(&o, "targets", json_integer(c->targets.value));
    bdml_json_put(&o, "impostors", json_integer(c->impostors.value));
    bdml_json_put(&o, "hard", json_boolean(from->solve.hard.value));
    bdml_json_put(&o, "diagonal", json_boolean(p->plan.diagonal));
    bdml_json_put(&o, "passes", json_integer(p->plan.effort[0].again + 1));
    bdml_json_put(&o, "softness", bdml_json_real(p->plan.effort[0].weight));
    bdml_json_put(&o, "neighbors", json_integer(from->neighbors.neighbors.value));
    bdml_json_put(&o, "splits", json_integer(p->splits));
    bdml_json_put(&o, "train_rows", json_integer(p->train));
    bdml_json_put(&o, "test_rows", json_integer(p->test));
    bdml_json_put(&o, "stratified", json_boolean(from->evaluate.stratify.value));
    bdml_json_put(&o, "seed", json_integer(from->general.seed.value));
    bdml_json_put(&o, "seconds", bdml_json_real(p->seconds));
    if (data->source) bdml_json_put(&o, "data", bdml_json_text(data->source));
    return o;
}

bdml_status path_write(bdml_handle *h, const bdml_dataset *data, const path_result *p, char **json)
{
    json_t *root = setup_json(data, p), *rows = json_array();
    for (int k = 0; k < p->plan.caps; k++) bdml_json_push(&rows, row_json(p, k));
    bdml_json_put(&root, "path", rows);
    bdml_json_put(&root, "chosen", choice_json(p));
    bdml_json_put(&root, "shape", shape_json(p));
    *json = bdml_json_dump(root, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    json_decref(root);
    return *json ? BDML_OK
                 : bdml_fail(h, BDML_ERR_MEMORY, "out of memory while writing the result");
}
