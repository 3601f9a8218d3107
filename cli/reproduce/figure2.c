/* figure2.c - the paper's Figure 2: test error against the logarithm of the condition number, for pairs and
 * for triplets, on Segment and Iris. */
#include "reproduce.h"

typedef struct curve {
    const char *title, *path, *kind;
} curve;
static const curve curves[] = {{"Segment, t-BDML", "data/segment.csv", "triplet"},
                               {"Segment, p-BDML", "data/segment.csv", "pair"},
                               {"Iris, t-BDML", "data/iris.csv", "triplet"},
                               {"Iris, p-BDML", "data/iris.csv", "pair"}};
enum { CURVES = sizeof curves / sizeof *curves, MOST_K = 32 };

static int splits_of(const rp_run *r)
{
    return r->quick ? 2 : 10;
}

static int count(const rp_run *r)
{
    (void)r;
    return CURVES;
}

static void key(const rp_run *r, int i, char *out, size_t size)
{
    snprintf(out, size, "%s splits %d", curves[i].title, splits_of(r));
}

static bdml_status prepare(rp_run *r, int i, bdml_handle *h, bdml_dataset **data)
{
    TRY(bdml_set(h, "kind", curves[i].kind));
    TRY(rp_set_real(h, "splits", splits_of(r)));
    return bdml_read_dataset(h, curves[i].path, data);
}

static bdml_status run(rp_run *r, int i, json_t **cell)
{
    return rp_run_cell(r, i, prepare, bdml_path, cell);
}

static bdml_status print(rp_run *r, const json_t *cells, FILE *f)
{
    cli_table t;
    cli_table_init(&t, r->c->h, "lrrrr");
    t.markdown = true;
    cli_cell(&t, "K");
    for (int i = 0; i < CURVES; i++) cli_cell(&t, "%s", curves[i].title);
    const json_t *first = json_object_get(rp_cell(&rp_figure2, r, cells, 0), "path");
    for (size_t k = 0; k < json_array_size(first); k++) {
        cli_cell(&t, "%g", client_real(json_array_get(first, k), "distortion"));
        for (int i = 0; i < CURVES; i++) {
            const json_t *path = json_object_get(rp_cell(&rp_figure2, r, cells, i), "path");
            const json_t *at = json_array_get(path, k);
            rp_cell_pair(&t, "%.2f", client_real(at, "test_error"), client_real(at, "test_se"));
        }
    }
    fputs("Test error in % (standard error over the splits) with the distortion capped at K:\n\n",
          f);
    TRY(cli_table_print(&t, f));
    fputs("\n", f);
    for (int i = 0; i < CURVES; i++) {
        const char *text = json_string_value(
            json_object_get(json_object_get(rp_cell(&rp_figure2, r, cells, i), "shape"), "text"));
        fprintf(f, "- %s: %s\n", curves[i].title, text ? text : "not run");
    }
    return BDML_OK;
}

static bdml_status draw(rp_run *r, const json_t *cells, const char *path)
{
    const char *names[CURVES];
    double x[MOST_K], y[CURVES * MOST_K];
    const json_t *first = json_object_get(rp_cell(&rp_figure2, r, cells, 0), "path");
    int n = (int)MIN(json_array_size(first), (size_t)MOST_K);
    for (int k = 0; k < n; k++)
        x[k] = log(client_real(json_array_get(first, (size_t)k), "distortion"));
    for (int i = 0; i < CURVES; i++) {
        const json_t *list = json_object_get(rp_cell(&rp_figure2, r, cells, i), "path");
        names[i] = curves[i].title;
        for (int k = 0; k < n; k++)
            y[i * n + k] = client_real(json_array_get(list, (size_t)k), "test_error");
    }
    cli_curves plot = {.title = "Test error against distortion",
                       .x_label = "ln K",
                       .y_label = "3-NN error, %",
                       .series = CURVES,
                       .points = n,
                       .name = names,
                       .x = x,
                       .y = y};
    return cli_curves_write(r->c, &plot, path);
}

const rp_study rp_figure2 = {"figure2",
                             "Figure 2: error against distortion",
                             "3-NN, 10 random 70/30 splits (quick: 2), soft constraints relative "
                             "to the z-scored points. The paper "
                             "shows curves without figures: errors that first fall and then rise "
                             "with the condition number. Whether "
                             "ours do is judged with paired standard errors over the splits.",
                             count,
                             key,
                             run,
                             print,
                             draw};
