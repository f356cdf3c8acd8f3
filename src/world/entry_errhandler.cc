// SPDX-License-Identifier: BSD-3-Clause
// Error handlers (MPI 5.0, 9.3). MPI_FILE_NULL carries the handler that files start with.
#include "entry_world.h"
#include "io/file.h"
#include "object/language.h"
#include "object/pool.h"
#include "world/errors.h"
#include "world/instance.h"
#include "world/raise.h"
#include "world/session.h"

namespace vicinity::world {
namespace {

using object::Errhandler;
using object::Kind;

Status create(Kind target, void* function, Errhandler** out) {
  if (!function) return fail(MPI_ERR_ARG, "the error handler function is a null pointer");
  Errhandler* handler = object::make<Errhandler>();
  if (!handler) return fail(MPI_ERR_NO_MEM, "no memory for an error handler");
  handler->action = Errhandler::Action::kCall;
  handler->target = target;
  handler->function = function;
  handler->fortran = object::from_fortran;
  *out = handler;
  return kOk;
}

Status check(const Errhandler& handler, Kind target, const char* what) {
  if (handler.action == Errhandler::Action::kCall && handler.target != target)
    return fail(MPI_ERR_ERRHANDLER, "this error handler was not made for %s", what);
  return kOk;
}

void replace(Errhandler*& slot, Errhandler& handler) {
  Errhandler* old = slot;
  slot = object::retain(&handler);
  if (old) object::release(old);
}

Result<Session*> session_of(MPI_Session handle) {
  Session* session = object::lookup<Session>(handle);
  if (!session) return fail(MPI_ERR_SESSION, "argument `session` is no session");
  return session;
}

Status check_code(int code) {
  if (object::error_class(code) < 0)
    return fail(MPI_ERR_ARG, "argument `errorcode` is %d, which is no error code", code);
  return kOk;
}

// MPI_Comm_call_errhandler raises the user's code, not one of ours: older words do not belong to it.
Status prepare_call(int code) {
  VICINITY_TRY(check_code(code));
  base::forget_failure();
  return kOk;
}

// MPI_FILE_NULL stands for the handler that files start with; then `file` is nullptr.
Status file_or_null(MPI_File handle, io::File** file) {
  *file = object::lookup<io::File>(handle);
  return *file || handle == MPI_FILE_NULL ? kOk : fail(MPI_ERR_FILE, "argument `file` is no file");
}

}  // namespace

namespace entry {

Status comm_create_errhandler(MPI_Comm_errhandler_function* function, Errhandler** errhandler) {
  return create(Kind::kComm, reinterpret_cast<void*>(function), errhandler);
}
Status win_create_errhandler(MPI_Win_errhandler_function* function, Errhandler** errhandler) {
  return create(Kind::kWin, reinterpret_cast<void*>(function), errhandler);
}
Status file_create_errhandler(MPI_File_errhandler_function* function, Errhandler** errhandler) {
  return create(Kind::kFile, reinterpret_cast<void*>(function), errhandler);
}
Status session_create_errhandler(MPI_Session_errhandler_function* function, Errhandler** errhandler) {
  return create(Kind::kSession, reinterpret_cast<void*>(function), errhandler);
}

Status errhandler_free(MPI_Errhandler* errhandler) {
  Errhandler* handler = object::lookup<Errhandler>(*errhandler);
  if (!handler) return fail(MPI_ERR_ERRHANDLER, "argument `errhandler` is no error handler");
  // Also for predefined ones: MPI_Comm_get_errhandler gives them out, and what it gives is freed (9.3.4).
  object::release(handler);
  *errhandler = MPI_ERRHANDLER_NULL;
  return kOk;
}

Status comm_set_errhandler(Communicator& comm, Errhandler& errhandler) {
  VICINITY_TRY(check(errhandler, Kind::kComm, "communicators"));
  replace(comm.errhandler, errhandler);
  return kOk;
}

Status comm_get_errhandler(Communicator& comm, Errhandler** errhandler) {
  *errhandler = object::retain(comm.errhandler);
  return kOk;
}

Status comm_call_errhandler(Communicator& comm, int errorcode) {
  VICINITY_TRY(prepare_call(errorcode));
  raise("MPI_Comm_call_errhandler", Status(errorcode), &comm);
  return kOk;
}

Status session_set_errhandler(MPI_Session handle, Errhandler& errhandler) {
  Result<Session*> session = session_of(handle);
  if (!session.ok()) return session.status();
  VICINITY_TRY(check(errhandler, Kind::kSession, "sessions"));
  replace((*session)->errhandler, errhandler);
  return kOk;
}

Status session_get_errhandler(MPI_Session handle, Errhandler** errhandler) {
  Result<Session*> session = session_of(handle);
  if (!session.ok()) return session.status();
  *errhandler = object::retain((*session)->errhandler);
  return kOk;
}

Status session_call_errhandler(MPI_Session handle, int errorcode) {
  Result<Session*> session = session_of(handle);
  if (!session.ok()) return session.status();
  VICINITY_TRY(prepare_call(errorcode));
  raise_session("MPI_Session_call_errhandler", Status(errorcode), handle);
  return kOk;
}

Status file_set_errhandler(MPI_File file, Errhandler& errhandler) {
  io::File* open = nullptr;
  VICINITY_TRY(file_or_null(file, &open));
  VICINITY_TRY(check(errhandler, Kind::kFile, "files"));
  if (open)
    replace(open->errhandler, errhandler);
  else
    io::set_default_errhandler(errhandler);
  return kOk;
}

Status file_get_errhandler(MPI_File file, Errhandler** errhandler) {
  io::File* open = nullptr;
  VICINITY_TRY(file_or_null(file, &open));
  *errhandler = object::retain(open ? open->errhandler : &io::default_errhandler());
  return kOk;
}

Status file_call_errhandler(MPI_File file, int errorcode) {
  io::File* open = nullptr;
  VICINITY_TRY(file_or_null(file, &open));
  VICINITY_TRY(prepare_call(errorcode));
  raise_file("MPI_File_call_errhandler", Status(errorcode), file);
  return kOk;
}

Status win_set_errhandler(object::Window& win, Errhandler& errhandler) {
  VICINITY_TRY(check(errhandler, Kind::kWin, "windows"));
  replace(win.errhandler, errhandler);
  return kOk;
}

Status win_get_errhandler(object::Window& win, Errhandler** errhandler) {
  *errhandler = object::retain(win.errhandler);
  return kOk;
}

Status win_call_errhandler(object::Window& win, int errorcode) {
  VICINITY_TRY(prepare_call(errorcode));
  raise_window("MPI_Win_call_errhandler", Status(errorcode), win);
  return kOk;
}

}  // namespace entry
}  // namespace vicinity::world
