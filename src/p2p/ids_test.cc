// SPDX-License-Identifier: BSD-3-Clause
// Checked names: only what is in use, in its role; stale ones are noticed; the table has an end.
#include "p2p/ids.h"

#include <gtest/gtest.h>

#include <set>

namespace vicinity::p2p {
namespace {

TEST(Ids, FindOnlyWhatIsInUseInThatRole) {
  Ids ids;
  object::Request request;
  const uint32_t id = ids.add(&request, Role::kSend);
  EXPECT_NE(id, 0u);
  EXPECT_EQ(ids.find(id, Role::kSend), &request);
  EXPECT_EQ(ids.find(id, Role::kReceive), nullptr);
  EXPECT_EQ(ids.find(id + 1, Role::kSend), nullptr);
  EXPECT_EQ(ids.find(0, Role::kSend), nullptr);
  EXPECT_EQ(ids.find(UINT32_MAX, Role::kSend), nullptr);
  ids.remove(id);
  EXPECT_EQ(ids.find(id, Role::kSend), nullptr);
}

TEST(Ids, AStaleIdDoesNotNameTheNextRequest) {
  Ids ids;
  object::Request request;
  std::set<uint32_t> seen;
  for (int i = 0; i < 4095; ++i) {
    const uint32_t id = ids.add(&request, Role::kSend);
    EXPECT_TRUE(seen.insert(id).second) << "id " << id << " came twice in 4095 uses";
    EXPECT_NE(id, 0u);
    ids.remove(id);
  }
}

TEST(Ids, EndAtTwoToTheTwenty) {
  Ids ids;
  object::Request request;
  for (int i = 0; i < 1 << 20; ++i) ASSERT_NE(ids.add(&request, Role::kReceive), 0u);
  EXPECT_EQ(ids.add(&request, Role::kReceive), 0u);
  int visited = 0;
  ids.each([&](object::Request*, Role role) { visited += role == Role::kReceive; });
  EXPECT_EQ(visited, 1 << 20);
}

}  // namespace
}  // namespace vicinity::p2p
