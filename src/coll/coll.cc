// SPDX-License-Identifier: BSD-3-Clause
// Calls: state per communicator, schedules run to their end, and the collectives that world/ uses.
#include "coll/coll.h"

#include "base/clock.h"
#include "base/progress.h"
#include "coll/build.h"
#include "coll/claim.h"
#include "coll/engine.h"
#include "coll/mismatch.h"
#include "coll/request.h"
#include "coll/state.h"
#include "coll/transport.h"

namespace vicinity::coll {

CommState& state_of(Communicator& comm) {
  if (!comm.coll) comm.coll = new CommState;
  return *comm.coll;
}

namespace {

// The tag of the next call. The board tells the others about it, unless it is persistent: then nobody knows
// when it is under way.
int next_tag(Communicator& comm, Kind kind, uint32_t agreed, Form form) {
  CommState& state = state_of(comm);
  const uint32_t number = form == Form::kPersistent ? state.persistent_sequence++ : state.sequence++;
  const int tag = make_tag(kind, agreed, number, form);
  if (state.direct && form != Form::kPersistent)
    state.direct->note(number, static_cast<uint32_t>(tag), false);
  return tag;
}

constexpr int kLooksBeforeNotice = 10;

// Runs the schedule on until it is over. Now and then it asks whether waiting makes sense.
class Patient {
 public:
  Patient(Schedule& schedule, Transport& transport, const Direct* direct)
      : schedule_(schedule), transport_(transport), direct_(direct) {}
  bool operator()() {
    if (Engine<Transport>::advance(schedule_, transport_)) return true;
    if (++polls_ % 64 != 0) return false;
    const int64_t now = base::now_ns();
    if (look_at_ns_ == 0) look_at_ns_ = now + patience_ns();
    if (now < look_at_ns_) return false;
    look_at_ns_ = now + patience_ns();
    Status status = transport_.suspect(schedule_);
    if (direct_ && status.ok()) status = direct_->suspect_all(static_cast<uint32_t>(schedule_.tag[0]));
    if (++looks_ == kLooksBeforeNotice) transport_.notify(schedule_);
    if (!status.ok()) Engine<Transport>::give_up(schedule_, transport_, status);
    return !status.ok();
  }

 private:
  Schedule& schedule_;
  Transport& transport_;
  const Direct* direct_;  // its members tell more
  uint32_t polls_ = 0;
  int looks_ = 0;
  int64_t look_at_ns_ = 0;
};

}  // namespace

Call::Call(const How& how, Communicator& comm, Kind kind, int root, const Op* op)
    : how_(how),
      comm_(comm),
      schedule_(take_schedule()),
      plan_(*schedule_, comm.rank, comm.size(), comm.inter() ? nullptr : division_of(comm)) {
  if (comm.inter()) plan_.others = comm.remote->size();
  schedule_->kind = kind;
  schedule_->form = how.form;
  schedule_->op = op;
  if (!comm.inter()) {
    schedule_->tag[0] = next_tag(comm, kind, agreement(root, op), how.form);
    return;
  }
  // The two sides name the root differently, so the tags leave it out.
  const uint32_t agreed = agreement(kNoRoot, op);
  schedule_->tag[0] = next_tag(*comm.local, kind, agreed, how.form);
  schedule_->tag[1] = next_tag(comm, kind, agreed, how.form);
}

Call::Call(Communicator& comm, Kind kind, int tag)
    : comm_(comm), schedule_(take_schedule()), plan_(*schedule_, comm.rank, comm.size()) {
  schedule_->kind = kind;
  schedule_->tag[0] = tag;
}

Status Call::run() {
  if (how_.form == Form::kBlocking) return run_to_end();
  Schedule* schedule = schedule_;
  schedule_ = nullptr;
  return make_request(comm_, schedule, how_.request);
}

Status Call::run_to_end() {
  Transport transport(comm_);
  if (!Engine<Transport>::advance(*schedule_, transport)) {
    base::wait_until(Patient(*schedule_, transport, comm_.coll->direct));
  }
  if (transport.lingers()) schedule_->temporaries.clear();  // still in use; given up for lost
  return schedule_->status;
}

Status barrier(Communicator& comm) {
  Call call({}, comm, Kind::kBarrier);
  build_barrier(call.plan());
  return call.run();
}

Status bcast(void* buf, MPI_Count count, Datatype& type, int root, Communicator& comm) {
  Call call({}, comm, Kind::kBcast, root);
  build_bcast(call.plan(), Typed{buf, count, &type}, root);
  return call.run();
}

Status allgather(const void* send, MPI_Count sendcount, Datatype& sendtype, void* recv, MPI_Count recvcount,
                 Datatype& recvtype, Communicator& comm) {
  Call call({}, comm, Kind::kAllgather);
  const Blocks all(recv, recvcount, recvtype);
  const Typed mine =
      send == MPI_IN_PLACE ? all[comm.rank] : Typed{const_cast<void*>(send), sendcount, &sendtype};
  build_allgather(call.plan(), mine, all);
  return call.run();
}

Status allreduce(const void* send, void* recv, MPI_Count count, Datatype& type, const Op& op,
                 Communicator& comm) {
  Call call({}, comm, Kind::kAllreduce, kNoRoot, &op);
  build_allreduce(call.plan(),
                  Reduction{send == MPI_IN_PLACE ? recv : send, recv, count, &type, op.commutative});
  return call.run();
}

void forget(Communicator& comm) {
  if (comm.coll) release_board(*comm.coll);
  delete comm.coll;
  comm.coll = nullptr;
}

}  // namespace vicinity::coll
