// SPDX-License-Identifier: BSD-3-Clause
// Integers of handles, and info objects on the way.
#include "object/handle_table.h"

#include <gtest/gtest.h>

#include "object/info.h"

namespace vicinity::object {
namespace {

TEST(HandleTable, ConstantsAreTheirOwnIntegers) {
  EXPECT_EQ(handle_to_int(0x101), 0x101);
  EXPECT_EQ(handle_from_int(0x101), 0x101u);
}

TEST(HandleTable, AddressesComeBack) {
  const int first = handle_to_int(0x7f0000001040), second = handle_to_int(0x7f0000002080);
  EXPECT_GE(first, static_cast<int>(kFirstAddress));
  EXPECT_NE(first, second);
  EXPECT_EQ(handle_to_int(0x7f0000001040), first);
  EXPECT_EQ(handle_from_int(second), 0x7f0000002080u);
  EXPECT_EQ(handle_from_int(second + 1000), 0u);
  EXPECT_EQ(handle_from_int(-5), 0u);
}

TEST(Info, KeepsOrderAndReplaces) {
  Info* info = copy_info(nullptr);
  info->set("b", "1");
  info->set("a", "2");
  info->set("b", "3");
  ASSERT_EQ(info->pairs.size(), 2u);
  EXPECT_EQ(info->pairs[0].first, "b");
  EXPECT_EQ(*info->find("b"), "3");
  EXPECT_EQ(info->find("c"), nullptr);
  Info* copy = copy_info(info);
  EXPECT_TRUE(info->remove("b"));
  EXPECT_FALSE(info->remove("b"));
  EXPECT_EQ(copy->pairs.size(), 2u);
  release(info);
  release(copy);
  EXPECT_EQ(lookup<Info>(MPI_INFO_ENV), &environment_info());
}

}  // namespace
}  // namespace vicinity::object
