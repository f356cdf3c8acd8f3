// SPDX-License-Identifier: BSD-3-Clause
// Groups (MPI 5.0, 7.3): an ordered list of processes, each named by its index in the process table
// of this process (peer::Table). Equal process = equal index.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "object/error.h"
#include "object/handle.h"

namespace vicinity::object {

using Proc = uint32_t;  // index in the process table; MPI_COMM_WORLD rank for processes of the start

struct Group : Object {
  std::vector<Proc> procs;   // by rank
  int rank = MPI_UNDEFINED;  // of this process
  uintptr_t session = 0;     // handle of the session that it came from, 0: the world model
  int size() const { return static_cast<int>(procs.size()); }
  int rank_of(Proc proc) const;  // MPI_UNDEFINED when not a member
  static void finish(Group* group);

  // Made by rank_of() for larger groups whose order is not the table's: (proc, rank), sorted.
  mutable std::vector<std::pair<Proc, int>> sorted;
};

template <>
struct HandleTraits<Group> {
  using Handle = MPI_Group;
  static constexpr Kind kKind = Kind::kGroup;
  static Group* predefined(uintptr_t constant);
};

// A group of these processes; `rank` is found by looking for `self`. nullptr when memory is gone.
Group* make_group(std::vector<Proc> procs, Proc self);

// The algebra of MPI 5.0, 7.3.2, on lists of processes. All take time linear in the sizes, up to a
// logarithm. The ranks have been checked.
std::vector<Proc> group_union(const Group& a, const Group& b);
std::vector<Proc> group_intersection(const Group& a, const Group& b);  // in the order of a
std::vector<Proc> group_difference(const Group& a, const Group& b);
std::vector<Proc> group_include(const Group& group, std::span<const int> ranks);
std::vector<Proc> group_exclude(const Group& group, std::span<const int> ranks);
int group_compare(const Group& a, const Group& b);  // MPI_IDENT, MPI_SIMILAR or MPI_UNEQUAL

// Distinct ranks of the group, or MPI_ERR_RANK that names the culprit.
Status check_ranks(const Group& group, std::span<const int> ranks);
// Writes out `first, last, stride` triplets; MPI_ERR_ARG for stride 0 and directions that miss.
Result<std::vector<int>> expand_ranges(const Group& group, int count, const int (*ranges)[3]);

}  // namespace vicinity::object
