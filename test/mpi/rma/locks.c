// SPDX-License-Identifier: BSD-3-Clause
// Locks exclude; a target that computes does not hold up those who use memory that it shares.
#include "rma/windows.h"

// All ranks change a number at rank 0 that only an exclusive lock protects.
static void exclusion(Window* w) {
  int value = 0;
  for (int i = 0; i < 40; i++) {
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win));
    OK(MPI_Get(&value, 1, MPI_INT, 0, at(w, 0, 0), 1, MPI_INT, w->win));
    OK(MPI_Win_flush(0, w->win));
    value++;
    OK(MPI_Put(&value, 1, MPI_INT, 0, at(w, 0, 0), 1, MPI_INT, w->win));
    OK(MPI_Win_unlock(0, w->win));
    if (i % 8 == 0) {  // sharers see one value while they have it
      int first = -1, second = -2;
      OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win));
      OK(MPI_Get(&first, 1, MPI_INT, 0, at(w, 0, 0), 1, MPI_INT, w->win));
      OK(MPI_Win_flush(0, w->win));
      OK(MPI_Get(&second, 1, MPI_INT, 0, at(w, 0, 0), 1, MPI_INT, w->win));
      OK(MPI_Win_unlock(0, w->win));
      EQUAL(first, second);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win));
  OK(MPI_Get(&value, 1, MPI_INT, 0, at(w, 0, 0), 1, MPI_INT, w->win));
  OK(MPI_Win_unlock(0, w->win));
  EQUAL(value, 40 * size);
}

// Several targets at once, and lock_all against exclusive locks.
static void many(Window* w) {
  const int one = 1;
  for (int target = 0; target < size; target++) OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, w->win));
  for (int target = 0; target < size; target++)
    OK(MPI_Accumulate(&one, 1, MPI_INT, target, at(w, target, 64), 1, MPI_INT, MPI_SUM, w->win));
  for (int target = 0; target < size; target++) OK(MPI_Win_unlock(target, w->win));
  for (int i = 0; i < 10; i++) {
    OK(MPI_Win_lock_all(0, w->win));
    for (int target = 0; target < size; target++)
      OK(MPI_Accumulate(&one, 1, MPI_INT, target, at(w, target, 64), 1, MPI_INT, MPI_SUM, w->win));
    OK(MPI_Win_flush_all(w->win));
    OK(MPI_Win_unlock_all(w->win));
    int value = -1;
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, w->win));
    OK(MPI_Get(&value, 1, MPI_INT, rank, at(w, rank, 64), 1, MPI_INT, w->win));
    OK(MPI_Win_unlock(rank, w->win));
    CHECK(value > i);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, MPI_MODE_NOCHECK, w->win));
  EQUAL(((int*)w->base)[16], 11 * size);
  OK(MPI_Win_unlock(rank, w->win));
}

// Rank 0 makes no MPI call until it sees in its memory what the others have done under its lock.
static void busy_target(void) {
  Window w = open_window(kShared, 64, 4, MPI_COMM_WORLD);
  const int one = 1;
  if (rank == 0) {
    volatile int* done = w.base;
    while (__atomic_load_n(done, __ATOMIC_ACQUIRE) != size - 1)
      ;
  } else {
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w.win));
    OK(MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, w.win));
    OK(MPI_Win_unlock(0, w.win));
  }
  close_window(&w);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  for (int flavor = 0; flavor < kFlavors; flavor++) {
    if (!possible(flavor, MPI_COMM_WORLD)) continue;
    Window w = open_window(flavor, 4096, 4, MPI_COMM_WORLD);
    exclusion(&w);
    many(&w);
    close_window(&w);
  }
  if (possible(kShared, MPI_COMM_WORLD)) busy_target();
  return finish();
}
