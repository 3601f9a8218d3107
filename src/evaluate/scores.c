/* scores.c - the methods that are compared, and what each reached. */
#include "evaluate/evaluate.h"

#include <stdlib.h>

static bdml_status all_methods(bdml_handle *h, bdml_uses uses, int *count, const bdml_method ***out)
{
    bdml_status status = BDML_OK;
    BDML_NEW(h, *out, bdml_method_count());
    for (int i = 0; i < bdml_method_count(); i++) {
        const bdml_method *m = bdml_method_at(i);
        if ((m->uses & (int)uses) && !(m->uses & BDML_USES_DOMAINS)) (*out)[(*count)++] = m;
    }
done:
    return status;
}

bdml_status bdml_methods_listed(bdml_handle *h, const bdml_options *o, bdml_uses uses, int *count,
                                const bdml_method ***out)
{
    bdml_status status = BDML_OK;
    const char *list = o->evaluate.methods.value;
    int names = 1;
    *count = 0;
    *out = NULL;
    if (!list[0]) list = o->train.method.value;
    if (strcmp(list, "all") == 0) return all_methods(h, uses, count, out);
    for (const char *p = list; *p; p++) names += *p == ',';
    BDML_NEW(h, *out, names);
    for (const char *p = list;; p++) {
        size_t length = strcspn(p, ",");
        const bdml_method *method = bdml_method_find(h, p, length);
        if (!method) {
            status = BDML_ERR_ARGUMENT;
            goto done;
        }
        (*out)[(*count)++] = method;
        p += length;
        if (!*p) break;
    }
done:
    if (status != BDML_OK) {
        free(*out);
        *out = NULL;
        *count = 0;
    }
    return status;
}

void bdml_scores_free(int count, bdml_score *score)
{
    for (int m = 0; score && m < count; m++) {
        for (int s = 0; score[m].chosen && s < score[m].splits; s++)
            json_decref(score[m].chosen[s]);
        free(score[m].chosen);
        free(score[m].error);
        free(score[m].kappa);
        free(score[m].fit_seconds);
        bdml_confusion_free(&score[m].confusion);
    }
    free(score);
}

static bdml_status init(bdml_handle *h, const bdml_method *method, int splits, int classes,
                        bdml_score *s)
{
    bdml_status status = BDML_OK;
    s->method = method;
    s->splits = s->failed = splits;
    BDML_NEW(h, s->error, splits);
    BDML_NEW(h, s->kappa, splits);
    BDML_NEW(h, s->fit_seconds, splits);
    BDML_NEW(h, s->chosen, splits);
    status = bdml_confusion_init(h, classes, &s->confusion);
done:
    return status;
}

bdml_status bdml_scores_new(bdml_handle *h, int count, const bdml_method *const *method, int splits,
                            int classes, bdml_score **out)
{
    bdml_status status = BDML_OK;
    bdml_score *score;
    BDML_NEW(h, score, count);
    for (int m = 0; m < count; m++) BDML_GO(init(h, method[m], splits, classes, &score[m]));
done:
    if (status != BDML_OK) {
        bdml_scores_free(count, score);
        score = NULL;
    }
    *out = score;
    return status;
}

bdml_status bdml_score_keep_choice(bdml_handle *h, const bdml_model *model, int split,
                                   bdml_score *score)
{
    static const char *const account[] = {
        "tried", "references",     "folds", "task", "best_versus_untouched",
        "error", "standard_error", "score"};
    json_t *selection = json_object_get(model->info, "selection");
    if (!selection) return BDML_OK;
    json_t *chosen = score->chosen[split] = json_copy(selection);
    if (!chosen) return bdml_fail(h, BDML_ERR_MEMORY, "out of memory");
    for (size_t k = 0; k < sizeof account / sizeof *account; k++)
        json_object_del(chosen, account[k]);
    return BDML_OK;
}

bdml_status bdml_score_settle(bdml_handle *own, bdml_status status, int split, bdml_score *score)
{
    bool refused = status == BDML_ERR_DATA || status == BDML_ERR_INFEASIBLE ||
                   status == BDML_ERR_ARGUMENT || status == BDML_ERR_LAPACK;
    if (status == BDML_OK) return BDML_OK;
    bdml_fail_context(own, status, "split %d, method %s", split + 1, score->method->name);
    if (!refused) return status;
#pragma omp critical(bdml_score)
    if (split < score->failed) {
        score->failed = split;
        score->status = status;
        snprintf(score->reason, sizeof score->reason, "%s", bdml_last_error(own));
    }
    return BDML_OK;
}

