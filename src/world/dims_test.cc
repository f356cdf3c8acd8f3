// SPDX-License-Identifier: BSD-3-Clause
// MPI_Dims_create: products, balance, awkward numbers, and what is given; and arithmetic of grids.
#include <gtest/gtest.h>

#include <vector>

#include "base/clock.h"
#include "world/topology.h"

namespace vicinity::world {
namespace {

using Dims = std::vector<int>;

Dims balanced(int nodes, Dims dims) {
  EXPECT_TRUE(balance_dims(nodes, static_cast<int>(dims.size()), dims.data()).ok()) << nodes;
  return dims;
}

TEST(Dims, AreBalancedAndFall) {
  EXPECT_EQ(balanced(12, {0, 0}), (Dims{4, 3}));
  EXPECT_EQ(balanced(16, {0, 0, 0}), (Dims{4, 2, 2}));
  EXPECT_EQ(balanced(36, {0, 0}), (Dims{6, 6}));
  EXPECT_EQ(balanced(7, {0, 0}), (Dims{7, 1}));
  EXPECT_EQ(balanced(1, {0, 0, 0}), (Dims{1, 1, 1}));
  EXPECT_EQ(balanced(60, {0, 0, 0}), (Dims{5, 4, 3}));
  EXPECT_EQ(balanced(48, {0, 0}), (Dims{8, 6}));
  // 24 x 24 x 13 has the least first factor, but not the least spread.
  EXPECT_EQ(balanced(7488, {0, 0, 0}), (Dims{26, 18, 16}));
  // Of 20 x 18 x 14 and 21 x 16 x 15 the second has the greater least factor.
  EXPECT_EQ(balanced(5040, {0, 0, 0}), (Dims{21, 16, 15}));
}

TEST(Dims, KeepWhatIsGiven) {
  EXPECT_EQ(balanced(6, {0, 3, 0}), (Dims{2, 3, 1}));
  EXPECT_EQ(balanced(24, {2, 0, 0}), (Dims{2, 4, 3}));
  EXPECT_EQ(balanced(6, {3, 2}), (Dims{3, 2}));
}

TEST(Dims, ImpossibleOnesAreErrors) {
  for (Dims dims : {Dims{0, 3}, Dims{-1, 0}, Dims{8, 0}, Dims{2, 2}})
    EXPECT_EQ(balance_dims(7, 2, dims.data()).code(), MPI_ERR_DIMS);
}

TEST(Dims, EveryProductIsRight) {
  for (int nodes = 1; nodes <= 600; ++nodes)
    for (size_t count : {1u, 2u, 3u, 4u, 7u}) {
      int64_t product = 1;
      const Dims dims = balanced(nodes, Dims(count, 0));
      for (int d : dims) product *= d;
      EXPECT_EQ(product, nodes);
      for (size_t i = 1; i < count; ++i) EXPECT_LE(dims[i], dims[i - 1]);
    }
}

TEST(Dims, AwkwardNumbersAreQuick) {
  const int64_t begin = base::now_ns();
  for (int nodes : {2147483647, 1 << 30, 735134400, 1396755360, 2147483646})
    for (size_t count : {2u, 3u, 4u, 5u, 12u, 31u}) balanced(nodes, Dims(count, 0));
  EXPECT_LT(base::now_ns() - begin, int64_t{5'000'000'000});
}

TEST(Grid, RanksAndCoordinatesAreInverse) {
  Topology grid;
  grid.kind = MPI_CART;
  grid.dims = {3, 4, 2};
  grid.periods = {1, 0, 1};
  for (int rank = 0; rank < 24; ++rank) EXPECT_EQ(grid.rank_at(grid.coords_of(rank).data()), rank);
  int64_t at = -1;
  EXPECT_TRUE(grid.wrap(0, at));
  EXPECT_EQ(at, 2);
  at = 2147483648ll;
  EXPECT_TRUE(grid.wrap(2, at));
  EXPECT_EQ(at, 0);
  at = 4;
  EXPECT_FALSE(grid.wrap(1, at));
}

}  // namespace
}  // namespace vicinity::world
