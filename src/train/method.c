/* method.c - the method bdml: a plan, and its fit. */
#include "train/plan.h"

bdml_status bdml_fit_bdml(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                          bdml_model *model)
{
    bdml_plan plan;
    bdml_training own = *t;
    bdml_status status = bdml_plan_make(h, o, t, &plan);

    plan.class_name = model->class_name;
    if (plan.pairs) own.y = NULL; /* what is known are the pairs, also where there are classes */
    if (status == BDML_OK)
        status = o->rank.rank.value > 0
                     ? bdml_fit_lowrank(h, &plan, &own, model)
                     : bdml_fit_plan(h, &plan, &own, (bdml_mapped){0, NULL}, model);
    bdml_plan_free(&plan);
    return status;
}
