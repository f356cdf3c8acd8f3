// SPDX-License-Identifier: BSD-3-Clause
// A hostile neighbour in the region: arbitrary bytes in its section while we receive from it, send to it
// and sleep. Expected is at most Sink::lost(); never a crash, a hang, or a write outside the room given.
//
// The input is a script of operations of 16 bytes. Built with libFuzzer where there is one
// (-DVICINITY_LIBFUZZER), else with a driver that makes scripts itself for a few seconds, from a seed that it
// prints: `fuzz_ring [seconds [seed]]`, or `fuzz_ring FILE...` to run scripts again.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/clock.h"
#include "channel/ring/port.h"
#include "region/backing.h"

namespace {

using namespace vicinity;
using channel::Envelope;
using channel::Landing;
using channel::Proc;
using channel::ring::Form;
using channel::ring::Line;

constexpr uint32_t kSections = 3, kLines = 16, kBuffers = 4, kBufferBytes = 1024;

// Gives rooms of exact size from the heap, so that ASan sees every byte too many.
struct ExactSink final : channel::Sink {
  std::unique_ptr<char[]> rooms[kSections];
  int losses = 0;
  Landing land(Proc from, const Envelope& envelope, size_t bytes) override {
    if (from >= kSections || bytes > (1 << 20)) abort();
    const size_t room = envelope.tag % 3 == 0 ? bytes : envelope.tag % 3 == 1 ? bytes / 2 : 0;
    rooms[from].reset(new char[room]);
    return {room ? rooms[from].get() : nullptr, room, &rooms[from]};
  }
  void landed(const Landing& landing, size_t) override {
    static_cast<std::unique_ptr<char[]>*>(landing.token)->reset();
  }
  void lost(Proc, const char* why) override {
    if (!why || ++losses > static_cast<int>(kSections)) abort();
  }
};

class Victim {
 public:
  Victim()
      : geometry_(*region::Geometry::make(kSections, kLines, kBuffers, kBufferBytes)),
        mapping_(std::move(*region::Heap::create(geometry_.region_bytes, {}))) {
    channel::ring::PortOptions options;
    options.self = 0, options.procs = procs_, options.generation = 1, options.largest = 4096;
    port_ = std::make_unique<channel::ring::Port>(mapping_, geometry_, options, sink_);
    for (uint32_t peer = 1; peer < kSections; ++peer) senders_[peer] = port_->sender(peer);
  }

  void run(const uint8_t* script, size_t bytes) {
    for (; bytes >= 16; script += 16, bytes -= 16) step(script);
    for (int i = 0; i < 100; ++i) port_->poll();
  }

