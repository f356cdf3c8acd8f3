// SPDX-License-Identifier: BSD-3-Clause
// Matching against a model: two plain lists, searched from the front as MPI 5.0, 3.5 describes it.
#include "p2p/match.h"

#include <gtest/gtest.h>

#include <list>
#include <memory>
#include <random>

namespace vicinity::p2p {
namespace {

struct Model {
  struct Posted {
    Proc source;
    int tag;
    Transfer* transfer;
  };
  struct Message {
    Proc from;
    int tag;
    Arrival* arrival;
  };
  std::list<Posted> posted;
  std::list<Message> unexpected;

  static bool fits(Proc source, int tag, Proc from, int message_tag) {
    return (source == kAnyProc || source == from) && (tag == MPI_ANY_TAG || tag == message_tag);
  }
  Transfer* take_posted(Proc from, int tag) {
    for (auto it = posted.begin(); it != posted.end(); ++it) {
      if (!fits(it->source, it->tag, from, tag)) continue;
      Transfer* transfer = it->transfer;
      posted.erase(it);
      return transfer;
    }
    return nullptr;
  }
  Arrival* take_unexpected(Proc source, int tag) {
    for (auto it = unexpected.begin(); it != unexpected.end(); ++it) {
      if (!fits(source, tag, it->from, it->tag)) continue;
      Arrival* arrival = it->arrival;
      unexpected.erase(it);
      return arrival;
    }
    return nullptr;
  }
};

class MatchTest : public testing::Test {
 protected:
  // Expect: the context decides as the model does.
  void receive(Proc source, int tag) {
    Arrival* found = context_.find_unexpected(source, tag);
    ASSERT_EQ(found, model_.take_unexpected(source, tag));
    if (found) {
      context_.drop(found);
      give_arrival(found);
      return;
    }
    Transfer* transfer = take_transfer();
    transfer->peer = source;
    transfer->tag = tag;
    transfer->stamp = stamp_++;
    context_.post(transfer);
    model_.posted.push_back({source, tag, transfer});
  }
  void arrive(Proc from, int tag) {
    Transfer* found = context_.match_posted(from, tag);
    ASSERT_EQ(found, model_.take_posted(from, tag));
    if (found) return give_transfer(found);
    Arrival* arrival = take_arrival();
    arrival->from = from;
    arrival->envelope = envelope(Packet::kEager, 0, tag, 0);
    context_.keep(arrival);
    model_.unexpected.push_back({from, tag, arrival});
  }
  // All that waits is taken, in any order; posted receives are cancelled.
  void drain(std::mt19937& random) {
    while (!model_.unexpected.empty() && !HasFatalFailure()) {
      auto it = std::next(model_.unexpected.begin(), static_cast<long>(random() % model_.unexpected.size()));
      const Proc from = it->from;
      const int tag = it->tag;
      receive(random() % 8 ? from : kAnyProc, random() % 8 ? tag : MPI_ANY_TAG);
    }
    while (!model_.posted.empty()) {
      auto it = std::next(model_.posted.begin(), static_cast<long>(random() % model_.posted.size()));
      context_.unpost(it->transfer);
      give_transfer(it->transfer);
      model_.posted.erase(it);
    }
    EXPECT_EQ(counters_.posted + counters_.unexpected, 0u);
  }
  void TearDown() override {
    for (auto& posted : model_.posted) {
      context_.unpost(posted.transfer);
      give_transfer(posted.transfer);
    }
  }

