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

// Where each rank is, named by the lowest rank that is there too: proposals of all ranks joined, so every
// member of the job says the same of every rank, and says it for ever. It proves nothing; who acts on it must
// be right even if it is not.
enum class Place : uint8_t {
  kHost,    // memory in common, by whatever way
  kKernel,  // memory of one kernel in common: of one virtual machine, or of the bare machine
};
std::vector<uint32_t> places(const std::vector<Card>& cards, const std::vector<int>& stated, Place place);

// The static form: "0-3,7;4-6" or "nodeA,nodeB;nodeC" says which ranks, or all ranks of which hosts, may
// share memory; "@/path" reads that from a file, a line for each group. Gives the group of each rank, -1 for
// those that are not named: they share with nobody. Empty text, empty answer.
base::Result<std::vector<int>> stated_groups(const std::string& text, const std::vector<Card>& cards);
const std::string& locality_setting();  // VICINITY_LOCALITY

}  // namespace vicinity::peer
