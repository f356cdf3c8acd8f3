// SPDX-License-Identifier: BSD-3-Clause
// What generated doors are made of: the checks by kind, and the way out through an error handler.
//
// A door is one local Door; everything is inline and short-circuits, so that a good call costs a few
// compares, and the compiler keeps the Door in registers. Whatever describes a failure is out of line in
// door.cc. What is checked by whom is in docs/design/doors.md.
#pragma once

#include <mpi.h>

#include <type_traits>

#include "base/progress.h"
#include "base/status.h"
#include "object/communicator.h"
#include "object/datatype.h"
#include "object/errhandler.h"
#include "object/group.h"
#include "object/info.h"
#include "object/op.h"
#include "object/window.h"
#include "world/state.h"

namespace vicinity::door {

using base::Status;
using object::Communicator;
using object::Datatype;
using object::Errhandler;
using object::Group;
using object::Info;
using object::Op;
using object::Window;

// Failures, in words. `argument` is the name of the parameter in the standard.
#define VICINITY_COLD __attribute__((cold, noinline))
VICINITY_COLD Status not_running();
VICINITY_COLD bool attended();  // runs, but there was news
VICINITY_COLD Status unsupported(const char* function);
VICINITY_COLD Status bad_handle(int error, uintptr_t handle, const char* argument);
VICINITY_COLD Communicator* revoked(MPI_Comm handle);  // nullptr: it is none
VICINITY_COLD Status revoked_failure(const char* argument);
VICINITY_COLD Status not_committed(const char* argument);
VICINITY_COLD Status negative(int error, long long value, const char* argument);
VICINITY_COLD Status null_pointer(int error, const char* argument);
VICINITY_COLD Status null_array(const char* argument, long long length);
VICINITY_COLD Status bad_rank(int rank, int size, const char* argument);
VICINITY_COLD Status bad_tag(int tag, const char* argument);
// The ways out of a door that failed; `session` and `file` when the call named one.
VICINITY_COLD int failed(const char* function, Status status, Communicator* comm, Window* window);
VICINITY_COLD int failed_session(const char* function, Status status, MPI_Session session);
VICINITY_COLD int failed_file(const char* function, Status status, MPI_File file);
VICINITY_COLD int null_name(const char* text, char* name, int* length);
#undef VICINITY_COLD

// Which error a bad handle of a class is.
template <class T>
inline constexpr int kHandleError = MPI_ERR_OTHER;
template <>
inline constexpr int kHandleError<Communicator> = MPI_ERR_COMM;
template <>
inline constexpr int kHandleError<Datatype> = MPI_ERR_TYPE;
template <>
inline constexpr int kHandleError<Errhandler> = MPI_ERR_ERRHANDLER;
template <>
inline constexpr int kHandleError<Group> = MPI_ERR_GROUP;
template <>
inline constexpr int kHandleError<Info> = MPI_ERR_INFO;
template <>
inline constexpr int kHandleError<Op> = MPI_ERR_OP;
template <>
inline constexpr int kHandleError<Window> = MPI_ERR_WIN;

// Without this the compiler shares the checks among 664 doors as functions, and every Door lives in memory.
#define VICINITY_INLINE __attribute__((always_inline))

enum Locking : bool { kUnlocked, kLocked };

// Holds the engine lock while a door is open, if threads may meet inside and the door wants it.
template <Locking locking>
class Lock {
 public:
  VICINITY_INLINE Lock() {
    if (locking == kLocked && base::threads_multiple()) [[unlikely]] {
      base::engine_lock.lock();
      held_ = true;
    }
  }
  VICINITY_INLINE ~Lock() {
    if (held_) [[unlikely]]
      base::engine_lock.unlock();
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  bool held_ = false;  // remembered: MPI_Init_thread changes threads_multiple() under way
};

// The checks return false, and keep the reason, when the door must not call its entry.
template <Locking locking = kLocked>
class Door {
 public:
  VICINITY_INLINE explicit Door(const char* function) : function_(function) {}

  VICINITY_INLINE bool running() {
    if (world::state.load(std::memory_order_relaxed) == world::State::kRunning) [[likely]]
      return true;
    return attended() || fail(not_running());
  }
  // A handle of a class that must be there. The first communicator is the one whose handler is called.
  template <class T>
  VICINITY_INLINE bool handle(object::HandleOf<T> value, T*& object, const char* argument) {
    object = object::lookup<T>(value);
    if (!object) [[unlikely]]
      return fail(refusal(value, object, argument));
    remember(object);
    return true;
  }
  // A communicator, revoked or not.
  VICINITY_INLINE bool communicator(MPI_Comm value, Communicator*& comm, const char* argument) {
    comm = object::lookup<Communicator>(value);
    if (!comm) [[unlikely]]
      comm = revoked(value);
    if (!comm) [[unlikely]]
      return fail(bad_handle(MPI_ERR_COMM, reinterpret_cast<uintptr_t>(value), argument));
    remember(comm);
    return true;
  }
  // MPI_INFO_NULL is no info.
  VICINITY_INLINE bool optional(MPI_Info value, Info*& info, const char* argument) {
    if (value == MPI_INFO_NULL) return true;
    return handle(value, info, argument);
  }
  VICINITY_INLINE bool committed(MPI_Datatype value, Datatype*& type, const char* argument) {
    if (!handle(value, type, argument)) [[unlikely]]
      return false;
    if (type->committed) [[likely]]
      return true;
    return fail(not_committed(argument));
  }
  // A handle that the call may change.
  template <class T>
  VICINITY_INLINE bool handle_at(object::HandleOf<T>* place, const char* argument) {
    T* object = nullptr;
    if constexpr (std::is_same_v<T, Communicator>)
      return pointer(place, argument) && communicator(*place, object, argument);
    else
      return pointer(place, argument) && handle(*place, object, argument);
  }

