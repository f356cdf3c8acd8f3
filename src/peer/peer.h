// SPDX-License-Identifier: BSD-3-Clause
// Peers: the process table and the virtual connection to each process.
//
// The coordinator (coordinator.cc) fills the table at start from the cards of wire-up: for each peer
// the candidates in order of preference, each proven before use. A VirtualConnection is all that p2p/
// sees: send, or queue and be told.
#pragma once

#include <cstdint>
#include <string>

#include "base/list.h"
#include "channel/channel.h"
#include "wireup/wireup.h"

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
  void (*sent)(Pending* self, base::Status status) = nullptr;  // called once, from progress
};

struct Counters {  // performance variables, per channel kind and peer
  uint64_t messages_sent = 0, bytes_sent = 0, messages_received = 0, bytes_received = 0;
};

class VirtualConnection {
 public:
  Proc proc() const;
  bool co_resident() const;          // same physical host, direct memory
  bool single_copy() const;          // cma::read() from this peer works (until it fails: demote())
  size_t largest() const;            // most payload bytes of one message on the channel in use now
  const char* channel_name() const;  // "self", "ring", ...
  const char* reason() const;        // why this one, for `vicinity map`

  // Sends now, or answers kRetry without effect. Keeps order: kRetry while anything is queued.
  Answer try_send(const Envelope& envelope, const void* data, size_t bytes);
  // Queues behind everything queued before; `pending` and its data must live until `sent`.
  void queue(Pending* pending);
  // For small control messages (<= 64 bytes): sends or queues a private copy. Never fails for lack of room.
  void post(const Envelope& envelope, const void* data, size_t bytes);

  // Reads `bytes` from the peer's memory by the kernel (CMA): the pieces of `into` are filled from the
  // remote range. On refusal: demotes the pair with one log line and returns false; the caller then
  // asks the peer to send through the channel.
  bool read_remote(uint64_t address, const struct iovec* into, size_t pieces, size_t bytes);
  void demote(const char* why);
  Counters& counters();
};

// Called once each. start() proves the channels and registers their pollers; it needs two fences.
base::Status start(wireup::Wireup& wireup, channel::Sink& sink);
void stop();

uint32_t process_count();
Proc self();
VirtualConnection& connection(Proc proc);
const std::string& host_name(Proc proc);
bool co_resident(Proc proc);
std::string map_text();  // the matrix row of this process, for `vicinity map`

}  // namespace vicinity::peer
