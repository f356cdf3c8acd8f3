// SPDX-License-Identifier: BSD-3-Clause
// Active target communication (MPI 5.0, 12.5.1 and 12.5.2): fence, and post-start-complete-wait.
//
// Both sides take part, so that messages serve everywhere: kPost from a target, kComplete from an origin.
#include "channel/ring/line.h"
#include "coll/coll.h"
#include "entry_rma.h"
#include "rma/outbound.h"

namespace vicinity::rma {
namespace {

constexpr int kFenceModes = MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED;
constexpr int kPostModes = MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT;

Status check_assert(int assert, int allowed, const char* names) {
  if ((assert & ~allowed) == 0) return kOk;
  return fail(MPI_ERR_ASSERT, "argument `assert` is %d; only %s are allowed here", assert, names);
}

// The ranks in the window of the members of a group.
Status ranks_of(const Window& window, const Group& group, std::vector<int>* ranks) {
  ranks->clear();
  for (Proc proc : group.procs) {
    const int rank = window.comm->group->rank_of(proc);
    if (rank == MPI_UNDEFINED)
      return fail(MPI_ERR_GROUP, "argument `group` has process %u, which is no member of the window", proc);
    ranks->push_back(rank);
  }
  return kOk;
}

void tell(Window& window, Peer& peer, Packet packet) {
  if (peer.rank != window.rank)
    return peer::connection(peer.proc).post(envelope(packet, window.comm->context), nullptr, 0);
  ++(packet == Packet::kPost ? peer.posts : peer.completes);
}

// All operations are done at their targets. Goes on after a failure, whose Status is returned.
Status finish_operations(Window& window) {
  channel::ring::full_fence();
  Status first;
  for (int rank = 0; window.by_messages && rank < window.count; ++rank) {
    Peer& peer = window.peer(rank);
    const Status status = peer.direct ? kOk : flush(peer);
    if (first.ok()) first = status;
  }
  return first;
}

bool all_complete(Window& window) {
  for (int rank : window.posted)
    if (window.peer(rank).completes == 0) return false;
  return true;
}

void end_exposure(Window& window) {
  for (int rank : window.posted) --window.peer(rank).completes;
  window.exposed = false;
  channel::ring::full_fence();
}

Status no_exposure() { return fail(MPI_ERR_RMA_SYNC, "the window is not exposed; call MPI_Win_post first"); }

}  // namespace

namespace entry {

Status win_fence(int assert, object::Window& win) {
  Window& window = of(win);
  VICINITY_TRY(check_assert(assert, kFenceModes, "MPI_MODE_NOSTORE, NOPUT, NOPRECEDE and NOSUCCEED"));
  if (window.access != Access::kFence) VICINITY_TRY(leave_access(window, "MPI_Win_fence"));
  if (window.exposed)
    return fail(MPI_ERR_RMA_SYNC, "MPI_Win_post has exposed the window; call MPI_Win_wait first");
  // Others wait for us in any case.
  const Status done = window.fence_used ? finish_operations(window) : kOk;
  channel::ring::full_fence();
  const Status met = coll::barrier(*window.comm);
  window.fence_used = false;
  const bool goes_on = (assert& MPI_MODE_NOSUCCEED) == 0;
  window.access = goes_on ? Access::kFence : Access::kNone;
  window.open_all = goes_on;
  return done.ok() ? met : done;
}

Status win_post(Group& group, int assert, object::Window& win) {
  Window& window = of(win);
  VICINITY_TRY(check_assert(assert, kPostModes, "MPI_MODE_NOCHECK, NOSTORE and NOPUT"));
  if (window.exposed)
    return fail(MPI_ERR_RMA_SYNC, "MPI_Win_post was called before; call MPI_Win_wait first");
  VICINITY_TRY(ranks_of(window, group, &window.posted));
  window.exposed = true;
  channel::ring::full_fence();
  if (assert & MPI_MODE_NOCHECK) return kOk;
  for (int rank : window.posted) tell(window, window.peer(rank), Packet::kPost);
  return kOk;
}

Status win_start(Group& group, int assert, object::Window& win) {
  Window& window = of(win);
  VICINITY_TRY(check_assert(assert, MPI_MODE_NOCHECK, "MPI_MODE_NOCHECK"));
  VICINITY_TRY(leave_access(window, "MPI_Win_start"));
  VICINITY_TRY(ranks_of(window, group, &window.started));
  if ((assert& MPI_MODE_NOCHECK) == 0) {
    for (int rank : window.started) {
      Peer& peer = window.peer(rank);
      VICINITY_TRY(await(peer, [&] { return peer.posts != 0; }));
      --peer.posts;
    }
  }
  for (int rank : window.started) window.peer(rank).open = true;
  window.access = Access::kStart;
  return kOk;
}

Status win_complete(object::Window& win) {
  Window& window = of(win);
  if (window.access != Access::kStart)
    return fail(MPI_ERR_RMA_SYNC, "there is no access epoch to complete; call MPI_Win_start first");
  const Status done = finish_operations(window);
  for (int rank : window.started) {
    Peer& peer = window.peer(rank);
    peer.open = false;
    tell(window, peer, Packet::kComplete);
  }
  window.access = Access::kNone;
  return done;
}

Status win_wait(object::Window& win) {
  Window& window = of(win);
  if (!window.exposed) return no_exposure();
  for (int rank : window.posted) {
    Peer& peer = window.peer(rank);
    if (Status status = await(peer, [&] { return peer.completes != 0; }); !status.ok()) {
      window.exposed = false;
      return status;
    }
  }
  end_exposure(window);
  return kOk;
}

Status win_test(object::Window& win, int* flag) {
  Window& window = of(win);
  if (!window.exposed) return no_exposure();
  if (!all_complete(window)) base::look();
  *flag = all_complete(window);
  if (*flag) {
    end_exposure(window);
    return kOk;
  }
  for (int rank : window.posted)
    if (window.peer(rank).completes == 0 && is_gone(window.peer(rank))) return gone(window.peer(rank));
  return kOk;
}

}  // namespace entry
}  // namespace vicinity::rma
