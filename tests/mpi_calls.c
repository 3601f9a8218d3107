/* mpi_calls.c - sums and maxima of libbdml-mpi against those that are known, of few numbers and of many; on every rank of
 * a job (test_mpi.sh). */
#include <math.h>
#include <stdio.h>

#include "bdml/mpi.h"

enum { FEW = 3, MANY = 10001 }; /* gathered as they are; in slices, the last ones short */

/* Number k of a rank. */
static double part(int rank, int k)
{
    return (rank + 1) * 0.5 + k % 7;
}

static int failed = 0;

static void check(const bdml_comm *c, int good, const char *what, int count, int k)
{
    if (!good && failed++ == 0)
        printf("rank %d of %d: %s of %d numbers, number %d\n", c->rank, c->size, what, count, k);
}

static void try_count(const bdml_comm *c, int count)
{
    static double a[MANY];
    for (int k = 0; k < count; k++) a[k] = part(c->rank, k);
    c->sum(c->user, count, a);
    for (int k = 0; k < count; k++)
        check(c, a[k] == c->size * (c->size + 1) * 0.25 + c->size * (k % 7), "sum", count, k);
    /* what is not a number on any rank is none on all of them */
    for (int bad = -1; bad < c->size; bad++) {
        for (int k = 0; k < count; k++)
            a[k] = k % 2 && bad == c->rank ? (double)NAN : part(c->rank, k);
        c->max(c->user, count, a);
        for (int k = 0; k < count; k++)
            check(c, k % 2 && bad >= 0 ? isnan(a[k]) : a[k] == part(c->size - 1, k), "maximum",
                  count, k);
    }
}

int main(int argc, char **argv)
{
    bdml_mpi *mpi;
    MPI_Init(&argc, &argv);
    if (bdml_mpi_new(MPI_COMM_WORLD, &mpi) != BDML_OK) MPI_Abort(MPI_COMM_WORLD, 1);
    try_count(bdml_mpi_comm(mpi), FEW);
    try_count(bdml_mpi_comm(mpi), MANY);
    bdml_mpi_free(mpi);
    MPI_Finalize();
    return failed > 0;
}
