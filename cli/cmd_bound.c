/* cmd_bound.c - bdml bound stability|generalization|tail [MODEL DATA]: the paper's bounds, from numbers or from a model. */
#include "cli.h"

#include <stdlib.h>

#include "bounds.h"

static double own_real(const cli *c, cli_opt id)
{
    return c->own[id].r;
}
static int64_t own_int(const cli *c, cli_opt id)
{
    return c->own[id].i;
}

/* One number: a line for people, a member for programs. */
static void tell(cli *c, const char *key, const char *what, double v)
{
    cli_put(c->result, key, cli_real(v));
    if (!cli_json(c)) client_print(stdout, "%-46s %.8g\n", what, v);
}

/* ---- numbers of a model -------------------------------------------------------------------------------------- */

/* Rank, trace and distortion of M over its range. */
static bdml_status measure_metric(cli *c, const bdml_model *model, study_bound_numbers *b)
{
    static const double ABSENT = 1e-12; /* of the largest eigenvalue */
    bdml_status status = BDML_OK;
    double *lambda = NULL;
    int d = bdml_model_metric_dimension(model), rank = 0;

    NEW(c->h, lambda, d);
    GO(bdml_model_eigenvalues(c->h, model, lambda)); /* ascending */
    double largest = lambda[d - 1];
    b->R = 0.0;
    for (; rank < d && lambda[d - 1 - rank] > ABSENT * largest; rank++)
        b->R += lambda[d - 1 - rank];
    if (rank == 0)
        GO(client_fail(c->h, BDML_ERR_DATA, "%s: the metric is zero; it has no distortion",
                       c->argument[1]));
    b->K = largest / lambda[d - rank];
    b->d = rank;
done:
    free(lambda);
    return status;
}

/* Largest distance of a point from the mean. */
static bdml_status measure_radius(cli *c, int64_t n, int d, const double *x, double *radius)
{
    bdml_status status = BDML_OK;
    double *mean = NULL;
    NEW(c->h, mean, d);
    for (int64_t i = 0; i < n; i++)
        for (int j = 0; j < d; j++) mean[j] += x[i * d + j] / (double)n;
    *radius = 0.0;
    for (int64_t i = 0; i < n; i++) {
        double sum = 0.0;
        for (int j = 0; j < d; j++) sum += (x[i * d + j] - mean[j]) * (x[i * d + j] - mean[j]);
        *radius = MAX(*radius, sqrt(sum));
    }
done:
    free(mean);
    return status;
}

/* Mean of |L (x_i - x_j)|^2 over the target pairs. */
static bdml_status measure_risk(cli *c, const bdml_model *model, const bdml_dataset *data,
                                const bdml_constraints *t, double *risk)
{
    bdml_status status = BDML_OK;
    int64_t count = bdml_constraints_targets(t), *pair = NULL;
    double *distance = NULL;
    NEW(c->h, pair, 2 * count);
    NEW(c->h, distance, count);
    for (int64_t k = 0; k < count; k++) {
        int32_t rows[2];
        GO(bdml_constraints_target_at(t, k, rows));
        pair[2 * k] = rows[0];
        pair[2 * k + 1] = rows[1];
    }
    GO(bdml_distances(c->h, model, bdml_dataset_points(data), bdml_dataset_rows(data),
                      bdml_dataset_dimension(data), count, pair, distance));
    *risk = 0.0;
    for (int64_t k = 0; k < count; k++) *risk += distance[k];
    if (count > 0) *risk /= (double)count;
done:
    free(pair);
    free(distance);
    return status;
}

/* The target pairs that the model was learned from, where it keeps them; else the nearest of each point's class. */
static bdml_status target_pairs(cli *c, const bdml_model *model, const bdml_dataset *data,
                                bdml_constraints **mined, const bdml_constraints **out)
{
    const bdml_constraints *kept = bdml_model_constraints(model);
    if (bdml_constraints_points(kept) == bdml_dataset_points(data) &&
        bdml_constraints_targets(kept) > 0) {
        *out = kept;
        return BDML_OK;
    }
    TRY(bdml_mine_constraints(c->h, data, mined));
    *out = *mined;
    return BDML_OK;
}

