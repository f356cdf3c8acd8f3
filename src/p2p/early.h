// SPDX-License-Identifier: BSD-3-Clause
// Revocations of communicators that this process does not know: they are still being made here, they have
// been freed, or the sender lies. Contexts are agreed on by the members and never used twice
// (world/context.h).
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "channel/channel.h"

namespace vicinity::p2p {

class EarlyRevocations {
 public:
  // Of one sender, about communicators that it has and this process does not have yet.
  static constexpr uint32_t kMost = 1024;

  // False: more than any correct process sends.
  bool keep(uint32_t context, channel::Proc from);
  // Who has revoked this communicator, which is known from now on.
  std::vector<channel::Proc> take(uint32_t context);
  size_t kept() const { return senders_.size(); }

 private:
  std::unordered_map<uint32_t, std::vector<channel::Proc>> senders_;  // by context
  std::unordered_map<channel::Proc, uint32_t> counts_;                // by sender; never 0
};

// The contexts of the communicators that this process has freed: a bit each, so that a program may make and
// free communicators for ever.
class FreedContexts {
 public:
  void add(uint32_t context) { words_[word(context)] |= bit(context); }
  bool has(uint32_t context) const {
    const auto found = words_.find(word(context));
    return found != words_.end() && (found->second & bit(context));
  }

 private:
  static uint32_t word(uint32_t context);
  static uint64_t bit(uint32_t context);
  std::unordered_map<uint32_t, uint64_t> words_;
};

}  // namespace vicinity::p2p
