// SPDX-License-Identifier: BSD-3-Clause
// Handles of the standard ABI and the objects behind them (MPI 5.0, chapter 20).
//
// A handle is either a constant below 0x1000 (a predefined object) or the address of our object.
// Every object starts with an Object: its kind, its handle and its reference count. Objects live in
// pools whose memory is never given back, so a stale handle is noticed (kind kDead), not followed.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>

#include "base/status.h"

namespace vicinity::object {

enum class Kind : uint32_t {
  kDead = 0,
  kComm = 0x7663636f,  // unlikely patterns, so that a wild pointer is mostly noticed as well
  kRevokedComm = 0x76637276,
  kGroup = 0x76636772,
  kDatatype = 0x76636474,
  kOp = 0x76636f70,
  kRequest = 0x76637271,
  kMessage = 0x76636d73,
  kInfo = 0x7663696e,
  kErrhandler = 0x76636568,
  kSession = 0x76637373,
  kWin = 0x76637769,
  kFile = 0x76636669,
};

inline constexpr uintptr_t kFirstAddress = 0x1000;  // handles below are predefined constants

struct Object {
  Kind kind = Kind::kDead;
  std::atomic<int32_t> references{1};  // the user's handle is one; users inside the library add more
  uintptr_t handle = 0;                // what the user holds: a constant, or this object's address
  bool predefined() const { return handle < kFirstAddress; }
};

// What each class of object is called by the ABI, and how predefined constants are found.
// Specialised beside each class:
//   using Handle = MPI_Comm; static constexpr Kind kKind; static T* predefined(uintptr_t constant);
template <class T>
struct HandleTraits;

template <class T>
using HandleOf = typename HandleTraits<T>::Handle;

// The object behind a handle, or nullptr when it is null, freed, or not of this class.
template <class T>
inline T* lookup(HandleOf<T> handle) {
  const auto value = reinterpret_cast<uintptr_t>(handle);
  if (value < kFirstAddress) return HandleTraits<T>::predefined(value);
  if (value % alignof(T) != 0) return nullptr;
  T* object = reinterpret_cast<T*>(value);
  return object->kind == HandleTraits<T>::kKind ? object : nullptr;
}

template <class T>
inline HandleOf<T> handle_of(const T& object) {
  return reinterpret_cast<HandleOf<T>>(object.handle);
}

// Creates and destroys objects of class T in type-stable memory. make() returns nullptr when memory
// is gone. Objects are default-constructed and destroyed, but their first word stays readable.
template <class T>
T* make();
template <class T>
void destroy(T* object);

// Reference counting: add for every inner user (a pending request holds its datatype, its comm, ...),
// drop when done; the last drop destroys through `T::finish(T*)`.
template <class T>
inline T* retain(T* object) {
  if (!object->predefined()) object->references.fetch_add(1, std::memory_order_relaxed);
  return object;
}
template <class T>
inline void release(T* object) {
  if (object->predefined()) return;
  if (object->references.fetch_sub(1, std::memory_order_acq_rel) == 1) T::finish(object);
}

// Arrays of counts and displacements come as int[] through the plain doors and as MPI_Count[] (or
// MPI_Aint[]) through the _c doors. A CountArray reads either, without copying.
class CountArray {
 public:
  CountArray() = default;
  CountArray(const int* values) : values_(values), wide_(false) {}
  CountArray(const MPI_Count* values) : values_(values), wide_(true) {}
  static_assert(sizeof(MPI_Aint) == sizeof(MPI_Count), "MPI_Aint arrays are read as MPI_Count arrays");
  MPI_Count operator[](size_t i) const {
    return wide_ ? static_cast<const MPI_Count*>(values_)[i] : static_cast<const int*>(values_)[i];
  }
  explicit operator bool() const { return values_ != nullptr; }
  const void* data() const { return values_; }
  bool wide() const { return wide_; }

 private:
  const void* values_ = nullptr;
  bool wide_ = false;
};

}  // namespace vicinity::object
