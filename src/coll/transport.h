// SPDX-License-Identifier: BSD-3-Clause
// The engine's transport in the library: point-to-point messages on the collective lane. On an
// intercommunicator a rank of our own side is reached through its local intracommunicator.
#pragma once

#include "coll/schedule.h"
#include "object/communicator.h"
#include "object/request.h"

namespace vicinity::coll {

class Transport {
 public:
  explicit Transport(object::Communicator& comm) : comm_(comm) {}
  Status isend(const Step& step, int tag, void** ticket);
  Status irecv(const Step& step, int tag, void** ticket);
  bool done(void* ticket) const { return static_cast<object::Request*>(ticket)->complete; }
  Status finish(void* ticket, uint64_t* bytes);
  void abandon(void* ticket, const Step& step);
  // A failure when a rank that this schedule depends on is known to be in another collective (mismatch.h).
  Status suspect(const Schedule& schedule);
  // Tells the ranks that this schedule waits for.
  void notify(const Schedule& schedule);
  // This failure reaches all members by itself.
  bool all_learn(object::Status failure) const;
  // True when a message went on without us after a failure: it may still use temporary memory.
  bool lingers() const { return lingers_; }

 private:
  object::Communicator& of(Side side) const {
    return comm_.inter() && side == Side::kOwn ? *comm_.local : comm_;
  }
  Status read_notices(const Schedule& schedule, Side side);
  object::Communicator& comm_;
  bool lingers_ = false;
};

}  // namespace vicinity::coll
