// SPDX-License-Identifier: BSD-3-Clause
// The virtual connection: our end towards one process, all that p2p/ sees of it.
//
// Invariant: messages leave in the order of try_send(), queue() and post(). `straight_` is true when
// nothing is queued and the channel is a ring; then try_send() is the ring's send, inlined.
//
// Where there are a ring and a network, the pair may change between them at any time (change.h, changing.cc).
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <memory>
#include <string>

#include "base/list.h"
#include "base/status.h"
#include "channel/channel.h"
#include "channel/fake/fake.h"
#include "channel/offer.h"
#include "channel/ring/sender.h"
#include "channel/self/self.h"
#include "peer/change.h"

namespace vicinity::channel::ucx {
class Link;
class Network;
}  // namespace vicinity::channel::ucx
namespace vicinity::channel::ring {
class Receiver;
}  // namespace vicinity::channel::ring

namespace vicinity::peer {

using channel::Answer;
using channel::Envelope;
using channel::Proc;

// A message that waits for room in its channel. Lives in the request of whoever sends it.
struct Pending {
  base::Link link;
  Envelope envelope{};
  const void* data = nullptr;
  size_t bytes = 0;
  bool offered = false;  // fetched from where it is: `sent` when that has happened
  void (*sent)(Pending* self, base::Status status) = nullptr;  // called once, from progress
};

struct Counters {  // performance variables, per channel kind and peer
  uint64_t messages_sent = 0, bytes_sent = 0, messages_received = 0, bytes_received = 0;
};

class VirtualConnection {
 public:
  VirtualConnection() = default;
  VirtualConnection(const VirtualConnection&) = delete;
  VirtualConnection& operator=(const VirtualConnection&) = delete;

  Proc proc() const { return proc_; }
  // Same physical host, direct memory, as it was at the start: all ranks see the same at any time.
  bool co_resident() const { return near_; }
  // Large messages are offered and fetched.
  bool offers() const { return kind_ == Kind::kNetwork && !returning_; }
  // read_remote() from this peer works, until it fails.
  bool single_copy() const { return single_copy_; }
  // Most payload bytes of one message on the channel in use now; what was made for one channel fits the
  // other.
  size_t largest() const { return largest_; }
  // The same, on whatever channel the peer may be just now.
  size_t widest() const { return widest_; }
  const char* channel_name() const;
  // Why this channel, for `vicinity map`.
  const char* reason() const { return reason_.c_str(); }
  std::string lanes() const;  // transports of the network; slow: for people
  // The peer is gone, or lied: every send answers kFailed.
  bool lost() const { return lost_; }

  // Sends now, or answers kRetry without effect. Keeps order: kRetry while anything is queued.
  // Free of charge on the ring: envelope.word == 0 (otherwise the first line carries 44 bytes, not 48).
  Answer try_send(const Envelope& envelope, const void* data, size_t bytes) {
    if (straight_) [[likely]] {
      const Answer answer = ring_.send(envelope, data, bytes);
      if (answer == Answer::kDone) [[likely]] {
        ++counters_.messages_sent;
        counters_.bytes_sent += bytes;
        return answer;
      }
      return answer == Answer::kFailed ? failed() : answer;
    }
    return try_send_slowly(envelope, data, bytes);
  }
  // Queues behind everything queued before; `pending` and its data must live until `sent`.
  void queue(Pending* pending);
  // A message of any size that the peer fetches from where it is (offers() only), in order with the others.
  // `sent` may be called before this returns.
  void offer(Pending* pending);
  // Fetches what the peer has offered: to `where`, or part by part. `done` may be called before this returns.
  void fetch(void* offer, size_t bytes, void* where, channel::Fetch* fetch);
  // Nobody will fetch it.
  void refuse(void* offer, size_t bytes);
  // For small control messages (<= 64 bytes): sends or queues a private copy. Never fails for lack of room.
  void post(const Envelope& envelope, const void* data, size_t bytes);

