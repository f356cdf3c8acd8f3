// SPDX-License-Identifier: BSD-3-Clause
// What coll/ keeps per communicator, and running a schedule to its end.
#pragma once

#include "coll/plan.h"
#include "object/communicator.h"

namespace vicinity::coll {

using object::Communicator;

struct CommState {
  uint32_t sequence = 0;  // collective calls so far; equal on all members between calls
};

// One blocking collective call: a schedule for `comm`, then run().
//
//   Call call(comm, Kind::kBcast, root);
//   build_bcast(call.plan(), data, root);
//   return call.run();
class Call {
 public:
  Call(Communicator& comm, Kind kind, int root = kNoRoot, const Op* op = nullptr);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  Plan& plan() { return plan_; }
  Status run();

 private:
  Communicator& comm_;
  Schedule* schedule_;
  Plan plan_;
};

}  // namespace vicinity::coll
