/* history.c - how the bracket closed, in a bounded number of rows. */
#include "solver/engine.h"

static void thin(bdml_history *h)
{
    int kept = 0;
    for (int i = 0; i < h->count; i += 2, kept++) {
        h->iteration[kept] = h->iteration[i];
        h->lower[kept] = h->lower[i];
        h->upper[kept] = h->upper[i];
    }
    h->count = kept;
    h->every *= 2;
}

void bdml_history_add(bdml_history *h, double iteration, double lower, double upper)
{
    if (h->every == 0) h->every = 1;
    if (h->seen++ % h->every != 0) return;
    if (h->count == BDML_HISTORY_ROWS) {
        thin(h);
        if ((h->seen - 1) % h->every != 0) return;
    }
    h->iteration[h->count] = iteration;
    h->lower[h->count] = lower;
    h->upper[h->count++] = upper;
}

void bdml_history_note(bdml_engine *e)
{
    double unit_f = e->scaled.unit.f;
    bdml_history_add(&e->stage.history, (double)(e->stage.iterations + e->course.iterations),
                     e->bounds.lower * unit_f, e->bounds.upper * unit_f);
}
