// SPDX-License-Identifier: BSD-3-Clause
// What MPI_Put and the accumulates share: requests, and memory that we reach ourselves.
#pragma once

#include "p2p/engine.h"
#include "rma/outbound.h"
#include "rma/runs.h"

namespace vicinity::rma {

// Request forms are for passive target epochs (12.3.5).
inline Status check_request_epoch(const Window& window) {
  if (window.access == Access::kLock || window.access == Access::kLockAll) return kOk;
  return fail(MPI_ERR_RMA_SYNC,
              "calls that return a request are for passive target epochs; call MPI_Win_lock or "
              "MPI_Win_lock_all first");
}

// Launches an operation; when the caller wants a request, the operation is it.
inline void launch_for(Operation& operation, Operation** visible) {
  if (visible) {
    operation.visible = true;
    object::retain(operation.peer->window);
    *visible = &operation;
  }
  launch(operation);
}

inline MPI_Request request_of(Operation* operation) {
  object::Request& done = p2p::done_send;
  return object::handle_of(operation ? static_cast<object::Request&>(*operation) : done);
}

// REQUIRES: peer.direct.
inline char* at_offset(const Peer& peer, int64_t at) {
  return reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(peer.base) + static_cast<uintptr_t>(at));
}

}  // namespace vicinity::rma
