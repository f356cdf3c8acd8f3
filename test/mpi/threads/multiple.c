// SPDX-License-Identifier: BSD-3-Clause
// MPI_THREAD_MULTIPLE: threads of both ranks exchange on one communicator by tag, and run collectives each on
// its own.
#include <pthread.h>
#include <time.h>

#include "check.h"

enum { kThreads = 4, kRounds = 300 };
static MPI_Comm comms[kThreads];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void report(const char* what, int thread, int got, int wanted) {
  if (got == wanted) return;
  pthread_mutex_lock(&mutex);
  char text[96];
  snprintf(text, sizeof text, " in thread %d is %d, wanted %d", thread, got, wanted);
  failed(__FILE__, __LINE__, what, text);
  pthread_mutex_unlock(&mutex);
}

static void* worker(void* argument) {
  int t = (int)(intptr_t)argument, right = (rank + 1) % size, left = (rank + size - 1) % size;
  int big = 30000, *out = malloc(big * sizeof(int)), *in = malloc(big * sizeof(int));
  for (int i = 0; i < kRounds; i++) {
    int n = i % 20 == 0 ? big : 1 + i % 64;
    MPI_Request requests[2];
    out[0] = out[n - 1] = rank * 1000000 + t * 10000 + i;
    if (MPI_Irecv(in, big, MPI_INT, left, t, MPI_COMM_WORLD, &requests[0]) ||
        MPI_Isend(out, n, MPI_INT, right, t, MPI_COMM_WORLD, &requests[1]) ||
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE))
      report("error code of the exchange", t, 1, 0);
    report("first element", t, in[0], left * 1000000 + t * 10000 + i);
    report("last element", t, in[n - 1], left * 1000000 + t * 10000 + i);
    if (i % 10 == 0) {
      int mine = rank + i, sum = 0, value = rank == i % size ? i : -1;
      if (MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comms[t]) ||
          MPI_Bcast(&value, 1, MPI_INT, i % size, comms[t]))
        report("error code of a collective", t, 1, 0);
      report("sum", t, sum, size * (size - 1) / 2 + size * i);
      report("value", t, value, i);
    }
    if (i % 50 == 0) {  // objects are made and freed by several threads at once
      MPI_Datatype type;
      MPI_Comm dup;
      MPI_Type_vector(3, 2, 4, MPI_INT, &type);
      MPI_Type_commit(&type);
      MPI_Comm_dup(comms[t], &dup);
      MPI_Type_free(&type);
      MPI_Comm_free(&dup);
    }
  }
  free(out), free(in);
  return NULL;
}

// One thread waits in a receive while the other sends it the message: waiting must not hold the library.
static void* waiter(void* argument) {
  MPI_Recv(argument, 1, MPI_INT, rank, 999, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return NULL;
}

int main(int argc, char** argv) {
  int provided;
  OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
  EQUAL(provided, MPI_THREAD_MULTIPLE);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  pthread_t threads[kThreads];
  int got = 0, mine = 5;
  OK(pthread_create(&threads[0], NULL, waiter, &got));
  struct timespec pause = {0, 20000000};
  nanosleep(&pause, NULL);
  OK(MPI_Send(&mine, 1, MPI_INT, rank, 999, MPI_COMM_WORLD));
  pthread_join(threads[0], NULL);
  EQUAL(got, 5);
  for (int t = 0; t < kThreads; t++) OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]));
  for (intptr_t t = 0; t < kThreads; t++) OK(pthread_create(&threads[t], NULL, worker, (void*)t));
  for (int t = 0; t < kThreads; t++) pthread_join(threads[t], NULL);
  for (int t = 0; t < kThreads; t++) OK(MPI_Comm_free(&comms[t]));
  return finish();
}
