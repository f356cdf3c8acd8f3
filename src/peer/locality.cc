// SPDX-License-Identifier: BSD-3-Clause
// Groups of ranks from what their cards say.
#include "peer/locality.h"

#include <algorithm>
#include <vector>

namespace vicinity::peer {
namespace {

bool one_kernel(const Card& a, const Card& b) { return a.host_id == b.host_id; }

bool may_use_memfd(const Card& card) { return card.backing == "auto" || card.backing == "memfd"; }
bool may_use_file(const Card& card) {
  return (card.backing == "auto" || card.backing == "file") && card.directory_inode != 0;
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
  return a.host_region != "none" && a.host_region == b.host_region;
}

bool includes(const std::vector<uint32_t>& all, const std::vector<uint32_t>& some) {
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

template <class Same>
std::vector<uint32_t> group_of(const std::vector<Card>& cards, uint32_t self, Same&& same) {
  std::vector<uint32_t> group;
  for (uint32_t rank = 0; rank < cards.size(); ++rank)
    if (rank == self || same(cards[self], cards[rank])) group.push_back(rank);
  return group;
}

}  // namespace

// Both kinds of group are equivalence classes, and what is dropped here is decided by looking at all
// members of a class, so that every member comes to the same answer.
Proposal propose(const std::vector<Card>& cards, uint32_t self) {
  Proposal proposal;
  proposal.memfd = group_of(cards, self, same_memfd);
  proposal.file = group_of(cards, self, same_file);
  // One region is enough where one reaches everybody. A memfd is preferred: nothing to clean up.
  const Card& first = cards[proposal.file[0]];
  const bool spans = std::any_of(proposal.file.begin(), proposal.file.end(),
                                 [&](uint32_t rank) { return !same_memfd(first, cards[rank]); });
  if (proposal.file.size() < 2 || !spans) proposal.file.clear();
  if (proposal.memfd.size() < 2 || includes(proposal.file, proposal.memfd)) proposal.memfd.clear();
  proposal.host = group_of(cards, self, same_host_region);
  // Clones of one virtual machine look like one kernel, but for their names.
  const bool one_name = std::all_of(proposal.host.begin(), proposal.host.end(), [&](uint32_t rank) {
    return cards[rank].host == cards[proposal.host[0]].host;
  });
  const bool known = includes(proposal.memfd, proposal.host) || includes(proposal.file, proposal.host);
  if (proposal.host.size() < 2 || (known && one_name)) proposal.host.clear();
  return proposal;
}

}  // namespace vicinity::peer
