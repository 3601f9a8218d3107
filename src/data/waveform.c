/* waveform.c - the waveform data of Breiman, Friedman, Olshen, Stone, "Classification and Regression
 * Trees", 1984, p. 49.
 *
 *     x_j = u h_a(j) + (1 - u) h_b(j) + e_j,    j = 1..21,   u uniform in (0,1), e_j normal (0,1)
 *
 * with three triangles of height 6, h1(j) = max(6 - |j - 11|, 0), h2(j) = h1(j - 4), h3(j) = h1(j + 4);
 * class 1 mixes h1 and h2, class 2 h1 and h3, class 3 h2 and h3, equally likely. */
#include "data/data.h"

#include <math.h>

enum { FEATURES = 21, CLASSES = 3 };
static const uint64_t STREAM = (uint64_t)0x77617665
                               << 32; /* "wave": apart from the other uses of the seed */

static double triangle(int j, int peak)
{
    return fmax(6.0 - fabs((double)(j - peak)), 0.0);
}

/* Point i is a function of (seed, i) alone. */
static int32_t make_point(uint64_t seed, int64_t i, double *x)
{
    static const int peaks[CLASSES][2] = {{11, 15}, {11, 7}, {15, 7}};
    bdml_rng r = bdml_rng_make(seed, STREAM ^ (uint64_t)i);
    int32_t c = (int32_t)bdml_rng_below(&r, CLASSES);
    double u = bdml_rng_uniform(&r);
    for (int j = 1; j <= FEATURES; j++)
        x[j - 1] = u * triangle(j, peaks[c][0]) + (1.0 - u) * triangle(j, peaks[c][1]) +
                   bdml_rng_normal(&r);
    return c;
}

/* Classes that got no point are left out, as they would be by reading the data from a file. */
static bdml_status name_classes(bdml_handle *h, bdml_dataset *data)
{
    int32_t number[CLASSES] = {0}, used = 0;
    for (int64_t i = 0; i < data->n; i++) number[data->y[i]] = 1;
    for (int c = 0; c < CLASSES; c++) {
        char text[2] = {(char)('1' + c), '\0'};
        if (!number[c]) continue;
        number[c] = used;
        if (!(data->class_name[used++] = bdml_strdup(h, text))) return BDML_ERR_MEMORY;
    }
    data->classes = used;
    for (int64_t i = 0; i < data->n; i++) data->y[i] = number[data->y[i]];
    return BDML_OK;
}

bdml_status bdml_generate_waveform(bdml_handle *h, int64_t n, bdml_dataset **out)
{
    bdml_status status;
    bdml_dataset *data = NULL;

    if (out) *out = NULL;
    if (!h) return BDML_ERR_ARGUMENT;
    if (!out) return bdml_fail(h, BDML_ERR_ARGUMENT, "out must not be NULL");
    if (n < 1)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "the number of points must be 1 or more, got %lld",
                         (long long)n);
    uint64_t seed = (uint64_t)h->options.general.seed.value;
    BDML_GO(bdml_dataset_new(h, n, FEATURES, CLASSES, &data));
    for (int64_t i = 0; i < n; i++)
        data->y[i] = make_point(seed, i, data->x + (size_t)i * FEATURES);
    BDML_GO(name_classes(h, data));
done:
    if (status == BDML_OK)
        *out = data;
    else
        bdml_free_dataset(data);
    return status;
}
