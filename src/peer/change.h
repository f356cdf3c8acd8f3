// SPDX-License-Identifier: BSD-3-Clause
// How a pair changes between ring and network while messages flow: the state machine of one end.
//
//            suspended, or failed              the peer has read our ring to its end
//   kActive ----------------------> kSuspend ----------------------> kClose
//      ^                                                               |
//      |  the peer has all that went by network                        |  both want the ring again
//      +-------------------------- kReady <----------------------------+
//
// In kActive we send through the ring, in kClose through the network, in between not at all: messages wait in
// the connection. So nothing can overtake, and the receiver never holds anything back. The two
// directions of a pair are two machines, each with the ends of the other in view.
//
// They speak in notes, over the network. A note is the whole state of its sender, so one may be lost, come
// twice or late: it is repeated until it is heard, and an older one is known by its epoch. What has been
// delivered is not acknowledged message by message; ring and network count anyway, and a note
// carries the counts.
//
// A ring that cannot be read any more (`broken`) takes with it what it held. If the counts say that it held
// nothing, the pair goes on over the network; if not, the peer is lost, for messages are.
#pragma once

#include <cstdint>

namespace vicinity::peer {

enum class RingState : uint8_t { kClose, kActive, kSuspend, kReady };
const char* name_of(RingState state);

// On the wire (docs/formats/messages.md). Counts are modulo 2^32.
struct ChangeNote {
  uint32_t epoch;         // how often this end's state has changed; its name
  uint32_t heard;         // newest epoch of the other end that this end has followed
  uint32_t ring_written;  // lines that this end has put into its ring
  uint32_t ring_read;     // lines that it has taken out of the other's
  uint32_t network_sent;  // messages that it has sent by network
  uint8_t ring;           // 1: what follows comes through the ring, 0: by network
  uint8_t hold;           // 1: it wants no ring now
  uint8_t broken;         // 1: it reads the ring no more
  uint8_t asks;           // 1: it waits to be heard
};
static_assert(sizeof(ChangeNote) == 24);

// How far the two channels have come, both counted modulo 2^32.
struct Counts {
  uint32_t ring_written, ring_read;
  uint32_t network_sent, network_read;
};

class Change {
 public:
  RingState state() const { return state_; }
  // Our wish: no ring now, or again.
  void hold(bool yes) { hold_ = yes; }
  bool held() const { return hold_; }
  bool held_by_peer() const { return peer_.hold != 0; }
  // The ring is not used again. `unreadable`: not even what it still holds is to be had.
  void fail(bool unreadable) {
    failed_ = true;
    broken_ |= unreadable;
  }
  bool failed() const { return failed_ || peer_.broken != 0; }

  // False: no peer that keeps to the protocol says this.
  bool take(const ChangeNote& note);
  // Goes one step on. False: messages are lost, or counted wrongly; failure() says which.
  // `may_return`: nothing is left that only the network can carry.
  bool step(const Counts& counts, bool may_return);
  const char* failure() const { return failure_; }
  // The peer has left in good order: it hears and reads no more, and need not.
  void give_up();

  // Has the other end to hear of something? After tell() not again before tell_again().
  bool wants_to_tell() const { return tell_; }
  ChangeNote tell(const Counts& counts);
  void tell_again() { tell_ |= !heard(); }
  bool wants_ring() const { return !hold_ && !failed_ && !peer_.hold && !peer_.broken; }
  // Both directions use the ring, and nothing else is wished.
  bool idle() const { return state_ == RingState::kActive && peer_.ring && settled(); }
  // Nothing is under way.
  bool settled() const;
  // Both directions are off the ring, and both ends know it.
  bool off() const { return state_ == RingState::kClose && heard() && !peer_.ring && heard_ == peer_.epoch; }

 private:
  bool heard() const { return peer_.heard == epoch_; }
  uint8_t told_hold() const { return hold_ || failed_; }
  bool follow(const Counts& counts);
  void advance(bool may_return);
  void begin(RingState state);
  bool lose(const char* why) {
    failure_ = why;
    return false;
  }

  RingState state_ = RingState::kActive;
  bool hold_ = false, failed_ = false, broken_ = false;
  bool tell_ = false;
  uint8_t last_hold_ = 0, last_broken_ = 0;  // of our epoch
  uint32_t epoch_ = 0;
  uint32_t heard_ = 0;
  ChangeNote peer_{0, 0, 0, 0, 0, 1, 0, 0, 0};  // its newest
  const char* failure_ = nullptr;
};

}  // namespace vicinity::peer
