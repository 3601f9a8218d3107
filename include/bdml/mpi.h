/* mpi.h - libbdml-mpi: the communicator of bdml/comm.h over MPI.
 *
 *     MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
 *     bdml_mpi_new(MPI_COMM_WORLD, &ranks);
 *     bdml_set_comm(h, bdml_mpi_comm(ranks));
 *     ... bdml_train(h, ...) as in one process, on every rank ...
 *     bdml_mpi_free(ranks);
 *     MPI_Finalize();
 *
 * Sums are taken in the order of the ranks, whatever algorithm MPI would choose for its own, so that they have the same
 * bits on every rank and in every run. Errors of MPI itself end the job, as MPI has it. Only the thread that made the
 * communicator calls MPI. */
#ifndef BDML_MPI_H
#define BDML_MPI_H

#include <mpi.h>

#include "bdml/comm.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bdml_mpi bdml_mpi;

/* By all ranks of `world`, which is duplicated. BDML_ERR_MEMORY: out of memory. */
BDML_API bdml_status bdml_mpi_new(MPI_Comm world, bdml_mpi **out);
BDML_API const bdml_comm *bdml_mpi_comm(const bdml_mpi *m); /* as long as m */
BDML_API void bdml_mpi_free(bdml_mpi *m);                   /* by all ranks; before MPI_Finalize */

/* Called by each rank at its end: 1 when all have come, 0 when some have not after so many seconds (infinite: waits).
 * They may wait for this one in a sum: who was in vain says why and calls MPI_Abort. */
BDML_API int bdml_mpi_meet(bdml_mpi *m, double seconds);

#ifdef __cplusplus
}
#endif

#endif
