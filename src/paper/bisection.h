/* bisection.h - inside Algorithm 1: the state of the search, what a verdict does to it, and how it starts. */
#ifndef BDML_BISECTION_H
#define BDML_BISECTION_H

#include "paper/mwu.h"

typedef struct bdml_search {
    bdml_handle *h;      /* the caller's */
    bdml_handle *worker; /* that the feasibility problems run on */
    bdml_problem *p;
    bool diagonal;
    const bdml_paper_settings *s;
    bdml_mwu *w;
    double L, U, U_start;
    double lower, *y;        /* proven, by y */
    double upper, *m;        /* cone: certified; lifted: the average at bound `upper` */
    double slack, violation; /* of m */
    double objective, kappa, trace;
    double *y_try;
    bdml_proof proof; /* the margins contradict each other, by y */
    double reach;
    bool stopped; /* the time limit */
    bdml_bisection *report;
} bdml_search;

/* outcome.c: what came of a bound. believe: a bound that was not refused counts as met whatever the average
 * looks like. */
bdml_status bdml_search_take(bdml_search *b, bdml_mwu *w, const bdml_mwu_result *r, bool believe);
/* Run Algorithm 2 at this bound and take the outcome; cone: more rounds when they were too few to say. */
bdml_status bdml_search_try(bdml_search *b, double bound, bdml_mwu_result *r);
/* t M becomes the metric of the search, w->v its values. */
void bdml_search_keep(bdml_search *b, const bdml_mwu *w, const bdml_mwu_result *r, double upper,
                      double t);
/* Errors of the worker are the caller's. */
bdml_status bdml_search_told(bdml_search *b, bdml_status status);
/* Gap that single steps aim at. */
double bdml_search_aim(const bdml_search *b);

/* start.c: a first U, infinite when there is none; then several bounds between L and U at once. */
bdml_status bdml_search_start(bdml_search *b);
bdml_status bdml_search_upwards(bdml_search *b);
bdml_status bdml_search_parallel(bdml_search *b);

#endif
