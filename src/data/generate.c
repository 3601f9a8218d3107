/* generate.c - sets of points whose law is known, drawn from the seed.
 *
 * Breiman, Friedman, Olshen, Stone, "Classification and Regression Trees", 1984, p. 49:
 *
 *     waveform    x_j = u h_a(j) + (1 - u) h_b(j) + e_j,   j = 1..21,   u uniform in (0,1), e_j normal (0,1)
 *
 * with three triangles of height 6, h1(j) = max(6 - |j - 11|, 0), h2(j) = h1(j - 4), h3(j) = h1(j + 4); class 1 mixes
 * h1 and h2, class 2 h1 and h3, class 3 h2 and h3, equally likely; waveform-noise has 19 normal features more.
 *
 * Breiman, "Bias, variance, and arcing classifiers", 1996, two classes in 20 dimensions, a = 2 / sqrt(20):
 *
 *     twonorm     N(a 1, I) and N(-a 1, I)
 *     threenorm   an even mixture of N(a 1, I) and N(-a 1, I); N((a, -a, a, ...), I)
 *     ringnorm    N(0, 4 I) and N(a/2 1, I)
 *
 * and three where the plain distance looks in the wrong directions:
 *
 *     stretched   4 classes N(m_c, D) in 15 dimensions, variances in D from 1 to 1000, means drawn from N(0, D/4)
 *     needle      3 classes that differ by 3 in 2 of 30 features, all of variance 1
 *     clusters    3 classes of 3 clusters each in 6 features, and 6 features of noise of width 4 */
#include "data/data.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_CLASSES = 4, CLUSTERS = 3 };

/* Streams of the seed apart from its other uses: of point i, and of what all points share. */
static const uint64_t STREAM_POINTS = (uint64_t)0x77617665 << 32, /* "wave" */
    STREAM_MEANS = (uint64_t)0x6d65616e << 32;                    /* "mean" */

/* A point's features, from its own numbers r; its class is returned. */
typedef int32_t (*make_point)(uint64_t seed, bdml_rng *r, int d, double *x);

static void add_noise(bdml_rng *r, int from, int to, double width, double *x)
{
    for (int j = from; j < to; j++) x[j] += width * bdml_rng_normal(r);
}

/* ---- Breiman's -------------------------------------------------------------------------------------------- */

static double triangle(int j, int peak)
{
    return fmax(6.0 - fabs((double)(j - peak)), 0.0);
}

static int32_t waveform(uint64_t seed, bdml_rng *r, int d, double *x)
{
    static const int peaks[3][2] = {{11, 15}, {11, 7}, {15, 7}};
    int32_t c = (int32_t)bdml_rng_below(r, 3);
    double u = bdml_rng_uniform(r);
    (void)seed;
    for (int j = 1; j <= d; j++) /* beyond the 21st both are 0 */
        x[j - 1] = u * triangle(j, peaks[c][0]) + (1.0 - u) * triangle(j, peaks[c][1]);
    add_noise(r, 0, d, 1.0, x);
    return c;
}

static int32_t twonorm(uint64_t seed, bdml_rng *r, int d, double *x)
{
    int32_t c = (int32_t)bdml_rng_below(r, 2);
    double a = 2.0 / sqrt((double)d);
    (void)seed;
    for (int j = 0; j < d; j++) x[j] = c ? -a : a;
    add_noise(r, 0, d, 1.0, x);
    return c;
}

static int32_t threenorm(uint64_t seed, bdml_rng *r, int d, double *x)
{
    int32_t part = (int32_t)bdml_rng_below(r, 4);
    double a = 2.0 / sqrt((double)d);
    (void)seed;
    for (int j = 0; j < d; j++) x[j] = part == 0 ? a : part == 1 ? -a : j % 2 == 0 ? a : -a;
    add_noise(r, 0, d, 1.0, x);
    return part >= 2;
}

static int32_t ringnorm(uint64_t seed, bdml_rng *r, int d, double *x)
{
    int32_t c = (int32_t)bdml_rng_below(r, 2);
    double a = 1.0 / sqrt((double)d);
    (void)seed;
    for (int j = 0; j < d; j++) x[j] = c ? a : 0.0;
    add_noise(r, 0, d, c ? 1.0 : 2.0, x);
    return c;
}

/* ---- wrong directions ------------------------------------------------------------------------------------- */

