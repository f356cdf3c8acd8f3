// SPDX-License-Identifier: BSD-3-Clause
// A process ends by exit() while MPI runs (mpiexec -enable-recovery). What it has sent before arrives all the
// same, though the receiver has never heard of it and looks only later.
#include <mpi-ext.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"

enum { kMessages = 20, kInts = 1000, kLeaves = 3 };

static void leave(void) {
  int data[kInts];
  for (int i = 0; i < kMessages; ++i) {
    for (int k = 0; k < kInts; ++k) data[k] = i * k;
    OK(MPI_Send(data, kInts, MPI_INT, 0, i, MPI_COMM_WORLD));
  }
  exit(failures ? 4 : kLeaves);
}

static void receive(void) {
  int data[kInts];
  usleep(200000);
  for (int i = 0; i < kMessages; ++i) {
    OK(MPI_Recv(data, kInts, MPI_INT, size - 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int k = 0; k < kInts; ++k) EQUAL(data[k], i * k);
  }
  const int class = class_of(MPI_Recv(data, kInts, MPI_INT, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK(class == MPIX_ERR_PROC_FAILED);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  if (rank == size - 1) leave();
  if (rank == 0) receive();
  MPI_Comm left;
  OK(MPIX_Comm_shrink(MPI_COMM_WORLD, &left));
  OK(MPI_Barrier(left));
  OK(MPI_Comm_free(&left));
  return finish();
}
