/* serve.c - the whole model as one affine map in single precision, for programs that serve vectors.
 *
 *     x -> A x + b        preparation folded in (linear.c), q rows of d
 *
 *   .faiss          what faiss.read_VectorTransform reads: a LinearTransform
 *   .onnx           one Gemm, Y = X A' + b; rows are brought to length 1 before it where the model does, and after it
 *                   where that is asked for
 *   .safetensors    "weight", q x d, and "bias", q: a layer Linear(d, q)
 *
 * All three are written from their published formats. Integers and floats in them are little-endian. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "model/model.h"

/* ---- bytes ---------------------------------------------------------------------------------------------------- */

/* A buffer that grows; the first failure stays, and what follows does nothing. */
typedef struct bytes {
    bdml_handle *h;
    unsigned char *at;
    size_t size, room;
    bdml_status status;
} bytes;

static void put(bytes *b, const void *data, size_t size)
{
    if (b->status != BDML_OK || size == 0) return;
    if (b->size + size > b->room) {
        size_t room = 2 * (b->size + size);
        unsigned char *at = bdml_alloc(b->h, room, 1);
        if (!at) {
            b->status = BDML_ERR_MEMORY;
            return;
        }
        if (b->size > 0) memcpy(at, b->at, b->size);
        free(b->at);
        b->at = at;
        b->room = room;
    }
    memcpy(b->at + b->size, data, size);
    b->size += size;
}

static void put_text(bytes *b, const char *text)
{
    put(b, text, strlen(text));
}

static void put_whole(bytes *b, uint64_t v, int size)
{
    for (int k = 0; k < size; k++) put(b, &(unsigned char){(unsigned char)(v >> (8 * k))}, 1);
}

static void put_float(bytes *b, double v)
{
    float f = (float)v;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    put_whole(b, bits, 4);
}

static void put_floats(bytes *b, size_t count, const double *v)
{
    for (size_t k = 0; k < count; k++) put_float(b, v[k]);
}

/* ---- the map -------------------------------------------------------------------------------------------------- */

typedef struct affine {
    int q, d;
    double *a, *b;
    bool unit_before, unit_after;
} affine;

static bdml_status check_floats(bdml_handle *h, const affine *m)
{
    size_t size = (size_t)m->q * (size_t)m->d;
    for (size_t k = 0; k < size + (size_t)m->q; k++) {
        double v = k < size ? m->a[k] : m->b[k - size];
        if (!(fabs(v) <= FLT_MAX))
            return bdml_fail(
                h, BDML_ERR_DATA,
                "the map has the entry %g, which single precision does not hold; scale the "
                "data before training",
                v);
    }
    return BDML_OK;
}

static bdml_status make_affine(bdml_handle *h, const bdml_model *model, affine *m)
{
    bdml_status status = BDML_OK;
    const bdml_prepare *p = &model->prepare;
    m->q = model->q;
    m->d = p->d_in;
    m->unit_before = p->scale == BDML_SCALE_UNIT;
    BDML_NEW(h, m->a, (size_t)m->q * (size_t)m->d);
    BDML_NEW(h, m->b, m->q);
    bdml_model_affine(model, m->a, m->b);
    status = check_floats(h, m);
done:
    return status;
}

/* ---- Faiss ---------------------------------------------------------------------------------------------------- */

static void write_faiss(bytes *out, const affine *m)
{
    put_text(out, "LTra");
    put_whole(out, 1, 1); /* have_bias */
    put_whole(out, (uint64_t)m->q * (uint64_t)m->d, 8);
    put_floats(out, (size_t)m->q * (size_t)m->d, m->a);
    put_whole(out, (uint64_t)m->q, 8);
    put_floats(out, (size_t)m->q, m->b);
    put_whole(out, (uint64_t)m->d, 4);
    put_whole(out, (uint64_t)m->q, 4);
    put_whole(out, 1, 1); /* is_trained */
}

/* ---- safetensors ---------------------------------------------------------------------------------------------- */

static void write_safetensors(bytes *out, const affine *m)
{
    char head[320];
    size_t weight = 4 * (size_t)m->q * (size_t)m->d, bias = 4 * (size_t)m->q;
    int n = snprintf(head, sizeof head,
                     "{\"__metadata__\":{\"producer\":\"bdml %s\"},"
                     "\"weight\":{\"dtype\":\"F32\",\"shape\":[%d,%d],\"data_offsets\":[0,%zu]},"
                     "\"bias\":{\"dtype\":\"F32\",\"shape\":[%d],\"data_offsets\":[%zu,%zu]}}",
                     bdml_version(), m->q, m->d, weight, m->q, weight, weight + bias);
    size_t padded = ((size_t)n + 7) / 8 * 8; /* the data begin at a multiple of 8 */
    put_whole(out, padded, 8);
    put(out, head, (size_t)n);
    for (size_t k = (size_t)n; k < padded; k++) put(out, " ", 1);
    put_floats(out, (size_t)m->q * (size_t)m->d, m->a);
    put_floats(out, (size_t)m->q, m->b);
}

/* ---- ONNX: protocol buffers by hand, fields as in onnx.proto --------------------------------------------------- */

enum { VARINT = 0, LENGTH = 2 };
enum { ONNX_FLOAT = 1, ATTRIBUTE_INT = 2, IR_VERSION = 7, OPSET = 13 };

static void put_varint(bytes *b, uint64_t v)
{
    for (; v >= 0x80; v >>= 7) put_whole(b, (v & 0x7F) | 0x80, 1);
    put_whole(b, v, 1);
}

static void put_key(bytes *b, int field, int wire)
{
    put_varint(b, (uint64_t)field << 3 | (uint64_t)wire);
}

static void put_number(bytes *b, int field, int64_t v)
{
    put_key(b, field, VARINT);
    put_varint(b, (uint64_t)v);
}

