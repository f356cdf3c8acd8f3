// SPDX-License-Identifier: BSD-3-Clause
// How two groups that perhaps know nothing of each other become an intercommunicator (MPI 5.0, 11.9).
//
// All is done by tellings: each process gives a text, and gets those of all processes of both groups in an
// order that all agree on. A telling goes from the members to their leader, over the bridge, and down to the
// members again, so it is a barrier too. Who has failed tells that instead, and all fail alike.
#pragma once

#include "object/communicator.h"
#include "world/bridge.h"

namespace vicinity::world {

// Collective over `comm`, an intracommunicator. `bridge` is the leader's and nullptr elsewhere; it is nullptr
// at the leader too when there is none, for the reason `trouble`.
Result<Communicator*> encounter(Communicator& comm, int leader, Bridge* bridge, Status trouble);

// In MPI_Init of spawned processes: makes Instance::parent.
Status meet_parent();
// At the end: names that nobody has unpublished.
void unpublish_all();

// Counts the communicators in which a guest (peer/meeting.h) is; world/construct.cc calls it.
void hold_guests(const Communicator& comm);
void release_guests(const Communicator& comm);
// Lets go of those of `procs` who are in no communicator (any more).
void part_from(const std::vector<object::Proc>& procs);

}  // namespace vicinity::world
