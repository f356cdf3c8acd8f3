// SPDX-License-Identifier: BSD-3-Clause
// Checks of the arguments of collective calls (MPI 5.0, chapter 6) and their resolved forms.
//
// Doors pass datatypes as handles and counts as they are, because many arguments mean something only at
// the root or without MPI_IN_PLACE; each entry calls these for the arguments that do.
#pragma once

#include "coll/blocks.h"
#include "object/communicator.h"

namespace vicinity::coll {

using object::Communicator;
using object::Result;

// The names of a buffer's arguments, for messages.
struct Names {
  const char* buffer;
  const char* count;
  const char* type;
  const char* displs = nullptr;
};
inline constexpr Names kSendNames{"sendbuf", "sendcount", "sendtype"};
inline constexpr Names kRecvNames{"recvbuf", "recvcount", "recvtype"};
inline constexpr Names kSendNamesV{"sendbuf", "sendcounts", "sendtype", "displs"};
inline constexpr Names kRecvNamesV{"recvbuf", "recvcounts", "recvtype", "displs"};
inline constexpr Names kSendNamesAll{"sendbuf", "sendcounts", "sendtype", "sdispls"};
inline constexpr Names kRecvNamesAll{"recvbuf", "recvcounts", "recvtype", "rdispls"};
inline constexpr Names kSendNamesW{"sendbuf", "sendcounts", "sendtypes", "sdispls"};
inline constexpr Names kRecvNamesW{"recvbuf", "recvcounts", "recvtypes", "rdispls"};

// (MPI 5.0, 6.2.3) A rank of the group, or for an intercommunicator one of the remote group, MPI_ROOT
// or MPI_PROC_NULL.
Status check_root(const Communicator& comm, int root);

// One buffer; MPI_IN_PLACE is not allowed.
Result<Typed> one_buffer(const void* buffer, MPI_Count count, MPI_Datatype type, const Names& names);
// One block of `count` elements per rank.
Result<Blocks> equal_blocks(const void* buffer, MPI_Count count, MPI_Datatype type, int ranks,
                            const Names& names);
// Blocks with counts and displacements in elements, and of alltoallw with types and displacements in bytes.
Result<Blocks> varied_blocks(const void* buffer, CountArray counts, CountArray displs, MPI_Datatype type,
                             int ranks, const Names& names);
Result<Blocks> mixed_blocks(const void* buffer, CountArray counts, CountArray displs,
                            const MPI_Datatype* types, int ranks, const Names& names);

// What a rank sends to itself must not already be there, and must be what it expects from itself. The first
// mistake is seen before the call begins; the second is found while it runs, as with any other rank's data,
// so the rank takes part in the call.
Status check_alias(const Typed& sent, const Typed& received);
Status check_own(const Typed& sent, const Typed& received);

// Buffers, count, type and operation of a reduction. `in_place_allowed`: on intracommunicators.
// Where `send` is MPI_IN_PLACE the result has send == recv.
struct ReductionArguments {
  const void* send;
  void* recv;
  MPI_Count count;
  MPI_Datatype type;
  const Op* op;
  const char* count_name = "count";
};
Result<Datatype*> check_reduction(const ReductionArguments& a);
Status check_reduction_buffers(const ReductionArguments& a, const Datatype& type, const Communicator& comm);

}  // namespace vicinity::coll
