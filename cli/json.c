/* json.c - what --json prints. */
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

json_t *cli_real(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

/* Keys may be names out of data files too. */
void cli_put(json_t *object, const char *key, json_t *value)
{
    json_t *name = client_text(key);
    if (!value) value = json_null();
    if (name)
        json_object_set_new(object, json_string_value(name), value);
    else
        json_decref(value);
    json_decref(name);
}

/* ---- printing -------------------------------------------------------------------------------- */

/* jansson prints 0.3 as 0.29999999999999999. Numbers here are the shortest that read back to the
 * same double, and arrays of plain values stay on one line. */
static bool is_nested(const json_t *v)
{
    return json_is_object(v) || json_is_array(v);
}

static bool has_nested(const json_t *array)
{
    size_t i;
    json_t *item;
    json_array_foreach(array, i, item) if (is_nested(item)) return true;
    return false;
}

/* flags: of jansson. To a terminal all is ASCII: jansson leaves some characters that it would obey as they are. */
static void print_scalar(const json_t *v, size_t flags, FILE *f)
{
    char number[CLIENT_NUMBER];
    if (!json_is_real(v)) {
        json_dumpf(v, f, JSON_ENCODE_ANY | flags);
        return;
    }
    client_number(json_real_value(v), number);
    /* A whole number stays a real one for the reader. */
    fprintf(f, "%s%s", number, strpbrk(number, ".e") ? "" : ".0");
}

static void print_value(const json_t *v, int indent, size_t flags, FILE *f);

static void print_array(const json_t *array, int indent, size_t flags, FILE *f)
{
    bool nested = has_nested(array);
    size_t i;
    json_t *item;
    fputc('[', f);
    json_array_foreach(array, i, item)
    {
        if (nested)
            fprintf(f, "%s\n%*s", i ? "," : "", indent + 2, "");
        else
            fputs(i ? ", " : "", f);
        print_value(item, indent + 2, flags, f);
    }
    if (nested) fprintf(f, "\n%*s", indent, "");
    fputc(']', f);
}

static void print_object(const json_t *object, int indent, size_t flags, FILE *f)
{
    /* The iterator only reads; jansson's signature is not const. */
    json_t *it = (json_t *)object, *name;
    const char *key, *separator = "";
    json_t *value;
    fputc('{', f);
    json_object_foreach(it, key, value)
    {
        fprintf(f, "%s\n%*s", separator, indent + 2, "");
        name = json_string(key);
        print_scalar(name, flags, f);
        json_decref(name);
        fputs(": ", f);
        print_value(value, indent + 2, flags, f);
        separator = ",";
    }
    if (separator[0]) fprintf(f, "\n%*s", indent, "");
    fputc('}', f);
}

static void print_value(const json_t *v, int indent, size_t flags, FILE *f)
{
    if (json_is_object(v))
        print_object(v, indent, flags, f);
    else if (json_is_array(v))
        print_array(v, indent, flags, f);
    else
        print_scalar(v, flags, f);
}

bdml_status cli_json_print(cli *c, json_t *object)
{
    /* Printing takes memory too: all of it is there before the first byte goes out. */
    bdml_status status = BDML_OK;
    client_memory m;
    GO(client_memory_open(c->h, &m));
    print_value(object, 0, isatty(STDOUT_FILENO) ? JSON_ENSURE_ASCII : 0, m.f);
    fputc('\n', m.f);
    GO(client_memory_close(c->h, &m));
    if (!client_json_whole()) GO(client_no_memory(c->h));
    fwrite(m.text, 1, m.size, stdout);
    if (fflush(stdout) != 0 || ferror(stdout))
        status = cli_wrote(c, client_fail(c->h, BDML_ERR_IO, "standard output: writing failed: %s",
                                          strerror(errno)));
done:
    client_memory_free(&m);
    return status;
}

bdml_status cli_take_result(cli *c, const char *text)
{
    json_t *result = json_loads(text, 0, NULL);
    int bad = !result || json_object_update(c->result, result);
    json_decref(result);
    return bad ? client_fail(c->h, BDML_ERR_MEMORY, "out of memory while reading the result")
               : BDML_OK;
}
