// SPDX-License-Identifier: BSD-3-Clause
// survive DEATHS: computes sums with whoever lives, through DEATHS deaths that somebody else causes.
#include <mpi-ext.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void give_up(const char* what, int value) {
  printf("%s: %d\n", what, value);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

// A communicator of the living.
static MPI_Comm repaired(MPI_Comm comm) {
  MPI_Comm left;
  MPIX_Comm_revoke(comm);
  int code = MPIX_Comm_shrink(comm, &left);
  if (code != MPI_SUCCESS) give_up("MPIX_Comm_shrink failed", code);
  MPI_Comm_set_errhandler(left, MPI_ERRORS_RETURN);
  MPI_Comm_free(&comm);
  return left;
}

int main(int argc, char** argv) {
  MPI_Comm comm;
  int rank, size, living, deaths = argc > 1 ? atoi(argv[1]) : 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  printf("rank %d is pid %d\n", rank, (int)getpid());
  fflush(stdout);
  static double vector[40000];
  for (int good = 0; good < 100;) {
    const int count = good % 3 == 2 ? 40000 : 1;
    for (int i = 0; i < count; i++) vector[i] = 1;
    MPI_Comm_size(comm, &living);
    int code = MPI_Allreduce(MPI_IN_PLACE, vector, count, MPI_DOUBLE, MPI_SUM, comm);
    int flag = code == MPI_SUCCESS;
    if (flag && vector[count - 1] != living) give_up("a sum is wrong", (int)vector[count - 1]);
    // Either all go on or all repair.
    if (MPIX_Comm_agree(comm, &flag) != MPI_SUCCESS || !flag) {
      comm = repaired(comm);
      good = 0;
    } else if (living == size - deaths) {
      good++;
    }
  }
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  if (rank == 0) printf("ok with %d\n", living);
  return 0;
}
