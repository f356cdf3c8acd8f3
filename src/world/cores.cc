// SPDX-License-Identifier: BSD-3-Clause
// Ranks against cores. Usually the count of cores decides; where ranks are bound to part of a host, the
// union of the masks of all co-resident ranks, which each publishes as 64-bit words in hexadecimal, lowest
// first ("ff,0"). A control group's quota counts as well: rented cores are often less than visible ones.
#include "world/cores.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "peer/peer.h"

namespace vicinity::world {
namespace {

constexpr const char* kKey = "cores";

std::string mask_text(const cpu_set_t& set) {
  std::string text;
  for (int word = 0; word < CPU_SETSIZE / 64; ++word) {
    uint64_t bits = 0;
    for (int bit = 0; bit < 64; ++bit)
      if (CPU_ISSET(static_cast<size_t>(word * 64 + bit), &set)) bits |= uint64_t{1} << bit;
    char hex[20];
    std::snprintf(hex, sizeof hex, "%s%" PRIx64, word ? "," : "", bits);
    text += hex;
  }
  while (text.size() > 2 && text.ends_with(",0")) text.resize(text.size() - 2);
  return text;
}

int own_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  return CPU_COUNT(&set);
}

int read_quota() {
  char text[64] = "";
  if (FILE* file = std::fopen("/sys/fs/cgroup/cpu.max", "re")) {
    if (!std::fgets(text, sizeof text, file)) text[0] = '\0';
    std::fclose(file);
  }
  return quota_cores(text);
}

}  // namespace

base::Status publish_cores(wireup::Wireup& wireup) {
  const int online = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  if (wireup.identity().size == 1 || own_cores() >= online) return base::kOk;
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  return wireup.put(kKey, mask_text(set));
}

int count_union(const char* const* masks, int count) {
  std::vector<uint64_t> all;
  for (int i = 0; i < count; ++i) {
    size_t word = 0;
    for (const char* at = masks[i]; *at; ++word) {
      char* end = nullptr;
      const uint64_t bits = std::strtoull(at, &end, 16);
      if (end == at || word >= CPU_SETSIZE / 64) break;
      if (word >= all.size()) all.resize(word + 1);
      all[word] |= bits;
      at = *end == ',' ? end + 1 : end;
    }
  }
  int cores = 0;
  for (uint64_t word : all) cores += std::popcount(word);
  return cores;
}

int quota_cores(const char* text) {
  char* end = nullptr;
  const long long quota = std::strtoll(text, &end, 10);
  if (end == text || quota <= 0) return 0;  // "max ..."
  const long long period = std::strtoll(end, nullptr, 10);
  if (period <= 0) return 0;
  return static_cast<int>(std::max(1LL, (quota + period / 2) / period));
}

bool oversubscribed(wireup::Wireup& wireup) {
  std::vector<int> here;
  for (peer::Proc proc = 0; proc < peer::process_count(); ++proc)
    if (peer::co_resident(proc)) here.push_back(static_cast<int>(proc));
  const int ranks = static_cast<int>(here.size());
  if (ranks <= 1) return false;
  if (const int quota = read_quota(); quota > 0 && ranks > quota) return true;
  const int own = own_cores();
  if (ranks <= own) return false;
  if (own >= static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN))) return true;
  std::vector<std::string> texts;
  for (int rank : here) {
    base::Result<std::string> text = wireup.get(rank, kKey);
    if (!text.ok()) return ranks > own;  // that one is not bound, so masks tell nothing
    texts.push_back(*text);
  }
  std::vector<const char*> masks;
  for (const std::string& text : texts) masks.push_back(text.c_str());
  return ranks > count_union(masks.data(), ranks);
}

}  // namespace vicinity::world
