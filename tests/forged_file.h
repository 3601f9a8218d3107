/* forged_file.h - a model file taken apart and written again with a valid checksum */
#ifndef BDML_TESTS_FORGED_FILE_H
#define BDML_TESTS_FORGED_FILE_H

#include "check.h"

#include <jansson.h>

#include "model/evidence.h"

enum { MOST_ARRAYS = 40, MOST_KINDS = 200, NAME = 96 };

typedef struct array {
    char name[NAME];
    bool real;
    int64_t rows, columns;
    void *cell;
} array;

typedef struct file {
    json_t *header;
    int arrays;
    array array[MOST_ARRAYS];
} file;

static inline int64_t cells(const array *a)
{
    return a->rows * (a->columns > 0 ? a->columns : 1);
}

static inline size_t bytes_of(const array *a)
{
    return (size_t)cells(a) * (a->real ? sizeof(double) : sizeof(int32_t));
}

static inline file read_file(bdml_handle *h, const bdml_model *model)
{
    file f = {0};
    bdml_container *c = NULL;
    void *bytes = NULL;
    size_t size = 0;
    check_ok(h, bdml_save_model_bytes(h, model, &bytes, &size));
    check_ok(h, bdml_container_from_bytes(h, bytes, size, "model", &c));
    f.header = json_deep_copy(bdml_container_header(c));
    for (; bdml_container_array(c, (size_t)f.arrays); f.arrays++) {
        array *a = &f.array[f.arrays];
        assert_true(f.arrays < MOST_ARRAYS);
        snprintf(a->name, sizeof a->name, "%s", bdml_container_array(c, (size_t)f.arrays));
        a->rows = a->columns = -1;
        a->real = bdml_container_get_f8(h, c, a->name, &a->rows, &a->columns,
                                        (double **)&a->cell) == BDML_OK;
        if (!a->real)
            check_ok(h, bdml_container_get_i4(h, c, a->name, &a->rows, &a->columns,
                                              (int32_t **)&a->cell));
    }
    bdml_container_free(c);
    bdml_free_bytes(bytes);
    return f;
}

static inline file copy_file(const file *from)
{
    file f = *from;
    f.header = json_deep_copy(from->header);
    for (int k = 0; k < f.arrays; k++) {
        f.array[k].cell = malloc(bytes_of(&from->array[k]) + 16); /* room for one more cell */
        memcpy(f.array[k].cell, from->array[k].cell, bytes_of(&from->array[k]));
    }
    return f;
}

static inline void free_file(file *f)
{
    json_decref(f->header);
    for (int k = 0; k < f->arrays; k++) free(f->array[k].cell);
}

static inline const char *forged_path(void)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/test_model_forgery.%d.bdml", BDML_TEST_BINARY_DIR,
             (int)getpid());
    return path;
}

static inline void write_file(bdml_handle *h, const file *f)
{
    bdml_container *c = NULL;
    check_ok(h, bdml_container_new(h, &c));
    json_object_update(bdml_container_header(c), f->header);
    for (int k = 0; k < f->arrays; k++) {
        const array *a = &f->array[k];
        if (a->real)
            check_ok(h, bdml_container_put_f8(h, c, a->name, a->rows, a->columns, a->cell));
        else
            check_ok(h, bdml_container_put_i4(h, c, a->name, a->rows, a->columns, a->cell));
    }
    check_ok(h, bdml_container_save(h, c, forged_path()));
    bdml_container_free(c);
}

static inline array *array_named(file *f, const char *name)
{
    for (int k = 0; k < f->arrays; k++)
        if (strcmp(f->array[k].name, name) == 0) return &f->array[k];
    return NULL;
}

#endif
