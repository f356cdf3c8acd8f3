// SPDX-License-Identifier: BSD-3-Clause
// What the locality detector's VM list costs a very large job: memory, and time to say that one is here, to
// ask for one rank, and to read who is here. Simulates one host of the job after another, in the memory that
// a host region would hold. Usage: locality_scale [ranks [ranks on each host]]
#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "base/clock.h"
#include "peer/host_forming.h"

int main(int argc, char** argv) {
  using namespace vicinity;
  const auto ranks = static_cast<uint32_t>(argc > 1 ? std::strtoul(argv[1], nullptr, 0) : 1'000'000);
  const auto local = static_cast<uint32_t>(argc > 2 ? std::strtoul(argv[2], nullptr, 0) : 64);
  if (ranks == 0 || local == 0 || local > ranks) return std::fprintf(stderr, "1 <= local <= ranks\n"), 2;
  void* memory = mmap(nullptr, ranks, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return std::perror("mmap"), 1;
  peer::VmList list(static_cast<std::byte*>(memory), ranks);
  std::vector<uint32_t> placed(ranks);
  for (uint32_t rank = 0; rank < ranks; ++rank) placed[rank] = rank;
  std::shuffle(placed.begin(), placed.end(),
               std::mt19937(1));  // the launcher dealt them out in the worst way

  std::vector<double> write_ns, read_us, ask_ns;
  for (int host = 0; host < 50 && (host + 1ull) * local <= ranks; ++host) {
    const uint32_t* here = placed.data() + static_cast<size_t>(host) * local;
    int64_t begin = base::now_ns();
    for (uint32_t i = 0; i < local; ++i) list.beat(here[i]);
    write_ns.push_back(static_cast<double>(base::now_ns() - begin) / local);
    begin = base::now_ns();
    const std::vector<uint32_t> members = list.members();
    read_us.push_back(static_cast<double>(base::now_ns() - begin) * 1e-3);
    if (members.size() != local || !std::is_sorted(members.begin(), members.end())) return 1;
    begin = base::now_ns();
    uint32_t found = 0;
    for (uint32_t i = 0; i < 1000; ++i) found += list.has(placed[i * 7919ull % ranks]);
    ask_ns.push_back(static_cast<double>(base::now_ns() - begin) / 1000);
    for (uint32_t i = 0; i < local; ++i) list.leave(here[i]);
    if (found > 1000 || !list.empty()) return 1;
  }
  const auto median = [](std::vector<double>& v) {
    std::nth_element(v.begin(), v.begin() + v.size() / 2, v.end());
    return v[v.size() / 2];
  };
  std::printf("%u ranks, %u on each host, %zu hosts simulated\n", ranks, local, write_ns.size());
  std::printf("memory of the list, once for each host   %10.1f KiB\n", ranks / 1024.0);
  std::printf("memory of what a process keeps of it     %10.1f KiB\n", local * 4 / 1024.0);
  std::printf("to say: I am here                        %10.1f ns\n", median(write_ns));
  std::printf("to ask: is that rank here?               %10.1f ns\n", median(ask_ns));
  std::printf("to read who is here, in order            %10.1f us\n", median(read_us));
  return 0;
}
