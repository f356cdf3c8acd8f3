// SPDX-License-Identifier: BSD-3-Clause
// MPI_Init_thread grants each level that it is asked for, and says so.
#include "check.h"

int main(int argc, char** argv) {
  int wanted = argc > 1 ? atoi(argv[1]) : 0, provided = -1, level = -1;
  const int kLevels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
  OK(MPI_Init_thread(&argc, &argv, kLevels[wanted], &provided));
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  CHECK(provided >= kLevels[wanted]);
  OK(MPI_Query_thread(&level));
  EQUAL(level, provided);
  OK(MPI_Barrier(MPI_COMM_WORLD));
  return finish();
}
