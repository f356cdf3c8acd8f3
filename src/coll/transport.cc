// SPDX-License-Identifier: BSD-3-Clause
// Steps to point-to-point calls and back.
#include "coll/transport.h"

#include <mpi-ext.h>

#include "coll/mismatch.h"
#include "coll/request.h"
#include "p2p/p2p.h"

namespace vicinity::coll {

using object::Communicator;
using object::Lane;
using object::Request;

Status Transport::isend(const Step& step, int tag, void** ticket) {
  Request* request = nullptr;
  VICINITY_TRY(p2p::isend(step.from.at, step.from.count, *step.from.type, step.peer, tag, of(step.side),
                          Lane::kCollective, p2p::Mode::kStandard, &request));
  if (request->complete) {  // small: already on its way
    *ticket = nullptr;
    return p2p::finish(request);
  }
  *ticket = request;
  return object::kOk;
}

Status Transport::irecv(const Step& step, int tag, void** ticket) {
  Request* request = nullptr;
  VICINITY_TRY(p2p::irecv(step.to.at, step.to.count, *step.to.type, step.peer, tag, of(step.side),
                          Lane::kCollective, &request));
  *ticket = request;
  return object::kOk;
}

Status Transport::finish(void* ticket, uint64_t* bytes) {
  MPI_Status status = object::empty_status();
  const Status result = p2p::finish(static_cast<Request*>(ticket), &status);
  *bytes = static_cast<uint64_t>(object::get_bytes(status));
  return result;
}

bool Transport::all_learn(object::Status failure) const {
  return failure.code() == MPI_ERR_PROC_ABORTED || failure.code() == MPIX_ERR_REVOKED;
}

void Transport::abandon(void* ticket, const Step&) {
  auto* request = static_cast<Request*>(ticket);
  // What cannot be cancelled, such as a message that is being transferred now, ends by itself.
  if (!request->complete && request->ops->cancel) (void)request->ops->cancel(*request);
  if (!p2p::let_go(request)) lingers_ = true;
}

namespace {

constexpr int kMostNotices = 64;

template <class Visit>
void each_awaited(const Schedule& schedule, Visit&& visit) {
  for (size_t i = schedule.oldest; i < schedule.next; ++i) {
    const Step& step = schedule.steps[i];
    if (step.what == Step::What::kRecv && step.pending) visit(step);
  }
}

}  // namespace

// Takes the notices out of the way of the messages behind them.
Status Transport::read_notices(const Schedule& schedule, Side side) {
  Communicator& comm = of(side);
  Status status;
  for (int peer = 0; peer < comm.peers().size(); ++peer) {
    int tag = 0;
    while (p2p::peek(peer, comm, Lane::kCollective, &tag) && is_notice(tag)) {
      VICINITY_TRY(p2p::recv(nullptr, 0, object::builtin(MPI_BYTE), peer, tag, comm, Lane::kCollective));
      const Status verdict = judge_notice(schedule, side, peer, schedule.tag[static_cast<size_t>(side)], tag);
      if (status.ok()) status = verdict;
    }
  }
  return status;
}

namespace {

// A message that proves nothing: it waits for its receive as it should, or it is no data (mismatch.h).
struct Innocent {
  const Communicator& comm;
  const Schedule& schedule;
  Side side;
  static bool is(const void* self, int tag) {
    const auto& [comm, schedule, side] = *static_cast<const Innocent*>(self);
    if (form_of(tag) == Form::kPersistent || is_notice(tag)) return true;
    const uint32_t ours = sequence_of(schedule.tag[static_cast<size_t>(side)]);
    if (sequence_of(tag) == ours) return false;
    return schedule.form == Form::kNonblocking || under_way(comm, side, sequence_of(tag));
  }
};

}  // namespace

Status Transport::suspect(const Schedule& schedule) {
  if (schedule.form == Form::kPersistent) return object::kOk;
  if (schedule.form == Form::kBlocking) {
    VICINITY_TRY(read_notices(schedule, Side::kOwn));
    if (comm_.inter()) VICINITY_TRY(read_notices(schedule, Side::kOther));
  }
  Status status;
  each_awaited(schedule, [&](const Step& step) {
    int stray = 0;
    const Innocent innocent{comm_, schedule, step.side};
    if (!status.ok() || done(step.ticket) ||
        !p2p::peek(step.peer, of(step.side), Lane::kCollective, &stray, &Innocent::is, &innocent))
      return;
    status = judge(schedule, step, schedule.tag[static_cast<size_t>(step.side)], stray);
  });
  return status;
}

void Transport::notify(const Schedule& schedule) {
  int notices = 0;
  each_awaited(schedule, [&](const Step& step) {
    if (done(step.ticket) || ++notices > kMostNotices) return;
    Request* request = nullptr;
    const int tag = schedule.tag[static_cast<size_t>(step.side)] | kNoticeBits;
    if (!p2p::isend(nullptr, 0, object::builtin(MPI_BYTE), step.peer, tag, of(step.side), Lane::kCollective,
                    p2p::Mode::kStandard, &request)
             .ok())
      return;
    p2p::let_go(request);
  });
}

}  // namespace vicinity::coll
