/* blas.c - the BLAS calls for one tile, in one place and with one spelling. */
#include "linalg/linalg.h"

#include "linalg/backend.h"

static CBLAS_TRANSPOSE trans(char t)
{
    return t == 'N' ? CblasNoTrans : CblasTrans;
}

void bdml_la_gemm(char ta, char tb, int m, int n, int k, double alpha, const double *a, int lda,
                  const double *b, int ldb, double beta, double *c, int ldc)
{
    if (m == 0 || n == 0) return;
    cblas_dgemm(CblasColMajor, trans(ta), trans(tb), m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void bdml_la_sgemm(char ta, char tb, int m, int n, int k, float alpha, const float *a, int lda,
                   const float *b, int ldb, float beta, float *c, int ldc)
{
    if (m == 0 || n == 0) return;
    cblas_sgemm(CblasColMajor, trans(ta), trans(tb), m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void bdml_la_syrk(char t, int n, int k, double alpha, const double *a, int lda, double beta,
                  double *c, int ldc)
{
    if (n == 0) return;
    cblas_dsyrk(CblasColMajor, CblasLower, trans(t), n, k, alpha, a, lda, beta, c, ldc);
}

void bdml_la_gemv(char t, int m, int n, double alpha, const double *a, int lda, const double *x,
                  double beta, double *y)
{
    if (m == 0 || n == 0) return;
    cblas_dgemv(CblasColMajor, trans(t), m, n, alpha, a, lda, x, 1, beta, y, 1);
}

double bdml_la_dot(int n, const double *x, const double *y)
{
    return cblas_ddot(n, x, 1, y, 1);
}

double bdml_la_norm(int n, const double *x)
{
    return cblas_dnrm2(n, x, 1);
}

void bdml_la_mirror(int n, double *a, int lda)
{
    enum { TILE = 32 }; /* both sides of the transpose stay in cache */
    for (int j0 = 0; j0 < n; j0 += TILE)
        for (int i0 = j0; i0 < n; i0 += TILE)
            for (int j = j0; j < BDML_MIN(j0 + TILE, n); j++)
                for (int i = BDML_MAX(i0, j + 1); i < BDML_MIN(i0 + TILE, n); i++)
                    COL(a, lda, i)[j] = COL(a, lda, j)[i];
}
