/* storage.c - rows held as float32: half the room of doubles, and every number exact as it is widened again.
 *
 * Values are rounded where they are read (source.c), so that everybody sees the same ones. Training by method bdml and all that is
 * summed over rows widens some rows at a time (bdml_dataset_view); others get doubles of all rows beside, made once. */
#include "data/data.h"

#include <pthread.h>
#include <stdlib.h>

static void widen_some(const bdml_made *made, int64_t count, const int64_t *row, int64_t from,
                       double *out)
{
    const bdml_floats *f = (const bdml_floats *)made;
    size_t d = (size_t)f->d;
    for (int64_t i = 0; i < count; i++) {
        const float *x = f->x + (size_t)(row ? row[i] : from + i) * d;
        for (size_t j = 0; j < d; j++) out[(size_t)i * d + j] = x[j];
    }
}

void bdml_dataset_hold_floats(bdml_dataset *data, float *x)
{
    data->x = NULL;
    data->single = (bdml_floats){{widen_some, true}, x, data->d};
}

bdml_status bdml_dataset_widen(bdml_handle *h, const bdml_dataset *data)
{
    static pthread_mutex_t lock =
        PTHREAD_MUTEX_INITIALIZER; /* of data sets that several threads share */
    bdml_status status = BDML_OK;
    if (!data || !data->single.x) return BDML_OK;
    pthread_mutex_lock(&lock);
    if (!data->x) {
        bdml_dataset *own = (bdml_dataset *)data; /* what it says of its rows does not change */
        size_t count = (size_t)data->n * (size_t)data->d;
        double *x = h ? bdml_alloc(h, count, sizeof *x) : malloc(BDML_MAX(count, 1) * sizeof *x);
        if (x)
            widen_some(&data->single.made, data->n, NULL, 0, x);
        else
            status = BDML_ERR_MEMORY;
        own->x = x;
    }
    pthread_mutex_unlock(&lock);
    return status;
}
