/* methods.c - the methods that a command compares. */
#include "cli.h"

#include <stdlib.h>

bdml_status cli_check_methods(cli *c)
{
    const char *list = bdml_get(c->h, "methods");
    if (list[0] && bdml_is_given(c->h, "method"))
        return client_fail(c->h, BDML_ERR_ARGUMENT, "give --method or --methods, not both");
    if (!list[0]) list = bdml_get(c->h, "method");
    if (strcmp(list, "all") == 0) return BDML_OK;
    for (const char *p = list;; p++) { /* "a,b,c" */
        char name[128];
        size_t n = strcspn(p, ",");
        snprintf(name, sizeof name, "%.*s", (int)MIN(n, sizeof name - 1), p);
        if (bdml_find_method(c->h, name) < 0) return BDML_ERR_ARGUMENT;
        p += n;
        if (!*p) return BDML_OK;
    }
}
