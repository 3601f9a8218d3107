/* settings.c - settings of a solve: defaults, from the options, checked. */
#include "solver/engine.h"

bdml_solve_settings bdml_solve_defaults(void)
{
    return (bdml_solve_settings){.set = BDML_SET_DISTORTION,
                                 .K = 10.0,
                                 .trace = INFINITY,
                                 .margin = 1.0,
                                 .loss = BDML_LOSS_SQUARED_HINGE,
                                 .softness = 5.0,
                                 .gap = 1e-3,
                                 .max_iter = 100000};
}

bdml_solve_settings bdml_solve_from_options(const bdml_solve_options *o)
{
    bdml_solve_settings s = bdml_solve_defaults();
    s.K = o->distortion.value;
    s.trace = o->trace.value > 0.0 ? o->trace.value : INFINITY;
    s.margin = o->margin.value;
    s.hard = o->hard.value;
    s.loss = (bdml_loss)o->loss.value;
    s.softness = o->softness.value;
    s.gap = o->gap.value;
    s.max_iter = o->max_iter.value;
    return s;
}

bdml_status bdml_check_distortion(bdml_handle *h, double K)
{
    const bdml_option *o = bdml_option_at(BDML_OPT_DISTORTION);
    if (K >= o->min && K <= o->max) return BDML_OK;
    return bdml_fail(h, BDML_ERR_ARGUMENT, "distortion must be from %g to %g, got %g", o->min,
                     o->max, K);
}

bdml_status bdml_check_settings(bdml_handle *h, const bdml_solve_settings *s)
{
    bool capped = s->set == BDML_SET_DISTORTION || s->set == BDML_SET_RANK;
    if (capped) BDML_TRY(bdml_check_distortion(h, s->K));
    if (!(s->trace > 0.0))
        return bdml_fail(h, BDML_ERR_ARGUMENT, "trace must be positive, got %g", s->trace);
    if (s->set == BDML_SET_PSD_SIMPLEX && !isfinite(s->trace))
        return bdml_fail(h, BDML_ERR_ARGUMENT, "a fixed trace must be finite, got %g", s->trace);
    if ((s->set == BDML_SET_HULL || s->set == BDML_SET_RANK) && s->rank < 1)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "rank must be at least 1, got %d", s->rank);
    for (int i = 0; s->set == BDML_SET_HULL && i < s->rank; i++)
        if (!(s->spectrum[i] >= (i > 0 ? s->spectrum[i - 1] : 0.0) &&
              s->spectrum[s->rank - 1] > 0.0))
            return bdml_fail(h, BDML_ERR_ARGUMENT,
                             "a spectrum must be ascending, not below 0 and not all 0");
    if (!(s->margin > 0.0 && isfinite(s->margin)))
        return bdml_fail(h, BDML_ERR_ARGUMENT, "margin must be positive and finite, got %g",
                         s->margin);
    if (!s->hard && !(s->C > 0.0) && !(s->softness > 0.0 && isfinite(s->softness)))
        return bdml_fail(h, BDML_ERR_ARGUMENT, "softness must be positive and finite, got %g",
                         s->softness);
    if (!(s->gap > 0.0 && s->gap < 1.0))
        return bdml_fail(h, BDML_ERR_ARGUMENT, "gap must be above 0 and below 1, got %g", s->gap);
    if (s->max_iter < 1)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "max-iter must be at least 1, got %lld",
                         (long long)s->max_iter);
    if (s->save && !(s->save_every >= 0.0))
        return bdml_fail(h, BDML_ERR_ARGUMENT, "every must be at least 0 seconds, got %g",
                         s->save_every);
    return BDML_OK;
}
