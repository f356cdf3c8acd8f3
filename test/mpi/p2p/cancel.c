// SPDX-License-Identifier: BSD-3-Clause
// Cancelled receives, posted but unmatched; a cancelled one takes no message and its status says so.
#include "check.h"

int main(int argc, char** argv) {
  begin(&argc, &argv);
  MPI_Request request, second;
  MPI_Status status;
  int value = -1, cancelled = -1;
  OK(MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &request));
  OK(MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &second));
  OK(MPI_Cancel(&request));
  OK(MPI_Wait(&request, &status));
  OK(MPI_Test_cancelled(&status, &cancelled));
  EQUAL(cancelled, 1);
  int out = 17;
  OK(MPI_Send(&out, 1, MPI_INT, rank, 4, MPI_COMM_WORLD));
  OK(MPI_Wait(&second, &status));
  OK(MPI_Test_cancelled(&status, &cancelled));
  EQUAL(cancelled, 0);
  EQUAL(value, 17);
  // Too late: a completed receive cannot be cancelled.
  value = -1;
  OK(MPI_Irecv(&value, 1, MPI_INT, rank, 5, MPI_COMM_WORLD, &request));
  OK(MPI_Send(&out, 1, MPI_INT, rank, 5, MPI_COMM_WORLD));
  for (int flag = 0; !flag;) OK(MPI_Request_get_status(request, &flag, &status));
  OK(MPI_Cancel(&request));
  OK(MPI_Wait(&request, &status));
  OK(MPI_Test_cancelled(&status, &cancelled));
  EQUAL(cancelled, 0);
  EQUAL(value, 17);
  // A persistent receive can be cancelled and started again.
  OK(MPI_Recv_init(&value, 1, MPI_INT, rank, 6, MPI_COMM_WORLD, &request));
  for (int round = 0; round < 3; round++) {
    OK(MPI_Start(&request));
    OK(MPI_Cancel(&request));
    OK(MPI_Wait(&request, &status));
    OK(MPI_Test_cancelled(&status, &cancelled));
    EQUAL(cancelled, 1);
  }
  OK(MPI_Start(&request));
  OK(MPI_Send(&out, 1, MPI_INT, rank, 6, MPI_COMM_WORLD));
  OK(MPI_Wait(&request, &status));
  OK(MPI_Test_cancelled(&status, &cancelled));
  EQUAL(cancelled, 0);
  OK(MPI_Request_free(&request));
  return finish();
}
