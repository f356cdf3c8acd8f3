// SPDX-License-Identifier: BSD-3-Clause
// A schedule: what one rank does in one collective, as data.
//
// It is a program of steps that runs from first to last. kSend and kRecv only start a message; kWait
// and kWaitAll hold the program until messages started before are complete; kCopy and kReduce act at
// once. The end of the program waits for everything. Rules for whoever writes one (a Plan helps):
//
//   - a buffer named by a started message is not touched before a wait for that message
//     (two sends from one buffer are fine);
//   - messages of one pair of ranks on one side match in the order in which both start them;
//   - nothing here knows MPI_IN_PLACE, null buffers or handles: entries have resolved them.
#pragma once

#include <vector>

#include "coll/kind.h"
#include "coll/temporary.h"
#include "object/datatype.h"
#include "object/op.h"

namespace vicinity::coll {

using object::Datatype;
using object::Op;
using object::Status;

// `count` elements of `type` at `at`.
struct Typed {
  void* at = nullptr;
  MPI_Count count = 0;
  Datatype* type = nullptr;
  uint64_t bytes() const { return static_cast<uint64_t>(count) * static_cast<uint64_t>(type->size); }
  // `some` elements from number `first` on.
  Typed part(MPI_Count first, MPI_Count some) const;
};

// Pointer arithmetic that also works on MPI_BOTTOM and with negative extents.
inline void* shift(const void* pointer, MPI_Count bytes) {
  return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(pointer) + static_cast<uintptr_t>(bytes));
}
inline Typed Typed::part(MPI_Count first, MPI_Count some) const {
  return {shift(at, first * type->extent), some, type};
}

// Whom a rank in a step names: members of our own group, or of the other group of an intercommunicator.
enum class Side : uint8_t { kOwn, kOther };

struct Step {
  enum class What : uint8_t { kSend, kRecv, kWait, kWaitAll, kCopy, kReduce };
  What what = What::kWaitAll;
  Side side = Side::kOwn;
  bool pending = false;    // a message that has started and is not yet known to be complete
  int peer = 0;            // kSend, kRecv: rank; kWait: index of the step to wait for
  void* ticket = nullptr;  // the transport's own
  Typed from;              // kSend, kCopy; kReduce: the `in` operand
  Typed to;                // kRecv, kCopy; kReduce: the `inout` operand
};

struct Schedule {
  Kind kind = Kind::kNone;
  Form form = Form::kBlocking;
  int tag[2] = {0, 0};  // per Side
  const Op* op = nullptr;
  std::vector<Step> steps;
  std::vector<Temporary> temporaries;
  Status status;  // of building, then of running
  // The engine's position.
  size_t next = 0;    // first step not yet begun
  size_t oldest = 0;  // every step before it is complete
  bool held = false;  // see hold()

  Name name() const { return mpi_name(kind, form); }
  // The user may free types and operation of a nonblocking call before its end.
  void hold();
  void let_go();
  void clear();  // gives the temporaries back; keeps the capacity of the vectors
};

// Schedules keep their vectors' memory, so a call that needs no more steps than an earlier one
// allocates nothing.
Schedule* take_schedule();
void give_schedule(Schedule* schedule);
void drop_schedules();

}  // namespace vicinity::coll
