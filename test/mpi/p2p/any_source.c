// SPDX-License-Identifier: BSD-3-Clause
// Many senders, one receiver with MPI_ANY_SOURCE: everything arrives, each sender's messages in order.
#include "check.h"

enum { kEach = 400 };

int main(int argc, char** argv) {
  begin(&argc, &argv);
  static char data[100000];
  if (rank == 0) {
    int* next = calloc(size, sizeof *next);
    for (int i = 0; i < kEach * (size - 1); i++) {
      MPI_Status status;
      int got, count;
      OK(MPI_Recv(data, sizeof data, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
      OK(MPI_Get_count(&status, MPI_BYTE, &count));
      memcpy(&got, data, sizeof got);
      EQUAL(got, next[status.MPI_SOURCE]);
      EQUAL(status.MPI_TAG, got % 5);
      EQUAL(count, got % 50 == 49 ? (int)sizeof data : 4 + got);
      next[status.MPI_SOURCE]++;
    }
    for (int i = 1; i < size; i++) EQUAL(next[i], kEach);
    free(next);
  } else {
    for (int i = 0; i < kEach; i++) {
      memcpy(data, &i, sizeof i);
      OK(MPI_Send(data, i % 50 == 49 ? (int)sizeof data : 4 + i, MPI_BYTE, 0, i % 5, MPI_COMM_WORLD));
    }
  }
  // A receive from any source that was posted before a specific one wins what both match.
  if (size > 1) {
    int first = -1, second = -1;
    if (rank == 0) {
      MPI_Request requests[2];
      OK(MPI_Irecv(&first, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &requests[0]));
      OK(MPI_Irecv(&second, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &requests[1]));
      OK(MPI_Barrier(MPI_COMM_WORLD));
      OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
      EQUAL(first, 10);
      EQUAL(second, 11);
    } else {
      OK(MPI_Barrier(MPI_COMM_WORLD));
      for (int v = 10; rank == 1 && v < 12; v++) OK(MPI_Send(&v, 1, MPI_INT, 0, 3, MPI_COMM_WORLD));
    }
  }
  return finish();
}