static bdml_status measure(cli *c, study_bound_numbers *b, bool risk)
{
    bdml_status status = BDML_OK;
    bdml_model *model = NULL;
    bdml_dataset *data = NULL;
    bdml_constraints *mined = NULL;
    const bdml_constraints *pairs = NULL;
    double *x = NULL;

    if (c->arguments < 3)
        return client_fail(c->h, BDML_ERR_ARGUMENT,
                           "give the data that the model was learned from as well: bdml bound %s "
                           "MODEL DATA",
                           c->argument[0]);
    GO(bdml_load_model(c->h, c->argument[1], &model));
    GO(bdml_read_model_dataset(c->h, model, c->argument[2], &data));
    int d = bdml_model_metric_dimension(model), wanted = bdml_model_input_dimension(model);
    int64_t n = bdml_dataset_points(data);
    NEW(c->h, x, (size_t)n * (size_t)d);
    GO(bdml_prepare_rows(c->h, bdml_model_preparation(model), n, bdml_dataset_rows(data), wanted,
                         x));
    GO(measure_metric(c, model, b));
    GO(measure_radius(c, n, d, x, &b->radius));
    if (risk) {
        GO(target_pairs(c, model, data, &mined, &pairs));
        GO(measure_risk(c, model, data, pairs, &b->empirical));
        b->n = (double)bdml_constraints_targets(pairs);
    }
    GO(bdml_confirm_dataset(c->h, data));
done:
    free(x);
    bdml_free_constraints(mined);
    bdml_free_dataset(data);
    bdml_free_model(model);
    return status;
}

/* What an option states counts before what is measured. */
static void take_options(const cli *c, study_bound_numbers *b)
{
    if (bdml_is_given(c->h, "distortion")) b->K = bdml_get_number(c->h, "distortion");
    if (bdml_get_number(c->h, "trace") > 0.0) b->R = bdml_get_number(c->h, "trace");
    if (own_real(c, CLI_OPT_RADIUS) > 0.0) b->radius = own_real(c, CLI_OPT_RADIUS);
    if (own_int(c, CLI_OPT_DIMENSION) > 0) b->d = (double)own_int(c, CLI_OPT_DIMENSION);
    if (own_int(c, CLI_OPT_METRIC_RANK) > 0) b->d = (double)own_int(c, CLI_OPT_METRIC_RANK);
    if (own_int(c, CLI_OPT_SAMPLE_SIZE) > 0) b->n = (double)own_int(c, CLI_OPT_SAMPLE_SIZE);
    if (own_real(c, CLI_OPT_EMPIRICAL) > 0.0) b->empirical = own_real(c, CLI_OPT_EMPIRICAL);
    b->delta = own_real(c, CLI_OPT_FAILURE);
}

static bdml_status need(cli *c, bool there, const char *option, const char *what)
{
    if (there) return BDML_OK;
    return client_fail(c->h, BDML_ERR_ARGUMENT, "bound %s needs %s: give %s, or MODEL and DATA",
                       c->argument[0], what, option);
}

/* ---- stability, generalization ---------------------------------------------------------------------------------- */

static bdml_status risk_bound(cli *c, bool general)
{
    study_bound_numbers b = {0};
    double beta, stated = own_real(c, CLI_OPT_BETA), risk, excess;
    if (c->arguments > 1) TRY(measure(c, &b, general));
    take_options(c, &b);
    TRY(need(c, b.K != 0.0, "--distortion K", "the cap on the distortion"));
    TRY(need(c, b.R != 0.0, "--trace R", "the bound on the trace"));
    TRY(need(c, b.radius != 0.0, "--radius GAMMA", "the radius of the data"));
    TRY(need(c, b.d != 0.0, "--dimension D", "the dimension"));
    if (general) TRY(need(c, b.n != 0.0, "--sample-size N", "the number of target pairs"));
    TRY(study_bound_stability(c->h, &b, &beta));
    if (general)
        TRY(study_bound_generalization(c->h, &b, stated > 0.0 ? stated : -1.0, &risk, &excess));
    cli_progress_clear(c);
    tell(c, "distortion", "distortion K", b.K);
    tell(c, "trace", "trace R", b.R);
    tell(c, "radius", "radius Gamma of the data", b.radius);
    tell(c, "dimension", "dimension d (or rank of the metric)", b.d);
    if (!general) {
        tell(c, "beta", "stability beta = 4 (K+1) R Gamma^2 / d", beta);
        return BDML_OK;
    }
    tell(c, "pairs", "target pairs n", b.n);
    tell(c, "failure", "probability of failure delta", b.delta);
    tell(c, "beta", "stability beta", stated > 0.0 ? stated : beta);
    tell(c, "empirical", "empirical risk", b.empirical);
    tell(c, "excess", "what the bound adds", excess);
    tell(c, "largest_loss", "largest loss there is, 4 K R Gamma^2 / d",
         4.0 * b.K * b.R * b.radius * b.radius / b.d);
    tell(c, "risk", "true risk at most", risk);
    return BDML_OK;
}

