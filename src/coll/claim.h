// SPDX-License-Identifier: BSD-3-Clause
// Which communicators have the direct path: claiming a board by agreement of all members, and its release.
//
// At the first call that it suits, all members of a communicator of one region agree, by an allreduce
// through messages, on a board number that is free with all of them. A board is free again when every
// member of its last communicator has left it (Presence::left), because a slow one may still read.
// Without a free board, collectives go by messages, and the question is asked again later: at
// a number of calls that all members see alike.
#pragma once

#include "coll/direct.h"

namespace vicinity::coll {

// nullptr: not now.
Direct* claim_board(Communicator& comm, Kind kind, uint64_t bytes);
void release_board(CommState& state);

// The direct path of this communicator, if it is the one to take for a call of so many bytes: of the whole
// vector (Bcast, Reduce, Allreduce, Reduce_scatter, Scan), of the largest block (Gather, Allgather), of all
// blocks of a rank together (Scatter, Alltoall), 1 (Barrier). All ranks come to the same answer.
// Calls that leave a request go by messages.
inline Direct* direct_way(const How& how, Communicator& comm, Kind kind, uint64_t bytes) {
  if (how.form != Form::kBlocking) return nullptr;
  const CommState* state = comm.coll;
  if (state && state->direct) [[likely]]
    return bytes - 1 < state->direct->limit(kind) ? state->direct : nullptr;  // 0 bytes: no
  return claim_board(comm, kind, bytes);
}

}  // namespace vicinity::coll