 private:
  // op, peer, slot/size (2), value (8), form, length (2), spare
  void step(const uint8_t* at) {
    const uint32_t peer = 1 + at[1] % (kSections - 1);
    uint16_t small, length;
    uint64_t value;
    std::memcpy(&small, at + 2, 2);
    std::memcpy(&value, at + 4, 8);
    std::memcpy(&length, at + 13, 2);
    switch (at[0] % 9) {
      case 0:
      case 1:
      case 2:
        return line(peer, at[12], length, value);
      case 3:
        return poke(peer, small, value);
      case 4:
        return credit(peer, small, value);
      case 5:
        return hint(value);
      case 6:
        return send(peer, small);
      case 7:
        return sleep();
      default:
        port_->poll();
    }
  }
  // A line that the receiver will look at next, with contents of the script's choice.
  void line(uint32_t peer, uint8_t form, uint16_t length, uint64_t value) {
    auto* lines = mapping_.at<Line>(geometry_.ring(peer, 0), kLines);
    Line& to = lines[position_[peer] % kLines];
    for (size_t i = 0; i < sizeof to.payload; i += 8) std::memcpy(to.payload + i, &value, 8);
    if (form & 16) std::memset(to.payload + 4, 1, 8);
    const uint32_t bulk[3] = {form & 128 ? length * 0x10001u : length, 0,
                              static_cast<uint32_t>(value % 5 ? value % kBuffers : value)};
    if (form & 32) std::memcpy(to.payload, bulk, sizeof bulk);
    if (form & 64) std::memcpy(to.payload, &bulk[2], 4);
    const uint32_t sequence = channel::ring::first_sequence(1) + position_[peer]++;
    channel::ring::publish(
        &to, value,
        channel::ring::make_control(form, static_cast<Form>(form & 15), length & 0xfff, sequence));
    hint(uint64_t{1} << peer);
    port_->poll();
  }
  void poke(uint32_t peer, uint16_t at, uint64_t value) {
    std::memcpy(
        mapping_.at<uint64_t>(geometry_.section(peer) + uint64_t{at} % (geometry_.section_bytes / 8) * 8),
        &value, 8);
  }
  void credit(uint32_t peer, uint16_t which, uint64_t value) {
    auto* credit = mapping_.at<region::Credit>(geometry_.credit(peer, 0));
    (which & 1 ? credit->lines : credit->pieces) = which & 2 ? value : value % 64;
  }
  void hint(uint64_t bits) {
    mapping_.at<region::HintLine>(geometry_.section(0) + geometry_.hints)->bits[0] |= bits;
  }
  void send(uint32_t peer, uint16_t bytes) {
    static char data[8192];
    (void)senders_[peer].send({1, 2, 3, 4, 0, bytes & 1u}, data, bytes % 5000);
  }
  void sleep() {
    port_->arm();
    port_->poll();
    port_->disarm();
  }

  const uint32_t procs_[kSections] = {0, 1, 2};
  region::Geometry geometry_;
  region::Mapping mapping_;
  ExactSink sink_;
  std::unique_ptr<channel::ring::Port> port_;
  channel::ring::Sender senders_[kSections];
  uint32_t position_[kSections] = {};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  Victim victim;
  victim.run(data, bytes);
  return 0;
}

#ifndef VICINITY_LIBFUZZER
namespace {

int run_files(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    const std::vector<char> script((std::istreambuf_iterator<char>(file)), {});
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(script.data()), script.size());
  }
  return 0;
}

// Mostly plausible operations: pure noise would be refused at the first line.
void make_script(std::mt19937_64& random, std::vector<uint8_t>& script) {
  script.resize(16 * (1 + random() % 60));
  for (size_t at = 0; at < script.size(); at += 16) {
    for (size_t i = 0; i < 16; i += 8) {
      const uint64_t noise = random();
      std::memcpy(&script[at + i], &noise, 8);
    }
    if (random() % 4 == 0) continue;
    const uint16_t lengths[] = {0, 1, 44, 45, 48, 49, 56, 100, 2048, 4095};
    const uint16_t length = lengths[random() % 10];
    std::memcpy(&script[at + 13], &length, 2);
    const uint8_t form = 1 + random() % 7;
    script[at + 12] = static_cast<uint8_t>(form |
                                           (form == 5   ? 32
                                            : form == 7 ? 64
                                                        : 0) |
                                           (random() % 8 == 0 ? 128 : 0));
    script[at] = static_cast<uint8_t>(random() % 3 ? random() % 3 : random() % 9);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool numbers = argc > 1 && argv[1][0] >= '0' && argv[1][0] <= '9';
  if (argc > 1 && !numbers) return run_files(argc, argv);
  const int64_t seconds = numbers ? std::atoll(argv[1]) : 5;
  const uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 0) : static_cast<uint64_t>(base::now_ns());
  std::printf("fuzz_ring: seed %llu\n", static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  std::mt19937_64 random(seed);
  std::vector<uint8_t> script;
  const int64_t end = base::now_ns() + seconds * 1'000'000'000;
  uint64_t runs = 0;
  for (; base::now_ns() < end; ++runs) {
    make_script(random, script);
    LLVMFuzzerTestOneInput(script.data(), script.size());
  }
  std::printf("fuzz_ring: %llu scripts\n", static_cast<unsigned long long>(runs));
  return 0;
}
#endif
