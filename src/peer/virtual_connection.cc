// SPDX-License-Identifier: BSD-3-Clause
// Queueing, control messages, single copy and the end of a connection.
#include "peer/virtual_connection.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "base/log.h"
#include "channel/cma/cma.h"
#include "channel/ucx/network.h"
#include "peer/table.h"

namespace vicinity::peer {
namespace {

// A control message that found no room: the copy lives until it is sent.
struct PostedCopy : Pending {
  std::byte copy[64];
};

}  // namespace

void VirtualConnection::be_nothing(Proc proc, std::string reason) {
  proc_ = proc;
  kind_ = Kind::kNone;
  reason_ = std::move(reason);
}

void VirtualConnection::be_self(Proc proc, channel::self::SelfChannel* self) {
  proc_ = proc;
  kind_ = Kind::kSelf;
  self_ = self;
  near_ = true;
  largest_ = widest_ = self->largest();
  single_copy_ = true;
  reason_ = "the process itself";
}

void VirtualConnection::be_ring(Proc proc, channel::ring::Sender sender, const channel::ring::Receiver* from,
                                int pid) {
  proc_ = proc;
  kind_ = Kind::kRing;
  near_ = true;
  ring_ = std::move(sender);
  ring_in_ = from;
  largest_ = widest_ = ring_.largest();
  pid_ = pid;
  set_straight();
}

void VirtualConnection::be_fake(Proc proc, channel::fake::FakeEnd* end) {
  proc_ = proc;
  kind_ = Kind::kFake;
  fake_ = end;
  near_ = true;
  largest_ = widest_ = end->largest();
  reason_ = "a test";
}

void VirtualConnection::be_network(Proc proc, channel::ucx::Network* network, std::string reason) {
  proc_ = proc;
  kind_ = Kind::kNetwork;
  network_ = network;
  link_ = &network->link(proc);
  largest_ = widest_ = link_->largest();
  reason_ = std::move(reason);
}

void VirtualConnection::be_parted(std::string reason) {
  be_nothing(proc_, std::move(reason));
  ring_ = channel::ring::Sender();
  network_ = nullptr;
  link_ = nullptr;
  straight_ = single_copy_ = false;
  lost_ = true;
}

void VirtualConnection::allow_single_copy(bool yes, std::string reason) {
  single_copy_ = single_copy_known_ = yes;
  reason_ = std::move(reason);
}

std::string VirtualConnection::lanes() const { return kind_ == Kind::kNetwork ? link_->lanes() : ""; }

const char* VirtualConnection::channel_name() const {
  switch (kind_) {
    case Kind::kSelf:
      return channel::self::SelfChannel::name();
    case Kind::kRing:
      return channel::ring::Sender::name();
    case Kind::kFake:
      return channel::fake::FakeEnd::name();
    case Kind::kNetwork:
      return channel::ucx::Link::name();
    case Kind::kNone:
      break;
  }
  return "none";
}

Answer VirtualConnection::send_on_channel(const Envelope& envelope, const void* data, size_t bytes) {
  Answer answer = Answer::kFailed;
  switch (kind_) {
    case Kind::kSelf:
      answer = self_->send(envelope, data, bytes);
      break;
    case Kind::kRing:
      answer = ring_.send(envelope, data, bytes);
      break;
    case Kind::kFake:
      answer = fake_->send(envelope, data, bytes);
      break;
    case Kind::kNetwork:
      answer = link_->send(envelope, data, bytes);
      break;
    case Kind::kNone:
      break;
  }
  if (answer == Answer::kDone) {
    ++counters_.messages_sent;
    counters_.bytes_sent += bytes;
  } else if (answer == Answer::kFailed) {
    return failed();
  }
  return answer;
}

Answer VirtualConnection::try_send_slowly(const Envelope& envelope, const void* data, size_t bytes) {
  if (lost_) return Answer::kFailed;
  return queue_.empty() && !paused_ ? send_on_channel(envelope, data, bytes) : Answer::kRetry;
}

// The ring found that the peer's credit is a lie, or the network cannot reach it. Where there is another way,
// the message waits for that; else everybody learns of the loss from the next progress.
Answer VirtualConnection::failed() {
  if (lost_) return Answer::kFailed;
  const char* why = kind_ == Kind::kNetwork ? link_->failure() : ring_.failure();
  if (kind_ == Kind::kRing && why && ring_failed(why, false)) return Answer::kRetry;
  if (why) detail::report_lost(proc_, why);
  return Answer::kFailed;
}

void VirtualConnection::queue(Pending* pending) {
  queue_.push_back(pending);
  offers_waiting_ += pending->offered;
  straight_ = false;
  detail::has_work(*this);
}

namespace {

void offer_ended(void* arg, bool good) {
  auto* pending = static_cast<Pending*>(arg);
  base::Status status = base::kOk;
  if (!good) status = base::fail(base::kProcAborted, "the peer of a large message is gone");
  pending->sent(pending, status);
}

}  // namespace

Answer VirtualConnection::pass_on(Pending* pending) {
  if (!pending->offered) return send_on_channel(pending->envelope, pending->data, pending->bytes);
  const size_t bytes = pending->bytes;  // it may be gone when the call returns
  const Answer answer = link_->offer(pending->envelope, pending->data, bytes, offer_ended, pending);
  if (answer == Answer::kDone) {
    ++counters_.messages_sent;
    counters_.bytes_sent += bytes;
  } else if (answer == Answer::kFailed) {
    return failed();
  }
  return answer;
}

void VirtualConnection::offer(Pending* pending) {
  pending->offered = true;
  if (lost_ || paused_ || !queue_.empty() || pass_on(pending) != Answer::kDone) queue(pending);
}

void VirtualConnection::fetch(void* offer, size_t bytes, void* where, channel::Fetch* fetch) {
  network_->fetch(offer, bytes, where, fetch);
}

void VirtualConnection::refuse(void* offer, size_t bytes) { network_->refuse(offer, bytes); }

void VirtualConnection::post(const Envelope& envelope, const void* data, size_t bytes) {
  if (try_send(envelope, data, bytes) != Answer::kRetry) return;
  auto* pending = new (std::nothrow) PostedCopy;
  if (!pending || bytes > sizeof pending->copy) {
    delete pending;
    VICINITY_LOG(kError, "a control message of %zu bytes to rank %u could not be queued", bytes, proc_);
    return;
  }
  if (bytes) std::memcpy(pending->copy, data, bytes);
  pending->envelope = envelope;
  pending->data = pending->copy;
  pending->bytes = bytes;
  pending->sent = [](Pending* self, base::Status) { delete static_cast<PostedCopy*>(self); };
  queue(pending);
}

int VirtualConnection::flush() {
  int events = 0;
  if (paused_ && !lost_) return 0;
  while (Pending* pending = queue_.front()) {
    base::Status status = base::kOk;
    const bool offered = pending->offered;
    if (offered) queue_.pop_front();  // it may end, and be used again, while it is passed on
    const Answer answer = lost_ ? Answer::kFailed : pass_on(pending);
    if (answer == Answer::kRetry) {
      if (offered) queue_.push_front(pending);
      return events;
    }
    offers_waiting_ -= offered;
    if (!offered) queue_.pop_front();
    ++events;
    if (answer == Answer::kDone && offered) continue;  // `sent` when it has been fetched
    if (answer == Answer::kFailed)
      status = base::fail(base::kProcAborted, "rank %u is gone: %s", proc_, reason_.c_str());
    if (pending->sent) pending->sent(pending, status);  // may send or queue more
  }
  if (!lost_) set_straight();
  return events;
}

void VirtualConnection::lose(const char* why) {
  if (lost_) return;
  lost_ = true;
  straight_ = false;
  single_copy_ = false;
  if (ring_in_) ring_.close(why);
  if (link_) link_->close(why);
  reason_ = why;
  if (!queue_.empty()) detail::has_work(*this);
}

bool VirtualConnection::read_remote(uint64_t address, const struct iovec* into, size_t pieces, size_t bytes) {
  if (!single_copy_) return false;
  if (kind_ == Kind::kSelf) {
    const auto* from = reinterpret_cast<const std::byte*>(address);
    for (size_t i = 0; i < pieces && bytes != 0; ++i) {
      const size_t part = std::min(into[i].iov_len, bytes);
      if (part) std::memmove(into[i].iov_base, from, part);
      from += part;
      bytes -= part;
    }
    return true;
  }
  const int error = channel::cma::read(pid_, address, into, pieces, bytes);
  if (error == 0) return true;
  char why[96];
  std::snprintf(why, sizeof why, "process_vm_readv: %s", strerror(error));
  demote(why);
  return false;
}

void VirtualConnection::demote(const char* why) {
  if (!single_copy_) return;
  single_copy_ = single_copy_known_ = false;
  reason_ = ring_name_ = std::string("no single copy: ") + why;
  VICINITY_LOG(kInfo, "large messages from rank %u go through the region from now on: %s", proc_, why);
}

Counters& VirtualConnection::counters() {
  detail::fill_received(proc_, counters_);
  return counters_;
}

}  // namespace vicinity::peer
