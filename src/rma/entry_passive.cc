// SPDX-License-Identifier: BSD-3-Clause
// Passive target communication (MPI 5.0, 12.5.3 to 12.5.5): locks and flushes.
//
// The lock of a target whose Control is mapped here is a word that we change ourselves; the target need not
// do anything. Otherwise the target takes it for us (sink.cc).
#include <mutex>

#include "channel/ring/line.h"
#include "entry_rma.h"
#include "p2p/engine.h"
#include "rma/outbound.h"
#include "rma/sink.h"

namespace vicinity::rma {
namespace {

Status refuse_locks(const Window& window) {
  if (!window.no_locks) return kOk;
  return fail(MPI_ERR_RMA_SYNC, "the window was made with the info key no_locks");
}

// Somebody may have died with the lock: whom the word names, or, of those who share it, anybody.
bool holder_is_gone(Window& window, const Control& control) {
  const int holder = lone_holder(control);
  if (holder >= 0) return holder < window.count && is_gone(window.peer(holder));
  return p2p::engine().lost_member(*window.comm) != p2p::kAnyProc;
}

Status lock_here(Peer& peer, bool alone) {
  Window& window = *peer.window;
  Control& control = *peer.control;
  const auto attempt = [&] { return alone ? try_alone(control, window.rank) : try_shared(control); };
  if (attempt()) return kOk;
  __atomic_fetch_add(&control.waiting, 1, __ATOMIC_SEQ_CST);
  bool lost = false;
  base::wait_until([&] { return attempt() || (lost = holder_is_gone(window, control)); });
  __atomic_fetch_sub(&control.waiting, 1, __ATOMIC_SEQ_CST);
  if (!lost) return kOk;
  if (alone) want_no_more(control);
  const int holder = lone_holder(control);
  if (holder >= 0)
    return fail(MPI_ERR_PROC_ABORTED, "rank %d, which holds the lock of rank %d, is gone", holder, peer.rank);
  return fail(MPI_ERR_PROC_ABORTED, "the lock of rank %d stays shared, and a rank that may hold it is gone",
              peer.rank);
}

void ask_lock(Peer& peer, bool alone) {
  peer.granted = 0;
  peer::connection(peer.proc).post(
      envelope(Packet::kLock, peer.window->comm->context, 0, alone ? kAlone : uint8_t{0}), nullptr, 0);
}

Status take(Peer& peer, bool alone, bool unchecked) {
  if (is_gone(peer)) return gone(peer);
  if (!unchecked && peer.control) {
    VICINITY_TRY(lock_here(peer, alone));
  } else if (!unchecked) {
    ask_lock(peer, alone);
    VICINITY_TRY(await(peer, [&] { return peer.granted != 0; }));
  }
  peer.held = unchecked ? Held::kUnchecked : alone ? Held::kAlone : Held::kShared;
  return kOk;
}

// Gives the lock back, after all operations are done. The first failure is told.
Status give(Peer& peer) {
  const Held held = std::exchange(peer.held, Held::kNot);
  if (!peer.control && held != Held::kUnchecked) {
    const Status local = flush_local(peer);
    ask_flush(peer, Packet::kUnlock);
    const Status done = flush(peer);
    return local.ok() ? done : local;
  }
  const Status done = peer.direct ? kOk : flush(peer);
  channel::ring::full_fence();
  if (held == Held::kUnchecked) return done;
  if (held == Held::kAlone) {
    release_alone(*peer.control);
  } else {
    release_shared(*peer.control);
  }
  if (__atomic_load_n(&peer.control->waiting, __ATOMIC_SEQ_CST) != 0) [[unlikely]]
    nudge_all(*peer.window);
  return done;
}

Status check_assert(int assert) {
  if ((assert & ~MPI_MODE_NOCHECK) == 0) return kOk;
  return fail(MPI_ERR_ASSERT, "argument `assert` is %d; only MPI_MODE_NOCHECK (%d) is allowed here", assert,
              MPI_MODE_NOCHECK);
}

// The doors of flushes do not hold the engine lock: nothing is looked up that others change meanwhile.
// Flushes are for targets in a passive target epoch.
Status check_passive(const Window& window, const Peer& peer) {
  if (window.access == Access::kLockAll || peer.held != Held::kNot) [[likely]]
    return kOk;
  return fail(MPI_ERR_RMA_SYNC, "rank %d is not locked; flushes are for targets that are", peer.rank);
}
Status check_passive(const Window& window) {
  if (window.access == Access::kLockAll || window.access == Access::kLock) return kOk;
  return fail(MPI_ERR_RMA_SYNC, "no target is locked; flushes are for targets that are");
}

[[gnu::noinline]] Status flush_by_messages(Window& window, Status (*flush_one)(Peer&)) {
  std::lock_guard hold(base::engine_lock);
  Status first;
  for (int rank = 0; rank < window.count; ++rank) {
    Peer& peer = window.peer(rank);
    if (peer.direct || (!window.open_all && !peer.open)) continue;
    const Status status = flush_one(peer);
    if (first.ok()) first = status;
  }
  return first;
}

Status flush_every(Window& window, Status (*flush_one)(Peer&)) {
  VICINITY_TRY(check_passive(window));
  fence_stores(window);
  breathe(window);
  return window.by_messages ? flush_by_messages(window, flush_one) : kOk;
}

[[gnu::noinline]] Status flush_by_messages(Peer& peer, Status (*flush_one)(Peer&)) {
  std::lock_guard hold(base::engine_lock);
  return flush_one(peer);
}

Status flush_rank(object::Window& win, int rank, Status (*flush_one)(Peer&)) {
  Window& window = of(win);
  Peer* peer = nullptr;
  VICINITY_TRY(find_peer(window, rank, &peer));
  if (!peer) return kOk;
  VICINITY_TRY(check_passive(window, *peer));
  fence_stores(window);
  breathe(window);
  return peer->direct ? kOk : flush_by_messages(*peer, flush_one);
}

// One after the other, in the order of ranks. Whoever asks for all at once holds some while it waits for
// others, and two of those, each kept from the rest by a rank that wants its own alone, would wait for each
// other.
Status lock_every(Window& window, bool unchecked) {
  for (int rank = 0; rank < window.count; ++rank) VICINITY_TRY(take(window.peer(rank), false, unchecked));
  return kOk;
}

Status unlock_every(Window& window) {
  Status first;
  for (int rank = 0; rank < window.count; ++rank) {
    Peer& peer = window.peer(rank);
    if (peer.held == Held::kNot) continue;
    const Status status = give(peer);
    if (first.ok()) first = status;
  }
  return first;
}

}  // namespace

namespace entry {

Status win_lock(int lock_type, int rank, int assert, object::Window& win) {
  Window& window = of(win);
  if (lock_type != MPI_LOCK_EXCLUSIVE && lock_type != MPI_LOCK_SHARED)
    return fail(MPI_ERR_LOCKTYPE,
                "argument `lock_type` is %d; MPI_LOCK_EXCLUSIVE or MPI_LOCK_SHARED is needed", lock_type);
  VICINITY_TRY(check_assert(assert));
  VICINITY_TRY(refuse_locks(window));
  Peer* peer = nullptr;
  VICINITY_TRY(find_peer(window, rank, &peer));
  if (window.access == Access::kLock && (peer ? peer->held != Held::kNot : window.null_held))
    return fail(MPI_ERR_RMA_SYNC, "rank %d is locked by this process already", rank);
  if (window.access != Access::kLock) VICINITY_TRY(leave_access(window, "MPI_Win_lock"));
  if (peer) {
    VICINITY_TRY(take(*peer, lock_type == MPI_LOCK_EXCLUSIVE, (assert& MPI_MODE_NOCHECK) != 0));
    peer->open = true;
  } else {
    window.null_held = true;
  }
  if (window.access != Access::kLock) window.access = Access::kLock;  // other threads may read it
  ++window.locks;
  return kOk;
}

Status win_unlock(int rank, object::Window& win) {
  Window& window = of(win);
  Peer* peer = nullptr;
  VICINITY_TRY(find_peer(window, rank, &peer));
  if (window.access != Access::kLock || (peer ? peer->held == Held::kNot : !window.null_held))
    return fail(MPI_ERR_RMA_SYNC, "rank %d was not locked with MPI_Win_lock", rank);
  if (--window.locks == 0) window.access = Access::kNone;
  if (!peer) {
    window.null_held = false;
    return kOk;
  }
  peer->open = false;
  breathe(window);
  return give(*peer);
}

Status win_lock_all(int assert, object::Window& win) {
  Window& window = of(win);
  VICINITY_TRY(check_assert(assert));
  VICINITY_TRY(refuse_locks(window));
  VICINITY_TRY(leave_access(window, "MPI_Win_lock_all"));
  if (Status status = lock_every(window, (assert& MPI_MODE_NOCHECK) != 0); !status.ok()) {
    static_cast<void>(unlock_every(window));  // the first failure is the one to tell
    return status;
  }
  window.access = Access::kLockAll;
  window.open_all = true;
  return kOk;
}

Status win_unlock_all(object::Window& win) {
  Window& window = of(win);
  if (window.access != Access::kLockAll)
    return fail(MPI_ERR_RMA_SYNC, "MPI_Win_lock_all was not called before");
  window.access = Access::kNone;
  window.open_all = false;
  return unlock_every(window);
}

Status win_flush(int rank, object::Window& win) { return flush_rank(win, rank, flush); }
Status win_flush_local(int rank, object::Window& win) { return flush_rank(win, rank, flush_local); }
Status win_flush_all(object::Window& win) { return flush_every(of(win), flush); }
Status win_flush_local_all(object::Window& win) { return flush_every(of(win), flush_local); }

Status win_sync(object::Window& win) {
  channel::ring::full_fence();
  breathe(of(win));
  return kOk;
}

}  // namespace entry
}  // namespace vicinity::rma
