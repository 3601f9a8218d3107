/* vector.c - the operator over all constraints in scaled units, and the projection. */
#include "solver/engine.h"

void bdml_engine_forward(bdml_engine *e, const double *M, double *v)
{
    const bdml_terms *terms = &e->scaled.terms;
    bdml_operator_forward(&e->p->A, M, v);
    bdml_cvec_product(&terms->space, 1.0, terms->w, v, v);
}

void bdml_engine_adjoint(bdml_engine *e, const double *g, const double *y, double *S)
{
    const bdml_terms *terms = &e->scaled.terms;
    double *weighted = e->active.weighted;
    bdml_cvec_product(&terms->space, 1.0, terms->w, y, weighted);
    bdml_operator_adjoint(&e->p->A, weighted, S);
    bdml_matrix_subtract_from(&e->X, g, S);
}

bdml_status bdml_engine_project(bdml_engine *e, double *A, double *M)
{
    e->course.iterations++;
    return e->X.ops->project(&e->X, &e->scaled.set, A, M);
}
