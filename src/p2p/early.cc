// SPDX-License-Identifier: BSD-3-Clause
// Counts by sender, so that nobody uses up the room of others.
#include "p2p/early.h"

#include <algorithm>
#include <utility>

#include "object/communicator.h"

namespace vicinity::p2p {

bool EarlyRevocations::keep(uint32_t context, channel::Proc from) {
  std::vector<channel::Proc>& senders = senders_[context];
  if (std::find(senders.begin(), senders.end(), from) != senders.end()) return true;
  uint32_t& count = counts_[from];
  if (count == kMost) {
    if (senders.empty()) senders_.erase(context);
    return false;
  }
  ++count;
  senders.push_back(from);
  return true;
}

std::vector<channel::Proc> EarlyRevocations::take(uint32_t context) {
  const auto found = senders_.find(context);
  if (found == senders_.end()) return {};
  const std::vector<channel::Proc> senders = std::move(found->second);
  senders_.erase(found);
  for (channel::Proc from : senders)
    if (--counts_[from] == 0) counts_.erase(from);
  return senders;
}

// A communicator has kLanes contexts; 64 communicators a word.
uint32_t FreedContexts::word(uint32_t context) { return context / object::kLanes / 64; }
uint64_t FreedContexts::bit(uint32_t context) { return uint64_t{1} << context / object::kLanes % 64; }

}  // namespace vicinity::p2p
