// SPDX-License-Identifier: BSD-3-Clause
// The sending end of the ring of one directed pair, a view that owns no memory.
//
// Invariants:
//   next_ is the slot of the line with sequence seq_; it and room_ - 1 lines after it are known to be free.
//   A line is written only while it is free; freeing comes from the receiver's Credit, which is
//   believed only within what we have produced.
//   send() either publishes the whole message or has no effect.
//   Bulk buffers are taken from the pool of this process's section; the pair never holds more than
//   its share, so the pool never runs dry for another pair.
//
// The small path writes one line: no locked instruction, no fence (x86 TSO, stlr on aarch64), no
// division, and it reads no shared line except the receiver's status, which stays in our cache until
// the receiver goes to sleep.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "channel/channel.h"
#include "channel/copy.h"
#include "channel/ring/line.h"
#include "region/layout.h"

namespace vicinity::channel::ring {

// The bulk buffers of this process's section. Memory is touched late: the first message takes the first
// buffers, and all of them are in use only after many messages that were long enough to gain from it; how
// many depends on what pages cost here. Those of a memfd have to be made, those of an old file only mapped.
class BufferPool {
 public:
  // How many takes pay for a buffer that took `ns` to touch.
  static uint32_t takes_to_earn(int64_t ns);

  BufferPool() = default;
  BufferPool(std::byte* base, uint32_t count, uint32_t bytes_each);
  // The one that came back last, for a message of one buffer: it may still be in our cache.
  uint32_t take_newest() { return available_ ? free_[within(first_ + --available_)] : touch(); }
  // The one that came back first, for a longer message: to write where the receiver's private cache still has
  // the last message takes a third longer than to write where that has left it.
  uint32_t take_oldest();
  void give(uint32_t index) { free_[within(first_ + available_++)] = index; }
  uint32_t available() const { return available_ + count_ - touched_; }
  uint32_t bytes_each() const { return bytes_each_; }
  std::byte* at(uint32_t index) const { return base_ + size_t{index} * bytes_each_; }

 private:
  uint32_t within(uint32_t at) const { return at < count_ ? at : at - count_; }
  uint32_t touch();

  std::byte* base_ = nullptr;
  uint32_t bytes_each_ = 0;
  uint32_t count_ = 0, touched_ = 0;
  uint32_t unearned_ = 0;               // takes until another one may be touched without need
  uint32_t first_ = 0, available_ = 0;  // of free_, a queue
  std::unique_ptr<uint32_t[]> free_;
};

// Where the parts of one directed pair lie in this process.
struct SenderParts {
  Line* lines = nullptr;  // ring, in our section
  uint32_t line_count = 0;
  uint32_t generation = 0;
  const region::Credit* credit = nullptr;  // in the receiver's section
  Bell bell;                               // of the receiver
  uint64_t* receiver_hints = nullptr;      // HintLine::bits of the receiver
  uint8_t* opened = nullptr;               // our own byte for this receiver
  uint32_t own_section = 0;
  BufferPool* pool = nullptr;
  uint32_t share = 0;           // most bulk buffers of this pair
  uint32_t largest = 0;         // payload bytes of one message
  uint32_t* retries = nullptr;  // counts the kRetry of all senders of this process
};

class Sender {
 public:
  Sender() = default;
  explicit Sender(const SenderParts& parts);
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;
  Sender(Sender&&) = default;
  Sender& operator=(Sender&&) = default;

  Answer send(const Envelope& envelope, const void* data, size_t bytes) {
    uint64_t word[2];
    std::memcpy(word, &envelope, sizeof word);
    if (room_ != 0 && bytes <= kFirstPayload && word[1] >> 32 == 0) [[likely]] {
      Line* line = next_;
      copy_small(line->payload, data, bytes);
      const uint64_t control =
          make_control(word[1] & 0xffff, Form::kShort, static_cast<uint32_t>(bytes), seq_);
      publish(line, word[0], control);
      advance(1);
      ring_bell();
      return Answer::kDone;
    }
    return send_slowly(envelope, data, bytes);
  }

  size_t largest() const { return parts_.largest; }
  static constexpr const char* name() { return "ring"; }

  // Why the last send() failed, or nullptr. Set once, when the receiver's credit is a lie or by close().
  const char* failure() const { return failure_; }
  // No more lines: the peer is gone.
  void close(const char* why) {
    failure_ = why;
    room_ = 0;
  }

  // Sequence of the next line: how much has been sent.
  uint32_t written() const { return seq_; }

  // Wakes the receiver if it sleeps, without a message.
  void nudge() { ring_bell(); }

 private:
  friend struct RingTestAccess;

  void advance(uint32_t lines) {
    seq_ += lines;
    room_ -= lines;
    next_ = base_ + ((seq_ - 1) & mask_);
  }
  void ring_bell() {
    if (const uint32_t seen = bell_.look(); seen != region::kAwake) [[unlikely]]
      bell_.ring(seen);
  }

  Answer send_slowly(const Envelope& envelope, const void* data, size_t bytes);
  Answer send_frame(const Envelope& envelope, const std::byte* data, size_t bytes);
  Answer send_packed(const Envelope& envelope, const std::byte* data, size_t bytes);
  Answer send_bulk(const Envelope& envelope, const std::byte* data, size_t bytes);
  void publish_bulk(const Envelope& envelope, const BulkFirst& first, uint32_t cuts);
  bool have_room(uint32_t lines);
  bool have_buffers(uint32_t count);
  void refresh();
  void refresh_buffers();
  void hold(uint32_t buffer);
  void count_piece();
  // A buffer that this pair holds, and how many pieces had been sent when it got its last.
  struct Held {
    uint32_t buffer;
    uint64_t last;
  };
  Held& held(uint64_t number) { return held_[number % parts_.share]; }
  uint64_t timed_credit();
  void fill(std::byte* to, const std::byte* from, size_t bytes) const;
  void open();

  // The small path's state: one cache line.
  Line* next_ = nullptr;
  Line* base_ = nullptr;
  Bell bell_;  // of the receiver
  uint32_t seq_ = 0;
  uint32_t room_ = 0;
  uint32_t mask_ = 0;
  bool known_ = false;  // to the receiver
  const char* failure_ = nullptr;

  // What refills it.
  uint64_t credited_ = 0;     // lines the receiver has given back
  uint32_t frame_limit_ = 0;  // most payload of a frame: at most half a ring
  // Buffers that this pair holds, in the order of sending: held(buffers_back_) .. held(buffers_taken_ - 1)
  uint64_t buffers_taken_ = 0, buffers_back_ = 0;
  uint64_t pieces_sent_ = 0, pieces_back_ = 0;
  uint32_t open_ = 0;  // bytes left in the newest of them, for messages that share it
  uint32_t warm_ = 0;  // hold no more before looking for some that came back
  uint32_t looks_ = 0;
  int64_t distance_ns_ = 0;  // to read a line that the receiver has written, on average
  std::unique_ptr<Held[]> held_;
  SenderParts parts_;
};

}  // namespace vicinity::channel::ring
