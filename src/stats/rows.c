/* rows.c - rows brought together, and the means of their classes. */
#include "stats/stats.h"

#include <stdlib.h>

/* Numbers made at a time: half a MiB; rows are whole tiles of those that map them (linalg/map.c). */
enum { SCANNED = 1 << 16, TILE = 64 };

void bdml_rows_copy(const bdml_rows *r, int64_t count, const int64_t *row, int64_t from,
                    double *out)
{
    size_t d = (size_t)r->d, ld = (size_t)r->ld;
    if (r->made) {
        r->made->some(r->made, count, row, from, out);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        memcpy(out + (size_t)i * d, r->x + (size_t)(row ? row[i] : from + i) * ld, sizeof *out * d);
}

bdml_status bdml_scan_begin(bdml_handle *h, const bdml_rows *rows, bdml_scan *s)
{
    *s = (bdml_scan){.rows = rows, .ld = rows->ld, .most = rows->n};
    if (!rows->made) return BDML_OK;
    s->ld = rows->d;
    s->most = (int64_t)TILE * BDML_MAX(SCANNED / rows->d / TILE, 1);
    s->room = bdml_alloc(h, (size_t)s->most * (size_t)rows->d, sizeof *s->room);
    return s->room ? BDML_OK : BDML_ERR_MEMORY;
}

bool bdml_scan_next(bdml_scan *s)
{
    const bdml_rows *r = s->rows;
    s->from += s->count;
    s->count = BDML_MIN(s->most, r->n - s->from);
    if (s->count <= 0) return false;
    s->x = r->made ? s->room : r->x;
    if (r->made) r->made->some(r->made, s->count, NULL, s->from, s->room);
    return true;
}

void bdml_scan_again(bdml_scan *s)
{
    s->from = s->count = 0;
}

void bdml_scan_end(bdml_scan *s)
{
    free(s->room);
    s->room = NULL;
}

bdml_rows bdml_rows_gather(const bdml_rows *from, int64_t count, const int64_t *row, double *x,
                           int32_t *y)
{
    bdml_rows_copy(from, count, row, 0, x);
    for (int64_t i = 0; from->y && i < count; i++) y[i] = from->y[row[i]];
    return (bdml_rows){count, from->d, from->d, x, from->y ? y : NULL, from->classes, NULL};
}

/* Sums are of twice the precision (base/spread.h). */
bdml_status bdml_class_means(bdml_handle *h, const bdml_rows *rows, const bdml_spread *over,
                             int64_t *count, double *mean, double *all)
{
    bdml_status status = BDML_OK;
    size_t d = (size_t)rows->d, classes = rows->y ? (size_t)rows->classes : 1;
    double n = (double)bdml_spread_total(over, rows->n), *rest = NULL;
    bdml_scan s = {0};

    BDML_NEW(h, rest, classes * d);
    BDML_GO(bdml_scan_begin(h, rows, &s));
    memset(count, 0, sizeof *count * classes);
    memset(mean, 0, sizeof *mean * classes * d);
    if (all) memset(all, 0, sizeof *all * d);
    while (bdml_scan_next(&s))
        for (int64_t i = 0; i < s.count; i++) {
            size_t c = rows->y ? (size_t)rows->y[s.from + i] : 0;
            const double *x = s.x + (size_t)i * (size_t)s.ld;
            count[c]++;
            for (size_t j = 0; j < d; j++)
                bdml_twofold_add(mean + c * d + j, rest + c * d + j, x[j]);
        }
    for (size_t c = 0; over && c < classes; c++)
        count[c] = (int64_t)bdml_comm_total(over->comm, (double)count[c]);
    BDML_GO(bdml_spread_twofold(h, over, (int64_t)(classes * d), mean, rest));
    for (size_t c = 0; c < classes; c++)
        for (size_t j = 0; j < d && count[c] > 0; j++) {
            double sum = mean[c * d + j] + rest[c * d + j];
            if (all) all[j] += sum / n;
            mean[c * d + j] = sum / (double)count[c];
        }
done:
    bdml_scan_end(&s);
    free(rest);
    return status;
}
