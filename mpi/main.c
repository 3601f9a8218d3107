/* main.c - bdml-mpi: the command bdml on every rank of an MPI job; rank 0 speaks and writes. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "bdml/mpi.h"

/* Seconds that a rank whose command has failed waits for the others. What all of them find wrong they find at about
 * the same time; what one alone finds wrong would leave the others waiting for it. */
static const double PATIENCE = 5.0;

static int ranks_of_this_machine(void)
{
    MPI_Comm near;
    int count;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near);
    MPI_Comm_size(near, &count);
    MPI_Comm_free(&near);
    return count;
}

static void say(const cli_ranks *r, const char *more)
{
    fprintf(stderr, "bdml-mpi: rank %d of %d: %s%s\n", r->comm->rank, r->comm->size, r->failure,
            more);
    fflush(stderr);
}

/* All ranks have ended: the code of rank 0, or that of the first one that failed where it did not. */
static int agree(const cli_ranks *r, int code)
{
    int size = r->comm->size, all = 0;
    int *codes = calloc((size_t)size, sizeof *codes);
    if (!codes) return code ? code : 1;
    MPI_Allgather(&code, 1, MPI_INT, codes, 1, MPI_INT, MPI_COMM_WORLD);
    for (int k = size - 1; k >= 0; k--)
        if (codes[k]) all = codes[k];
    bool first = code != 0;
    for (int k = 0; k < r->comm->rank; k++) first = first && codes[k] == 0;
    if (first && r->comm->rank == 0) fprintf(stderr, "bdml-mpi: %s\n", r->failure);
    if (first && r->comm->rank > 0) say(r, "");
    free(codes);
    return all;
}

int main(int argc, char **argv)
{
    int provided;
    bdml_mpi *mpi = NULL;
    cli_settle();
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    cli_ranks ranks = {.here = ranks_of_this_machine()};
    if (bdml_mpi_new(MPI_COMM_WORLD, &mpi) != BDML_OK) {
        fprintf(stderr, "bdml-mpi: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    ranks.comm = bdml_mpi_comm(mpi);
    if (ranks.comm->rank > 0 && !freopen("/dev/null", "w", stdout)) fclose(stdout);
    int code = cli_main(argc, argv, &ranks);
    if (!bdml_mpi_meet(mpi, code ? PATIENCE : INFINITY)) {
        say(&ranks, "; the other ranks are ended");
        MPI_Abort(MPI_COMM_WORLD, code);
    }
    code = agree(&ranks, code);
    bdml_mpi_free(mpi);
    MPI_Finalize();
    return code;
}
