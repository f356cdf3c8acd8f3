// SPDX-License-Identifier: BSD-3-Clause
// Locks on the files of CPUs; see claims.h.
#include "launch/claims.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <map>

namespace vicinity::launch {

bool CpuClaims::take(int cpu, std::vector<Descriptor>& held) const {
  const std::string path = folder_ + "/" + std::to_string(cpu);
  // Reading is enough to lock, so that one user's files serve all.
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0 && errno == ENOENT) fd = open(path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0444);
  if (fd < 0) return true;  // cannot be claimed by anybody: use it unclaimed
  Descriptor file(fd);
  if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return false;
  held.push_back(std::move(file));
  return true;
}

Topology CpuClaims::take_cores(const Topology& topology, int cores) {
  // Sticky and open to all, as /tmp: one user's jobs must see those of another.
  if (mkdir(folder_.c_str(), 0777) == 0) chmod(folder_.c_str(), 01777);
  std::map<int, std::vector<Cpu>> by_core;
  std::vector<int> order;
  for (const Cpu& cpu : topology.cpus) {
    if (by_core[cpu.core].empty()) order.push_back(cpu.core);
    by_core[cpu.core].push_back(cpu);
  }
  Topology taken;
  taken.source = topology.source;
  for (int core : order) {
    if (cores == 0) break;
    std::vector<Descriptor> held;
    bool free = true;
    for (const Cpu& cpu : by_core[core]) free = free && take(cpu.id, held);
    if (!free) continue;
    for (Descriptor& file : held) held_.push_back(std::move(file));
    taken.cpus.insert(taken.cpus.end(), by_core[core].begin(), by_core[core].end());
    --cores;
  }
  if (cores == 0) return taken;
  held_.clear();
  return Topology{};
}

}  // namespace vicinity::launch
