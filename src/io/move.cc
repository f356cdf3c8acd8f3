// SPDX-License-Identifier: BSD-3-Clause
// Where an access begins, what it does to the pointers, and how its result reaches the user.
#include "io/move.h"

#include <cstring>
#include <vector>

#include "coll/coll.h"
#include "io/background.h"
#include "io/collective.h"

namespace vicinity::io {
namespace {

Status check(const File& file, const Access& access) {
  const Buffer& buffer = access.buffer;
  if (buffer.count < 0)
    return fail(MPI_ERR_COUNT, "argument `count` is %lld, it must not be negative", (long long)buffer.count);
  if (!buffer.type->committed) return fail(MPI_ERR_TYPE, "argument `datatype` has not been committed");
  if (access.writing && (file.amode & MPI_MODE_RDONLY))
    return fail(MPI_ERR_READ_ONLY, "this file was opened with MPI_MODE_RDONLY");
  if (!access.writing && (file.amode & MPI_MODE_WRONLY))
    return fail(MPI_ERR_ACCESS, "this file was opened with MPI_MODE_WRONLY");
  const bool together = access.pointer == Pointer::kShared || access.pointer == Pointer::kOrdered;
  if (!together && (file.amode & MPI_MODE_SEQUENTIAL))
    return fail(MPI_ERR_UNSUPPORTED_OPERATION, "this file was opened with MPI_MODE_SEQUENTIAL");
  if (access.pointer == Pointer::kExplicit && access.offset < 0)
    return fail(MPI_ERR_ARG, "argument `offset` is %lld, it must not be negative", (long long)access.offset);
  int64_t bytes = 0;
  VICINITY_TRY(Staging::measure(file.view, access.writing, buffer, &bytes));
  if (bytes % file.view.etype_bytes == 0) return kOk;
  return fail(MPI_ERR_IO, "%lld bytes are no whole number of etypes, which have %lld bytes", (long long)bytes,
              (long long)file.view.etype_bytes);
}

// Collective: the processes' parts follow each other in the order of ranks from the shared pointer on. A
// process that has failed already takes part with nothing.
Status ordered_start(File& file, Status own, int64_t bytes, int64_t* stream) {
  Communicator& comm = *file.comm;
  std::vector<int64_t> parts(static_cast<size_t>(comm.size()));
  Datatype& number = object::builtin(MPI_INT64_T);
  if (!own.ok()) bytes = 0;
  VICINITY_TRY(coll::allgather(&bytes, 1, number, parts.data(), 1, number, comm));
  int64_t all = 0, before = 0;
  for (size_t rank = 0; rank < parts.size(); ++rank) {
    if (static_cast<int>(rank) < comm.rank) before += parts[rank];
    all += parts[rank];
  }
  int64_t shared[2] = {0, 0};
  Status moved = kOk;
  if (comm.rank == 0) shared[1] = (moved = file.shared.fetch_add(all, &shared[0])).code();
  VICINITY_TRY(coll::bcast(shared, 2, number, 0, comm));
  VICINITY_TRY(own);
  VICINITY_TRY(moved);
  if (shared[1] != 0) return fail(static_cast<int>(shared[1]), "rank 0 cannot move the shared file pointer");
  *stream = shared[0] + before;
  return kOk;
}

Status start_of(File& file, const Access& access, Status own, int64_t bytes, int64_t* stream) {
  if (access.pointer == Pointer::kOrdered) return ordered_start(file, own, bytes, stream);
  VICINITY_TRY(own);
  switch (access.pointer) {
    case Pointer::kExplicit:
      if (__builtin_mul_overflow(access.offset, file.view.etype_bytes, stream))
        return fail(MPI_ERR_ARG, "argument `offset` is %lld, which is too far", (long long)access.offset);
      return kOk;
    case Pointer::kShared:
      return file.shared.fetch_add(bytes, stream);
    default:
      *stream = file.position;
      return kOk;
  }
}

void fill(MPI_Status* status, int64_t bytes) {
  if (!status) return;
  const int error = status->MPI_ERROR;  // MPI_SUCCESS is told by the result (3.2.5)
  *status = object::empty_status();
  status->MPI_ERROR = error;
  object::set_bytes(*status, bytes);
}

// Checks the access, makes its bytes ready and finds its place.
Status prepare(File& file, const Access& access, Staging* staging, int64_t* stream) {
  Status status = check(file, access);
  if (status.ok()) status = staging->open(file.view, access.writing, access.buffer);
  return start_of(file, access, status, staging->bytes(), stream);
}

// Does it, and tells how many bytes of the user's buffer were moved.
Status perform(const Access& access, int64_t* moved) {
  auto found = file_of(access.fh);
  VICINITY_TRY(found.status());
  File& file = **found;
  Staging staging;
  int64_t stream = 0, done = 0;
  *moved = 0;
  Status status = prepare(file, access, &staging, &stream);
  if (access.collective && may_buffer(file, access.writing)) {
    status = move_together(file, access.writing, status, stream, staging.raw(), &done);
  } else if (status.ok()) {
    status = move_bytes(file.place(), access.writing, stream, staging.raw(), &done);
  }
  if (access.pointer == Pointer::kIndividual) file.position += done;
  const Status closed = staging.close(file.view, done, moved);
  return status.ok() ? closed : status;
}

}  // namespace

Status blocking(const Access& access, MPI_Status* status) {
  int64_t moved = 0;
  const Status result = perform(access, &moved);
  fill(status, moved);
  return result;
}

Status nonblocking(const Access& access, MPI_Request* request) {
  auto found = file_of(access.fh);
  VICINITY_TRY(found.status());
  File& file = **found;
  Operation* operation = make_operation(file, access.writing, *access.buffer.type, access.collective);
  if (!operation) return fail(MPI_ERR_NO_MEM, "no memory for one more request");
  Status status = prepare(file, access, &operation->staging, &operation->stream);
  // The pointer moves by what was asked for, whatever will come of it (14.4.1).
  if (status.ok() && access.pointer == Pointer::kIndividual) file.position += operation->staging.bytes();
  if (status.ok()) status = launch(*operation);
  if (!status.ok()) {
    abandon(*operation);
    return status;
  }
  *request = object::handle_of<object::Request>(*operation);
  return kOk;
}

Status begin(const Access& access, const char* name) {
  auto file = file_of(access.fh);
  VICINITY_TRY(file.status());
  Split& split = (*file)->split;
  if (split.begun) return fail(MPI_ERR_OTHER, "%s is still under way on this file", split.begun);
  VICINITY_TRY(perform(access, &split.bytes));
  split.begun = name;
  split.buffer = access.buffer.address;
  return kOk;
}

Status end(MPI_File fh, const char* begun_by, const void* buffer, MPI_Status* status) {
  auto file = file_of(fh);
  VICINITY_TRY(file.status());
  Split& split = (*file)->split;
  if (!split.begun || strcmp(split.begun, begun_by) != 0)
    return fail(MPI_ERR_OTHER, "no %s is under way on this file", begun_by);
  if (split.buffer != buffer)
    return fail(MPI_ERR_BUFFER, "argument `buf` is not the buffer that %s was given", begun_by);
  fill(status, split.bytes);
  split = Split();
  return kOk;
}

}  // namespace vicinity::io
