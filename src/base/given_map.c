/* given_map.c - the settings that are no text: a reference map from the caller's memory, and a model to start from. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

static bdml_status check(bdml_handle *h, int rows, int d, const double *map)
{
    if (rows < 1 || rows > d)
        return bdml_fail(
            h, BDML_ERR_ARGUMENT,
            "a reference map has at least one row and at most as many rows as columns; "
            "this one is %d x %d",
            rows, d);
    for (size_t i = 0; i < (size_t)rows * (size_t)d; i++)
        if (!isfinite(map[i]))
            return bdml_fail(h, BDML_ERR_ARGUMENT,
                             "reference map: row %zu, column %zu is not a finite number",
                             i / (size_t)d + 1, i % (size_t)d + 1);
    return BDML_OK;
}

bdml_status bdml_set_reference(bdml_handle *h, int rows, int d, const double *map)
{
    bdml_status status = BDML_OK;
    double *own = NULL;

    if (!h) return BDML_ERR_ARGUMENT;
    if (map) {
        size_t size = (size_t)(rows > 0 ? rows : 0) * (size_t)(d > 0 ? d : 0);
        BDML_TRY(check(h, rows, d, map));
        BDML_NEW(h, own, size);
        memcpy(own, map, sizeof *own * size);
    }
    BDML_GO(bdml_set(h, "reference", map ? "given" : NULL));
    free(h->reference_map);
    h->reference_map = own;
    h->options.reference_map = (bdml_given_map){map ? rows : 0, map ? d : 0, own};
    own = NULL;
done:
    free(own);
    return status;
}

bdml_status bdml_set_warm(bdml_handle *h, const bdml_model *model)
{
    if (!h) return BDML_ERR_ARGUMENT;
    BDML_TRY(bdml_set(h, "warm", model ? "given" : NULL));
    h->options.warm_model = model;
    return BDML_OK;
}
