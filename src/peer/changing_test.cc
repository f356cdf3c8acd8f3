// SPDX-License-Identifier: BSD-3-Clause
// Pairs of real processes that change between ring and network while messages flow.
#include <gtest/gtest.h>

#include <random>

#include "channel/ucx/library.h"
#include "peer/check_sink_test.h"

namespace vicinity::peer {
namespace {

using test::run_ranks;

// UCX is Debian's package libucx0, which `scripts/setup hosts` installs.
class ChangingSkippedWithoutUcx : public testing::Test {
 protected:
  void SetUp() override {
    // In a child: UCX must not be loaded before a fork.
    const auto load = [](int, wireup::Wireup&) { return channel::ucx::load().ok() ? 0 : 1; };
    if (run_ranks(1, load) != 0) GTEST_SKIP() << "UCX is not installed (Debian: libucx0)";
  }
};

void begin(wireup::Wireup& wireup, CheckingSink& sink, bool standby = true) {
  setenv("VICINITY_STANDBY", standby ? "yes" : "no", 1);
  setenv("VICINITY_NETWORK", "tcp", 1);
  CHECK_OR(1, base::params_load().ok());
  CHECK_OR(1, start(wireup, sink).ok());
}

std::string channel_to(Proc proc) { return connection(proc).channel_name(); }

// Everybody to everybody, of many sizes, and in the meantime each changes its mind all the time.
int rounds(int rank, wireup::Wireup& wireup, int size, uint32_t messages) {
  CheckingSink sink;
  begin(wireup, sink);
  std::mt19937 dice(static_cast<uint32_t>(rank) + 1);
  std::string last = "ring";
  uint32_t changes = 0;
  const Proc other = rank == 0 ? 1 : 0;
  std::vector<std::byte> data(1 << 20);
  for (uint32_t number = 0; number < messages; ++number) {
    if (number % 16 == 0) suspend_rings(dice() % 2 == 0);
    if (dice() % 64 == 0) base::wait_until([&] { return !connection(other).changing(); });
    for (int step = 1; step < size; ++step)
      send(static_cast<Proc>((rank + step) % size), number, number * 131 % 30000, number % 3 ? 0 : number);
    if (number % 8 == 0) base::progress();
    if (channel_to(other) != last) last = channel_to(other), ++changes;
  }
  suspend_rings(false);
  base::wait_until([&] { return sink.arrived == uint64_t{messages} * static_cast<uint64_t>(size - 1); });
  base::wait_until([&] {
    for (int peer = 0; peer < size; ++peer)
      if (peer != rank &&
          (connection(static_cast<Proc>(peer)).changing() || channel_to(static_cast<Proc>(peer)) != "ring"))
        return false;
    return true;
  });
  CHECK_OR(6, changes >= messages / 200);
  meet(wireup);
  CHECK_OR(7, sink.lost_count == 0);
  stop();
  return 0;
}

TEST_F(ChangingSkippedWithoutUcx, ToAndFroBetweenTwo) {
  EXPECT_EQ(run_ranks(2, [](int rank, wireup::Wireup& w) { return rounds(rank, w, 2, 4000); }), 0);
}

TEST_F(ChangingSkippedWithoutUcx, ToAndFroAmongFour) {
  EXPECT_EQ(run_ranks(4, [](int rank, wireup::Wireup& w) { return rounds(rank, w, 4, 1000); }), 0);
}

TEST(Changing, WithoutANetworkARingStays) {
  const auto body = [](int rank, wireup::Wireup& wireup) {
    CheckingSink sink;
    begin(wireup, sink, false);
    suspend_rings(true);
    all_to_all(rank, 2, sink, 100, 3000);
    CHECK_OR(6, channel_to(1 - static_cast<Proc>(rank)) == "ring");
    meet(wireup);
    stop();
    return 0;
  };
  EXPECT_EQ(run_ranks(2, body), 0);
}

// The ring in which `from` writes to `to`.
channel::ring::Line* ring_of(Proc from, Proc to) {
  const Shared& shared = *peer::shared();
  const auto& g = shared.geometry;
  return shared.mapping.at<channel::ring::Line>(g.ring(section_of(from), section_of(to)), g.ring_lines);
}

// All messages of before have arrived; now `spoil`, on rank 0 only; then more, in both directions.
template <class Spoil>
int spoilt(int rank, wireup::Wireup& wireup, Spoil&& spoil) {
  CheckingSink sink;
  begin(wireup, sink);
  const Proc other = 1 - static_cast<Proc>(rank);
  for (uint32_t number = 0; number < 40; ++number) send(other, number, number * 50);
  base::wait_until([&] { return sink.arrived >= 40; });
  meet(wireup);
  if (rank == 0) spoil();
  meet(wireup);
  for (uint32_t number = 40; number < 1000; ++number) {
    if (rank == 0 && channel_to(other) == "ring") spoil();  // the other may have put it right
    send(other, number, number * 7 % 3000);
  }
  base::wait_until([&] { return sink.arrived >= 1000; });
  CHECK_OR(6, channel_to(other) == "ucx" && sink.lost_count == 0);
  CHECK_OR(7, !connection(other).changing() && connection(other).change()->off());
  suspend_rings(false);  // what has failed does not come back
  for (uint32_t number = 1000; number < 1100; ++number) send(other, number, 10);
  base::wait_until([&] { return sink.arrived >= 1100; });
  CHECK_OR(8, channel_to(other) == "ucx");
  meet(wireup);
  stop();
  return 0;
}

TEST_F(ChangingSkippedWithoutUcx, AForgedLineCostsTheRingOnly) {
  const auto body = [](int rank, wireup::Wireup& wireup) {
    return spoilt(rank, wireup, [] {
      const auto& receiver = shared()->geometry;
      auto* lines = ring_of(1, 0);
      // Where rank 1's next line will be: a line of a form that there is not.
      const uint32_t next = connection(1).counts().ring_read;
      auto& line = lines[(next - 1) & (receiver.ring_lines - 1)];
      __atomic_store_n(&line.control, uint64_t{next} << 32, __ATOMIC_RELEASE);
      while (channel_to(1) == "ring") base::progress();
    });
  };
  EXPECT_EQ(run_ranks(2, body), 0);
}

TEST_F(ChangingSkippedWithoutUcx, AWrongCreditCostsTheRingOnly) {
  const auto body = [](int rank, wireup::Wireup& wireup) {
    return spoilt(rank, wireup, [] {
      const auto& g = shared()->geometry;
      shared()->mapping.at<region::Credit>(g.credit(section_of(1), section_of(0)))->lines = UINT64_MAX / 2;
    });
  };
  EXPECT_EQ(run_ranks(2, body), 0);
}

TEST_F(ChangingSkippedWithoutUcx, WhatWasInAFailedRingIsALoss) {
  const auto body = [](int rank, wireup::Wireup& wireup) {
    CheckingSink sink;
    begin(wireup, sink);
    const Proc other = 1 - static_cast<Proc>(rank);
    send(other, 0, 10);
    base::wait_until([&] { return sink.arrived == 1; });
    meet(wireup);
    auto& board = *static_cast<test::ForkWireup&>(wireup).board();
    if (rank == 0) {
      // Nobody looks at the ring while rank 1 writes, and then spoils what it wrote.
      while (board.scratch[0].load() == 0) usleep(100);
    } else {
      const uint32_t next = connection(0).counts().ring_written;
      send(0, 1, 10);
      const auto& g = shared()->geometry;
      ring_of(1, 0)[(next - 1) & (g.ring_lines - 1)].control = uint64_t{next} << 32;
      board.scratch[0] = 1;
    }
    base::wait_until([&] { return sink.lost_count == 1; });
    CHECK_OR(6, connection(other).lost() && sink.arrived == 1);
    stop();
    return 0;
  };
  EXPECT_EQ(run_ranks(2, body), 0);
}

TEST_F(ChangingSkippedWithoutUcx, ADeathWhileSuspendedIsNoticed) {
  const auto body = [](int rank, wireup::Wireup& wireup) {
    CheckingSink sink;
    begin(wireup, sink);
    suspend_rings(true);
    const Proc other = 1 - static_cast<Proc>(rank);
    send(other, 0, 10);
    base::wait_until([&] { return sink.arrived == 1 && channel_to(other) == "ucx"; });
    meet(wireup);
    if (rank == 1) kill(getpid(), SIGKILL);
    base::wait_until([&] { return sink.lost_count != 0; });
    CHECK_OR(6, sink.lost_count == 1 && connection(1).lost());
    stop();
    return 0;
  };
  EXPECT_EQ(run_ranks(2, body), 1000 + SIGKILL);
}

}  // namespace
}  // namespace vicinity::peer
