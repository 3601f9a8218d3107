/* model.c - what a model says of itself. */
#include "cli.h"

json_t *cli_describe(cli *c, const bdml_model *model)
{
    const char *text = bdml_model_describe(model);
    json_t *description = text ? json_loads(text, 0, NULL) : NULL;
    if (!description)
        client_fail(c->h, BDML_ERR_MEMORY, "out of memory while describing the model");
    return description;
}
