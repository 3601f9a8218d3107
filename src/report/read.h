/* read.h - reading results: figures and words of JSON objects. Used by report and by the command. */
#ifndef BDML_READ_H
#define BDML_READ_H

#include <jansson.h>
#include <math.h>
#include <string.h>

static inline double bdml_json_number(const json_t *o, const char *key) /* NaN: not there */
{
    const json_t *v = json_object_get(o, key);
    return json_is_number(v) ? json_number_value(v) : (double)NAN;
}
static inline const char *bdml_json_string(const json_t *o, const char *key) /* "": not there */
{
    const char *s = json_string_value(json_object_get(o, key));
    return s ? s : "";
}
/* The last part of a path. */
static inline const char *bdml_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

#endif
