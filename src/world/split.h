// SPDX-License-Identifier: BSD-3-Clause
// Constructions that other constructions are made of.
#pragma once

#include "object/communicator.h"

namespace vicinity::world {

using object::Communicator;
using object::Result;
using object::Status;

// MPI_Comm_split for intra- and intercommunicators; MPI_UNDEFINED gives nullptr.
Result<Communicator*> split(Communicator& comm, int color, int key);

// Blocking construction over all of an intra- or intercommunicator with groups that the caller knows.
// Everyone takes part in the agreement; a process that passes no group gets nullptr.
Result<Communicator*> construct(Communicator& comm, object::Group* group, object::Group* remote);

}  // namespace vicinity::world
