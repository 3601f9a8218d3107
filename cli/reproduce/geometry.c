/* geometry.c - the paper's Figure 1: what logDet and the F-norm do not see. */
#include "reproduce.h"

#include "report/report.h"

static int count(const rp_run *r)
{
    (void)r;
    return 3;
}

static void key(const rp_run *r, int i, char *out, size_t size)
{
    (void)r;
    snprintf(out, size, "%c", 'a' + i);
}

static bdml_status run(rp_run *r, int i, json_t **cell)
{
    const double *l = study_ellipsoids[i];
    (void)r;
    *cell = json_pack("{s:[f,f,f], s:f, s:f, s:f}", "eigenvalues", l[0], l[1], l[2], "log_det",
                      log(l[0] * l[1] * l[2]), "frobenius",
                      sqrt(l[0] * l[0] + l[1] * l[1] + l[2] * l[2]), "kappa", l[0] / l[2]);
    return BDML_OK;
}

static bdml_status print(rp_run *r, const json_t *cells, FILE *f)
{
    cli_table t;
    cli_table_init(&t, r->c->h, "lrrrll");
    t.markdown = true;
    const char *const heads[] = {"ellipsoid", "logDet", "F-norm", "kappa", "paper", "eigenvalues"};
    static const char *const paper[] = {"logDet 3.5", "F-norm 7.2", "logDet 3.5, F-norm 7.2"};
    for (int k = 0; k < 6; k++) cli_cell(&t, "%s", heads[k]);
    for (int i = 0; i < 3; i++) {
        const json_t *cell = rp_cell(&rp_geometry, r, cells, i);
        cli_cell(&t, "(%c)", 'a' + i);
        cli_cell_real(&t, "%.2f", client_real(cell, "log_det"));
        cli_cell_real(&t, "%.2f", client_real(cell, "frobenius"));
        cli_cell_real(&t, "%.3g", client_real(cell, "kappa"));
        cli_cell(&t, "%s", paper[i]);
        cli_cell(&t, "%.4g, %.4g, %.4g", study_ellipsoids[i][0], study_ellipsoids[i][1],
                 study_ellipsoids[i][2]);
    }
    return cli_table_print(&t, f);
}

static bdml_status draw(rp_run *r, const json_t *cells, const char *path)
{
    bool drawn;
    (void)cells;
    return cli_wrote(r->c, study_figure_write(r->c->h, "ellipsoids", NULL, path, 0, &drawn));
}

const rp_study rp_geometry = {
    "geometry",
    "Figure 1: what distortion is",
    "Ellipsoids x'Mx <= 1 in three dimensions. The paper prints logDet and F-norm alone; the "
    "eigenvalues "
    "are ours, chosen to have them. (a) and (c) have the same volume, (b) and (c) the same F-norm; "
    "only "
    "the condition number, the square of the longest axis over the shortest, tells a stretched one "
    "from a "
    "round one. Picture: `bdml plot --figure "
    "ellipsoids -o ellipsoids.svg`.",
    count,
    key,
    run,
    print,
    draw};
