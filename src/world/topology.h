// SPDX-License-Identifier: BSD-3-Clause
// Virtual topologies (MPI 5.0, chapter 8). A topology never changes once made; duplicates share it.
#pragma once

#include <vector>

#include "object/communicator.h"

namespace vicinity::world {

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

  int rank_at(const int* at) const;                        // MPI_CART; coordinates are in range
  std::vector<int> coords_of(int rank) const;              // MPI_CART
  bool wrap(size_t dimension, int64_t& coordinate) const;  // false: beyond the edge of a line
};

// The topology of `comm`, or MPI_ERR_TOPOLOGY unless it is of this kind.
object::Result<Topology*> topology_of(const object::Communicator& comm, int kind);
const char* topology_name(int kind);

void share_topology(const object::Communicator& from, object::Communicator& to);
void drop_topology(object::Communicator& comm);

// MPI_Dims_create (8.5.2); the arguments have been checked.
object::Status balance_dims(int nodes, int count, int* dims);

}  // namespace vicinity::world
