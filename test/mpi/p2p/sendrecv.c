// SPDX-License-Identifier: BSD-3-Clause
// Sendrecv in all forms round a ring, with MPI_PROC_NULL at the ends, in place, and to oneself.
#include "check.h"

int main(int argc, char** argv) {
  begin(&argc, &argv);
  static int out[50000], in[50000];
  const int counts[] = {0, 1, 500, 50000};
  int right = (rank + 1) % size, left = (rank + size - 1) % size, count;
  MPI_Status status;
  for (int c = 0; c < 4; c++) {
    int n = counts[c];
    for (int i = 0; i < n; i++) out[i] = rank * 7 + i, in[i] = -1;
    OK(MPI_Sendrecv(out, n, MPI_INT, right, 1, in, 50000, MPI_INT, left, 1, MPI_COMM_WORLD, &status));
    OK(MPI_Get_count(&status, MPI_INT, &count));
    EQUAL(count, n);
    for (int i = 0; i < n; i += 97) EQUAL(in[i], left * 7 + i);
    OK(MPI_Sendrecv_replace(out, n, MPI_INT, right, 2, left, 2, MPI_COMM_WORLD, &status));
    for (int i = 0; i < n; i += 97) EQUAL(out[i], left * 7 + i);
    MPI_Request request;
    for (int i = 0; i < n; i++) out[i] = rank * 7 + i;
    OK(MPI_Isendrecv(out, n, MPI_INT, right, 3, in, n, MPI_INT, left, MPI_ANY_TAG, MPI_COMM_WORLD, &request));
    OK(MPI_Wait(&request, &status));
    EQUAL(status.MPI_TAG, 3);
    OK(MPI_Isendrecv_replace(out, n, MPI_INT, left, 4, right, 4, MPI_COMM_WORLD, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int i = 0; i < n; i += 97) EQUAL(out[i], right * 7 + i);
  }
  // A line instead of a ring: the ends talk to nobody.
  int up = rank + 1 < size ? rank + 1 : MPI_PROC_NULL, down = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  int mine = rank, got = -5;
  OK(MPI_Sendrecv(&mine, 1, MPI_INT, up, 0, &got, 1, MPI_INT, down, 0, MPI_COMM_WORLD, &status));
  EQUAL(got, rank > 0 ? rank - 1 : -5);
  if (rank == 0) {
    OK(MPI_Get_count(&status, MPI_INT, &count));
    EQUAL(count, 0);
    EQUAL(status.MPI_SOURCE, MPI_PROC_NULL);
    EQUAL(status.MPI_TAG, MPI_ANY_TAG);
  }
  OK(MPI_Send(&mine, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
  OK(MPI_Recv(&got, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  OK(MPI_Sendrecv(&mine, 1, MPI_INT, rank, 8, &got, 1, MPI_INT, rank, 8, MPI_COMM_WORLD, &status));
  EQUAL(got, rank);
  return finish();
}
