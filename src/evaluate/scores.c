/* scores.c - the methods that are compared, and what each reached. */
#include "evaluate/evaluate.h"

#include <stdlib.h>

static bdml_status all_methods(bdml_handle *h, int *count, const bdml_method ***out)
{
    bdml_status status = BDML_OK;
    BDML_NEW(h, *out, bdml_method_count());
    for (int i = 0; i < bdml_method_count(); i++) {
        const bdml_method *m = bdml_method_at(i);
        if ((m->uses & BDML_USES_LABELS) && !(m->uses & BDML_USES_DOMAINS)) (*out)[(*count)++] = m;
    }
done:
    return status;
}

bdml_status bdml_methods_listed(bdml_handle *h, const char *list, int *count,
                                const bdml_method ***out)
{
    bdml_status status = BDML_OK;
    int names = 1;
    *count = 0;
    *out = NULL;
    if (strcmp(list, "all") == 0) return all_methods(h, count, out);
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