  // Wakes the peer if it sleeps: something that it waits for has changed in memory that we share.
  void nudge() {
    if (ring_in_ && !lost_) ring_.nudge();
  }
  // Reads `bytes` from the peer's memory by the kernel (CMA): the pieces of `into` are filled from the
  // remote range. On refusal: demotes the pair with one log line and returns false; the caller then
  // asks the peer to send through the channel.
  bool read_remote(uint64_t address, const struct iovec* into, size_t pieces, size_t bytes);
  void demote(const char* why);
  Counters& counters();

  // --- for the coordinator ---
  enum class Kind : uint8_t { kNone, kSelf, kRing, kFake, kNetwork };
  void be_nothing(Proc proc, std::string reason);
  void be_self(Proc proc, channel::self::SelfChannel* self);
  void be_ring(Proc proc, channel::ring::Sender sender, const channel::ring::Receiver* from, int pid);
  void be_fake(Proc proc, channel::fake::FakeEnd* end);
  void be_network(Proc proc, channel::ucx::Network* network, std::string reason);
  // For ever: nothing is queued, and nothing more can be sent.
  void be_parted(std::string reason);
  void allow_single_copy(bool yes, std::string reason);
  // Sends what is queued as far as there is room; returns the number of messages finished.
  int flush();
  // No more messages; what is queued is told so by the next flush().
  void lose(const char* why);
  bool has_work() const { return !queue_.empty(); }
  base::Link work;  // in the flusher's list while something is queued

  // --- changing.cc: ring or network ---
  // A ring may give way to this network, and come back.
  void add_network(channel::ucx::Network* network);
  // No ring now, or again, for as long as we wish it. False: there is nothing else.
  bool hold_ring(bool yes, const char* why);
  // The ring is good for nothing any more; `unreadable`: nor is what it holds. False: there is nothing else,
  // or a message is cut in two.
  bool ring_failed(const char* why, bool unreadable);
  // The network does not reach the peer. False: it was needed.
  bool network_failed(const char* why);
  void take_note(const ChangeNote& note);
  // Follows the change that is under way; the number of events.
  int follow_change(int64_t now);
  bool changing() const { return change_ && !lost_ && !change_->settled(); }
  const Change* change() const { return change_.get(); }
  Counts counts() const;   // of ring and network
  base::Link change_work;  // in the flusher's list while changing

 private:
  using Queue = base::List<Pending, &Pending::link>;

  Answer try_send_slowly(const Envelope& envelope, const void* data, size_t bytes);
  Answer send_on_channel(const Envelope& envelope, const void* data, size_t bytes);
  Answer pass_on(Pending* pending);
  Answer failed();
  void set_straight() { straight_ = kind_ == Kind::kRing && !paused_ && queue_.empty(); }
  bool can_change(bool heard_of = false);
  bool tell_peer();
  void enter(RingState state);

  channel::ring::Sender ring_;  // first: its first line is what a small send touches
  Counters counters_;
  Proc proc_ = 0;
  Kind kind_ = Kind::kNone;
  bool straight_ = false;
  bool single_copy_ = false;
  bool lost_ = false;
  bool paused_ = false;     // between two channels: everything waits
  bool returning_ = false;  // to the ring: offers that wait go first, new ones are not made
  bool near_ = false;
  bool single_copy_known_ = false;  // it works, or did, while the ring is in use
  uint32_t offers_waiting_ = 0;
  size_t largest_ = 0, widest_ = 0;
  int pid_ = 0;
  channel::self::SelfChannel* self_ = nullptr;
  channel::fake::FakeEnd* fake_ = nullptr;
  channel::ucx::Network* network_ = nullptr;
  channel::ucx::Link* link_ = nullptr;
  const channel::ring::Receiver* ring_in_ = nullptr;  // what comes from there
  std::unique_ptr<Change> change_;                    // made when it is first needed
  int64_t told_at_ = 0;
  Queue queue_;
  std::string reason_;
  std::string ring_name_;    // the reason while the ring is in use
  std::string ring_reason_;  // why it is not
};

}  // namespace vicinity::peer
