// SPDX-License-Identifier: BSD-3-Clause
// What coll/ keeps per communicator, and calls: a schedule is built and run to its end, or becomes a request.
#pragma once

#include <memory>

#include "coll/division.h"
#include "coll/plan.h"
#include "object/communicator.h"

namespace vicinity::coll {

using object::Communicator;

class Direct;

struct CommState {
  // Calls so far; equal on all members between calls (kind.h).
  uint32_t sequence = 0;
  uint32_t persistent_sequence = 0;
  Direct* direct = nullptr;  // the direct path, once all members have agreed on it (claim.h)
  uint32_t ask_again = 0;    // there was none: the sequence at which to ask for it again
  bool never_direct = false;
  std::unique_ptr<const Division>
      division;          // how slow levels divide the members (division.h), once asked for
  bool divided = false;  // has been asked for
};
CommState& state_of(Communicator& comm);

// What all ranks must have given alike, as a number. Operations that users made have other addresses on
// other ranks.
inline uint32_t agreement(int root, const Op* op) {
  const auto constant = op && op->predefined() ? static_cast<uint32_t>(op->handle) : 0u;
  return static_cast<uint32_t>(root + 1) * 17 + constant;
}

// How the user called: to wait for the end, or for a request.
struct How {
  Form form = Form::kBlocking;
  MPI_Request* request = nullptr;  // the result, unless blocking
};

// One collective call: a schedule for `comm`, then run().
//
//   Call call(how, comm, Kind::kBcast, root);
//   build_bcast(call.plan(), data, root);
//   return call.run();
class Call {
 public:
  Call(const How& how, Communicator& comm, Kind kind, int root = kNoRoot, const Op* op = nullptr);
  // The messages of a blocking call that is under way, with its tag.
  Call(Communicator& comm, Kind kind, int tag);
  ~Call() {
    if (schedule_) give_schedule(schedule_);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  Plan& plan() { return plan_; }
  // Blocking: to the end. Nonblocking: starts it. Persistent: keeps it for MPI_Start.
  Status run();

 private:
  Status run_to_end();
  const How how_;
  Communicator& comm_;
  Schedule* schedule_;  // nullptr: given to a request
  Plan plan_;
};

}  // namespace vicinity::coll
