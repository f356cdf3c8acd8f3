// SPDX-License-Identifier: BSD-3-Clause
// Ranks that reach each other through the network, forced on one host or because their hosts differ.
// Without UCX on the machine there is nothing to be tested, and the tests are skipped.
#include <gtest/gtest.h>

#include "base/progress.h"
#include "channel/ucx/library.h"
#include "peer/check_sink_test.h"
#include "peer/fork_test.h"
#include "peer/peer.h"

namespace vicinity::peer {
namespace {

using test::run_ranks;

// UCX is Debian's package libucx0, which `scripts/setup hosts` installs.
class NetworkSkippedWithoutUcx : public testing::Test {
 protected:
  void SetUp() override {
    // In a child: UCX must not be loaded before a fork.
    const auto load = [](int, wireup::Wireup&) { return channel::ucx::load().ok() ? 0 : 1; };
    if (run_ranks(1, load) != 0) GTEST_SKIP() << "UCX is not installed (Debian: libucx0)";
  }
};

void force_network(int) {
  setenv("VICINITY_CHANNELS", "ucx", 1);
  setenv("VICINITY_NETWORK", "tcp", 1);
}

TEST_F(NetworkSkippedWithoutUcx, PingPongOfEverySizeClass) {
  const auto body = [](int rank, wireup::Wireup& wireup, CheckingSink& sink) {
    const Proc other = 1 - static_cast<Proc>(rank);
    CHECK_OR(1, std::string(connection(other).channel_name()) == "ucx" && !co_resident(other));
    ping_pong(rank, sink, 300);
    meet(wireup);
  };
  EXPECT_EQ(run_started(2, force_network, body), 0);
}

TEST_F(NetworkSkippedWithoutUcx, EverybodyToEverybody) {
  const auto body = [](int rank, wireup::Wireup& wireup, CheckingSink& sink) {
    all_to_all(rank, 4, sink, 300, 3000);
    meet(wireup);
  };
  EXPECT_EQ(run_started(4, force_network, body), 0);
}

// Two hosts with two ranks each: rings inside, the network between.
TEST_F(NetworkSkippedWithoutUcx, RingAndNetworkTogether) {
  const auto settings = [](int rank) {
    setenv("VICINITY_HOST_ID", rank < 2 ? "one" : "two", 1);
    setenv("VICINITY_NETWORK", "tcp", 1);
  };
  const auto body = [](int rank, wireup::Wireup& wireup, CheckingSink& sink) {
    for (Proc peer = 0; peer < 4; ++peer) {
      if (peer == static_cast<Proc>(rank)) continue;
      const bool near = (peer < 2) == (rank < 2);
      CHECK_OR(2, std::string(connection(peer).channel_name()) == (near ? "ring" : "ucx"));
      CHECK_OR(2, near || std::string(connection(peer).reason()).find("another host") == 0);
    }
    all_to_all(rank, 4, sink, 300, 3000);
    usleep(20000);  // some sleep now, and are woken by either
    meet(wireup);
  };
  EXPECT_EQ(run_started(4, settings, body), 0);
}

TEST_F(NetworkSkippedWithoutUcx, OneMayForbidSharedMemoryForAll) {
  const auto settings = [](int rank) {
    setenv("VICINITY_CHANNELS", rank == 2 ? "ucx" : "ring,ucx", 1);
    setenv("VICINITY_NETWORK", "tcp", 1);
  };
  const auto body = [](int rank, wireup::Wireup& wireup, CheckingSink& sink) {
    const Proc other = rank == 0 ? 1 : 0;
    CHECK_OR(2, std::string(connection(other).channel_name()) == (rank == 2 ? "ucx" : "ring"));
    all_to_all(rank, 3, sink, 50, 3000);
    meet(wireup);
  };
  EXPECT_EQ(run_started(3, settings, body), 0);
}

TEST_F(NetworkSkippedWithoutUcx, TheDeadAreNoticed) {
  const auto body = [](int rank, wireup::Wireup&, CheckingSink& sink) {
    if (rank == 1) {
      send(0, 0, 3000);
      base::wait_until([&] { return sink.arrived == 1; });
      kill(getpid(), SIGKILL);
    }
    base::wait_until([&] { return sink.arrived == 1; });
    send(1, 0, 10);
    base::wait_until([&] { return sink.lost_count != 0; });
    CHECK_OR(1, sink.lost_count == 1 && connection(1).lost());
    CHECK_OR(1, connection(1).try_send(envelope_of(0), nullptr, 0) == Answer::kFailed);
  };
  EXPECT_EQ(run_started(2, force_network, body), 1000 + SIGKILL);
}

TEST_F(NetworkSkippedWithoutUcx, OneThatOnlyListensNoticesADeathToo) {
  const auto body = [](int rank, wireup::Wireup& wireup, CheckingSink& sink) {
    if (rank == 1) {
      send(0, 0, 3000);
      // Rank 0 says through the board that it has heard us.
      auto& board = *static_cast<test::ForkWireup&>(wireup).board();
      base::wait_until([&] { return board.scratch[0].load() == 1; });
      kill(getpid(), SIGKILL);
    }
    base::wait_until([&] { return sink.arrived == 1; });
    static_cast<test::ForkWireup&>(wireup).board()->scratch[0] = 1;
    base::wait_until([&] { return sink.lost_count != 0; });
  };
  EXPECT_EQ(run_started(2, force_network, body), 1000 + SIGKILL);
}

TEST_F(NetworkSkippedWithoutUcx, WhoLeavesInGoodOrderIsNotMourned) {
  const auto body = [](int rank, wireup::Wireup& wireup, CheckingSink& sink) {
    all_to_all(rank, 2, sink, 100, 3000);
    meet(wireup);
    if (rank == 1) return;
    const int64_t end = base::now_ns() + 300'000'000;
    base::wait_until([&] { return base::now_ns() > end; });
    CHECK_OR(1, sink.lost_count == 0);
  };
  EXPECT_EQ(run_started(2, force_network, body), 0);
}

}  // namespace
}  // namespace vicinity::peer
