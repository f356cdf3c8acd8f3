// SPDX-License-Identifier: BSD-3-Clause
// Keyvals and attributes (MPI 5.0, 7.7 and 19.3.7): in Fortran an attribute is an integer of address size, in
// the procedures of MPI-1 a default integer.
#include <atomic>

#include "callback.h"
#include "glue.h"

using namespace vicinity::fortran;

namespace {

// What a keyval of Fortran carries. It lives as long as there may be attributes, which outlive the keyval and
// whose end we are not told of: until the process ends, 40 bytes a keyval.
struct Callbacks {
  void* copy;
  void* destroy;
  MPI_Aint extra;
  bool old;
  Callbacks* next;
};
std::atomic<Callbacks*> all_callbacks{nullptr};

void keep(Callbacks* callbacks) {
  callbacks->next = all_callbacks.load(std::memory_order_relaxed);
  while (!all_callbacks.compare_exchange_weak(callbacks->next, callbacks)) {
  }
}

template <class H>
int copy(H owner, int keyval, void* extra, void* in, void* out, int* flag) {
  auto& callbacks = *static_cast<Callbacks*>(extra);
  int number = integer(owner), code = MPI_SUCCESS;
  auto value = reinterpret_cast<MPI_Aint>(in);
  MPI_Aint result = 0;
  if (callbacks.old) {
    int from = static_cast<int>(value), to = 0, state = static_cast<int>(callbacks.extra);
    reinterpret_cast<vicinity_old_copy*>(callbacks.copy)(&number, &keyval, &state, &from, &to, flag, &code);
    result = to;
  } else {
    reinterpret_cast<vicinity_copy*>(callbacks.copy)(&number, &keyval, &callbacks.extra, &value, &result,
                                                     flag, &code);
  }
  *static_cast<MPI_Aint*>(out) = result;
  return code;
}

template <class H>
int destroy(H owner, int keyval, void* attribute, void* extra) {
  auto& callbacks = *static_cast<Callbacks*>(extra);
  int number = integer(owner), code = MPI_SUCCESS;
  auto value = reinterpret_cast<MPI_Aint>(attribute);
  if (callbacks.old) {
    int from = static_cast<int>(value), state = static_cast<int>(callbacks.extra);
    reinterpret_cast<vicinity_old_delete*>(callbacks.destroy)(&number, &keyval, &from, &state, &code);
  } else {
    reinterpret_cast<vicinity_delete*>(callbacks.destroy)(&number, &keyval, &value, &callbacks.extra, &code);
  }
  return code;
}

template <class H>
using Create = int(int (*)(H, int, void*, void*, void*, int*), int (*)(H, int, void*, void*), int*, void*);

template <class H>
void create(Create<H>* make, void* copy_fn, void* delete_fn, int* keyval, MPI_Aint extra, bool old,
            int* ierror) {
  const FromFortran scope;
  auto* callbacks = new Callbacks{copy_fn, delete_fn, extra, old, nullptr};
  const int code = make(copy<H>, destroy<H>, keyval, callbacks);
  if (code == MPI_SUCCESS) {
    keep(callbacks);
  } else {
    delete callbacks;
  }
  finish(ierror, code);
}

template <class H>
void set(int (*call)(H, int, void*), const int* owner, const int* keyval, MPI_Aint value, int* ierror) {
  const FromFortran scope;
  finish(ierror, call(handle<H>(*owner), *keyval, reinterpret_cast<void*>(value)));
}

// C gets a pointer to the value of a predefined attribute, Fortran the value.
MPI_Aint predefined(int keyval, void* found) {
  switch (keyval) {
    case MPI_TAG_UB:
    case MPI_IO:
    case MPI_HOST:
    case MPI_WTIME_IS_GLOBAL:
    case MPI_APPNUM:
    case MPI_LASTUSEDCODE:
    case MPI_UNIVERSE_SIZE:
    case MPI_WIN_DISP_UNIT:
    case MPI_WIN_CREATE_FLAVOR:
    case MPI_WIN_MODEL:
      return *static_cast<int*>(found);
    case MPI_WIN_SIZE:
      return *static_cast<MPI_Aint*>(found);
    default:  // also MPI_WIN_BASE: the address itself
      return reinterpret_cast<MPI_Aint>(found);
  }
}

template <class H>
int get(int (*call)(H, int, void*, int*), const int* owner, const int* keyval, MPI_Aint* value, int* flag) {
  const FromFortran scope;
  void* found = nullptr;
  const int code = call(handle<H>(*owner), *keyval, &found, flag);
  if (code == MPI_SUCCESS && *flag) *value = predefined(*keyval, found);
  return code;
}

}  // namespace

