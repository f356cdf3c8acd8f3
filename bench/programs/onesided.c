// SPDX-License-Identifier: BSD-3-Clause
// One-sided: rank 0 works in rank 1's part of a window of MPI_Win_allocate, in one passive epoch; each
// operation is flushed. The others wait meanwhile.
#include <string.h>

#include "measure.h"

static MPI_Win window;
static char* base;
static long long expected, one = 1, found, next_value;

// The target looks at its memory, or changes it, between operations that others have flushed.
static void open_own(void) { MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window); }
static void close_own(void) { MPI_Win_unlock(rank, window); }

static void prepare_put(int x) {
  fill(out, x, 7);
  if (rank != 1) return;
  open_own();
  memset(base, 0x5a, (size_t)x);
  close_own();
}
static long check_put(int x) {
  if (rank != 1) return 0;
  open_own();
  const long wrong = wrong_bytes(base, x, 7);
  close_own();
  return wrong;
}
static void put(int x) {
  if (rank != 0) return;
  MPI_Put(out, x, MPI_BYTE, 1, 0, x, MPI_BYTE, window);
  MPI_Win_flush(1, window);
}

static void prepare_get(int x) {
  clear_in(x);
  if (rank != 1) return;
  open_own();
  fill(base, x, 9);
  close_own();
}
static long check_get(int x) { return rank == 0 ? wrong_bytes(in, x, 9) : 0; }
static void get(int x) {
  if (rank != 0) return;
  MPI_Get(in, x, MPI_BYTE, 1, 0, x, MPI_BYTE, window);
  MPI_Win_flush(1, window);
}

static void prepare_accumulate(int x) {
  double* mine = (double*)out;
  for (int i = 0; i < x / 8; i++) mine[i] = i % 16;
  if (rank != 1) return;
  open_own();
  for (int i = 0; i < x / 8; i++) ((double*)base)[i] = 3;
  close_own();
}
static long check_accumulate(int x) {
  long wrong = 0;
  if (rank != 1) return 0;
  open_own();
  for (int i = 0; i < x / 8; i++) wrong += ((double*)base)[i] != 3 + i % 16;
  close_own();
  return wrong;
}
static void accumulate(int x) {
  if (rank != 0) return;
  MPI_Accumulate(out, x / 8, MPI_DOUBLE, 1, 0, x / 8, MPI_DOUBLE, MPI_SUM, window);
  MPI_Win_flush(1, window);
}

// Rank 1's first word is set to 1000; the rank that works knows.
static void prepare_word(int x) {
  (void)x;
  expected = 1000;
  if (rank != 1) return;
  open_own();
  memcpy(base, &expected, sizeof expected);
  close_own();
}
static long check_word(int x) {
  long wrong = 0;
  (void)x;
  if (rank == 0) wrong = found != 1000;
  if (rank == 1) {
    open_own();
    wrong = *(volatile long long*)base != 1001;
    close_own();
  }
  return wrong;
}
static void fetch_and_op(int x) {
  (void)x;
  if (rank != 0) return;
  MPI_Fetch_and_op(&one, &found, MPI_LONG_LONG, 1, 0, MPI_SUM, window);
  MPI_Win_flush(1, window);
}
static void compare_and_swap(int x) {  // every one of them swaps
  (void)x;
  if (rank != 0) return;
  next_value = expected + 1;
  MPI_Compare_and_swap(&next_value, &expected, &found, MPI_LONG_LONG, 1, 0, window);
  MPI_Win_flush(1, window);
  expected = next_value;
}

void onesided(const int* sizes, int count) {
  static const Figure kPut = {"put", "us", prepare_put, put, check_put, 0};
  static const Figure kGet = {"get", "us", prepare_get, get, check_get, 0};
  static const Figure kAccumulate = {"accumulate", "us", prepare_accumulate, accumulate, check_accumulate, 0};
  static const Figure kFetch = {"fetch_and_op", "us", prepare_word, fetch_and_op, check_word, 0};
  static const Figure kSwap = {"compare_and_swap", "us", prepare_word, compare_and_swap, check_word, 0};
  int most = 8;
  for (int i = 0; i < count; i++) most = sizes[i] > most ? sizes[i] : most;
  MPI_Win_allocate(most, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
  memset(base, 0, (size_t)most);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);
  for (int i = 0; i < count; i++) {
    measure(&kPut, sizes[i]);
    measure(&kGet, sizes[i]);
    if (sizes[i] % 8 == 0) measure(&kAccumulate, sizes[i]);
  }
  measure(&kFetch, 8);
  measure(&kSwap, 8);
  if (rank == 0) MPI_Win_unlock(1, window);
  MPI_Win_free(&window);
}
