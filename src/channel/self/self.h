// SPDX-License-Identifier: BSD-3-Clause
// The channel of a process to itself: a bounded queue of copies, delivered by poll().
//
// Invariants: messages are delivered in the order they were sent; a message is out of the queue before
// landed() is called, so that the sink may send to itself from there. The queue is emptied by progress
// alone and never by the sender, therefore a full queue answers kRetry like any other channel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/progress.h"
#include "channel/channel.h"

namespace vicinity::channel::self {

class SelfChannel final : public base::Poller {
 public:
  SelfChannel(Proc proc, Sink& sink);
  SelfChannel(const SelfChannel&) = delete;
  SelfChannel& operator=(const SelfChannel&) = delete;

  Answer send(const Envelope& envelope, const void* data, size_t bytes);
  size_t largest() const { return kLargest; }
  static constexpr const char* name() { return "self"; }
  int poll() override;

 private:
  static constexpr size_t kLargest = 32768;
  static constexpr uint32_t kSlots = 256;  // power of two
  static constexpr size_t kInline = 104;

  struct Message {
    Envelope envelope;
    size_t bytes;
    std::unique_ptr<std::byte[]> large;  // when bytes > kInline
    std::byte small[kInline];
  };

  void deliver(Message& message);

  Proc proc_;
  Sink& sink_;
  uint32_t head_ = 0, tail_ = 0;  // free-running; tail_ - head_ messages wait
  std::unique_ptr<Message[]> messages_;
};

}  // namespace vicinity::channel::self
