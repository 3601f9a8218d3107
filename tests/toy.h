/* toy.h - a small problem: points and constraints over them */
#ifndef BDML_TESTS_TOY_H
#define BDML_TESTS_TOY_H

#include "check.h"

#include "problem/problem.h"

typedef struct toy {
    int64_t n;
    int d;
    double *x;
    bdml_constraints *c;
} toy;

static inline void toy_free(toy *T)
{
    free(T->x);
    bdml_free_constraints(T->c);
}

#endif
