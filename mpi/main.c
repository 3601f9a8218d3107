/* main.c - bdml-mpi: the command bdml on every rank of an MPI job; rank 0 speaks and writes. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>
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

/* MiB of addresses that this process has; 0 where the system does not say. */
static double addresses(void)
{
    double pages = 0.0;
    FILE *f = fopen("/proc/self/statm", "re");
    if (f && fscanf(f, "%lf", &pages) != 1) pages = 0.0;
    if (f) fclose(f);
    return pages * (double)sysconf(_SC_PAGESIZE) / 1048576.0;
}

/* OpenMPI 4.1 on a rank that has no room for it (ulimit -v) waits for ever in MPI_Init, and so do the others. A rank that
 * ends before it makes mpirun end them all. What is said to be needed is enough to learn with, too. */
static bool room_for_mpi(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID"};
    const double start = 256.0; /* MiB: 212 for 2 ranks of a machine, 231 for 8 */
    const double work = 129.0;  /* MiB for OpenBLAS: src/linalg/guard.c */
    const char *rank = NULL;
    double here = addresses();
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return true;
    double allowed = (double)limit.rlim_cur / 1048576.0;
    if (here + start <= allowed) return true;
    for (size_t k = 0; k < sizeof names / sizeof *names && !rank; k++) rank = getenv(names[k]);
    fprintf(stderr,
            "bdml-mpi: %s%s%sout of memory: the limit of the process (ulimit -v) is %.0f MiB, "
            "and to start MPI and to work in it needs about %.0f\n",
            rank ? "rank " : "", rank ? rank : "", rank ? ": " : "", floor(allowed),
            ceil(here + start + work));
    return false;
}

int main(int argc, char **argv)
{
    int provided;
    bdml_mpi *mpi = NULL;
    cli_settle(argv);
    if (!room_for_mpi()) return 1;
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
