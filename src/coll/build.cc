// SPDX-License-Identifier: BSD-3-Clause
// The choice between algorithms, one switch per collective.
#include "coll/build.h"

#include "coll/choice.h"

namespace vicinity::coll {

namespace {

Algorithm pick(const Plan& plan, uint64_t bytes, bool commutative = true) {
  return choose(plan.schedule().kind, Facts{bytes, plan.size, commutative});
}

}  // namespace

void build_barrier(Plan& plan) {
  if (plan.others > 0) return inter::barrier(plan);
  if (pick(plan, 0) == Algorithm::kFlat) return barrier_flat(plan);
  barrier_dissemination(plan);
}

void build_bcast(Plan& plan, const Typed& data, int root) {
  if (data.bytes() == 0) return;
  if (plan.others > 0) return inter::bcast(plan, data, root);
  if (plan.size == 1) return;
  switch (pick(plan, data.bytes())) {
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
  const uint64_t block =
      plan.schedule().kind == Kind::kGather && plan.rank == root ? all.bytes(root) : mine.bytes();
  if (pick(plan, block) == Algorithm::kBinomial) return gather_binomial(plan, mine, all, root);
  gather_linear(plan, mine, all, root);
}

void build_scatter(Plan& plan, const Blocks& all, const Typed& mine, int root) {
  if (plan.others > 0) return inter::scatter(plan, all, mine, root);
  const uint64_t block =
      plan.schedule().kind == Kind::kScatter && plan.rank == root ? all.bytes(root) : mine.bytes();
  if (pick(plan, block) == Algorithm::kBinomial) return scatter_binomial(plan, all, mine, root);
  scatter_linear(plan, all, mine, root);
}

void build_allgather(Plan& plan, const Typed& mine, const Blocks& all) {
  if (plan.others > 0) return inter::allgather(plan, mine, all);
  const uint64_t total = all.total(plan.size);
  if (total == 0) return;
  switch (pick(plan, total)) {
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
  switch (pick(plan, recv.uniform() ? recv.bytes(0) : 0)) {
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
  switch (pick(plan, r.input().bytes(), r.commutative)) {
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
  switch (pick(plan, r.input().bytes(), r.commutative)) {
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
  switch (pick(plan, r.input().bytes(), r.commutative)) {
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
  if (pick(plan, r.input().bytes(), r.commutative) == Algorithm::kLinear)
    return scan_linear(plan, r, exclusive);
  scan_doubling(plan, r, exclusive);
}

}  // namespace vicinity::coll
