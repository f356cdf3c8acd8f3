// SPDX-License-Identifier: BSD-3-Clause
// For tests: a sink that checks number and content of each message, and what sends them.
#pragma once

#include <unistd.h>

#include <string>
#include <vector>

#include "base/progress.h"
#include "peer/fork_test.h"
#include "peer/peer.h"

namespace vicinity::peer {

// Each message says its number in the tag, and its bytes follow from number and position.
inline std::byte byte_of(uint32_t number, size_t at) {
  return static_cast<std::byte>(number * 31 + at * 7 + (at >> 8));
}

struct CheckingSink final : channel::Sink {
  std::vector<std::byte> room = std::vector<std::byte>(1 << 20);
  std::vector<uint32_t> next = std::vector<uint32_t>(64);
  uint64_t arrived = 0;
  uint32_t lost_count = 0;
  uint32_t last_word = 0;
  std::string lost_why;
  // Several peers may be in the middle of a message: a buffer each, found by the token.
  std::vector<std::vector<std::byte>> rooms = std::vector<std::vector<std::byte>>(64);
  std::vector<Envelope> envelopes = std::vector<Envelope>(64);

  channel::Landing land(Proc from, const Envelope& envelope, size_t bytes) override {
    rooms[from].resize(bytes);
    envelopes[from] = envelope;
    return {rooms[from].data(), bytes, reinterpret_cast<void*>(uintptr_t{from})};
  }
  void landed(const channel::Landing& landing, size_t bytes) override {
    const auto from = reinterpret_cast<uintptr_t>(landing.token);
    const auto number = static_cast<uint32_t>(envelopes[from].tag);
    CHECK_OR(2, number == next[from]);
    CHECK_OR(3, envelopes[from].context == 0xc0ffee && envelopes[from].kind == (number & 0xff));
    CHECK_OR(3, envelopes[from].flags == (number >> 8 & 0xff));
    last_word = envelopes[from].word;
    for (size_t i = 0; i < bytes; i += bytes > 4096 ? 97 : 1)
      CHECK_OR(4, rooms[from][i] == byte_of(number, i));
    ++next[from];
    ++arrived;
  }
  void lost(Proc, const char* why) override { ++lost_count, lost_why = why; }
};

inline Envelope envelope_of(uint32_t number, uint32_t word = 0) {
  return {0xc0ffee,
          static_cast<int32_t>(number),
          static_cast<uint8_t>(number),
          static_cast<uint8_t>(number >> 8),
          0,
          word};
}

inline void send(Proc to, uint32_t number, size_t bytes, uint32_t word = 0) {
  static std::vector<std::byte> data(1 << 20);
  for (size_t i = 0; i < bytes; ++i) data[i] = byte_of(number, i);
  Answer answer;
  base::wait_until([&] {
    return (answer = connection(to).try_send(envelope_of(number, word), data.data(), bytes)) !=
           Answer::kRetry;
  });
  CHECK_OR(5, answer == Answer::kDone);
}

// A fence that goes on serving the others meanwhile: who has received everything may still have messages on
// their way, and a network moves them only while their sender looks after it.
inline void meet(wireup::Wireup& wireup) {
  static uint32_t meetings = 0;
  std::atomic<uint32_t>& arrived = static_cast<test::ForkWireup&>(wireup).board()->meeting;
  const uint32_t all = ++meetings * static_cast<uint32_t>(wireup.identity().size);
  for (arrived.fetch_add(1); arrived.load() < all; usleep(20)) base::progress();
}

inline void all_to_all(int rank, int size, CheckingSink& sink, uint32_t messages, size_t most) {
  uint64_t expected = 0;
  for (uint32_t number = 0; number < messages; ++number) {
    for (int step = 1; step <= size; ++step) {
      const Proc to = static_cast<Proc>((rank + step) % size);
      send(to, number, (number * 131 + to) % most, number % 3 == 0 ? number : 0);
    }
    expected += static_cast<uint64_t>(size);
  }
  base::wait_until([&] { return sink.arrived >= expected; });
}

// Round trips of every size up to `dense`, and of some above it.
inline void ping_pong(int rank, CheckingSink& sink, size_t dense) {
  const Proc other = 1 - static_cast<Proc>(rank);
  uint32_t number = 0;
  for (size_t bytes = 0; bytes <= connection(other).largest(); bytes += bytes < dense ? 1 : 977) {
    if (rank == 0) send(other, number, bytes);
    base::wait_until([&] { return sink.arrived == number + 1; });
    if (rank == 1) send(other, number, bytes);
    ++number;
  }
}

// body(rank, wireup, sink) in ranks that have set their environment with settings(rank) and started.
template <class Settings, class Body>
int run_started(int size, Settings&& settings, Body&& body) {
  return test::run_ranks(size, [&](int rank, wireup::Wireup& wireup) {
    settings(rank);
    CHECK_OR(1, base::params_load().ok());
    CheckingSink sink;
    CHECK_OR(1, start(wireup, sink).ok());
    body(rank, wireup, sink);
    stop();
    return 0;
  });
}
template <class Body>
int run_started(int size, Body&& body) {
  return run_started(size, [](int) {}, body);
}

}  // namespace vicinity::peer
