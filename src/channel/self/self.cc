// SPDX-License-Identifier: BSD-3-Clause
// Messages to oneself: one copy in, one copy out.
#include "channel/self/self.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace vicinity::channel::self {

static_assert(Channel<SelfChannel>);

SelfChannel::SelfChannel(Proc proc, Sink& sink) : proc_(proc), sink_(sink), messages_(new Message[kSlots]) {}

Answer SelfChannel::send(const Envelope& envelope, const void* data, size_t bytes) {
  if (tail_ - head_ == kSlots) return Answer::kRetry;
  if (bytes > kLargest) return Answer::kFailed;
  Message& message = messages_[tail_ % kSlots];
  std::byte* to = message.small;
  if (bytes > kInline) {
    message.large.reset(new (std::nothrow) std::byte[bytes]);
    if (!message.large) return Answer::kRetry;
    to = message.large.get();
  }
  if (bytes) std::memcpy(to, data, bytes);
  message.envelope = envelope;
  message.bytes = bytes;
  ++tail_;
  return Answer::kDone;
}

void SelfChannel::deliver(Message& message) {
  const size_t bytes = message.bytes;
  const Landing landing = sink_.land(proc_, message.envelope, bytes);
  const size_t fits = std::min(bytes, landing.room);
  if (fits) std::memcpy(landing.where, bytes > kInline ? message.large.get() : message.small, fits);
  message.large.reset();
  ++head_;  // landed() may send: `message` is not ours any more
  sink_.landed(landing, bytes);
}

int SelfChannel::poll() {
  int events = 0;
  for (uint32_t last = tail_; head_ != last; ++events) deliver(messages_[head_ % kSlots]);
  return events;
}

}  // namespace vicinity::channel::self
