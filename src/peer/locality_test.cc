// SPDX-License-Identifier: BSD-3-Clause
// Proposals: every member of a group makes the same one, and the static form only ever narrows it.
#include "peer/locality.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <random>
#include <string>
#include <vector>

namespace vicinity::peer {
namespace {

using Ranks = std::vector<uint32_t>;

Card card(const char* kernel, uint64_t pids, uint64_t folder, const char* host_region = "none") {
  Card card;
  card.host = card.host_id = kernel;
  card.pid_namespace = pids;
  card.directory_device = 1, card.directory_inode = folder;
  card.backing = "auto";
  card.channels = ~0u;  // all allowed
  card.host_region = host_region;
  return card;
}

TEST(Locality, OneKernelSharesAMemfd) {
  const std::vector<Card> cards = {card("a", 1, 1), card("b", 1, 1), card("a", 1, 1)};
  EXPECT_EQ(propose(cards, 0, {}).memfd, (Ranks{0, 2}));
  EXPECT_TRUE(propose(cards, 0, {}).file.empty());
  EXPECT_TRUE(propose(cards, 1, {}).memfd.empty());
}

TEST(Locality, ContainersShareAFileOrTheHostRegion) {
  std::vector<Card> cards = {card("a", 1, 1), card("a", 2, 1), card("a", 2, 1)};
  EXPECT_EQ(propose(cards, 1, {}).file, (Ranks{0, 1, 2}));
  EXPECT_TRUE(propose(cards, 1, {}).memfd.empty());  // the file holds all of them
  cards = {card("a", 1, 1, "x"), card("a", 2, 2, "x"), card("a", 2, 2, "x")};
  EXPECT_EQ(propose(cards, 1, {}).memfd, (Ranks{1, 2}));
  EXPECT_EQ(propose(cards, 1, {}).host, (Ranks{0, 1, 2}));
}

TEST(Locality, ClonesWithOtherNamesTryTheHostRegion) {
  std::vector<Card> cards = {card("a", 1, 1, "x"), card("a", 1, 1, "x")};
  EXPECT_TRUE(propose(cards, 0, {}).host.empty());
  cards[1].host = "b";
  EXPECT_EQ(propose(cards, 0, {}).host, (Ranks{0, 1}));
}

TEST(Locality, PlacesJoinAllWaysToShareMemory) {
  // Two containers with a directory in common, another guest of their host, a guest of another host, and one
  // that may not use shared memory.
  std::vector<Card> cards = {card("a", 1, 1, "x"), card("b", 1, 1, "x"), card("a", 2, 1, "x"),
                             card("c", 1, 1, "y"), card("a", 1, 1, "x"), card("a", 1, 1, "x")};
  cards[5].channels = 0;
  EXPECT_EQ(places(cards, {}, Place::kHost), (Ranks{0, 0, 0, 3, 0, 5}));
  EXPECT_EQ(places(cards, {}, Place::kKernel), (Ranks{0, 1, 0, 3, 0, 5}));
  EXPECT_EQ(places(cards, {1, 1, 0, -1, -1, 0}, Place::kHost), (Ranks{0, 0, 2, 3, 4, 5}));
}

// Everybody whom a process hopes to share memory with is in its place; a kernel's is in one of a host's.
TEST(Locality, PlacesHoldAllProposals) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::vector<Card> cards;
    for (int rank = 0; rank < 7; ++rank)
      cards.push_back(
          card(random() % 2 ? "a" : "b", random() % 3, random() % 3, random() % 2 ? "x" : "none"));
    const Ranks hosts = places(cards, {}, Place::kHost), kernels = places(cards, {}, Place::kKernel);
    for (uint32_t rank = 0; rank < 7; ++rank) {
      const Proposal proposal = propose(cards, rank, {});
      for (const Ranks* group : {&proposal.memfd, &proposal.file, &proposal.host})
        for (uint32_t other : *group) ASSERT_EQ(hosts[rank], hosts[other]);
      for (const Ranks* group : {&proposal.memfd, &proposal.file})
        for (uint32_t other : *group) ASSERT_EQ(kernels[rank], kernels[other]);
      ASSERT_EQ(hosts[kernels[rank]], hosts[rank]);
    }
  }
}

TEST(Locality, MembersAgree) {
  std::mt19937 random(5);
  for (int round = 0; round < 2000; ++round) {
    std::vector<Card> cards;
    for (int rank = 0; rank < 7; ++rank) {
      cards.push_back(
          card(random() % 2 ? "a" : "b", random() % 3, random() % 3, random() % 2 ? "x" : "none"));
      if (random() % 8 == 0) cards.back().backing = "no";
    }
    std::vector<Proposal> made;
    for (uint32_t rank = 0; rank < 7; ++rank) made.push_back(propose(cards, rank, {}));
    for (const Proposal& p : made) {
      for (uint32_t rank : p.memfd) EXPECT_EQ(made[rank].memfd, p.memfd) << round;
      for (uint32_t rank : p.file) EXPECT_EQ(made[rank].file, p.file) << round;
      for (uint32_t rank : p.host) EXPECT_EQ(made[rank].host, p.host) << round;
    }
  }
}

TEST(Locality, TheStaticFormNarrows) {
  const std::vector<Card> cards = {card("a", 1, 1), card("a", 1, 1), card("a", 1, 1), card("a", 1, 1)};
  const auto groups = stated_groups("0-1;2", cards);
  ASSERT_TRUE(groups.ok());
  EXPECT_EQ(groups.value(), (std::vector<int>{0, 0, 1, -1}));
  EXPECT_EQ(propose(cards, 0, groups.value()).memfd, (Ranks{0, 1}));
  EXPECT_TRUE(propose(cards, 3, groups.value()).memfd.empty());
  EXPECT_EQ(stated_groups("b c;a", cards).value(), (std::vector<int>{1, 1, 1, 1}));
  for (const char* wrong : {"0-4", "2-1", "0-", "1-2-3", "@/nowhere/at/all"})
    EXPECT_FALSE(stated_groups(wrong, cards).ok()) << wrong;
  const std::string path = "/tmp/vicinity-locality-" + std::to_string(getpid());
  std::ofstream(path) << "3\n0,1\n";
  EXPECT_EQ(stated_groups("@" + path, cards).value(), (std::vector<int>{1, 1, -1, 0}));
  std::remove(path.c_str());
}

}  // namespace
}  // namespace vicinity::peer
