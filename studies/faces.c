/* faces.c - the paper's comparison on Labeled Faces in the Wild (its Table 3 and the full table of the
 * appendix) as data, and ours beside it.
 *
 * The paper's figures are of its own features (funneled SIFT of Guillaumin et al., or several
 * descriptors): another set of features gives other figures, and only the order of methods on the same
 * features can be compared. Rows that are no method for given features (deep networks, combined
 * descriptors, other descriptors) are quoted and never run. */
#include "tables.h"

#include <stdlib.h>

const study_face_row study_face_rows[] = {
    /* paper's name, our method, accuracy, standard error, condition number (NAN: none printed) */
    {"MERL", NULL, 70.52, 0.60, NAN},
    {"Xing", "mmc", 75.93, 0.59, NAN},
    {"ITML", "itml", 78.12, 0.45, 1.2037},
    {"LDML", "ldml", 79.27, 0.60, NAN},
    {"DML-eig-SIFT", "dml-eig", 81.27, 2.30, 3228.4},
    {"Sub-ITML", "sub-itml", 81.45, 0.46, 1.2157},
    {"KISSME", "kissme", 83.08, 0.56, NAN},
    {"Sub-ML", "sub-ml", 83.30, 0.26, 1171.397},
    {"LBP+CSML", "csml", 85.57, 0.52, NAN},
    {"DML-eig-Combined", NULL, 85.65, 0.56, NAN},
    {"p-BDML", "bdml", 86.32, 0.22, 8.3771},
    {"Convolutional DBN", NULL, 87.77, 0.62, NAN},
    {"Sub-SML", "sub-sml", 89.73, 0.38, NAN},
    {"DDML-Combined", NULL, 90.68, 1.41, NAN},
};
const int study_face_row_count = sizeof study_face_rows / sizeof *study_face_rows;

static bool have_method(const char *name)
{
    for (int k = 0; k < bdml_method_count(); k++)
        if (strcmp(bdml_method_name(k), name) == 0) return true;
    return false;
}

/* "euclidean,a,b,..." of the rows that the library has. */
static void list_methods(size_t size, char *list)
{
    size_t used = (size_t)snprintf(list, size, "euclidean");
    for (int k = 0; k < study_face_row_count; k++) {
        const char *name = study_face_rows[k].method;
        if (name && have_method(name) && used < size)
            used += (size_t)snprintf(list + used, size - used, ",%s", name);
    }
}

static json_t *number_or_null(double v)
{
    return isnan(v) ? json_null() : json_real(v);
}

static json_t *find(const json_t *result, const char *method)
{
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(result, "methods"), i, row)
    {
        const char *name = json_string_value(json_object_get(row, "method"));
        if (method && name && strcmp(name, method) == 0) return row;
    }
    return NULL;
}

/* The paper's rows with ours, where we have the method; NULL: out of memory. */
static json_t *beside_paper(const json_t *result)
{
    json_t *list = json_array();
    int bad = !list;
    for (int k = 0; k < study_face_row_count; k++) {
        const study_face_row *r = &study_face_rows[k];
        json_t *ours = find(result, r->method);
        bad |= json_array_append_new(
            list,
            json_pack("{s:s, s:o, s:b, s:f, s:f, s:o, s:o, s:o, s:o}", "paper", r->name, "method",
                      r->method ? json_string(r->method) : json_null(), "quoted", r->method == NULL,
                      "paper_accuracy", r->accuracy, "paper_se", r->standard_error, "paper_kappa",
                      number_or_null(r->kappa), "accuracy",
                      ours ? json_incref(json_object_get(ours, "accuracy_mean")) : json_null(),
                      "se", ours ? json_incref(json_object_get(ours, "accuracy_se")) : json_null(),
                      "kappa", ours ? json_incref(json_object_get(ours, "kappa")) : json_null()));
    }
    if (!bad) return list;
    json_decref(list);
    return NULL;
}

bdml_status study_verify_faces(bdml_handle *h, const bdml_dataset *data, char **json)
{
    char list[512], *text = NULL;
    bool chosen = bdml_get(h, "methods")[0] != '\0';

    *json = NULL;
    list_methods(sizeof list, list);
    if (!chosen) TRY(bdml_set(h, "methods", list));
    bdml_status status = bdml_verify(h, data, &text);
    if (!chosen) bdml_set(h, "methods", NULL);
    if (status != BDML_OK) return status;
    json_t *root = json_loads(text, 0, NULL);
    if (root && json_object_set_new(root, "table", beside_paper(root)) == 0)
        *json = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    json_decref(root);
    bdml_free_bytes(text);
    return *json ? BDML_OK : client_no_memory(h);
}