/* ---- time limit ----------------------------------------------------------------------------------- */

static bool has_finished(int methods, int splits, const bool *finished, int method)
{
    for (int s = 0; s < splits; s++)
        if (finished[s * methods + method]) return true;
    return false;
}

/* A method that refused the data has finished, in its way. */
static bool is_whole(int methods, const bdml_score *score, const bool *finished, int split)
{
    for (int m = 0; m < methods; m++)
        if (score[m].failed == score[m].splits && !finished[split * methods + m]) return false;
    return true;
}

static void move_split(bdml_score *s, int from, int to)
{
    s->error[to] = s->error[from];
    s->kappa[to] = s->kappa[from];
    s->fit_seconds[to] = s->fit_seconds[from];
    if (from == to) return;
    json_decref(s->chosen[to]);
    s->chosen[to] = s->chosen[from];
    s->chosen[from] = NULL;
}

bdml_status bdml_scores_keep(bdml_handle *h, int methods, bdml_score *score, const bool *finished,
                             int *splits, int *kept)
{
    int asked = *splits, count = 0;
    for (int m = 0; m < methods; m++) {
        bdml_score *s = &score[m];
        if (s->failed < asked || has_finished(methods, asked, finished, m)) continue;
        s->failed = 0;
        s->status = BDML_ERR_CANCELLED;
        snprintf(s->reason, sizeof s->reason, "%s: the time limit was over before its first split",
                 s->method->name);
    }
    for (int split = 0; split < asked; split++) {
        if (!is_whole(methods, score, finished, split)) continue;
        for (int m = 0; m < methods; m++) move_split(&score[m], split, count);
        kept[count++] = split;
    }
    bool any = false;
    for (int m = 0; m < methods; m++) any = any || score[m].failed == asked;
    if (count == asked || (!any && score[0].status != BDML_ERR_CANCELLED)) return BDML_OK;
    if (!any || count == 0)
        return bdml_fail(
            h, BDML_ERR_CANCELLED,
            "the time limit was over before one of %d splits was finished by all methods", asked);
    for (int m = 0; m < methods; m++) {
        if (score[m].failed == asked) score[m].failed = count;
        score[m].splits = count;
    }
    bdml_log(h, BDML_LOG_WARNING,
             "the time limit was over after %d of %d splits: the figures are over those", count,
             asked);
    *splits = count;
    return BDML_OK;
}

bdml_status bdml_scores_any(bdml_handle *h, int count, const bdml_score *score)
{
    for (int m = 0; m < count; m++)
        if (score[m].failed == score[m].splits) return BDML_OK;
    return bdml_fail(h, score[0].status, "%s", score[0].reason);
}

json_t *bdml_real_json(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

json_t *bdml_word_json(const char *words, int choice)
{
    size_t n;
    const char *word = bdml_choice_word(words, choice, &n);
    return json_stringn(word, n);
}

json_t *bdml_numbers_json(int n, const double *v)
{
    json_t *list = json_array();
    for (int i = 0; i < n; i++) bdml_json_push(&list, bdml_real_json(v[i]));
    return list;
}

json_t *bdml_classes_json(const bdml_dataset *data)
{
    json_t *list = json_array();
    for (int c = 0; c < data->classes; c++)
        bdml_json_push(&list, bdml_json_text(data->class_name[c]));
    return list;
}

json_t *bdml_recall_json(const bdml_confusion *c)
{
    json_t *list = json_array();
    for (int k = 0; k < c->classes; k++)
        bdml_json_push(&list, bdml_real_json(bdml_confusion_recall(c, k)));
    return list;
}

bdml_status bdml_result_text(bdml_handle *h, json_t *root, char **json)
{
    *json = bdml_json_dump(root, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    json_decref(root);
    return *json ? BDML_OK
                 : bdml_fail(h, BDML_ERR_MEMORY, "out of memory while writing the result");
}

bdml_status bdml_refuse_checkpoint(bdml_handle *h, const bdml_train_options *o)
{
    if (!o->checkpoint.value[0] && !o->resume.value[0]) return BDML_OK;
    return bdml_fail(h, BDML_ERR_ARGUMENT,
                     "checkpoint and resume are for one training: this trains many times");
}

bdml_status bdml_refuse_constraint_files(bdml_handle *h, const bdml_constraint_options *o,
                                         const char *command)
{
    if (!bdml_constraint_files_given(o)) return BDML_OK;
    return bdml_fail(
        h, BDML_ERR_ARGUMENT,
        "constraint files name rows of the whole data, and %s learns from parts of them; "
        "leave them out (bdml verify takes pairs in folds)",
        command);
}
