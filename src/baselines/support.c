/* support.c - what methods share: the classes they need, what is left where nothing can be learned, and how they say why they
 * stopped. */
#include "baselines/baselines.h"

#include <stdlib.h>

bdml_status bdml_need_classes(bdml_handle *h, const bdml_training *t, const char *method)
{
    if (!t->y)
        return bdml_fail(h, BDML_ERR_DATA,
                         "method %s learns from classes, and the data have no labels", method);
    for (int64_t i = 1; i < t->n; i++)
        if (t->y[i] != t->y[0]) return BDML_OK;
    return bdml_fail(h, BDML_ERR_DATA,
                     "method %s needs points of at least 2 classes, all %lld are of one", method,
                     (long long)t->n);
}

/* The distance of the prepared points as they are. */
static bdml_status set_identity(bdml_handle *h, bdml_model *model)
{
    bdml_status status = BDML_OK;
    size_t d = (size_t)model->d;
    double *l = NULL;

    BDML_NEW(h, l, d * d);
    for (size_t j = 0; j < d; j++) l[j * d + j] = 1.0;
    status = bdml_model_set_map(h, model, model->d, l);
done:
    free(l);
    return status;
}

bdml_status bdml_keep_euclidean(bdml_handle *h, const char *method, bdml_model *model)
{
    bdml_log(
        h, BDML_LOG_WARNING,
        "%s: in no direction are impostors farther than targets on the whole, so M = 0 would be "
        "best; nothing was learned, and the Euclidean distance of the prepared points is kept",
        method);
    BDML_TRY(set_identity(h, model));
    return bdml_model_tell(h, model, "nothing_learned", json_true());
}

static json_t *number(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

bdml_status bdml_record_stopping(bdml_handle *h, bdml_model *model, const bdml_stopping *s)
{
    json_t *o =
        json_pack("{s:s, s:o, s:o, s:b, s:I, s:o}", "rule", s->rule, "reached", number(s->reached),
                  "wanted", number(s->wanted), "converged", (int)(s->reached <= s->wanted),
                  "iterations", (json_int_t)s->iterations, "objective", number(s->objective));
    return bdml_model_tell(h, model, "stopping", o);
}

bdml_status bdml_start_if_late(bdml_handle *h, bdml_status status, bdml_model *model)
{
    if (!bdml_is_late(h, status)) return status;
    BDML_TRY(set_identity(h, model));
    const bdml_stopping stopping = {"time limit, before a first step", INFINITY, 0.0, 0, INFINITY};
    return bdml_record_stopping(h, model, &stopping);
}

bdml_status bdml_learn_map(bdml_handle *h, int q, int d, double *l, bdml_smooth_fn fn, void *user,
                           const bdml_lbfgs_settings *s, bdml_model *model)
{
    bdml_lbfgs_result r;
    BDML_TRY(bdml_lbfgs(h, q * d, l, fn, user, s, &r));
    BDML_TRY(bdml_model_set_map(h, model, q, l));
    const bdml_stopping stopping = {"gradient times size over objective", r.gradient, s->gradient,
                                    r.iterations, r.f};
    return bdml_record_stopping(h, model, &stopping);
}
