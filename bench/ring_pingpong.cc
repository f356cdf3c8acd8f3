// SPDX-License-Identifier: BSD-3-Clause
// How far is the ring from what the machine allows? Ping-pong of two processes, one way, in ns:
//
//   raw     one cache line, payload and flag in it, read and written by a bare loop
//   port    ring::Sender and ring::Port::poll(), nothing around them
//   wait    the same inside base::wait_until(), as the library waits
//   over    median of port - raw of the same block: what the ring costs
//   stream  windows of 64 messages, then an answer: ns per message
//
// All are taken in turns within the same second, since placement and clock of a rented CPU change; the
// medians are printed. Usage: ring_pingpong [bytes...]
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/clock.h"
#include "base/progress.h"
#include "channel/ring/port.h"
#include "region/backing.h"

namespace {

using namespace vicinity;
using channel::Answer;
using channel::Envelope;
using channel::Landing;
using channel::Proc;

constexpr int kBlocks = 21, kTurns = 2048, kWindow = 64, kKinds = 4;

struct NullSink final : channel::Sink {
  std::vector<std::byte> room = std::vector<std::byte>(1 << 20);
  uint64_t arrived = 0;
  Landing land(Proc, const Envelope&, size_t) override { return {room.data(), room.size(), nullptr}; }
  void landed(const Landing&, size_t) override { ++arrived; }
  void lost(Proc, const char* why) override { std::fprintf(stderr, "lost: %s\n", why), std::exit(1); }
};

struct RawLine {
  alignas(64) uint64_t payload[7];
  uint64_t flag;
};

void raw_turns(RawLine* to, RawLine* from, uint64_t& count, bool first) {
  for (int turn = 0; turn < kTurns; ++turn) {
    ++count;
    if (first) {
      to->payload[0] = count;
      __atomic_store_n(&to->flag, count, __ATOMIC_RELEASE);
    }
    while (__atomic_load_n(&from->flag, __ATOMIC_ACQUIRE) != count) {
    }
    if (!first) {
      to->payload[0] = count;
      __atomic_store_n(&to->flag, count, __ATOMIC_RELEASE);
    }
  }
}

void bind_to(int which) {
  cpu_set_t allowed, one;
  sched_getaffinity(0, sizeof allowed, &allowed);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &allowed) && which-- == 0) {
      CPU_ZERO(&one);
      CPU_SET(cpu, &one);
      sched_setaffinity(0, sizeof one, &one);
    }
}

class Side {
 public:
  Side(region::Mapping& mapping, const region::Geometry& geometry, uint32_t self, bool membarrier)
      : first_(self == 0),
        port_(mapping, geometry, options(self, membarrier), sink_),
        sender_(port_.sender(1 - self)),
        data_(1 << 20) {
    base::add_poller(&port_);
    base::set_sleeper(&port_);
  }
  template <class Wait>
  void turns(size_t bytes, Wait&& wait) {
    const Envelope envelope{1, 2, 3, 0, 0, 0};
    for (int turn = 0; turn < kTurns; ++turn) {
      const uint64_t expected = sink_.arrived + 1;
      if (first_) send(envelope, bytes);
      wait([&] { return sink_.arrived == expected; });
      if (!first_) send(envelope, bytes);
    }
  }
  void stream(size_t bytes) {
    const Envelope envelope{1, 2, 3, 0, 0, 0};
    for (int turn = 0; turn < kTurns; turn += kWindow) {
      const uint64_t expected = sink_.arrived + (first_ ? 1 : kWindow);
      for (int i = 0; first_ && i < kWindow; ++i) send(envelope, bytes);
      while (sink_.arrived != expected) port_.poll();
      if (!first_) send(envelope, 0);
    }
  }
  void port_turns(size_t bytes) {
    turns(bytes, [this](auto&& done) {
      while (!done()) port_.poll();
    });
  }
  void wait_turns(size_t bytes) {
    turns(bytes, [](auto&& done) { base::wait_until(done); });
  }

 private:
  static channel::ring::PortOptions options(uint32_t self, bool membarrier) {
    static const uint32_t procs[2] = {0, 1};
    channel::ring::PortOptions o;
    o.self = self, o.procs = procs, o.generation = 1, o.largest = 16384, o.membarrier = membarrier;
    return o;
  }
  void send(const Envelope& envelope, size_t bytes) {
    while (sender_.send(envelope, data_.data(), bytes) != Answer::kDone) port_.poll();
  }
  bool first_;
  NullSink sink_;
  channel::ring::Port port_;
  channel::ring::Sender sender_;
  std::vector<std::byte> data_;
};

double median(std::vector<double>& values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<size_t> sizes;
  for (int i = 1; i < argc; ++i) sizes.push_back(std::strtoul(argv[i], nullptr, 0));
  if (sizes.empty()) sizes = {0, 8, 48, 112, 240, 496, 1000, 2000, 4000, 8000, 16000};

  const char* lines = std::getenv("RING_LINES");
  auto geometry = region::Geometry::advised(2, lines ? static_cast<uint32_t>(std::atoi(lines)) : 0, 64, 8192);
  auto mapping = region::Heap::create(geometry->region_bytes, {});
  auto* raw =
      static_cast<RawLine*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  const bool membarrier = channel::ring::Port::register_membarrier();
  const pid_t child = fork();
  const uint32_t self = child == 0 ? 1 : 0;
  bind_to(static_cast<int>(self));
  channel::ring::Port::register_membarrier();
  Side side(*mapping, *geometry, self, membarrier);
  uint64_t count = 0;
  if (self == 0)
    std::printf("%8s %8s %8s %8s %8s %8s   (ns, medians of %d)\n", "bytes", "raw", "port", "wait", "over",
                "stream", kBlocks);
  for (size_t bytes : sizes) {
    std::vector<double> times[kKinds], over;
    for (int block = -2; block < kBlocks; ++block)
      for (int kind = 0; kind < kKinds; ++kind) {
        const int64_t start = base::now_ns();
        if (kind == 0) raw_turns(raw + self, raw + 1 - self, count, self == 0);
        if (kind == 1) side.port_turns(bytes);
        if (kind == 2) side.wait_turns(bytes);
        if (kind == 3) side.stream(bytes);
        const double ns = static_cast<double>(base::now_ns() - start) / ((kind == 3 ? 1 : 2) * kTurns);
        if (block >= 0) times[kind].push_back(ns);
        if (block >= 0 && kind == 1) over.push_back(ns - times[0].back());
      }
    if (self == 0)
      std::printf("%8zu %8.0f %8.0f %8.0f %8.0f %8.1f\n", bytes, median(times[0]), median(times[1]),
                  median(times[2]), median(over), median(times[3]));
  }
  std::fflush(nullptr);
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  return 0;
}
