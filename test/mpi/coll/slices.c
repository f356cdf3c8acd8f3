// SPDX-License-Identifier: BSD-3-Clause
// Allgather(v) and alltoall of blocks that are longer than anything that fits at once: with gaps on some
// ranks and none on others, of different lengths, and in place.
#include "../check.h"

enum { kLong = 50000, kGuard = -7 };

static int value(int from, int to, int i) { return (from * 31 + to) * 100003 + i; }

// On odd ranks a block is every other int of twice as many.
static MPI_Datatype block_type(int gaps, int count) {
  MPI_Datatype type, sized;
  if (gaps)
    OK(MPI_Type_vector(count, 1, 2, MPI_INT, &type));
  else
    OK(MPI_Type_contiguous(count, MPI_INT, &type));
  OK(MPI_Type_create_resized(type, 0, (gaps ? 2 : 1) * (MPI_Aint)count * 4, &sized));
  OK(MPI_Type_commit(&sized));
  OK(MPI_Type_free(&type));
  return sized;
}

static int* room(int ints) {
  int* at = malloc(sizeof(int) * (size_t)ints);
  for (int i = 0; i < ints; ++i) at[i] = kGuard;
  return at;
}

static void allgather(void) {
  const int step = rank % 2 + 1;
  MPI_Datatype type = block_type(rank % 2, kLong);
  int *mine = room(kLong), *all = room(size * step * kLong);
  for (int i = 0; i < kLong; ++i) mine[i] = value(rank, 0, i);
  OK(MPI_Allgather(mine, kLong, MPI_INT, all, 1, type, MPI_COMM_WORLD));
  int wrong = 0;
  for (int r = 0; r < size; ++r)
    for (int i = 0; i < kLong; ++i) {
      const int at = step * (r * kLong + i);
      wrong += all[at] != value(r, 0, i) || (step == 2 && all[at + 1] != kGuard);
    }
  CHECK(wrong == 0);
  OK(MPI_Type_free(&type));
  free(mine), free(all);
}

// Nothing from rank 0, 20 KB more from each that follows; backwards in memory.
static void allgatherv(int in_place) {
  int *counts = room(size), *displs = room(size), sum = 0, wrong = 0;
  for (int r = size - 1; r >= 0; --r) counts[r] = 5000 * r * r, displs[r] = sum, sum += counts[r] + 1;
  int *all = room(sum), *mine = in_place ? all + displs[rank] : room(counts[rank] + 1);
  for (int i = 0; i < counts[rank]; ++i) mine[i] = value(rank, 1, i);
  OK(MPI_Allgatherv(in_place ? MPI_IN_PLACE : mine, counts[rank], MPI_INT, all, counts, displs, MPI_INT,
                    MPI_COMM_WORLD));
  for (int r = 0; r < size; ++r) {
    for (int i = 0; i < counts[r]; ++i) wrong += all[displs[r] + i] != value(r, 1, i);
    wrong += all[displs[r] + counts[r]] != kGuard;
  }
  CHECK(wrong == 0);
  if (!in_place) free(mine);
  free(all), free(counts), free(displs);
}

static void alltoall(int in_place, int count) {
  const int step = rank % 2 + 1;
  MPI_Datatype type = block_type(rank % 2, count);
  int *send = room(size * count), *recv = room(size * step * count), wrong = 0;
  for (int r = 0; r < size; ++r)
    for (int i = 0; i < count; ++i)
      *(in_place ? recv + step * (r * count + i) : send + r * count + i) = value(rank, r, i);
  OK(MPI_Alltoall(in_place ? MPI_IN_PLACE : send, count, MPI_INT, recv, 1, type, MPI_COMM_WORLD));
  for (int r = 0; r < size; ++r)
    for (int i = 0; i < count; ++i) {
      const int at = step * (r * count + i);
      wrong += recv[at] != value(r, rank, i) || (step == 2 && recv[at + 1] != kGuard);
    }
  CHECK(wrong == 0);
  OK(MPI_Type_free(&type));
  free(send), free(recv);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  for (int round = 0; round < 3; ++round) {
    allgather();
    allgatherv(0), allgatherv(1);
    for (int in_place = 0; in_place < 2; ++in_place) {
      alltoall(in_place, kLong);
      alltoall(in_place, 16385 / size);
    }
  }
  return finish();
}
