// SPDX-License-Identifier: BSD-3-Clause
// Hierarchical collectives of long vectors. A rail is the ranks with the same place in each part; each rail
// carries a share of the data from part to part. As with leaders everything crosses once, but all ranks work
// at it, and inside a part nobody has more to move than the others.
#include <vector>

#include "coll/build.h"
#include "coll/division.h"
#include "coll/halving.h"

namespace vicinity::coll {

namespace {

constexpr int kWindow = 32;  // peers with messages in flight at a time

int rank_at(const Division& division, int part, int place) {
  return division.parts[static_cast<size_t>(part)].ranks[static_cast<size_t>(place)];
}

// Visits each of `size` others from `self` on: whom to receive from and whom to send to.
template <class Visit>
void around(Plan& plan, int self, int size, Visit&& visit) {
  for (int distance = 1; distance < size; ++distance) {
    visit((self - distance + size) % size, (self + distance) % size);
    if (distance % kWindow == 0) plan.wait_all();
  }
}

}  // namespace

void allreduce_rails(Plan& plan, const Reduction& r) {
  if (r.count == 0) return;
  Level level(plan, 0);
  const Fold fold(level.inside);
  const Slices slices(r.count, fold.power);
  const int slice = halve(level.inside, r, r.output(), fold, slices);
  if (slice >= 0) {
    std::vector<int> rail;
    for (size_t part = 0; part < level.division.parts.size(); ++part)
      rail.push_back(rank_at(level.division, static_cast<int>(part), level.inside.rank));
    const Typed mine = slices.part(r.output(), slice);
    Plan among(plan, Members{rail.data(), static_cast<int>(rail.size())}, level.part);
    plan.wait_all();
    if (mine.count > 0)
      build_allreduce(among, Reduction{mine.at, mine.at, mine.count, mine.type, r.commutative});
    plan.wait_all();
  }
  spread(level.inside, r.output(), fold, slices);
}

// The pieces of a rail are together for the first of two: inside of parts, then along rails.
void reduce_scatter_rails(Plan& plan, const Reduction& r, const Pieces& pieces) {
  Level level(plan, 0);
  const auto parts = static_cast<int>(level.division.parts.size());
  const Typed sorted = plan.like(r.count, *r.type);
  std::vector<MPI_Count> rails, ours;
  std::vector<int> ranks;
  MPI_Count at = 0;
  for (int place = 0; place < level.inside.size; ++place) {
    rails.push_back(0);
    for (int part = 0; part < parts; ++part) {
      const int rank = rank_at(level.division, part, place);
      const MPI_Count count = pieces.count(rank);
      plan.copy(r.input().part(pieces.first(rank), count), sorted.part(at, count));
      at += count;
      rails.back() += count;
      if (place != level.inside.rank) continue;
      ranks.push_back(rank);
      ours.push_back(count);
    }
  }
  const Typed rail = plan.like(rails[static_cast<size_t>(level.inside.rank)], *r.type);
  build_reduce_scatter(level.inside, {sorted.at, rail.at, r.count, r.type, r.commutative},
                       Pieces{0, CountArray(rails.data())});
  plan.wait_all();
  Plan among(plan, Members{ranks.data(), parts}, level.part);
  build_reduce_scatter(among, {rail.at, r.recv, rail.count, r.type, r.commutative},
                       Pieces{0, CountArray(ours.data())});
}

// Blocks go along the rail first; then everybody has one block of each part to share with its own.
void allgather_rails(Plan& plan, const Typed& mine, const Blocks& all) {
  const Level level(plan, 0);
  const auto parts = static_cast<int>(level.division.parts.size());
  const int place = level.inside.rank;
  const auto give = [&](const Typed& block, int to) {
    if (block.bytes() > 0) plan.send(block, to);
  };
  const auto take = [&](int rank, int from) {
    if (all.bytes(rank) > 0) plan.recv(all[rank], from);
  };
  const auto share = [&](int part, const Typed& block) {
    around(plan, place, level.inside.size, [&](int from, int to) {
      take(rank_at(level.division, part, from), rank_at(level.division, level.part, from));
      give(block, rank_at(level.division, level.part, to));
    });
  };
  around(plan, level.part, parts, [&](int from, int to) {
    const int sender = rank_at(level.division, from, place);
    take(sender, sender);
    give(mine, rank_at(level.division, to, place));
  });
  share(level.part, mine);
  plan.wait_all();
  for (int part = 0; part < parts; ++part) {
    if (part == level.part) continue;
    share(part, all[rank_at(level.division, part, place)]);
    plan.wait_all();
  }
  plan.copy(mine, all[plan.rank]);
}

}  // namespace vicinity::coll
