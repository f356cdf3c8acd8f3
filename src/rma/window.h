// SPDX-License-Identifier: BSD-3-Clause
// A window, and what this process knows of each member of it (a Peer).
//
// Where a peer's memory is mapped here (Peer::base), operations are loads, stores and atomic instructions;
// elsewhere they are messages (outbound.cc, answer.cc). Where a peer's Control is mapped here, its lock is
// taken by us; elsewhere it is asked for. Sizes and units of others are our own copies of what they
// said when the window was made, so that nothing which they write later can lead us astray.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <vector>

#include "base/list.h"
#include "base/progress.h"
#include "channel/ring/line.h"
#include "object/info.h"
#include "object/window.h"
#include "peer/peer.h"
#include "region/mapping.h"
#include "rma/lock.h"
#include "rma/messages.h"
#include "rma/operation.h"

namespace vicinity::rma {

using base::kOk;
using object::Communicator;
using object::Datatype;
using object::fail;
using object::Group;
using object::Info;
using object::Result;
using object::Status;

struct Window;

// The access epoch that this process is in (12.5).
enum class Access : uint8_t { kNone, kFence, kStart, kLock, kLockAll };
// How this process holds the lock of a target. kUnchecked: MPI_MODE_NOCHECK, nothing was taken.
enum class Held : uint8_t { kNot, kShared, kAlone, kUnchecked };

struct Peer {
  // What a put or get looks at.
  char* base = nullptr;   // its memory, if mapped here
  bool mapped = false;    // it is, all of it at `base`
  bool direct = false;    // mapped, or ourselves in a dynamic window, where base is 0
  uint64_t size = 0;     // bytes of it
  int64_t unit = 1;
  bool open = false;  // operations may name it: started or locked
  Held held = Held::kNot;
  Proc proc = 0;
  int rank = 0;
  Control* control = nullptr;  // nullptr: asked by messages
  Window* window = nullptr;

  // As origin: operations by messages.
  base::List<Operation, &Operation::place> queue;  // with something to send
  base::Link busy;          // in the engine's list while there is a queue
  bool dirty = false;       // something was sent since the last kFlush
  uint32_t answers = 0;     // still to come, to accesses
  uint32_t flushes = 0;     // kFlush and kUnlock that were sent
  uint32_t flushed = 0;     // kFlushed that have come
  uint32_t granted = 0;     // kLocked that have come
  Refusal refused{};        // the first that it told us of and the user does not know of
  // Active target communication (12.5.2): messages that have come.
  uint32_t posts = 0;
  uint32_t completes = 0;

  // As target.
  Refusal refusal{};  // the first that we have not told it yet
  bool wants_alone = false;
  Held granted_to_it = Held::kNot;  // our lock, which it asked for by a message
  base::Link asking;                // in Window::asking
};

struct Window : object::Window {
  std::unique_ptr<Peer[]> peers;
  int count = 0;
  int rank = 0;

  // Epochs.
  Access access = Access::kNone;
  bool open_all = false;    // operations may name any target
  bool fence_used = false;  // an operation was made since the last fence
  bool exposed = false;      // MPI_Win_post
  std::vector<int> started;  // ranks given to MPI_Win_start
  std::vector<int> posted;   // ranks given to MPI_Win_post
  int locks = 0;             // MPI_Win_lock: targets held, MPI_PROC_NULL too
  bool null_held = false;    // MPI_PROC_NULL is one of them

  bool by_messages = false;  // there are peers that are not direct
  bool no_locks = false;
  uint32_t breaths = 0;      // see breathe()
  Info* info = nullptr;      // what MPI_Win_get_info tells

  // Who combines elements how: combine.h.
  Pact* pact = nullptr;             // nullptr: nobody else maps our part, nor we another's
  uint32_t sharers = 0;             // members who have the pact in common
  std::atomic<bool> in_turn{true};  // we take the accumulate lock for every accumulate
  std::atomic<bool> all_in_turn{true};
  // Something was stored since the last fence by other means than atomic instructions, which are fences.
  bool stored = false;
  uint64_t stretch = 0;  // bytes to combine before others have a turn

