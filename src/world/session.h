// SPDX-License-Identifier: BSD-3-Clause
// Sessions (MPI 5.0, 11.3): independent users of the one library instance.
#pragma once

#include "object/errhandler.h"
#include "object/handle.h"
#include "object/info.h"

namespace vicinity::world {

struct Session : object::Object {
  object::Errhandler* errhandler = nullptr;
  object::Info* hints = nullptr;
  int thread_level = MPI_THREAD_SINGLE;
  static void finish(Session* session);
};

// Group of the processes of a process set, or MPI_ERR_ARG with the names that exist.
object::Result<object::Group*> pset_group(const char* name);

}  // namespace vicinity::world

template <>
struct vicinity::object::HandleTraits<vicinity::world::Session> {
  using Handle = MPI_Session;
  static constexpr Kind kKind = Kind::kSession;
  static world::Session* predefined(uintptr_t) { return nullptr; }
};