#define VICINITY_ATTRIBUTES(H, lower, Upper)                                                                \
  extern "C" void pmpi_##lower##_create_keyval_(void* copy_fn, void* delete_fn, int* keyval,                \
                                                MPI_Aint* extra, int* ierror) {                             \
    create<H>(PMPI_##Upper##_create_keyval, copy_fn, delete_fn, keyval, *extra, false, ierror);             \
  }                                                                                                         \
  extern "C" void pmpi_##lower##_set_attr_(const int* owner, const int* keyval, MPI_Aint* value,            \
                                           int* ierror) {                                                   \
    set<H>(PMPI_##Upper##_set_attr, owner, keyval, *value, ierror);                                         \
  }                                                                                                         \
  extern "C" void pmpi_##lower##_get_attr_(const int* owner, const int* keyval, MPI_Aint* value, int* flag, \
                                           int* ierror) {                                                   \
    finish(ierror, get<H>(PMPI_##Upper##_get_attr, owner, keyval, value, flag));                            \
  }                                                                                                         \
  extern "C" void mpi_##lower##_null_copy_fn_(int*, int*, MPI_Aint*, MPI_Aint*, MPI_Aint*, int* flag,       \
                                              int* ierror) {                                                \
    *flag = 0;                                                                                              \
    *ierror = MPI_SUCCESS;                                                                                  \
  }                                                                                                         \
  extern "C" void mpi_##lower##_dup_fn_(int*, int*, MPI_Aint*, MPI_Aint* in, MPI_Aint* out, int* flag,      \
                                        int* ierror) {                                                      \
    *out = *in;                                                                                             \
    *flag = 1;                                                                                              \
    *ierror = MPI_SUCCESS;                                                                                  \
  }                                                                                                         \
  extern "C" void mpi_##lower##_null_delete_fn_(int*, int*, MPI_Aint*, MPI_Aint*, int* ierror) {            \
    *ierror = MPI_SUCCESS;                                                                                  \
  }
VICINITY_ATTRIBUTES(MPI_Comm, comm, Comm)
VICINITY_ATTRIBUTES(MPI_Datatype, type, Type)
VICINITY_ATTRIBUTES(MPI_Win, win, Win)

// MPI-1's forms.
extern "C" void pmpi_keyval_create_(void* copy_fn, void* delete_fn, int* keyval, int* extra, int* ierror) {
  create<MPI_Comm>(PMPI_Comm_create_keyval, copy_fn, delete_fn, keyval, *extra, true, ierror);
}
extern "C" void pmpi_attr_put_(const int* comm, const int* keyval, int* value, int* ierror) {
  set<MPI_Comm>(PMPI_Comm_set_attr, comm, keyval, *value, ierror);
}
extern "C" void pmpi_attr_get_(const int* comm, const int* keyval, int* value, int* flag, int* ierror) {
  MPI_Aint found = *value;
  finish(ierror, get<MPI_Comm>(PMPI_Comm_get_attr, comm, keyval, &found, flag));
  *value = static_cast<int>(found);
}
extern "C" void mpi_null_copy_fn_(int*, int*, int*, int*, int*, int* flag, int* ierror) {
  *flag = 0;
  *ierror = MPI_SUCCESS;
}
extern "C" void mpi_dup_fn_(int*, int*, int*, int* in, int* out, int* flag, int* ierror) {
  *out = *in;
  *flag = 1;
  *ierror = MPI_SUCCESS;
}
extern "C" void mpi_null_delete_fn_(int*, int*, int*, int*, int* ierror) { *ierror = MPI_SUCCESS; }

VICINITY_NAMES(comm_create_keyval)
VICINITY_NAMES(comm_set_attr)
VICINITY_NAMES(comm_get_attr)
VICINITY_NAMES(type_create_keyval)
VICINITY_NAMES(type_set_attr)
VICINITY_NAMES(type_get_attr)
VICINITY_NAMES(win_create_keyval)
VICINITY_NAMES(win_set_attr)
VICINITY_NAMES(win_get_attr)
VICINITY_OLD_NAMES(keyval_create)
VICINITY_OLD_NAMES(attr_put)
VICINITY_OLD_NAMES(attr_get)
