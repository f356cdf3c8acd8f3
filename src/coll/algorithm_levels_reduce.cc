// SPDX-License-Identifier: BSD-3-Clause
// Hierarchical reductions: a part reduces to its leader, leaders combine, and parts get what is theirs. As in
// algorithm_levels.cc, what crosses from one part to another crosses once.
#include <vector>

#include "coll/build.h"
#include "coll/division.h"

namespace vicinity::coll {

namespace {

// Reduces our part to its leader and says where the value is there; elsewhere it means nothing.
const void* reduce_part(Plan& plan, Level& level, const Reduction& r) {
  if (level.inside.size == 1) return r.send;
  Reduction own = r;
  if (level.leaders) {
    if (!own.recv) own.recv = plan.like(r.count, *r.type).at;
  } else if (own.send != own.recv) {
    own.recv = nullptr;
  }
  build_reduce(level.inside, own, level.leader);
  plan.wait_all();
  return own.recv;
}

// The same into memory of our own, for those whose r.recv has no room for the whole vector.
Typed reduce_part_apart(Plan& plan, Level& level, const Reduction& r) {
  if (level.inside.size == 1) return r.input();
  const Typed total = level.leaders ? plan.like(r.count, *r.type) : Typed{nullptr, r.count, r.type};
  build_reduce(level.inside, Reduction{r.send, total.at, r.count, r.type, r.commutative}, level.leader);
  plan.wait_all();
  return total;
}

// How many elements each part gets, and each of our members; alive while steps are made of them.
struct Shares {
  std::vector<MPI_Count> parts, members, at;
  Shares(const Level& level, const Pieces& pieces) {
    for (const Division::Part& part : level.division.parts) {
      parts.push_back(0);
      for (int rank : part.ranks) parts.back() += pieces.count(rank);
    }
    MPI_Count sum = 0;
    for (int rank : level.division.parts[static_cast<size_t>(level.part)].ranks) {
      members.push_back(pieces.count(rank));
      at.push_back(sum);
      sum += members.back();
    }
  }
};

// The pieces part after part.
Typed by_parts(Plan& plan, const Division& division, const Typed& total, const Pieces& pieces) {
  if (division.in_order) return total;
  const Typed sorted = plan.like(total.count, *total.type);
  MPI_Count at = 0;
  for (const Division::Part& part : division.parts)
    for (int rank : part.ranks) {
      const MPI_Count count = pieces.count(rank);
      plan.copy(total.part(pieces.first(rank), count), sorted.part(at, count));
      at += count;
    }
  return sorted;
}

}  // namespace

void reduce_levels(Plan& plan, const Reduction& r, int root) {
  Level level(plan, root);
  Reduction among = r;
  among.send = reduce_part(plan, level, r);
  if (!level.leaders) return;
  if (plan.rank != root) among.recv = nullptr;
  build_reduce(*level.leaders, among, level.root_part);
}

void allreduce_levels(Plan& plan, const Reduction& r) {
  if (r.count == 0) return;
  Level level(plan, 0);
  Reduction among = r;
  among.send = reduce_part(plan, level, r);
  if (level.leaders) build_allreduce(*level.leaders, among);
  plan.wait_all();
  build_bcast(level.inside, r.output(), level.leader);
}

void reduce_scatter_levels(Plan& plan, const Reduction& r, const Pieces& pieces) {
  Level level(plan, 0);
  const Shares shares(level, pieces);
  const Typed total = reduce_part_apart(plan, level, r);
  Typed ours{nullptr, shares.parts[static_cast<size_t>(level.part)], r.type};
  if (level.leaders) {
    const Typed sorted = by_parts(plan, level.division, total, pieces);
    ours = plan.like(ours.count, *r.type);
    build_reduce_scatter(*level.leaders, Reduction{sorted.at, ours.at, r.count, r.type, r.commutative},
                         Pieces{0, CountArray(shares.parts.data())});
    plan.wait_all();
  }
  const Blocks members(ours.at, CountArray(shares.members.data()), CountArray(shares.at.data()), *r.type);
  scatter_known(level.inside, members, Typed{r.recv, pieces.count(plan.rank), r.type}, level.leader);
}

// Parts are runs of ranks: what is below a rank is the parts below its own, and those below it in its own.
void scan_levels(Plan& plan, const Reduction& r, bool exclusive) {
  if (r.count == 0) return;
  Level level(plan, 0);
  // Before the scan: with MPI_IN_PLACE that overwrites what is to be summed up.
  const Typed total = reduce_part_apart(plan, level, r);
  const Typed lower = level.leaders || level.part > 0 ? plan.like(r.count, *r.type) : Typed{};
  if (level.leaders) {
    scan_doubling(*level.leaders, Reduction{total.at, lower.at, r.count, r.type, r.commutative}, true);
    plan.wait_all();
  }
  build_scan(level.inside, r);
  if (level.part == 0) return;
  build_bcast(level.inside, lower, level.leader);
  plan.wait_all();
  if (exclusive && level.inside.rank == 0) return plan.copy(lower, r.output());
  plan.reduce(lower, r.output());
}

}  // namespace vicinity::coll
