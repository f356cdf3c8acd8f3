// SPDX-License-Identifier: BSD-3-Clause
// The three stages of a window. "Processes" are threads here, each with a window of its own over one Control
// and one Pact. No update is lost, whatever is mixed; the lock of a dead process goes to whoever needs it.
#include "rma/combine.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "p2p/engine.h"

namespace vicinity::rma {
namespace {

constexpr size_t kWords = 4096;

struct Shared {
  Pact pact{};
  Control control{};
  alignas(64) uint64_t words[kWords] = {};
};

// What one process knows: one target, which is not itself.
struct Process {
  Process(Shared& shared, int rank, uint32_t sharers) {
    window.rank = rank;
    window.count = 2;
    window.peers = std::make_unique<Peer[]>(2);
    window.pact = &shared.pact;
    window.sharers = sharers;
    window.in_turn = window.all_in_turn = false;
    window.stretch = 4096;
    for (int i = 0; i < 2; ++i) {
      window.peer(i).rank = i;
      window.peer(i).proc = static_cast<Proc>(i);
      window.peer(i).window = &window;
      window.peer(i).control = &shared.control;
    }
  }
  Peer& target() { return window.peer(0); }
  Window window;
};

Fold sum() {
  Fold fold;
  EXPECT_TRUE(make_fold(*object::lookup<Op>(MPI_SUM), Basic::kU64, &fold));
  return fold;
}

// Adds one to [first, first + count), all at once or with swaps, and notes that it did.
void add(Process& process, Shared& shared, size_t first, size_t count, bool by_swap, uint64_t* made) {
  static const std::vector<uint64_t> ones(kWords, 1);
  uint64_t old[kWords];
  for (size_t i = first; i < first + count; ++i) ++made[i];
  char* at = reinterpret_cast<char*>(shared.words + first);
  if (!by_swap) {
    const char* in = reinterpret_cast<const char*>(ones.data());
    char* out = count % 2 ? reinterpret_cast<char*>(old) : nullptr;
    ASSERT_TRUE(combine(process.target(), sum(), at, in, out, count, From::kProgress));
    return;
  }
  for (uint64_t expected = 0, seen = 1; expected != seen;) {
    expected = seen;
    const uint64_t next = expected + 1;
    ASSERT_TRUE(swap(process.target(), at, reinterpret_cast<const char*>(&expected),
                     reinterpret_cast<const char*>(&next), reinterpret_cast<char*>(&seen), 8,
                     From::kProgress));
  }
}

// Ranks 0 and 1 mix short and long updates. Rank 2 has not looked at the pact during the first half: it is in
// stage 1 then, and all in stage 3 in the second.
void mix(unsigned seed, int rounds) {
  SCOPED_TRACE(seed);
  Shared shared;
  std::vector<uint64_t> made[3];
  std::atomic<int> ready{0};
  const auto work = [&](int rank) {
    Process process(shared, rank, 3);
    uint64_t* mine = made[rank].data();
    std::minstd_rand random(seed * 3 + static_cast<unsigned>(rank));
    for (++ready; ready != 3;) sched_yield();
    for (int i = 0; i < rounds; ++i) {
      const bool late = rank == 2 && i < rounds / 2, many = !late && random() % 32 == 0;
      const size_t first = random() % 16, count = many ? 1 + random() % 1200 : 1 + random() % 3;
      const bool by_swap = !many && random() % 4 == 0;
      if (late) {
        const uint64_t one = 1;
        fold_atomically(sum(), shared.words + first, &one, nullptr, 1);
        ++mine[first];
      } else {
        add(process, shared, first, by_swap ? 1 : count, by_swap, mine);
      }
    }
  };
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 3; ++rank) {
    made[rank].resize(kWords);
    threads.emplace_back(work, rank);
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(shared.pact.agreed, 3u);
  EXPECT_EQ(shared.control.accumulate, 0u);
  for (size_t i = 0; i < kWords; ++i) ASSERT_EQ(shared.words[i], made[0][i] + made[1][i] + made[2][i]) << i;
}

TEST(Combine, MixesLoseNothing) {
  for (unsigned seed = 1; seed <= 8; ++seed) mix(seed, 20000);
}

TEST(Combine, SingleWordsNeedNoLockUntilSomebodyWantsTurns) {
  Shared shared;
  Process one(shared, 1, 2);
  std::vector<uint64_t> made(kWords);
  shared.control.accumulate = 1;  // held by the other
  add(one, shared, 0, 1, false, made.data());
  add(one, shared, 0, 3, false, made.data());
  add(one, shared, 0, 1, true, made.data());
  EXPECT_EQ(shared.words[0], 3u);
  EXPECT_EQ(shared.pact.agreed, 0u);
  shared.control.accumulate = 0;
  add(one, shared, 0, 100, false, made.data());
  EXPECT_EQ(shared.pact.wanted, 1u);
  EXPECT_EQ(shared.pact.agreed, 1u);
  EXPECT_FALSE(one.window.all_in_turn);  // the other has not said so
  Process other(shared, 0, 2);
  EXPECT_TRUE(goes_in_turn(other.window));
  EXPECT_TRUE(goes_in_turn(other.window));
  EXPECT_EQ(shared.pact.agreed, 2u);  // counted once
  add(one, shared, 0, 1, false, made.data());
  EXPECT_TRUE(one.window.all_in_turn);
  for (size_t i = 0; i < kWords; ++i) ASSERT_EQ(shared.words[i], made[i]) << i;
}

TEST(Combine, ASmallGranularityNeverAsksForTurns) {
  Shared shared;
  Process one(shared, 1, 2);
  one.window.stretch = 8;
  std::vector<uint64_t> made(kWords);
  add(one, shared, 0, 1000, false, made.data());
  EXPECT_EQ(shared.pact.wanted, 0u);
  EXPECT_EQ(shared.words[999], 1u);
}

TEST(Combine, WhoHoldsTheLockOfTheTargetAloneNeedsNoOther) {
  Shared shared;
  Process one(shared, 1, 2);
  one.target().held = Held::kAlone;
  std::vector<uint64_t> made(kWords);
  shared.control.accumulate = 1;  // would block
  add(one, shared, 0, 1000, false, made.data());
  add(one, shared, 0, 1, true, made.data());
  EXPECT_EQ(shared.pact.wanted, 0u);
  EXPECT_EQ(shared.words[0], 2u);
}

TEST(Combine, TheLockOfTheDeadIsInherited) {
  Shared shared;
  Process one(shared, 1, 2);
  std::vector<uint64_t> made(kWords);
  p2p::engine().lost(0, "it died in a test");
  shared.pact.wanted = 1;
  shared.control.accumulate = 1;  // rank 0, process 0
  add(one, shared, 0, 100, false, made.data());
  EXPECT_EQ(shared.words[0], 1u);
  EXPECT_EQ(shared.control.accumulate, 0u);
}

}  // namespace
}  // namespace vicinity::rma
