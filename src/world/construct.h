// SPDX-License-Identifier: BSD-3-Clause
// Putting a communicator together from parts that are already agreed on, and taking it apart.
#pragma once

#include "object/communicator.h"

namespace vicinity::world {

using object::Communicator;
using object::Group;
using object::Status;

inline constexpr uint32_t kNoContext = UINT32_MAX - 3;  // not agreed on yet: set_context() follows

// The references to `group` and `remote` go over to the communicator.
struct Parts {
  uint32_t context = kNoContext;
  Group* group = nullptr;
  Group* remote = nullptr;  // not nullptr: an intercommunicator, which uses two contexts
  bool low_group = false;
  Communicator* parent = nullptr;  // whose error handler and session the new one inherits
};

// nullptr when memory is gone; the groups are released then.
Communicator* assemble(const Parts& parts);
void set_context(Communicator& comm, uint32_t context);
inline int contexts_of(const Communicator& comm) { return comm.inter() ? 2 : 1; }

// A communicator of the same processes with a context of its own: collective, without attributes and hints.
base::Result<Communicator*> plain_copy(Communicator& comm);

// The part of a communicator's end that belongs to the rooms above object/.
void take_down(Communicator& comm);

// What MPI_Comm_free does once the handle is known: attributes, then the object.
Status free_communicator(Communicator& comm);

}  // namespace vicinity::world
