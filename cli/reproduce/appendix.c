/* appendix.c - the tables of the paper's appendix: Iris, T = 1000, mu = 1, against K, and against R and rho. */
#include "reproduce.h"

enum { FIGURES = 3, ROUNDS = 1000, CELLS = 6 };

/* A row of a table of the paper: parameters, and condition number, error and its deviation. */
typedef struct paper_row {
    double K, R, rho;
    double figure[FIGURES];
} paper_row;

static const paper_row distortion_rows[] = {
    {1e1, 100, 500, {1.454, 4.222, 2.446}},    {1e2, 100, 500, {2.165, 3.333, 2.160}},
    {1e3, 100, 500, {2.158, 4.222, 2.147}},    {1e4, 100, 500, {37.567, 5.333, 2.859}},
    {1e5, 100, 500, {2962.094, 6.222, 3.443}},
};
static const paper_row width_rows[] = {
    {1e3, 1e2, 1e2, {2.682, 4.222, 2.210}}, {1e3, 1e2, 5e2, {1.638, 4.222, 1.640}},
    {1e3, 1e2, 1e3, {2.354, 5.111, 1.500}}, {1e3, 1e3, 1e3, {2.768, 5.778, 2.608}},
    {1e3, 1e3, 5e3, {1.611, 4.889, 1.753}}, {1e3, 1e3, 1e4, {2.360, 7.111, 2.295}},
};
enum {
    DISTORTION_ROWS = sizeof distortion_rows / sizeof *distortion_rows,
    WIDTH_ROWS = sizeof width_rows / sizeof *width_rows
};

/* Cells: row by row, the literal solver and the one over the cone. */
static int distortion_count(const rp_run *r)
{
    (void)r;
    return 2 * DISTORTION_ROWS;
}
static int width_count(const rp_run *r)
{
    (void)r;
    return 2 * WIDTH_ROWS;
}

static int splits_of(const rp_run *r)
{
    if (bdml_is_given(r->c->h, "splits")) return (int)bdml_get_number(r->c->h, "splits");
    return r->quick ? 2 : 10;
}

static const char *data_of(const rp_run *r)
{
    return r->data ? r->data : "data/iris.csv";
}

static void row_key(const rp_run *r, const paper_row *row, bool cone, char *out, size_t size)
{
    snprintf(out, size, "%s K %g R %g rho %g splits %d", cone ? "cone" : "literal", row->K, row->R,
             row->rho, splits_of(r));
    rp_passed(r, out, size);
    if (r->data) snprintf(out + strlen(out), size - strlen(out), " %s", r->data);
}
static void distortion_key(const rp_run *r, int i, char *out, size_t size)
{
    row_key(r, &distortion_rows[i / 2], i % 2, out, size);
}
static void width_key(const rp_run *r, int i, char *out, size_t size)
{
    row_key(r, &width_rows[i / 2], i % 2, out, size);
}

static bdml_status set_row(rp_run *r, const paper_row *row, bool cone, bdml_handle *h,
                           bdml_dataset **data)
{
    TRY(rp_set(h, "scale", "zscore", "kind", "pair", "rule", "nearest", "solver",
               cone ? "mwu-cone" : "mwu", "literal", cone ? "no" : "yes", "gap",
               cone ? "0.1" : "0.01", NULL));
    TRY(rp_set_real(h, "splits", splits_of(r)));
    TRY(rp_set_real(h, "distortion", row->K));
    TRY(rp_set_real(h, "trace", row->R));
    TRY(rp_set_real(h, "rounds", ROUNDS));
    TRY(rp_pass(r, h));
    /* rho is the width of rows as they stand: 0 (their own) when they are scaled to it, and of no meaning to the cone */
    bool scaled = strcmp(bdml_get(h, "row-scaling"), "width") == 0;
    TRY(rp_set_real(h, "rho", cone || scaled ? 0.0 : row->rho));
    if (cone) TRY(rp_set_real(h, "rho-negative", 0.0));
    return bdml_read_dataset(h, data_of(r), data);
}
static bdml_status distortion_prepare(rp_run *r, int i, bdml_handle *h, bdml_dataset **data)
{
    return set_row(r, &distortion_rows[i / 2], i % 2, h, data);
}
static bdml_status width_prepare(rp_run *r, int i, bdml_handle *h, bdml_dataset **data)
{
    return set_row(r, &width_rows[i / 2], i % 2, h, data);
}

/* Condition number, error and deviation over the splits; infeasible where that is proven of a split. */
static bdml_status distortion_run(rp_run *r, int i, json_t **cell)
{
    return rp_run_cell(r, i, distortion_prepare, bdml_evaluate, cell);
}
static bdml_status width_run(rp_run *r, int i, json_t **cell)
{
    return rp_run_cell(r, i, width_prepare, bdml_evaluate, cell);
}

