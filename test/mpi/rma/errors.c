// SPDX-License-Identifier: BSD-3-Clause
// Erroneous use is noticed, in every flavour, and the window can be used afterwards; handlers of windows are
// called; MPI_PROC_NULL does nothing.
#include "rma/windows.h"

static int calls, last_code;
static void handler(MPI_Win* win, int* code, ...) {
  (void)win;
  calls++;
  last_code = *code;
}

static void synchronization(Window* w) {
  int value = 0, old = 0, flag;
  MPI_Group group;
  MPI_Request request;
  MPI_Win_get_group(w->win, &group);
  FAILS(MPI_ERR_RMA_SYNC, MPI_Put(&value, 1, MPI_INT, 0, at(w, 0, 0), 1, MPI_INT, w->win));
  FAILS(MPI_ERR_RMA_SYNC, MPI_Get(&value, 1, MPI_INT, 0, at(w, 0, 0), 1, MPI_INT, w->win));
  FAILS(MPI_ERR_RMA_SYNC, MPI_Fetch_and_op(&value, &old, MPI_INT, 0, at(w, 0, 0), MPI_SUM, w->win));
  FAILS(MPI_ERR_RMA_SYNC, MPI_Win_unlock(0, w->win));
  FAILS(MPI_ERR_RMA_SYNC, MPI_Win_unlock_all(w->win));
  FAILS(MPI_ERR_RMA_SYNC, MPI_Win_flush(0, w->win));
  FAILS(MPI_ERR_RMA_SYNC, MPI_Win_flush_local_all(w->win));
  FAILS(MPI_ERR_RMA_SYNC, MPI_Win_complete(w->win));
  FAILS(MPI_ERR_RMA_SYNC, MPI_Win_wait(w->win));
  FAILS(MPI_ERR_RMA_SYNC, MPI_Win_test(w->win, &flag));
  OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, w->win));
  FAILS(MPI_ERR_RMA_SYNC, MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, w->win));
  FAILS(MPI_ERR_RMA_SYNC, MPI_Win_lock_all(0, w->win));
  FAILS(MPI_ERR_RMA_SYNC, MPI_Win_fence(0, w->win));
  FAILS(MPI_ERR_RMA_SYNC, MPI_Win_free(&w->win));
  if (size > 1)
    FAILS(MPI_ERR_RMA_SYNC,
          MPI_Put(&value, 1, MPI_INT, (rank + 1) % size, at(w, (rank + 1) % size, 0), 1, MPI_INT, w->win));
  OK(MPI_Win_unlock(rank, w->win));
  OK(MPI_Win_post(group, 0, w->win));
  FAILS(MPI_ERR_RMA_SYNC, MPI_Win_post(group, 0, w->win));
  OK(MPI_Win_start(group, 0, w->win));
  FAILS(MPI_ERR_RMA_SYNC, MPI_Win_start(group, 0, w->win));
  FAILS(MPI_ERR_RMA_SYNC, MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win));
  FAILS(MPI_ERR_RMA_SYNC, MPI_Rput(&value, 1, MPI_INT, 0, at(w, 0, 0), 1, MPI_INT, w->win, &request));
  OK(MPI_Win_complete(w->win));
  OK(MPI_Win_wait(w->win));
  OK(MPI_Win_fence(0, w->win));
  OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, w->win));  // an unused fence epoch is none
  OK(MPI_Win_unlock(rank, w->win));
  OK(MPI_Win_fence(0, w->win));
  OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
  MPI_Group_free(&group);
}

