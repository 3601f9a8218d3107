/* backend.h - the BLAS and LAPACK that the build has found, through their C interfaces. Private to linalg. */
#ifndef BDML_LINALG_BACKEND_H
#define BDML_LINALG_BACKEND_H

#ifdef BDML_HAVE_MKL
#include <mkl_cblas.h>
#include <mkl_lapacke.h>
#else
#include <cblas.h>
#include <lapacke.h>
#endif

#endif
