// SPDX-License-Identifier: BSD-3-Clause
// A vandal in the host region: random bytes of it are overwritten while jobs start, talk and end in it.
// Expected are clean errors: a start that fails in words, lost peers, refused memory. Never a crash or a
// hang.
//
// fuzz_host [seconds [seed]]; a failing round prints its seed.
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/progress.h"
#include "peer/fork_test.h"
#include "peer/peer.h"
#include "region/host_backing.h"
#include "region/host_region.h"

namespace {

using namespace vicinity;

constexpr int kRanks = 3;
constexpr int64_t kTalk = 120'000'000;  // ns of talking in a round

struct CountingSink final : channel::Sink {
  std::vector<std::byte> room = std::vector<std::byte>(1 << 20);
  uint64_t arrived = 0;
  uint32_t losses = 0;
  channel::Landing land(peer::Proc, const channel::Envelope&, size_t bytes) override {
    return {room.data(), std::min(bytes, room.size()), nullptr};
  }
  void landed(const channel::Landing&, size_t) override { ++arrived; }
  void lost(peer::Proc, const char* why) override {
    if (!why || ++losses > kRanks) abort();
  }
};

int talk(int rank, wireup::Wireup& wireup) {
  setenv("VICINITY_HOST_ID", ("guest" + std::to_string(rank)).c_str(), 1);
  if (!base::params_load(base::Unknown::kIgnore).ok()) return 99;
  CountingSink sink;
  if (!peer::start(wireup, sink).ok()) {
    peer::stop();
    return 0;  // in words, somewhere else
  }
  std::vector<std::byte> data(16384);
  std::mt19937 random(static_cast<unsigned>(rank));
  const int64_t end = base::now_ns() + kTalk;
  base::wait_until([&] {
    const auto to = static_cast<peer::Proc>((static_cast<uint32_t>(rank) + 1 + random() % 2) % kRanks);
    peer::VirtualConnection& connection = peer::connection(to);
    const size_t bytes = std::min<size_t>(random() % (random() % 2 ? 64 : 12000), connection.largest());
    (void)connection.try_send({1, 2, 3, 0, 0, 0}, data.data(), bytes);
    return base::now_ns() > end;
  });
  peer::stop();
  return 0;
}

// Overwrites bytes, mostly in the tables and at the start of the extents, where every byte counts.
void vandal(const region::Mapping& memory, uint64_t seed) {
  std::mt19937_64 random(seed);
  const int64_t end = base::now_ns() + 2 * kTalk;
  while (base::now_ns() < end) {
    const uint64_t most = random() % 3 == 0 ? memory.bytes() : random() % 2 ? 36864 : 200000;
    auto* byte = memory.at<uint8_t>(random() % most);
    __atomic_store_n(byte, static_cast<uint8_t>(random() % 4 ? random() : 0), __ATOMIC_RELAXED);
    if (random() % 64 == 0) usleep(static_cast<useconds_t>(random() % 2000));
  }
}

int round_of(const std::string& path, uint64_t seed) {
  unlink(path.c_str());
  auto memory = region::open_host_memory(path);
  if (!memory.ok()) return std::fprintf(stderr, "%s\n", base::failure_text(memory.status().code())), 1;
  {
    auto again = region::open_host_memory(path);
    if (!region::HostRegion::adopt(std::move(again->mapping)).ok()) return 1;
  }
  const pid_t villain = fork();
  if (villain == 0) {
    usleep(static_cast<useconds_t>(seed % 40 * 1000));
    vandal(memory->mapping, seed);
    _exit(0);
  }
  const int result = peer::test::run_ranks(kRanks, talk);
  kill(villain, SIGKILL);
  waitpid(villain, nullptr, 0);
  // What is left of it: whatever one does with it must fail or work.
  auto left = region::HostRegion::adopt(std::move(memory->mapping));
  if (left.ok()) {
    region::Job job;
    for (int i = 0; i < 80; ++i) {
      auto claim = left->claim(job, 4, 2, 40000);
      if (claim.ok() && claim->offset + claim->bytes > left->whole().bytes()) abort();
      if (claim.ok()) left->publish(*claim);
      (void)left->find(job);
    }
    (void)left->reclaim(1000);
    (void)left->use();
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 5;
  uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 0) : 1;
  const std::string path = "/dev/shm/vicinity-fuzz-" + std::to_string(getpid());
  setenv("VICINITY_HOST_REGION", path.c_str(), 1);
  setenv("VICINITY_HOST_REGION_SIZE", "4M", 1);
  setenv("VICINITY_HOST_REGION_DEAD_MS", "1000", 1);
  if (!base::params_load(base::Unknown::kIgnore).ok()) return 2;
  const int64_t end = base::now_ns() + static_cast<int64_t>(seconds * 1e9);
  int rounds = 0, result = 0;
  for (; base::now_ns() < end && result == 0; ++rounds, ++seed) result = round_of(path, seed);
  unlink(path.c_str());
  if (result != 0)
    std::printf("round with seed %llu ended with %d\n", static_cast<unsigned long long>(seed - 1), result);
  else
    std::printf("%d rounds, no failure\n", rounds);
  return result != 0;
}
