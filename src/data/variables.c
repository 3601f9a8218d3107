/* variables.c - which array of a container (NPZ, MAT) is the data and which the labels. */
#include "data/binary.h"

enum { LIST_SIZE = 400 }; /* characters of names listed in a message */

static int find(int count, const bdml_variable *v, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(v[i].name, name) == 0) return i;
    return -1;
}

static int find_any(int count, const bdml_variable *v, const char *const *names)
{
    for (; *names; names++) {
        int i = find(count, v, *names);
        if (i >= 0) return i;
    }
    return -1;
}

/* "a, b, c"; long lists end in ", ...". */
static const char *list_names(int count, const bdml_variable *v, char out[LIST_SIZE])
{
    size_t n = 0;
    for (int i = 0; i < count; i++) {
        size_t length = strlen(v[i].name);
        if (n + length + 8 > LIST_SIZE) {
            memcpy(out + n, i ? ", ..." : "...", i ? 6 : 4);
            return out;
        }
        if (i) n += (size_t)snprintf(out + n, 3, ", ");
        memcpy(out + n, v[i].name, length);
        n += length;
        out[n] = '\0';
    }
    return out;
}

bdml_status bdml_choose_data(bdml_handle *h, const bdml_input_options *o, const char *path,
                             int count, const bdml_variable *v, int *chosen)
{
    static const char *const usual[] = {"X", "fts", "data", "x", NULL};
    const char *wanted = o->variable.value;
    char list[LIST_SIZE];
    int matrices = 0, last = -1;

    if (count == 0) return bdml_fail(h, BDML_ERR_DATA, "%s: the file holds no variables", path);
    if (wanted[0]) {
        *chosen = find(count, v, wanted);
        if (*chosen >= 0) return BDML_OK;
        return bdml_fail(h, BDML_ERR_DATA, "%s: no variable '%s'; the file holds %s", path, wanted,
                         list_names(count, v, list));
    }
    *chosen = find_any(count, v, usual);
    if (*chosen >= 0) return BDML_OK;
    for (int i = 0; i < count; i++)
        if (v[i].matrix) {
            matrices++;
            last = i;
        }
    *chosen = last;
    if (matrices == 1) return BDML_OK;
    return bdml_fail(
        h, BDML_ERR_DATA,
        "%s: no variable X, fts, data or x, and %s matrix of numbers; the file holds %s: "
        "say which with --variable NAME",
        path, matrices ? "more than one" : "no other", list_names(count, v, list));
}

bdml_status bdml_choose_labels(bdml_handle *h, const bdml_input_options *o, const char *path,
                               int count, const bdml_variable *v, int *chosen)
{
    static const char *const usual[] = {"y", "labels", "label", "gnd", NULL};
    const char *wanted = o->label_variable.value;
    char list[LIST_SIZE];

    *chosen = -1;
    if (!bdml_labels_inside_wanted(o) || strcmp(wanted, "none") == 0) return BDML_OK;
    *chosen = wanted[0] ? find(count, v, wanted) : find_any(count, v, usual);
    if (wanted[0] && *chosen < 0)
        return bdml_fail(h, BDML_ERR_DATA, "%s: no variable '%s' for the labels; the file holds %s",
                         path, wanted, list_names(count, v, list));
    return BDML_OK;
}
