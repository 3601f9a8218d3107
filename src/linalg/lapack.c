/* lapack.c - symmetric eigenproblem by LAPACK's divide and conquer; QR; singular values. */
#include "linalg/linalg.h"

#include <math.h>
#include <stdlib.h>

#include "linalg/backend.h"

/* Below this size threads inside LAPACK cost more than they give. */
enum { WIDE_FROM = 200 };
/* dsyevd's workspace of 1 + 6d + 2d^2 numbers is counted in 32 bits. */
enum { LARGEST = 32000 };

bdml_status bdml_eigh_ws_init(bdml_handle *h, int d, bdml_eigh_ws *ws)
{
    double work_size = 0.0;
    lapack_int iwork_size = 0;
    double dummy = 0.0;

    memset(ws, 0, sizeof *ws);
    if (d > LARGEST)
        return bdml_fail(h, BDML_ERR_DATA,
                         "%d dimensions are too many for an eigenproblem: at most %d; "
                         "reduce them with pca",
                         d, LARGEST);
    lapack_int info = LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, 'V', 'L', d, &dummy, BDML_MAX(d, 1),
                                          &dummy, &work_size, -1, &iwork_size, -1);
    if (info != 0)
        return bdml_fail(h, BDML_ERR_LAPACK, "dsyevd: workspace query failed for d = %d", d);
    ws->d = d;
    ws->lwork = (int)BDML_MAX(work_size, 1.0);
    ws->liwork = BDML_MAX((int)iwork_size, 1);
    ws->work = bdml_alloc(h, (size_t)ws->lwork, sizeof *ws->work);
    ws->iwork = bdml_alloc(h, (size_t)ws->liwork, sizeof *ws->iwork);
    if (!ws->work || !ws->iwork) {
        bdml_eigh_ws_free(ws);
        return BDML_ERR_MEMORY;
    }
    return BDML_OK;
}

void bdml_eigh_ws_free(bdml_eigh_ws *ws)
{
    free(ws->work);
    free(ws->iwork);
    memset(ws, 0, sizeof *ws);
}

/* LAPACK cannot be cut short. From here on it takes long enough for the clock to be asked before, */
enum { LONG_FROM = 400 };
/* and a first guess of how long is made from a problem of this size, some milliseconds. */
enum { SAMPLE = 160 };

static bdml_status measure_pace(bdml_handle *h)
{
    bdml_status status = BDML_OK;
    bdml_eigh_ws ws = {0};
    double *a = NULL, *lambda = NULL;

    BDML_NEW(h, a, SAMPLE * SAMPLE);
    BDML_NEW(h, lambda, SAMPLE);
    BDML_GO(bdml_eigh_ws_init(h, SAMPLE, &ws));
    for (int j = 0; j < SAMPLE; j++)
        for (int i = 0; i < SAMPLE; i++) COL(a, SAMPLE, j)[i] = 1.0 / (1 + i + j) + (i == j) * i;
    double start = bdml_now();
    BDML_GO(bdml_la_eigh(h, SAMPLE, a, lambda, true, &ws));
    h->eigen_pace = (bdml_now() - start) / pow(SAMPLE, 3.0);
done:
    bdml_eigh_ws_free(&ws);
    free(a);
    free(lambda);
    return status;
}

/* Is there time for it? Without vectors it takes a third. */
static bdml_status look_ahead(bdml_handle *h, int d, bool vectors)
{
    if (d < LONG_FROM || !bdml_jobs_limited(h)) return BDML_OK;
    if (h->eigen_pace == 0.0) BDML_TRY(measure_pace(h));
    return bdml_jobs_ahead(h, "eigenvalues", h->eigen_pace * pow(d, 3.0) / (vectors ? 1.0 : 3.0));
}

bdml_status bdml_la_eigh(bdml_handle *h, int d, double *a, double *lambda, bool vectors,
                         bdml_eigh_ws *ws)
{
    BDML_TRY(look_ahead(h, d, vectors));
    double start = bdml_now();
    bdml_phase previous = bdml_phase_enter(h, BDML_PHASE_EIGEN);
    bool wide = !bdml_is_deterministic(h) && d >= WIDE_FROM && bdml_la_widen(bdml_threads(h));
    lapack_int info = LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, vectors ? 'V' : 'N', 'L', d, a, d,
                                          lambda, ws->work, ws->lwork, ws->iwork, ws->liwork);
    if (wide) bdml_la_narrow();
    bdml_phase_leave(h, previous);
    if (vectors && d >= LONG_FROM) h->eigen_pace = (bdml_now() - start) / pow(d, 3.0);
    if (info != 0)
        return bdml_fail(h, BDML_ERR_LAPACK, "dsyevd failed with info %d at d = %d", (int)info, d);
    return BDML_OK;
}

