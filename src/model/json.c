/* json.c - text from outside (file names, class names, settings) as JSON, which holds only UTF-8;
 * lists, objects and texts that are whole or not there. */
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

static void give_up(json_t **value)
{
    json_decref(*value);
    *value = NULL;
}

json_t *bdml_json_real(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

json_t *bdml_json_word(const char *choices, int index)
{
    size_t n;
    const char *word = bdml_choice_word(choices, index, &n);
    return json_stringn(word, n);
}

void bdml_json_push(json_t **list, json_t *value)
{
    if (json_array_append_new(*list, value) != 0) give_up(list);
}

void bdml_json_put(json_t **object, const char *key, json_t *value)
{
    if (json_object_set_new(*object, key, value) != 0) give_up(object);
}

/* ---- text ------------------------------------------------------------------------------------------- */

typedef struct buffer {
    char *text;
    size_t used, room;
    bool failed; /* jansson does not look at every failure of the callback */
} buffer;

static int append(const char *bytes, size_t n, void *user)
{
    buffer *b = user;
    if (b->used + n >= b->room && !b->failed) {
        size_t room = 2 * (b->used + n) + 1024;
        char *grown = realloc(b->text, room);
        b->failed = !grown;
        if (grown) b->text = grown, b->room = room;
    }
    if (b->failed) return -1;
    memcpy(b->text + b->used, bytes, n);
    b->used += n;
    b->text[b->used] = '\0';
    return 0;
}

char *bdml_json_dump(const json_t *value, size_t flags)
{
    buffer b = {0};
    bool bad = !value || json_dump_callback(value, append, &b, flags) != 0;
    if (!bad && !b.failed) return b.text;
    free(b.text);
    return NULL;
}
