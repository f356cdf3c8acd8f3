// SPDX-License-Identifier: BSD-3-Clause
// The algebra of groups, small and large.
#include "object/group.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace vicinity::object {
namespace {

struct Made {
  Group* group;
  explicit Made(std::vector<Proc> procs, Proc self = 0) : group(make_group(std::move(procs), self)) {}
  ~Made() { release(group); }
  Group* operator->() { return group; }
  operator const Group&() const { return *group; }
};

using Procs = std::vector<Proc>;

TEST(Group, SetOperationsKeepTheOrderOfTheFirst) {
  Made a({5, 1, 3}), b({3, 7, 5});
  EXPECT_EQ(group_union(a, b), (Procs{5, 1, 3, 7}));
  EXPECT_EQ(group_intersection(a, b), (Procs{5, 3}));
  EXPECT_EQ(group_difference(a, b), (Procs{1}));
  EXPECT_EQ(group_difference(a, a), Procs{});
}

TEST(Group, CompareTellsOrderFromMembership) {
  Made a({1, 2, 3}), same({1, 2, 3}), shuffled({3, 1, 2}), other({1, 2, 4}), shorter({1, 2});
  EXPECT_EQ(group_compare(a, same), MPI_IDENT);
  EXPECT_EQ(group_compare(a, shuffled), MPI_SIMILAR);
  EXPECT_EQ(group_compare(a, other), MPI_UNEQUAL);
  EXPECT_EQ(group_compare(a, shorter), MPI_UNEQUAL);
}

TEST(Group, RankOfIsTheInverseInEveryOrder) {
  for (int size : {1, 16, 17, 5000}) {
    Procs procs(static_cast<size_t>(size));
    std::iota(procs.begin(), procs.end(), 10);
    std::reverse(procs.begin(), procs.end());
    Made group(procs, procs[0]);
    EXPECT_EQ(group->rank, 0);
    for (int rank = 0; rank < size; rank += std::max(1, size / 50))
      EXPECT_EQ(group->rank_of(procs[static_cast<size_t>(rank)]), rank);
    EXPECT_EQ(group->rank_of(3), MPI_UNDEFINED);
    EXPECT_EQ(group->rank_of(1u << 30), MPI_UNDEFINED);
  }
}

TEST(Group, IncludeAndExclude) {
  Made group({4, 5, 6, 7});
  const int ranks[] = {3, 0};
  EXPECT_EQ(group_include(group, ranks), (Procs{7, 4}));
  EXPECT_EQ(group_exclude(group, ranks), (Procs{5, 6}));
}

TEST(Group, RangesRunUpAndDown) {
  Made group({0, 1, 2, 3, 4, 5});
  const int ranges[][3] = {{0, 4, 2}, {5, 3, -2}};
  auto ranks = expand_ranges(group, 2, ranges);
  ASSERT_TRUE(ranks.ok());
  EXPECT_EQ(*ranks, (std::vector<int>{0, 2, 4, 5, 3}));
  const int none[][3] = {{0, 4, 0}};
  EXPECT_EQ(expand_ranges(group, 1, none).status().code(), MPI_ERR_ARG);
  const int away[][3] = {{0, 4, -1}};
  EXPECT_EQ(expand_ranges(group, 1, away).status().code(), MPI_ERR_ARG);
  const int beyond[][3] = {{0, 6, 1}};
  EXPECT_EQ(expand_ranges(group, 1, beyond).status().code(), MPI_ERR_RANK);
}

TEST(Group, CheckFindsTwinsAndStrangers) {
  Made group({0, 1, 2});
  const int good[] = {2, 0}, twins[] = {1, 1}, strange[] = {0, 3}, negative[] = {-1};
  EXPECT_TRUE(check_ranks(group, good).ok());
  EXPECT_EQ(check_ranks(group, twins).code(), MPI_ERR_RANK);
  EXPECT_EQ(check_ranks(group, strange).code(), MPI_ERR_RANK);
  EXPECT_EQ(check_ranks(group, negative).code(), MPI_ERR_RANK);
}

TEST(Group, EmptyIsPredefined) {
  EXPECT_EQ(lookup<Group>(MPI_GROUP_EMPTY)->size(), 0);
  EXPECT_EQ(lookup<Group>(MPI_GROUP_NULL), nullptr);
}

TEST(Group, FreedHandleIsNoticed) {
  Group* group = make_group({0}, 0);
  const MPI_Group handle = handle_of(*group);
  EXPECT_EQ(lookup<Group>(handle), group);
  release(group);
  EXPECT_EQ(lookup<Group>(handle), nullptr);
}

}  // namespace
}  // namespace vicinity::object
