/* guarantee.c - settings checked, row scales, widths, and the step and rounds that the proof of Theorem 1 asks
 * for:
 *
 *     epsilon = C1 delta / rho,   T = C2 rho^2 ln m / delta^2,   C1 = 1/4,  C2 = 8
 *
 * with |s_i (J_i.Y - h_i)| <= rho over the whole easy set, and delta times the least s_i as the error of the
 * scaled rows, so that no row of the user's is missed by more than delta. */
#include "paper/mwu.h"

static const double C1 = 0.25, C2 = 8.0;

bdml_paper_settings bdml_paper_defaults(bdml_paper_form form)
{
    return (bdml_paper_settings){.form = form,
                                 .K = 10.0,
                                 .trace = INFINITY,
                                 .margin = 1.0,
                                 .rounds = 1000,
                                 .distortion_weight = 1.0,
                                 .gap = 1e-2,
                                 .starts = 4};
}

bdml_paper_settings bdml_paper_from_options(const bdml_solve_options *solve,
                                            const bdml_mwu_options *o)
{
    bool cone = solve->solver.value == BDML_SOLVER_MWU_CONE;
    bdml_paper_settings s = bdml_paper_defaults(cone ? BDML_PAPER_CONE : BDML_PAPER_LIFTED);
    s.literal = o->literal.value;
    s.K = solve->distortion.value;
    s.trace = solve->trace.value > 0.0 ? solve->trace.value : INFINITY;
    s.margin = solve->margin.value;
    s.delta = o->delta.value;
    s.rho = o->rho.value;
    s.rho_negative = o->rho_negative.value;
    s.rounds = o->rounds.value;
    s.epsilon = o->epsilon.value;
    s.scaling = (bdml_row_scaling)o->row_scaling.value;
    s.distortion_weight = o->distortion_weight.value;
    s.floor = o->weight_floor.value;
    if (solve->gap.given) s.gap = solve->gap.value;
    s.starts = (int)o->starts.value;
    return s;
}

bdml_status bdml_paper_check(bdml_handle *h, const bdml_paper_settings *s)
{
    BDML_TRY(bdml_check_distortion(h, s->K));
    if (!(s->trace > 0.0))
        return bdml_fail(h, BDML_ERR_ARGUMENT, "trace (R) must be positive, got %g", s->trace);
    if (s->literal && s->form == BDML_PAPER_CONE)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "literal is a form of solver mwu; mwu-cone is not in the paper");
    if (s->literal && !isfinite(s->trace))
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "the literal form needs a trace bound: set trace to a positive R, for "
                         "instance ten times the dimension");
    if (!(s->margin > 0.0 && isfinite(s->margin)))
        return bdml_fail(h, BDML_ERR_ARGUMENT, "margin must be positive and finite, got %g",
                         s->margin);
    if (!(s->rho >= 0.0 && isfinite(s->rho)))
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "rho must be positive, or 0 for the width that the rows have, got %g",
                         s->rho);
    if (!(s->rho_negative >= 0.0 && isfinite(s->rho_negative)))
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "rho-negative must be positive, or 0 for the same as rho, got %g",
                         s->rho_negative);
    if (!(s->delta >= 0.0 && isfinite(s->delta)))
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "delta must be positive, or 0 for a fixed number of rounds, got %g",
                         s->delta);
    if (s->delta == 0.0 && s->rounds < 1)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "rounds (T) must be at least 1 unless delta is given, got %lld",
                         (long long)s->rounds);
    if (!(s->epsilon >= 0.0 && s->epsilon <= 0.5))
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "epsilon must be at most 1/2 (0 = chosen), or the proof fails; got %g",
                         s->epsilon);
    if (s->delta > 0.0 && s->rho_negative > 0.0 && s->rho_negative != s->rho)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "delta promises what is proven for one width: leave out rho-negative");
    if (!(s->distortion_weight > 0.0 && isfinite(s->distortion_weight)))
        return bdml_fail(h, BDML_ERR_ARGUMENT, "distortion-weight must be positive, got %g",
                         s->distortion_weight);
    if (!(s->floor >= 0.0 && s->floor < 1.0) || (s->delta > 0.0 && s->floor > 0.0))
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "weight-floor must be from 0 to below 1, and 0 with delta; got %g",
                         s->floor);
    if (!(s->gap > 0.0 && s->gap < 1.0))
        return bdml_fail(h, BDML_ERR_ARGUMENT, "gap must be above 0 and below 1, got %g", s->gap);
    return BDML_OK;
}

