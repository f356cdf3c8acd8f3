// SPDX-License-Identifier: BSD-3-Clause
// What coll/ asks while it waits: what nobody has received, and whether all members are there.
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
  const Proc gone = engine().lost_member(comm);
  if (gone == kAnyProc) [[likely]]
    return object::kOk;
  return object::fail(MPI_ERR_PROC_ABORTED, "rank %d failed: process %u is gone (%s)",
                      comm.peers().rank_of(gone), gone, engine().lost_reason(gone));
}

}  // namespace vicinity::p2p
