// SPDX-License-Identifier: BSD-3-Clause
// Which handler takes a failure, and what it does. The words are written once, here:
//
//   [vicinity 3@nodeA] MPI_Send failed: MPI_ERR_RANK: argument `dest` is 7, ... (communicator MPI_COMM_WORLD)
#include "world/raise.h"

#include <cstdio>

#include "base/param.h"
#include "io/file.h"
#include "object/handle_table.h"
#include "world/errors.h"
#include "world/instance.h"
#include "world/session.h"

namespace vicinity::world {
namespace {

using object::Errhandler;
using object::Kind;

base::Param<std::string> initial_errhandler{
    "VICINITY_INITIAL_ERRHANDLER", "world", "mpi_errors_are_fatal",
    "mpi_errors_are_fatal|mpi_errors_abort|mpi_errors_return",
    "The error handler of MPI_COMM_WORLD and MPI_COMM_SELF, and of errors before MPI_Init, until the program "
    "sets another one"};

// What went wrong, where and to whom.
struct Report {
  const char* function;
  int code;
  char where[MPI_MAX_OBJECT_NAME + 32] = "";
};

void describe(const Report& report, char* text, size_t room) {
  const char* name = object::error_name(report.code);
  char number[32];
  if (!name) {
    std::snprintf(number, sizeof number, "error code %d", report.code);
    name = number;
  }
  const char* words = base::failure_text(report.code);
  if (!*words) words = object::error_text(report.code);
  std::snprintf(text, room, "%s failed: %s: %s%s", report.function, name, words ? words : "", report.where);
}

[[noreturn]] void die(const Report& report) {
  char text[768];
  describe(report, text, sizeof text);
  const int exit_code = report.code & 0xff;
  end_job(exit_code ? exit_code : 1, text);
}

// MPI's user functions are variadic; we pass only the two arguments that the standard promises.
template <class Handle>
using Callback = void(Handle*, int*, ...);

template <class Handle>
int apply(Errhandler& handler, const Report& report, Handle handle) {
  switch (handler.action) {
    case Errhandler::Action::kFatal:
    case Errhandler::Action::kAbort:  // a job ends as a whole here, so both are the same
      die(report);
    case Errhandler::Action::kReturn:
      return report.code;
    case Errhandler::Action::kCall:
      break;
  }
  Errhandler* held = object::retain(&handler);  // the function may free it
  int code = report.code;
  if (held->fortran) {
    int number = object::handle_to_int(reinterpret_cast<uintptr_t>(handle));
    reinterpret_cast<void (*)(int*, int*)>(held->function)(&number, &code);
  } else {
    reinterpret_cast<Callback<Handle>*>(held->function)(&handle, &code);
  }
  object::release(held);
  return report.code;
}

}  // namespace

object::Errhandler& initial_handler() {
  const std::string& name = initial_errhandler.get();
  const MPI_Errhandler constant = name == "mpi_errors_return"  ? MPI_ERRORS_RETURN
                                  : name == "mpi_errors_abort" ? MPI_ERRORS_ABORT
                                                               : MPI_ERRORS_ARE_FATAL;
  return *object::lookup<Errhandler>(constant);
}

int raise(const char* function, base::Status status, Communicator* comm) {
  Report report{function, status.code()};
  if (comm) {
    std::snprintf(report.where, sizeof report.where, " (communicator %s)",
                  comm->name[0] ? comm->name : "without name");
  } else {
    comm = object::predefined_communicators[1];
    if (!comm) comm = object::revoked_predefined[1];
  }
  if (!comm || !comm->errhandler) return apply(initial_handler(), report, MPI_COMM_SELF);
  return apply(*comm->errhandler, report, object::handle_of(*comm));
}

int raise_window(const char* function, base::Status status, object::Window& window) {
  Report report{function, status.code()};
  std::snprintf(report.where, sizeof report.where, " (window %s)",
                window.name[0] ? window.name : "without name");
  return apply(*window.errhandler, report, object::handle_of(window));
}

int raise_session(const char* function, base::Status status, MPI_Session handle) {
  Session* session = object::lookup<Session>(handle);
  if (!session) return raise(function, status, nullptr);
  Report report{function, status.code(), " (session)"};
  return apply(*session->errhandler, report, handle);
}

int raise_file(const char* function, base::Status status, MPI_File file) {
  Report report{function, status.code(), " (file)"};
  const io::File* open = object::lookup<io::File>(file);
  Errhandler& handler = open ? *open->errhandler : io::default_errhandler();
  return apply(handler, report, open ? file : MPI_FILE_NULL);
}

}  // namespace vicinity::world
