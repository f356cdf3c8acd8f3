// SPDX-License-Identifier: BSD-3-Clause
// Dispatch of what arrives for windows.
#include "rma/sink.h"

#include <cstring>
#include <new>
#include <unordered_map>

#include "p2p/engine.h"
#include "rma/answer.h"
#include "rma/combine.h"
#include "rma/outbound.h"

namespace vicinity::rma {
namespace {

// A message between land() and landed(); its body lies behind it.
struct alignas(16) Parcel {
  Proc from;
  Envelope envelope;
  size_t bytes;  // of the body
  char* body() { return reinterpret_cast<char*>(this + 1); }
};

class Traffic final : public channel::Sink, public base::Poller {
 public:
  channel::Landing land(Proc from, const Envelope& envelope, size_t bytes) override;
  void landed(const channel::Landing& landing, size_t bytes) override;
  void lost(Proc from, const char* why) override;
  int poll() override;

  std::unordered_map<uint32_t, Window*> windows;  // by context

 private:
  const char* take(Parcel& parcel, size_t bytes);
};

Traffic& traffic() {
  static auto* made = new Traffic;
  return *made;
}

channel::Landing Traffic::land(Proc from, const Envelope& envelope, size_t bytes) {
  char* memory = p2p::take_payload(sizeof(Parcel) + bytes);
  if (!memory) {
    p2p::engine().liar(from, "there is no memory for a message of it");
    return {};
  }
  auto* parcel = new (memory) Parcel{from, envelope, bytes};
  return {parcel->body(), bytes, parcel};
}

void Traffic::landed(const channel::Landing& landing, size_t bytes) {
  auto* parcel = static_cast<Parcel*>(landing.token);
  if (!parcel) return;
  const Proc from = parcel->from;
  const char* lie = p2p::engine().is_lost(from) ? nullptr : take(*parcel, bytes);
  p2p::give_payload(reinterpret_cast<char*>(parcel), sizeof(Parcel) + parcel->bytes);
  if (lie) p2p::engine().liar(from, lie);
}

const char* asked_for_lock(Window& window, Peer& peer, bool alone) {
  if (peer.asking.linked() || peer.granted_to_it != Held::kNot) return "it asks for a lock that it has";
  peer.wants_alone = alone;
  window.asking.push_back(&peer);
  __atomic_fetch_add(&window.self().control->waiting, 1, __ATOMIC_SEQ_CST);
  grant_locks(window);
  return nullptr;
}

void say_flushed(Peer& peer) {
  const Refusal refusal = std::exchange(peer.refusal, Refusal{});
  peer::connection(peer.proc).post(envelope(Packet::kFlushed, peer.window->comm->context), &refusal,
                                   sizeof refusal);
}

void give_lock_back(Window& window, Peer& peer) {
  Control& control = *window.self().control;
  if (peer.granted_to_it == Held::kAlone) release_alone(control);
  if (peer.granted_to_it == Held::kShared) release_shared(control);
  peer.granted_to_it = Held::kNot;
  grant_locks(window);
  if (__atomic_load_n(&control.waiting, __ATOMIC_SEQ_CST) != 0) nudge_all(window);
}

const char* on_unlock(Window& window, Peer& peer) {
  if (peer.granted_to_it == Held::kNot) return "it gives back a lock that it has not";
  give_lock_back(window, peer);
  say_flushed(peer);
  return nullptr;
}

// nullptr, or why nobody would send this.
const char* Traffic::take(Parcel& parcel, size_t bytes) {
  const auto found = windows.find(parcel.envelope.context);
  if (found == windows.end()) return "a message names a window that does not exist";
  Window& window = *found->second;
  const int rank = window.comm->group->rank_of(parcel.from);
  if (rank == MPI_UNDEFINED) return "a message names a window that its sender is no member of";
  Peer& peer = window.peer(rank);
  Refusal refusal;
  switch (static_cast<Packet>(parcel.envelope.kind)) {
    case Packet::kAccess:
      return on_access(peer, parcel.envelope.word, parcel.body(), bytes);
    case Packet::kAnswer:
      return on_answer(peer, parcel.envelope.word, parcel.body(), bytes) ? nullptr
                                                                         : "it answers what was not asked";
    case Packet::kFlush:
      say_flushed(peer);
      return nullptr;
    case Packet::kFlushed:
      if (bytes != sizeof refusal || peer.flushed == peer.flushes) return "it answers what was not asked";
      std::memcpy(&refusal, parcel.body(), sizeof refusal);
      ++peer.flushed;
      if (peer.refused.code == MPI_SUCCESS) peer.refused = refusal;
      return nullptr;
    case Packet::kLock:
      return asked_for_lock(window, peer, parcel.envelope.flags == kAlone);
    case Packet::kLocked:
      ++peer.granted;
      return nullptr;
    case Packet::kUnlock:
      return on_unlock(window, peer);
    case Packet::kPost:
      ++peer.posts;
      return nullptr;
    case Packet::kComplete:
      ++peer.completes;
      return nullptr;
  }
  return "a message for a window is of an unknown kind";
}

void Traffic::lost(Proc from, const char*) {
  for (auto& [context, window] : windows) {
    const int rank = window->comm->group->rank_of(from);
    if (rank == MPI_UNDEFINED) continue;
    Peer& peer = window->peer(rank);
    abandon(peer);
    if (peer.asking.linked()) {
      peer.asking.unlink();
      __atomic_fetch_sub(&window->self().control->waiting, 1, __ATOMIC_SEQ_CST);
      want_no_more(*window->self().control);
    }
    if (peer.granted_to_it != Held::kNot) give_lock_back(*window, peer);
  }
}

int Traffic::poll() {
  int events = 0;
  auto& busy = outbound().busy;
  for (Peer *peer = busy.front(), *next; peer; peer = next) {
    next = busy.after(peer);
    events += pump(*peer);
  }
  for (auto& [context, window] : windows) {
    static_cast<void>(goes_in_turn(*window));
    if (!window->asking.empty()) events += grant_locks(*window);
  }
  return events;
}

}  // namespace

void enroll(Window& window) {
  if (traffic().windows.empty()) base::add_poller(&traffic());
  p2p::set_one_sided(&traffic());
  traffic().windows[window.comm->context] = &window;
}

void dismiss(Window& window) {
  traffic().windows.erase(window.comm->context);
  if (traffic().windows.empty()) base::remove_poller(&traffic());
}

void nudge_all(Window& window) {
  for (int rank = 0; rank < window.count; ++rank)
    if (rank != window.rank) peer::connection(window.peer(rank).proc).nudge();
}

int grant_locks(Window& window) {
  int granted = 0;
  Control& control = *window.self().control;
  while (Peer* peer = window.asking.front()) {
    if (!(peer->wants_alone ? try_alone(control, peer->rank) : try_shared(control))) return granted;
    window.asking.pop_front();
    __atomic_fetch_sub(&control.waiting, 1, __ATOMIC_SEQ_CST);
    peer->granted_to_it = peer->wants_alone ? Held::kAlone : Held::kShared;
    peer::connection(peer->proc).post(envelope(Packet::kLocked, window.comm->context), nullptr, 0);
    ++granted;
  }
  return granted;
}

}  // namespace vicinity::rma