  region::Mapping mapping;   // memory shared with co-resident members
  void* owned = nullptr;     // memory of our own, from the heap
  std::unique_ptr<Control> own_control;
  std::map<uintptr_t, uint64_t> attached;  // dynamic: address -> bytes
  base::List<Peer, &Peer::asking> asking;  // for our lock, by messages, in order

  static void finish(Window* window);
  Peer& self() { return peers[static_cast<size_t>(rank)]; }
  Peer& peer(int of) { return peers[static_cast<size_t>(of)]; }
  bool dynamic() const { return flavor == MPI_WIN_FLAVOR_DYNAMIC; }
};

inline Window& of(object::Window& window) { return static_cast<Window&>(window); }

// MPI_ERR_RANK for a rank argument that is none.
Status bad_rank(const Window& window, int rank);
// The peer behind a rank argument; nullptr for MPI_PROC_NULL.
inline Status find_peer(Window& window, int rank, Peer** peer) {
  if (static_cast<unsigned>(rank) < static_cast<unsigned>(window.count)) [[likely]] {
    *peer = &window.peer(rank);
    return kOk;
  }
  *peer = nullptr;
  return rank == MPI_PROC_NULL ? kOk : bad_rank(window, rank);
}

// Whether an operation on this target may be made now (12.5); notes that one was.
Status no_epoch(const Peer& peer);
inline Status begin_access(Peer& peer) {
  Window& window = *peer.window;
  if (!window.open_all && !peer.open) [[unlikely]]
    return no_epoch(peer);
  __atomic_store_n(&window.fence_used, true, __ATOMIC_RELAXED);  // maybe by several threads
  return kOk;
}

// Stores of ours in mapped memory are visible to all before what we do next. Atomic instructions need nothing
// more on x86. Among threads, one may see what another has not noted yet.
inline void note_stores(Window& window) { __atomic_store_n(&window.stored, true, __ATOMIC_RELAXED); }
inline void fence_stores(Window& window) {
#ifdef __x86_64__
  if (!__atomic_load_n(&window.stored, __ATOMIC_RELAXED) && !base::threads_multiple()) return;
#endif
  channel::ring::full_fence();
  __atomic_store_n(&window.stored, false, __ATOMIC_RELAXED);
}

// base::look() with the engine lock, which the caller need not hold.
void look_around();
// Programs poll windows in loops of their own. Now and then such a call lets messages move, and gives the
// core away when there are more ranks than cores.
inline void breathe(Window& window) {
  const uint32_t breaths = __atomic_load_n(&window.breaths, __ATOMIC_RELAXED) + 1;  // threads may lose some
  __atomic_store_n(&window.breaths, breaths, __ATOMIC_RELAXED);
  if (breaths % 32 == 0) [[unlikely]]
    look_around();
}

// Whether [at, at + bytes) of this process's part may be touched. Dynamic: `at` is an address.
bool inside(const Window& window, int64_t at, uint64_t bytes);
// First byte of our own part for offsets of a Run.
inline char* origin_of(const Window& window) {
  return window.dynamic() ? nullptr : static_cast<char*>(window.base);
}

// Ends the fence epoch that no operation has used, so that another kind may begin. MPI_ERR_RMA_SYNC when
// this process is in an access epoch.
Status leave_access(Window& window, const char* wish);

// The error of an access that a target refused.
Status refused(const Peer& peer, const Refusal& refusal);

bool is_gone(const Peer& peer);
Status gone(const Peer& peer);

// Makes progress until done(), or until the peer is gone.
template <class Done>
Status await(const Peer& peer, Done&& done) {
  bool lost = false;
  base::wait_until([&] { return done() || (lost = is_gone(peer)); });
  return lost ? gone(peer) : kOk;
}

}  // namespace vicinity::rma

template <>
struct vicinity::object::HandleTraits<vicinity::rma::Window> {
  using Handle = MPI_Win;
  static constexpr Kind kKind = Kind::kWin;
};
