// SPDX-License-Identifier: BSD-3-Clause
// For tests: stops a sender in the middle of what it does, so that races happen on command.
#pragma once

#include "channel/ring/port.h"

namespace vicinity::channel::ring {

struct RingTestAccess {
  // The line that the next message will use; writing to it without publish() is a sender that was
  // stopped between reserve and publish.
  static Line* next(Sender& sender) { return sender.next_; }
  static uint32_t sequence(Sender& sender) { return sender.seq_; }
  static uint32_t room(Sender& sender) { return sender.room_; }
  static void prepare(Sender& sender) { sender.have_room(1); }
  // As if the line at next() had been published by the sender itself.
  static void advance(Sender& sender) { sender.advance(1); }
  static uint32_t take_buffer(Sender& sender) {
    const uint32_t buffer = sender.parts_.pool->take_oldest();
    sender.hold(buffer);
    sender.count_piece();
    return buffer;
  }
  static std::byte* buffer(Sender& sender, uint32_t index) { return sender.parts_.pool->at(index); }
  // As if the receiver were that far away.
  static void set_distance(Sender& sender, int64_t ns) { sender.distance_ns_ = ns; }
  static uint32_t free_buffers(Sender& sender) { return sender.parts_.pool->available(); }
};

}  // namespace vicinity::channel::ring
