/* laplacian.c - a weighted sum over pairs of points, from moments that were summed in parts. */
#include "baselines/baselines.h"
#include "linalg/linalg.h"

void bdml_add_laplacian(bdml_handle *h, int parts, int64_t n, int d, const double *x,
                        double *moment, double *column, double *lap, double *ws)
{
    size_t rows = (size_t)n, side = (size_t)d;
    for (int p = 1; p < parts; p++) {
        for (size_t e = 0; e < side * side; e++) moment[e] += moment[(size_t)p * side * side + e];
        for (size_t j = 0; j < rows; j++) column[j] += column[(size_t)p * rows + j];
    }
    bdml_la_gram(h, d, n, x, d, column, lap, ws);
    for (size_t i = 0; i < side; i++)
        for (size_t j = 0; j < side; j++)
            lap[i * side + j] -= moment[i * side + j] + moment[j * side + i];
}
