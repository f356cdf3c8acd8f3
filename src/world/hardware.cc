// SPDX-License-Identifier: BSD-3-Clause
// Which package, NUMA node, cache and core the cores of this process belong to.
#include "world/hardware.h"

#include <dirent.h>
#include <sched.h>

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace vicinity::world {
namespace {

struct Name {
  const char* name;
  Level level;
};
constexpr Name kNames[] = {
    {"mpi_shared_memory", Level::kHost},  {"hwloc://Machine", Level::kMachine},
    {"hwloc://Package", Level::kPackage}, {"hwloc://NUMANode", Level::kNuma},
    {"hwloc://L3Cache", Level::kCache},   {"hwloc://Core", Level::kCore},
};

int read_number(const char* path) {
  FILE* file = std::fopen(path, "re");
  if (!file) return -1;
  char text[64] = "";
  char* got = std::fgets(text, sizeof text, file);
  std::fclose(file);
  return got && std::isdigit(static_cast<unsigned char>(*got))
             ? static_cast<int>(std::strtol(got, nullptr, 10))
             : -1;
}

int numa_of(int cpu) {
  char path[96];
  std::snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d", cpu);
  DIR* directory = opendir(path);
  if (!directory) return -1;
  int node = -1;
  while (const dirent* entry = readdir(directory))
    if (std::strncmp(entry->d_name, "node", 4) == 0)
      node = static_cast<int>(std::strtol(entry->d_name + 4, nullptr, 10));
  closedir(directory);
  return node;
}

// A number for the part of that level to which one core belongs. For caches and cores it is the first
// core that shares it.
int part_of(Level level, int cpu) {
  const char* format = nullptr;
  switch (level) {
    case Level::kHost:
    case Level::kMachine:
      return 0;
    case Level::kNuma:
      return numa_of(cpu);
    case Level::kPackage:
      format = "/sys/devices/system/cpu/cpu%d/topology/physical_package_id";
      break;
    case Level::kCache:
      format = "/sys/devices/system/cpu/cpu%d/cache/index3/shared_cpu_list";
      break;
    case Level::kCore:
      format = "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list";
      break;
  }
  char path[128];
  std::snprintf(path, sizeof path, format, cpu);
  return read_number(path);
}

}  // namespace

const char* level_name(Level level) {
  for (const Name& known : kNames)
    if (known.level == level) return known.name;
  return "";
}

bool level_named(std::string_view name, Level* level) {
  for (const Name& known : kNames) {
    if (name != known.name) continue;
    *level = known.level;
    return true;
  }
  return false;
}

int confined_to(Level level) {
  if (level <= Level::kMachine) return 0;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return -1;
  int part = -1;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(static_cast<size_t>(cpu), &set)) continue;
    const int here = part_of(level, cpu);
    if (here < 0 || (part >= 0 && here != part)) return -1;
    part = here;
  }
  return part;
}

void describe_hardware(object::Info& info) {
  for (const Name& known : kNames) info.set(known.name, confined_to(known.level) >= 0 ? "true" : "false");
}

}  // namespace vicinity::world