/* ---- tail ----------------------------------------------------------------------------------------------------------- */

static bdml_status parse_ranks(cli *c, study_tail_numbers *b)
{
    const char *text = cli_text_of(c, CLI_OPT_RANKS), *p = text;
    int64_t *to[] = {&b->rank1, &b->rank2, &b->rank3};
    for (int k = 0; k < 3 && text[0]; k++) {
        size_t n = strcspn(p, ",");
        char *end;
        *to[k] = strtoll(p, &end, 10);
        if (end != p + n || n == 0 || *to[k] < 1 || (p[n] == ',') != (k < 2))
            return client_fail(c->h, BDML_ERR_ARGUMENT,
                               "--ranks wants three whole numbers from 1 on, R1,R2,R3, got '%.60s'",
                               text);
        p += n + 1;
    }
    return BDML_OK;
}

/* Rows and columns of Q and the constraints, from a model that keeps what it was learned from. */
static bdml_status tail_model(cli *c, study_tail_numbers *b)
{
    bdml_model *model = NULL;
    TRY(bdml_load_model(c->h, c->argument[1], &model));
    const bdml_constraints *kept = bdml_model_constraints(model);
    int32_t rows[3];
    b->q = bdml_model_output_dimension(model);
    b->d = bdml_model_metric_dimension(model);
    if (kept) b->pairs = bdml_constraints_count(kept);
    for (int64_t t = 0; t < bdml_constraints_count(kept) && !b->triplets; t++)
        b->triplets = bdml_constraints_at(kept, t, rows) == BDML_OK && rows[1] >= 0;
    bdml_free_model(model);
    return BDML_OK;
}

static bdml_status tail_numbers(cli *c, study_tail_numbers *b)
{
    *b = study_tail_example(1);
    b->q = own_int(c, CLI_OPT_MAP_ROWS);
    b->pairs = own_int(c, CLI_OPT_IMPOSTOR_PAIRS);
    b->triplets = own_int(c, CLI_OPT_FORM) == 1;
    if (c->arguments > 1) TRY(tail_model(c, b));
    if (own_int(c, CLI_OPT_DIMENSION) > 0) b->d = own_int(c, CLI_OPT_DIMENSION);
    b->omega = own_real(c, CLI_OPT_OBJECTIVE_RATIO);
    b->draws = own_int(c, CLI_OPT_DRAWS);
    b->gamma = own_real(c, CLI_OPT_MARGIN_RATIO);
    if (b->gamma == 0.0)
        b->gamma = 3.14159265358979323846 / (16.0 * (double)b->pairs * (double)b->pairs);
    return parse_ranks(c, b);
}

