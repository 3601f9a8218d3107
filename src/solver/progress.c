/* progress.c - the progress table: header, rows, footer, all in the user's units. */
#include "solver/engine.h"

static const char RULE[] =
    "---------------------------------------------------------------------------";

void bdml_table_header(bdml_engine *e)
{
    bdml_handle *h = e->h;
    const bdml_solve_settings *s = e->s;
    char times[40] = "";
    if (!h->log) return;
    bdml_log(h, BDML_LOG_TABLE, "%s", RULE);
    bdml_log(h, BDML_LOG_TABLE, " bdml %s   certified solver, %s", bdml_version(),
             e->scaled.set.ops->name);
    bdml_log(h, BDML_LOG_TABLE, " problem   n %lld, d %d (span %d%s), constraints %.0f",
             (long long)e->p->stated.n, e->p->d, e->X.r, e->X.ops->turns ? "" : ", diagonal",
             e->scaled.terms.space.total);
    if (s->hard)
        bdml_log(h, BDML_LOG_TABLE, " settings  hard, K %g, R %g, mu %g, gap %g, max_iter %lld",
                 s->K, s->trace, s->margin, s->gap, (long long)s->max_iter);
    if (!isnan(e->scaled.C0))
        bdml_snprintf(h->c_locale, times, sizeof times, " = %.3g C0", e->scaled.C / e->scaled.C0);
    if (!s->hard)
        bdml_log(h, BDML_LOG_TABLE, " settings  %s, C %.4g%s, K %g, R %g, mu %g, gap %g",
                 s->loss == BDML_LOSS_HINGE ? "hinge" : "squared hinge", e->scaled.C, times, s->K,
                 s->trace, s->margin, s->gap);
    bdml_log(h, BDML_LOG_TABLE, "%s", RULE);
    bdml_log(h, BDML_LOG_TABLE,
             "  iter        upper        lower       gap   pri res   dua res   active     time");
}

void bdml_table_row(bdml_engine *e)
{
    const bdml_bounds *bounds = &e->bounds;
    bdml_course *course = &e->course;
    double unit_f = e->scaled.unit.f;
    if (!e->h->log) return;
    bdml_log(e->h, BDML_LOG_TABLE, "%6lld  %+11.4e  %+11.4e  %8.1e%c %8.1e  %8.1e  %7lld %7.2fs",
             (long long)course->iterations, bounds->upper * unit_f, bounds->lower * unit_f,
             bdml_bounds_gap(bounds), course->table_star ? '*' : ' ', e->dual.primal,
             e->at.residual, (long long)e->active.terms.space.total,
             course->earlier + bdml_now() - course->started);
    course->table_star = false;
}

static const char *stop_text(const bdml_solve_result *r)
{
    switch (r->stop) {
    case BDML_STOP_ITERATIONS:
        return "stopped at the iteration limit";
    case BDML_STOP_TIME:
        return "stopped at the time limit";
    case BDML_STOP_CANCELLED:
        return "stopped on request";
    case BDML_STOP_STALLED:
        return "stopped: rounding keeps the gap open";
    case BDML_STOP_DONE:
        break;
    }
    if (r->outcome == BDML_INFEASIBLE)
        return r->proof == BDML_PROOF_CONE    ? "infeasible for every margin and trace bound"
               : r->proof == BDML_PROOF_TRACE ? "no metric below a very large trace"
                                              : "infeasible for this margin and trace bound";
    return r->collapsed ? "optimal, collapsed to M = 0" : "optimal";
}

void bdml_table_footer(bdml_engine *e, const bdml_solve_result *r)
{
    bdml_handle *h = e->h;
    if (!h->log) return;
    bdml_log(h, BDML_LOG_TABLE, "%s", RULE);
    bdml_log(h, BDML_LOG_TABLE, " status    %s, %lld iterations, %.2fs", stop_text(r),
             (long long)r->iterations, r->seconds);
    if (r->outcome == BDML_INFEASIBLE)
        bdml_log(h, BDML_LOG_TABLE, " proof     %lld of %lld constraints contradict each other",
                 (long long)r->contradicting, (long long)e->scaled.terms.space.total);
    else
        bdml_log(h, BDML_LOG_TABLE,
                 " result    optimum in [%.7g, %.7g], gap %.1e, kappa %.6g, trace %.6g", r->lower,
                 r->upper, r->gap, r->kappa, r->trace);
}