  VICINITY_INLINE bool count(MPI_Count value, const char* argument) {
    return not_negative(MPI_ERR_COUNT, value, argument);
  }
  VICINITY_INLINE bool length(MPI_Count value, const char* argument) {
    return not_negative(MPI_ERR_ARG, value, argument);
  }
  template <class T>
  VICINITY_INLINE bool pointer(T* place, const char* argument) {
    if (place) [[likely]]
      return true;
    return fail(null_pointer(MPI_ERR_ARG, argument));
  }
  VICINITY_INLINE bool array(const void* place, MPI_Count length, const char* argument) {
    if (place || length <= 0) [[likely]]
      return true;
    return fail(null_array(argument, length));
  }
  // Derived types may describe absolute addresses, from MPI_BOTTOM; predefined ones cannot.
  VICINITY_INLINE bool buffer(const void* place, MPI_Count count, const Datatype& type,
                              const char* argument) {
    if (place || count == 0 || !type.predefined() || type.size == 0) [[likely]]
      return true;
    return fail(null_pointer(MPI_ERR_BUFFER, argument));
  }
  VICINITY_INLINE bool dest(int rank, const Communicator& comm, const char* argument) {
    if (member_of(rank, comm) || rank == MPI_PROC_NULL) [[likely]]
      return true;
    return fail(bad_rank(rank, comm.peers().size(), argument));
  }
  VICINITY_INLINE bool source(int rank, const Communicator& comm, const char* argument) {
    if (member_of(rank, comm) || rank == MPI_PROC_NULL || rank == MPI_ANY_SOURCE) [[likely]]
      return true;
    return fail(bad_rank(rank, comm.peers().size(), argument));
  }
  VICINITY_INLINE bool member(int rank, const Communicator& comm, const char* argument) {
    if (member_of(rank, comm)) [[likely]]
      return true;
    return fail(bad_rank(rank, comm.peers().size(), argument));
  }
  VICINITY_INLINE bool tag(int value, const char* argument) {
    if (static_cast<unsigned>(value) <= static_cast<unsigned>(object::kTagUpperBound)) [[likely]]
      return true;
    return fail(bad_tag(value, argument));
  }
  VICINITY_INLINE bool recv_tag(int value, const char* argument) {
    return value == MPI_ANY_TAG || tag(value, argument);
  }

  VICINITY_INLINE void take(Status status) { status_ = status; }
  VICINITY_INLINE bool unsupported() { return fail(door::unsupported(function_)); }

  // Outputs, written only after success. What an int cannot hold becomes MPI_UNDEFINED.
  template <class T>
  VICINITY_INLINE void give(object::HandleOf<T>* place, const T* object, object::HandleOf<T> null) {
    if (status_.ok() && place) [[likely]]
      *place = object ? object::handle_of(*object) : null;
  }
  VICINITY_INLINE void narrow(int* place, MPI_Count value) {
    if (status_.ok()) [[likely]]
      *place = value == static_cast<int>(value) ? static_cast<int>(value) : MPI_UNDEFINED;
  }

  VICINITY_INLINE int finish() {
    return status_.ok() ? MPI_SUCCESS : failed(function_, status_, comm_, window_);
  }
  VICINITY_INLINE int finish_session(MPI_Session session) {
    return status_.ok() ? MPI_SUCCESS : failed_session(function_, status_, session);
  }
  VICINITY_INLINE int finish_file(MPI_File file) {
    return status_.ok() ? MPI_SUCCESS : failed_file(function_, status_, file);
  }
  VICINITY_INLINE int finish_tool() {
    return status_.code();
  }  // the tools interface calls no handler (MPI 5.0, 15.3)

 private:
  VICINITY_INLINE bool fail(Status status) {
    status_ = status;
    return false;
  }
  // Of a revoked communicator the handler is called.
  VICINITY_INLINE Status refusal(MPI_Comm value, Communicator*&, const char* argument) {
    Communicator* comm = revoked(value);
    if (!comm) return bad_handle(MPI_ERR_COMM, reinterpret_cast<uintptr_t>(value), argument);
    remember(comm);
    return revoked_failure(argument);
  }
  template <class T>
  VICINITY_INLINE Status refusal(object::HandleOf<T> value, T*&, const char* argument) {
    return bad_handle(kHandleError<T>, reinterpret_cast<uintptr_t>(value), argument);
  }
  VICINITY_INLINE bool not_negative(int error, MPI_Count value, const char* argument) {
    if (value >= 0) [[likely]]
      return true;
    return fail(negative(error, value, argument));
  }
  VICINITY_INLINE static bool member_of(int rank, const Communicator& comm) {
    return static_cast<unsigned>(rank) < static_cast<unsigned>(comm.peers().size());
  }
  VICINITY_INLINE void remember(Communicator* comm) { comm_ = comm_ ? comm_ : comm; }
  VICINITY_INLINE void remember(Window* window) { window_ = window; }
  template <class T>
  VICINITY_INLINE void remember(T*) {}

  Lock<locking> lock_;
  const char* const function_;
  Communicator* comm_ = nullptr;
  Window* window_ = nullptr;
  Status status_;
};

}  // namespace vicinity::door

// MPI_X is another name of PMPI_X that a profiling tool may define instead (MPI 5.0, 15.2).
#define VICINITY_ALIAS(name) \
  extern "C" __attribute__((weak, alias("P" #name), visibility("default"))) decltype(name) name;
