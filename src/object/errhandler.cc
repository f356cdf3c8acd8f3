// SPDX-License-Identifier: BSD-3-Clause
// The three predefined error handlers; users' ones come from world/entry_errhandler.cc.
#include "object/errhandler.h"

#include "object/pool.h"

namespace vicinity::object {
namespace {

struct Predefined {
  Errhandler fatal, abort, give_back;
  Predefined() {
    set(fatal, MPI_ERRORS_ARE_FATAL, Errhandler::Action::kFatal);
    set(abort, MPI_ERRORS_ABORT, Errhandler::Action::kAbort);
    set(give_back, MPI_ERRORS_RETURN, Errhandler::Action::kReturn);
  }
  static void set(Errhandler& handler, MPI_Errhandler constant, Errhandler::Action action) {
    handler.kind = Kind::kErrhandler;
    handler.handle = reinterpret_cast<uintptr_t>(constant);
    handler.action = action;
  }
};

}  // namespace

void Errhandler::finish(Errhandler* handler) { destroy(handler); }

Errhandler* HandleTraits<Errhandler>::predefined(uintptr_t constant) {
  static Predefined predefined;
  if (constant == predefined.fatal.handle) return &predefined.fatal;
  if (constant == predefined.abort.handle) return &predefined.abort;
  if (constant == predefined.give_back.handle) return &predefined.give_back;
  return nullptr;
}

}  // namespace vicinity::object