static void put_string(bytes *b, int field, const char *text)
{
    put_key(b, field, LENGTH);
    put_varint(b, strlen(text));
    put_text(b, text);
}

/* The message `inner` as a field of b; it is freed. */
static void put_message(bytes *b, int field, bytes *inner)
{
    if (b->status == BDML_OK) b->status = inner->status;
    put_key(b, field, LENGTH);
    put_varint(b, inner->size);
    put(b, inner->at, inner->size);
    free(inner->at);
    *inner = (bytes){.h = b->h};
}

/* TensorProto: an initializer of the graph. */
static void put_tensor(bytes *graph, const char *name, int dims, const int *dim, const double *x)
{
    bytes t = {.h = graph->h};
    size_t count = 1;
    for (int k = 0; k < dims; k++) {
        put_number(&t, 1, dim[k]);
        count *= (size_t)dim[k];
    }
    put_number(&t, 2, ONNX_FLOAT);
    put_string(&t, 8, name);
    put_key(&t, 9, LENGTH); /* raw_data */
    put_varint(&t, 4 * count);
    put_floats(&t, count, x);
    put_message(graph, 5, &t);
}

static void put_attribute(bytes *node, const char *name, int64_t v)
{
    bytes a = {.h = node->h};
    put_string(&a, 1, name);
    put_number(&a, 3, v);
    put_number(&a, 20, ATTRIBUTE_INT);
    put_message(node, 5, &a);
}

/* Rows to length 1. */
static void put_unit(bytes *graph, const char *from, const char *to)
{
    bytes node = {.h = graph->h};
    put_string(&node, 1, from);
    put_string(&node, 2, to);
    put_string(&node, 4, "LpNormalization");
    put_attribute(&node, "axis", -1);
    put_attribute(&node, "p", 2);
    put_message(graph, 1, &node);
}

static void put_gemm(bytes *graph, const char *from, const char *to)
{
    bytes node = {.h = graph->h};
    put_string(&node, 1, from);
    put_string(&node, 1, "weight");
    put_string(&node, 1, "bias");
    put_string(&node, 2, to);
    put_string(&node, 4, "Gemm");
    put_attribute(&node, "transB", 1);
    put_message(graph, 1, &node);
}

/* ValueInfoProto: n rows, as many as there are, of `columns`. */
static void put_value(bytes *graph, int field, const char *name, int columns)
{
    bytes value = {.h = graph->h}, type = value, tensor = value, shape = value, dim = value;
    put_string(&dim, 2, "n");
    put_message(&shape, 1, &dim);
    put_number(&dim, 1, columns);
    put_message(&shape, 1, &dim);
    put_number(&tensor, 1, ONNX_FLOAT);
    put_message(&tensor, 2, &shape);
    put_message(&type, 1, &tensor);
    put_string(&value, 1, name);
    put_message(&value, 2, &type);
    put_message(graph, field, &value);
}

static void write_onnx(bytes *out, const affine *m)
{
    bytes graph = {.h = out->h}, opset = graph;
    const char *from = m->unit_before ? "unit" : "x", *to = m->unit_after ? "mapped" : "z";
    if (m->unit_before) put_unit(&graph, "x", from);
    put_gemm(&graph, from, to);
    if (m->unit_after) put_unit(&graph, to, "z");
    put_string(&graph, 2, "bdml");
    put_tensor(&graph, "weight", 2, (int[]){m->q, m->d}, m->a);
    put_tensor(&graph, "bias", 1, &m->q, m->b);
    put_value(&graph, 11, "x", m->d);
    put_value(&graph, 12, "z", m->q);
    put_number(out, 1, IR_VERSION);
    put_string(out, 2, "bdml");
    put_string(out, 3, bdml_version());
    put_message(out, 7, &graph);
    put_number(&opset, 2, OPSET);
    put_message(out, 8, &opset);
}

/* ---- choice --------------------------------------------------------------------------------------------------- */

typedef struct format {
    const char *ending;
    void (*write)(bytes *out, const affine *m);
    bool units; /* can bring rows to length 1 */
} format;
static const format formats[] = {{".faiss", write_faiss, false},
                                 {".onnx", write_onnx, true},
                                 {".safetensors", write_safetensors, false}};

static const format *find(const char *path)
{
    for (size_t k = 0; k < sizeof formats / sizeof *formats; k++)
        if (bdml_ends_in(path, formats[k].ending)) return &formats[k];
    return NULL;
}

bdml_status bdml_export_affine(bdml_handle *h, const bdml_model *model, int unit, const char *path)
{
    bdml_status status = BDML_OK;
    bytes out = {.h = h};
    affine m = {.unit_after = unit != 0};

    if (!h) return BDML_ERR_ARGUMENT;
    if (!model || !path)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "bdml_export_affine: model and path must not be NULL");
    const format *f = find(path);
    if (!f)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "%.500s: the name must end in .faiss, .onnx or .safetensors", path);
    bdml_phase previous = bdml_phase_enter(h, BDML_PHASE_WRITE);
    BDML_GO(bdml_model_need_map(h, model));
    BDML_GO(make_affine(h, model, &m));
    if ((m.unit_before || m.unit_after) && !f->units) {
        status =
            bdml_fail(h, BDML_ERR_ARGUMENT,
                      "%s holds a linear map alone, and rows are brought to length 1 %s it: use "
                      ".onnx, or do that yourself",
                      f->ending, m.unit_before ? "before" : "after");
        goto done;
    }
    f->write(&out, &m);
    BDML_GO(out.status);
    status = bdml_file_save(h, path, out.at, out.size);
done:
    bdml_phase_leave(h, previous);
    free(out.at);
    free(m.a);
    free(m.b);
    return status;
}
