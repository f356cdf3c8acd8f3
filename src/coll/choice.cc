// SPDX-License-Identifier: BSD-3-Clause
// The tables of algorithms: what each is able to do, and when it is the one to take.
#include "coll/choice.h"

#include <cstring>

#include "base/param.h"

namespace vicinity::coll {

namespace {

using base::Param;

#define CHOOSES "; auto takes the one that suits size and ranks. All ranks must agree."
Param<std::string> coll_barrier{"VICINITY_COLL_BARRIER", "coll", "auto",
                                "auto|direct|flat|dissemination|levels", "Algorithm of MPI_Barrier" CHOOSES};
Param<std::string> coll_bcast{"VICINITY_COLL_BCAST", "coll", "auto",
                              "auto|direct|linear|binomial|scatter_allgather|chain|levels",
                              "Algorithm of MPI_Bcast" CHOOSES};
Param<std::string> coll_gather{"VICINITY_COLL_GATHER", "coll", "auto", "auto|direct|linear|binomial|levels",
                               "Algorithm of MPI_Gather" CHOOSES};
Param<std::string> coll_scatter{"VICINITY_COLL_SCATTER", "coll", "auto", "auto|direct|linear|binomial|levels",
                                "Algorithm of MPI_Scatter" CHOOSES};
Param<std::string> coll_allgather{"VICINITY_COLL_ALLGATHER", "coll", "auto",
                                  "auto|direct|linear|ring|bruck|doubling|levels|rails",
                                  "Algorithm of MPI_Allgather and MPI_Allgatherv" CHOOSES};
Param<std::string> coll_alltoall{"VICINITY_COLL_ALLTOALL", "coll", "auto",
                                 "auto|direct|linear|pairwise|bruck",
                                 "Algorithm of MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw" CHOOSES};
Param<std::string> coll_reduce{"VICINITY_COLL_REDUCE", "coll", "auto",
                               "auto|direct|linear|binomial|halving|levels",
                               "Algorithm of MPI_Reduce" CHOOSES};
Param<std::string> coll_allreduce{"VICINITY_COLL_ALLREDUCE", "coll", "auto",
                                  "auto|direct|doubling|halving|ring|reduce_first|levels|rails",
                                  "Algorithm of MPI_Allreduce" CHOOSES};
Param<std::string> coll_reduce_scatter{
    "VICINITY_COLL_REDUCE_SCATTER", "coll", "auto", "auto|direct|pairwise|halving|reduce_first|levels|rails",
    "Algorithm of MPI_Reduce_scatter and MPI_Reduce_scatter_block" CHOOSES};
Param<std::string> coll_scan{"VICINITY_COLL_SCAN", "coll", "auto", "auto|direct|linear|doubling|levels",
                             "Algorithm of MPI_Scan and MPI_Exscan" CHOOSES};
#undef CHOOSES
Param<int64_t> coll_segment{"VICINITY_COLL_SEGMENT",
                            "coll",
                            65536,
                            64,
                            int64_t{1} << 30,
                            "Bytes of one segment of the pipelined (chain) broadcast"};

constexpr uint64_t kAny = ~uint64_t{0};
constexpr int kMany = 1 << 30;

enum Needs : uint8_t {
  kNothing = 0,
  kPowerOfTwo = 1,
  kCommutative = 2,
  kDivided = 4,  // a group that slow levels divide
  kOrdered = 8,  // a commutative operation, or parts in the order of ranks
  kEven = 16,    // equal parts
  kRuns = 32,    // parts that are runs of ranks
};

struct Ability {
  Kind kind;
  Algorithm algorithm;
  uint8_t needs;
};

constexpr Ability kAbilities[] = {
    {Kind::kBarrier, Algorithm::kFlat, kNothing},
    {Kind::kBarrier, Algorithm::kDissemination, kNothing},
    {Kind::kBarrier, Algorithm::kLevels, kDivided},
    {Kind::kBcast, Algorithm::kLinear, kNothing},
    {Kind::kBcast, Algorithm::kBinomial, kNothing},
    {Kind::kBcast, Algorithm::kScatterAllgather, kNothing},
    {Kind::kBcast, Algorithm::kChain, kNothing},
    {Kind::kBcast, Algorithm::kLevels, kDivided},
    {Kind::kGather, Algorithm::kLinear, kNothing},
    {Kind::kGather, Algorithm::kBinomial, kNothing},
    {Kind::kGather, Algorithm::kLevels, kDivided},
    {Kind::kGatherv, Algorithm::kLinear, kNothing},
    {Kind::kScatter, Algorithm::kLinear, kNothing},
    {Kind::kScatter, Algorithm::kBinomial, kNothing},
    {Kind::kScatter, Algorithm::kLevels, kDivided},
    {Kind::kScatterv, Algorithm::kLinear, kNothing},
    {Kind::kAllgather, Algorithm::kLinear, kNothing},
    {Kind::kAllgather, Algorithm::kRing, kNothing},
    {Kind::kAllgather, Algorithm::kBruck, kNothing},
    {Kind::kAllgather, Algorithm::kDoubling, kPowerOfTwo},
    {Kind::kAllgather, Algorithm::kLevels, kDivided},
    {Kind::kAllgather, Algorithm::kRails, kDivided | kEven},
    {Kind::kAllgatherv, Algorithm::kLinear, kNothing},
    {Kind::kAllgatherv, Algorithm::kRing, kNothing},
    {Kind::kAllgatherv, Algorithm::kBruck, kNothing},
    {Kind::kAllgatherv, Algorithm::kLevels, kDivided},
    {Kind::kAllgatherv, Algorithm::kRails, kDivided | kEven},
    {Kind::kAlltoall, Algorithm::kLinear, kNothing},
    {Kind::kAlltoall, Algorithm::kPairwise, kNothing},
    {Kind::kAlltoall, Algorithm::kBruck, kNothing},
    {Kind::kAlltoallv, Algorithm::kLinear, kNothing},
    {Kind::kAlltoallv, Algorithm::kPairwise, kNothing},
    {Kind::kAlltoallw, Algorithm::kLinear, kNothing},
    {Kind::kAlltoallw, Algorithm::kPairwise, kNothing},
    {Kind::kReduce, Algorithm::kLinear, kNothing},
    {Kind::kReduce, Algorithm::kBinomial, kNothing},
    {Kind::kReduce, Algorithm::kHalving, kNothing},
    {Kind::kReduce, Algorithm::kLevels, kDivided | kOrdered},
    {Kind::kAllreduce, Algorithm::kDoubling, kNothing},
    {Kind::kAllreduce, Algorithm::kHalving, kNothing},
    {Kind::kAllreduce, Algorithm::kRing, kCommutative},
    {Kind::kAllreduce, Algorithm::kReduceFirst, kNothing},
    {Kind::kAllreduce, Algorithm::kLevels, kDivided | kOrdered},
    {Kind::kAllreduce, Algorithm::kRails, kDivided | kOrdered | kEven},
    {Kind::kReduceScatterBlock, Algorithm::kPairwise, kNothing},
    {Kind::kReduceScatterBlock, Algorithm::kHalving, kCommutative},
    {Kind::kReduceScatterBlock, Algorithm::kReduceFirst, kNothing},
    {Kind::kReduceScatterBlock, Algorithm::kLevels, kDivided | kOrdered},
    {Kind::kReduceScatterBlock, Algorithm::kRails, kDivided | kOrdered | kEven},
    {Kind::kReduceScatter, Algorithm::kPairwise, kNothing},
    {Kind::kReduceScatter, Algorithm::kHalving, kCommutative},
    {Kind::kReduceScatter, Algorithm::kReduceFirst, kNothing},
    {Kind::kReduceScatter, Algorithm::kLevels, kDivided | kOrdered},
    {Kind::kReduceScatter, Algorithm::kRails, kDivided | kOrdered | kEven},
    {Kind::kScan, Algorithm::kLinear, kNothing},
    {Kind::kScan, Algorithm::kDoubling, kNothing},
    {Kind::kScan, Algorithm::kLevels, kDivided | kRuns},
    {Kind::kExscan, Algorithm::kLinear, kNothing},
    {Kind::kExscan, Algorithm::kDoubling, kNothing},
    {Kind::kExscan, Algorithm::kLevels, kDivided | kRuns},
    {Kind::kNeighborAllgather, Algorithm::kLinear, kNothing},
    {Kind::kNeighborAllgatherv, Algorithm::kLinear, kNothing},
    {Kind::kNeighborAlltoall, Algorithm::kLinear, kNothing},
    {Kind::kNeighborAlltoallv, Algorithm::kLinear, kNothing},
    {Kind::kNeighborAlltoallw, Algorithm::kLinear, kNothing},
};

// Take `algorithm` up to `most_bytes` bytes, from `least_ranks` to `most_ranks` ranks, if it is able (and the
// group is as `needs` says). The last rule of each kind takes everything.
struct Rule {
  Kind kind;
  Algorithm algorithm;
  uint64_t most_bytes;
  int least_ranks, most_ranks;
  uint8_t needs = kNothing;
};

constexpr Rule kRules[] = {
    {Kind::kBarrier, Algorithm::kLevels, kAny, 1, kMany},
    {Kind::kBarrier, Algorithm::kDissemination, kAny, 1, kMany},

    {Kind::kBcast, Algorithm::kLevels, kAny, 1, kMany},
    {Kind::kBcast, Algorithm::kBinomial, 512 << 10, 1, kMany},
    {Kind::kBcast, Algorithm::kBinomial, kAny, 1, 7},
    {Kind::kBcast, Algorithm::kScatterAllgather, kAny, 8, kMany},

    {Kind::kGather, Algorithm::kLevels, 2 << 10, 8, kMany},
    {Kind::kGather, Algorithm::kBinomial, 2 << 10, 8, kMany},
    {Kind::kGather, Algorithm::kLinear, kAny, 1, kMany},
    {Kind::kGatherv, Algorithm::kLinear, kAny, 1, kMany},
    {Kind::kScatter, Algorithm::kLevels, 2 << 10, 1, kMany},
    {Kind::kScatter, Algorithm::kBinomial, 2 << 10, 8, kMany},
    {Kind::kScatter, Algorithm::kLinear, kAny, 1, kMany},
    {Kind::kScatterv, Algorithm::kLinear, kAny, 1, kMany},

    // Doubling that begins with distant ranks, as where they are dealt out in turn, crosses once by itself.
    {Kind::kAllgather, Algorithm::kLevels, 64 << 10, 1, kMany},
    {Kind::kAllgather, Algorithm::kLevels, 512 << 10, 1, kMany, kRuns},
    {Kind::kAllgather, Algorithm::kDoubling, 512 << 10, 1, kMany},
    {Kind::kAllgather, Algorithm::kLevels, 512 << 10, 1, kMany},
    {Kind::kAllgather, Algorithm::kRails, kAny, 1, kMany},
    {Kind::kAllgather, Algorithm::kLevels, kAny, 1, kMany},
    {Kind::kAllgather, Algorithm::kBruck, 80 << 10, 1, kMany},
    {Kind::kAllgather, Algorithm::kRing, kAny, 1, kMany},
    {Kind::kAllgatherv, Algorithm::kLevels, 512 << 10, 1, kMany},
    {Kind::kAllgatherv, Algorithm::kRails, kAny, 1, kMany},
    {Kind::kAllgatherv, Algorithm::kLevels, kAny, 1, kMany},
    {Kind::kAllgatherv, Algorithm::kBruck, 80 << 10, 1, kMany},
    {Kind::kAllgatherv, Algorithm::kRing, kAny, 1, kMany},

    {Kind::kAlltoall, Algorithm::kBruck, 256, 8, kMany},
    {Kind::kAlltoall, Algorithm::kLinear, 32 << 10, 1, kMany},
    {Kind::kAlltoall, Algorithm::kPairwise, kAny, 1, kMany},
    {Kind::kAlltoallv, Algorithm::kLinear, kAny, 1, kMany},
    {Kind::kAlltoallw, Algorithm::kLinear, kAny, 1, kMany},

    {Kind::kReduce, Algorithm::kLevels, kAny, 1, kMany},
    {Kind::kReduce, Algorithm::kBinomial, 32 << 10, 1, kMany},
    {Kind::kReduce, Algorithm::kBinomial, kAny, 1, 2},
    {Kind::kReduce, Algorithm::kHalving, kAny, 3, kMany},

    {Kind::kAllreduce, Algorithm::kLevels, 32 << 10, 1, kMany},
    {Kind::kAllreduce, Algorithm::kRails, kAny, 1, kMany},
    {Kind::kAllreduce, Algorithm::kLevels, kAny, 1, kMany},
    {Kind::kAllreduce, Algorithm::kDoubling, 8 << 10, 1, kMany},
    {Kind::kAllreduce, Algorithm::kHalving, 512 << 10, 1, kMany},
    {Kind::kAllreduce, Algorithm::kRing, kAny, 3, kMany},
    {Kind::kAllreduce, Algorithm::kHalving, kAny, 1, kMany},

    // As with allgather, backwards.
    {Kind::kReduceScatterBlock, Algorithm::kRails, 512 << 10, 1, kMany, kRuns},
    {Kind::kReduceScatterBlock, Algorithm::kLevels, 512 << 10, 1, kMany, kRuns},
    {Kind::kReduceScatterBlock, Algorithm::kHalving, 512 << 10, 1, kMany, kPowerOfTwo},
    {Kind::kReduceScatterBlock, Algorithm::kRails, kAny, 1, kMany},
    {Kind::kReduceScatterBlock, Algorithm::kLevels, kAny, 1, kMany},
    {Kind::kReduceScatterBlock, Algorithm::kHalving, 512 << 10, 1, kMany},
    {Kind::kReduceScatterBlock, Algorithm::kPairwise, kAny, 1, kMany},
    {Kind::kReduceScatter, Algorithm::kRails, 512 << 10, 1, kMany, kRuns},
    {Kind::kReduceScatter, Algorithm::kLevels, 512 << 10, 1, kMany, kRuns},
    {Kind::kReduceScatter, Algorithm::kHalving, 512 << 10, 1, kMany, kPowerOfTwo},
    {Kind::kReduceScatter, Algorithm::kRails, kAny, 1, kMany},
    {Kind::kReduceScatter, Algorithm::kLevels, kAny, 1, kMany},
    {Kind::kReduceScatter, Algorithm::kHalving, 512 << 10, 1, kMany},
    {Kind::kReduceScatter, Algorithm::kPairwise, kAny, 1, kMany},

    {Kind::kScan, Algorithm::kDoubling, 8 << 10, 1, 7},
    {Kind::kScan, Algorithm::kLevels, kAny, 1, kMany},
    {Kind::kScan, Algorithm::kDoubling, kAny, 1, kMany},
    {Kind::kExscan, Algorithm::kDoubling, 8 << 10, 1, 7},
    {Kind::kExscan, Algorithm::kLevels, kAny, 1, kMany},
    {Kind::kExscan, Algorithm::kDoubling, kAny, 1, kMany},
};

// The direct path: most bytes that it is able to move, and up to how many it is the best for 2 ranks and for
// more. Of those with counts for each rank nobody knows the bytes of all; they choose for each pair.
struct DirectRule {
  Kind kind;
  uint64_t able, pair, many;
};

constexpr uint64_t kLongest = 0xffff'ffff;  // what a line can tell

constexpr DirectRule kDirectRules[] = {
    {Kind::kBarrier, 1, 1, 1},
    {Kind::kBcast, kAny, kAny, kAny},
    {Kind::kGather, kLongest, kLongest, kLongest},
    {Kind::kGatherv, 1, 1, 1},
    {Kind::kScatterv, 1, 1, 1},
    {Kind::kAlltoallv, 1, 1, 1},
    {Kind::kAlltoallw, 1, 1, 1},
    {Kind::kScatter, kLongest, 64 << 10, kLongest},
    {Kind::kAllgather, kLongest, 128 << 10, kLongest},
    {Kind::kAllgatherv, kLongest, 128 << 10, kLongest},
    {Kind::kAlltoall, kLongest, kLongest, kLongest},
    {Kind::kReduce, kAny, 64 << 10, kAny},
    {Kind::kAllreduce, kAny, kAny, kAny},
    {Kind::kReduceScatterBlock, kLongest, kLongest, kLongest},
    {Kind::kReduceScatter, kLongest, kLongest, kLongest},
    {Kind::kScan, kAny, kAny, kAny},
    {Kind::kExscan, kAny, kAny, kAny},
};

constexpr const char* kNames[] = {"flat",    "dissemination", "linear", "binomial", "scatter_allgather",
                                  "chain",   "ring",          "bruck",  "doubling", "pairwise",
                                  "halving", "reduce_first",  "levels", "rails"};

const Param<std::string>* param_of(Kind kind) {
  switch (kind) {
    case Kind::kBarrier:
      return &coll_barrier;
    case Kind::kBcast:
      return &coll_bcast;
    case Kind::kGather:
      return &coll_gather;
    case Kind::kScatter:
      return &coll_scatter;
    case Kind::kAllgather:
    case Kind::kAllgatherv:
      return &coll_allgather;
    case Kind::kAlltoall:
    case Kind::kAlltoallv:
    case Kind::kAlltoallw:
      return &coll_alltoall;
    case Kind::kReduce:
      return &coll_reduce;
    case Kind::kAllreduce:
      return &coll_allreduce;
    case Kind::kReduceScatterBlock:
    case Kind::kReduceScatter:
      return &coll_reduce_scatter;
    case Kind::kScan:
    case Kind::kExscan:
      return &coll_scan;
    default:
      return nullptr;
  }
}

bool meets(uint8_t needs, const Facts& facts) {
  if ((needs & kPowerOfTwo) && (facts.ranks & (facts.ranks - 1)) != 0) return false;
  if ((needs & kDivided) && !facts.divided) return false;
  if ((needs & kEven) && !facts.even) return false;
  if ((needs & kRuns) && !facts.in_order) return false;
  if ((needs & kOrdered) && !facts.commutative && !facts.in_order) return false;
  return !(needs & kCommutative) || facts.commutative;
}

bool is_able(Kind kind, Algorithm algorithm, const Facts& facts) {
  for (const Ability& ability : kAbilities)
    if (ability.kind == kind && ability.algorithm == algorithm) return meets(ability.needs, facts);
  return false;
}

}  // namespace

const char* name_of(Algorithm algorithm) { return kNames[static_cast<size_t>(algorithm)]; }

uint64_t chain_segment() { return static_cast<uint64_t>(coll_segment.get()); }

uint64_t direct_limit(Kind kind, int ranks) {
  const Param<std::string>* param = param_of(kind);
  const bool named = param && param->get() == "direct";
  if (param && !named && param->get()[0] != 'a') return 0;
  for (const DirectRule& rule : kDirectRules)
    if (rule.kind == kind) return named ? rule.able : ranks == 2 ? rule.pair : rule.many;
  return 0;
}

Algorithm choose(Kind kind, const Facts& facts) {
  const Param<std::string>* param = param_of(kind);
  if (param && param->get()[0] != 'a') {  // no algorithm's name starts like "auto"
    for (const Ability& ability : kAbilities)
      if (ability.kind == kind && param->get() == name_of(ability.algorithm) && meets(ability.needs, facts))
        return ability.algorithm;
  }
  for (const Rule& rule : kRules) {
    if (rule.kind == kind && facts.bytes <= rule.most_bytes && facts.ranks >= rule.least_ranks &&
        facts.ranks <= rule.most_ranks && meets(rule.needs, facts) && is_able(kind, rule.algorithm, facts))
      return rule.algorithm;
  }
  return Algorithm::kLinear;  // not reached: the last rule of each kind takes everything
}

int able(Kind kind, const Facts& facts, Algorithm* list, int most) {
  int n = 0;
  for (const Ability& ability : kAbilities)
    if (ability.kind == kind && meets(ability.needs, facts) && n < most) list[n++] = ability.algorithm;
  return n;
}

}  // namespace vicinity::coll
