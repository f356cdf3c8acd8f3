// SPDX-License-Identifier: BSD-3-Clause
// The default handler: an error ends the job with a message that names the function and what is wrong.
#include "check.h"

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  int data[8] = {0};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(what, "rank") == 0) MPI_Send(data, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
  if (strcmp(what, "comm") == 0) MPI_Barrier(MPI_COMM_NULL);
  if (strcmp(what, "truncate") == 0) {
    if (rank == 0) MPI_Send(data, 8, MPI_INT, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(data, 2, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (strcmp(what, "abort") == 0) {
    if (rank == size - 1) MPI_Abort(MPI_COMM_WORLD, 42);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (strcmp(what, "exit") == 0 && rank == size - 1) exit(3);  // without MPI_Finalize
  if (strcmp(what, "crash") == 0 && rank == size - 1) abort();
  if (strcmp(what, "bcast") == 0) MPI_Bcast(data, rank == 0 ? 8 : 2, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  printf("survived\n");
  MPI_Finalize();
  return 0;
}
