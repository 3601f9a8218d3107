/* settings.c - settings of a solve: defaults, from the handle's options, checked. */
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

bdml_solve_settings bdml_solve_from_options(const bdml_handle *h)
{
    bdml_solve_settings s = bdml_solve_defaults();
    s.K = bdml_opt_real(h, BDML_OPT_DISTORTION);
    s.trace = bdml_opt_real(h, BDML_OPT_TRACE) > 0.0 ? bdml_opt_real(h, BDML_OPT_TRACE) : INFINITY;
    s.margin = bdml_opt_real(h, BDML_OPT_MARGIN);
    s.hard = bdml_opt_int(h, BDML_OPT_HARD) != 0;
    s.loss = (bdml_loss)bdml_opt_int(h, BDML_OPT_LOSS);
    s.softness = bdml_opt_real(h, BDML_OPT_SOFTNESS);
    s.gap = bdml_opt_real(h, BDML_OPT_GAP);
    s.max_iter = bdml_opt_int(h, BDML_OPT_MAX_ITER);
    s.time_limit = bdml_opt_real(h, BDML_OPT_TIME_LIMIT);
    return s;
}

bdml_status bdml_check_settings(bdml_handle *h, const bdml_solve_settings *s)
{
    bool capped = s->set == BDML_SET_DISTORTION || s->set == BDML_SET_RANK;
    if (capped && !(s->K >= 1.0 && s->K <= 1e15))
        return bdml_fail(h, BDML_ERR_ARGUMENT, "distortion must be from 1 to 1e15, got %g", s->K);
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
    if (!(s->time_limit >= 0.0))
        return bdml_fail(h, BDML_ERR_ARGUMENT, "time-limit must be at least 0, got %g",
                         s->time_limit);
    return BDML_OK;
}
