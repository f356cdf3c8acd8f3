// SPDX-License-Identifier: BSD-3-Clause
// The words for what doors refuse, and the ways to the error handlers.
#include "door.h"

#include <mpi-ext.h>

#include <cstdio>
#include <cstring>

#include "object/error.h"
#include "object/file_blame.h"
#include "world/raise.h"

namespace vicinity::door {

using base::fail;

Status not_running() {
  const bool before = world::state == world::State::kBefore;
  return fail(MPI_ERR_OTHER,
              before ? "called before MPI_Init and without a session" : "called after MPI_Finalize");
}

bool attended() {
  if (world::state != world::State::kNews) return false;
  world::attend_to_news();
  return true;
}

Status unsupported(const char* function) {
  return fail(MPI_ERR_UNSUPPORTED_OPERATION, "%s is not implemented in this version; see docs/coverage.md",
              function);
}

Status bad_handle(int error, uintptr_t handle, const char* argument) {
  if (handle == 0) return fail(error, "argument `%s` is a null pointer, not a handle", argument);
  if (handle < object::kFirstAddress)
    return fail(error, "argument `%s` is 0x%zx: a null handle, or one of another class", argument,
                size_t{handle});
  return fail(error, "argument `%s` is no valid handle: freed, of another class, or never set", argument);
}

Communicator* revoked(MPI_Comm handle) { return object::find_revoked(handle); }

Status revoked_failure(const char* argument) {
  return fail(MPIX_ERR_REVOKED, "argument `%s` is a communicator that has been revoked", argument);
}

Status not_committed(const char* argument) {
  return fail(MPI_ERR_TYPE, "argument `%s` is a datatype that is not committed: call MPI_Type_commit",
              argument);
}

Status negative(int error, long long value, const char* argument) {
  return fail(error, "argument `%s` is %lld, it must not be negative", argument, value);
}

Status null_pointer(int error, const char* argument) {
  return fail(error, "argument `%s` is a null pointer", argument);
}

Status null_array(const char* argument, long long length) {
  return fail(MPI_ERR_ARG, "argument `%s` is a null pointer, an array of %lld is expected", argument, length);
}

Status bad_rank(int rank, int size, const char* argument) {
  return fail(MPI_ERR_RANK, "argument `%s` is %d, the communicator has %d ranks", argument, rank, size);
}

Status bad_tag(int tag, const char* argument) {
  return fail(MPI_ERR_TAG, "argument `%s` is %d, tags are from 0 to %d (MPI_TAG_UB)", argument, tag,
              object::kTagUpperBound);
}

int failed(const char* function, Status status, Communicator* comm, Window* window) {
  if (!window) window = object::blamed_window();
  Communicator* blamed = object::blamed();
  const MPI_File file = object::blamed_file();
  object::blame_nobody();
  if (file != MPI_FILE_NULL) return world::raise_file(function, status, file);
  if (window) return world::raise_window(function, status, *window);
  return world::raise(function, status, comm ? comm : blamed);
}

int failed_session(const char* function, Status status, MPI_Session session) {
  object::blame_nobody();
  return world::raise_session(function, status, session);
}

int failed_file(const char* function, Status status, MPI_File file) {
  object::blame_nobody();
  return world::raise_file(function, status, file);
}

int null_name(const char* text, char* name, int* length) {
  *length = std::snprintf(name, MPI_MAX_OBJECT_NAME, "%s", text);
  return MPI_SUCCESS;
}

}  // namespace vicinity::door
