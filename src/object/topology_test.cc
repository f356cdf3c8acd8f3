// SPDX-License-Identifier: BSD-3-Clause
// Who is a neighbour, in which order.
#include "object/topology.h"

#include <gtest/gtest.h>

#include <string>

namespace vicinity::object {
namespace {

using List = std::vector<int>;

TEST(Neighbours, OfAGridComeByDimensionFirstBackThenForth) {
  Topology grid;
  grid.kind = MPI_CART;
  grid.dims = {3, 2, 1};
  grid.periods = {0, 1, 1};
  grid.coords = {0, 1, 0};  // rank 1
  ASSERT_TRUE(grid.meet_neighbours(1).ok());
  EXPECT_EQ(grid.sources, (List{MPI_PROC_NULL, 3, 0, 0, 1, 1}));
  EXPECT_EQ(grid.destinations, grid.sources);
  ASSERT_TRUE(grid.meet_neighbours(1).ok());  // once is enough
  EXPECT_EQ(grid.sources.size(), 6u);
}

TEST(Neighbours, OfAGraphAreThoseItNames) {
  Topology graph;
  graph.kind = MPI_GRAPH;
  graph.index = {3, 4, 7, 7};
  graph.edges = {2, 1, 2, 0, 0, 2, 0};
  for (int rank : {0, 1, 2, 3}) {
    Topology mine = graph;
    ASSERT_TRUE(mine.meet_neighbours(rank).ok()) << rank;
    const List all[] = {{2, 1, 2}, {0}, {0, 2, 0}, {}};
    EXPECT_EQ(mine.sources, all[rank]);
  }
}

TEST(Neighbours, AnEdgeWithoutItsOppositeIsAnError) {
  Topology graph;
  graph.kind = MPI_GRAPH;
  graph.index = {2, 3};
  graph.edges = {1, 1, 0};  // there twice, back once
  for (int rank : {0, 1}) {
    const Status status = graph.meet_neighbours(rank);
    EXPECT_EQ(status.code(), MPI_ERR_TOPOLOGY);
    EXPECT_NE(std::string(base::failure_text(status.code())).find("between 0 and 1"), std::string::npos);
  }
}

TEST(Neighbours, OfADistributedGraphAreLeftAlone) {
  Topology graph;
  graph.kind = MPI_DIST_GRAPH;
  graph.sources = {4, 4};
  graph.destinations = {1};
  ASSERT_TRUE(graph.meet_neighbours(0).ok());
  EXPECT_EQ(graph.sources, (List{4, 4}));
  EXPECT_EQ(graph.destinations, (List{1}));
}

}  // namespace
}  // namespace vicinity::object
