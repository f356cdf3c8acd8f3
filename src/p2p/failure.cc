// SPDX-License-Identifier: BSD-3-Clause
// What the loss of a process means for transfers (docs/design/fault-tolerance.md).
//
// A transfer with one named process fails with that process. A receive from any source is suspended: the
// completion functions say MPIX_ERR_PROC_FAILED_PENDING, but it stays posted, and goes on when all failures
// have been acknowledged or when a message comes for it. What the library itself sends and receives among all
// members, in collectives and constructions, ends as soon as any member is lost: who left such a call early,
// because of the loss, sends nothing more to those who wait for it.
#include <mpi-ext.h>

#include <algorithm>

#include "p2p/completion.h"
#include "p2p/engine.h"

namespace vicinity::p2p {
namespace {

// Constructions among some of the members (MPI_Comm_create_group) have tags above the user's.
bool among_all(Lane lane, int tag) {
  return lane == Lane::kCollective || (lane == Lane::kControl && tag <= object::kTagUpperBound);
}

Lane lane_of(const Transfer& t) { return static_cast<Lane>(t.context - t.comm->context); }

// Only what the peer has not matched yet: the rest ends by itself, or with the peer.
void interrupt_send(Transfer& send, int error) {
  send.doom = error;
  if (send.peer != peer::self()) static_cast<void>(cancel_send(send));
}

}  // namespace

int obstacle(Transfer& t) {
  if (t.comm->revoked) return MPIX_ERR_REVOKED;
  if (t.peer != kAnyProc && engine().is_lost(t.peer)) {
    t.from = t.peer;
    return MPI_ERR_PROC_ABORTED;
  }
  if (!among_all(lane_of(t), t.tag)) return MPI_SUCCESS;
  const std::vector<Proc> gone = engine().failed(*t.comm);
  if (gone.empty()) return MPI_SUCCESS;
  t.from = gone[0];
  return MPI_ERR_PROC_ABORTED;
}

bool unacknowledged(const Communicator& comm) {
  const std::vector<Proc> gone = engine().failed(comm);
  const size_t known = comm.p2p ? comm.p2p->acknowledged : 0;
  return std::any_of(gone.begin() + static_cast<std::ptrdiff_t>(std::min(known, gone.size())), gone.end(),
                     [&](Proc proc) { return comm.peers().rank_of(proc) != MPI_UNDEFINED; });
}

void suspend_posted(Transfer& receive) {
  if (receive.done) {  // a part of another request, which has no such state
    engine().contexts.of(receive.context).unpost(&receive);
    return complete(receive, MPI_ERR_PROC_ABORTED);
  }
  receive.error = MPIX_ERR_PROC_FAILED_PENDING;
  receive.complete = true;
}

bool is_suspended(const object::Request& request) {
  return request.ops == &kReceiveOps && request.complete && request.error == MPIX_ERR_PROC_FAILED_PENDING;
}

void interrupt(Communicator& comm, Lane lane, int error) {
  const uint32_t wire = comm.wire_context(lane);
  Context& context = engine().contexts.of(wire);
  const bool all = error == MPIX_ERR_REVOKED;
  context.each_posted_at_all([&](Transfer* receive) {
    if (!all && !among_all(lane, receive->tag)) return;
    context.unpost(receive);
    receive->from = receive->peer;
    complete(*receive, error);
  });
  engine().ids.each([&](object::Request* request, Role role) {
    if (role != Role::kSend) return;
    Transfer& send = static_cast<Transfer&>(*request);
    if (send.context == wire && (all || among_all(lane, send.tag))) interrupt_send(send, error);
  });
}

void member_lost(Proc proc) {
  std::vector<Communicator*> touched;
  for (const auto& [context, comm] : engine().communicators)
    if (comm->has_member(proc)) touched.push_back(object::retain(comm));
  for (Communicator* comm : touched) {
    interrupt(*comm, Lane::kCollective, MPI_ERR_PROC_ABORTED);
    interrupt(*comm, Lane::kControl, MPI_ERR_PROC_ABORTED);
    object::release(comm);
  }
}

std::vector<Proc> failed(const Communicator& comm) { return engine().failed(comm); }

int acknowledged(const Communicator& comm) { return comm.p2p ? static_cast<int>(comm.p2p->acknowledged) : 0; }

int acknowledge(Communicator& comm, int count) {
  CommState& s = state(comm);
  s.acknowledged = std::max(s.acknowledged, std::min(static_cast<size_t>(count), failed(comm).size()));
  if (unacknowledged(comm)) return acknowledged(comm);
  context_of(comm, Lane::kUser).each_posted(kAnyProc, [](Transfer* receive) {
    if (!is_suspended(*receive)) return;
    receive->complete = false;
    receive->error = MPI_SUCCESS;
  });
  return acknowledged(comm);
}

}  // namespace vicinity::p2p
