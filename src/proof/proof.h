/* proof.h - the claim of a model stated as a certificate (docs/certificate.md), and put before the prover of
 * check/: real arithmetic about the doubles of the data, every rounding error bounded.
 *
 * Called by train, before it speaks, and by certify; calls model and data (reading only). */
#ifndef BDML_PROOF_H
#define BDML_PROOF_H

#include "model/evidence.h"

/* The claim as text; *text is the caller's to free. Model, evidence and data fit together. */
bdml_status bdml_certificate_text(bdml_handle *h, const bdml_model *model, const bdml_evidence *e,
                                  const bdml_dataset *data, char **text, size_t *size);

/* What the prover makes of it. A number that is not proven is NaN. */
typedef struct bdml_proven {
    bool confirmed;
    bool refused;        /* the claim is none that can be stated */
    char reason[300];    /* unless confirmed: why not */
    bool every_trace;    /* the claim is about every trace and all positive margins */
    double kappa;        /* of the metric in the certificate, from above */
    double lower, upper; /* ends of the optimum, whatever is claimed */
    double reach;        /* infeasible: for every trace below */
} bdml_proven;

/* What a claim says of the data: the rows in pairs, and the scatter of all rows where the objective is that. */
typedef struct bdml_proof_rows {
    int64_t n;            /* rows of the data */
    int64_t count;        /* those in pairs, */
    int64_t *row;         /* their numbers, ascending, */
    int d;                /* columns */
    const double *x;      /* all rows of the data, borrowed, but where `own` is not NULL; */
    const float *single;  /* x NULL: they, held as floats */
    double *own;          /* those in pairs: gathered from other ranks, missing values filled in */
    struct ball *scatter; /* dim x dim, or NULL */
} bdml_proof_rows;
/* The k-th of those in pairs: where it is, or in room (d numbers). */
static inline const double *bdml_proof_row(const bdml_proof_rows *r, int64_t k, double *room)
{
    size_t d = (size_t)r->d;
    if (r->own) return r->own + (size_t)k * d;
    if (r->x) return r->x + (size_t)r->row[k] * d;
    for (size_t j = 0; j < d; j++) room[j] = r->single[(size_t)r->row[k] * d + j];
    return room;
}
/* Of the pairs of e, the preparation and the reference. All ranks call it where rows are dealt out, and all get the
 * same. BDML_ERR_CANCELLED when the deadline ends it. */
bdml_status bdml_proof_rows_make(bdml_handle *h, const bdml_model *model, const bdml_evidence *e,
                                 const bdml_dataset *data, bdml_proof_rows *out);
void bdml_proof_rows_free(bdml_proof_rows *r);

/* Prove the claim as bdml-check proves its text, by the same code; but the numbers of rows, and the scatter of all of them, are
 * taken from the data and not from a text. BDML_ERR_CANCELLED when the deadline ends it, or a user who leaves. */
bdml_status bdml_prove_rows(bdml_handle *h, const bdml_model *model, const bdml_evidence *e,
                            const bdml_proof_rows *rows, bdml_proven *out);
/* Bytes that it takes at most beside the data, the claim's own constraints included: of so many rows in pairs, in d dimensions. What
 * balls take (check/), 24 bytes each: points with preparation and reference and under the map, and the Laplacian's two factors; d x d matrices.
 * tests/test_method_limit.c holds it against what is taken. */
double bdml_proof_bytes(double rows, double d, double constraints, double pairs);
/* Both in one. */
bdml_status bdml_prove(bdml_handle *h, const bdml_model *model, const bdml_evidence *e,
                       const bdml_dataset *data, bdml_proven *out);

#endif
