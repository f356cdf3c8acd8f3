// SPDX-License-Identifier: BSD-3-Clause
// The processors of this host that we may use, and which of them a rank gets.
#pragma once

#include <sched.h>

#include <string>
#include <vector>

#include "base/status.h"

namespace vicinity::launch {

// One hardware thread. Numbers of core, cache, socket and NUMA node are unique on the host.
struct Cpu {
  int id = 0;
  int core = 0;
  int l3 = 0;
  int numa = 0;
  int socket = 0;
};

struct Topology {
  std::vector<Cpu> cpus;  // in the order in which they lie beside each other
  std::string source;     // "hwloc", "sysfs", "affinity mask"
  int count(int Cpu::*unit) const;
};

// What the affinity mask of this process allows. hwloc where it was found at build time, else
// /sys/devices/system (`root` is for tests).
Topology read_topology();
Topology read_topology_sysfs(const std::string& root, const cpu_set_t& allowed);
bool read_topology_hwloc(const cpu_set_t& allowed, Topology& topology);  // false: not built in, or it failed

enum class Unit { kNone, kThread, kCore, kL3, kNuma, kSocket, kHost };
// "core", "hwthread", "socket"/"package", "numa", "l3"/"l3cache", "none", "board"/"machine", "user" is
// refused.
base::Result<Unit> parse_unit(const std::string& text, const char* option);

// Which CPUs each of `ranks` ranks is bound to; empty sets mean "not bound". `bind` is the size of what a
// rank gets, `map` the unit over which neighbours are spread (kNone: fill up in order).
// More ranks than units: they wrap around, each lap of cores or threads begun one later.
std::vector<std::vector<int>> place_ranks(const Topology& topology, int ranks, Unit bind, Unit map);

}  // namespace vicinity::launch
