/* internal.h - shared by the files of this folder only. */
#ifndef BDML_MODEL_INTERNAL_H
#define BDML_MODEL_INTERNAL_H

#include "model/model.h"

/* ---- saving and loading of models (store.c, load.c) ---------------------------------------------------- */

/* "kind" in the header of a model's file, and of a proof that there is none. */
extern const char bdml_model_kind[], bdml_proof_kind[];
/* Take the keys that describe the model's shape out of a header; what is left is model->info. */
void bdml_model_strip(json_t *header);
/* `count` names of a list, stored as text or byte by byte. *out may be half full on failure. */
bdml_status bdml_model_read_names(bdml_handle *h, const json_t *list, int count, bool bytes,
                                  char ***out);

/* ---- maps (model.c) -------------------------------------------------------------------------------------- */

/* The inverse of a, d x d, rows one after the other like a's; BDML_ERR_DATA: singular. */
bdml_status bdml_map_inverse(bdml_handle *h, int d, const double *a, double *inverse);

/* ---- writer and reader of the file format (container.c, container_read.c) ------------------------------ */

enum {
    BDML_CONTAINER_MAJOR = 1,
    BDML_CONTAINER_MINOR = 0,
    BDML_CONTAINER_FIXED = 32, /* bytes before the JSON header */
    BDML_CONTAINER_TAIL = 4,   /* bytes of the checksum */
    BDML_CONTAINER_ALIGN = 64
};
extern const char bdml_container_magic[8];

typedef enum bdml_cell { BDML_CELL_F8, BDML_CELL_I4, BDML_CELL_U1, BDML_CELL_COUNT } bdml_cell;
extern const char *const bdml_cell_name[BDML_CELL_COUNT];
extern const size_t bdml_cell_size[BDML_CELL_COUNT];

typedef struct bdml_item {
    char *name;
    bdml_cell cell;
    int64_t rows, columns; /* columns 0: a vector */
    size_t offset, bytes;  /* in the file */
    const void *data;      /* borrowed: the writer's arrays, NULL in a container that was read */
} bdml_item;

struct bdml_container {
    char *name; /* of the file, for messages */
    json_t *header;
    bdml_item *item;
    size_t items, capacity;
    unsigned char *file; /* whole file in a container that was read, else NULL */
    size_t size;
};

/* Cells in an item of this shape; false when they cannot be counted or addressed. */
bool bdml_item_cells(int64_t rows, int64_t columns, size_t cell_size, size_t *cells);
bdml_status bdml_container_add(bdml_handle *h, bdml_container *c, const char *name, bdml_cell cell,
                               int64_t rows, int64_t columns, const void *data);
const bdml_item *bdml_container_find(const bdml_container *c, const char *name);

/* Little-endian bytes, whatever this machine is. */
static inline void bdml_put_le(unsigned char *p, uint64_t v, int bytes)
{
    for (int k = 0; k < bytes; k++) p[k] = (unsigned char)(v >> (8 * k));
}
static inline uint64_t bdml_get_le(const unsigned char *p, int bytes)
{
    uint64_t v = 0;
    for (int k = 0; k < bytes; k++) v |= (uint64_t)p[k] << (8 * k);
    return v;
}

#endif
