// SPDX-License-Identifier: BSD-3-Clause
// The room as a whole, between forked processes.
#include "peer/peer.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "base/progress.h"
#include "channel/cma/cma.h"
#include "peer/check_sink_test.h"
#include "peer/fork_test.h"
#include "peer/forming.h"

namespace vicinity::peer {
namespace {

using test::run_ranks;

TEST(Peer, PingPongOfEverySizeClass) {
  const auto body = [](int rank, wireup::Wireup& wireup, CheckingSink& sink) {
    const Proc other = 1 - static_cast<Proc>(rank);
    CHECK_OR(1, std::string(connection(other).channel_name()) == "ring" && co_resident(other));
    ping_pong(rank, sink, 2200);
    meet(wireup);
  };
  EXPECT_EQ(run_started(2, body), 0);
}

TEST(Peer, EverybodyToEverybodyWithMoreRanksThanCpus) {
  const auto body = [](int rank, wireup::Wireup& wireup, CheckingSink& sink) {
    all_to_all(rank, 8, sink, 300, 3000);
    meet(wireup);
  };
  EXPECT_EQ(run_started(8, body), 0);
}

TEST(Peer, ManyPeersUseTheHotSet) {
  const auto body = [](int rank, wireup::Wireup& wireup, CheckingSink& sink) {
    all_to_all(rank, 24, sink, 20, 100);
    meet(wireup);
  };
  EXPECT_EQ(run_started(24, body), 0);
}

TEST(Peer, FileBacking) {
  setenv("VICINITY_REGION", "file", 1);
  const auto body = [](int rank, wireup::Wireup& wireup, CheckingSink& sink) {
    CHECK_OR(1,
             std::string(connection(static_cast<Proc>(1 - rank)).reason()).find("file") != std::string::npos);
    all_to_all(rank, 2, sink, 500, 3000);
    meet(wireup);
  };
  EXPECT_EQ(run_started(2, body), 0);
  unsetenv("VICINITY_REGION");
}

TEST(Peer, WhoCannotOpenTheMemfdMovesAllToTheFile) {
  const auto body = [](int rank, wireup::Wireup& wireup) {
    Forming::refuse_memfd = rank == 2;
    CheckingSink sink;
    CHECK_OR(1, start(wireup, sink).ok());
    CHECK_OR(1, map_text().find("region (file)") != std::string::npos);
    all_to_all(rank, 3, sink, 100, 3000);
    meet(wireup);
    stop();
    return 0;
  };
  EXPECT_EQ(run_ranks(3, body), 0);
}

TEST(Peer, AnotherHostOutOfReachIsNamed) {
  const auto body = [](int rank, wireup::Wireup& wireup) {
    setenv("VICINITY_HOST_ID", rank == 1 ? "elsewhere" : "here", 1);
    setenv("VICINITY_CHANNELS", "self,ring", 1);
    CHECK_OR(1, base::params_load().ok());
    CheckingSink sink;
    const base::Status status = start(wireup, sink);
    CHECK_OR(1, !status.ok());
    const std::string words = base::failure_text(status.code());
    CHECK_OR(2, words.find(rank == 0 ? "rank 1 (host" : "rank 0 (host") != std::string::npos);
    CHECK_OR(3, words.find("VICINITY_CHANNELS forbids the network") != std::string::npos);
    return 0;
  };
  EXPECT_EQ(run_ranks(2, body), 0);
}

TEST(Peer, WithoutUcxTheMessageSaysWhatIsMissing) {
  const auto body = [](int rank, wireup::Wireup& wireup) {
    setenv("VICINITY_HOST_ID", rank == 1 ? "elsewhere" : "here", 1);
    setenv("VICINITY_UCX_LIBRARY", "libucp-that-is-not-there.so.0", 1);
    CHECK_OR(1, base::params_load().ok());
    CheckingSink sink;
    const base::Status status = start(wireup, sink);
    CHECK_OR(1, !status.ok());
    const std::string words = base::failure_text(status.code());
    CHECK_OR(2, words.find("apt-get install libucx0") != std::string::npos);
    return 0;
  };
  EXPECT_EQ(run_ranks(2, body), 0);
}

TEST(Peer, QueuedAndPostedMessagesKeepTheirOrder) {
  const auto body = [](int rank, wireup::Wireup& wireup, CheckingSink& sink) {
    const uint32_t messages = 5000;
    if (rank == 0) {
      std::vector<std::byte> data(64);
      std::vector<Pending> pending(messages);
      static uint32_t sent = 0;
      std::vector<std::vector<std::byte>> payload(messages);
      for (uint32_t number = 0; number < messages; ++number) {
        payload[number].resize(40);
        for (size_t i = 0; i < 40; ++i) payload[number][i] = byte_of(number, i);
        VirtualConnection& to = connection(1);
        if (number % 2) {
          to.post(envelope_of(number), payload[number].data(), 40);
          continue;
        }
        if (to.try_send(envelope_of(number), payload[number].data(), 40) == Answer::kDone) {
          ++sent;
          continue;
        }
        pending[number].envelope = envelope_of(number);
        pending[number].data = payload[number].data();
        pending[number].bytes = 40;
        pending[number].sent = [](Pending*, base::Status status) { sent += status.ok(); };
        to.queue(&pending[number]);
      }
      base::wait_until([&] { return sent == messages / 2; });
      base::wait_until([&] { return !connection(1).has_work(); });
    } else {
      usleep(20000);
      base::wait_until([&] { return sink.arrived == messages; });
    }
    meet(wireup);
  };
  EXPECT_EQ(run_started(2, body), 0);
}

TEST(Peer, SingleCopyReadsTheOthersMemory) {
  const auto body = [](int rank, wireup::Wireup& wireup, CheckingSink&) {
    static std::vector<std::byte> source(300000);
    for (size_t i = 0; i < source.size(); ++i) source[i] = byte_of(static_cast<uint32_t>(rank), i);
    meet(wireup);
    const auto other = static_cast<Proc>(1 - rank);
    if (connection(other).single_copy()) {  // the kernel may forbid it; the parent's map says so
      std::vector<std::byte> into(source.size());
      std::vector<iovec> pieces;
      for (size_t at = 0; at < into.size();) {
        const size_t part = std::min<size_t>(1 + pieces.size() * 17, into.size() - at);
        pieces.push_back({into.data() + at, part});
        at += part;
      }
      // Forked from one parent: the vectors lie at the same address in both.
      const auto address = reinterpret_cast<uint64_t>(source.data());
      CHECK_OR(7, connection(other).read_remote(address, pieces.data(), pieces.size(), into.size()));
      for (size_t i = 0; i < into.size(); ++i) CHECK_OR(8, into[i] == byte_of(other, i));
      iovec one{into.data(), 100};
      CHECK_OR(9, !connection(other).read_remote(8, &one, 1, 100));  // nothing is mapped there
      CHECK_OR(9, !connection(other).single_copy());
    }
    meet(wireup);
  };
  EXPECT_EQ(run_started(2, body), 0);
}

TEST(Peer, TheDeadAreNoticedAndTheirLastWordsHeard) {
  const auto body = [](int rank, wireup::Wireup&, CheckingSink& sink) {
    if (rank == 1) {
      send(0, 0, 3000);
      kill(getpid(), SIGKILL);
    }
    base::wait_until([&] { return sink.lost_count != 0; });
    CHECK_OR(1, sink.arrived == 1 && sink.lost_count == 1);
    CHECK_OR(1, connection(1).lost());
    CHECK_OR(1, connection(1).try_send(envelope_of(0), nullptr, 0) == Answer::kFailed);
    static int failed = 0;
    Pending pending;
    pending.sent = [](Pending*, base::Status status) { failed += !status.ok(); };
    connection(1).queue(&pending);
    base::wait_until([&] { return failed == 1; });
  };
  EXPECT_EQ(run_started(2, body), 1000 + SIGKILL);
}

TEST(Peer, WhoGivesItsCoreAwayIsSeenByThoseWhoWait) {
  const auto body = [](int rank, wireup::Wireup& wireup, CheckingSink& sink) {
    CHECK_OR(1, is_away(static_cast<Proc>(rank)));  // nobody waits for itself while it runs
    if (rank == 1) {
      base::set_oversubscribed(true);
      base::wait_until([&] { return sink.arrived >= 1; });
      base::set_oversubscribed(false);
      base::wait_until([&] { return sink.arrived >= 2; });
    } else {
      const int64_t end = base::now_ns() + 20'000'000'000;
      for (bool away : {true, false}) {
        base::wait_until([&] { return is_away(1) == away || base::now_ns() > end; });
        CHECK_OR(2, base::now_ns() < end);
        send(1, away ? 0 : 1, 8);
      }
    }
    meet(wireup);
  };
  EXPECT_EQ(run_started(2, body), 0);
}

TEST(Peer, AloneThereIsOnlySelf) {
  const auto body = [](int, wireup::Wireup&, CheckingSink& sink) {
    for (uint32_t number = 0; number < 1000; ++number) send(0, number, number * 7 % 5000);
    base::wait_until([&] { return sink.arrived == 1000; });
    char from[10] = "123456789", into[10] = "";
    iovec pieces[2] = {{into, 4}, {into + 4, 6}};
    CHECK_OR(1, connection(0).read_remote(reinterpret_cast<uint64_t>(from), pieces, 2, 10));
    CHECK_OR(1, std::string(into) == from);
  };
  EXPECT_EQ(run_started(1, body), 0);
}

TEST(Peer, FakesStandInForPeers) {
  CheckingSink sink;
  channel::fake::FakePair pair;
  ASSERT_TRUE(start_fake(0, {nullptr, &pair.end(0)}, sink).ok());
  pair.end(0).script().capacity = 1;
  EXPECT_EQ(connection(1).try_send(envelope_of(0), "a", 1), Answer::kDone);
  EXPECT_EQ(connection(1).try_send(envelope_of(1), "b", 1), Answer::kRetry);
  connection(1).post(envelope_of(2), "c", 1);
  channel::fake::Message message;
  ASSERT_TRUE(pair.end(1).take(message));
  EXPECT_EQ(message.envelope.tag, 0);
  base::progress();
  ASSERT_TRUE(pair.end(1).take(message));
  EXPECT_EQ(message.envelope.tag, 2);
  pair.end(0).lose("it is a test");
  base::progress();
  EXPECT_EQ(sink.lost_count, 1u);
  stop();
}

}  // namespace
}  // namespace vicinity::peer
