// SPDX-License-Identifier: BSD-3-Clause
// From places to divisions.
#include "coll/division.h"

#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/param.h"
#include "coll/state.h"
#include "peer/peer.h"

namespace vicinity::coll {

namespace {

base::Param<std::string> coll_levels{"VICINITY_COLL_LEVELS", "coll", "auto", "auto|all|no",
                                     "Collectives go from part to part of a communicator, so that what "
                                     "crosses a slow level crosses it once. auto: "
                                     "parts are the ranks that have memory in common; all: these are divided "
                                     "by virtual machines, too; no: all ranks "
                                     "are alike. All ranks must agree."};

// The parts without what divides them.
Division parts_of(const std::vector<uint32_t>& places) {
  Division division;
  std::unordered_map<uint32_t, int> known;
  for (int rank = 0; rank < static_cast<int>(places.size()); ++rank) {
    const auto next = static_cast<int>(division.parts.size());
    const int part = known.emplace(places[static_cast<size_t>(rank)], next).first->second;
    if (part == next) {
      division.parts.emplace_back();
      division.leaders.push_back(rank);
    }
    std::vector<int>& ranks = division.parts[static_cast<size_t>(part)].ranks;
    if (!ranks.empty() && ranks.back() != rank - 1) division.in_order = false;
    division.part_of.push_back(part);
    division.index.push_back(static_cast<int>(ranks.size()));
    ranks.push_back(rank);
  }
  return division;
}

std::unique_ptr<const Division> divide_places(const Communicator& comm) {
  // Memory in common is as fast between virtual machines as in one (docs/performance.md), so `auto` leaves it
  // at that.
  constexpr peer::Place kPlaces[] = {peer::Place::kHost, peer::Place::kKernel};
  const std::span slow_levels(kPlaces, coll_levels.get() == "all" ? 2 : 1);
  const std::vector<object::Proc>& procs = comm.group->procs;
  bool apart = false;
  for (object::Proc proc : procs) {
    // Where processes of another job are, not all members know; they share memory, or there were no meeting.
    if (!peer::of_our_job(proc)) return nullptr;
    for (peer::Place level : slow_levels)
      apart |= peer::place_of(proc, level) != peer::place_of(procs[0], level);
  }
  if (!apart) return nullptr;
  std::vector<std::vector<uint32_t>> levels;
  for (peer::Place level : slow_levels) {
    levels.emplace_back();
    for (object::Proc proc : procs) levels.back().push_back(peer::place_of(proc, level));
  }
  return divide(std::move(levels));
}

int part_of(const Division& division, int rank) { return division.part_of[static_cast<size_t>(rank)]; }
int index_of(const Division& division, int rank) { return division.index[static_cast<size_t>(rank)]; }

}  // namespace

std::unique_ptr<const Division> divide(std::vector<std::vector<uint32_t>> levels) {
  for (size_t level = 0; level < levels.size(); ++level) {
    Division division = parts_of(levels[level]);
    if (division.parts.size() == 1 || division.parts.size() == levels[level].size()) continue;
    for (Division::Part& part : division.parts) {
      std::vector<std::vector<uint32_t>> below;
      for (size_t next = level + 1; next < levels.size(); ++next) {
        below.emplace_back();
        for (int rank : part.ranks) below.back().push_back(levels[next][static_cast<size_t>(rank)]);
      }
      part.inside = divide(std::move(below));
      if (part.inside || part.ranks.size() != division.parts[0].ranks.size()) division.even = false;
    }
    return std::make_unique<const Division>(std::move(division));
  }
  return nullptr;
}

const Division* division_of(Communicator& comm) {
  if (comm.size() < 3) return nullptr;
  CommState& state = state_of(comm);
  if (!state.divided) {
    state.divided = true;
    if (coll_levels.get() != "no") state.division = divide_places(comm);
  }
  return state.division.get();
}

Level::Level(Plan& plan, int root)
    : division(*plan.division),
      part(part_of(division, plan.rank)),
      root_part(part_of(division, root)),
      leader(part == root_part ? index_of(division, root) : 0),
      inside(plan,
             Members{division.parts[static_cast<size_t>(part)].ranks.data(),
                     static_cast<int>(division.parts[static_cast<size_t>(part)].ranks.size())},
             index_of(division, plan.rank), division.parts[static_cast<size_t>(part)].inside.get()) {
  if (inside.rank == leader)
    leaders.emplace(
        plan, Members{division.leaders.data(), static_cast<int>(division.leaders.size()), root_part, root},
        part);
}

}  // namespace vicinity::coll