/* Of a cell; NaN where it is proven infeasible, an infinite kappa where the metric is singular. */
static void figures_of(const json_t *cell, double figure[FIGURES])
{
    const json_t *method = json_array_get(json_object_get(cell, "methods"), 0);
    figure[0] = client_real(method, "kappa");
    figure[1] = client_real(method, "error_mean");
    figure[2] = client_real(method, "error_std");
    if (isnan(figure[0]) && !isnan(figure[1])) figure[0] = INFINITY;
}

static bdml_status print_rows(rp_run *r, const rp_study *s, int count, const paper_row *rows,
                              const json_t *cells, FILE *f)
{
    cli_table t;
    const char *const heads[] = {"K",       "R",   "rho", "kappa", "err", "std",
                                 "literal", "err", "std", "cone",  "err", "std"};
    fputs("Condition number, 3-NN error % and its deviation: the paper's; ours with `--solver mwu "
          "--literal`; ours with `--solver mwu-cone`.\n\n",
          f);
    cli_table_init(&t, r->c->h, "rrrrrrrrrrrr");
    t.markdown = true;
    for (int k = 0; k < 12; k++) cli_cell(&t, "%s", heads[k]);
    for (int k = 0; k < count; k++) {
        cli_cell(&t, "%.0e", rows[k].K);
        cli_cell(&t, "%g", rows[k].R);
        cli_cell(&t, "%g", rows[k].rho);
        for (int who = 0; who < 3; who++) {
            double figure[FIGURES];
            if (who == 0)
                memcpy(figure, rows[k].figure, sizeof figure);
            else
                figures_of(rp_cell(s, r, cells, 2 * k + who - 1), figure);
            for (int j = 0; j < FIGURES; j++) cli_cell_real(&t, j ? "%.2f" : "%.4g", figure[j]);
        }
    }
    return cli_table_print(&t, f);
}
static bdml_status distortion_print(rp_run *r, const json_t *cells, FILE *f)
{
    return print_rows(r, &rp_distortion, DISTORTION_ROWS, distortion_rows, cells, f);
}
static bdml_status width_print(rp_run *r, const json_t *cells, FILE *f)
{
    return print_rows(r, &rp_trace_width, WIDTH_ROWS, width_rows, cells, f);
}

static bdml_status draw_rows(rp_run *r, const rp_study *s, int count, const paper_row *rows,
                             bool by_K, const json_t *cells, const char *path)
{
    const char *const names[] = {"the paper", "mwu --literal", "mwu-cone"};
    double x[CELLS], y[3 * CELLS], figure[FIGURES];
    for (int k = 0; k < count; k++) {
        x[k] = by_K ? rows[k].K : k + 1;
        y[k] = rows[k].figure[1];
        for (int who = 0; who < 2; who++) {
            figures_of(rp_cell(s, r, cells, 2 * k + who), figure);
            y[(who + 1) * count + k] = figure[1];
        }
    }
    cli_curves plot = {.title =
                           by_K ? "3-NN error and the distortion bound" : "3-NN error, R and rho",
                       .x_label = by_K ? "K" : "row of the table",
                       .y_label = "error, %",
                       .log_x = by_K,
                       .series = 3,
                       .points = count,
                       .name = names,
                       .x = x,
                       .y = y};
    return cli_curves_write(r->c, &plot, path);
}
static bdml_status distortion_draw(rp_run *r, const json_t *cells, const char *path)
{
    return draw_rows(r, &rp_distortion, DISTORTION_ROWS, distortion_rows, true, cells, path);
}
static bdml_status width_draw(rp_run *r, const json_t *cells, const char *path)
{
    return draw_rows(r, &rp_trace_width, WIDTH_ROWS, width_rows, false, cells, path);
}

const rp_study rp_distortion = {
    "distortion",
    "Appendix: the distortion bound K",
    "Iris, z-scored, pairs by the 3 nearest neighbours, T = 1000, mu = 1, R = 100, rho = 500; "
    "70/30 "
    "splits, 3-NN. What agrees with the paper and what does not: docs/paper-solver.md.",
    distortion_count,
    distortion_key,
    distortion_run,
    distortion_print,
    distortion_draw};
const rp_study rp_trace_width = {"trace-width",
                                 "Appendix: trace bound R and width rho",
                                 "As before with K = 1000.",
                                 width_count,
                                 width_key,
                                 width_run,
                                 width_print,
                                 width_draw};
