// SPDX-License-Identifier: BSD-3-Clause
// Ranks call different collectives: one of them says so, and the job ends. The argument picks the case.
#include <string.h>

#include "check.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size, in[64] = {0}, out[64];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* which = argc > 1 ? argv[1] : "";
  MPI_Barrier(MPI_COMM_WORLD);
  if (!strcmp(which, "kind")) {  // the last rank sends, the others wait for what it does not send
    if (rank == size - 1) MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    else MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  } else if (!strcmp(which, "silent")) {  // all wait, nobody has sent
    if (rank == 0) MPI_Gather(in, 1, MPI_INT, out, 1, MPI_INT, 0, MPI_COMM_WORLD);
    else MPI_Scatter(in, 1, MPI_INT, out, 1, MPI_INT, 0, MPI_COMM_WORLD);
  } else if (!strcmp(which, "root")) {
    MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, rank == 0 ? 0 : 1, MPI_COMM_WORLD);
  } else if (!strcmp(which, "count")) {
    MPI_Bcast(in, rank == 0 ? 1 : 2, MPI_INT, 0, MPI_COMM_WORLD);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
