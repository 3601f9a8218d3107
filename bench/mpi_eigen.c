/* mpi_eigen.c - eigenproblems of the projection: LAPACK on one rank against ScaLAPACK over all.
 *
 *     mpicc -O2 bench/mpi_eigen.c -o mpi_eigen -lscalapack-openmpi -lopenblas
 *     OPENBLAS_NUM_THREADS=2 mpirun -n 1 mpi_eigen 500 1000 2000
 *     OPENBLAS_NUM_THREADS=1 mpirun -n 2 mpi_eigen 500 1000 2000
 *
 * All eigenvalues and vectors of a random symmetric matrix by divide and conquer, least of three, in seconds. Not a part of the
 * build: ScaLAPACK is no dependency (docs/cluster.md says why). */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

extern void dsyevd_(const char *, const char *, const int *, double *, const int *, double *,
                    double *, const int *, int *, const int *, int *);
extern void pdsyevd_(const char *, const char *, const int *, double *, const int *, const int *,
                     const int *, double *, double *, const int *, const int *, const int *,
                     double *, const int *, int *, const int *, int *);
extern void Cblacs_pinfo(int *, int *);
extern void Cblacs_get(int, int, int *);
extern void Cblacs_gridinit(int *, const char *, int, int);
extern void Cblacs_gridinfo(int, int *, int *, int *, int *);
extern int numroc_(const int *, const int *, const int *, const int *, const int *);
extern void descinit_(int *, const int *, const int *, const int *, const int *, const int *,
                      const int *, const int *, const int *, int *);

enum { BLOCK = 64, TIMES = 3 };

/* Entry (i, j) of a symmetric matrix, the same on every rank. */
static double entry(int i, int j)
{
    unsigned a = (unsigned)(i < j ? i : j), b = (unsigned)(i < j ? j : i);
    unsigned h = a * 2654435761u ^ (b + 0x9e3779b9u) * 2246822519u;
    h ^= h >> 15;
    h *= 3266489917u;
    h ^= h >> 13;
    return (double)h / 4294967296.0 - 0.5;
}

static double lapack(int d)
{
    size_t n = (size_t)d;
    int lwork = 1 + 6 * d + 2 * d * d, liwork = 3 + 5 * d, info;
    double *a = malloc(sizeof *a * n * n), *w = malloc(sizeof *w * n);
    double *work = malloc(sizeof *work * (size_t)lwork);
    int *iwork = malloc(sizeof *iwork * (size_t)liwork);
    for (int j = 0; j < d; j++)
        for (int i = 0; i < d; i++) a[(size_t)j * n + (size_t)i] = entry(i, j);
    double start = MPI_Wtime();
    dsyevd_("V", "L", &d, a, &d, w, work, &lwork, iwork, &liwork, &info);
    double seconds = MPI_Wtime() - start;
    free(a), free(w), free(work), free(iwork);
    return seconds;
}

static double scalapack(int d, int ranks)
{
    const int block = BLOCK, zero = 0, one = 1;
    int context, rows = 1, columns, r, c, desc[9], info, liwork = 7 * d + 8 * ranks + 2;
    while (rows * rows * 4 <= ranks) rows *= 2;
    columns = ranks / rows;
    Cblacs_get(0, 0, &context);
    Cblacs_gridinit(&context, "Row", rows, columns);
    Cblacs_gridinfo(context, &rows, &columns, &r, &c);
    int mine = numroc_(&d, &block, &r, &zero, &rows),
        wide = numroc_(&d, &block, &c, &zero, &columns);
    int ld = mine > 1 ? mine : 1, lwork = -1;
    double *a = malloc(sizeof *a * (size_t)ld * (size_t)(wide + 1)), size;
    double *z = malloc(sizeof *z * (size_t)ld * (size_t)(wide + 1)),
           *w = malloc(sizeof *w * (size_t)d);
    int *iwork = malloc(sizeof *iwork * (size_t)liwork);
    descinit_(desc, &d, &d, &block, &block, &zero, &zero, &context, &ld, &info);
    for (int j = 0; j < wide; j++)
        for (int i = 0; i < mine; i++)
            a[(size_t)j * (size_t)ld + (size_t)i] =
                entry((i / BLOCK * rows + r) * BLOCK + i % BLOCK,
                      (j / BLOCK * columns + c) * BLOCK + j % BLOCK);
    pdsyevd_("V", "L", &d, a, &one, &one, desc, w, z, &one, &one, desc, &size, &lwork, iwork,
             &liwork, &info);
    lwork = (int)size + 1;
    double *work = malloc(sizeof *work * (size_t)lwork);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    pdsyevd_("V", "L", &d, a, &one, &one, desc, w, z, &one, &one, desc, work, &lwork, iwork,
             &liwork, &info);
    MPI_Barrier(MPI_COMM_WORLD);
    double seconds = MPI_Wtime() - start;
    free(a), free(z), free(w), free(work), free(iwork);
    return seconds;
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    Cblacs_pinfo(&rank, &ranks);
    for (int k = 1; k < argc; k++) {
        int d = atoi(argv[k]);
        double least = 1e300;
        for (int t = 0; t < TIMES; t++) {
            double now = ranks > 1 ? scalapack(d, ranks) : lapack(d);
            if (now < least) least = now;
        }
        if (rank == 0)
            printf("%s, %d ranks, d = %d: %.3f s\n", ranks > 1 ? "ScaLAPACK" : "LAPACK", ranks, d,
                   least);
    }
    MPI_Finalize();
    return 0;
}
