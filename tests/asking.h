/* asking.h - how often the user is asked while something goes on, and the call that says no. */
#ifndef BDML_TESTS_ASKING_H
#define BDML_TESTS_ASKING_H

#include "base/base.h"

typedef struct asking {
    bdml_handle *h;
    int calls, stop_at;
} asking;

static inline int ask(void *user, const char *what, int64_t done, int64_t total)
{
    asking *a = user;
    (void)what, (void)done, (void)total;
    a->h->progress_last = 0.0; /* every call comes through */
    return ++a->calls == a->stop_at;
}

#endif
