/* methods.c - the methods that a command compares. */
#include "cli.h"

#include <stdlib.h>

#include "evaluate/evaluate.h"

bdml_status cli_check_methods(cli *c)
{
    const bdml_method **method;
    int count;
    if (bdml_get(c->h, "methods")[0] && bdml_opt_changed(c->h, BDML_OPT_METHOD))
        return bdml_fail(c->h, BDML_ERR_ARGUMENT, "give --method or --methods, not both");
    BDML_TRY(bdml_methods_listed(c->h, &c->h->options, BDML_USES_LABELS, &count, &method));
    free(method);
    return BDML_OK;
}
