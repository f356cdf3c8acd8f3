// SPDX-License-Identifier: BSD-3-Clause
// Cards and CPU sets come from other processes: what is damaged is refused, by name.
#include "peer/card.h"

#include <gtest/gtest.h>

#include <climits>
#include <random>
#include <string>

#include "base/param.h"
#include "peer/cpus.h"

namespace vicinity::peer {
namespace {

Card own_card() {
  Card card;
  EXPECT_TRUE(make_card(false, &card).ok());
  return card;
}

TEST(Card, ComesBackAsItWas) {
  Card card = own_card();
  card.memfd = 7;
  Card read;
  ASSERT_TRUE(parse_card(format_card(card), 3, &read).ok()) << base::failure_text(base::kOther);
  EXPECT_EQ(format_card(read), format_card(card));
  EXPECT_EQ(read.memfd, 7);
  EXPECT_EQ(read.token_address, card.token_address);
  EXPECT_TRUE(read.cpus == card.cpus);
  EXPECT_LT(format_card(card).size(), 1000u);  // PMI-1 limits values to about a kilobyte
}

TEST(Card, AHostNameWithSurprisesIsCleaned) {
  setenv("VICINITY_HOST_ID", "two words\nand a line", 1);
  ASSERT_TRUE(base::params_load().ok());
  const Card card = own_card();
  EXPECT_EQ(card.host_id, "two_words_and_a_line");
  unsetenv("VICINITY_HOST_ID");
  ASSERT_TRUE(base::params_load().ok());
}

TEST(Card, EveryLineIsNeededAndNamed) {
  const std::string good = format_card(own_card());
  Card read;
  for (size_t at = 0; at < good.size();) {
    const size_t end = good.find('\n', at);
    const std::string name = good.substr(at, good.find(' ', at) - at);
    std::string without = good;
    without.erase(at, end + 1 - at);
    EXPECT_FALSE(parse_card(without, 3, &read).ok()) << name;
    const std::string text = base::failure_text(base::kOther);
    EXPECT_NE(text.find("rank 3"), std::string::npos) << text;
    at = end + 1;
  }
  EXPECT_FALSE(parse_card("", 0, &read).ok());
  EXPECT_FALSE(parse_card("vicinity 99\n", 0, &read).ok());
  EXPECT_NE(std::string(base::failure_text(base::kOther)).find("version 99"), std::string::npos);
}

TEST(Card, NoiseNeverCrashesAndNeverExceedsTheLimits) {
  const std::string good = format_card(own_card());
  std::mt19937 random(11);
  for (int round = 0; round < 20000; ++round) {
    std::string text = good;
    for (int change = 0; change < 3; ++change) {
      const size_t at = random() % text.size();
      if (random() % 3 == 0) {
        text.erase(at, random() % 5);
      } else {
        text[at] = static_cast<char>(random() % 4 ? '0' + random() % 10 : random());
      }
      if (text.empty()) break;
    }
    Card read;
    if (!parse_card(text, 1, &read).ok()) continue;
    EXPECT_LE(read.ring_lines, 65536u);
    EXPECT_LE(read.largest, 1u << 20);
    EXPECT_GE(read.memfd, -1);
    EXPECT_GE(read.pid, 0);
  }
}

TEST(CpuSet, TextAndBack) {
  CpuSet set, read;
  for (int cpu : {0, 5, 63, 64, 1023}) set.add(cpu);
  set.add(-1);
  set.add(1024);
  EXPECT_EQ(set.count(), 5);
  ASSERT_TRUE(CpuSet::parse(set.text(), &read));
  EXPECT_TRUE(read == set);
  EXPECT_TRUE(CpuSet::parse("f", &read));
  EXPECT_EQ(read.count(), 4);
  EXPECT_FALSE(CpuSet::parse("", &read));
  EXPECT_FALSE(CpuSet::parse("0x1", &read));
  EXPECT_FALSE(CpuSet::parse(std::string(257, 'f'), &read));
  EXPECT_GE(CpuSet::allowed().count(), 1);
  EXPECT_GE(cgroup_cpus(), 1);
}

}  // namespace
}  // namespace vicinity::peer
