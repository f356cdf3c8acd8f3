// SPDX-License-Identifier: BSD-3-Clause
// Accumulates from all ranks at once lose nothing, in every flavour: fetch-and-op, compare-and-swap, sums of
// several types, pairs, derived types; and each fetched value is given out once.
#include "rma/windows.h"

enum { kRounds = 200 };

static void counters(Window* w) {
  long long one = 1, old = -1, last = -1, total = 0;
  OK(MPI_Win_lock_all(0, w->win));
  for (int i = 0; i < kRounds; i++) {
    OK(MPI_Fetch_and_op(&one, &old, MPI_LONG_LONG, 0, at(w, 0, 0), MPI_SUM, w->win));
    OK(MPI_Win_flush(0, w->win));
    CHECK(old > last && old < (long long)kRounds * size);
    last = old;
    total += old;
  }
  OK(MPI_Win_unlock_all(w->win));
  long long sum = 0, n = (long long)kRounds * size;
  OK(MPI_Allreduce(&total, &sum, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD));
  EQUAL(sum, n * (n - 1) / 2);
  if (rank == 0) EQUAL(*(long long*)w->base, n);
}

// A lock made of compare-and-swap, around a number that is put and fetched.
static void swaps(Window* w) {
  const int nobody = 0, mine = rank + 1;
  int seen = -1, value = 0;
  OK(MPI_Win_lock_all(0, w->win));
  for (int i = 0; i < 20; i++) {
    do {
      OK(MPI_Compare_and_swap(&mine, &nobody, &seen, MPI_INT, 0, at(w, 0, 64), w->win));
      OK(MPI_Win_flush(0, w->win));
    } while (seen != 0);
    OK(MPI_Get(&value, 1, MPI_INT, 0, at(w, 0, 128), 1, MPI_INT, w->win));
    OK(MPI_Win_flush(0, w->win));
    value++;
    OK(MPI_Put(&value, 1, MPI_INT, 0, at(w, 0, 128), 1, MPI_INT, w->win));
    OK(MPI_Win_flush(0, w->win));
    OK(MPI_Fetch_and_op(&nobody, &seen, MPI_INT, 0, at(w, 0, 64), MPI_REPLACE, w->win));
    OK(MPI_Win_flush(0, w->win));
    EQUAL(seen, mine);
  }
  OK(MPI_Win_unlock_all(w->win));
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) EQUAL(((int*)w->base)[32], 20 * size);
}

static void sums(Window* w) {
  double ones[64];
  long double wide[8];
  struct {
    double value;
    int place;
  } pair = {size - rank, rank};
  for (int i = 0; i < 64; i++) ones[i] = 1;
  for (int i = 0; i < 8; i++) wide[i] = 0.5L;
  if (rank == 0) *(double*)((char*)w->base + 4096) = 1e9;
  OK(MPI_Win_fence(0, w->win));
  for (int i = 0; i < 50; i++) {
    for (int target = 0; target < size; target++) {
      OK(MPI_Accumulate(ones, 64, MPI_DOUBLE, target, at(w, target, 1024), 64, MPI_DOUBLE, MPI_SUM, w->win));
      OK(MPI_Accumulate(wide, 8, MPI_LONG_DOUBLE, target, at(w, target, 2048), 8, MPI_LONG_DOUBLE, MPI_SUM,
                        w->win));
    }
    OK(MPI_Accumulate(&pair, 1, MPI_DOUBLE_INT, 0, at(w, 0, 4096), 1, MPI_DOUBLE_INT, MPI_MINLOC, w->win));
  }
  OK(MPI_Win_fence(0, w->win));
  for (int i = 0; i < 64; i++) CHECK(((double*)((char*)w->base + 1024))[i] == 50.0 * size);
  for (int i = 0; i < 8; i++) CHECK(((long double*)((char*)w->base + 2048))[i] == 25.0L * size);
  if (rank == 0) {
    CHECK(*(double*)((char*)w->base + 4096) == 1);
    EQUAL(*(int*)((char*)w->base + 4104), size - 1);
  }
  OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
}

// Every third int is changed and fetched, in an amount that needs several messages.
static void derived(Window* w) {
  enum { kElements = 9000 };
  MPI_Datatype third;
  int* in = malloc(kElements * sizeof *in);
  int* old = malloc(kElements * sizeof *old);
  int bad = 0;
  memset((char*)w->base + 8192, 0, 4 * 3 * kElements);
  for (int i = 0; i < kElements; i++) in[i] = i;
  OK(MPI_Type_vector(kElements, 1, 3, MPI_INT, &third));
  OK(MPI_Type_commit(&third));
  MPI_Barrier(MPI_COMM_WORLD);
  const int to = (rank + 1) % size;
  OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, w->win));
  for (int round = 0; round < 2; round++) {
    memset(old, -1, kElements * sizeof *old);
    OK(MPI_Get_accumulate(in, kElements, MPI_INT, old, kElements, MPI_INT, to, at(w, to, 8192), 1, third,
                          MPI_SUM, w->win));
    OK(MPI_Win_flush(to, w->win));
    for (int i = 0; i < kElements; i++) bad += old[i] != round * i;
  }
  memset(old, -1, kElements * sizeof *old);
  OK(MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, old, kElements, MPI_INT, to, at(w, to, 8192), 1, third,
                        MPI_NO_OP, w->win));
  OK(MPI_Win_unlock(to, w->win));
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < kElements; i++) bad += old[i] != 2 * i;
  const int* here = (const int*)((char*)w->base + 8192);
  for (int i = 0; i < 3 * kElements; i++) bad += here[i] != (i % 3 ? 0 : i / 3 * 2);
  EQUAL(bad, 0);
  MPI_Type_free(&third);
  free(in);
  free(old);
}

// Accumulates of one origin on one place happen in the order of the calls (12.7.2).
static void ordered(Window* w) {
  const int to = (rank + 1) % size;
  OK(MPI_Win_lock_all(0, w->win));
  for (int i = 1; i <= 100; i++) {
    OK(MPI_Accumulate(&i, 1, MPI_INT, to, at(w, to, 192), 1, MPI_INT, MPI_REPLACE, w->win));
    int old = -1;
    OK(MPI_Get_accumulate(NULL, 0, MPI_INT, &old, 1, MPI_INT, to, at(w, to, 192), 1, MPI_INT, MPI_NO_OP,
                          w->win));
    OK(MPI_Win_flush_local(to, w->win));
    EQUAL(old, i);
  }
  OK(MPI_Win_unlock_all(w->win));
  MPI_Barrier(MPI_COMM_WORLD);
  EQUAL(((int*)w->base)[48], 100);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  for (int flavor = 0; flavor < kFlavors; flavor++) {
    if (!possible(flavor, MPI_COMM_WORLD)) continue;
    Window w = open_window(flavor, 1 << 18, 8, MPI_COMM_WORLD);
    counters(&w);
    swaps(&w);
    sums(&w);
    derived(&w);
    ordered(&w);
    close_window(&w);
  }
  return finish();
}
