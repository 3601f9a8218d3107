/* lapack.c - symmetric eigenproblem by LAPACK's divide and conquer. */
#include "linalg/linalg.h"

#include <lapacke.h>
#include <stdlib.h>

/* Below this size threads inside LAPACK cost more than they give. */
enum { WIDE_FROM = 200 };

bdml_status bdml_eigh_ws_init(bdml_handle *h, int d, bdml_eigh_ws *ws)
{
    double work_size = 0.0;
    lapack_int iwork_size = 0;
    double dummy = 0.0;

    memset(ws, 0, sizeof *ws);
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

bdml_status bdml_la_eigh(bdml_handle *h, int d, double *a, double *lambda, bool vectors,
                         bdml_eigh_ws *ws)
{
    bdml_phase previous = bdml_phase_enter(h, BDML_PHASE_EIGEN);
    bool wide = !bdml_opt_int(h, BDML_OPT_DETERMINISTIC) && d >= WIDE_FROM &&
                bdml_la_widen(bdml_threads(h));
    lapack_int info = LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, vectors ? 'V' : 'N', 'L', d, a, d,
                                          lambda, ws->work, ws->lwork, ws->iwork, ws->liwork);
    if (wide) bdml_la_narrow();
    bdml_phase_leave(h, previous);
    if (info != 0)
        return bdml_fail(h, BDML_ERR_LAPACK, "dsyevd failed with info %d at d = %d", (int)info, d);
    return BDML_OK;
}