static bdml_status tail_row(cli *c, study_tail_numbers *b, int64_t rank, cli_table *table,
                            json_t *rows)
{
    study_tail t;
    b->rank = rank;
    b->epsilon = own_real(c, CLI_OPT_ORTHOGONALITY);
    if (b->epsilon == 0.0) b->epsilon = 40.0 * (double)b->q * sqrt((double)rank * (double)b->d);
    TRY(study_bound_tail(c->h, b, &t));
    cli_cell(table, "%lld", (long long)rank);
    cli_cell_real(table, "%.6f", t.margins);
    cli_cell_real(table, "%.6f", t.objective);
    cli_cell_real(table, "%.6f", t.orthogonality);
    cli_cell_real(table, "%.7g", t.single);
    cli_cell_real(table, "%.9g", t.all);
    cli_cell(table, "%s", t.vacuous ? "says nothing" : "");
    json_t *row = json_object();
    cli_put(row, "rank", json_integer(rank));
    cli_put(row, "margins_fail", cli_real(t.margins));
    cli_put(row, "objective_fails", cli_real(t.objective));
    cli_put(row, "orthogonality_fails", cli_real(t.orthogonality));
    cli_put(row, "epsilon", cli_real(b->epsilon));
    cli_put(row, "tau", cli_real(t.tau));
    cli_put(row, "one_sample", cli_real(t.single));
    cli_put(row, "probability", cli_real(t.all));
    cli_put(row, "vacuous", json_boolean(t.vacuous));
    json_array_append_new(rows, row);
    return BDML_OK;
}

static bool is_example(const cli *c)
{
    for (int id = CLI_OPT_DIMENSION; id <= CLI_OPT_DRAWS; id++)
        if (c->own[id].changed && id != CLI_OPT_COVARIANCE_RANK) return false;
    return c->arguments == 1;
}

static bdml_status tail_bound(cli *c)
{
    enum {
        LAST = 17
    }; /* r(r+1)/2 <= |I| + q(q+1)/2 = 155: what rank reduction gets to in the example */
    bdml_status status = BDML_OK;
    study_tail_numbers b;
    cli_table table;
    json_t *rows = json_array();
    int64_t rank = own_int(c, CLI_OPT_COVARIANCE_RANK);
    const char *const heads[] = {"r",          "margins", "objective", "orthogonality",
                                 "one sample", "all",     ""};

    cli_table_init(&table, c->h, "rrrrrrl");
    for (int k = 0; k < 7; k++) cli_cell(&table, "%s", heads[k]);
    GO(tail_numbers(c, &b));
    for (int64_t r = rank ? rank : 1; r <= (rank ? rank : LAST); r++) {
        if (!rank && r > b.q * b.d) break;
        GO(tail_row(c, &b, r, &table, rows));
    }
    cli_put(c->result, "q", json_integer(b.q));
    cli_put(c->result, "d", json_integer(b.d));
    cli_put(c->result, "impostor_pairs", json_integer(b.pairs));
    cli_put(c->result, "gamma", cli_real(b.gamma));
    cli_put(c->result, "omega", cli_real(b.omega));
    cli_put(c->result, "draws", json_integer(b.draws));
    if (is_example(c)) cli_put(c->result, "stated", cli_real(STUDY_TAIL_STATED));
    cli_put(c->result, "ranks", json_incref(rows));
    cli_progress_clear(c);
    if (!cli_json(c)) {
        printf("Theorem 2: q %lld, d %lld, |I| %lld, gamma %.6g, omega %g, %lld samples\n"
               "probability at most of failing, by cause, and at least of success:\n\n",
               (long long)b.q, (long long)b.d, (long long)b.pairs, b.gamma, b.omega,
               (long long)b.draws);
        GO(cli_table_print(&table, stdout));
        if (is_example(c))
            printf("\nthe paper states %.6f for this example, without r\n", STUDY_TAIL_STATED);
    }
done:
    for (size_t k = 0; k < table.count; k++) free(table.cell[k]);
    free(table.cell);
    json_decref(rows);
    return status;
}

bdml_status cli_bound(cli *c)
{
    const char *kind = c->argument[0];
    cli_put(c->result, "bound", client_text(kind));
    if (strcmp(kind, "stability") == 0) return risk_bound(c, false);
    if (strcmp(kind, "generalization") == 0 || strcmp(kind, "generalisation") == 0)
        return risk_bound(c, true);
    if (strcmp(kind, "tail") == 0) return tail_bound(c);
    return client_fail(c->h, BDML_ERR_ARGUMENT,
                       "there is no bound '%.60s'; there are stability, generalization and tail",
                       kind);
}
