// SPDX-License-Identifier: BSD-3-Clause
// What may be done when, and the words for what may not.
#include <cinttypes>
#include <iterator>
#include <mutex>

#include "p2p/engine.h"
#include "rma/window.h"

namespace vicinity::rma {

Status bad_rank(const Window& window, int rank) {
  return fail(MPI_ERR_RANK, "the target rank is %d, the window has %d ranks", rank, window.count);
}

Status no_epoch(const Peer& peer) {
  switch (peer.window->access) {
    case Access::kStart:
      return fail(MPI_ERR_RMA_SYNC, "rank %d is not in the group given to MPI_Win_start", peer.rank);
    case Access::kLock:
      return fail(MPI_ERR_RMA_SYNC, "rank %d is not locked; call MPI_Win_lock for it first", peer.rank);
    default:
      return fail(MPI_ERR_RMA_SYNC,
                  "there is no access epoch; call MPI_Win_fence, MPI_Win_start, MPI_Win_lock or "
                  "MPI_Win_lock_all first");
  }
}

Status leave_access(Window& window, const char* wish) {
  const char* in = nullptr;
  if (window.access == Access::kFence && window.fence_used)
    in = "MPI_Win_fence has begun, and operations were made in it; end it with MPI_Win_fence first";
  if (window.access == Access::kStart) in = "MPI_Win_start has begun; call MPI_Win_complete first";
  if (window.access == Access::kLock) in = "MPI_Win_lock has begun; call MPI_Win_unlock first";
  if (window.access == Access::kLockAll) in = "MPI_Win_lock_all has begun; call MPI_Win_unlock_all first";
  if (in) return fail(MPI_ERR_RMA_SYNC, "%s cannot be called in the access epoch that %s", wish, in);
  window.access = Access::kNone;
  window.open_all = false;
  return kOk;
}

bool inside(const Window& window, int64_t at, uint64_t bytes) {
  if (!window.dynamic()) {
    const uint64_t size = static_cast<uint64_t>(window.size);
    return at >= 0 && bytes <= size && static_cast<uint64_t>(at) <= size - bytes;
  }
  // One access may reach over pieces that were attached one by one and have no gap between them.
  auto address = static_cast<uintptr_t>(at);
  auto after = window.attached.upper_bound(address);
  if (after == window.attached.begin()) return false;
  for (auto piece = std::prev(after);; piece = after++) {
    const uint64_t offset = address - piece->first;
    if (offset <= piece->second && bytes <= piece->second - offset) return true;
    if (offset > piece->second || after == window.attached.end()) return false;
    const uint64_t here = piece->second - offset;
    address += here, bytes -= here;
    if (after->first != address) return false;
  }
}

void look_around() {
  std::lock_guard hold(base::engine_lock);
  base::look();
}

bool is_gone(const Peer& peer) { return p2p::engine().is_lost(peer.proc); }

Status gone(const Peer& peer) {
  const char* why = p2p::engine().lost_reason(peer.proc);
  return fail(MPI_ERR_PROC_ABORTED, "rank %d of the window (process %u) is gone: %s", peer.rank, peer.proc,
              why ? why : peer::connection(peer.proc).reason());
}

Status refused(const Peer& peer, const Refusal& refusal) {
  switch (refusal.code) {
    case MPI_SUCCESS:
      return kOk;
    case MPI_ERR_RMA_RANGE:
      return fail(MPI_ERR_RMA_RANGE,
                  peer.window->dynamic() ? "rank %d has not attached %" PRIu64 " bytes at address %#" PRIx64
                                         : "rank %d says that %" PRIu64 " bytes at offset %" PRIu64
                                           " are not in its part of the window",
                  peer.rank, refusal.bytes, static_cast<uint64_t>(refusal.at));
    case MPI_ERR_PROC_ABORTED:
      return fail(MPI_ERR_PROC_ABORTED,
                  "rank %d could not combine elements: a process that was doing so in its part of the window "
                  "is gone or stands still",
                  peer.rank);
    case MPI_ERR_NO_MEM:
      return fail(MPI_ERR_NO_MEM, "rank %d has no memory for an answer", peer.rank);
    default:
      return fail(MPI_ERR_OTHER, "rank %d refused an access (error %d)", peer.rank, refusal.code);
  }
}

}  // namespace vicinity::rma
