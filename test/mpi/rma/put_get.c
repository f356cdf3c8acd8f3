// SPDX-License-Identifier: BSD-3-Clause
// MPI_Put and MPI_Get in every flavour of window and every kind of epoch, small to large, dense and not.
#include "rma/windows.h"

enum { kBytes = 1 << 20 };
enum { kFence, kPscw, kLock, kLockAll, kEpochs };

static MPI_Group everybody;

static void open_epoch(int epoch, Window* w, int target) {
  if (epoch == kFence) OK(MPI_Win_fence(0, w->win));
  if (epoch == kPscw) {
    OK(MPI_Win_post(everybody, 0, w->win));
    OK(MPI_Win_start(everybody, 0, w->win));
  }
  if (epoch == kLock) OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, w->win));
  if (epoch == kLockAll) OK(MPI_Win_lock_all(0, w->win));
}
static void close_epoch(int epoch, Window* w, int target) {
  if (epoch == kFence) OK(MPI_Win_fence(0, w->win));
  if (epoch == kPscw) {
    OK(MPI_Win_complete(w->win));
    OK(MPI_Win_wait(w->win));
  }
  if (epoch == kLock) OK(MPI_Win_unlock(target, w->win));
  if (epoch == kLockAll) OK(MPI_Win_unlock_all(w->win));
  MPI_Barrier(MPI_COMM_WORLD);
}

static void dense(Window* w, int epoch, size_t bytes) {
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  char* out = malloc(bytes);
  char* in = malloc(bytes);
  fill(out, bytes, (unsigned)(rank + (int)bytes));
  memset(in, 0, bytes);
  open_epoch(epoch, w, to);
  OK(MPI_Put(out, (int)bytes, MPI_BYTE, to, at(w, to, 0), (int)bytes, MPI_BYTE, w->win));
  close_epoch(epoch, w, to);
  open_epoch(epoch, w, from);
  OK(MPI_Get(in, (int)bytes, MPI_BYTE, from, at(w, from, 0), (int)bytes, MPI_BYTE, w->win));
  close_epoch(epoch, w, from);
  EQUAL(wrong(in, bytes, (unsigned)((from + size - 1) % size + (int)bytes)), 0);
  EQUAL(wrong(w->base, bytes, (unsigned)(from + (int)bytes)), 0);
  free(out);
  free(in);
  MPI_Barrier(MPI_COMM_WORLD);
}

// Columns of a matrix of `n` x `n` ints are put as rows, and fetched back as columns.
static void typed(Window* w, int epoch, int n) {
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  MPI_Datatype column, row;
  OK(MPI_Type_vector(n, 1, n, MPI_INT, &column));
  OK(MPI_Type_create_resized(column, 0, sizeof(int), &row));
  OK(MPI_Type_commit(&column));
  OK(MPI_Type_commit(&row));
  int* matrix = malloc((size_t)n * (size_t)n * sizeof(int));
  int* back = calloc((size_t)n * (size_t)n, sizeof(int));
  int bad = 0;
  for (int i = 0; i < n * n; i++) matrix[i] = rank * 1000000 + i;
  open_epoch(epoch, w, to);
  OK(MPI_Put(matrix, n * n, MPI_INT, to, at(w, to, 0), n, row, w->win));
  close_epoch(epoch, w, to);
  const int* here = w->base;
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++) bad += here[k * n + i] != from * 1000000 + i * n + k;
  EQUAL(bad, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  open_epoch(epoch, w, to);
  OK(MPI_Get(back, n, row, to, at(w, to, 0), n * n, MPI_INT, w->win));
  close_epoch(epoch, w, to);
  bad = 0;
  for (int i = 0; i < n * n; i++) bad += back[i] != matrix[i];
  EQUAL(bad, 0);
  free(matrix);
  free(back);
  MPI_Type_free(&column);
  MPI_Type_free(&row);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  MPI_Comm_group(MPI_COMM_WORLD, &everybody);
  static const size_t kSizes[] = {1, 4, 8, 100, 5000, 40000, 300000};
  for (int flavor = 0; flavor < kFlavors; flavor++) {
    if (!possible(flavor, MPI_COMM_WORLD)) continue;
    Window w = open_window(flavor, kBytes, flavor == kCreated ? 4 : 1, MPI_COMM_WORLD);
    for (int epoch = 0; epoch < kEpochs; epoch++) {
      for (int i = 0; i < 7; i++) dense(&w, epoch, kSizes[i]);
      typed(&w, epoch, 3);
      typed(&w, epoch, 150);
    }
    close_window(&w);
  }
  MPI_Group_free(&everybody);
  return finish();
}
