// SPDX-License-Identifier: BSD-3-Clause
// Parts of a host that ranks can share: host, machine (a virtual one, or the bare one: one kernel), package,
// NUMA node, last-level cache, core. Read from Linux's sysfs, so no hwloc is needed for what
// MPI_Comm_split_type asks.
#pragma once

#include <string_view>

#include "object/info.h"

namespace vicinity::world {

enum class Level : int { kHost, kMachine, kPackage, kNuma, kCache, kCore };
inline constexpr int kLevels = 6;

// The names that MPI_Comm_split_type takes and MPI_Get_hw_resource_info gives: "hwloc://Package", ...
// Returns false for a type that we do not know.
bool level_named(std::string_view name, Level* level);
const char* level_name(Level level);

// Which part of that level this process is confined to, as a number that is the same for all processes
// confined to it under this kernel; -1 when it may run in more than one part.
int confined_to(Level level);

// For MPI_Get_hw_resource_info (MPI 5.0, 9.1.4): each type, and "true" where this process is confined to one.
void describe_hardware(object::Info& info);

}  // namespace vicinity::world
