/* mpi_rates.c - what a sum over ranks costs: seconds of one number, and of the d(d+1)/2 of a gradient. The figures of
 * the sizing rule in docs/cluster.md.
 *
 *     mpirun -n P bench_mpi_rates [d ...] */
#include <stdio.h>
#include <stdlib.h>

#include "bdml/mpi.h"

enum { TIMES = 400 };

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Seconds of a sum of `count` numbers: the least of TIMES, which nothing else on the machine interrupted, and the median. */
static void measure(const bdml_comm *comm, int64_t count, double *a, double *least, double *median)
{
    double seconds[TIMES];
    for (int k = 0; k < TIMES; k++) {
        double start = MPI_Wtime();
        comm->sum(comm->user, count, a);
        seconds[k] = MPI_Wtime() - start;
    }
    qsort(seconds, TIMES, sizeof *seconds, ascending);
    *least = seconds[0];
    *median = seconds[TIMES / 2];
}

int main(int argc, char **argv)
{
    static char *all[] = {"", "20", "60", "100", "200", "512", "1024"};
    bdml_mpi *mpi = NULL;
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    if (bdml_mpi_new(MPI_COMM_WORLD, &mpi) != BDML_OK) return 1;
    const bdml_comm *comm = bdml_mpi_comm(mpi);
    if (argc < 2) argc = 7, argv = all;
    if (comm->size < 2) {
        fprintf(stderr, "bench_mpi_rates: one rank sums nothing; run it by mpirun -n P, P >= 2\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    double one = 0.0, least, median;
    measure(comm, 1, &one, &least, &median);
    if (comm->rank == 0)
        printf("%d ranks: one number, microseconds: least %.1f, median %.1f\n", comm->size,
               1e6 * least, 1e6 * median);
    for (int k = 1; k < argc; k++) {
        int64_t d = atoi(argv[k]), count = d * (d + 1) / 2;
        double *a = calloc((size_t)(count > 0 ? count : 1), sizeof *a);
        if (!a || count < 1) MPI_Abort(MPI_COMM_WORLD, 2);
        measure(comm, count, a, &least, &median);
        if (comm->rank == 0)
            printf("d %5d: %8lld numbers: least %.1f, median %.1f; %.2f GB/s at the least\n",
                   (int)d, (long long)count, 1e6 * least, 1e6 * median,
                   8e-9 * (double)count / least);
        free(a);
    }
    bdml_mpi_free(mpi);
    MPI_Finalize();
    return 0;
}