static int32_t stretched(uint64_t seed, bdml_rng *r, int d, double *x)
{
    int32_t c = (int32_t)bdml_rng_below(r, 4);
    bdml_rng mean = bdml_rng_make(seed, STREAM_MEANS ^ (uint64_t)c);
    for (int j = 0; j < d; j++) {
        double width = pow(1000.0, 0.5 * j / (d - 1.0));
        x[j] = width * (0.5 * bdml_rng_normal(&mean) + bdml_rng_normal(r));
    }
    return c;
}

static int32_t needle(uint64_t seed, bdml_rng *r, int d, double *x)
{
    int32_t c = (int32_t)bdml_rng_below(r, 3);
    (void)seed;
    for (int j = 0; j < d; j++) x[j] = j < 2 && c == j + 1 ? 3.0 : 0.0;
    add_noise(r, 0, d, 1.0, x);
    return c;
}

static int32_t clusters(uint64_t seed, bdml_rng *r, int d, double *x)
{
    int32_t k = (int32_t)bdml_rng_below(r, (uint64_t)3 * CLUSTERS);
    bdml_rng mean = bdml_rng_make(seed, STREAM_MEANS ^ (uint64_t)k);
    for (int j = 0; j < d; j++) x[j] = j < d / 2 ? 2.0 * bdml_rng_normal(&mean) : 0.0;
    add_noise(r, 0, d / 2, 1.0, x);
    add_noise(r, d / 2, d, 4.0, x);
    return k % 3;
}

static const struct generator {
    const char *name;
    int d, classes;
    make_point point;
} generators[] = {
    {"waveform", 21, 3, waveform}, {"waveform-noise", 40, 3, waveform},
    {"twonorm", 20, 2, twonorm},   {"threenorm", 20, 2, threenorm},
    {"ringnorm", 20, 2, ringnorm}, {"stretched", 15, 4, stretched},
    {"needle", 30, 3, needle},     {"clusters", 12, 3, clusters},
};
enum {
    GENERATORS = sizeof generators / sizeof *generators,
    ASKED = 4096 /* points between two looks at the clock */
};

/* ---- all -------------------------------------------------------------------------------------------------- */

int bdml_generator_count(void)
{
    return GENERATORS;
}

const char *bdml_generator_name(int i)
{
    return i >= 0 && i < GENERATORS ? generators[i].name : NULL;
}

static const struct generator *find(bdml_handle *h, const char *name)
{
    char list[256] = "";
    for (int i = 0; i < GENERATORS; i++) {
        size_t used = strlen(list);
        if (strcmp(generators[i].name, name) == 0) return &generators[i];
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", generators[i].name);
    }
    bdml_fail(h, BDML_ERR_ARGUMENT, "there is no set '%.100s' to generate; there are: %s", name,
              list);
    return NULL;
}

/* Classes that got no point are left out, as they would be by reading the data from a file. */
static bdml_status name_classes(bdml_handle *h, int classes, bdml_dataset *data)
{
    int32_t number[MOST_CLASSES] = {0}, used = 0;
    for (int64_t i = 0; i < data->n; i++) number[data->y[i]] = 1;
    for (int c = 0; c < classes; c++) {
        char text[2] = {(char)('1' + c), '\0'};
        if (!number[c]) continue;
        number[c] = used;
        if (!(data->class_name[used++] = bdml_strdup(h, text))) return BDML_ERR_MEMORY;
    }
    data->classes = used;
    for (int64_t i = 0; i < data->n; i++) data->y[i] = number[data->y[i]];
    return BDML_OK;
}

bdml_status bdml_generate(bdml_handle *h, const char *name, int64_t n, bdml_dataset **out)
{
    bdml_status status;
    bdml_dataset *data = NULL;

    if (out) *out = NULL;
    if (!h) return BDML_ERR_ARGUMENT;
    if (!out || !name)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "bdml_generate: name and out must not be NULL");
    const struct generator *g = find(h, name);
    if (!g) return BDML_ERR_ARGUMENT;
    if (n < 1)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "the number of points must be 1 or more, got %lld",
                         (long long)n);
    uint64_t seed = (uint64_t)h->options.general.seed.value;
    BDML_GO(bdml_dataset_new(h, n, g->d, g->classes, &data));
    for (int64_t i = 0; i < n; i++) { /* point i is a function of (seed, i) alone */
        if (i % ASKED == 0) BDML_GO(bdml_progress(h, "generate", i, n));
        bdml_rng r = bdml_rng_make(seed, STREAM_POINTS ^ (uint64_t)i);
        data->y[i] = g->point(seed, &r, g->d, data->x + (size_t)i * (size_t)g->d);
    }
    BDML_GO(name_classes(h, g->classes, data));
done:
    if (status == BDML_OK)
        *out = data;
    else
        bdml_free_dataset(data);
    return status;
}
