// SPDX-License-Identifier: BSD-3-Clause
// Ranks that reach each other through the network, forced on one host or because their hosts differ.
// Without UCX on the machine there is nothing to be tested, and the tests say so.
#include <gtest/gtest.h>

#include "base/progress.h"
#include "channel/ucx/library.h"
#include "peer/check_sink_test.h"
#include "peer/fork_test.h"
#include "peer/peer.h"

namespace vicinity::peer {
namespace {

using test::run_ranks;

// In the child only: UCX must not be loaded before a fork.
bool no_ucx() {
  return run_ranks(1, [](int, wireup::Wireup&) { return channel::ucx::load().ok() ? 0 : 1; }) != 0;
}

#define NEEDS_UCX() \
  if (no_ucx()) GTEST_SKIP() << "UCX is not installed (Debian: libucx0)"

int force_network() {
  setenv("VICINITY_CHANNELS", "ucx", 1);
  setenv("VICINITY_NETWORK", "tcp", 1);
  return base::params_load().ok() ? 0 : 1;
}

TEST(Network, PingPongOfEverySizeClass) {
  NEEDS_UCX();
  const auto body = [](int rank, wireup::Wireup& wireup) {
    CHECK_OR(1, force_network() == 0);
    CheckingSink sink;
    CHECK_OR(1, start(wireup, sink).ok());
    const Proc other = 1 - static_cast<Proc>(rank);
    CHECK_OR(1, std::string(connection(other).channel_name()) == "ucx" && !co_resident(other));
    uint32_t number = 0;
    for (size_t bytes = 0; bytes <= connection(other).largest(); bytes += bytes < 300 ? 1 : 977) {
      if (rank == 0) send(other, number, bytes);
      base::wait_until([&] { return sink.arrived == number + 1; });
      if (rank == 1) send(other, number, bytes);
      ++number;
    }
    base::wait_until([&] { return rank == 1 || sink.arrived == number; });
    meet(wireup);
    stop();
    return 0;
  };
  EXPECT_EQ(run_ranks(2, body), 0);
}

TEST(Network, EverybodyToEverybody) {
  NEEDS_UCX();
  const auto body = [](int rank, wireup::Wireup& wireup) {
    CHECK_OR(1, force_network() == 0);
    CheckingSink sink;
    CHECK_OR(1, start(wireup, sink).ok());
    all_to_all(rank, 4, sink, 300, 3000);
    meet(wireup);
    stop();
    return 0;
  };
  EXPECT_EQ(run_ranks(4, body), 0);
}

// Two hosts with two ranks each: rings inside, the network between.
TEST(Network, RingAndNetworkTogether) {
  NEEDS_UCX();
  const auto body = [](int rank, wireup::Wireup& wireup) {
    setenv("VICINITY_HOST_ID", rank < 2 ? "one" : "two", 1);
    setenv("VICINITY_NETWORK", "tcp", 1);
    CHECK_OR(1, base::params_load().ok());
    CheckingSink sink;
    CHECK_OR(1, start(wireup, sink).ok());
    for (Proc peer = 0; peer < 4; ++peer) {
      if (peer == static_cast<Proc>(rank)) continue;
      const bool near = (peer < 2) == (rank < 2);
      CHECK_OR(2, std::string(connection(peer).channel_name()) == (near ? "ring" : "ucx"));
      CHECK_OR(2, near || std::string(connection(peer).reason()).find("another host") == 0);
    }
    all_to_all(rank, 4, sink, 300, 3000);
    usleep(20000);  // some sleep now, and are woken by either
    meet(wireup);
    stop();
    return 0;
  };
  EXPECT_EQ(run_ranks(4, body), 0);
}

TEST(Network, OneMayForbidSharedMemoryForAll) {
  NEEDS_UCX();
  const auto body = [](int rank, wireup::Wireup& wireup) {
    setenv("VICINITY_CHANNELS", rank == 2 ? "ucx" : "ring,ucx", 1);
    setenv("VICINITY_NETWORK", "tcp", 1);
    CHECK_OR(1, base::params_load().ok());
    CheckingSink sink;
    CHECK_OR(1, start(wireup, sink).ok());
    const Proc other = rank == 0 ? 1 : 0;
    CHECK_OR(2, std::string(connection(other).channel_name()) == (rank == 2 ? "ucx" : "ring"));
    all_to_all(rank, 3, sink, 50, 3000);
    meet(wireup);
    stop();
    return 0;
  };
  EXPECT_EQ(run_ranks(3, body), 0);
}

TEST(Network, TheDeadAreNoticed) {
  NEEDS_UCX();
  const auto body = [](int rank, wireup::Wireup& wireup) {
    CHECK_OR(1, force_network() == 0);
    CheckingSink sink;
    CHECK_OR(1, start(wireup, sink).ok());
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
    stop();
    return 0;
  };
  EXPECT_EQ(run_ranks(2, body), 1000 + SIGKILL);
}

TEST(Network, OneThatOnlyListensNoticesADeathToo) {
  NEEDS_UCX();
  const auto body = [](int rank, wireup::Wireup& wireup) {
    CHECK_OR(1, force_network() == 0);
    CheckingSink sink;
    CHECK_OR(1, start(wireup, sink).ok());
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
    stop();
    return 0;
  };
  EXPECT_EQ(run_ranks(2, body), 1000 + SIGKILL);
}

TEST(Network, WhoLeavesInGoodOrderIsNotMourned) {
  NEEDS_UCX();
  const auto body = [](int rank, wireup::Wireup& wireup) {
    CHECK_OR(1, force_network() == 0);
    CheckingSink sink;
    CHECK_OR(1, start(wireup, sink).ok());
    all_to_all(rank, 2, sink, 100, 3000);
    meet(wireup);
    if (rank == 1) {
      stop();
      return 0;
    }
    const int64_t end = base::now_ns() + 300'000'000;
    base::wait_until([&] { return base::now_ns() > end; });
    CHECK_OR(1, sink.lost_count == 0);
    stop();
    return 0;
  };
  EXPECT_EQ(run_ranks(2, body), 0);
}

}  // namespace
}  // namespace vicinity::peer
