// SPDX-License-Identifier: BSD-3-Clause
// A Plan appends the steps of one algorithm to a schedule, seen from one rank of one group.
//
// Algorithms (algorithms.h) are functions that take a Plan; they compose: an intercommunicator's
// allreduce is a local reduce, an exchange and a local bcast on the same schedule.
#pragma once

#include "coll/schedule.h"

namespace vicinity::coll {

class Plan {
 public:
  Plan(Schedule& schedule, int rank, int size) : rank(rank), size(size), schedule_(schedule) {}

  const int rank;  // in our own group
  const int size;
  int others = 0;  // ranks in the other group of an intercommunicator

  size_t send(const Typed& from, int peer, Side side = Side::kOwn);
  size_t recv(const Typed& to, int peer, Side side = Side::kOwn);
  void wait(size_t step);  // for one message
  void wait_all();         // for all messages so far
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
  Schedule& schedule_;
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
