// SPDX-License-Identifier: BSD-3-Clause
// Groups (MPI 5.0, 7.3): an ordered list of processes, each named by its index in the process table
// of this process (peer::Table). Equal process = equal index.
#pragma once

#include <cstdint>
#include <vector>

#include "object/handle.h"

namespace vicinity::object {

using Proc = uint32_t;  // index in the process table; MPI_COMM_WORLD rank for processes of the start

struct Group : Object {
  std::vector<Proc> procs;        // by rank
  int rank = MPI_UNDEFINED;       // of this process
  uintptr_t session = 0;          // handle of the session that it came from, 0: the world model
  int size() const { return static_cast<int>(procs.size()); }
  int rank_of(Proc proc) const;   // MPI_UNDEFINED when not a member
  static void finish(Group* group);
};

template <>
struct HandleTraits<Group> {
  using Handle = MPI_Group;
  static constexpr Kind kKind = Kind::kGroup;
  static Group* predefined(uintptr_t constant);
};

}  // namespace vicinity::object
