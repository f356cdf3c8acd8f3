// SPDX-License-Identifier: BSD-3-Clause
// The smallest useful MPI program: every rank says where it runs, and one sum travels through all of them.
//
//   build/bin/mpicc examples/hello.c -o hello && build/bin/mpiexec -n 4 ./hello
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank, size, length, sum;
  char host[MPI_MAX_PROCESSOR_NAME];

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Get_processor_name(host, &length);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  printf("rank %d of %d on %s: the ranks add up to %d\n", rank, size, host, sum);
  MPI_Finalize();
  return 0;
}
