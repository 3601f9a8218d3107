/* names.c - distinct texts numbered in order of appearance, and their sorted order. */
#include "data/data.h"

#include <stdlib.h>

enum { FIRST_SLOTS = 64 }; /* a power of two; the table is kept at most half full */

/* FNV-1a, then a multiplication that carries the high bits down. */
static uint64_t hash_text(const char *s, size_t n)
{
    uint64_t v = 0xcbf29ce484222325u;
    for (size_t i = 0; i < n; i++) v = (v ^ (unsigned char)s[i]) * 0x100000001b3u;
    return v ^ (v >> 32);
}

/* The slot that holds s, or the free one where it belongs. */
static size_t find_slot(const bdml_names *names, const char *s, size_t n)
{
    size_t i = (size_t)hash_text(s, n) & (names->slots - 1);
    for (;; i = (i + 1) & (names->slots - 1)) {
        int32_t id = names->slot[i];
        if (id < 0) return i;
        if (strncmp(names->text[id], s, n) == 0 && names->text[id][n] == '\0') return i;
    }
}

static bdml_status grow_table(bdml_handle *h, bdml_names *names)
{
    size_t slots = names->slots ? 2 * names->slots : FIRST_SLOTS;
    int32_t *slot = bdml_alloc(h, slots, sizeof *slot);
    if (!slot) return BDML_ERR_MEMORY;
    memset(slot, 0xff, slots * sizeof *slot); /* all -1 */
    free(names->slot);
    names->slot = slot;
    names->slots = slots;
    for (int32_t id = 0; id < names->count; id++)
        slot[find_slot(names, names->text[id], strlen(names->text[id]))] = id;
    return BDML_OK;
}

bdml_status bdml_names_add(bdml_handle *h, bdml_names *names, const char *s, size_t n, int32_t *id)
{
    if (2 * ((size_t)names->count + 1) > names->slots) BDML_TRY(grow_table(h, names));
    size_t i = find_slot(names, s, n);
    if (names->slot[i] < 0) {
        if (names->count == INT32_MAX)
            return bdml_fail(h, BDML_ERR_DATA, "more than %d different labels", INT32_MAX);
        BDML_TRY(bdml_grow(h, &names->text, &names->capacity, (size_t)names->count + 1,
                           sizeof *names->text));
        char *copy = bdml_strndup(h, s, n);
        if (!copy) return BDML_ERR_MEMORY;
        names->text[names->count] = copy;
        names->slot[i] = names->count++;
    }
    *id = names->slot[i];
    return BDML_OK;
}

int32_t bdml_names_find(const bdml_names *names, const char *s, size_t n)
{
    return names->slots ? names->slot[find_slot(names, s, n)] : -1;
}

void bdml_names_free(bdml_names *names)
{
    for (int32_t i = 0; i < names->count; i++) free(names->text[i]);
    free(names->text);
    free(names->slot);
    memset(names, 0, sizeof *names);
}

/* ---- order ----------------------------------------------------------------------------------- */

typedef struct entry {
    double value; /* 0 for all when one of them is no number */
    const char *text;
    int32_t id;
} entry;

/* By value, then by text: a total order, as texts are distinct ("1" and "1.0" are two names). */
static int compare(const void *a, const void *b)
{
    const entry *p = a, *q = b;
    if (p->value != q->value) return p->value < q->value ? -1 : 1;
    return strcmp(p->text, q->text);
}

bdml_status bdml_names_sort(bdml_handle *h, const bdml_names *names, int32_t *order)
{
    bdml_status status = BDML_OK;
    bool numbers = true;
    entry *e;

    BDML_NEW(h, e, names->count);
    for (int32_t i = 0; i < names->count; i++) {
        const char *s = names->text[i];
        e[i] = (entry){.text = s, .id = i};
        numbers = numbers && bdml_parse_double(h->c_locale, s, strlen(s), &e[i].value) &&
                  isfinite(e[i].value);
    }
    for (int32_t i = 0; i < names->count && !numbers; i++) e[i].value = 0.0;
    qsort(e, (size_t)names->count, sizeof *e, compare);
    for (int32_t i = 0; i < names->count; i++) order[i] = e[i].id;
done:
    free(e);
    return status;
}
