// SPDX-License-Identifier: BSD-3-Clause
// Virtual topologies (MPI 5.0, chapter 8): those of communicators, and MPI_Dims_create.
#pragma once

#include "object/communicator.h"
#include "object/topology.h"

namespace vicinity::world {

using object::Topology;

// The topology of `comm`, or MPI_ERR_TOPOLOGY unless it is of this kind.
object::Result<Topology*> topology_of(const object::Communicator& comm, int kind);
const char* topology_name(int kind);

void share_topology(const object::Communicator& from, object::Communicator& to);
void drop_topology(object::Communicator& comm);

// MPI_Dims_create (8.5.2); the arguments have been checked.
object::Status balance_dims(int nodes, int count, int* dims);

}  // namespace vicinity::world
