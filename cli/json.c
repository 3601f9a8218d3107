/* json.c - what --json prints. */
#include "cli.h"

#include <errno.h>
#include <stdlib.h>

void cli_put(json_t *object, const char *key, json_t *value)
{
    json_object_set_new(object, key, value ? value : json_null());
}

json_t *cli_real(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

/* Names in data files may hold any bytes, JSON text only UTF-8. */
json_t *cli_string(const char *s)
{
    json_t *text = json_string(s);
    if (text) return text;
    char *copy = strdup(s);
    if (!copy) return NULL;
    for (char *p = copy; *p; p++)
        if ((unsigned char)*p >= 0x80) *p = '?';
    text = json_string(copy);
    free(copy);
    return text;
}

bdml_status cli_json_print(cli *c, json_t *object)
{
    bool ok = json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) == 0;
    if (ok) ok = fputc('\n', stdout) != EOF && fflush(stdout) == 0;
    if (ok) return BDML_OK;
    return cli_wrote(c, bdml_fail(c->h, BDML_ERR_IO, "standard output: writing failed: %s",
                                  strerror(errno)));
}
