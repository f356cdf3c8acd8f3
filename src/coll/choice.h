// SPDX-License-Identifier: BSD-3-Clause
// Which algorithm a collective uses: one table of rules, tried from the first to the last.
//
// All ranks must come to the same answer, so a rule may look only at what all of them know: the number
// of ranks, how slow levels divide them, whether the operation is commutative, and a number of bytes that MPI
// makes equal everywhere. Which number that is depends on the collective:
//
//   Bcast, Reduce, Allreduce, Scan, Exscan   the whole vector
//   Allgather(v), Reduce_scatter(_block)     all blocks together
//   Gather, Scatter, Alltoall                one block
//   the others                               0 (no rank knows more than its own)
//
// A parameter VICINITY_COLL_<FAMILY> forces one algorithm wherever it is able to do the job.
#pragma once

#include <cstdint>

#include "coll/kind.h"

namespace vicinity::coll {

enum class Algorithm : uint8_t {
  kFlat,
  kDissemination,
  kLinear,
  kBinomial,
  kScatterAllgather,
  kChain,
  kRing,
  kBruck,
  kDoubling,
  kPairwise,
  kHalving,
  kReduceFirst,
  kLevels,
  kRails,
};

struct Facts {
  uint64_t bytes = 0;
  int ranks = 1;
  bool commutative = true;
  bool divided = false;   // by slow levels (division.h)
  bool in_order = false;  // and its parts are runs of ranks
  bool even = false;      // and equal
};

// Most bytes (as claim.h counts them) that take the direct path on a communicator of so many ranks which has
// one; 0: none. A parameter that names another algorithm closes it, "direct" opens it as far as it goes.
uint64_t direct_limit(Kind kind, int ranks);

Algorithm choose(Kind kind, const Facts& facts);
const char* name_of(Algorithm algorithm);

// The bytes of one step of the pipelined broadcast.
uint64_t chain_segment();

// For tests: every algorithm that can do `kind` under these facts; returns how many.
int able(Kind kind, const Facts& facts, Algorithm* list, int most);

}  // namespace vicinity::coll
