/* walk.c - the metrics along a path over K, each with its spectrum and the points under it: for a report that lets
 * K move.
 *
 * A row of the path has the weight C that it shares with all others over the threshold C0 of its own K; trained with
 * that softness, on all rows and in the path's form, a metric of the same problem comes out. */
#include "cli.h"

#include <stdlib.h>

/* Settings that a row of the path fixes, and those of the user, which come back after. */
enum { FIXED = 5 };
static const char *const fixed[FIXED] = {"reference", "rule", "passes", "softness", "distortion"};
typedef struct kept {
    bool given[FIXED];
    char *text[FIXED];
} kept;

static bdml_status keep(cli *c, kept *k)
{
    for (int i = 0; i < FIXED; i++) {
        k->given[i] = bdml_is_given(c->h, fixed[i]) != 0;
        k->text[i] = client_strdup(c->h, bdml_get(c->h, fixed[i]));
        if (!k->text[i]) return BDML_ERR_MEMORY;
    }
    return BDML_OK;
}

static bdml_status put_back(cli *c, kept *k)
{
    bdml_status status = BDML_OK;
    for (int i = 0; i < FIXED; i++) {
        if (k->text[i] && bdml_set(c->h, fixed[i], k->given[i] ? k->text[i] : NULL) != BDML_OK)
            status = BDML_ERR_ARGUMENT;
        free(k->text[i]);
    }
    return status;
}

static bdml_status set_number(cli *c, const char *name, double v)
{
    char text[CLIENT_NUMBER];
    client_number(v, text);
    return bdml_set(c->h, name, text);
}

/* Settings of this row; the reference is set where the user named none. */
static bdml_status fix(cli *c, const kept *k, const json_t *row)
{
    const json_t *r = c->result;
    if (!k->given[0]) TRY(bdml_set(c->h, "reference", client_string(r, "reference")));
    TRY(bdml_set(c->h, "rule", client_string(r, "rule")));
    TRY(set_number(c, "passes", client_real(r, "passes")));
    if (!json_is_true(json_object_get(r, "hard")))
        TRY(set_number(c, "softness", client_real(row, "softness")));
    return set_number(c, "distortion", client_real(row, "distortion"));
}

/* Eigenvalues where the distortion is capped, largest first, over the largest. */
static bdml_status eigenvalues_json(cli *c, const bdml_model *model, json_t *out)
{
    bdml_status status = BDML_OK;
    int relative = bdml_model_reference_rows(model);
    int d = relative > 0 ? relative : bdml_model_metric_dimension(model);
    double *lambda = NULL;
    NEW(c->h, lambda, d);
    GO(relative > 0 ? bdml_model_relative_eigenvalues(c->h, model, lambda)
                    : bdml_model_eigenvalues(c->h, model, lambda));
    for (int i = d - 1; i >= 0; i--)
        json_array_append_new(out, cli_real(lambda[i] / lambda[d - 1]));
done:
    free(lambda);
    return status;
}

/* Where the walk is. */
typedef struct walk {
    cli *c;
    const bdml_dataset *data;
    kept kept;
    cli_view view;
    json_t *before, *last; /* clouds */
    json_t *steps, *features;
} walk;

static bdml_status step(walk *w, const json_t *row, bool chosen)
{
    bdml_status status = BDML_OK;
    cli *c = w->c;
    bdml_model *model = NULL;
    json_t *cloud = NULL, *lambda = json_array(), *about = json_object();

    GO(fix(c, &w->kept, row));
    GO(bdml_train(c->h, w->data, NULL, &model));
    if (!w->before) {
        GO(cli_view_cloud(c, &w->view, model, false, NULL, &w->before));
        w->last = json_incref(w->before);
    }
    GO(cli_view_cloud(c, &w->view, model, true, w->last, &cloud));
    json_decref(w->last);
    w->last = json_incref(cloud);
    GO(eigenvalues_json(c, model, lambda));
    if (chosen) {
        GO(cli_features_json(c, model, about));
        json_decref(w->features);
        w->features = json_incref(json_object_get(about, "features_that_matter"));
    }
    cli_put(cloud, "distortion", json_incref(json_object_get(row, "distortion")));
    cli_put(cloud, "eigenvalue", json_incref(lambda));
    json_array_append(w->steps, cloud);
done:
    json_decref(cloud);
    json_decref(lambda);
    json_decref(about);
    bdml_free_model(model);
    return status;
}

bdml_status cli_walk_json(cli *c, const bdml_dataset *data)
{
    bdml_status status = BDML_OK, after;
    double chosen = client_real(json_object_get(c->result, "chosen"), "distortion");
    json_t *out = json_object(), *row;
    walk w = {.c = c, .data = data, .steps = json_array()};
    size_t i;

    GO(keep(c, &w.kept));
    if (!cli_view_open(c, data, &w.view)) goto done;
    json_array_foreach(json_object_get(c->result, "path"), i, row)
    {
        double K = client_real(row, "distortion");
        if (isnan(client_real(row, "kappa"))) continue; /* there is no metric of that K */
        GO(step(&w, row, K == chosen));
    }
    if (!w.before) goto done;
    cli_view_points(&w.view, w.features, out);
    GO(bdml_confirm_dataset(c->h, data));
    cli_put(out, "before", json_incref(w.before));
    cli_put(out, "step", json_incref(w.steps));
    cli_put(c->result, "walk", json_incref(out));
done:
    if (status == BDML_ERR_DATA) status = BDML_OK; /* points that are all equal: nothing to see */
    after = put_back(c, &w.kept);
    json_decref(out);
    json_decref(w.before);
    json_decref(w.last);
    json_decref(w.steps);
    json_decref(w.features);
    return status == BDML_OK ? after : status;
}
