/* certify.h - an independent checker of what a model claims.
 *
 * Reads the model, its evidence and the raw data, and recomputes everything, level by level:
 *
 *     numbers   plain loops in extended precision, which say what is wrong with what (numbers.c), and the words
 *               and figures that go with the claim (description.c); then the prover of bdml-check, with bounds on
 *               every rounding error, without which nothing is confirmed (proof.c)
 *     problem   settings -> problem, by plain code a subject (problem.c, preparation.c, reference.c, weight.c,
 *               mining.c, given.c)
 *     repeat    training itself, again (repeat.c)
 *
 * The first two share the readers of files and of settings with the rest and nothing else: no BLAS, no LAPACK, no
 * code of linalg, spectral, neighbors, the margin operator or the solver.
 *
 * Called by the command; calls proof, model, data and problem (reading only), and train to repeat it. */
#ifndef BDML_CERTIFY_H
#define BDML_CERTIFY_H

#include "model/evidence.h"

/* ---- eigenvalues by plain loops (eigenvalues.c) ------------------------------------------------- */

/* Ascending eigenvalues of the symmetric a (d x d, destroyed). False: no convergence. */
bool bdml_plain_eigenvalues(int d, long double *a, long double *lambda);

/* ---- the bounded-distortion set by enumeration (bound.c) ----------------------------------------- */

/* min over { kappa(M) <= K, trace(M) = 1 } of <C,M>, w the ascending eigenvalues of C:
 *     min_j (K sum_{i<=j} w_i + sum_{i>j} w_i) / (j K + d - j) */
long double bdml_plain_density(int d, const long double *w, long double K);
/* min over { kappa(M) <= K, trace(M) <= R } of <C,M>: 0 or R times the above; -inf when R is. */
long double bdml_plain_minimum(int d, const long double *w, long double K, long double R);

/* ---- verdict (verdict.c) -------------------------------------------------------------------------- */

/* How far a claim is followed. Setting "level"; AUTO in a verdict: not even the numbers hold.
 *
 *     numbers   bracket, cap and margins, or infeasibility, hold for the problem that stands in the file
 *     problem   that problem is what these data and these settings give
 *     repeat    training again gives the same model
 */
typedef enum bdml_finding {
    BDML_HOLDS,
    BDML_FAILS,
    BDML_TRUSTED /* cannot be derived from data and settings */
} bdml_finding;

typedef struct bdml_check {
    bdml_level level;
    bdml_finding finding;
    const char *what;   /* "distortion", "margins", ... */
    const char *fields; /* of the file that it speaks for, between blanks */
    char detail[240];   /* the figures */
} bdml_check;

enum { BDML_CHECKS_MAX = 40 };

typedef struct bdml_verdict {
    locale_t c;
    bdml_level asked, level; /* highest level that holds */
    bool confirmed;          /* nothing that was looked at fails, and the level asked for holds */
    int checks;
    bdml_check check[BDML_CHECKS_MAX];
    double kappa, lower, upper;
    double factor; /* hard form: times this the metric meets every margin, 1 but for rounding */
} bdml_verdict;

/* Add a check and its figures. fields: names as in the file ("certificate.gap", "width"). */
void bdml_verdict_note(bdml_verdict *v, bdml_level level, const char *what, const char *fields,
                       bool holds, const char *fmt, ...) BDML_PRINTF(6, 7);
/* What level "problem" would need and cannot have. */
void bdml_verdict_trust(bdml_verdict *v, const char *what, const char *fields, const char *fmt, ...)
    BDML_PRINTF(4, 5);
/* Level and confirmed, from the checks. */
void bdml_verdict_conclude(bdml_verdict *v);
/* Everything in the file that is a claim, either checked, with its level, or not checked, with the reason. */
bdml_status bdml_verdict_fields(bdml_handle *h, const bdml_verdict *v, const bdml_model *model,
                                json_t **checked, json_t **not_checked);

/* Is there a claim, and do model, evidence and data (whole, or with values to fill in) fit together? The
 * failure says what does not; path: the model's, for it. */
bdml_status bdml_certify_fits(bdml_handle *h, const bdml_model *model, const bdml_dataset *data,
                              const char *path);

/* ---- words ------------------------------------------------------------------------------------------- */

/* The claim in a sentence or two, with its numbers (statement.c); NULL: out of memory. */
char *bdml_statement(bdml_handle *h, const bdml_model *model, const bdml_verdict *v);

/* ---- figures that several checks compare ---------------------------------------------------------------- */

/* x (d_in numbers) -> the prepared point, as the model file describes it; scaled: d_in of scratch.
 * False: a value is missing and the model does not say what to put there (plain.c). */
bool bdml_plain_prepare(const bdml_prepare *p, const double *x, long double *scaled,
                        long double *out);
/* Relative error that a distortion may have in doubles: 1e-9 + 4 d eps kappa (numbers.c). */
double bdml_kappa_slack(int d, double kappa);
/* The same up to what doubles can tell. */
bool bdml_same_kappa(int d, double a, double b);

#endif
