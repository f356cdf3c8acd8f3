// SPDX-License-Identifier: BSD-3-Clause
// This process's end of the network: one UCP worker, and a link to each process that it has spoken with.
//
// A message is an active message with a header of 24 bytes (docs/formats/messages.md): the envelope, the
// number of the sender at the receiver, and a number that counts the messages of the directed pair. UCP
// promises no order between messages that take several lanes; here they are handed on in the order of their
// numbers, and who comes too early waits.
//
// A link is connected at the first message, in either direction: hearing from a process makes an endpoint
// to it too, because only an endpoint tells that its peer has died.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/progress.h"
#include "base/status.h"
#include "channel/channel.h"
#include "channel/offer.h"
#include "channel/ucx/link.h"
#include "channel/ucx/ucx_abi.h"

namespace vicinity::channel::ucx {

struct NetworkOptions {
  Proc self = 0;
  uint32_t count = 0;
  size_t largest = 17 << 10;
  std::string transport = "auto";  // or what UCX_TLS takes
};
// The parameters of this channel.
NetworkOptions wanted_options(Proc self, uint32_t count);

class Network final : public base::Poller {
 public:
  static base::Result<std::unique_ptr<Network>> open(const NetworkOptions& options, Sink& sink);
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;
  ~Network();

  // What other processes need to reach this one; opaque bytes.
  const std::string& address() const { return address_; }
  const char* version() const { return ucp_.get_version_string(); }
  const NetworkOptions& options() const { return options_; }

  // The end towards `proc`; stays where it is. Numbers from options().count on are guests: they are heard of
  // only from the first link() on.
  Link& link(Proc proc);
  // nullptr: there has been no need of one yet.
  const Link* find(Proc proc) const { return proc < links_.size() ? links_[proc].get() : nullptr; }
  // Links take messages of up to `bytes`, though longer than largest(): they were made for another channel.
  void carry(size_t bytes) { most_ = std::max(most_, bytes); }
  // Has it opened the network? Asks for its address.
  bool knows(Proc proc) const { return (links_[proc] && links_[proc]->endpoint_) || address_of(proc).ok(); }
  // Asked once per process, at the first message.
  base::Result<std::string> (*address_of)(Proc proc) = nullptr;
  // A process is gone that did not say goodbye. Called from poll().
  void (*on_lost)(Proc proc, const char* why) = nullptr;
  // Look at the network only now and then while it is quiet: a look is a system call on some transports, and
  // there are rings to be polled.
  bool sparing = false;

  int poll() override;
  // Before a sleep on descriptor(). False: there is something to poll for already.
  bool arm();
  int descriptor() const { return descriptor_; }
  uint64_t progressed() const { return progressed_; }  // polls that found something

  // Fetches an offered message: to `where`, or through fetch->write. `done` may be called before it returns.
  void fetch(void* offer, size_t bytes, void* where, Fetch* fetch);
  // Nobody wants it.
  void refuse(void* offer, size_t bytes);

  // Everything sent is on its way, and our end is no death to be mourned. Bounded.
  void farewell();
  // The first half of it, for who ends without a goodbye; and `waiting`, requests of UCP.
  void push_out(std::vector<void*> waiting = {});

 private:
  friend class Link;
  static constexpr unsigned kMessageId = 1, kFarewellId = 2;  // of active messages
  struct Early;

  Network(const abi::Functions& ucp, const NetworkOptions& options, Sink& sink);
  base::Status start();
  base::Status start_context();
  base::Status start_worker();
  base::Status handle(unsigned id, abi::ArrivalCallback callback);

  static abi::StatusCode on_message(void* self, const void* header, size_t header_bytes, void* data,
                                    size_t bytes, const abi::ArrivalParam* param);
  static abi::StatusCode on_farewell(void* self, const void* header, size_t header_bytes, void* data,
                                     size_t bytes, const abi::ArrivalParam* param);
  abi::StatusCode arrive(const Header& header, void* data, size_t bytes, uint64_t attributes);
  void deliver(Link& link, const Header& header, void* data, size_t bytes, bool rendezvous);
  abi::StatusCode keep_early(Link& link, const Header& header, void* data, size_t bytes, uint64_t attributes);
  void deliver_early(Link& link);
  Link* sender_of(const void* header, size_t bytes, Header* out);
  void handle_news();

  Slot* take_slot(size_t room_bytes);
  void give_slot(Slot* slot);

  const abi::Functions& ucp_;
  const NetworkOptions options_;
  Sink& sink_;
  abi::Context context_ = nullptr;
  abi::Worker worker_ = nullptr;
  int descriptor_ = -1;
  std::string address_;
  std::vector<std::unique_ptr<Link>> links_;
  std::map<std::pair<Proc, uint32_t>, Early> early_;
  std::vector<Link*> news_;  // heard of for the first time, or failed
  size_t most_;
  Slot *free_slots_ = nullptr, *free_headers_ = nullptr;
  bool polling_ = false;
  uint32_t quiet_ = 0, events_ = 0;
  int64_t looked_at_ = 0;
  uint64_t progressed_ = 0;
};

// What the refusal of a call means, for people.
std::string words_of(const abi::Functions& ucp, abi::StatusCode status);

}  // namespace vicinity::channel::ucx
