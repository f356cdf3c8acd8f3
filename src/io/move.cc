// SPDX-License-Identifier: BSD-3-Clause
// Where an access begins, what it does to the pointers, and how its result reaches the user.
#include "io/move.h"

#include <cstring>
#include <vector>

#include "coll/coll.h"
#include "object/datatype_create.h"
#include "object/pool.h"

namespace vicinity::io {
namespace {

struct Done : object::Request {};

}  // namespace
}  // namespace vicinity::io

template <>
struct vicinity::object::HandleTraits<vicinity::io::Done> {
  using Handle = MPI_Request;
  static constexpr Kind kKind = Kind::kRequest;
};

namespace vicinity::io {
namespace {

const object::RequestOps kDoneOps{nullptr, nullptr, nullptr, [](object::Request& request) {
                                    object::destroy(static_cast<Done*>(&request));
                                  }};

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
  if (file_bytes(file, buffer) % file.view.etype_bytes != 0)
    return fail(MPI_ERR_IO, "%lld bytes are no whole number of etypes, which have %lld bytes",
                (long long)file_bytes(file, buffer), (long long)file.view.etype_bytes);
  if (file.fd < 0) return fail(MPI_ERR_FILE, "the file is closed");
  return kOk;
}

// Collective: the processes' parts follow each other in the order of ranks from the shared pointer on.
Status ordered_start(File& file, int64_t bytes, int64_t* stream) {
  Communicator& comm = *file.comm;
  std::vector<int64_t> parts(static_cast<size_t>(comm.size()));
  Datatype& number = object::builtin(MPI_INT64_T);
  VICINITY_TRY(coll::allgather(&bytes, 1, number, parts.data(), 1, number, comm));
  int64_t all = 0, before = 0;
  for (size_t rank = 0; rank < parts.size(); ++rank) {
    if (static_cast<int>(rank) < comm.rank) before += parts[rank];
    all += parts[rank];
  }
  int64_t shared[2] = {0, 0};
  if (comm.rank == 0) shared[1] = file.shared.fetch_add(all, &shared[0]).code();
  VICINITY_TRY(coll::bcast(shared, 2, number, 0, comm));
  if (shared[1] != 0) return fail(static_cast<int>(shared[1]), "the shared file pointer cannot be moved");
  *stream = shared[0] + before;
  return kOk;
}

Status start_of(File& file, const Access& access, int64_t* stream) {
  const int64_t bytes = file_bytes(file, access.buffer);
  switch (access.pointer) {
    case Pointer::kExplicit:
      if (__builtin_mul_overflow(access.offset, file.view.etype_bytes, stream))
        return fail(MPI_ERR_ARG, "argument `offset` is %lld, which is too far", (long long)access.offset);
      return kOk;
    case Pointer::kIndividual:
      *stream = file.position;
      return kOk;
    case Pointer::kShared:
      return file.shared.fetch_add(bytes, stream);
    case Pointer::kOrdered:
      return ordered_start(file, bytes, stream);
  }
  return kOk;
}

int64_t memory_bytes(const File& file, const Buffer& buffer, int64_t in_file) {
  if (!file.view.external) return in_file;
  const int64_t one = object::external_bytes(*buffer.type);
  return one > 0 ? in_file / one * buffer.type->size : 0;
}

void fill(MPI_Status* status, int64_t bytes) {
  if (!status) return;
  const int error = status->MPI_ERROR;  // MPI_SUCCESS is told by the result (3.2.5)
  *status = object::empty_status();
  status->MPI_ERROR = error;
  object::set_bytes(*status, bytes);
}

}  // namespace

Status perform(const Access& access, int64_t* moved) {
  auto found = file_of(access.fh);
  VICINITY_TRY(found.status());
  File& file = **found;
  *moved = 0;
  VICINITY_TRY(check(file, access));
  int64_t stream = 0, done = 0;
  VICINITY_TRY(start_of(file, access, &stream));
  const Status status = access.writing ? write_at(file, stream, access.buffer, &done)
                                       : read_at(file, stream, access.buffer, &done);
  if (access.pointer == Pointer::kIndividual) file.position += done;
  *moved = memory_bytes(file, access.buffer, done);
  return status;
}

Status blocking(const Access& access, MPI_Status* status) {
  int64_t moved = 0;
  const Status result = perform(access, &moved);
  fill(status, moved);
  return result;
}

Status nonblocking(const Access& access, MPI_Request* request) {
  int64_t moved = 0;
  VICINITY_TRY(perform(access, &moved));
  Done* done = object::make<Done>();
  if (!done) return fail(MPI_ERR_NO_MEM, "no memory for one more request");
  done->ops = &kDoneOps;
  done->status = object::empty_status();
  object::set_bytes(done->status, moved);
  done->complete = true;
  *request = object::handle_of<object::Request>(*done);
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
