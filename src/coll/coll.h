// SPDX-License-Identifier: BSD-3-Clause
// Collectives inside the library: what world/ uses to construct communicators. The MPI_ functions of
// chapter 6 are in coll/entry_*.cc with the signatures that the doors' generator declares.
#pragma once

#include "object/communicator.h"
#include "object/datatype.h"
#include "object/op.h"

namespace vicinity::coll {

using object::Communicator;
using object::Datatype;
using object::Op;
using object::Status;

// Intracommunicators only, blocking, on Lane::kCollective. Arguments have been checked.
Status barrier(Communicator& comm);
Status bcast(void* buf, MPI_Count count, Datatype& type, int root, Communicator& comm);
Status allgather(const void* send, MPI_Count sendcount, Datatype& sendtype, void* recv, MPI_Count recvcount,
                 Datatype& recvtype, Communicator& comm);
Status allreduce(const void* send, void* recv, MPI_Count count, Datatype& type, const Op& op,
                 Communicator& comm);

// The state of a communicator's collectives goes with it.
void forget(Communicator& comm);

}  // namespace vicinity::coll
