// SPDX-License-Identifier: BSD-3-Clause
// More ranks than cores: thousands of small collectives and exchanges take seconds of the processor only if
// waiting yields. Seconds of the clock would tell what else the machine does.
#include <time.h>

#include "check.h"

int main(int argc, char** argv) {
  begin(&argc, &argv);
  int rounds = argc > 1 ? atoi(argv[1]) : 2000;
  clock_t start = clock();
  for (int i = 0; i < rounds; i++) {
    int sum = 0, got = -1, right = (rank + 1) % size, left = (rank + size - 1) % size;
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    EQUAL(sum, size * (size - 1) / 2);
    OK(MPI_Sendrecv(&i, 1, MPI_INT, right, 1, &got, 1, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    EQUAL(got, i);
    if (i % 10 == 0) OK(MPI_Barrier(MPI_COMM_WORLD));
  }
  double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
  if (rank == 0) printf("%d rounds on %d ranks took rank 0 %.2f s of its core\n", rounds, size, seconds);
  CHECK(seconds < 5);
  return finish();
}
