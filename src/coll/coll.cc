// SPDX-License-Identifier: BSD-3-Clause
// Calls: state per communicator, schedules run to their end, and the collectives that world/ uses.
#include "coll/coll.h"

#include "base/clock.h"
#include "base/progress.h"
#include "coll/build.h"
#include "coll/engine.h"
#include "coll/request.h"
#include "coll/state.h"
#include "coll/transport.h"

namespace vicinity::coll {

namespace {

uint32_t next_number(Communicator& comm, Form form) {
  if (!comm.coll) comm.coll = new CommState;
  return form == Form::kPersistent ? comm.coll->persistent_sequence++ : comm.coll->sequence++;
}

// What all ranks must have given alike, as a number. Operations that users made have other addresses on
// other ranks.
uint32_t agreement(int root, const Op* op) {
  const auto constant = op && op->predefined() ? static_cast<uint32_t>(op->handle) : 0u;
  return static_cast<uint32_t>(root + 1) * 17 + constant;
}

// How long a call waits before it looks for signs that the ranks called different collectives.
constexpr int64_t kPatience_ns = 50'000'000;
constexpr int kLooksBeforeNotice = 10;

// Runs the schedule on until it is over. Now and then it asks whether waiting makes sense.
class Patient {
 public:
  Patient(Schedule& schedule, Transport& transport) : schedule_(schedule), transport_(transport) {}
  bool operator()() {
    if (Engine<Transport>::advance(schedule_, transport_)) return true;
    if (++polls_ % 64 != 0) return false;
    const int64_t now = base::now_ns();
    if (look_at_ns_ == 0) look_at_ns_ = now + kPatience_ns;
    if (now < look_at_ns_) return false;
    look_at_ns_ = now + kPatience_ns;
    const Status status = transport_.suspect(schedule_);
    if (++looks_ == kLooksBeforeNotice) transport_.notify(schedule_);
    if (!status.ok()) Engine<Transport>::give_up(schedule_, transport_, status);
    return !status.ok();
  }

 private:
  Schedule& schedule_;
  Transport& transport_;
  uint32_t polls_ = 0;
  int looks_ = 0;
  int64_t look_at_ns_ = 0;
};

}  // namespace

Call::Call(const How& how, Communicator& comm, Kind kind, int root, const Op* op)
    : how_(how), comm_(comm), schedule_(take_schedule()), plan_(*schedule_, comm.rank, comm.size()) {
  if (comm.inter()) plan_.others = comm.remote->size();
  schedule_->kind = kind;
  schedule_->form = how.form;
  schedule_->op = op;
  if (!comm.inter()) {
    schedule_->tag[0] = make_tag(kind, agreement(root, op), next_number(comm, how.form), how.form);
    return;
  }
  // The two sides name the root differently, so the tags leave it out.
  const uint32_t agreed = agreement(kNoRoot, op);
  schedule_->tag[0] = make_tag(kind, agreed, next_number(*comm.local, how.form), how.form);
  schedule_->tag[1] = make_tag(kind, agreed, next_number(comm, how.form), how.form);
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
    base::wait_until(Patient(*schedule_, transport));
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
  delete comm.coll;
  comm.coll = nullptr;
}

}  // namespace vicinity::coll
