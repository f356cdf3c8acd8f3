// SPDX-License-Identifier: BSD-3-Clause
// Large messages on a channel whose adapter moves them from buffer to buffer: the sender offers, the receiver
// fetches when it has found out where the bytes belong.
//
//   sender:    connection.offer(&pending);                           // its buffer lives until `sent`
//   receiver:  sink.offered(from, envelope, bytes, offer);           // in order with other messages
//              connection.fetch(offer, bytes, where, &fetch);        // once per offer, now or later
#pragma once

#include <cstddef>
#include <cstdint>

namespace vicinity::channel {

// One fetch under way; lives until `done`.
struct Fetch {
  // Used when `where` is nullptr: takes a part of the message. Parts may come in any order.
  void (*write)(Fetch* self, size_t offset, const void* from, size_t bytes) = nullptr;
  // Called once. Not good: the peer is gone, and where the bytes should be is anything.
  void (*done)(Fetch* self, bool good) = nullptr;
  uint64_t type = 0, bytes = 0;  // these are the channel's own
  const void* channel = nullptr;
};

}  // namespace vicinity::channel
