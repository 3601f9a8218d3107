/* json.c - text from outside (file names, class names, settings) as JSON, which holds only UTF-8. */
#include "model/model.h"

#include <stdlib.h>

json_t *bdml_json_text(const char *s)
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
