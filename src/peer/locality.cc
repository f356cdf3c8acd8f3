// SPDX-License-Identifier: BSD-3-Clause
// Groups of ranks from what their cards say.
#include "peer/locality.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/param.h"
#include "peer/channels.h"

namespace vicinity::peer {
namespace {

using base::fail;
using base::Result;
using base::Status;

base::Param<std::string> locality{
    "VICINITY_LOCALITY", "peer", "", nullptr,
    "Who may share memory, where that is known beforehand: groups of ranks (0-3,7;4-6) or of hosts "
    "(nodeA,nodeB;nodeC), or @FILE with a line for each group. Empty: whoever can prove it."};

bool one_kernel(const Card& a, const Card& b) { return a.host_id == b.host_id; }

bool may_use_memfd(const Card& card) {
  return (card.channels & kAllowRing) && (card.backing == "auto" || card.backing == "memfd");
}
bool may_use_file(const Card& card) {
  const bool wanted = card.backing == "auto" || card.backing == "file";
  return (card.channels & kAllowRing) && wanted && card.directory_inode != 0;
}

// Opening another's descriptor through /proc takes the same pids, and the right to trace it.
bool same_memfd(const Card& a, const Card& b) {
  return one_kernel(a, b) && may_use_memfd(a) && may_use_memfd(b) && a.pid_namespace == b.pid_namespace &&
         a.user_namespace == b.user_namespace && a.uid == b.uid;
}

bool same_file(const Card& a, const Card& b) {
  return one_kernel(a, b) && may_use_file(a) && may_use_file(b) && a.directory_device == b.directory_device &&
         a.directory_inode == b.directory_inode;
}

bool same_host_region(const Card& a, const Card& b) {
  return (a.channels & b.channels & kAllowRing) && a.host_region != "none" && a.host_region == b.host_region;
}

// The same, in words: two cards have one of them in common if they may share memory in that way.
std::vector<std::string> memories_of(const Card& card, Place place) {
  std::vector<std::string> all;
  const auto words = [](const std::string& first, std::initializer_list<uint64_t> numbers) {
    std::string text = first;
    for (uint64_t number : numbers) text += " " + std::to_string(number);
    return text;
  };
  if (may_use_memfd(card))
    all.push_back(words("memfd " + card.host_id, {card.pid_namespace, card.user_namespace, card.uid}));
  if (may_use_file(card))
    all.push_back(words("file " + card.host_id, {card.directory_device, card.directory_inode}));
  if (place == Place::kHost && (card.channels & kAllowRing) && card.host_region != "none")
    all.push_back("host " + card.host_region);
  return all;
}

// Ranks that have been joined, one by one, to sets; the lowest rank of a set stands for it.
class Joined {
 public:
  explicit Joined(size_t ranks) : lower_(ranks) { std::iota(lower_.begin(), lower_.end(), 0u); }
  void join(uint32_t a, uint32_t b) {
    a = find(a), b = find(b);
    lower_[std::max(a, b)] = std::min(a, b);
  }
  std::vector<uint32_t> lowest() {
    for (uint32_t rank = 0; rank < lower_.size(); ++rank) lower_[rank] = find(rank);
    return std::move(lower_);
  }

