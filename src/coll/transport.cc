// SPDX-License-Identifier: BSD-3-Clause
// Steps to point-to-point calls and back.
#include "coll/transport.h"

#include "coll/mismatch.h"
#include "p2p/p2p.h"

namespace vicinity::coll {

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

void Transport::abandon(void* ticket, const Step&) {
  auto* request = static_cast<Request*>(ticket);
  // What cannot be cancelled, such as a message that is being transferred now, ends by itself.
  if (!request->complete && request->ops->cancel) (void)request->ops->cancel(*request);
  if (request->complete) {
    p2p::discard(request);
    return;
  }
  request->user_freed = true;
  lingers_ = true;
}

Status Transport::suspect(const Schedule& schedule) const {
  for (size_t i = schedule.oldest; i < schedule.next; ++i) {
    const Step& step = schedule.steps[i];
    int stray = 0;
    if (step.what != Step::What::kRecv || !step.pending || done(step.ticket)) continue;
    if (!p2p::peek(step.peer, of(step.side), Lane::kCollective, &stray)) continue;
    VICINITY_TRY(judge(schedule, step, schedule.tag[static_cast<size_t>(step.side)], stray));
  }
  return object::kOk;
}

}  // namespace vicinity::coll
