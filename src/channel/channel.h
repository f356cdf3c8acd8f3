// SPDX-License-Identifier: BSD-3-Clause
// The concept that every channel satisfies: a way to move messages to one peer.
//
// A message is an Envelope of 16 bytes and up to Channel::largest() payload bytes. A channel keeps
// the order of the messages of one directed pair, loses none, and never blocks: it answers kDone
// (taken; the caller's buffer may be reused) or kRetry (full now, try again after some progress). It
// knows nothing of matching; what arrives is handed to the one Sink in two steps, so that payload is
// written straight to where the receiver wants it:
//
//   Landing landing = sink.land(from, envelope, bytes);   // where to?
//   ... the channel writes min(bytes, landing.room) bytes to landing.where (skips the rest) ...
//   sink.landed(landing, bytes);                          // all there
//
// Between land() and landed() other messages, also of the same peer, may not be landed on that
// channel; messages of other peers may. A ring that is asked for one certain short message skips both
// (Wanted).
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "base/status.h"

namespace vicinity::channel {

using Proc = uint32_t;

enum class Answer : uint8_t { kDone, kRetry, kFailed };

// 16 bytes; the wire format of every channel (docs/formats/region.md). The meaning of kind, flags and
// word belongs to p2p/envelope.h.
struct Envelope {
  uint32_t context;
  int32_t tag;
  uint8_t kind;
  uint8_t flags;
  uint16_t source_hint;  // reserved, 0
  uint32_t word;
};
static_assert(sizeof(Envelope) == 16);

struct Landing {
  void* where = nullptr;  // nullptr with room 0: discard
  size_t room = 0;
  void* token = nullptr;  // the sink's own
};

// A message that somebody waits for. One that is whole in a line of a ring and has this envelope (word 0) is
// written straight to `where`, past the sink.
struct Wanted {
  uint64_t address = 0;  // context and tag, as they are in memory
  uint64_t mask = 0;     // the bits of them that must agree
  uint32_t kind = 0;     // kind and flags
  void* where = nullptr;
  size_t room = 0;
  bool taken = false;  // it has come: `address` is its own now, and `bytes` how long it is
  size_t bytes = 0;
};

class Sink {
 public:
  virtual Landing land(Proc from, const Envelope& envelope, size_t bytes) = 0;
  virtual void landed(const Landing& landing, size_t bytes) = 0;
  // A large message that stays at its sender until it is fetched (offer.h), in order with the others. Only
  // channels that take offers from their senders bring one.
  virtual void offered(Proc, const Envelope&, size_t /*bytes*/, void* /*offer*/) {}
  // A peer is gone or lied: nothing more will come from it. `why` is for people.
  virtual void lost(Proc from, const char* why) = 0;

 protected:
  ~Sink() = default;
};

// One end towards one peer.
template <class T>
concept Channel =
    requires(T channel, const T constant, const Envelope& envelope, const void* data, size_t bytes) {
      // Sends envelope and payload, or says kRetry and has no effect.
      { channel.send(envelope, data, bytes) } -> std::same_as<Answer>;
      // Most payload bytes that one send() takes.
      { constant.largest() } -> std::convertible_to<size_t>;
      // For `vicinity map` and performance variables: "self", "ring", ...
      { T::name() } -> std::convertible_to<const char*>;
    };

}  // namespace vicinity::channel