static void arguments(Window* w) {
  int value[2] = {0, 0}, old = 0;
  double real = 0;
  OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, w->win));
  FAILS(MPI_ERR_RANK, MPI_Put(value, 1, MPI_INT, size, at(w, rank, 0), 1, MPI_INT, w->win));
  FAILS(MPI_ERR_RANK, MPI_Win_flush(-77, w->win));
  FAILS(MPI_ERR_COUNT, MPI_Put(value, -1, MPI_INT, rank, at(w, rank, 0), 1, MPI_INT, w->win));
  FAILS(MPI_ERR_TYPE, MPI_Put(value, 1, MPI_DATATYPE_NULL, rank, at(w, rank, 0), 1, MPI_INT, w->win));
  FAILS(MPI_ERR_BUFFER, MPI_Put(NULL, 1, MPI_INT, rank, at(w, rank, 0), 1, MPI_INT, w->win));
  FAILS(MPI_ERR_TRUNCATE, MPI_Put(value, 2, MPI_INT, rank, at(w, rank, 0), 1, MPI_INT, w->win));
  FAILS(MPI_ERR_OP,
        MPI_Accumulate(&real, 1, MPI_DOUBLE, rank, at(w, rank, 0), 1, MPI_DOUBLE, MPI_BAND, w->win));
  FAILS(MPI_ERR_TYPE,
        MPI_Compare_and_swap(&real, &real, &real, MPI_DOUBLE, rank, at(w, rank, 0), w->win));
  FAILS(MPI_ERR_BUFFER, MPI_Fetch_and_op(NULL, &old, MPI_INT, rank, at(w, rank, 0), MPI_SUM, w->win));
  if (w->flavor != kDynamic) {
    FAILS(MPI_ERR_DISP, MPI_Put(value, 1, MPI_INT, rank, -1, 1, MPI_INT, w->win));
    FAILS(MPI_ERR_RMA_RANGE, MPI_Put(value, 1, MPI_INT, rank, 256, 1, MPI_INT, w->win));
    FAILS(MPI_ERR_RMA_RANGE, MPI_Get(value, 2, MPI_INT, rank, 255, 2, MPI_INT, w->win));
    FAILS(MPI_ERR_RMA_RANGE, MPI_Fetch_and_op(value, &old, MPI_INT, rank, 256, MPI_SUM, w->win));
    FAILS(MPI_ERR_RMA_FLAVOR, MPI_Win_attach(w->win, value, 4));
  }
  // Nothing happens at MPI_PROC_NULL.
  MPI_Request requests[2];
  OK(MPI_Put(value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, w->win));
  OK(MPI_Get(value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, w->win));
  OK(MPI_Accumulate(value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM, w->win));
  OK(MPI_Fetch_and_op(value, &old, MPI_INT, MPI_PROC_NULL, 0, MPI_SUM, w->win));
  OK(MPI_Compare_and_swap(value, value, &old, MPI_INT, MPI_PROC_NULL, 0, w->win));
  OK(MPI_Rput(value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, w->win, &requests[0]));
  OK(MPI_Rget(value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, w->win, &requests[1]));
  OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  OK(MPI_Win_flush(MPI_PROC_NULL, w->win));
  OK(MPI_Win_unlock(rank, w->win));
  // Its lock opens an epoch, like any other.
  OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, MPI_PROC_NULL, 0, w->win));
  FAILS(MPI_ERR_RMA_SYNC, MPI_Win_lock(MPI_LOCK_EXCLUSIVE, MPI_PROC_NULL, 0, w->win));
  FAILS(MPI_ERR_RMA_SYNC, MPI_Win_lock_all(0, w->win));
  OK(MPI_Rput(value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, w->win, &requests[0]));
  OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
  OK(MPI_Win_flush_all(w->win));
  OK(MPI_Win_unlock(MPI_PROC_NULL, w->win));
  FAILS(MPI_ERR_RMA_SYNC, MPI_Win_unlock(MPI_PROC_NULL, w->win));
  FAILS(MPI_ERR_LOCKTYPE, MPI_Win_lock(17, rank, 0, w->win));
  FAILS(MPI_ERR_ASSERT, MPI_Win_lock(MPI_LOCK_SHARED, rank, MPI_MODE_NOPUT, w->win));
  FAILS(MPI_ERR_ASSERT, MPI_Win_fence(MPI_MODE_NOCHECK, w->win));
  FAILS(MPI_ERR_WIN, MPI_Win_fence(0, MPI_WIN_NULL));
}

static void handlers(Window* w) {
  MPI_Errhandler made, got;
  int value = 0;
  OK(MPI_Win_create_errhandler(handler, &made));
  OK(MPI_Win_set_errhandler(w->win, made));
  OK(MPI_Win_get_errhandler(w->win, &got));
  CHECK(got == made);
  MPI_Errhandler_free(&got);
  MPI_Errhandler_free(&made);
  calls = 0;
  FAILS(MPI_ERR_RANK, MPI_Put(&value, 1, MPI_INT, -5, 0, 1, MPI_INT, w->win));
  EQUAL(calls, 1);
  EQUAL(class_of(last_code), MPI_ERR_RANK);
  MPI_Win_call_errhandler(w->win, MPI_ERR_OTHER);
  EQUAL(calls, 2);
  MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  MPI_Win win;
  FAILS(MPI_ERR_SIZE, MPI_Win_create(&win, -1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  FAILS(MPI_ERR_DISP, MPI_Win_create(&win, 1, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  for (int flavor = 0; flavor < kFlavors; flavor++) {
    if (!possible(flavor, MPI_COMM_WORLD)) continue;
    Window w = open_window(flavor, 1024, 4, MPI_COMM_WORLD);
    synchronization(&w);
    MPI_Barrier(MPI_COMM_WORLD);
    arguments(&w);
    handlers(&w);
    close_window(&w);
  }
  return finish();
}
