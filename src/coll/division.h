// SPDX-License-Identifier: BSD-3-Clause
// How slow levels divide a group: hosts first, then perhaps the kernels (virtual machines) of each host.
//
//   group   0 1 2 3 4 5 6 7
//   hosts  (0 2 4 6)(1 3 5 7)            parts of the group; its division
//   kernels (0 4)(2 6)  1 3 5 7          parts of the first host; the second is not divided
//
// Ranks in a part count from 0 among its members. A level at which all are together, or each one is alone,
// divides nothing and does not appear, so a group without a division is one where no rank is nearer than
// another.
//
// It is made of what all members of a communicator know from the start (peer::place_of), so all make the
// same, and it stays when a connection changes from one channel to another.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "coll/plan.h"
#include "object/communicator.h"

namespace vicinity::coll {

struct Division {
  struct Part {
    std::vector<int> ranks;
    std::unique_ptr<const Division> inside;  // nullptr: not divided
  };
  std::vector<Part> parts;   // by their first ranks
  std::vector<int> leaders;  // the first rank of each
  std::vector<int> part_of;  // by rank
  std::vector<int> index;    // by rank: its place in its part
  bool in_order = true;      // each part is a run of ranks, so what is combined part by part stays in order
  bool even = true;          // equally many ranks in each part, and no part is divided
};

// Ranks with equal numbers in levels[i] are together there; the slowest level comes first.
std::unique_ptr<const Division> divide(std::vector<std::vector<uint32_t>> levels);

// The division of a communicator's group, made at the first call. nullptr: there is none, or
// VICINITY_COLL_LEVELS=no.
const Division* division_of(object::Communicator& comm);

// One level as a rank sees it. The first rank of each part leads it; `root` leads its own.
class Level {
 public:
  Level(Plan& plan, int root);
  const Division& division;
  const int part;               // ours
  const int root_part;          // the root's
  const int leader;             // of our part, counted in it
  Plan inside;                  // our part
  std::optional<Plan> leaders;  // the leaders of all parts, by part; only where this rank is one
};

}  // namespace vicinity::coll
