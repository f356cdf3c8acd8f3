// SPDX-License-Identifier: BSD-3-Clause
// Our end towards one process on the network.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "channel/channel.h"
#include "channel/ucx/ucx_abi.h"

namespace vicinity::channel::ucx {

class Network;
class Link;

// In front of every message; the wire format.
struct Header {
  Envelope envelope;
  uint32_t source;  // number of the sender at the receiver: its rank, or for a guest what the receiver said
  uint32_t number;  // of the message, in its directed pair
};
static_assert(sizeof(Header) == 24 && offsetof(Header, source) == 16 && offsetof(Header, number) == 20);

// A message that UCP has not done with: what it sends from must stay where it is.
struct Slot {
  Header header;
  Link* link;
  void (*done)(void* arg, bool good);  // of an offer
  void* arg;
  Slot* next;
  size_t room_bytes;  // that follow: none, Network::options().largest, or more
  std::byte* room() { return reinterpret_cast<std::byte*>(this + 1); }
};

class Link {
 public:
  Link(Network& network, Proc proc);
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  Answer send(const Envelope& envelope, const void* data, size_t bytes);
  size_t largest() const;
  static constexpr const char* name() { return "ucx"; }

  using Done = void (*)(void* arg, bool good);
  // A message of any size that is fetched from where it is; `done` when it may be reused. In order with
  // send(). After kRetry and kFailed nothing is called.
  Answer offer(const Envelope& envelope, const void* data, size_t bytes, Done done, void* arg);

  // Why the peer cannot be reached any more; nullptr: it can.
  const char* failure() const { return failure_.empty() ? nullptr : failure_.c_str(); }
  // No more messages in either direction; what is under way fails.
  void close(const char* why);
  // The same in good order: what has been sent arrives, and the peer does not mourn.
  void part();
  // For a process that did not start with us: our number there. Connects at once, so that its death is
  // noticed.
  void meet(uint32_t number_there);

  // The transports that UCX has chosen; empty while there is no connection. Slow: for people.
  std::string lanes() const;
  bool departed() const { return departed_; }
  // Numbers of the next message in each direction.
  uint32_t sent() const { return next_out_; }
  uint32_t received() const { return next_in_; }
  uint64_t messages() const { return messages_; }  // received
  uint64_t bytes() const { return bytes_; }

 private:
  friend class Network;
  static constexpr int kMostUnderWay = 32;

  bool connect();
  void fail(std::string why);
  Answer pass(Slot* slot, const void* data, size_t bytes, uint32_t flags);
  static void on_sent(void* request, abi::StatusCode status, void* slot);
  static void on_error(void* link, abi::Endpoint endpoint, abi::StatusCode status);
  void drop_endpoint(uint32_t how);
  void* say_farewell();

  Network& network_;
  const Proc proc_;
  uint32_t number_there_;
  Header farewell_{};
  abi::Endpoint endpoint_ = nullptr;
  int under_way_ = 0;  // eager messages that UCP has not done with
  uint32_t next_out_ = 0, next_in_ = 0;
  bool heard_ = false;     // connect from poll(): we may be inside of UCP now
  bool departed_ = false;  // said goodbye
  bool told_ = false;      // on_lost was called
  std::string failure_;
  uint64_t messages_ = 0, bytes_ = 0;
};

}  // namespace vicinity::channel::ucx