/* ---- QR and singular values -------------------------------------------------------------------- */

bdml_status bdml_la_orth(bdml_handle *h, int m, int n, double *a)
{
    bdml_status status = BDML_OK;
    double *tau = NULL, *work = NULL, want_qr = 1.0, want_q = 1.0;
    lapack_int info;

    LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, m, n, a, BDML_MAX(m, 1), a, &want_qr, -1);
    LAPACKE_dorgqr_work(LAPACK_COL_MAJOR, m, n, n, a, BDML_MAX(m, 1), a, &want_q, -1);
    int lwork = (int)BDML_MAX(BDML_MAX(want_qr, want_q), 1.0);
    BDML_NEW(h, tau, n);
    BDML_NEW(h, work, lwork);
    info = LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, m, n, a, BDML_MAX(m, 1), tau, work, lwork);
    if (info == 0)
        info = LAPACKE_dorgqr_work(LAPACK_COL_MAJOR, m, n, n, a, BDML_MAX(m, 1), tau, work, lwork);
    if (info != 0)
        status =
            bdml_fail(h, BDML_ERR_LAPACK, "QR failed with info %d at %d x %d", (int)info, m, n);
done:
    free(tau);
    free(work);
    return status;
}

bdml_status bdml_la_singular_values(bdml_handle *h, int m, int n, double *a, double *sigma)
{
    bdml_status status = BDML_OK;
    double *work = NULL, want = 1.0, dummy = 0.0;
    lapack_int *iwork = NULL, info;

    BDML_NEW(h, iwork, 8 * (int64_t)BDML_MAX(BDML_MIN(m, n), 1)); /* the size dgesdd documents */
    LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, 'N', m, n, a, BDML_MAX(m, 1), sigma, &dummy, 1, &dummy, 1,
                        &want, -1, iwork);
    int lwork = (int)BDML_MAX(want, 1.0);
    BDML_NEW(h, work, lwork);
    info = LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, 'N', m, n, a, BDML_MAX(m, 1), sigma, &dummy, 1,
                               &dummy, 1, work, lwork, iwork);
    if (info != 0)
        status =
            bdml_fail(h, BDML_ERR_LAPACK, "dgesdd failed with info %d at %d x %d", (int)info, m, n);
done:
    free(work);
    free(iwork);
    return status;
}

bdml_status bdml_la_svd(bdml_handle *h, int m, int n, double *a, double *sigma, double *u,
                        double *vt)
{
    bdml_status status = BDML_OK;
    int r = BDML_MAX(BDML_MIN(m, n), 1);
    double *work = NULL, want = 1.0;
    lapack_int *iwork = NULL, info;

    BDML_NEW(h, iwork, 8 * (int64_t)r);
    LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, 'S', m, n, a, BDML_MAX(m, 1), sigma, u, BDML_MAX(m, 1),
                        vt, r, &want, -1, iwork);
    int lwork = (int)BDML_MAX(want, 1.0);
    BDML_NEW(h, work, lwork);
    info = LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, 'S', m, n, a, BDML_MAX(m, 1), sigma, u,
                               BDML_MAX(m, 1), vt, r, work, lwork, iwork);
    if (info != 0)
        status =
            bdml_fail(h, BDML_ERR_LAPACK, "dgesdd failed with info %d at %d x %d", (int)info, m, n);
done:
    free(work);
    free(iwork);
    return status;
}

bool bdml_la_solve_spd(int n, double *a, double *b)
{
    return LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', n, a, n) == 0 &&
           LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'L', n, 1, a, n, b, n) == 0;
}

bool bdml_la_invert_spd(int n, double *a, double *log_det)
{
    if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', n, a, n) != 0) return false;
    *log_det = 0.0;
    for (int j = 0; j < n; j++) *log_det += 2.0 * log(COL(a, n, j)[j]);
    if (LAPACKE_dpotri_work(LAPACK_COL_MAJOR, 'L', n, a, n) != 0) return false;
    bdml_la_mirror(n, a, n);
    return true;
}