  Counters counters_;
  Context context_{counters_};
  Model model_;
  uint64_t stamp_ = 0;
};

TEST_F(MatchTest, FirstPostedReceiveTakesTheMessage) {
  receive(kAnyProc, 5);
  receive(3, MPI_ANY_TAG);
  receive(3, 5);
  arrive(3, 5);  // Expect: the one that names nobody, because it was first
  arrive(3, 5);
  arrive(3, 5);
  EXPECT_EQ(counters_.posted, 0u);
  EXPECT_EQ(counters_.posted_most, 3u);
}

TEST_F(MatchTest, AnySourceTakesTheOldestMessage) {
  arrive(100, 1);
  arrive(7, 2);
  arrive(7, 1);
  receive(kAnyProc, MPI_ANY_TAG);
  receive(7, 1);
  receive(kAnyProc, 2);
  EXPECT_EQ(counters_.unexpected, 0u);
  EXPECT_EQ(counters_.unexpected_total, 3u);
}

TEST_F(MatchTest, AgreesWithTheModel) {
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    const uint32_t sources = 1 + random() % 5, tags = 1 + random() % 4;
    for (int step = 0; step < 2000 && !HasFatalFailure(); ++step) {
      const Proc source = random() % sources * 97;  // over several pages
      const int tag = static_cast<int>(random() % tags);
      if (random() % 2) {
        arrive(source, tag);
      } else {
        receive(random() % 4 ? source : kAnyProc, random() % 4 ? tag : MPI_ANY_TAG);
      }
    }
  }
}

// Long phases in which much arrives, or much is posted, or both are taken, in any order and with wildcards.
TEST_F(MatchTest, LongQueuesAgreeWithTheModel) {
  for (uint32_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    const uint32_t sources = 1 + random() % 4 * (random() % 30), tags = 1 + random() % 400;
    const uint32_t wild_source = 2 + random() % 60, wild_tag = 2 + random() % 60;
    for (int phase = 0; phase < 12; ++phase) {
      const uint32_t arrivals = random() % 101, steps = random() % 300;  // of 100
      for (uint32_t step = 0; step < steps && !HasFatalFailure(); ++step) {
        const Proc source = random() % sources * 31;
        const int tag = static_cast<int>(random() % tags);
        if (random() % 100 < arrivals) {
          arrive(source, tag);
        } else {
          receive(random() % wild_source ? source : kAnyProc, random() % wild_tag ? tag : MPI_ANY_TAG);
        }
      }
      if (phase % 4 == 3) drain(random);
    }
  }
}

// A thousand messages in the worst order: each is found at a few looks, however it is asked for.
TEST_F(MatchTest, NoSearchIsLongInALongQueue) {
  constexpr int kMany = 1000;
  const auto expect_few = [&](const char* what, auto&& fill, auto&& take) {
    for (int i = 0; i < kMany; ++i) fill(i);
    take(kMany - 1);  // may be long
    const uint64_t before = counters_.match_attempts;
    for (int i = kMany - 2; i >= 0; --i) take(i);
    EXPECT_LT(counters_.match_attempts - before, 6u * kMany) << what;
    EXPECT_EQ(counters_.posted + counters_.unexpected, 0u) << what;
  };
  const auto come = [&](int i) { arrive(1, i); };
  const auto come_from_all = [&](int i) { arrive(static_cast<Proc>(i), 3); };
  expect_few("source and tag", come, [&](int i) { receive(1, i); });
  expect_few("any source", come, [&](int i) { receive(kAnyProc, i); });
  expect_few("any tag", come_from_all, [&](int i) { receive(static_cast<Proc>(i), MPI_ANY_TAG); });
  expect_few("one of many sources", come_from_all, [&](int i) { receive(static_cast<Proc>(i), 3); });
  expect_few("posted", [&](int i) { receive(1, i); }, [&](int i) { arrive(1, i); });
  expect_few("posted for any source", [&](int i) { receive(kAnyProc, i); }, [&](int i) { arrive(2, i); });
}

TEST_F(MatchTest, CancelFindsTheMessageBySenderId) {
  arrive(1, 4);
  model_.unexpected.back().arrival->envelope.word = 77;
  EXPECT_EQ(context_.find_sent_as(1, 77), model_.unexpected.back().arrival);
  EXPECT_EQ(context_.find_sent_as(1, 78), nullptr);
  EXPECT_EQ(context_.find_sent_as(2, 77), nullptr);
  receive(1, 4);
}

TEST(Contexts, KnowLowAndHighIds) {
  Counters counters;
  Contexts contexts(counters);
  Context& low = contexts.of(8);
  Context& high = contexts.of(0xfffffff0u);
  EXPECT_EQ(&low, &contexts.of(8));
  EXPECT_EQ(&high, &contexts.of(0xfffffff0u));
  int seen = 0;
  contexts.each([&](Context&) { ++seen; });
  EXPECT_EQ(seen, 2);
  contexts.forget(8);
  contexts.forget(0xfffffff0u);
  seen = 0;
  contexts.each([&](Context&) { ++seen; });
  EXPECT_EQ(seen, 0);
}

}  // namespace
}  // namespace vicinity::p2p
