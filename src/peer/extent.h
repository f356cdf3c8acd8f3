// SPDX-License-Identifier: BSD-3-Clause
// Extents: more memory that co-resident processes share, beside the region, for as long as a window lives.
//
// One process creates an extent and sends the offer to the others, who open it; whoever cannot, says so, and
// then nobody uses it (rma/memory.cc does the talking). Today an extent is a memfd or a file; between guests
// of one host it will be a piece of the region, which is why nobody else looks into an offer.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "channel/channel.h"
#include "region/mapping.h"

namespace vicinity::peer {

using channel::Proc;

// Sent between processes. What comes is checked by open_extent().
struct ExtentOffer {
  uint64_t bytes = 0;
  int32_t pid = 0;  // memfd; 0: a file
  int32_t fd = -1;
  uint64_t nonce[2] = {};  // begins the extent until seal_extent(): proof that it is the one meant
  char path[240] = "";
};

// Processes with equal answers may be able to share extents: the lowest of them in the process table. From
// cards alone, so that all come to the same answer.
Proc extent_domain(Proc proc);

// Ways to make one, in the order in which to try them; nullptr after the last.
inline constexpr int kExtentWays = 2;

// Zeroed memory; fills the offer. `way` is 0 .. kExtentWays-1; a way that parameters rule out fails.
base::Status create_extent(int way, uint64_t bytes, region::Mapping* mapping, ExtentOffer* offer);
base::Status open_extent(const ExtentOffer& offer, region::Mapping* mapping);
// The creator, once all have opened it or given up: from here on nothing is left behind, whoever dies.
void seal_extent(const ExtentOffer& offer, region::Mapping* mapping);

}  // namespace vicinity::peer
