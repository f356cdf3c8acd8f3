// SPDX-License-Identifier: BSD-3-Clause
// Operations by messages, seen from the origin; and all that is pending, for progress.
#pragma once

#include "p2p/ids.h"
#include "rma/window.h"

namespace vicinity::rma {

// Starts an operation whose fields are filled. Afterwards it may be complete, and gone if not `visible`.
void launch(Operation& operation);
// Sends what finds room; the number of messages.
int pump(Peer& peer);
// Ends an operation.
void complete(Operation& operation, int error);
Status explain(const Operation& operation);

// All that was given to launch() for this target may be reused (12.5.4), or has been done at the target.
// The error is the first refusal that the user does not know of.
Status flush_local(Peer& peer);
Status flush(Peer& peer);

// Sends kFlush or kUnlock, which are answered by kFlushed.
void ask_flush(Peer& peer, Packet packet);

// Answers that came. False: not what we asked for.
bool on_answer(Peer& peer, uint32_t id, const char* body, size_t bytes);
// The peer is gone: fails what waits for it.
void abandon(Peer& peer);

struct Outbound {
  base::List<Peer, &Peer::busy> busy;
  p2p::Ids ids;
};
Outbound& outbound();

}  // namespace vicinity::rma
