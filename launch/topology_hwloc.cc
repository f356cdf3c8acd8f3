// SPDX-License-Identifier: BSD-3-Clause
// Topology by hwloc, which also knows machines whose /sys is incomplete.
#include "launch/topology.h"

#if VICINITY_HAVE_HWLOC
#include <hwloc.h>
#include <hwloc/glibc-sched.h>

namespace vicinity::launch {
namespace {

int index_above(hwloc_topology_t topology, hwloc_obj_t pu, hwloc_obj_type_t type, int fallback) {
  hwloc_obj_t above = hwloc_get_ancestor_obj_by_type(topology, type, pu);
  return above ? static_cast<int>(above->logical_index) : fallback;
}

int numa_of(hwloc_obj_t pu) {
  const int node = pu->nodeset ? hwloc_bitmap_first(pu->nodeset) : -1;
  return node < 0 ? 0 : node;
}

}  // namespace

bool read_topology_hwloc(const cpu_set_t& allowed, Topology& out) {
  hwloc_topology_t topology;
  if (hwloc_topology_init(&topology) != 0) return false;
  const bool loaded = hwloc_topology_load(topology) == 0 && hwloc_topology_is_thissystem(topology);
  for (hwloc_obj_t pu = nullptr; loaded && (pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, pu));) {
    const int id = static_cast<int>(pu->os_index);
    if (id >= CPU_SETSIZE || !CPU_ISSET(id, &allowed)) continue;
    Cpu cpu;
    cpu.id = id;
    cpu.core = index_above(topology, pu, HWLOC_OBJ_CORE, id);
    cpu.socket = index_above(topology, pu, HWLOC_OBJ_PACKAGE, 0);
    cpu.numa = numa_of(pu);
    cpu.l3 = index_above(topology, pu, HWLOC_OBJ_L3CACHE, 1000000 + cpu.socket);
    out.cpus.push_back(cpu);
  }
  hwloc_topology_destroy(topology);
  out.source = "hwloc";
  return loaded;
}

}  // namespace vicinity::launch
#else
namespace vicinity::launch {
bool read_topology_hwloc(const cpu_set_t&, Topology&) { return false; }
}  // namespace vicinity::launch
#endif
