// SPDX-License-Identifier: BSD-3-Clause
// What a virtual topology is (MPI 5.0, chapter 8). It never changes once made; duplicates of a communicator
// share it. world/ makes them, coll/ needs to know the neighbours.
#pragma once

#include <cstdint>
#include <vector>

#include "object/error.h"

namespace vicinity::object {

struct Topology {
  int kind = MPI_UNDEFINED;  // MPI_CART, MPI_GRAPH or MPI_DIST_GRAPH
  int references = 1;        // communicators; under the engine lock

  // MPI_CART; row-major, as the standard says.
  std::vector<int> dims, periods, coords;

  // MPI_GRAPH; index[i] is the end of the neighbours of node i in edges.
  std::vector<int> index, edges;

  // MPI_DIST_GRAPH; of this process.
  std::vector<int> sources, source_weights, destinations, destination_weights;
  bool weighted = false;

  // Of a grid or a graph `sources` and `destinations` are filled by the first call of this, for neighbourhood
  // collectives (8.6): in the order of their blocks, MPI_PROC_NULL beyond the edge of a grid.
  // MPI_ERR_TOPOLOGY, on all ranks alike, if a graph has an edge without its opposite.
  Status meet_neighbours(int rank);

  int rank_at(const int* at) const;                        // MPI_CART; coordinates are in range
  std::vector<int> coords_of(int rank) const;              // MPI_CART
  bool wrap(size_t dimension, int64_t& coordinate) const;  // false: beyond the edge of a line
  int beside(size_t dimension, int64_t step) const;        // MPI_CART: from here; MPI_PROC_NULL: nobody

 private:
  void meet_beside();
  Status meet_in_graph(int rank);
  bool met_ = false;
};

}  // namespace vicinity::object
