/* evidence.h - what a solver leaves in the model so that anybody can check its claim: the problem it
 * solved, the constraints, the multipliers and the bracket. Read by certify, written by train. */
#ifndef BDML_EVIDENCE_H
#define BDML_EVIDENCE_H

#include "model/model.h"
#include "problem/problem.h"

typedef enum bdml_claim {
    BDML_CLAIM_OPTIMAL,    /* bracket within the gap asked */
    BDML_CLAIM_STOPPED,    /* a limit or the user came first: best metric with its bracket */
    BDML_CLAIM_INFEASIBLE, /* no metric with a trace up to `reach` */
    BDML_CLAIM_APPROXIMATE /* a metric as it is: margins missed by up to slack, kappa as told, with a
                            * proven lower end of the optimum */
} bdml_claim;

typedef enum bdml_pull {
    BDML_PULL_TARGETS, /* G = mean of X_ij over the target pairs */
    BDML_PULL_WITHIN   /* G = within-class covariance of the points */
} bdml_pull;

/* The claim is about the points p = reference x, x the prepared training points (row i of the data is
 * constraint index i), and the metric M = B'B on them, L = B reference:
 *
 *     hard  min <G,M>                                          <A_t,M> >= mu_t
 *     soft  min <G,M> + sum_t c_t phi(mu_t - <A_t,M>)          c_t = cost w_t / m
 *
 * over kappa(M) <= K, trace(M) <= R, or over diagonal M of that kind. */
typedef struct bdml_evidence {
    bdml_claim claim;
    bool hard, diagonal;
    bool squared; /* soft: squared hinge, else hinge */
    bdml_pull pull;
    double g_scale; /* G is multiplied by this */
    double margin;  /* mu_t = margin times the constraint's own */
    double K, R;    /* R infinite: no bound */
    double cost;
    double lower, upper, gap_asked;
    double
        reach; /* claim "infeasible": R, a trace beyond it, or infinite: whatever trace and margins */
    double slack, kappa; /* claim "approximate"; kappa 0: no cap is claimed */
    double *
        reference; /* reference_rows rows of reference_columns (model->d), or NULL: identity, B = L */
    int reference_rows, reference_columns;
    double *map; /* B, model->q rows of reference_rows; NULL without a reference */
    int map_rows;
    bdml_constraints *constraints;
    int64_t duals; /* multipliers that are not zero */
    int32_t *dual_constraint;
    double *dual;
} bdml_evidence;

/* "optimal", "stopped", "infeasible", "approximate"; "out of reach": no metric with a trace below `reach`, where
 * no trace was asked for. */
const char *bdml_claim_name(const bdml_evidence *e);
double bdml_evidence_gap(const bdml_evidence *e); /* (upper - lower) / |upper| */
/* "every trace and margin", "this trace and margin", "traces below": what an infeasible claim is about. */
const char *bdml_claim_scope(const bdml_evidence *e);
/* Is the reference, if there is one, of d columns, with the map relative to it of q rows? q 0: there is no map. */
bool bdml_evidence_fits(const bdml_evidence *e, int d, int q);
void bdml_evidence_free(bdml_evidence *e); /* with what it owns; NULL is fine */
/* Into and out of a container; *out = NULL when the container has none. */
bdml_status bdml_evidence_put(bdml_handle *h, const bdml_evidence *e, bdml_container *c);
bdml_status bdml_evidence_get(bdml_handle *h, const bdml_container *c, bdml_evidence **out);

#endif
