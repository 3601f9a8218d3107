/* faces.c - the paper's tables on face verification: LFW, restricted, 10 folds. The features are SIFT at
 * fixed points, not the paper's. Entries of other kinds of systems are quoted. */
#include "reproduce.h"

#include <stdlib.h>

#include "tables.h"

/* One cell: the preparation of a fold, which costs most, then serves all methods. */
static int count(const rp_run *r)
{
    (void)r;
    return 1;
}

/* Components of the PCA, fitted without labels. */
static const char *components(const rp_run *r)
{
    return r->quick ? "50" : "150";
}

static void key(const rp_run *r, int i, char *out, size_t size)
{
    (void)i;
    snprintf(out, size, "pca %s", components(r));
}

static bdml_status run(rp_run *r, int i, json_t **cell)
{
    bdml_status status = BDML_OK;
    bdml_handle *h = NULL;
    bdml_dataset *data = NULL;
    char *text = NULL, features[RP_PATH], pairs[RP_PATH];

    (void)i;
    if (!rp_data("lfw/lfw_sift9x3.npz", features) || !rp_data("lfw/pairs.csv", pairs)) {
        *cell = rp_missing("the LFW features are not here: lfw/ in $BDML_DATA");
        return BDML_OK;
    }
    GO(rp_handle(r, &h));
    GO(rp_set(h, "pairs-file", pairs, "pca", components(r), "label", "none", NULL));
    GO(bdml_read_dataset(h, features, &data));
    GO(study_verify_faces(h, data, &text));
    status = rp_take(r, text, cell);
done:
    if (status != BDML_OK && h && bdml_last_error(h)[0]) rp_failed(r, h, status);
    bdml_free_dataset(data);
    bdml_free(h);
    return status;
}

static const json_t *result_of(rp_run *r, const json_t *cells, const char *method)
{
    const json_t *cell = rp_cell(&rp_faces, r, cells, 0);
    size_t i;
    json_t *m;
    json_array_foreach(json_object_get(cell, "methods"), i, m)
    {
        const char *is = json_string_value(json_object_get(m, "method"));
        if (is && method && strcmp(is, method) == 0) return m;
    }
    return NULL;
}

/* p-BDML minus the method, in points, with its standard error over the folds. */
static void difference_cell(cli_table *t, const json_t *mine, const json_t *other)
{
    enum { MOST = 100 };
    double v[2 * MOST];
    const json_t *a = json_object_get(mine, "accuracies"),
                 *b = json_object_get(other, "accuracies");
    int n = (int)json_array_size(a);
    if (n < 2 || n > MOST || json_array_size(b) != (size_t)n || mine == other) {
        cli_cell(t, "-");
        return;
    }
    for (int k = 0; k < n; k++) {
        v[k] = json_number_value(json_array_get(a, (size_t)k));
        v[MOST + k] = json_number_value(json_array_get(b, (size_t)k));
    }
    bdml_paired p = bdml_compare_paired(n, v, v + MOST, 0.0);
    cli_cell(t, "%+.2f (%.2f)", p.difference, p.error);
}

static void print_row(rp_run *r, cli_table *t, const json_t *cells, const study_face_row *e)
{
    const json_t *m = result_of(r, cells, e->method);
    double kappa = client_real(m, "kappa");
    if (!e->method)
        cli_cell(t, "%s (quoted)", e->name);
    else
        cli_cell(t, strcmp(e->method, "bdml") == 0 ? "**%s**" : "%s", e->name);
    rp_cell_pair(t, "%.2f", client_real(m, "accuracy_mean"), client_real(m, "accuracy_se"));
    difference_cell(t, result_of(r, cells, "bdml"), m);
    if (m && isnan(kappa))
        cli_cell(t, "inf");
    else
        cli_cell_real(t, "%.4g", kappa);
    cli_cell_real(t, "%.3f", client_real(m, "auc"));
    cli_cell_real(t, "%.2f", client_real(m, "eer"));
    cli_cell_real(t, "%.2f", client_real(m, "fit_seconds"));
    rp_cell_pair(t, "%.2f", e->accuracy, e->standard_error);
    cli_cell_real(t, "%.4g", e->kappa);
}

static bdml_status print(rp_run *r, const json_t *cells, FILE *f)
{
    static const study_face_row plain = {"Euclidean", "euclidean", NAN, NAN, NAN};
    static const char *const heads[] = {"method", "accuracy", "p-BDML minus", "kappa", "AUC",
                                        "EER %",  "fit s",    "paper",        "kappa"};
    cli_table t;
    cli_table_init(&t, r->c->h, "lrrrrrrrr");
    t.markdown = true;
    for (size_t k = 0; k < sizeof heads / sizeof *heads; k++) cli_cell(&t, "%s", heads[k]);
    print_row(r, &t, cells, &plain);
    for (int k = 0; k < study_face_row_count; k++) print_row(r, &t, cells, &study_face_rows[k]);
    fputs("Mean accuracy in % (standard error over the folds); differences paired by fold:\n\n", f);
    return cli_table_print(&t, f);
}

const rp_study rp_faces = {
    "faces",
    "Face verification",
    "LFW view 2, restricted: 10 folds of 300 same and 300 different pairs, metric and threshold "
    "learned on "
    "the other nine. **Not the paper's features**: SIFT at nine fixed points of the deep-funneled "
    "images "
    "(3456 dimensions), PCA to 150 (quick: 50) without labels; the paper has detected points and "
    "PCA to 800. "
    "So its column says what such systems reached, not what these methods reach on these features. "
    "What was "
    "settled with a look at these folds: docs/verification.md.",
    count,
    key,
    run,
    print,
    NULL};
