// SPDX-License-Identifier: BSD-3-Clause
// Affinity, cgroup quota, and claims of CPUs.
#include "peer/cpus.h"

#include <sched.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstdio>
#include <cstring>

namespace vicinity::peer {

void CpuSet::add(int cpu) {
  if (cpu >= 0 && cpu < kMost) words_[cpu / 64] |= uint64_t{1} << (cpu % 64);
}
bool CpuSet::has(int cpu) const { return cpu >= 0 && cpu < kMost && (words_[cpu / 64] >> (cpu % 64) & 1); }
int CpuSet::count() const {
  int count = 0;
  for (uint64_t word : words_) count += __builtin_popcountll(word);
  return count;
}
void CpuSet::unite(const CpuSet& other) {
  for (int i = 0; i < kMost / 64; ++i) words_[i] |= other.words_[i];
}
bool CpuSet::operator==(const CpuSet& other) const {
  return std::memcmp(words_, other.words_, sizeof words_) == 0;
}

std::string CpuSet::text() const {
  std::string text;
  for (int digit = kMost / 4 - 1; digit >= 0; --digit) {
    const auto value = static_cast<unsigned>(words_[digit / 16] >> (digit % 16 * 4) & 15);
    if (value || !text.empty() || digit == 0) text += "0123456789abcdef"[value];
  }
  return text;
}

bool CpuSet::parse(std::string_view text, CpuSet* out) {
  *out = CpuSet();
  if (text.empty() || text.size() > kMost / 4) return false;
  int digit = static_cast<int>(text.size());
  for (char c : text) {
    --digit;
    int value;
    if (c >= '0' && c <= '9') {
      value = c - '0';
    } else if (c >= 'a' && c <= 'f') {
      value = c - 'a' + 10;
    } else {
      return false;
    }
    for (int bit = 0; bit < 4; ++bit)
      if (value >> bit & 1) out->add(digit * 4 + bit);
  }
  return true;
}

CpuSet CpuSet::allowed() {
  CpuSet set;
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof mask, &mask) == 0) {
    for (int cpu = 0; cpu < kMost && cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &mask)) set.add(cpu);
  }
  if (set.count() == 0) set.add(0);
  return set;
}

CpuSet CpuSet::online() {
  CpuSet set;
  FILE* file = std::fopen("/sys/devices/system/cpu/online", "re");
  int first, last;
  while (file && std::fscanf(file, "%d", &first) == 1) {
    last = first;
    if (std::fscanf(file, "-%d", &last) != 1) last = first;
    for (int cpu = first; cpu <= last && cpu < kMost; ++cpu) set.add(cpu);
    if (std::fgetc(file) != ',') break;
  }
  if (file) std::fclose(file);
  return set;
}

namespace {

// "max 100000" or "150000 100000".
int read_cpu_max(const std::string& path) {
  FILE* file = std::fopen(path.c_str(), "re");
  if (!file) return INT_MAX;
  long quota = 0, period = 0;
  const int fields = std::fscanf(file, "%ld %ld", &quota, &period);
  std::fclose(file);
  if (fields != 2 || quota <= 0 || period <= 0) return INT_MAX;
  return static_cast<int>(std::max(1L, quota / period));
}

}  // namespace

int cgroup_cpus() {
  int least = read_cpu_max("/sys/fs/cgroup/cpu.max");  // of a container: its own group is the root it sees
  FILE* file = std::fopen("/proc/self/cgroup", "re");
  if (!file) return least;
  char line[512];
  while (std::fgets(line, sizeof line, file)) {
    if (std::strncmp(line, "0::/", 4) != 0) continue;
    std::string path(line + 3);
    while (!path.empty() && path.back() == '\n') path.pop_back();
    while (path.size() > 1) {  // every ancestor limits us
      least = std::min(least, read_cpu_max("/sys/fs/cgroup" + path + "/cpu.max"));
      path.resize(std::max<size_t>(path.rfind('/'), 1));
    }
  }
  std::fclose(file);
  return least;
}

namespace {

// A name in the abstract socket namespace is a claim that the kernel takes back when we end, however
// we end. It keeps two jobs on one machine from sharing the first CPUs while others are idle.
bool claim_cpu(int cpu) {
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  const int length = std::snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "vicinity-cpu-%d", cpu);
  const auto bytes =
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<size_t>(length));
  if (bind(fd, reinterpret_cast<sockaddr*>(&name), bytes) == 0)
    return true;  // fd stays open: it is the claim
  close(fd);
  return false;
}

}  // namespace

std::string bind_self(const CpuSet& allowed, int index, int count) {
  const int cpus = allowed.count();
  const int first = index * cpus / count, end = (index + 1) * cpus / count;
  cpu_set_t mask;
  CPU_ZERO(&mask);
  int seen = 0;
  for (int cpu = 0; cpu < CpuSet::kMost; ++cpu) {
    if (!allowed.has(cpu)) continue;
    if (seen >= first && seen < end) {
      if (!claim_cpu(cpu)) return "not bound: another job has claimed CPU " + std::to_string(cpu);
      CPU_SET(cpu, &mask);
    }
    ++seen;
  }
  if (sched_setaffinity(0, sizeof mask, &mask) != 0) return std::string("not bound: ") + strerror(errno);
  return "bound to CPUs " + std::to_string(first) + " to " + std::to_string(end - 1) + " of those allowed";
}

}  // namespace vicinity::peer
