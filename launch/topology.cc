// SPDX-License-Identifier: BSD-3-Clause
// Topology from /sys, and the placing of ranks, which is pure.
#include "launch/topology.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

namespace vicinity::launch {

using base::fail;
using base::kArgument;
using base::Result;

int Topology::count(int Cpu::*unit) const {
  std::set<int> seen;
  for (const Cpu& cpu : cpus) seen.insert(cpu.*unit);
  return static_cast<int>(seen.size());
}

namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

int number_in(const std::string& path, int fallback) {
  std::istringstream text(first_line(path));
  int number = fallback;
  text >> number;
  return text.fail() ? fallback : number;
}

// The first CPU of a list such as "0-3,8": a name for the unit that all of them share.
int first_of_list(const std::string& path, int fallback) { return number_in(path, fallback); }

int numa_of(const std::string& folder, int fallback) {
  for (int node = 0; node < 1024; ++node)
    if (std::ifstream(folder + "/node" + std::to_string(node) + "/cpulist")) return node;
  return fallback;
}

int l3_of(const std::string& folder, int fallback) {
  for (int index = 0; index < 8; ++index) {
    const std::string cache = folder + "/cache/index" + std::to_string(index);
    const int level = number_in(cache + "/level", 0);
    if (level == 0) break;
    if (level == 3) return first_of_list(cache + "/shared_cpu_list", fallback);
  }
  return fallback;
}

}  // namespace

Topology read_topology_sysfs(const std::string& root, const cpu_set_t& allowed) {
  Topology topology;
  topology.source = "sysfs";
  for (int id = 0; id < CPU_SETSIZE; ++id) {
    if (!CPU_ISSET(id, &allowed)) continue;
    const std::string folder = root + "/cpu/cpu" + std::to_string(id);
    Cpu cpu;
    cpu.id = id;
    cpu.core = first_of_list(folder + "/topology/thread_siblings_list", id);
    cpu.socket = number_in(folder + "/topology/physical_package_id", 0);
    cpu.numa = numa_of(folder, 0);
    cpu.l3 = l3_of(folder, 1000000 + cpu.socket);
    topology.cpus.push_back(cpu);
  }
  std::stable_sort(topology.cpus.begin(), topology.cpus.end(), [](const Cpu& a, const Cpu& b) {
    return std::tie(a.socket, a.numa, a.l3, a.core) < std::tie(b.socket, b.numa, b.l3, b.core);
  });
  return topology;
}

Topology read_topology() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  Topology topology;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return topology;
  if (read_topology_hwloc(allowed, topology) && !topology.cpus.empty()) return topology;
  return read_topology_sysfs("/sys/devices/system", allowed);
}

Result<Unit> parse_unit(const std::string& text, const char* option) {
  static const std::map<std::string, Unit> kNames = {{"none", Unit::kNone},     {"hwthread", Unit::kThread},
                                                     {"core", Unit::kCore},     {"l3", Unit::kL3},
                                                     {"l3cache", Unit::kL3},    {"numa", Unit::kNuma},
                                                     {"socket", Unit::kSocket}, {"package", Unit::kSocket},
                                                     {"board", Unit::kHost},    {"machine", Unit::kHost}};
  const auto found = kNames.find(text);
  if (found != kNames.end()) return found->second;
  return fail(kArgument, "%s %s is not known; allowed: none, hwthread, core, l3, numa, socket, machine",
              option, text.c_str());
}

namespace {

int unit_of(const Cpu& cpu, Unit unit) {
  switch (unit) {
    case Unit::kThread:
      return cpu.id;
    case Unit::kCore:
      return cpu.core;
    case Unit::kL3:
      return cpu.l3;
    case Unit::kNuma:
      return cpu.numa;
    case Unit::kSocket:
      return cpu.socket;
    default:
      return 0;
  }
}

// CPUs by unit, in the order of the topology.
std::vector<std::vector<Cpu>> groups_of(const std::vector<Cpu>& cpus, Unit unit) {
  std::vector<std::vector<Cpu>> groups;
  std::map<int, size_t> index;
  for (const Cpu& cpu : cpus) {
    const auto [at, is_new] = index.emplace(unit_of(cpu, unit), groups.size());
    if (is_new) groups.emplace_back();
    groups[at->second].push_back(cpu);
  }
  return groups;
}

// Ranks that share a core cannot talk without a change of processes, so usual partners should not: those
// whose numbers differ in one digit to the base `seats` (by 1, by half of them, ...) never do. Every `seats`
// ranks in a row take all seats.
size_t seat_of(size_t rank, size_t seats) {
  size_t sum_of_digits = 0;
  for (; rank > 0; rank = seats > 1 ? rank / seats : 0) sum_of_digits += rank % seats;
  return sum_of_digits % seats;
}

}  // namespace

std::vector<std::vector<int>> place_ranks(const Topology& topology, int ranks, Unit bind, Unit map) {
  std::vector<std::vector<int>> out(static_cast<size_t>(ranks));
  if (bind == Unit::kNone || topology.cpus.empty()) return out;
  // Units to bind to, in the order in which ranks take them: with a map unit, first the first of each
  // map unit, then the second of each, and so on.
  std::vector<std::vector<Cpu>> order;
  if (map == Unit::kNone || map == Unit::kHost) {
    order = groups_of(topology.cpus, bind);
  } else {
    std::vector<std::vector<std::vector<Cpu>>> spread;
    size_t deepest = 0;
    for (const auto& group : groups_of(topology.cpus, map)) {
      spread.push_back(groups_of(group, bind));
      deepest = std::max(deepest, spread.back().size());
    }
    for (size_t depth = 0; depth < deepest; ++depth)
      for (const auto& group : spread)
        if (depth < group.size()) order.push_back(group[depth]);
  }
  const bool narrow = bind == Unit::kCore || bind == Unit::kThread;
  for (size_t rank = 0; rank < out.size(); ++rank)
    for (const Cpu& cpu : order[narrow ? seat_of(rank, order.size()) : rank % order.size()])
      out[rank].push_back(cpu.id);
  // A map unit smaller than what is bound (by core, to socket) leaves parts of a unit; bind to all of it.
  for (auto& cpus : out) {
    const auto first = std::find_if(topology.cpus.begin(), topology.cpus.end(),
                                    [&](const Cpu& cpu) { return cpu.id == cpus.front(); });
    cpus.clear();
    for (const Cpu& cpu : topology.cpus)
      if (unit_of(cpu, bind) == unit_of(*first, bind)) cpus.push_back(cpu.id);
  }
  return out;
}

}  // namespace vicinity::launch
