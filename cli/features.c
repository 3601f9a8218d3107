/* features.c - which features matter to a metric, by name: for results and for people. The library weighs them
 * (bdml_model_feature_weights, bdml_model_directions), each in its own spread in the training data. */
#include "cli.h"

#include <stdlib.h>

enum { DIRECTIONS = 3, LOADINGS = 6, MOST_SHOWN = 8, LOADINGS_SHOWN = 3, BAR = 24 };

typedef struct weighed {
    int column;
    double value;
} weighed;

static int heaviest_first(const void *a, const void *b)
{
    const weighed *x = a, *y = b;
    if (fabs(x->value) != fabs(y->value)) return fabs(x->value) < fabs(y->value) ? 1 : -1;
    return x->column - y->column;
}

static void sort_entries(int d, const double *v, weighed *order)
{
    for (int j = 0; j < d; j++) order[j] = (weighed){j, v[j]};
    qsort(order, (size_t)d, sizeof *order, heaviest_first);
}

static json_t *name_of(const bdml_model *model, int j)
{
    char text[64];
    const char *name = bdml_model_feature_name(model, j);
    snprintf(text, sizeof text, "column %d", j + 1);
    return client_text(name && *name ? name : text);
}

/* ---- results ------------------------------------------------------------------------------------------ */

/* One direction: its share, and its largest loadings. */
static json_t *direction_json(const bdml_model *model, int d, const double *v, double share,
                              weighed *order)
{
    json_t *o = json_object(), *name = json_array(), *loading = json_array();
    sort_entries(d, v, order);
    for (int k = 0; k < MIN(d, LOADINGS); k++) {
        json_array_append_new(name, name_of(model, order[k].column));
        json_array_append_new(loading, cli_real(order[k].value));
    }
    cli_put(o, "share", cli_real(share));
    cli_put(o, "feature", name);
    cli_put(o, "loading", loading);
    return o;
}

bdml_status cli_features_json(cli *c, const bdml_model *model, json_t *out)
{
    bdml_status status = BDML_OK;
    int d = bdml_model_input_dimension(model);
    double *w = NULL, *v = NULL, share[DIRECTIONS], total = 0.0;
    weighed *order = NULL;
    json_t *o = json_object(), *name = json_array(), *weight = json_array(), *column = json_array(),
           *directions = json_array();

    NEW(c->h, w, d);
    NEW(c->h, v, (size_t)DIRECTIONS * (size_t)d);
    NEW(c->h, order, d);
    /* Maps from elsewhere, and models that bring rows to length 1, have no weights: nothing is told then. */
    status = bdml_model_feature_weights(c->h, model, w);
    if (status == BDML_ERR_ARGUMENT)
        status = BDML_OK;
    else if (status == BDML_OK)
        for (int j = 0; j < d; j++) total += w[j];
    if (status != BDML_OK || !(total > 0.0)) goto done;
    GO(bdml_model_directions(c->h, model, DIRECTIONS, share, v));
    sort_entries(d, w, order);
    for (int k = 0; k < d; k++) {
        json_array_append_new(name, name_of(model, order[k].column));
        json_array_append_new(weight, cli_real(order[k].value));
        json_array_append_new(column, json_integer(order[k].column));
    }
    for (int k = 0; k < DIRECTIONS && share[k] > 0.0; k++)
        json_array_append_new(directions,
                              direction_json(model, d, v + (size_t)k * (size_t)d, share[k], order));
    cli_put(o, "kind", json_string("features"));
    cli_put(o, "name", json_incref(name));
    cli_put(o, "column", json_incref(column));
    cli_put(o, "weight", json_incref(weight));
    cli_put(o, "direction", json_incref(directions));
    cli_put(out, "features_that_matter", json_incref(o));
done:
    json_decref(o);
    json_decref(name);
    json_decref(weight);
    json_decref(column);
    json_decref(directions);
    free(w);
    free(v);
    free(order);
    return status;
}

/* ---- for people -------------------------------------------------------------------------------------------- */

static void print_direction(int number, const json_t *direction)
{
    const json_t *name = json_object_get(direction, "feature");
    const json_t *loading = json_object_get(direction, "loading");
    client_print(stdout, "  %d  %3.0f %% ", number, 100.0 * client_real(direction, "share"));
    for (size_t k = 0; k < LOADINGS_SHOWN && k < json_array_size(name); k++)
        client_print(stdout, " %+.2f %.15s", json_number_value(json_array_get(loading, k)),
                     json_string_value(json_array_get(name, k)));
    printf("\n");
}

void cli_features_print(const json_t *result)
{
    const json_t *o = json_object_get(result, "features_that_matter"), *item;
    const json_t *weight = json_object_get(o, "weight"), *name = json_object_get(o, "name");
    size_t i, count = json_array_size(weight);
    if (count == 0) return;
    double largest = json_number_value(json_array_get(weight, 0));
    printf("\nfeatures that matter most: share of the squared distance, each feature in its\n"
           "own spread\n");
    for (i = 0; i < count && i < MOST_SHOWN; i++) {
        char bar[BAR + 1];
        double v = json_number_value(json_array_get(weight, i));
        memset(bar, '#', sizeof bar);
        bar[(int)(BAR * v / largest + 0.5)] = '\0';
        client_print(stdout, "  %-32.32s %5.1f %%  %s\n",
                     json_string_value(json_array_get(name, i)), 100.0 * v, bar);
    }
    if (count > MOST_SHOWN) printf("  ... and %zu more\n", count - MOST_SHOWN);
    printf("leading directions: share, and the largest loadings\n");
    json_array_foreach(json_object_get(o, "direction"), i, item) print_direction((int)i + 1, item);
}
