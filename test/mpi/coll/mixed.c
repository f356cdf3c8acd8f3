// SPDX-License-Identifier: BSD-3-Clause
// Collectives on many overlapping communicators, with point-to-point traffic in between.
#include "check.h"

enum { kComms = 12, kRounds = 30 };

int main(int argc, char** argv) {
  begin(&argc, &argv);
  MPI_Comm comms[kComms];
  for (int i = 0; i < kComms; i++)
    OK(MPI_Comm_split(MPI_COMM_WORLD, (rank >> (i % 3)) & 1, i % 2 ? -rank : rank, &comms[i]));
  int right = (rank + 1) % size, left = (rank + size - 1) % size;
  for (int round = 0; round < kRounds; round++) {
    MPI_Request requests[2];
    int token = rank * 1000 + round, got = -1;
    OK(MPI_Irecv(&got, 1, MPI_INT, left, 0, MPI_COMM_WORLD, &requests[0]));
    for (int i = 0; i < kComms; i++) {
      int sum = 0, n, me, one = 1, value;
      OK(MPI_Comm_size(comms[i], &n));
      OK(MPI_Comm_rank(comms[i], &me));
      OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comms[i]));
      EQUAL(sum, n);
      value = me == round % n ? round + i : -1;
      OK(MPI_Bcast(&value, 1, MPI_INT, round % n, comms[i]));
      EQUAL(value, round + i);
    }
    OK(MPI_Isend(&token, 1, MPI_INT, right, 0, MPI_COMM_WORLD, &requests[1]));
    OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    EQUAL(got, left * 1000 + round);
  }
  for (int i = 0; i < kComms; i++) OK(MPI_Comm_free(&comms[i]));
  return finish();
}
