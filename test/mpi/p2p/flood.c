// SPDX-License-Identifier: BSD-3-Clause
// Everybody sends many messages to everybody before anybody receives: unexpected queues and back-pressure.
#include "check.h"

enum { kEach = 1000 };

int main(int argc, char** argv) {
  begin(&argc, &argv);
  MPI_Request* requests = malloc(2 * kEach * size * sizeof *requests);
  int(*out)[16] = malloc(sizeof(*out) * kEach * size), (*in)[16] = malloc(sizeof(*in) * kEach * size), n = 0;
  for (int to = 0; to < size; to++)
    for (int i = 0; i < kEach; i++, n++) {
      for (int k = 0; k < 16; k++) out[n][k] = rank * 100000 + to * 10000 + i + k;
      OK(MPI_Isend(out[n], 16, MPI_INT, to, i, MPI_COMM_WORLD, &requests[n]));
    }
  OK(MPI_Barrier(MPI_COMM_WORLD));
  for (int i = kEach - 1; i >= 0; i--)  // the worst order for a matching queue
    for (int from = 0; from < size; from++, n++)
      OK(MPI_Irecv(in[n - kEach * size], 16, MPI_INT, from, i, MPI_COMM_WORLD, &requests[n]));
  OK(MPI_Waitall(n, requests, MPI_STATUSES_IGNORE));
  n = 0;
  for (int i = kEach - 1; i >= 0; i--)
    for (int from = 0; from < size; from++, n++) EQUAL(in[n][15], from * 100000 + rank * 10000 + i + 15);
  free(requests);
  free(out);
  free(in);
  return finish();
}
