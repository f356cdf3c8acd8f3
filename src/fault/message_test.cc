// SPDX-License-Identifier: BSD-3-Clause
// Every message comes back; whatever else comes is refused or is another message, never read beyond its end.
#include "fault/message.h"

#include <gtest/gtest.h>

#include <random>

using namespace vicinity::fault;

namespace {

constexpr uint32_t kMembers = 9;

Message typical() {
  Message m{.say = Say::kContribute, .ballot = 3, .locked = true, .lock_ballot = 2};
  m.value = Value{-5, 77, 123456789012, 17, false, {0, 2}};
  m.lock = Value{-8, 7, 1, 0, true, {1}};
  return m;
}

bool same(const Message& a, const Message& b) {
  return a.say == b.say && a.ballot == b.ballot && a.locked == b.locked && a.lock_ballot == b.lock_ballot &&
         a.value == b.value && a.lock == b.lock;
}

TEST(SurvivalMessage, ComesBack) {
  Message m = typical();
  for (bool locked : {true, false}) {
    m.locked = locked;
    if (!locked) m.lock = Value{};
    const auto bytes = encode({5, 6}, m);
    Name name;
    Message back;
    ASSERT_TRUE(decode(bytes.data(), bytes.size(), kMembers, name, back));
    EXPECT_EQ(name, (Name{5, 6}));
    EXPECT_TRUE(same(m, back));
  }
}

TEST(SurvivalMessage, RefusesWrongLengthsPositionsAndOrders) {
  const auto bytes = encode({5, 6}, typical());
  Name name;
  Message back;
  for (size_t length = 0; length < bytes.size(); ++length)
    EXPECT_FALSE(decode(bytes.data(), length, kMembers, name, back)) << length;
  EXPECT_FALSE(decode(bytes.data(), bytes.size(), 2, name, back));
  for (const std::vector<uint32_t>& bad : {std::vector<uint32_t>{2, 1}, {1, 1}, {0, kMembers}}) {
    Message m = typical();
    m.value.failed = bad;
    const auto wrong = encode({5, 6}, m);
    EXPECT_FALSE(decode(wrong.data(), wrong.size(), kMembers, name, back));
  }
}

TEST(SurvivalMessage, SurvivesGarbage) {
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    auto bytes = encode({5, 6}, typical());
    for (int i = 0; i < 3; ++i) bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    Name name;
    Message back;
    if (!decode(bytes.data(), bytes.size(), kMembers, name, back)) continue;
    for (uint32_t position : back.value.failed) ASSERT_LT(position, kMembers);
  }
}

}  // namespace
