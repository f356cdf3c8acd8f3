// SPDX-License-Identifier: BSD-3-Clause
// Arithmetic of grids, and who is a neighbour.
#include "object/topology.h"

#include <algorithm>
#include <utility>

namespace vicinity::object {

int Topology::rank_at(const int* at) const {
  int rank = 0;
  for (size_t i = 0; i < dims.size(); ++i) rank = rank * dims[i] + at[i];
  return rank;
}

std::vector<int> Topology::coords_of(int rank) const {
  std::vector<int> at(dims.size());
  for (size_t i = dims.size(); i-- > 0;) {
    at[i] = rank % dims[i];
    rank /= dims[i];
  }
  return at;
}

bool Topology::wrap(size_t dimension, int64_t& coordinate) const {
  const int64_t size = dims[dimension];
  if (coordinate >= 0 && coordinate < size) return true;
  if (!periods[dimension]) return false;
  coordinate = (coordinate % size + size) % size;
  return true;
}

int Topology::beside(size_t dimension, int64_t step) const {
  std::vector<int> at = coords;
  int64_t coordinate = at[dimension] + step;
  if (!wrap(dimension, coordinate)) return MPI_PROC_NULL;
  at[dimension] = static_cast<int>(coordinate);
  return rank_at(at.data());
}

Status Topology::meet_neighbours(int rank) {
  if (met_ || kind == MPI_DIST_GRAPH) return kOk;
  if (kind == MPI_GRAPH) VICINITY_TRY(meet_in_graph(rank));
  if (kind == MPI_CART) meet_beside();
  destinations = sources;
  met_ = true;
  return kOk;
}

void Topology::meet_beside() {
  for (size_t i = 0; i < dims.size(); ++i) {
    sources.push_back(beside(i, -1));
    sources.push_back(beside(i, 1));
  }
}

Status Topology::meet_in_graph(int rank) {
  std::vector<std::pair<int, int>> there, back;
  for (size_t node = 0, edge = 0; node < index.size(); ++node) {
    for (; edge < static_cast<size_t>(index[node]); ++edge) {
      there.emplace_back(static_cast<int>(node), edges[edge]);
      back.emplace_back(edges[edge], static_cast<int>(node));
    }
  }
  std::sort(there.begin(), there.end());
  std::sort(back.begin(), back.end());
  const auto [one, other] = std::mismatch(there.begin(), there.end(), back.begin());
  if (one != there.end()) {
    const auto& [from, to] = std::min(*one, *other);
    return fail(MPI_ERR_TOPOLOGY,
                "the graph has an edge between %d and %d without its opposite, and neighbourhood "
                "collectives send along each edge both ways; use a distributed graph",
                from, to);
  }
  const auto first = rank == 0 ? 0 : index[static_cast<size_t>(rank) - 1];
  sources.assign(edges.begin() + first, edges.begin() + index[static_cast<size_t>(rank)]);
  return kOk;
}

}  // namespace vicinity::object
