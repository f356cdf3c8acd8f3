// SPDX-License-Identifier: BSD-3-Clause
// Ranks that call different collectives: noticed, where a message tells, instead of a hang.
//
// Messages of one pair of ranks arrive in order, and blocking collectives of one communicator follow one
// another. So while this rank waits for `peer` in blocking call number s, the oldest message of that peer
// that nobody has received should belong to nothing: a message of the same call would have been matched.
// Whatever its tag names instead is what the peer called. Nonblocking and persistent calls change that:
//
//   - messages of an earlier nonblocking call that is not over here, and all those of persistent calls, wait
//     for their receive and say nothing (Transport::suspect leaves them out);
//   - to a rank in nonblocking call s, a message of call s that names something else is proof; messages of
//     other calls are not, because the peer may have started call s + 1 in the middle of s;
//   - persistent calls are numbered apart, so nothing is proof for them.
//
// Ranks that all wait have sent nothing. So who has waited in a blocking call for very long sends a notice,
// an empty message that says in which call, to whom it waits for. A notice of our own call number that names
// another operation is proof as well; any other is out of date.
//
// Only who waits for long does and looks for any of this (Patient in coll.cc, Outstanding in request.cc).
#pragma once

#include "coll/schedule.h"

namespace vicinity::coll {

// kOk, or a failure that says what the ranks called. `expected` is the tag that this rank waits for from
// `step.peer`, `stray` the tag of the oldest unreceived message of that peer.
Status judge(const Schedule& schedule, const Step& step, int expected, int stray);

// The same for a notice of rank `peer`; `expected` is our own tag on that side.
Status judge_notice(const Schedule& schedule, Side side, int peer, int expected, int notice);

// The words for a rank whose tag for our call is another one; `doing`: "sent for" or "waits in".
Status differ(Kind kind, Form form, Side side, int peer, int tag, const char* doing);

// The words for `got` bytes from a rank where `expected` were expected.
Status wrong_size(const Name& ours, Side side, int peer, uint64_t got, uint64_t expected);

// How long a call waits before it looks for such signs. Where a job outlives its processes a rank that has
// gone on may know of a death that others are still to learn of.
int64_t patience_ns();

}  // namespace vicinity::coll
