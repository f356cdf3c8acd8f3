// SPDX-License-Identifier: BSD-3-Clause
// Groups of ranks from what their cards say.
#include "peer/locality.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string_view>
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
