// SPDX-License-Identifier: BSD-3-Clause
// CPUs that jobs on this host have taken for themselves: one file per CPU in /dev/shm/vicinity-cpus, locked
// (flock) while the job runs, so that a job that dies leaves nothing behind. It is a courtesy among jobs that
// bind by default, not a protection.
#pragma once

#include <string>
#include <vector>

#include "launch/process.h"
#include "launch/topology.h"

namespace vicinity::launch {

inline constexpr const char* kClaimFolder = "/dev/shm/vicinity-cpus";

class CpuClaims {
 public:
  explicit CpuClaims(std::string folder = kClaimFolder) : folder_(std::move(folder)) {}
  // Takes whole cores that no other job holds, `cores` of them, in the order of the topology. Returns what
  // was taken, or an empty topology (and holds nothing) when fewer are free.
  Topology take_cores(const Topology& topology, int cores);

 private:
  bool take(int cpu, std::vector<Descriptor>& held) const;
  std::string folder_;
  std::vector<Descriptor> held_;
};

}  // namespace vicinity::launch
