// SPDX-License-Identifier: BSD-3-Clause
// Consensus in a simulation with seeds: messages of one pair stay in order, else everything happens in any
// order, and members die at any moment, also half way through telling the others. VICINITY_SEED runs one.
#include "fault/consensus.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <map>
#include <optional>
#include <random>

using namespace vicinity::fault;

namespace {

struct Simulation {
  struct Member {
    std::optional<Consensus> core;
    bool dead = false, begun = false;
    bool gone = false;  // has decided and left for good (only where decisions spread)
    std::vector<bool> knows;
  };

  Simulation(unsigned seed, uint32_t members, bool spreads)
      : random(seed), spreads(spreads), all(members), contribution(members) {
    for (uint32_t i = 0; i < members; ++i) {
      all[i].knows.assign(members, true);
      all[i].core.emplace(i, all[i].knows, spreads);
      contribution[i].low = static_cast<int32_t>(random() | 0x10000u << i % 8);
      contribution[i].most = random() % 1000;
      contribution[i].least = random() % 1000;
    }
  }

  uint32_t pick(size_t below) { return static_cast<uint32_t>(random() % below); }

  // Who dies while it sends has sent only the first few.
  void send(uint32_t from, Consensus::Outbox& out) {
    if (deaths > 0 && pick(12) == 0) {
      out.resize(pick(out.size() + 1));
      die(from);
    }
    for (auto& [to, message] : out) channels[{from, to}].push_back(std::move(message));
    out.clear();
  }

  void die(uint32_t who) {
    if (all[who].dead || all[who].gone) return;
    all[who].dead = true;
    --deaths;
  }

  void begin(uint32_t who) {
    Member& m = all[who];
    if (m.dead || m.begun) return;
    m.begun = true;
    Consensus::Outbox out;
    m.core->begin(contribution[who], out);
    send(who, out);
  }

  // As in the library: what a dead process has sent comes before the news of its death, or never.
  void learn(uint32_t who, uint32_t of) {
    Member& m = all[who];
    if (m.dead || m.gone || !m.knows[of]) return;
    m.knows[of] = false;
    channels[{of, who}].clear();
    Consensus::Outbox out;
    m.core->lost(of, out);
    send(who, out);
  }

  bool deliver() {
    std::vector<std::pair<uint32_t, uint32_t>> full;
    for (auto& [pair, queue] : channels)
      if (!queue.empty()) full.push_back(pair);
    if (full.empty()) return false;
    const auto [from, to] = full[pick(full.size())];
    const Message message = channels[{from, to}].front();
    channels[{from, to}].pop_front();
    if (all[to].dead || all[to].gone) return true;
    Consensus::Outbox out;
    EXPECT_TRUE(all[to].core->hear(from, message, out));
    send(to, out);
    return true;
  }

  void step() {
    const uint32_t who = pick(all.size());
    switch (pick(8)) {
      case 0:
        return begin(who);
      case 1:
        if (deaths > 0 && pick(4) == 0) die(who);
        return;
      case 2:
        for (uint32_t of = 0; of < all.size(); ++of)
          if (all[of].dead && pick(2)) learn(who, of);
        return;
      case 3:
        if (spreads && all[who].core->decided() && !all[who].dead) all[who].gone = true;
        return;
      default:
        deliver();
    }
  }

  // Nobody dies any more: it must come to an end.
  void finish() {
    deaths = 0;
    for (uint32_t who = 0; who < all.size(); ++who) begin(who);
    for (uint32_t who = 0; who < all.size(); ++who)
      for (uint32_t of = 0; of < all.size(); ++of)
        if (all[of].dead) learn(who, of);
    while (deliver()) {
    }
  }

  void check() {
    const Value* decision = nullptr;
    for (Member& m : all) {  // the dead ones too: uniform
      if (!m.core->decided()) {
        EXPECT_TRUE(m.dead) << "a living member has not decided";
        continue;
      }
      if (!decision) decision = &m.core->decision();
      EXPECT_EQ(*decision, m.core->decision());
    }
    if (!decision) return;
    Value least_of_living;
    for (uint32_t who = 0; who < all.size(); ++who) {
      const bool failed = std::count(decision->failed.begin(), decision->failed.end(), who) != 0;
      EXPECT_TRUE(all[who].dead || !failed) << "a living member was shut out";
      if (all[who].dead) continue;
      EXPECT_EQ(decision->low & ~contribution[who].low, 0) << "a living member was not heard";
      EXPECT_GE(decision->most, contribution[who].most);
      EXPECT_LE(decision->least, contribution[who].least);
    }
  }

  std::mt19937 random;
  const bool spreads;
  int deaths = 0;  // that may still happen
  std::vector<Member> all;
  std::vector<Value> contribution;
  std::map<std::pair<uint32_t, uint32_t>, std::deque<Message>> channels;
};

void run(unsigned seed) {
  std::mt19937 random(seed);
  const uint32_t members = 1 + random() % 7;
  Simulation s(seed, members, random() % 2);
  s.deaths = static_cast<int>(random() % (members + 1));
  for (int i = 0; i < 400; ++i) s.step();
  s.finish();
  s.check();
}

TEST(Consensus, AgreesWhoeverDiesWhenever) {
  if (const char* one = std::getenv("VICINITY_SEED"))
    return run(static_cast<unsigned>(std::strtoul(one, nullptr, 10)));
  for (unsigned seed = 1; seed <= 20000 && !testing::Test::HasFailure(); ++seed) {
    run(seed);
    if (testing::Test::HasFailure()) ADD_FAILURE() << "seed " << seed;
  }
}

TEST(Consensus, TakesTwoRoundTripsWithoutDeaths) {
  Simulation s(1, 5, false);
  for (uint32_t who = 0; who < 5; ++who) s.begin(who);
  int messages = 0;
  while (s.deliver()) ++messages;
  s.check();
  EXPECT_EQ(messages, 4 * 4);
  EXPECT_TRUE(s.all[3].core->decided());
}

TEST(Consensus, TellsWhetherAllHaveAcknowledged) {
  for (const bool acknowledged : {false, true}) {
    Simulation s(1, 4, false);
    s.deaths = 1;
    s.die(1);
    for (uint32_t who : {0u, 2u, 3u}) {
      if (who != 3 || acknowledged) s.contribution[who].failed = {1};
      s.begin(who);
      s.learn(who, 1);
    }
    s.finish();
    s.check();
    EXPECT_EQ(s.all[0].core->decision().failed, (std::vector<uint32_t>{1}));
    EXPECT_EQ(s.all[0].core->decision().unacknowledged, !acknowledged);
  }
}

}  // namespace
