// SPDX-License-Identifier: BSD-3-Clause
// With VICINITY_PROGRESS_THREAD a collective moves on while the program does something else: rank 0 adds up
// and answers although it calls nothing. "none": without the thread it does so only when it calls MPI again.
#include <time.h>
#include <unistd.h>

#include "check.h"

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  const int none = argc > 1 && !strcmp(argv[1], "none");
  enum { kLarge = 50000 };
  static int in[kLarge], out[kLarge];
  for (int n = 1; n <= kLarge; n = n == 1 ? kLarge : kLarge + 1) {
    double ended, other;
    MPI_Request request;
    for (int i = 0; i < n; i++) in[i] = rank + i;
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 1) usleep(200000);
    OK(MPI_Iallreduce(in, out, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request));
    if (rank == 0) {
      usleep(2000000);
      ended = now();
    } else {
      OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
      ended = now();
    }
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int i = 0; i < n; i += 1 + n / 9) EQUAL(out[i], 1 + 2 * i);
    OK(MPI_Sendrecv(&ended, 1, MPI_DOUBLE, 1 - rank, 0, &other, 1, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
    // Rank 1 was done before rank 0 came back, or after.
    CHECK(rank == 0 ? (other < ended) != none : (ended < other) != none);
  }
  return finish();
}
