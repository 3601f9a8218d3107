/* certify.h - an independent checker of what a model claims.
 *
 * Reads the model, its evidence and the raw data, and recomputes everything: first with plain loops in
 * extended precision, which say what is wrong with what; then by the prover of bdml-check, with bounds on
 * every rounding error, without which nothing is confirmed. It shares the file readers with the rest and
 * nothing else: no BLAS, no LAPACK, no code of linalg, spectral, the margin operator or the solver.
 *
 * Called by the command; calls proof, model and data (reading only). */
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

/* ---- verdict (certify.c) -------------------------------------------------------------------------- */

typedef struct bdml_check {
    const char *what; /* "distortion", "margins", ... */
    bool passed;
    char detail[200]; /* the figures */
} bdml_check;

enum { BDML_CHECKS_MAX = 12 };

typedef struct bdml_verdict {
    bool confirmed; /* every check passed */
    int checks;
    bdml_check check[BDML_CHECKS_MAX];
    double kappa, lower, upper, worst_margin;
} bdml_verdict;

/* Add a check and its figures. */
void bdml_verdict_note(bdml_verdict *v, const char *what, bool passed, locale_t c, const char *fmt,
                       ...) BDML_PRINTF(5, 6);
/* Is there a claim, and do model, evidence and data (whole, or with values to fill in) fit together? The
 * failure says what does not; path: the model's, for it. */
bdml_status bdml_certify_fits(bdml_handle *h, const bdml_model *model, const bdml_dataset *data,
                              const char *path);
/* Check model and evidence against the data they were learned from. Only trouble (memory, data that do
 * not fit the model) is a failure; a refuted claim is BDML_OK with confirmed = false. */
bdml_status bdml_certify_evidence(bdml_handle *h, const bdml_model *model, const bdml_evidence *e,
                                  const bdml_dataset *data, bdml_verdict *verdict);

/* ---- proof (proof.c) --------------------------------------------------------------------------------- */

/* The certificate before the prover (proof/proof.h): adds the check "proof", and puts the proven ends of
 * the bracket into the verdict. */
bdml_status bdml_certify_proof(bdml_handle *h, const bdml_model *model, const bdml_evidence *e,
                               const bdml_dataset *data, bdml_verdict *verdict);

/* ---- what goes with the claim (description.c) --------------------------------------------------------- */

/* The same data by fingerprint; the certificate in the description says what the evidence says; kept
 * training points are L times the prepared data. Adds checks and updates verdict->confirmed. */
bdml_status bdml_certify_description(bdml_handle *h, const bdml_model *model,
                                     const bdml_dataset *data, bdml_verdict *verdict);
/* x (d_in numbers) -> the prepared point, as the model file describes it; scaled: d_in of scratch.
 * False: a value is missing and the model does not say what to put there. */
bool bdml_plain_prepare(const bdml_prepare *p, const double *x, long double *scaled,
                        long double *out);

#endif
