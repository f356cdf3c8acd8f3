// SPDX-License-Identifier: BSD-3-Clause
// A job that goes on until somebody ends it: rings of small and large sends, and collectives, or windows. See
// run.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Locks, fences and posts in a window of `flavor`, for ever.
static void use_windows(int rank, int size, int flavor) {
  MPI_Win win;
  MPI_Group all;
  long one = 1, old, memory[8] = {0}, *base = memory;
  const int right = (rank + 1) % size;
  if (flavor == 0) MPI_Win_allocate(sizeof memory, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  if (flavor == 1) MPI_Win_create(base, sizeof memory, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_get_group(win, &all);
  for (;;) {
    for (int i = 0; i < 20; i++) {
      MPI_Win_lock(i % 3 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, i % size, 0, win);
      MPI_Fetch_and_op(&one, &old, MPI_LONG, i % size, 0, MPI_SUM, win);
      MPI_Win_unlock(i % size, win);
    }
    MPI_Win_fence(0, win);
    MPI_Put(&one, 1, MPI_LONG, right, 1, 1, MPI_LONG, win);
    MPI_Win_fence(0, win);
    MPI_Win_post(all, 0, win);
    MPI_Win_start(all, 0, win);
    MPI_Get(&old, 1, MPI_LONG, right, 1, 1, MPI_LONG, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
  }
}

// One process and two that it spawns. `part`: they disconnect, and the children go on alone for ever.
static void spawn(const char* program, int part) {
  MPI_Comm inter, all;
  int me, count, got;
  char* words[] = {part ? "part" : "spawn", NULL};
  MPI_Comm_get_parent(&inter);
  const int child = inter != MPI_COMM_NULL;
  if (!child)
    MPI_Comm_spawn(program, words, 2, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter, MPI_ERRCODES_IGNORE);
  MPI_Intercomm_merge(inter, child, &all);
  MPI_Comm_rank(all, &me);
  MPI_Comm_size(all, &count);
  printf("rank %d is pid %ld\n", me, (long)getpid());
  fflush(stdout);
  if (part) {
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&inter);
    if (child)
      for (;;) MPI_Barrier(MPI_COMM_WORLD);
    sleep(3);  // a child is killed meanwhile
    MPI_Finalize();
    printf("ok\n");
    exit(0);
  }
  for (;;) {
    MPI_Sendrecv(&me, 1, MPI_INT, (me + 1) % count, 0, &got, 1, MPI_INT, (me + count - 1) % count, 0, all,
                 MPI_STATUS_IGNORE);
    MPI_Barrier(all);
  }
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "forever";
  int rank, size, big = 200000;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(what, "spawn") == 0 || strcmp(what, "part") == 0) spawn(argv[0], strcmp(what, "part") == 0);
  printf("rank %d is pid %ld\n", rank, (long)getpid());
  fflush(stdout);
  if (strcmp(what, "exit") == 0 && rank == size - 1) exit(7);   // no MPI_Finalize
  if (strcmp(what, "zero") == 0 && rank == size - 1) _exit(0);  // no MPI_Finalize, and it looks like success
  if (strcmp(what, "abort") == 0 && rank == size - 1) MPI_Abort(MPI_COMM_WORLD, 42);
  if (strcmp(what, "crash") == 0 && rank == size - 1) *(volatile int*)8 = 1;
  if (strcmp(what, "shared-window") == 0) use_windows(rank, size, 0);
  if (strcmp(what, "message-window") == 0) use_windows(rank, size, 1);
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
