// SPDX-License-Identifier: BSD-3-Clause
// One process (0) among three, which others tell about agreements too early, too often, or without a right
// to.
#include "fault/survivors.h"

#include <gtest/gtest.h>

#include <optional>

#include "p2p/test_world.h"

namespace vicinity::fault {
namespace {

using object::Proc;
using p2p::engine;
using p2p::test::World;

struct Waiting : Party {
  Waiting() {
    done = [](Party* self, const Value* decision) {
      auto& waiting = *static_cast<Waiting*>(self);
      waiting.over = true;
      if (decision) waiting.value = *decision;
    };
  }
  bool over = false;
  std::optional<Value> value;
};

uint32_t next_context =
    400;  // what is known of a communicator is never forgotten, so each test takes another

class SurvivorsTest : public testing::Test {
 protected:
  SurvivorsTest() : world_(3, [](Proc, Proc) { return channel::fake::Script{}; }) {
    group_.procs = {0, 1};
    group_.rank = 0;
    group_.handle = comm_.handle = 1;  // never freed
    comm_.kind = object::Kind::kComm;
    comm_.context = next_context += object::kLanes;
    comm_.rank = 0;
    comm_.group = &group_;
    world_.enter(0);
    start();
  }
  ~SurvivorsTest() override { p2p::forget(comm_); }

  void say(Proc from, const std::vector<std::byte>& bytes, uint32_t context) {
    world_.enter(from);
    EXPECT_EQ(bytes.empty() ? p2p::send_abandon(0, context)
                            : p2p::send_survival(0, context, bytes.data(), bytes.size()),
              p2p::Sent::kYes);
    world_.enter(0);
    base::progress();
    base::progress();
  }
  // As process 1 would at the beginning of an agreement: the leader is 0.
  static std::vector<std::byte> contribution(uint32_t call, int32_t low = -1) {
    Message m;
    m.value.low = low;
    return encode({call, 0}, m);
  }
  void agree(Waiting& waiting) {
    Value mine;
    mine.low = 6;
    take_part(comm_, {begin_call(comm_), 0}, mine, waiting);
  }
  void accept(uint32_t call) { say(1, encode({call, 0}, Message{.say = Say::kAccept}), comm_.context); }

  World world_;
  object::Group group_;
  object::Communicator comm_;
};

TEST_F(SurvivorsTest, KeepsWhatComesBeforeTheCommunicator) {
  say(1, contribution(0, 3), comm_.context);
  p2p::introduce(comm_);
  Waiting waiting;
  agree(waiting);
  EXPECT_FALSE(waiting.over);
  accept(0);
  ASSERT_TRUE(waiting.over && waiting.value);
  EXPECT_EQ(waiting.value->low, 2);
}

TEST_F(SurvivorsTest, IgnoresWhatOthersHaveSaidBeforeTheCommunicator) {
  say(2, contribution(0, 0), comm_.context);
  say(2, {}, comm_.context);
  say(1, contribution(0, 3), comm_.context);
  p2p::introduce(comm_);
  Waiting waiting;
  agree(waiting);
  accept(0);
  ASSERT_TRUE(waiting.over && waiting.value);
  EXPECT_EQ(waiting.value->low, 2);
  EXPECT_FALSE(engine().is_lost(2));
  say(2, {}, comm_.context);  // now it can know better
  EXPECT_TRUE(engine().is_lost(2));
}

TEST_F(SurvivorsTest, OneSenderFillsItsOwnRoomOnly) {
  uint32_t said = 0;
  for (; !engine().is_lost(2) && said < 100000; ++said) say(2, contribution(said), 4000 + 4 * (said % 7));
  EXPECT_GT(said, 1000u);
  EXPECT_TRUE(engine().is_lost(2));
  say(1, contribution(0), comm_.context);
  EXPECT_FALSE(engine().is_lost(1));
}

TEST_F(SurvivorsTest, NobodyIsFarAhead) {
  p2p::introduce(comm_);
  uint32_t call = 0;
  for (; !engine().is_lost(1) && call < 100000; ++call) say(1, contribution(call), comm_.context);
  EXPECT_GT(call, 8000u);
  EXPECT_TRUE(engine().is_lost(1));
}

TEST_F(SurvivorsTest, WhatBeginsHereIsNotAhead) {
  p2p::introduce(comm_);
  for (uint32_t call = 0; call < 10000; ++call) {
    say(1, contribution(call), comm_.context);
    Waiting waiting;
    agree(waiting);
    accept(call);
    ASSERT_TRUE(waiting.over) << call;
    end_call(comm_, call);
  }
  EXPECT_FALSE(engine().is_lost(1));
}

TEST_F(SurvivorsTest, NobodySaysTheSameTwice) {
  p2p::introduce(comm_);
  say(1, contribution(0), comm_.context);
  EXPECT_FALSE(engine().is_lost(1));
  say(1, contribution(0), comm_.context);
  EXPECT_TRUE(engine().is_lost(1));
}

TEST_F(SurvivorsTest, AMissedMessageEndsTheAgreementEverywhere) {
  p2p::introduce(comm_);
  Waiting waiting, later;
  agree(waiting);
  engine().survival->missed(1, comm_.context);
  ASSERT_TRUE(waiting.over);
  EXPECT_FALSE(waiting.value);
  world_.enter(1);
  bool told = false;
  struct Ear final : p2p::Survival {
    explicit Ear(bool& told) : told(told) {}
    void heard(Proc, uint32_t, const std::byte*, size_t) override {}
    void lost(Proc) override {}
    void missed(Proc, uint32_t) override {}
    void abandoned(Proc from, uint32_t) override { told = from == 0; }
    void introduced(object::Communicator&) override {}
    bool& told;
  } ear(told);
  p2p::set_survival(&ear);
  base::progress();
  EXPECT_TRUE(told);
  p2p::set_survival(nullptr);
  world_.enter(0);
  agree(later);
  EXPECT_TRUE(later.over);
  EXPECT_FALSE(later.value);
  EXPECT_FALSE(engine().is_lost(1));
}

TEST_F(SurvivorsTest, AnAgreementThatAnotherAbandonsEndsHere) {
  p2p::introduce(comm_);
  Waiting waiting;
  agree(waiting);
  say(1, {}, comm_.context);
  EXPECT_TRUE(waiting.over);
  EXPECT_FALSE(waiting.value);
}

TEST_F(SurvivorsTest, AMessageThatIsMissedEarlyEndsTheAgreementToo) {
  engine().survival->missed(1, comm_.context);
  p2p::introduce(comm_);
  Waiting waiting;
  agree(waiting);
  EXPECT_TRUE(waiting.over);
  EXPECT_FALSE(waiting.value);
}

}  // namespace
}  // namespace vicinity::fault
