// SPDX-License-Identifier: BSD-3-Clause
// One window of each flavour over the same kind of memory, for tests that run with all of them.
#pragma once
#include "check.h"

enum { kCreated, kAllocated, kShared, kDynamic, kFlavors };
static const char* const kFlavorNames[] = {"create", "allocate", "allocate_shared", "dynamic"};

typedef struct {
  MPI_Win win;
  void* base;
  int flavor, unit;
  MPI_Aint* origin;  // of each rank: the displacement of its first byte, 0 but in dynamic windows
} Window;

// MPI_Win_allocate_shared is for ranks that share memory (MPI 5.0, 12.2.3). Those of several hosts do not.
static inline int possible(int flavor, MPI_Comm comm) {
  if (flavor != kShared || share_memory(comm)) return 1;
  if (rank == 0) puts("allocate_shared is left out: these ranks share no memory");
  return 0;
}

// `bytes` on each rank, displacement unit `unit` (1 in dynamic windows, whatever is asked).
static inline Window open_window(int flavor, MPI_Aint bytes, int unit, MPI_Comm comm) {
  Window w = {MPI_WIN_NULL, NULL, flavor, flavor == kDynamic ? 1 : unit, NULL};
  int ranks;
  MPI_Comm_size(comm, &ranks);
  w.origin = calloc((size_t)ranks, sizeof *w.origin);
  MPI_Info apart;
  MPI_Info_create(&apart);
  MPI_Info_set(apart, "alloc_shared_noncontig", "true");
  if (flavor == kCreated || flavor == kDynamic) MPI_Alloc_mem(bytes, MPI_INFO_NULL, &w.base);
  if (flavor == kCreated) OK(MPI_Win_create(w.base, bytes, unit, MPI_INFO_NULL, comm, &w.win));
  if (flavor == kAllocated) OK(MPI_Win_allocate(bytes, unit, MPI_INFO_NULL, comm, &w.base, &w.win));
  if (flavor == kShared) OK(MPI_Win_allocate_shared(bytes, unit, apart, comm, &w.base, &w.win));
  if (flavor == kDynamic) {
    MPI_Aint address = (MPI_Aint)w.base;
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &w.win));
    OK(MPI_Win_attach(w.win, w.base, bytes));
    OK(MPI_Allgather(&address, 1, MPI_AINT, w.origin, 1, MPI_AINT, comm));
  }
  MPI_Info_free(&apart);
  MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN);
  memset(w.base, 0, (size_t)bytes);
  MPI_Barrier(comm);
  return w;
}

static inline MPI_Aint at(const Window* w, int target, MPI_Aint bytes) {
  return w->origin[target] + bytes / w->unit;
}

static inline void close_window(Window* w) {
  if (w->flavor == kDynamic) {
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_detach(w->win, w->base));
  }
  OK(MPI_Win_free(&w->win));
  CHECK(w->win == MPI_WIN_NULL);
  if (w->flavor == kCreated || w->flavor == kDynamic) MPI_Free_mem(w->base);
  free(w->origin);
}
