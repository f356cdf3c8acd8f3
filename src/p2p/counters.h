// SPDX-License-Identifier: BSD-3-Clause
// Plain numbers of point-to-point traffic, read by the tools interface as performance variables.
// Written under the engine lock only.
#pragma once

#include <cstdint>

namespace vicinity::p2p {

struct Counters {
  uint64_t unexpected = 0;        // messages in the unexpected queues now
  uint64_t unexpected_most = 0;   // most there ever were
  uint64_t unexpected_bytes = 0;  // payload bytes held for them now
  uint64_t unexpected_total = 0;  // messages that ever came before their receive
  uint64_t posted = 0;            // receives in the posted queues now
  uint64_t posted_most = 0;
  uint64_t eager_messages = 0;  // sent in one piece
  uint64_t eager_bytes = 0;
  uint64_t read_messages = 0;  // received by single copy from the sender's memory
  uint64_t read_bytes = 0;
  uint64_t streamed_messages = 0;  // sent as a pipeline of data messages
  uint64_t streamed_bytes = 0;
  uint64_t received_messages = 0;  // receives completed with a message
  uint64_t received_bytes = 0;
  uint64_t match_attempts = 0;  // queue elements looked at while matching
};

const Counters& counters();

}  // namespace vicinity::p2p
