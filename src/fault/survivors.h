// SPDX-License-Identifier: BSD-3-Clause
// Agreements among the survivors of a communicator: consensus (consensus.h) over the connections of p2p/.
//
// They use no matching, so they go on over a revoked communicator, and a member answers for agreements that
// it has left long ago, even of a communicator that it has freed: what was decided is kept until every
// survivor is known to have it too.
#pragma once

#include "fault/consensus.h"
#include "fault/message.h"
#include "object/communicator.h"

namespace vicinity::fault {

// What one call waits for. Its address must stay valid until done() has been called, once, from progress.
// nullptr instead of a decision: some member had no memory for a message of the agreements of this
// communicator, so there is none here, nor will there be another one.
struct Party {
  void (*done)(Party* self, const Value* decision) = nullptr;
};

// Before the first message: others may agree before this process does.
void start();

// The number of the next call over this communicator: the same on all members.
uint32_t begin_call(object::Communicator& comm);
// Takes part in one step of it. Positions: first the low group, then the other. Value::least is filled in.
void take_part(object::Communicator& comm, Name name, Value mine, Party& party);
// All steps of the call are over here.
void end_call(object::Communicator& comm, uint32_t call);
// After a call whose last step was Name::kLast: this process answers no more.
void leave(object::Communicator& comm);

// All members by position.
std::vector<object::Proc> members_of(const object::Communicator& comm);
// The failures that this process has acknowledged, by position.
std::vector<uint32_t> acknowledged(const object::Communicator& comm);

}  // namespace vicinity::fault
