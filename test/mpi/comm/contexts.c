// SPDX-License-Identifier: BSD-3-Clause
// Many constructions at once: threads and nonblocking duplicates over different communicators. If two
// communicators of one process had the same context, their messages would meet.
#include <mpi.h>
#include <pthread.h>

#include "check.h"

enum { kThreads = 4, kRounds = 30 };

static MPI_Comm parents[kThreads];

// Every process sends its own mark around the ring of a communicator.
static void ring(MPI_Comm comm, int mark) {
  int r, n, got = -1;
  MPI_Comm_rank(comm, &r);
  MPI_Comm_size(comm, &n);
  OK(MPI_Sendrecv(&mark, 1, MPI_INT, (r + 1) % n, 5, &got, 1, MPI_INT, (r + n - 1) % n, 5, comm,
                  MPI_STATUS_IGNORE));
  CHECK(got == mark);
}

static void *construct(void *argument) {
  const int me = (int)(long)argument;
  MPI_Comm kept[kRounds];
  for (int round = 0; round < kRounds; ++round) {
    if (round % 3 == 0) {
      MPI_Request request;
      OK(MPI_Comm_idup(parents[me], &kept[round], &request));
      OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else if (round % 3 == 1) {
      OK(MPI_Comm_split(parents[me], 0, -rank, &kept[round]));
    } else {
      MPI_Group group;
      OK(MPI_Comm_group(parents[me], &group));
      OK(MPI_Comm_create_group(parents[me], group, me, &kept[round]));
      OK(MPI_Group_free(&group));
    }
    for (int old = 0; old <= round; old += 7) ring(kept[old], me * 1000 + old);
  }
  for (int round = 0; round < kRounds; ++round) OK(MPI_Comm_free(&kept[round]));
  return NULL;
}

static void threads(void) {
  pthread_t thread[kThreads];
  for (int i = 0; i < kThreads; ++i) OK(MPI_Comm_dup(MPI_COMM_WORLD, &parents[i]));
  for (long i = 0; i < kThreads; ++i) pthread_create(&thread[i], NULL, construct, (void *)i);
  for (int i = 0; i < kThreads; ++i) pthread_join(thread[i], NULL);
  for (int i = 0; i < kThreads; ++i) OK(MPI_Comm_free(&parents[i]));
}

// Several duplicates under way while blocking ones run over other communicators.
static void overlapped(void) {
  enum { kMany = 8 };
  MPI_Comm later[kMany], now[kMany], other;
  MPI_Request requests[kMany];
  OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &other));
  for (int i = 0; i < kMany; ++i) {
    OK(MPI_Comm_idup(MPI_COMM_WORLD, &later[i], &requests[i]));
    OK(MPI_Comm_dup(other, &now[i]));
  }
  OK(MPI_Waitall(kMany, requests, MPI_STATUSES_IGNORE));
  for (int i = 0; i < kMany; ++i) {
    int marks[2] = {i, 100 + i}, got[2] = {-1, -1}, r, n;
    MPI_Request pair[2];
    // Both receives are open before anything is sent, with equal tags.
    MPI_Comm_rank(now[i], &r);
    MPI_Comm_size(now[i], &n);
    OK(MPI_Irecv(&got[0], 1, MPI_INT, MPI_ANY_SOURCE, 9, later[i], &pair[0]));
    OK(MPI_Irecv(&got[1], 1, MPI_INT, MPI_ANY_SOURCE, 9, now[i], &pair[1]));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Send(&marks[1], 1, MPI_INT, (r + 1) % n, 9, now[i]));
    OK(MPI_Send(&marks[0], 1, MPI_INT, (rank + 1) % size, 9, later[i]));
    OK(MPI_Waitall(2, pair, MPI_STATUSES_IGNORE));
    CHECK(got[0] == i && got[1] == 100 + i);
  }
  for (int i = 0; i < kMany; ++i) {
    OK(MPI_Comm_free(&later[i]));
    OK(MPI_Comm_free(&now[i]));
  }
  OK(MPI_Comm_free(&other));
}

int main(int argc, char **argv) {
  int provided;
  OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  overlapped();
  if (provided == MPI_THREAD_MULTIPLE) threads();
  return finish();
}
