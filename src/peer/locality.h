// SPDX-License-Identifier: BSD-3-Clause
// The locality detector's first half: who might share memory with us.
//
// Identity proposes, a region decides. A proposal is made from cards alone, so all members of a group make
// the same one; whether it was right turns out when they try (forming.h): whoever does not see the region's
// nonce is not in it, whatever its identity says. Snapshots of virtual machines share boot ids, containers
// share host names; both are only proposals that fail.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "peer/card.h"

namespace vicinity::peer {

// Ranks, ascending, ourselves among them; empty: no such region is worth a try.
struct Proposal {
  std::vector<uint32_t> memfd;  // one kernel, one pid namespace, one user: found through the creator's pid
  std::vector<uint32_t> file;   // one kernel, one region directory (the same file system and inode)
  std::vector<uint32_t> host;   // one host region: the same random identity stands in it
};
// `stated`: what stated_groups() made of VICINITY_LOCALITY, or empty.
Proposal propose(const std::vector<Card>& cards, uint32_t self, const std::vector<int>& stated);

// The static form: "0-3,7;4-6" or "nodeA,nodeB;nodeC" says which ranks, or all ranks of which hosts, may
// share memory; "@/path" reads that from a file, a line for each group. Gives the group of each rank, -1 for
// those that are not named: they share with nobody. Empty text, empty answer.
base::Result<std::vector<int>> stated_groups(const std::string& text, const std::vector<Card>& cards);
const std::string& locality_setting();  // VICINITY_LOCALITY

}  // namespace vicinity::peer
