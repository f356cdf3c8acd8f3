// SPDX-License-Identifier: BSD-3-Clause
// What coll/ asks while it waits: what nobody has received, and whether all members are there.
#include <mpi-ext.h>

#include "p2p/engine.h"
#include "p2p/p2p.h"

namespace vicinity::p2p {

bool peek(int source, Communicator& comm, Lane lane, int* tag, bool (*skip)(const void*, int),
          const void* context) {
  const Arrival* arrival = context_of(comm, lane).find_unexpected_if(comm.proc(source), [&](int32_t t) {
    return !skip || !skip(context, t);
  });
  if (arrival) *tag = arrival->envelope.tag;
  return arrival != nullptr;
}

Status all_alive(const Communicator& comm) {
  if (!engine().troubled) [[likely]]
    return object::kOk;
  if (comm.revoked) return object::fail(MPIX_ERR_REVOKED, "the communicator has been revoked");
  const Proc gone = engine().lost_member(comm);
  if (gone == kAnyProc) return object::kOk;
  const int rank = comm.peers().rank_of(gone);
  const char* why = engine().lost_reason(gone);
  if (rank == MPI_UNDEFINED)
    return object::fail(MPI_ERR_PROC_ABORTED,
                        "a member of an intercommunicator failed: process %u is gone (%s)", gone, why);
  return object::fail(MPI_ERR_PROC_ABORTED, "rank %d failed: process %u is gone (%s)", rank, gone, why);
}

Status all_alive(const Communicator& comm, const std::vector<int>& ranks) {
  if (!engine().troubled) [[likely]]
    return object::kOk;
  if (ranks.empty()) return all_alive(comm);
  if (comm.revoked) return object::fail(MPIX_ERR_REVOKED, "the communicator has been revoked");
  for (int rank : ranks)
    if (const char* why = engine().lost_reason(comm.proc(rank)))
      return object::fail(MPI_ERR_PROC_ABORTED, "rank %d failed: process %u is gone (%s)", rank,
                          comm.proc(rank), why);
  return object::kOk;
}

}  // namespace vicinity::p2p
