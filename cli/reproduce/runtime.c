/* runtime.c - running time of the paper's solver against the dimension and the rounds. */
#include "reproduce.h"

#include <stdlib.h>
#include <time.h>

enum { DIMENSIONS = 4, LENGTHS = 5, PAIRS = 900, POINTS = 600 };
static const int dimensions[DIMENSIONS] = {10, 50, 100, 300};
static const int lengths[LENGTHS] = {100, 500, 1000, 2000, 5000};

/* Longest run of a quick study. */
static int lengths_of(const rp_run *r)
{
    return r->quick ? 3 : LENGTHS;
}

static int count(const rp_run *r)
{
    (void)r;
    return DIMENSIONS;
}

/* The data: DATA, the LFW features where they are, Gaussian points otherwise. */
static const char *data_of(const rp_run *r, char *path)
{
    return r->data ? r->data : rp_data("lfw/lfw_sift9x3.npz", path);
}

static void key(const rp_run *r, int i, char *out, size_t size)
{
    char path[RP_PATH];
    snprintf(out, size, "d %d T %d %s", dimensions[i], lengths[lengths_of(r) - 1],
             data_of(r, path) ? (r->data ? r->data : "LFW") : "Gaussian");
}

/* A number in 0 .. 2^64-1 for each call: splitmix64. */
static uint64_t draw_bits(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* About normal: the sum of twelve uniform numbers, less its mean. */
static double draw_normal(uint64_t *state)
{
    double sum = -6.0;
    for (int k = 0; k < 12; k++) sum += (double)(draw_bits(state) >> 11) * 0x1p-53;
    return sum;
}

/* Points of d dimensions: principal components of the data, or Gaussian. */
static bdml_status make_points(bdml_handle *h, const bdml_dataset *data, int d, uint64_t *state,
                               bdml_dataset **out)
{
    bdml_status status = BDML_OK;
    bdml_prepare *pca = NULL;
    char number[16];
    double *x = NULL;
    int64_t n = data ? bdml_dataset_points(data) : POINTS;

    NEW(h, x, (size_t)n * (size_t)d);
    if (data) {
        snprintf(number, sizeof number, "%d", d);
        GO(bdml_set(h, "pca", number));
        GO(bdml_fit_preparation(h, data, &pca));
        GO(bdml_set(h, "pca", NULL));
        GO(bdml_prepare_rows(h, pca, n, bdml_dataset_rows(data), bdml_dataset_dimension(data), x));
        GO(bdml_confirm_dataset(h, data));
    } else
        for (int64_t i = 0; i < n * d; i++) x[i] = draw_normal(state);
    status = bdml_dataset_from_arrays(h, n, d, x, d, NULL, out);
done:
    bdml_free_preparation(pca);
    free(x);
    return status;
}

/* PAIRS random impostor and target pairs. */
static bdml_status make_pairs(bdml_handle *h, int64_t n, uint64_t *state, bdml_constraints **out)
{
    int32_t target[2 * PAIRS], impostor[2 * PAIRS];
    for (int k = 0; k < 4 * PAIRS; k += 2) {
        int32_t *pair = k < 2 * PAIRS ? target + k : impostor + (k - 2 * PAIRS);
        pair[0] = (int32_t)(draw_bits(state) % (uint64_t)n);
        pair[1] = (int32_t)((pair[0] + 1 + (int64_t)(draw_bits(state) % (uint64_t)(n - 1))) % n);
    }
    return bdml_constraints_from_arrays(h, n, PAIRS, target, PAIRS, impostor, 0, NULL, out);
}

/* Processor seconds of T rounds of Algorithm 2 in the literal form: what the rounds of a whole run cost, one
 * feasibility problem of T rounds after the other, for each round. */
static bdml_status time_rounds(bdml_handle *h, const bdml_dataset *data, const bdml_constraints *c,
                               int T, double *seconds)
{
    bdml_model *model = NULL;
    char bound[32], rounds[16];
    snprintf(bound, sizeof bound, "%d", 3 * bdml_dataset_dimension(data) + 1);
    snprintf(rounds, sizeof rounds, "%d", T);
    TRY(rp_set(h, "solver", "mwu", "literal", "yes", "trace", bound, "rho", bound, "rounds", rounds,
               "kind", "pair", "reference", "none", "gap", "0.99", "keep-points", "no", NULL));
    clock_t start = clock();
    bdml_status status = bdml_train(h, data, c, &model);
    double spent = (double)(clock() - start) / CLOCKS_PER_SEC;
    if (status == BDML_ERR_INFEASIBLE)
        status = BDML_OK; /* rounds that end in a proof cost the same */
    json_t *description =
        status == BDML_OK ? json_loads(bdml_model_describe(model), 0, NULL) : NULL;
    double done = client_real(json_object_get(description, "certificate"), "iterations");
    *seconds = spent * T / done;
    json_decref(description);
    bdml_free_model(model);
    return status;
}

/* POINTS rows spread over the file. */
static bdml_status read_some(bdml_handle *h, const char *path, bdml_dataset **out)
{
    bdml_status status = BDML_OK;
    bdml_dataset *all = NULL;
    int64_t *row = NULL;
    GO(bdml_read_dataset(h, path, &all));
    int64_t points = bdml_dataset_points(all), n = MIN(points, (int64_t)POINTS);
    NEW(h, row, n);
    for (int64_t i = 0; i < n; i++) row[i] = i * (points / n);
    status = bdml_dataset_subset(h, all, n, row, out);
done:
    free(row);
    bdml_free_dataset(all);
    return status;
}

static bdml_status time_dimension(rp_run *r, bdml_handle *h, const bdml_dataset *data, int d,
                                  json_t *seconds)
{
    bdml_status status = BDML_OK;
    bdml_constraints *constraints = NULL;
    bdml_dataset *points = NULL;
    uint64_t state = (uint64_t)bdml_get_number(h, "seed");

    GO(make_points(h, data, d, &state, &points));
    GO(make_pairs(h, bdml_dataset_points(points), &state, &constraints));
    for (int k = 0; k < lengths_of(r); k++) {
        double v;
        GO(time_rounds(h, points, constraints, lengths[k], &v));
        json_array_append_new(seconds, json_real(v));
    }
done:
    bdml_free_constraints(constraints);
    bdml_free_dataset(points);
    return status;
}

static bdml_status run(rp_run *r, int i, json_t **cell)
{
    bdml_status status = BDML_OK;
    bdml_handle *h = NULL;
    bdml_dataset *data = NULL;
    char path[RP_PATH];
    const char *file = data_of(r, path);
    json_t *seconds = json_array();

    GO(rp_handle(r, &h));
    GO(rp_set(h, "threads", "1", r->data ? NULL : "label", "none", NULL));
    if (file) GO(read_some(h, file, &data));
    if (data && bdml_dataset_dimension(data) < dimensions[i]) {
        *cell = rp_missing("%s has %d features, fewer than %d", file, bdml_dataset_dimension(data),
                           dimensions[i]);
        goto done;
    }
    GO(time_dimension(r, h, data, dimensions[i], seconds));
    *cell = json_pack("{s:i, s:O}", "d", dimensions[i], "seconds", seconds);
done:
    if (status != BDML_OK && h && bdml_last_error(h)[0]) rp_failed(r, h, status);
    json_decref(seconds);
    bdml_free_dataset(data);
    bdml_free(h);
    return status;
}

static double seconds_at(rp_run *r, const json_t *cells, int i, int k)
{
    const json_t *v =
        json_array_get(json_object_get(rp_cell(&rp_runtime, r, cells, i), "seconds"), (size_t)k);
    return json_is_number(v) ? json_number_value(v) : (double)NAN;
}

static bdml_status print(rp_run *r, const json_t *cells, FILE *f)
{
    cli_table t;
    int longest = lengths_of(r) - 1;
    fputs("Processor seconds on one thread:\n\n", f);
    cli_table_init(&t, r->c->h, "lrrrrrr");
    t.markdown = true;
    cli_cell(&t, "d");
    for (int k = 0; k < LENGTHS; k++) cli_cell(&t, "T = %d", lengths[k]);
    cli_cell(&t, "ms a round");
    for (int i = 0; i < DIMENSIONS; i++) {
        cli_cell(&t, "%d", dimensions[i]);
        for (int k = 0; k < LENGTHS; k++) cli_cell_real(&t, "%.3f", seconds_at(r, cells, i, k));
        cli_cell_real(&t, "%.3f", 1e3 * seconds_at(r, cells, i, longest) / lengths[longest]);
    }
    TRY(cli_table_print(&t, f));
    double ours = seconds_at(r, cells, 2, 2);
    if (!isnan(ours))
        fprintf(
            f,
            "\nThe paper prints one figure: about 146 s for d = 100, T = 1000. Ours: %.2f s, %.0f "
            "times faster, on another machine.\n",
            ours, 146.0 / ours);
    return BDML_OK;
}

static bdml_status draw(rp_run *r, const json_t *cells, const char *path)
{
    const char *const names[] = {"d = 10", "d = 50", "d = 100", "d = 300", "the paper, d = 100"};
    double x[LENGTHS], y[(DIMENSIONS + 1) * LENGTHS];
    for (int k = 0; k < LENGTHS; k++) {
        x[k] = lengths[k];
        for (int i = 0; i < DIMENSIONS; i++) y[i * LENGTHS + k] = seconds_at(r, cells, i, k);
        y[DIMENSIONS * LENGTHS + k] = lengths[k] == 1000 ? 146.0 : (double)NAN;
    }
    cli_curves plot = {.title = "Running time of the MWU solver",
                       .x_label = "rounds T",
                       .y_label = "seconds",
                       .log_y = true,
                       .series = DIMENSIONS + 1,
                       .points = LENGTHS,
                       .name = names,
                       .x = x,
                       .y = y};
    return cli_curves_write(r->c, &plot, path);
}

const rp_study rp_runtime = {
    "runtime",
    "Appendix: running time",
    "Algorithm 2 in its literal form, R = rho = 3d + 1, 900 impostor pairs of 600 points: "
    "principal "
    "components of the LFW features where they are at hand, Gaussian points otherwise.",
    count,
    key,
    run,
    print,
    draw};
