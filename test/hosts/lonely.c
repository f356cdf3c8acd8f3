// SPDX-License-Identifier: BSD-3-Clause
// What remains when the process at the other end of the network is killed.
//
// Rank 1 kills itself in the middle of a large message (argument "large"), or between messages ("small").
// Rank 0 gets MPI errors, from what was under way and from what comes later, and says so.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BYTES (64 << 20)

static void expect_failure(int error, const char *what) {
  int class = 0;
  MPI_Error_class(error, &class);
  if (class == MPI_ERR_PROC_ABORTED) return;
  printf("%s gave error class %d, not MPI_ERR_PROC_ABORTED\n", what, class);
  fflush(stdout);
  _exit(3);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int large = argc > 1 && strcmp(argv[1], "large") == 0;
  int rank, word = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char *data = calloc(1, BYTES), *more = calloc(1, BYTES);
  MPI_Request requests[4];
  if (rank == 1) {
    MPI_Recv(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    if (large) {
      MPI_Irecv(data, BYTES, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &requests[0]);
      MPI_Isend(more, BYTES, MPI_BYTE, 0, 2, MPI_COMM_WORLD, &requests[1]);
      MPI_Recv(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    kill(getpid(), SIGKILL);
  }
  MPI_Send(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  MPI_Recv(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (large) {
    MPI_Isend(data, BYTES, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(more, BYTES, MPI_BYTE, 1, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(more + 1, BYTES - 1, MPI_BYTE, 1, 3, MPI_COMM_WORLD, &requests[3]);  // never received
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);  // these may have ended well before
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
    expect_failure(MPI_Wait(&requests[3], MPI_STATUS_IGNORE), "an unreceived send");
  }
  expect_failure(MPI_Recv(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE), "a receive");
  expect_failure(MPI_Send(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD), "a later send");
  printf("alone now\n");
  fflush(stdout);
  _exit(0);
}
