/* variables.c - which array of a container (NPZ, MAT) is the data and which the labels: by setting, by name, by
 * shape. */
#include "data/binary.h"

#include <strings.h>

enum { LIST_SIZE = 600 }; /* characters of arrays listed in a message */

/* What people call them, the most usual first; upper and lower case do not count. */
static const char *const data_names[] = {"X",       "data",   "fts",     "features", "feature",
                                         "X_train", "xtrain", "train_x", "x_data",   "inputs",
                                         "samples", "points", "images",  "fea",      NULL};
static const char *const label_names[] = {"y",      "labels",  "label",   "target",  "targets",
                                          "gnd",    "class",   "classes", "species", "y_train",
                                          "ytrain", "train_y", "y_data",  "output",  NULL};

/* ---- names and shapes ---------------------------------------------------------------------------- */

static int find(int count, const bdml_variable *v, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(v[i].name, name) == 0) return i;
    return -1;
}

/* Numbers in two or more dimensions, none of them of a mere vector. */
static bool is_matrix(const bdml_variable *v)
{
    return v->number && v->rank >= 2 && v->dims[0] > 1 && (v->rank > 2 || v->dims[1] > 1);
}

static bool is_vector_of(const bdml_variable *v, size_t n)
{
    if (v->rank == 1) return v->dims[0] == n;
    return v->rank == 2 && ((v->dims[0] == n && (v->dims[1] == 1 || v->text)) ||
                            (v->dims[0] == 1 && v->dims[1] == n));
}

/* The first of the usual names, exactly written or not, for which `fits` holds. */
static int find_usual(int count, const bdml_variable *v, const char *const *names,
                      bool (*fits)(const bdml_variable *v, size_t n), size_t n)
{
    for (; *names; names++)
        for (int pass = 0; pass < 2; pass++)
            for (int i = 0; i < count; i++) {
                int differ = pass ? strcasecmp(v[i].name, *names) : strcmp(v[i].name, *names);
                if (differ == 0 && fits(&v[i], n)) return i;
            }
    return -1;
}

static bool fits_data(const bdml_variable *v, size_t n)
{
    (void)n;
    return is_matrix(v);
}

static bool fits_any(const bdml_variable *v, size_t n)
{
    (void)v, (void)n;
    return true;
}

/* The only one for which `fits` holds, leaving `but` out; -1: none, -2: several. */
static int find_only(int count, const bdml_variable *v, int but,
                     bool (*fits)(const bdml_variable *v, size_t n), size_t n)
{
    int only = -1;
    for (int i = 0; i < count; i++)
        if (i != but && fits(&v[i], n)) only = only == -1 ? i : -2;
    return only;
}

/* "150 x 4", "150", "text", "?" */
static void describe(const bdml_variable *v, char *out, size_t size)
{
    size_t n = 0;
    *out = '\0';
    for (int k = 0; k < v->rank && n < size; k++)
        n += (size_t)snprintf(out + n, size - n, "%s%zu", k ? " x " : "", v->dims[k]);
    if (!v->number && n < size)
        snprintf(out + n, size - n, "%s%s", n ? ", " : "", v->text ? "text" : "no numbers");
}

/* "X (150 x 4), y (150), names (3, text)"; long lists end in ", ...". */
static const char *list_variables(int count, const bdml_variable *v, char out[LIST_SIZE])
{
    size_t n = 0;
    for (int i = 0; i < count; i++) {
        char shape[96];
        describe(&v[i], shape, sizeof shape);
        if (n + strlen(v[i].name) + strlen(shape) + 12 > LIST_SIZE) {
            snprintf(out + n, LIST_SIZE - n, "%s...", i ? ", " : "");
            return out;
        }
        n += (size_t)snprintf(out + n, LIST_SIZE - n, "%s%s%s%s%s", i ? ", " : "", v[i].name,
                              *shape ? " (" : "", shape, *shape ? ")" : "");
    }
    return out;
}

/* ---- the choice ------------------------------------------------------------------------------------ */

bdml_status bdml_choose_data(bdml_handle *h, const bdml_input_options *o, const char *path,
                             int count, const bdml_variable *v, int *chosen)
{
    const char *wanted = o->variable.value;
    char list[LIST_SIZE];

    if (count == 0) return bdml_fail(h, BDML_ERR_DATA, "%s: the file holds no variables", path);
    if (wanted[0]) {
        *chosen = find(count, v, wanted);
        if (*chosen >= 0) return BDML_OK;
        return bdml_fail(h, BDML_ERR_DATA, "%s: no variable '%s'; the file holds %s", path, wanted,
                         list_variables(count, v, list));
    }
    *chosen = find_usual(count, v, data_names, fits_data, 0);
    if (*chosen >= 0) return BDML_OK;
    int only = find_only(count, v, -1, fits_data, 0);
    *chosen = only >= 0 ? only : find_usual(count, v, data_names, fits_any, 0);
    if (*chosen >= 0) return BDML_OK;
    return bdml_fail(
        h, BDML_ERR_DATA,
        "%s: no variable is called X, data or the like, and %s matrix of numbers; the file holds "
        "%s: say which with --variable NAME and --label-variable NAME",
        path, only == -2 ? "there is more than one" : "there is no other",
        list_variables(count, v, list));
}

bdml_status bdml_choose_labels(bdml_handle *h, const bdml_input_options *o, const char *path,
                               int count, const bdml_variable *v, int data, int *chosen)
{
    const char *wanted = o->label_variable.value;
    size_t n = v[data].rank > 0 ? v[data].dims[0] : 0;
    char list[LIST_SIZE];

    *chosen = -1;
    if (!bdml_labels_inside_wanted(o) || strcmp(wanted, "none") == 0) return BDML_OK;
    if (wanted[0]) {
        *chosen = find(count, v, wanted);
        if (*chosen >= 0 || !o->label_variable.given) return BDML_OK; /* new data may lack it */
        return bdml_fail(h, BDML_ERR_DATA, "%s: no variable '%s' for the labels; the file holds %s",
                         path, wanted, list_variables(count, v, list));
    }
    *chosen = find_usual(count, v, label_names, is_vector_of, n);
    if (*chosen < 0) *chosen = find_only(count, v, data, is_vector_of, n);
    if (*chosen == -1) *chosen = find_usual(count, v, label_names, fits_any, 0);
    if (*chosen == data) *chosen = -1;
    if (*chosen == -2) {
        *chosen = -1;
        bdml_log(
            h, BDML_LOG_WARNING,
            "%s: more than one variable may be the labels of %s; the file holds %s: say which with "
            "--label-variable NAME",
            path, v[data].name, list_variables(count, v, list));
    }
    return BDML_OK;
}
