// SPDX-License-Identifier: BSD-3-Clause
// MPI_THREAD_MULTIPLE: threads of all ranks put, get and combine in one window at once, in every flavour.
// What each has alone stays as written; what they share loses no update, one or a thousand words at a time.
#include <pthread.h>

#include "rma/windows.h"

enum { kThreads = 3, kRounds = 150, kWords = 1000, kBytes = 8 * (kWords + 64) };
static Window w;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long long singles, longs;  // of this rank, for rank 0

static void expect(const char* what, long long got, long long wanted) {
  if (got == wanted) return;
  pthread_mutex_lock(&mutex);
  char text[96];
  snprintf(text, sizeof text, " is %lld, wanted %lld", got, wanted);
  failed(__FILE__, __LINE__, what, text);
  pthread_mutex_unlock(&mutex);
}

static void* work(void* argument) {
  const int t = (int)(intptr_t)argument, mine = kWords + rank * kThreads + t, to = (rank + t) % size;
  long long ones[kWords], old = 0, put = 0, got = 0, one_by_one = 0, all_at_once = 0;
  int errors = 0;
  for (int i = 0; i < kWords; i++) ones[i] = 1;
  for (int i = 0; i < kRounds; i++) {
    put = 1000 * t + i;
    errors += MPI_Put(&put, 1, MPI_LONG_LONG, to, at(&w, to, 8 * mine), 1, MPI_LONG_LONG, w.win) != 0;
    errors += MPI_Win_flush(to, w.win) != 0;
    errors += MPI_Get(&got, 1, MPI_LONG_LONG, to, at(&w, to, 8 * mine), 1, MPI_LONG_LONG, w.win) != 0;
    errors += MPI_Win_flush(to, w.win) != 0;
    expect("what was put", got, put);
    errors += MPI_Fetch_and_op(ones, &old, MPI_LONG_LONG, 0, at(&w, 0, 0), MPI_SUM, w.win) != 0;
    one_by_one++;
    if (i % 8 == t) {
      errors += MPI_Accumulate(ones, kWords, MPI_LONG_LONG, 0, at(&w, 0, 0), kWords, MPI_LONG_LONG, MPI_SUM,
                               w.win) != 0;
      all_at_once++;
    }
    errors += MPI_Win_flush(0, w.win) != 0;
  }
  errors += MPI_Win_flush_all(w.win) != 0;
  expect("errors", errors, 0);
  pthread_mutex_lock(&mutex);
  singles += one_by_one;
  longs += all_at_once;
  pthread_mutex_unlock(&mutex);
  return NULL;
}

int main(int argc, char** argv) {
  int provided;
  pthread_t threads[kThreads];
  if (MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided) != MPI_SUCCESS) return 2;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  EQUAL(provided, MPI_THREAD_MULTIPLE);
  for (int flavor = 0; flavor < kFlavors; flavor++) {
    if (!possible(flavor, MPI_COMM_WORLD)) continue;
    w = open_window(flavor, kBytes, 8, MPI_COMM_WORLD);
    singles = longs = 0;
    OK(MPI_Win_lock_all(0, w.win));
    for (intptr_t t = 0; t < kThreads; t++) pthread_create(&threads[t], NULL, work, (void*)t);
    for (int t = 0; t < kThreads; t++) pthread_join(threads[t], NULL);
    OK(MPI_Win_unlock_all(w.win));
    long long here[2] = {singles, longs}, all[2] = {0, 0};
    OK(MPI_Reduce(here, all, 2, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD));
    if (rank == 0) {
      const long long* words = w.base;
      OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win));
      EQUAL(words[0], all[0] + all[1]);
      for (int i = 1; i < kWords; i++) CHECK(words[i] == all[1]);
      OK(MPI_Win_unlock(0, w.win));
    }
    close_window(&w);
  }
  return finish();
}
