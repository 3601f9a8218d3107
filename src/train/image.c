/* image.c - rows under a linear map, z = L (x - shift), whole where they are few, else made when they are asked for.
 *
 * The image of a row depends on that row alone (linalg/map.c), so that the bits are the same either way, and whatever rows it is made with. */
#include "train/plan.h"

#include <stdlib.h>

#include "linalg/linalg.h"

/* Whole up to so many bytes: more of them save little time, since a row is asked for in a few passes. */
enum { WHOLE = 32 << 20 };
/* Numbers of the rows that are mapped at a time, whole tiles of linalg/map.c: half a MiB. */
enum { NUMBERS = 1 << 16, TILE = 64 };

static int64_t chunk_rows(int d)
{
    return (int64_t)TILE * BDML_MAX(NUMBERS / d / TILE, 1);
}

static void some(const bdml_made *made, int64_t count, const int64_t *row, int64_t from,
                 double *out)
{
    const bdml_image *m = (const bdml_image *)made;
    size_t d = (size_t)m->of.d;
    int64_t chunk = chunk_rows(m->of.d);
    for (int64_t at = 0; at < count; at += chunk) {
        int64_t now = BDML_MIN(chunk, count - at);
        bool there = m->of.x && !row && !m->shift; /* and need not be copied */
        const double *x = there ? m->of.x + (size_t)(from + at) * (size_t)m->of.ld : m->room;
        if (!there) bdml_rows_copy(&m->of, now, row ? row + at : NULL, from + at, m->room);
        for (size_t i = 0; m->shift && i < (size_t)now; i++)
            for (size_t j = 0; j < d; j++) m->room[i * d + j] -= m->shift[j];
        bdml_la_map_rows(m->h, m->q, m->of.d, m->map, now, x, there ? m->of.ld : m->of.d,
                         out + (size_t)at * (size_t)m->q, m->ws);
    }
}

void bdml_image_close(bdml_image *m)
{
    free(m->room);
    free(m->ws);
    free(m->own);
    *m = (bdml_image){0};
}

bdml_status bdml_image_open(bdml_handle *h, const bdml_rows *of, int q, const double *map,
                            const double *shift, bool whole, bdml_image *m)
{
    bdml_status status = BDML_OK;
    double bytes = (double)of->n * (double)q * (double)sizeof(double);

    *m = (bdml_image){{some, false}, h, *of, q, map, shift, NULL, NULL, NULL, *of};
    m->rows.d = q;
    m->rows.ld = q;
    m->rows.x = NULL;
    m->rows.made = &m->made;
    BDML_NEW(h, m->room, (size_t)chunk_rows(of->d) * (size_t)of->d);
    BDML_NEW(h, m->ws, bdml_la_map_size(q, of->d));
    if (!whole && bytes > (double)(h->whole_image > 0 ? h->whole_image : WHOLE)) goto done;
    m->own = bdml_alloc(h, (size_t)of->n * (size_t)q, sizeof *m->own);
    if (!m->own) BDML_GO(BDML_ERR_MEMORY);
    some(&m->made, of->n, NULL, 0, m->own);
    m->rows.x = m->own;
    m->rows.made = NULL;
done:
    if (status != BDML_OK) bdml_image_close(m);
    return status;
}
