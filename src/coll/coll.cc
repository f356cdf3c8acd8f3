// SPDX-License-Identifier: BSD-3-Clause
// Calls: state per communicator, schedules run to their end, and the collectives that world/ uses.
#include "coll/coll.h"

#include "base/progress.h"
#include "coll/build.h"
#include "coll/engine.h"
#include "coll/state.h"
#include "coll/transport.h"

namespace vicinity::coll {

namespace {

CommState& state_of(Communicator& comm) {
  if (!comm.coll) comm.coll = new CommState;
  return *comm.coll;
}

}  // namespace

Call::Call(Communicator& comm, Kind kind, int root, const Op* op)
    : comm_(comm), schedule_(take_schedule()), plan_(*schedule_, comm.rank, comm.size()) {
  if (comm.inter()) plan_.others = comm.remote->size();
  schedule_->kind = kind;
  schedule_->op = op;
  const uint32_t sequence = state_of(comm).sequence++;
  // An intercommunicator's sides name the root differently, so its tags leave it out.
  schedule_->tag[0] = schedule_->tag[1] = make_tag(kind, comm.inter() ? kNoRoot : root, sequence);
}

Call::~Call() { give_schedule(schedule_); }

Status Call::run() {
  Transport transport(comm_);
  if (!Engine<Transport>::advance(*schedule_, transport)) {
    base::wait_until([&] { return Engine<Transport>::advance(*schedule_, transport); });
  }
  if (transport.lingers()) schedule_->temporaries.clear();  // still in use; given up for lost
  return schedule_->status;
}

Status barrier(Communicator& comm) {
  Call call(comm, Kind::kBarrier);
  build_barrier(call.plan());
  return call.run();
}

Status bcast(void* buf, MPI_Count count, Datatype& type, int root, Communicator& comm) {
  Call call(comm, Kind::kBcast, root);
  build_bcast(call.plan(), Typed{buf, count, &type}, root);
  return call.run();
}

Status allgather(const void* send, MPI_Count sendcount, Datatype& sendtype, void* recv, MPI_Count recvcount,
                 Datatype& recvtype, Communicator& comm) {
  Call call(comm, Kind::kAllgather);
  const Blocks all(recv, recvcount, recvtype);
  const Typed mine = send == MPI_IN_PLACE ? all[comm.rank] : Typed{const_cast<void*>(send), sendcount, &sendtype};
  build_allgather(call.plan(), mine, all);
  return call.run();
}

Status allreduce(const void* send, void* recv, MPI_Count count, Datatype& type, const Op& op,
                 Communicator& comm) {
  Call call(comm, Kind::kAllreduce, kNoRoot, &op);
  build_allreduce(call.plan(), Reduction{send == MPI_IN_PLACE ? recv : send, recv, count, &type, op.commutative});
  return call.run();
}

void forget(Communicator& comm) {
  delete comm.coll;
  comm.coll = nullptr;
}

}  // namespace vicinity::coll
