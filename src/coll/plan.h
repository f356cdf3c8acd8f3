// SPDX-License-Identifier: BSD-3-Clause
// A Plan appends the steps of one algorithm to a schedule, seen from one rank of one group.
//
// Algorithms (algorithms.h) are functions that take a Plan; they compose: an intercommunicator's
// allreduce is a local reduce, an exchange and a local bcast on the same schedule. A plan may also be one of
// some ranks of another plan's group, so that any algorithm can run among them (algorithm_levels.cc).
#pragma once

#include "coll/schedule.h"

namespace vicinity::coll {

struct Division;

// Some ranks of a group, in their order. One of them may stand in for another: `replaced` is the index of the
// one that `by`, a rank of the group, stands for.
struct Members {
  const int* ranks;
  int size;
  int replaced = -1;
  int by = 0;
  int operator[](int i) const { return i == replaced ? by : ranks[i]; }
};

class Plan {
 public:
  Plan(Schedule& schedule, int rank, int size, const Division* division = nullptr)
      : rank(rank), size(size), division(division), schedule_(schedule) {}
  // Some ranks of `outer` as a group of their own, in which we are `rank`. Both outlive the plan.
  Plan(Plan& outer, const Members& members, int rank, const Division* division = nullptr)
      : rank(rank),
        size(members.size),
        division(division),
        schedule_(outer.schedule_),
        outer_(&outer),
        members_(members) {}

  const int rank;  // in our own group
  const int size;
  int others = 0;                  // ranks in the other group of an intercommunicator
  const Division* const division;  // how slow levels divide our group (division.h); nullptr: they do not

  size_t send(const Typed& from, int peer, Side side = Side::kOwn);
  size_t recv(const Typed& to, int peer, Side side = Side::kOwn);
  void wait(size_t step);  // for one message
  void wait_all();         // for all messages so far
  void wait_received();    // for those that we receive
  void copy(const Typed& from, const Typed& to);
  // inout = in op inout, element by element.
  void reduce(const Typed& in, const Typed& inout);

  // Memory until the end of the schedule: plain bytes, or room for `count` elements laid out as `type`
  // says. When there is none left, the schedule's status says so and the pointer must not be used.
  char* bytes(uint64_t count);
  Typed packed(uint64_t count);
  Typed like(MPI_Count count, Datatype& type);

  Schedule& schedule() const { return schedule_; }
  void fail(Status status) {
    if (schedule_.status.ok()) schedule_.status = status;
  }

 private:
  Step& add(Step::What what);
  // The rank in the communicator of one of our group.
  int outside(int peer) const { return outer_ ? outer_->outside(members_[peer]) : peer; }
  Schedule& schedule_;
  Plan* outer_ = nullptr;
  Members members_{};
};

// Bytes as elements of MPI_BYTE.
Typed as_bytes(void* at, uint64_t count);
// The run of bytes that a dense typed buffer is.
Typed run_of(const Typed& typed);

inline int floor_power_of_two(int n) {
  int power = 1;
  while (power <= n / 2) power *= 2;
  return power;
}

}  // namespace vicinity::coll
