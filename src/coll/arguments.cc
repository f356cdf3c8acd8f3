// SPDX-License-Identifier: BSD-3-Clause
// Argument checks: each failure names the argument, its value and what is allowed.
#include "coll/arguments.h"

#include "object/error.h"

namespace vicinity::coll {

using object::fail;

namespace {

long long number(MPI_Count count) { return static_cast<long long>(count); }

Status check_count(MPI_Count count, const char* name) {
  if (count >= 0) return object::kOk;
  return fail(MPI_ERR_COUNT, "argument `%s` is %lld; a count is not negative", name, number(count));
}

// A null pointer is MPI_BOTTOM, which only derived types with absolute addresses can use.
Status check_buffer(const void* buffer, bool any_bytes, const Datatype& type, const char* name) {
  if (buffer == MPI_IN_PLACE)
    return fail(MPI_ERR_BUFFER, "argument `%s` is MPI_IN_PLACE, which is not allowed there", name);
  if (buffer == nullptr && any_bytes && type.predefined())
    return fail(MPI_ERR_BUFFER, "argument `%s` is a null pointer, but data is expected there", name);
  return object::kOk;
}

Status check_arrays(CountArray counts, CountArray displs, int ranks, const Names& names) {
  if (ranks > 0 && !counts) return fail(MPI_ERR_ARG, "argument `%s` is a null pointer", names.count);
  if (ranks > 0 && !displs) return fail(MPI_ERR_ARG, "argument `%s` is a null pointer", names.displs);
  for (int i = 0; i < ranks; ++i) {
    const MPI_Count count = counts[static_cast<size_t>(i)];
    if (count < 0)
      return fail(MPI_ERR_COUNT, "`%s[%d]` is %lld; a count is not negative", names.count, i, number(count));
  }
  return object::kOk;
}

}  // namespace

Status check_root(const Communicator& comm, int root) {
  if (root >= 0 && root < comm.peers().size()) return object::kOk;
  if (!comm.inter())
    return fail(MPI_ERR_ROOT, "argument `root` is %d; the communicator has ranks 0 to %d", root,
                comm.size() - 1);
  if (root == MPI_ROOT || root == MPI_PROC_NULL) return object::kOk;
  return fail(MPI_ERR_ROOT,
              "argument `root` is %d; on this intercommunicator it is MPI_ROOT, MPI_PROC_NULL or a rank of "
              "the remote group (0 to %d)",
              root, comm.peers().size() - 1);
}

Result<Typed> one_buffer(const void* buffer, MPI_Count count, MPI_Datatype handle, const Names& names) {
  VICINITY_TRY(check_count(count, names.count));
  Result<Datatype*> type = object::committed(handle, names.type);
  if (!type.ok()) return type.status();
  VICINITY_TRY(check_buffer(buffer, count > 0 && (*type)->size > 0, **type, names.buffer));
  return Typed{const_cast<void*>(buffer), count, *type};
}

Result<Blocks> equal_blocks(const void* buffer, MPI_Count count, MPI_Datatype handle, int ranks,
                            const Names& names) {
  Result<Typed> first = one_buffer(buffer, count, handle, names);
  if (!first.ok()) return first.status();
  MPI_Count elements = 0, bytes = 0;
  if (__builtin_mul_overflow(count, ranks, &elements) ||
      __builtin_mul_overflow(elements, first->type->size, &bytes))
    return fail(MPI_ERR_COUNT, "argument `%s` is %lld: %d blocks of it have more bytes than can be counted",
                names.count, number(count), ranks);
  return Blocks(first->at, count, *first->type);
}

Result<Blocks> varied_blocks(const void* buffer, CountArray counts, CountArray displs, MPI_Datatype handle,
                             int ranks, const Names& names) {
  VICINITY_TRY(check_arrays(counts, displs, ranks, names));
  Result<Datatype*> type = object::committed(handle, names.type);
  if (!type.ok()) return type.status();
  bool any = false;
  for (int i = 0; i < ranks && !any; ++i) any = counts[static_cast<size_t>(i)] > 0;
  VICINITY_TRY(check_buffer(buffer, any && (*type)->size > 0, **type, names.buffer));
  return Blocks(const_cast<void*>(buffer), counts, displs, **type);
}

Result<Blocks> mixed_blocks(const void* buffer, CountArray counts, CountArray displs,
                            const MPI_Datatype* types, int ranks, const Names& names) {
  VICINITY_TRY(check_arrays(counts, displs, ranks, names));
  if (ranks > 0 && !types) return fail(MPI_ERR_ARG, "argument `%s` is a null pointer", names.type);
  for (int i = 0; i < ranks; ++i) {
    const auto index = static_cast<size_t>(i);
    if (counts[index] == 0) continue;  // such a block is never looked at
    Result<Datatype*> type = object::committed(types[i], names.type);
    if (!type.ok()) return type.status();
    VICINITY_TRY(check_buffer(buffer, displs[index] == 0 && (*type)->size > 0, **type, names.buffer));
  }
  return Blocks(const_cast<void*>(buffer), counts, displs, types);
}

Status check_alias(const Typed& sent, const Typed& received) {
  if (sent.at != received.at || sent.at == MPI_BOTTOM || sent.bytes() == 0) return object::kOk;
  return fail(
      MPI_ERR_BUFFER,
      "send and receive buffer overlap: this rank's block is at the same address in both; use MPI_IN_PLACE");
}

Status check_own(const Typed& sent, const Typed& received) {
  if (sent.bytes() == received.bytes()) return object::kOk;
  return fail(sent.bytes() > received.bytes() ? MPI_ERR_TRUNCATE : MPI_ERR_COUNT,
              "this rank sends %llu bytes to itself but expects %llu from itself",
              static_cast<unsigned long long>(sent.bytes()),
              static_cast<unsigned long long>(received.bytes()));
}

Result<Datatype*> check_reduction(const ReductionArguments& a) {
  VICINITY_TRY(check_count(a.count, a.count_name));
  Result<Datatype*> type = object::committed(a.type, "datatype");
  if (type.ok()) VICINITY_TRY(object::check_op(*a.op, **type));
  return type;
}

Status check_reduction_buffers(const ReductionArguments& a, const Datatype& type, const Communicator& comm) {
  const bool any = a.count > 0 && type.size > 0;
  if (a.send != MPI_IN_PLACE || comm.inter()) VICINITY_TRY(check_buffer(a.send, any, type, "sendbuf"));
  VICINITY_TRY(check_buffer(a.recv, any, type, "recvbuf"));
  if (any && a.send == a.recv && a.send != MPI_BOTTOM)
    return fail(MPI_ERR_BUFFER, "arguments `sendbuf` and `recvbuf` are the same address; use MPI_IN_PLACE");
  return object::kOk;
}

}  // namespace vicinity::coll
