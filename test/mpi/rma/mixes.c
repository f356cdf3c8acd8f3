// SPDX-License-Identifier: BSD-3-Clause
// Elements are combined as a whole whatever meets at them (MPI 5.0, 12.7.1): one at a time, thousands in a
// row, strided, fetched, swapped; under locks of all kinds, in every flavour, with and without a granularity.
#include "rma/windows.h"

enum { kElements = 3000, kRounds = 60 };
static long long made[kElements];  // what this rank has added to rank 0's part
static long long ones[kElements], old[kElements];
static unsigned seed;

static int draw(int below) {
  seed = seed * 1103515245u + 12345u;
  return (int)(seed >> 16) % below;
}

static void note(int first, int count, int step) {
  for (int i = 0; i < count; i++) made[first + i * step]++;
}

static void one_by_swap(Window* w, int place) {
  long long seen = 0, expected, next;
  do {
    expected = seen;
    next = expected + 1;
    OK(MPI_Compare_and_swap(&next, &expected, &seen, MPI_LONG_LONG, 0, at(w, 0, 8 * place), w->win));
    OK(MPI_Win_flush_local(0, w->win));
  } while (seen != expected);
  note(place, 1, 1);
}

static void some_update(Window* w, MPI_Datatype third) {
  const int place = draw(4), kind = draw(8);
  const int many = draw(4) == 0 ? kElements - place : 1 + draw(20);
  switch (kind) {
    case 0:
    case 1:
      OK(MPI_Accumulate(ones, many, MPI_LONG_LONG, 0, at(w, 0, 8 * place), many, MPI_LONG_LONG, MPI_SUM,
                        w->win));
      return note(place, many, 1);
    case 2:
      OK(MPI_Get_accumulate(ones, many, MPI_LONG_LONG, old, many, MPI_LONG_LONG, 0, at(w, 0, 8 * place), many,
                            MPI_LONG_LONG, MPI_SUM, w->win));
      OK(MPI_Win_flush_local(0, w->win));
      return note(place, many, 1);
    case 3:
      OK(MPI_Accumulate(ones, kElements / 3, MPI_LONG_LONG, 0, at(w, 0, 0), 1, third, MPI_SUM, w->win));
      return note(0, kElements / 3, 3);
    case 4:
      OK(MPI_Get_accumulate(NULL, 0, MPI_LONG_LONG, old, kElements, MPI_LONG_LONG, 0, at(w, 0, 0), kElements,
                            MPI_LONG_LONG, MPI_NO_OP, w->win));
      OK(MPI_Win_flush_local(0, w->win));
      for (int i = 0; i < kElements; i++) CHECK(old[i] >= made[i]);
      return;
    case 5:
      return one_by_swap(w, place);
    default:
      for (int i = 0; i < 30; i++)
        OK(MPI_Fetch_and_op(ones, &old[i], MPI_LONG_LONG, 0, at(w, 0, 8 * place), MPI_SUM, w->win));
      OK(MPI_Win_flush_local(0, w->win));
      for (int i = 0; i < 30; i++) note(place, 1, 1);
  }
}

static void expect_all(Window* w) {
  static long long all[kElements];
  int bad = 0;
  OK(MPI_Reduce(made, all, kElements, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD));
  if (rank == 0) {
    OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win));
    for (int i = 0; i < kElements; i++) bad += ((long long*)w->base)[i] != all[i];
    OK(MPI_Win_unlock(0, w->win));
  }
  EQUAL(bad, 0);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void mix(Window* w) {
  MPI_Datatype third;
  memset(made, 0, sizeof made);
  OK(MPI_Type_vector(kElements / 3, 1, 3, MPI_LONG_LONG, &third));
  OK(MPI_Type_commit(&third));
  OK(MPI_Win_lock_all(0, w->win));
  // The first half without long runs on most ranks, so that single updates meet the first long ones.
  for (int i = 0; i < kRounds; i++) {
    if (i < kRounds / 2 && rank != 1) {
      OK(MPI_Fetch_and_op(ones, old, MPI_LONG_LONG, 0, at(w, 0, 8 * draw(4)), MPI_NO_OP, w->win));
      const int place = draw(4);
      for (int k = 0; k < 100; k++)
        OK(MPI_Accumulate(ones, 1, MPI_LONG_LONG, 0, at(w, 0, 8 * place), 1, MPI_LONG_LONG, MPI_SUM, w->win));
      for (int k = 0; k < 100; k++) note(place, 1, 1);
    } else {
      some_update(w, third);
    }
  }
  OK(MPI_Win_unlock_all(w->win));
  expect_all(w);
  for (int i = 0; i < kRounds; i++) {
    OK(MPI_Win_lock(i % 3 == rank % 3 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, 0, 0, w->win));
    for (int k = 0; k < 4; k++) some_update(w, third);
    OK(MPI_Win_unlock(0, w->win));
  }
  expect_all(w);
  OK(MPI_Win_fence(0, w->win));
  for (int i = 0; i < kRounds; i++) {
    OK(MPI_Accumulate(ones, kElements, MPI_LONG_LONG, 0, at(w, 0, 0), kElements, MPI_LONG_LONG, MPI_SUM,
                      w->win));
    OK(MPI_Accumulate(ones, 1, MPI_LONG_LONG, 0, at(w, 0, 0), 1, MPI_LONG_LONG, MPI_SUM, w->win));
    note(0, kElements, 1);
    note(0, 1, 1);
  }
  OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
  expect_all(w);
  MPI_Type_free(&third);
}

// Sums of doubles in a window whose granularity is given.
static void granular(const char* granularity) {
  enum { kDoubles = 500 };
  double add[kDoubles], *base;
  MPI_Win win;
  MPI_Info info;
  for (int i = 0; i < kDoubles; i++) add[i] = 0.5;
  OK(MPI_Info_create(&info));
  OK(MPI_Info_set(info, "mpi_accumulate_granularity", granularity));
  OK(MPI_Win_allocate(sizeof add, 8, info, MPI_COMM_WORLD, &base, &win));
  memset(base, 0, sizeof add);
  OK(MPI_Win_fence(0, win));
  for (int i = 0; i < 200; i++) {
    OK(MPI_Accumulate(add, kDoubles, MPI_DOUBLE, 0, 0, kDoubles, MPI_DOUBLE, MPI_SUM, win));
    OK(MPI_Accumulate(add, 1, MPI_DOUBLE, 0, 7, 1, MPI_DOUBLE, MPI_SUM, win));
  }
  OK(MPI_Win_fence(0, win));
  int bad = 0;
  for (int i = 0; i < kDoubles && rank == 0; i++) bad += base[i] != (i == 7 ? 200.0 : 100.0) * size;
  EQUAL(bad, 0);
  OK(MPI_Info_free(&info));
  OK(MPI_Win_free(&win));
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  seed = 77u + (unsigned)rank;
  for (int i = 0; i < kElements; i++) ones[i] = 1;
  for (int flavor = 0; flavor < kFlavors; flavor++) {
    if (!possible(flavor, MPI_COMM_WORLD)) continue;
    Window w = open_window(flavor, 8 * kElements, 8, MPI_COMM_WORLD);
    mix(&w);
    close_window(&w);
  }
  granular("1");
  granular("8");
  granular("1000");
  return finish();
}
