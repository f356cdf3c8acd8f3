// SPDX-License-Identifier: BSD-3-Clause
// Error handlers (MPI 5.0, 9.3).
#pragma once

#include "object/error.h"
#include "object/handle.h"

namespace vicinity::object {

struct Errhandler : Object {
  enum class Action : uint8_t { kFatal, kAbort, kReturn, kCall } action = Action::kFatal;
  Kind target = Kind::kDead;  // kComm, kWin, kFile or kSession for kCall
  void* function = nullptr;   // MPI_Comm_errhandler_function* and its siblings
  bool fortran = false;       // the function takes an integer for the handle
  static void finish(Errhandler* handler);
};

template <>
struct HandleTraits<Errhandler> {
  using Handle = MPI_Errhandler;
  static constexpr Kind kKind = Kind::kErrhandler;
  static Errhandler* predefined(uintptr_t constant);
};

}  // namespace vicinity::object
