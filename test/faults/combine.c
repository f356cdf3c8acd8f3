// SPDX-License-Identifier: BSD-3-Clause
// combine DEATHS: everybody accumulates long vectors into everybody's window, under the accumulate lock,
// through DEATHS deaths that somebody else causes. Whoever dies with a lock must not keep it.
#include <mpi-ext.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { kCount = 1 << 14, kRoundsAfter = 100 };

static double mine[kCount];

static void give_up(const char* what, int value) {
  printf("%s: %d\n", what, value);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static int failed_now(void) {
  MPI_Group failed;
  int size;
  MPIX_Comm_get_failed(MPI_COMM_WORLD, &failed);
  MPI_Group_size(failed, &size);
  MPI_Group_free(&failed);
  return size;
}

static int is_dead(int rank) {
  MPI_Group failed, world;
  int there;
  MPIX_Comm_get_failed(MPI_COMM_WORLD, &failed);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_translate_ranks(world, 1, &rank, failed, &there);
  MPI_Group_free(&failed);
  MPI_Group_free(&world);
  return there != MPI_UNDEFINED;
}

// MPI_SUCCESS, or the code of an error that a death excuses.
static int combine(MPI_Win window, int target) {
  int code = MPI_Accumulate(mine, kCount, MPI_DOUBLE, target, 0, kCount, MPI_DOUBLE, MPI_SUM, window);
  if (code == MPI_SUCCESS) code = MPI_Win_flush(target, window);
  if (code == MPI_SUCCESS) return code;
  int class;
  MPI_Error_class(code, &class);
  if (class != MPIX_ERR_PROC_FAILED || !is_dead(target)) give_up("MPI_Accumulate failed with class", class);
  return code;
}

int main(int argc, char** argv) {
  int rank, size, left = kRoundsAfter;
  const int deaths = argc > 1 ? atoi(argv[1]) : 1;
  double* part;
  MPI_Win window;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Win_allocate(kCount * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &part, &window);
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  for (int i = 0; i < kCount; i++) part[i] = mine[i] = 1;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, window);
  printf("rank %d is pid %d\n", rank, (int)getpid());
  fflush(stdout);
  for (int target = rank; left > 0; target = (target + 1) % size) {
    if (!is_dead(target)) combine(window, target);
    if (failed_now() == deaths) left--;
  }
  MPI_Comm living;
  if (MPIX_Comm_shrink(MPI_COMM_WORLD, &living) != MPI_SUCCESS) give_up("MPIX_Comm_shrink failed", deaths);
  MPI_Comm_rank(living, &rank);
  MPI_Comm_size(living, &size);
  MPI_Comm_free(&living);
  if (rank == 0) printf("ok with %d\n", size);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
