// SPDX-License-Identifier: BSD-3-Clause
// The choice between algorithms, one switch per collective.
#include "coll/build.h"

#include "coll/choice.h"
#include "coll/division.h"

namespace vicinity::coll {

namespace {

// `kind` is what is built, which may be a part of the call.
Algorithm pick(const Plan& plan, Kind kind, uint64_t bytes, bool commutative = true) {
  Facts facts{bytes, plan.size, commutative};
  if (const Division* division = plan.division) {
    facts.divided = true;
    facts.in_order = division->in_order;
    facts.even = division->even;
  }
  return choose(kind, facts);
}

}  // namespace

void build_barrier(Plan& plan) {
  if (plan.others > 0) return inter::barrier(plan);
  switch (pick(plan, Kind::kBarrier, 0)) {
    case Algorithm::kLevels:
      return barrier_levels(plan);
    case Algorithm::kFlat:
      return barrier_flat(plan);
    default:
      return barrier_dissemination(plan);
  }
}

void build_bcast(Plan& plan, const Typed& data, int root) {
  if (data.bytes() == 0) return;
  if (plan.others > 0) return inter::bcast(plan, data, root);
  if (plan.size == 1) return;
  switch (pick(plan, Kind::kBcast, data.bytes())) {
    case Algorithm::kLevels:
      return bcast_levels(plan, data, root);
    case Algorithm::kLinear:
      return bcast_linear(plan, data, root);
    case Algorithm::kScatterAllgather:
      return bcast_scatter_allgather(plan, data, root);
    case Algorithm::kChain:
      return bcast_chain(plan, data, root, chain_segment());
    default:
      return bcast_binomial(plan, data, root);
  }
}

void build_gather(Plan& plan, const Typed& mine, const Blocks& all, int root) {
  if (plan.others > 0) return inter::gather(plan, mine, all, root);
  const Kind kind = plan.schedule().kind;
  const uint64_t block = kind == Kind::kGather && plan.rank == root ? all.bytes(root) : mine.bytes();
  switch (pick(plan, kind, block)) {
    case Algorithm::kLevels:
      return gather_levels(plan, mine, all, root);
    case Algorithm::kBinomial:
      return gather_binomial(plan, mine, all, root);
    default:
      return gather_linear(plan, mine, all, root);
  }
}

void build_scatter(Plan& plan, const Blocks& all, const Typed& mine, int root) {
  if (plan.others > 0) return inter::scatter(plan, all, mine, root);
  const Kind kind = plan.schedule().kind;
  const uint64_t block = kind == Kind::kScatter && plan.rank == root ? all.bytes(root) : mine.bytes();
  switch (pick(plan, kind, block)) {
    case Algorithm::kLevels:
      return scatter_levels(plan, all, mine, root);
    case Algorithm::kBinomial:
      return scatter_binomial(plan, all, mine, root);
    default:
      return scatter_linear(plan, all, mine, root);
  }
}

void build_allgather(Plan& plan, const Typed& mine, const Blocks& all) {
  if (plan.others > 0) return inter::allgather(plan, mine, all);
  const uint64_t total = all.total(plan.size);
  if (total == 0) return;
  switch (pick(plan, all.uniform() ? Kind::kAllgather : Kind::kAllgatherv, total)) {
    case Algorithm::kLevels:
      return allgather_levels(plan, mine, all);
    case Algorithm::kRails:
      return allgather_rails(plan, mine, all);
    case Algorithm::kLinear:
      return allgather_linear(plan, mine, all);
    case Algorithm::kBruck:
      return allgather_bruck(plan, mine, all);
    case Algorithm::kDoubling:
      return allgather_doubling(plan, mine, all);
    default:
      return allgather_ring(plan, mine, all);
  }
}

void build_alltoall(Plan& plan, const Blocks& send, const Blocks& recv) {
  if (plan.others > 0) return inter::alltoall(plan, send, recv);
  switch (pick(plan, plan.schedule().kind, recv.uniform() ? recv.bytes(0) : 0)) {
    case Algorithm::kBruck:
      return alltoall_bruck(plan, send, recv);
    case Algorithm::kPairwise:
      return alltoall_pairwise(plan, send, recv);
    default:
      return alltoall_linear(plan, send, recv);
  }
}

void build_reduce(Plan& plan, const Reduction& r, int root) {
  if (r.count == 0) return;
  if (plan.others > 0) return inter::reduce(plan, r, root);
  switch (pick(plan, Kind::kReduce, r.input().bytes(), r.commutative)) {
    case Algorithm::kLevels:
      return reduce_levels(plan, r, root);
    case Algorithm::kLinear:
      return reduce_linear(plan, r, root);
    case Algorithm::kHalving:
      return reduce_halving(plan, r, root);
    default:
      return reduce_binomial(plan, r, root);
  }
}

void build_allreduce(Plan& plan, const Reduction& r) {
  if (plan.others > 0) return inter::allreduce(plan, r);
  switch (pick(plan, Kind::kAllreduce, r.input().bytes(), r.commutative)) {
    case Algorithm::kLevels:
      return allreduce_levels(plan, r);
    case Algorithm::kRails:
      return allreduce_rails(plan, r);
    case Algorithm::kHalving:
      return allreduce_halving(plan, r);
    case Algorithm::kRing:
      return allreduce_ring(plan, r);
    case Algorithm::kReduceFirst:
      return allreduce_reduce_bcast(plan, r);
    default:
      return allreduce_doubling(plan, r);
  }
}

void build_reduce_scatter(Plan& plan, const Reduction& r, const Pieces& pieces) {
  if (r.count == 0) return;
  if (plan.others > 0) return inter::reduce_scatter(plan, r, pieces);
  switch (pick(plan, plan.schedule().kind, r.input().bytes(), r.commutative)) {
    case Algorithm::kLevels:
      return reduce_scatter_levels(plan, r, pieces);
    case Algorithm::kRails:
      return reduce_scatter_rails(plan, r, pieces);
    case Algorithm::kHalving:
      return reduce_scatter_halving(plan, r, pieces);
    case Algorithm::kReduceFirst:
      return reduce_scatter_reduce(plan, r, pieces);
    default:
      return reduce_scatter_pairwise(plan, r, pieces);
  }
}

void build_scan(Plan& plan, const Reduction& r) {
  const bool exclusive = plan.schedule().kind == Kind::kExscan;
  switch (pick(plan, plan.schedule().kind, r.input().bytes(), r.commutative)) {
    case Algorithm::kLevels:
      return scan_levels(plan, r, exclusive);
    case Algorithm::kLinear:
      return scan_linear(plan, r, exclusive);
    default:
      return scan_doubling(plan, r, exclusive);
  }
}

}  // namespace vicinity::coll
