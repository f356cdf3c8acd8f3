// SPDX-License-Identifier: BSD-3-Clause
// Lists of runs: regular patterns are few groups, windows cut runs, and lists of liars are refused.
#include "io/runs.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace vicinity::io {
namespace {

using object::builtin;

std::vector<std::pair<int64_t, int64_t>> runs_of(const RunList& list, int64_t begin) {
  std::vector<std::pair<int64_t, int64_t>> all;
  for_each_run(list.groups(), list.size(), begin,
               [&](int64_t at, int64_t bytes) { all.emplace_back(at, bytes); });
  return all;
}

View view_of(Datatype& filetype, int64_t disp) {
  View view;
  object::commit(filetype);
  EXPECT_TRUE(make_view(disp, builtin(MPI_BYTE), filetype, native(), &view).ok());
  return view;
}

TEST(RunList, RegularRunsAreOneGroup) {
  RunList list;
  list.clear(100);
  for (int i = 0; i < 1000; ++i) list.add(104 + 12 * i, 8);
  EXPECT_EQ(list.size(), 1u);
  EXPECT_EQ(list.bytes(), 8000);
  EXPECT_EQ(runs_of(list, 100)[999], std::make_pair(int64_t{104 + 12 * 999}, int64_t{8}));
}

TEST(RunList, AdjacentRunsAreOneRun) {
  RunList list;
  list.clear(0);
  list.add(0, 5);
  list.add(5, 7);
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list.groups()[0].bytes, 12);
}

TEST(RunList, LiesAreNoticed) {
  const Window window{1000, 2000};
  const auto check = [&](RunGroup group, int64_t bytes) { return valid(&group, 1, window, bytes); };
  EXPECT_TRUE(check({0, 1000, 1}, 1000));
  EXPECT_FALSE(check({0, 1000, 1}, 999));
  EXPECT_FALSE(check({1, 1000, 1}, 1000));
  EXPECT_FALSE(check({-1, 10, 1}, 10));
  EXPECT_FALSE(check({0, 0, 1}, 0));
  EXPECT_FALSE(check({0, 10, -1}, -10));
  EXPECT_FALSE(check({INT64_MAX, INT64_MAX, 1}, INT64_MAX));
  EXPECT_FALSE(check({INT64_MAX / 2, 1, INT64_MAX}, 1));
  const RunGroup two[] = {{0, 600, 1}, {0, 600, 1}};
  EXPECT_FALSE(valid(two, 2, window, 1200));
}

TEST(WindowRuns, WindowsCutRuns) {
  Datatype* type = *object::type_vector(3, 10, 20, builtin(MPI_BYTE), false);
  View view = view_of(*type, 7);  // [7,17) [27,37) [47,57), then [57,67)...
  WindowRuns runs(view, 5, 45);
  RunList list;
  ASSERT_TRUE(runs.list({0, 30}, &list));
  EXPECT_EQ(runs_of(list, 0), (std::vector<std::pair<int64_t, int64_t>>{{12, 5}, {27, 3}}));
  ASSERT_TRUE(runs.list({30, 31}, &list));
  EXPECT_EQ(runs_of(list, 30), (std::vector<std::pair<int64_t, int64_t>>{{30, 1}}));
  ASSERT_TRUE(runs.list({31, 1000}, &list));
  EXPECT_EQ(list.bytes(), 40 - 9);
  ASSERT_TRUE(runs.list({1000, 2000}, &list));
  EXPECT_EQ(list.bytes(), 0);
  drop_view(view);
  object::release(type);
}

TEST(View, OrderIsSeen) {
  const MPI_Count back[] = {20, 0};
  Datatype* type = *object::type_indexed_block(2, 4, back, builtin(MPI_BYTE), true);
  View view = view_of(*type, 0);
  EXPECT_FALSE(view.orderly);
  EXPECT_EQ(view.run_bytes, 8);
  drop_view(view);
  object::release(type);
}

TEST(View, LastOffsetsAreRefused) {
  Datatype* type = *object::type_resized(builtin(MPI_BYTE), 0, MPI_Count{1} << 40, true);
  View view = view_of(*type, 0);
  int64_t offset = 0;
  EXPECT_TRUE(find_offset(view, 1000, &offset));
  EXPECT_EQ(offset, int64_t{1000} << 40);
  EXPECT_FALSE(find_offset(view, int64_t{1} << 30, &offset));
  EXPECT_FALSE(find_offset(view, INT64_MAX, &offset));
  drop_view(view);
  object::release(type);
}

}  // namespace
}  // namespace vicinity::io
