// SPDX-License-Identifier: BSD-3-Clause
// Which CPUs this process may use, how many that really is, and binding where the launcher did not.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vicinity::peer {

// A set of CPU numbers; text is hexadecimal, highest first ("f" = CPUs 0 to 3).
class CpuSet {
 public:
  static constexpr int kMost = 1024;
  void add(int cpu);
  bool has(int cpu) const;
  int count() const;
  void unite(const CpuSet& other);
  bool operator==(const CpuSet& other) const;
  std::string text() const;
  static bool parse(std::string_view text, CpuSet* out);

  static CpuSet allowed();  // affinity mask of this process
  static CpuSet online();   // all CPUs of the machine

 private:
  uint64_t words_[kMost / 64] = {};
};

// CPUs that the cgroup's cpu.max allows, rounded down but at least 1; INT_MAX without a limit.
int cgroup_cpus();

// Binds this process to its part of `allowed`, which `count` processes divide among them, if nobody
// else has claimed it. Returns text for people: what was done, or why not.
std::string bind_self(const CpuSet& allowed, int index, int count);

}  // namespace vicinity::peer
