// SPDX-License-Identifier: BSD-3-Clause
// A request around a schedule (MPI 5.0, 6.12 and 6.13): nonblocking and persistent collectives.
//
// Schedules under way are moved on by one poller, which is registered only while there are any. A nonblocking
// one gives its schedule back at its end; a persistent one keeps it, built once, and runs it again at each
// MPI_Start. Both hold the user's types and operation.
#pragma once

#include "coll/schedule.h"
#include "object/communicator.h"
#include "object/request.h"

namespace vicinity::coll {

// Takes over a built schedule of form kNonblocking, which starts, or kPersistent, which waits for MPI_Start.
Status make_request(object::Communicator& comm, Schedule* schedule, MPI_Request* handle);

// Is call number `sequence` of `comm`, as the tags of one side count, nonblocking and not over here?
bool under_way(const object::Communicator& comm, Side side, uint32_t sequence);

}  // namespace vicinity::coll
