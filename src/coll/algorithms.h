// SPDX-License-Identifier: BSD-3-Clause
// The algorithms. Each appends to `plan` what this rank does; all ranks of the group call the same one
// with arguments that agree as MPI demands. What an algorithm cannot do is said in choice.cc.
//
// Buffers are resolved: where the user wrote MPI_IN_PLACE, `mine` is the rank's own block inside the
// result (the copy then vanishes), and a reduction's `send` equals its `recv`.
#pragma once

#include "coll/blocks.h"
#include "coll/plan.h"

namespace vicinity::coll {

void barrier_flat(Plan& plan);
void barrier_dissemination(Plan& plan);

void bcast_linear(Plan& plan, const Typed& data, int root);
void bcast_binomial(Plan& plan, const Typed& data, int root);
void bcast_scatter_allgather(Plan& plan, const Typed& data, int root);
void bcast_chain(Plan& plan, const Typed& data, int root, uint64_t segment);

// `all` is significant at the root only.
void gather_linear(Plan& plan, const Typed& mine, const Blocks& all, int root);
void gather_binomial(Plan& plan, const Typed& mine, const Blocks& all, int root);  // uniform only
void scatter_linear(Plan& plan, const Blocks& all, const Typed& mine, int root);
void scatter_binomial(Plan& plan, const Blocks& all, const Typed& mine, int root);  // uniform only

void allgather_ring(Plan& plan, const Typed& mine, const Blocks& all);
void allgather_bruck(Plan& plan, const Typed& mine, const Blocks& all);
void allgather_doubling(Plan& plan, const Typed& mine, const Blocks& all);  // 2^n ranks, uniform
void allgather_linear(Plan& plan, const Typed& mine, const Blocks& all);

void alltoall_linear(Plan& plan, const Blocks& send, const Blocks& recv);
void alltoall_pairwise(Plan& plan, const Blocks& send, const Blocks& recv);
void alltoall_bruck(Plan& plan, const Blocks& send, const Blocks& recv);  // uniform only
// A packed copy of all blocks, to send from with MPI_IN_PLACE.
Blocks packed_copy(Plan& plan, const Blocks& blocks, int n);

struct Reduction {
  const void* send = nullptr;
  void* recv = nullptr;  // nullptr where the result is not wanted
  MPI_Count count = 0;
  Datatype* type = nullptr;
  bool commutative = true;
  Typed input() const { return {const_cast<void*>(send), count, type}; }
  Typed output() const { return {recv, count, type}; }
};

void reduce_linear(Plan& plan, const Reduction& r, int root);
void reduce_binomial(Plan& plan, const Reduction& r, int root);
void reduce_halving(Plan& plan, const Reduction& r, int root);

void allreduce_doubling(Plan& plan, const Reduction& r);
void allreduce_halving(Plan& plan, const Reduction& r);
void allreduce_ring(Plan& plan, const Reduction& r);  // commutative
void allreduce_reduce_bcast(Plan& plan, const Reduction& r);

// `r.count` is the whole input; block i of it (pieces[i] elements, one after another) ends at rank i in
// r.recv. With MPI_IN_PLACE send equals recv, and the block still goes to the start of it.
struct Pieces {
  MPI_Count each = 0;
  CountArray counts;
  MPI_Count count(int i) const { return counts ? counts[static_cast<size_t>(i)] : each; }
  MPI_Count first(int i) const {
    if (!counts) return i * each;
    MPI_Count sum = 0;
    for (int k = 0; k < i; ++k) sum += count(k);
    return sum;
  }
};
void reduce_scatter_pairwise(Plan& plan, const Reduction& r, const Pieces& pieces);
void reduce_scatter_halving(Plan& plan, const Reduction& r, const Pieces& pieces);  // commutative
void reduce_scatter_reduce(Plan& plan, const Reduction& r, const Pieces& pieces);

// From part to part of plan.division (algorithm_levels.cc, algorithm_levels_reduce.cc).
void barrier_levels(Plan& plan);
void bcast_levels(Plan& plan, const Typed& data, int root);
void gather_levels(Plan& plan, const Typed& mine, const Blocks& all, int root);   // uniform only
void scatter_levels(Plan& plan, const Blocks& all, const Typed& mine, int root);  // uniform only
void allgather_levels(Plan& plan, const Typed& mine, const Blocks& all);
void reduce_levels(Plan& plan, const Reduction& r, int root);
void allreduce_levels(Plan& plan, const Reduction& r);
void reduce_scatter_levels(Plan& plan, const Reduction& r, const Pieces& pieces);
void scan_levels(Plan& plan, const Reduction& r, bool exclusive);  // parts that are runs of ranks
// A scatter (or, without a division, the linear one) where every rank knows the sizes of all blocks.
void scatter_known(Plan& plan, const Blocks& all, const Typed& mine, int root);
// The same for equal parts, and mostly long vectors: every rank crosses with a share, not the leaders with
// all (algorithm_rails.cc).
void allgather_rails(Plan& plan, const Typed& mine, const Blocks& all);
void allreduce_rails(Plan& plan, const Reduction& r);
void reduce_scatter_rails(Plan& plan, const Reduction& r, const Pieces& pieces);

void scan_linear(Plan& plan, const Reduction& r, bool exclusive);
void scan_doubling(Plan& plan, const Reduction& r, bool exclusive);

}  // namespace vicinity::coll
