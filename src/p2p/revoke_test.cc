// SPDX-License-Identifier: BSD-3-Clause
// Revocations that come before the communicator does, or after it, from members and from others.
#include <gtest/gtest.h>

#include "p2p/test_world.h"

namespace vicinity::p2p {
namespace {

using test::World;

constexpr uint32_t kContext = 400;

class RevokeTest : public testing::Test {
 protected:
  RevokeTest() : world_(3, [](Proc, Proc) { return channel::fake::Script{}; }) {
    group_.procs = {0, 1};
    group_.rank = 0;
    group_.handle = comm_.handle = 1;  // never freed
    comm_.kind = object::Kind::kComm;
    comm_.context = kContext;
    comm_.rank = 0;
    comm_.group = &group_;
    world_.enter(0);
  }
  ~RevokeTest() override { forget(comm_); }

  void say(Proc from, uint32_t context) {
    world_.enter(from);
    peer::connection(0).post(envelope(Packet::kRevoke, context, 0, 0), nullptr, 0);
    world_.enter(0);
    base::progress();
    base::progress();
  }

  World world_;
  object::Group group_;
  object::Communicator comm_;
};

TEST_F(RevokeTest, OfAMemberIsKeptUntilTheCommunicatorIsThere) {
  say(1, kContext);
  EXPECT_EQ(engine().early.kept(), 1u);
  introduce(comm_);
  EXPECT_TRUE(comm_.revoked);
  EXPECT_EQ(engine().early.kept(), 0u);
}

TEST_F(RevokeTest, OfAnotherIsIgnoredWhenTheCommunicatorIsThere) {
  say(2, kContext);
  introduce(comm_);
  EXPECT_FALSE(comm_.revoked);
  EXPECT_FALSE(engine().is_lost(2));
  say(2, kContext);  // now it can know better
  EXPECT_FALSE(comm_.revoked);
  EXPECT_TRUE(engine().is_lost(2));
  EXPECT_FALSE(engine().is_lost(1));
}

TEST_F(RevokeTest, OfOneSenderThereIsRoomForSoMany) {
  for (uint32_t i = 0; i < EarlyRevocations::kMost; ++i) say(2, 1000 + 4 * i);
  say(2, 1000);  // again: costs nothing
  EXPECT_FALSE(engine().is_lost(2));
  say(1, kContext);
  say(2, 4);
  EXPECT_TRUE(engine().is_lost(2));
  EXPECT_FALSE(engine().is_lost(1));
  EXPECT_EQ(engine().early.kept(), EarlyRevocations::kMost + 1);
  introduce(comm_);
  EXPECT_TRUE(comm_.revoked);
}

TEST_F(RevokeTest, OfAFreedCommunicatorIsLate) {
  introduce(comm_);
  forget(comm_);
  say(1, kContext);
  EXPECT_EQ(engine().early.kept(), 0u);
  say(1, kContext + object::kLanes);
  EXPECT_EQ(engine().early.kept(), 1u);
}

}  // namespace
}  // namespace vicinity::p2p
