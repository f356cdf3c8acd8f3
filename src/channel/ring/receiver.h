// SPDX-License-Identifier: BSD-3-Clause
// The receiving end of the ring of one directed pair, a view that owns no shared memory.
//
// Everything in the ring was written by the peer and may be a lie. Each control word, address and
// buffer index is loaded once into a register and checked there: sequence, form, length, index against
// the geometry that we derived ourselves. What cannot be true closes the pair. Payload may be
// anything; it is copied once, and never more than the sink gave room for.
#pragma once

#include <cstddef>
#include <cstdint>

#include "channel/channel.h"
#include "channel/copy.h"
#include "channel/ring/line.h"
#include "region/layout.h"

namespace vicinity::channel::ring {

// What polling needs of one ring, dense in memory: 16 bytes.
struct Watch {
  const Line* next;   // where the next line will appear
  uint32_t sequence;  // and its sequence
  uint32_t peer;      // section of the sender

  // Has it arrived? The control word is read once.
  bool arrived(uint64_t* control) const {
    *control = read_control(next);
    return sequence_of(*control) == sequence;
  }
};

struct ReceiverParts {
  const Line* lines = nullptr;  // in the sender's section
  uint32_t line_count = 0;
  uint32_t generation = 0;
  region::Credit* credit = nullptr;  // in our section
  Bell bell;                         // of the sender, who may sleep for want of credit
  const std::byte* bulk = nullptr;   // the sender's buffers
  uint32_t buffers = 0;
  uint32_t buffer_bytes = 0;
  uint32_t largest = 0;
  Proc proc = 0;
};

class Receiver {
 public:
  Receiver() = default;
  explicit Receiver(const ReceiverParts& parts) : parts_(parts), mask_(parts.line_count - 1) {}

  // The watch of a ring from which nothing has been read.
  Watch watch(uint32_t peer) const { return {parts_.lines, first_sequence(parts_.generation), peer}; }

  // Takes what has arrived, starting with the line whose control word is given; at most a handful of
  // messages. Returns the number of events. After a lie failure() says which.
  int receive(Watch& watch, uint64_t control, Sink& sink);

  // Takes the line that has arrived if it is the message that is wanted.
  bool take_wanted(Watch& watch, uint64_t control, Wanted& wanted) {
    const Line* line = watch.next;
    const uint64_t address = __atomic_load_n(&line->address, __ATOMIC_RELAXED);
    const size_t length = length_of(control);
    if ((control & kFormAndKind) != (wanted.kind | uint64_t{static_cast<uint8_t>(Form::kShort)} << 28) ||
        ((address ^ wanted.address) & wanted.mask) != 0 || length > wanted.room || length > kFirstPayload ||
        state_ != State::kBetween)
      return false;
    copy_small(wanted.where, line->payload, length);
    step(watch);
    ++messages_;
    bytes_ += length;
    wanted.address = address;
    wanted.bytes = length;
    wanted.taken = true;
    if (consumed_ - credited_ >= parts_.line_count / 4) [[unlikely]]
      give_credit();
    return true;
  }

  // Tells the sender how far we are, if it does not know yet.
  void give_credit();
  const char* failure() const { return failure_; }
  // Sequence of the next line that is expected: how much has been read.
  uint32_t next_expected() const {
    return first_sequence(parts_.generation) + static_cast<uint32_t>(consumed_);
  }
  // No message has been read in part.
  bool between() const { return state_ == State::kBetween; }
  Proc proc() const { return parts_.proc; }
  uint64_t messages() const { return messages_; }
  uint64_t bytes() const { return bytes_; }
  uint32_t last_pass = 0;  // of the port's polling, when something came

 private:
  friend struct RingTestAccess;
  enum class State : uint8_t { kBetween, kInFrame, kInBulk };

  bool take_first(Watch& watch, uint64_t control, Sink& sink);
  bool take_short(Watch& watch, uint64_t control, uint32_t word, size_t bytes, Sink& sink);
  bool take_bulk(Watch& watch, uint64_t control, Sink& sink);
  bool take_more(Watch& watch, uint64_t control, Sink& sink);
  void take_piece(uint32_t buffer);
  void begin(const Envelope& envelope, size_t bytes, State state, Sink& sink);
  void put(const std::byte* data, size_t bytes);
  // The line is read and will not be looked at again; the sender may have it when we say so.
  void step(Watch& watch) {
    watch.next = parts_.lines + (watch.sequence & mask_);
    ++watch.sequence;
    ++consumed_;
  }
  void finish_if_whole(Sink& sink);
  void feed();
  bool lie(const char* why) {
    failure_ = why;
    return false;
  }

  ReceiverParts parts_;
  uint32_t mask_ = 0;
  State state_ = State::kBetween;
  Landing landing_{};
  size_t total_ = 0, done_ = 0;           // of the message that is being landed
  uint64_t consumed_ = 0, credited_ = 0;  // lines read, lines given back
  uint64_t pieces_ = 0;                   // of bulk messages, read
  uint32_t piece_ = 0;                    // bytes of a bulk message that come with one line
  uint32_t offset_ = 0;                   // in its first buffer, where it begins
  uint64_t messages_ = 0, bytes_ = 0;
  const char* failure_ = nullptr;
};

}  // namespace vicinity::channel::ring