/* ---- rows ------------------------------------------------------------------------------------------------ */

/* Range of <A_t,M> over the easy set, from spectra that enclose that of A_t. */
static void row_range(bdml_mwu *w, int64_t t, double *low, double *high)
{
    double ignored;
    w->A->ops->enclose(w->d, w->low[t], w->high[t], w->under, w->over);
    w->form->range(w, w->under, low, &ignored);
    w->form->range(w, w->over, &ignored, high);
}

static double row_width(double low, double high, double h)
{
    return BDML_MAX(fabs(low - h), fabs(high - h));
}

/* Scales s_i and the widths that they give; *least: smallest s_i. */
static void scale_rows(bdml_mwu *w, bdml_row_scaling scaling, double *least)
{
    double low, high, width;
    w->form->range(w, w->g_lambda, &low, &high);
    width = row_width(low, high, w->bound);
    double plain = scaling == BDML_ROW_SCALING_OBJECTIVE ? 1.0 / w->g_norm : 1.0;
    w->scale0 = scaling == BDML_ROW_SCALING_WIDTH ? 1.0 / width : plain;
    w->width = w->scale0 * width;
    *least = w->scale0;
    for (int64_t t = 0; t < w->m; t++) {
        row_range(w, t, &low, &high);
        width = row_width(low, high, w->mu[t]);
        w->scale[t] = scaling == BDML_ROW_SCALING_WIDTH && width > 0.0 ? 1.0 / width : plain;
        w->width = BDML_MAX(w->width, w->scale[t] * width);
        *least = BDML_MIN(*least, w->scale[t]);
    }
    w->width = bdml_comm_largest(w->A->space.comm, w->width);
    *least = bdml_comm_least(w->A->space.comm, *least);
    if (w->form->scale_rows) w->form->scale_rows(w, &w->width, least);
}

double bdml_guarantee_rounds(int64_t rows, double epsilon)
{
    return ceil(C2 * C1 * C1 * log((double)rows) / (epsilon * epsilon));
}

bdml_status bdml_guarantee_set(bdml_mwu *w, bdml_mwu_result *r)
{
    const bdml_paper_settings *s = &w->s;
    bdml_row_scaling scaling = s->scaling;
    double least;
    if (scaling == BDML_ROW_SCALING_AUTO)
        scaling = s->form == BDML_PAPER_LIFTED && s->delta == 0.0 ? BDML_ROW_SCALING_NONE
                                                                  : BDML_ROW_SCALING_WIDTH;
    w->scaling = scaling;
    w->rows = w->form->count_rows(w);
    if (w->form->begin) w->form->begin(w);
    scale_rows(w, scaling, &least);
    w->rho = s->rho > 0.0 ? s->rho : w->width;
    w->observed = w->form->factored && s->rho == 0.0 && s->delta == 0.0;
    if (w->observed) w->rho = 0.0;
    w->rho_negative = s->rho_negative > 0.0 ? s->rho_negative : w->rho;
    w->delta = s->delta * least;
    if (s->delta > 0.0) {
        if (w->rho < w->width * (1.0 - 1e-12))
            return bdml_fail(w->h, BDML_ERR_ARGUMENT,
                             "rho = %g is exceeded: the width of the rows is %.6g at trace %g; "
                             "leave rho out or raise it to that",
                             w->rho, w->width, w->R);
        w->epsilon = C1 * w->delta / w->rho;
        if (w->epsilon > 0.5)
            return bdml_fail(w->h, BDML_ERR_ARGUMENT,
                             "delta = %g gives a step epsilon = %g above 1/2: delta must be at "
                             "most %g, twice the width",
                             s->delta, w->epsilon, 2.0 * w->rho / least);
        r->T = bdml_guarantee_rounds(w->rows, w->epsilon);
    } else {
        double best = sqrt(log((double)w->rows) / (2.0 * (double)s->rounds));
        w->epsilon = s->epsilon > 0.0 ? s->epsilon : BDML_MIN(best, 0.5);
        r->T = (double)s->rounds;
    }
    r->rows = w->rows;
    r->width = w->width;
    r->rho = w->rho;
    return BDML_OK;
}
