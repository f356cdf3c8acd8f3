// SPDX-License-Identifier: BSD-3-Clause
// A job that goes on until somebody ends it: rings of small and large sends, and collectives. See run.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "forever";
  int rank, size, big = 200000;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  printf("rank %d is pid %ld\n", rank, (long)getpid());
  fflush(stdout);
  if (strcmp(what, "exit") == 0 && rank == size - 1) exit(7);   // no MPI_Finalize
  if (strcmp(what, "zero") == 0 && rank == size - 1) _exit(0);  // no MPI_Finalize, and it looks like success
  if (strcmp(what, "abort") == 0 && rank == size - 1) MPI_Abort(MPI_COMM_WORLD, 42);
  if (strcmp(what, "crash") == 0 && rank == size - 1) *(volatile int*)8 = 1;
  char *out = calloc(1, big), *in = calloc(1, big);
  int right = (rank + 1) % size, left = (rank + size - 1) % size;
  long rounds = strcmp(what, "short") == 0 ? 200 : 1L << 40;
  while (strcmp(what, "collectives") == 0) {  // of all sizes, with nothing else in between
    static long round = 0;
    int bytes = round % 20 == 0 ? big / size : 1 + (int)(round % 3000), root = (int)(round % size);
    MPI_Bcast(out, bytes, MPI_BYTE, root, MPI_COMM_WORLD);
    MPI_Reduce(out, in, bytes, MPI_BYTE, MPI_BOR, root, MPI_COMM_WORLD);
    MPI_Allreduce(out, in, bytes / 8, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Alltoall(out, bytes / size, MPI_BYTE, in, bytes / size, MPI_BYTE, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    round++;
  }
  for (long round = 0; round < rounds; round++) {
    int bytes = round % 50 == 0 ? big : 1 + (int)(round % 3000), sum = 0;
    MPI_Sendrecv(out, bytes, MPI_BYTE, right, 0, in, big, MPI_BYTE, left, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    if (round % 7 == 0) MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (strcmp(what, "sleep") == 0 && rank == 0) sleep(60);  // the others wait asleep
  }
  free(out);
  free(in);
  MPI_Finalize();
  if (rank == 0) printf("ok\n");
  return 0;
}
