// SPDX-License-Identifier: BSD-3-Clause
// Ranks that call different collectives: noticed, where a message tells, instead of a hang.
//
// Messages of one pair of ranks arrive in order, and blocking collectives of one communicator follow
// one another. So while this rank waits for `peer` in call number s, the oldest message of that peer that
// nobody has received should belong to nothing: a message of the same call would have been matched.
// Whatever its tag names instead is what the peer called. Only who waits for long looks (state.h).
#pragma once

#include "coll/schedule.h"

namespace vicinity::coll {

// kOk, or a failure that says what the ranks called. `expected` is the tag that this rank waits for from
// `step.peer`, `stray` the tag of the oldest unreceived message of that peer.
Status judge(const Schedule& schedule, const Step& step, int expected, int stray);

}  // namespace vicinity::coll
