// SPDX-License-Identifier: BSD-3-Clause
// What every channel must do, whatever carries it. A channel takes part through a Harness:
//
//   struct Harness {
//     Answer send(int from, const Envelope&, const void*, size_t);   // from end 0 or 1 to the other
//     int poll(int at);                                              // progress at that end
//     CollectingSink& sink(int at);
//     size_t largest();
//     static constexpr bool kLoops;                                  // both ends are one (self)
//   };
//   INSTANTIATE_TYPED_TEST_SUITE_P(Ring, ChannelConformance, RingHarness);
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "channel/channel.h"

namespace vicinity::test {

using channel::Answer;
using channel::Envelope;
using channel::Landing;
using channel::Proc;

struct Arrival {
  Proc from;
  Envelope envelope;
  size_t bytes;                 // as announced
  std::vector<std::byte> data;  // what fitted
};

// Keeps what arrives. Guards around each landing show whoever writes beyond the room given.
class CollectingSink final : public channel::Sink {
 public:
  size_t most_room = SIZE_MAX;  // per message
  bool discard = false;         // {nullptr, 0}
  std::deque<Arrival> arrivals;
  std::vector<std::string> losses;
  void (*after)(CollectingSink& sink) = nullptr;  // called at the end of landed()
  void* context = nullptr;

  Landing land(Proc from, const Envelope& envelope, size_t bytes) override {
    auto* arrival = new Open{{from, envelope, bytes, {}}, {}};
    if (discard) return {nullptr, 0, arrival};
    arrival->room.assign(std::min(bytes, most_room) + 2 * kGuard, std::byte{0xa5});
    return {arrival->room.data() + kGuard, arrival->room.size() - 2 * kGuard, arrival};
  }
  void landed(const Landing& landing, size_t bytes) override {
    auto* open = static_cast<Open*>(landing.token);
    EXPECT_EQ(open->arrival.bytes, bytes);
    if (!open->room.empty()) {
      for (size_t i = 0; i < kGuard; ++i) {
        EXPECT_EQ(open->room[i], std::byte{0xa5});
        EXPECT_EQ(open->room[open->room.size() - 1 - i], std::byte{0xa5});
      }
      open->arrival.data.assign(open->room.begin() + kGuard, open->room.end() - kGuard);
    }
    arrivals.push_back(std::move(open->arrival));
    delete open;
    if (after) after(*this);
  }
  void lost(Proc, const char* why) override { losses.push_back(why); }