 private:
  uint32_t find(uint32_t rank) {
    while (lower_[rank] != rank) rank = lower_[rank] = lower_[lower_[rank]];
    return rank;
  }
  std::vector<uint32_t> lower_;
};

bool includes(const std::vector<uint32_t>& all, const std::vector<uint32_t>& some) {
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

bool said_together(const std::vector<int>& stated, uint32_t a, uint32_t b) {
  return stated.empty() || (stated[a] >= 0 && stated[a] == stated[b]);
}

// Puts the ranks that `word` names, "7", "0-3" or a host, into the group.
Status state(std::string_view word, int group, const std::vector<Card>& cards, std::vector<int>* groups) {
  if (word.find_first_not_of("0123456789-") != word.npos || word[0] == '-') {
    for (size_t rank = 0; rank < cards.size(); ++rank)
      if (cards[rank].host == word) (*groups)[rank] = group;
    return base::kOk;
  }
  const std::string text(word);
  char* end = nullptr;
  const unsigned long first = std::strtoul(text.c_str(), &end, 10);
  const unsigned long last = *end == '-' ? std::strtoul(end + 1, &end, 10) : first;
  if (*end != '\0' || word.back() == '-' || first > last || last >= cards.size())
    return fail(base::kArgument,
                "VICINITY_LOCALITY: `%s` is no rank and no range of ranks of this job of %zu", text.c_str(),
                cards.size());
  for (unsigned long rank = first; rank <= last; ++rank) (*groups)[rank] = group;
  return base::kOk;
}

template <class Same>
std::vector<uint32_t> group_of(const std::vector<Card>& cards, uint32_t self, const std::vector<int>& stated,
                               Same&& same) {
  std::vector<uint32_t> group;
  for (uint32_t rank = 0; rank < cards.size(); ++rank)
    if (rank == self || (said_together(stated, self, rank) && same(cards[self], cards[rank])))
      group.push_back(rank);
  return group;
}

}  // namespace

// Both kinds of group are equivalence classes, and what is dropped here is decided by looking at all
// members of a class, so that every member comes to the same answer.
Proposal propose(const std::vector<Card>& cards, uint32_t self, const std::vector<int>& stated) {
  Proposal proposal;
  proposal.memfd = group_of(cards, self, stated, same_memfd);
  proposal.file = group_of(cards, self, stated, same_file);
  // One region is enough where one reaches everybody. A memfd is preferred: nothing to clean up.
  const Card& first = cards[proposal.file[0]];
  const bool spans = std::any_of(proposal.file.begin(), proposal.file.end(),
                                 [&](uint32_t rank) { return !same_memfd(first, cards[rank]); });
  if (proposal.file.size() < 2 || !spans) proposal.file.clear();
  if (proposal.memfd.size() < 2 || includes(proposal.file, proposal.memfd)) proposal.memfd.clear();
  proposal.host = group_of(cards, self, stated, same_host_region);
  // Clones of one virtual machine look like one kernel, but for their names.
  const bool one_name = std::all_of(proposal.host.begin(), proposal.host.end(), [&](uint32_t rank) {
    return cards[rank].host == cards[proposal.host[0]].host;
  });
  const bool known = includes(proposal.memfd, proposal.host) || includes(proposal.file, proposal.host);
  if (proposal.host.size() < 2 || (known && one_name)) proposal.host.clear();
  return proposal;
}

std::vector<uint32_t> places(const std::vector<Card>& cards, const std::vector<int>& stated, Place place) {
  Joined joined(cards.size());
  std::unordered_map<std::string, uint32_t> first;  // who has said this of itself
  for (uint32_t rank = 0; rank < cards.size(); ++rank) {
    if (!stated.empty() && stated[rank] < 0) continue;
    const std::string group = stated.empty() ? "" : std::to_string(stated[rank]) + " ";
    for (const std::string& key : memories_of(cards[rank], place))
      joined.join(first.emplace(group + key, rank).first->second, rank);
  }
  return joined.lowest();
}

const std::string& locality_setting() { return locality.get(); }

Result<std::vector<int>> stated_groups(const std::string& text, const std::vector<Card>& cards) {
  if (text.empty()) return std::vector<int>{};
  std::string all = text;
  if (text[0] == '@') {
    std::ifstream file(text.substr(1));
    if (!file) return fail(base::kArgument, "VICINITY_LOCALITY: cannot read %s", text.c_str() + 1);
    all.assign(std::istreambuf_iterator<char>(file), {});
  }
  std::vector<int> groups(cards.size(), -1);
  int group = 0;
  for (size_t at = 0; at < all.size();) {
    const size_t end = std::min(all.find_first_of(";\n, \t", at), all.size());
    if (end != at) VICINITY_TRY(state(std::string_view(all).substr(at, end - at), group, cards, &groups));
    if (end < all.size() && (all[end] == ';' || all[end] == '\n')) ++group;
    at = end + 1;
  }
  return groups;
}

}  // namespace vicinity::peer