 private:
  static constexpr size_t kGuard = 16;
  struct Open {
    Arrival arrival;
    std::vector<std::byte> room;
  };
};

inline std::vector<std::byte> pattern(uint32_t number, size_t bytes) {
  std::vector<std::byte> data(bytes);
  for (size_t i = 0; i < bytes; ++i) data[i] = static_cast<std::byte>(number * 17 + i * 3 + (i >> 8) + 1);
  return data;
}

inline Envelope envelope_of(uint32_t number, uint32_t word = 0) {
  return {number * 5 + 1,
          -static_cast<int32_t>(number),
          static_cast<uint8_t>(number + 3),
          static_cast<uint8_t>(number >> 3),
          0,
          word};
}

inline void expect_arrival(const Arrival& arrival, uint32_t number, size_t bytes, uint32_t word = 0) {
  const Envelope expected = envelope_of(number, word);
  EXPECT_EQ(std::memcmp(&arrival.envelope, &expected, sizeof expected), 0) << "message " << number;
  EXPECT_EQ(arrival.bytes, bytes);
  EXPECT_EQ(arrival.data, pattern(number, bytes)) << "message " << number << " of " << bytes;
}

template <class Harness>
class ChannelConformance : public testing::Test {
 protected:
  // Sends, with progress at the receiver as long as there is no room.
  void send(int from, uint32_t number, size_t bytes, uint32_t word = 0) {
    const auto data = pattern(number, bytes);
    Answer answer;
    for (int tries = 0;
         (answer = h.send(from, envelope_of(number, word), data.data(), bytes)) == Answer::kRetry;) {
      h.poll(1 - from);
      ASSERT_LT(++tries, 1000);
    }
    ASSERT_EQ(answer, Answer::kDone);
  }
  void drain(int at) {
    for (int quiet = 0; quiet < 50;) quiet = h.poll(at) ? 0 : quiet + 1;
  }
  Harness h;
};
TYPED_TEST_SUITE_P(ChannelConformance);

TYPED_TEST_P(ChannelConformance, EverySizeAroundEveryBoundary) {
  std::vector<size_t> sizes;
  for (size_t edge : {0, 4, 8, 16, 32, 44, 48, 64, 100, 104, 160, 216, 1000, 2000, 2048, 4096, 8192, 16384})
    for (size_t size = edge < 3 ? 0 : edge - 3; size <= edge + 3; ++size) sizes.push_back(size);
  sizes.push_back(this->h.largest());
  sizes.push_back(this->h.largest() - 1);
  uint32_t number = 0;
  for (uint32_t word : {0u, 0xdeadbeefu})
    for (size_t size : sizes) {
      if (size > this->h.largest()) continue;
      this->send(0, ++number, size, word);
      this->drain(1);
      ASSERT_EQ(this->h.sink(1).arrivals.size(), 1u) << size;
      expect_arrival(this->h.sink(1).arrivals.front(), number, size, word);
      this->h.sink(1).arrivals.clear();
    }
}

TYPED_TEST_P(ChannelConformance, TooLargeIsRefused) {
  std::vector<std::byte> data(this->h.largest() + 1);
  EXPECT_EQ(this->h.send(0, envelope_of(1), data.data(), data.size()), Answer::kFailed);
  EXPECT_EQ(this->h.poll(1), 0);
}

// kRetry must have no effect, and everything accepted must arrive, in order.
TYPED_TEST_P(ChannelConformance, BackPressureLosesNothing) {
  for (size_t size : {size_t{8}, size_t{300}, size_t{5000}, this->h.largest()}) {
    uint32_t accepted = 0, expected = 0;
    for (int round = 0; round < 5; ++round) {
      for (int refused = 0; refused < 3;) {
        const auto data = pattern(accepted, size);
        const Answer answer = this->h.send(0, envelope_of(accepted), data.data(), size);
        if (answer == Answer::kDone) {
          ++accepted;
        } else {
          ASSERT_EQ(answer, Answer::kRetry);
          ++refused;
        }
      }
      ASSERT_GT(accepted, 0u);
      this->drain(1);
      while (!this->h.sink(1).arrivals.empty()) {
        expect_arrival(this->h.sink(1).arrivals.front(), expected++, size);
        this->h.sink(1).arrivals.pop_front();
      }
      ASSERT_EQ(accepted, expected);
    }
  }
}

TYPED_TEST_P(ChannelConformance, RandomTrafficBothWaysKeepsItsOrder) {
  std::mt19937 random(20240601);
  uint32_t sent[2] = {0, 0}, seen[2] = {0, 0};
  std::deque<size_t> sizes[2];
  const int ends = TypeParam::kLoops ? 1 : 2;
  for (int step = 0; step < 20000; ++step) {
    const int end = static_cast<int>(random()) & (ends - 1);
    if (random() % 3 != 0) {
      const size_t classes[] = {random() % 50, random() % 300, random() % 2200, random() % this->h.largest()};
      const size_t size = classes[random() % 16 < 12 ? random() % 2 : 2 + random() % 2];
      const uint32_t word = random() % 4 == 0 ? random() : 0;
      const auto data = pattern(sent[end], size);
      if (this->h.send(end, envelope_of(sent[end], word & 0xff), data.data(), size) != Answer::kDone)
        continue;
      sizes[end].push_back(size << 8 | (word & 0xff));
      ++sent[end];
    } else {
      this->h.poll(1 - end);
      auto& arrivals = this->h.sink(1 - end).arrivals;
      for (; !arrivals.empty(); arrivals.pop_front()) {
        const size_t packed = sizes[end].front();
        sizes[end].pop_front();
        expect_arrival(arrivals.front(), seen[end]++, packed >> 8, packed & 0xff);
        if (this->HasFailure()) return;
      }
    }
  }
}

TYPED_TEST_P(ChannelConformance, TheSinkMayHaveLessRoomOrNone) {
  this->h.sink(1).most_room = 20;
  uint32_t number = 0;
  for (size_t size : {10, 20, 21, 48, 49, 500, 3000, 16000}) {
    if (size > this->h.largest()) continue;
    this->send(0, ++number, size);
    this->drain(1);
    ASSERT_EQ(this->h.sink(1).arrivals.size(), 1u);
    auto expected = pattern(number, size);
    expected.resize(std::min<size_t>(size, 20));
    EXPECT_EQ(this->h.sink(1).arrivals.front().data, expected);
    EXPECT_EQ(this->h.sink(1).arrivals.front().bytes, size);
    this->h.sink(1).arrivals.clear();
  }
  this->h.sink(1).discard = true;
  for (size_t size : {0, 10, 500, 3000}) this->send(0, ++number, size);
  this->drain(1);
  EXPECT_EQ(this->h.sink(1).arrivals.size(), 4u);
  this->h.sink(1).discard = false;
  this->h.sink(1).most_room = SIZE_MAX;
  this->h.sink(1).arrivals.clear();
  this->send(0, ++number, 33);  // what follows is not affected
  this->drain(1);
  expect_arrival(this->h.sink(1).arrivals.front(), number, 33);
}

TYPED_TEST_P(ChannelConformance, WrapAroundManyTimes) {
  for (uint32_t number = 0; number < 100000; ++number) {
    this->send(0, number, number % 120);
    if (number % 61 != 60) continue;
    this->drain(1);
    this->h.sink(1).arrivals.clear();
  }
  this->drain(1);
  expect_arrival(this->h.sink(1).arrivals.back(), 99999, 99999 % 120);
}

TYPED_TEST_P(ChannelConformance, TheSinkMayAnswerFromLanded) {
  this->h.sink(1).context = &this->h;
  this->h.sink(1).after = [](CollectingSink& sink) {
    if (sink.arrivals.size() > 10) return;
    auto data = pattern(77, 30);
    EXPECT_EQ(static_cast<TypeParam*>(sink.context)->send(1, envelope_of(77), data.data(), 30),
              Answer::kDone);
  };
  this->send(0, 1, 10);
  this->drain(1);
  this->drain(0);
  this->h.sink(1).after = nullptr;
  expect_arrival(this->h.sink(0).arrivals.back(), 77, 30);
}

REGISTER_TYPED_TEST_SUITE_P(ChannelConformance, EverySizeAroundEveryBoundary, TooLargeIsRefused,
                            BackPressureLosesNothing, RandomTrafficBothWaysKeepsItsOrder,
                            TheSinkMayHaveLessRoomOrNone, WrapAroundManyTimes, TheSinkMayAnswerFromLanded);

}  // namespace vicinity::test
