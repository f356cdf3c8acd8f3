// SPDX-License-Identifier: BSD-3-Clause
// Graph topologies that every process knows whole (MPI 5.0, 8.5.3).
#include <algorithm>
#include <new>
#include <vector>

#include "entry_world.h"
#include "object/pool.h"
#include "world/instance.h"
#include "world/split.h"
#include "world/topology.h"

namespace vicinity::world {
namespace {

Status check_graph(const Communicator& comm, int nnodes, const int* index, const int* edges) {
  if (nnodes < 0) return fail(MPI_ERR_ARG, "argument `nnodes` is %d", nnodes);
  if (nnodes > comm.size())
    return fail(MPI_ERR_ARG, "argument `nnodes` is %d, the communicator has %d processes", nnodes,
                comm.size());
  int end = 0;
  for (int i = 0; i < nnodes; ++i) {
    if (index[i] < end) return fail(MPI_ERR_ARG, "index[%d] is %d, less than the one before it", i, index[i]);
    end = index[i];
  }
  for (int i = 0; i < end; ++i)
    if (edges[i] < 0 || edges[i] >= nnodes)
      return fail(MPI_ERR_ARG, "edges[%d] is %d, the graph has %d nodes", i, edges[i], nnodes);
  return kOk;
}

struct Neighbours {
  const int* first;
  int count;
};

Result<Neighbours> neighbours_of(const Communicator& comm, int rank) {
  Result<Topology*> found = topology_of(comm, MPI_GRAPH);
  if (!found.ok()) return found.status();
  if (rank < 0 || rank >= comm.size())
    return fail(MPI_ERR_RANK, "argument `rank` is %d, the communicator has %d processes", rank, comm.size());
  const Topology& graph = **found;
  const int begin = rank == 0 ? 0 : graph.index[static_cast<size_t>(rank) - 1];
  return Neighbours{graph.edges.data() + begin, graph.index[static_cast<size_t>(rank)] - begin};
}

}  // namespace

namespace entry {

Status graph_create(Communicator& comm, int nnodes, const int* index, const int* edges, int,
                    Communicator** comm_graph) {
  if (comm.inter()) return fail(MPI_ERR_COMM, "topologies are for intracommunicators");
  VICINITY_TRY(check_graph(comm, nnodes, index, edges));
  Group* group = nullptr;
  if (comm.rank < nnodes) {
    std::vector<Proc> procs(comm.group->procs.begin(), comm.group->procs.begin() + nnodes);
    group = object::make_group(std::move(procs), instance().self());
    if (!group) return fail(MPI_ERR_NO_MEM, "no memory for a group");
  }
  Result<Communicator*> made = construct(comm, group, nullptr);
  if (!made.ok() || !*made) return made.status();
  auto* graph = new (std::nothrow) Topology;
  if (!graph) return fail(MPI_ERR_NO_MEM, "no memory for a topology");
  graph->kind = MPI_GRAPH;
  graph->index.assign(index, index + nnodes);
  graph->edges.assign(edges, edges + index[nnodes - 1]);
  (*made)->topology = graph;
  *comm_graph = *made;
  return kOk;
}

Status graph_map(Communicator& comm, int nnodes, const int* index, const int* edges, int* newrank) {
  VICINITY_TRY(check_graph(comm, nnodes, index, edges));
  *newrank = comm.rank < nnodes ? comm.rank : int{MPI_UNDEFINED};
  return kOk;
}

Status graphdims_get(Communicator& comm, int* nnodes, int* nedges) {
  Result<Topology*> graph = topology_of(comm, MPI_GRAPH);
  if (!graph.ok()) return graph.status();
  *nnodes = static_cast<int>((*graph)->index.size());
  *nedges = static_cast<int>((*graph)->edges.size());
  return kOk;
}

Status graph_get(Communicator& comm, int maxindex, int maxedges, int* index, int* edges) {
  Result<Topology*> found = topology_of(comm, MPI_GRAPH);
  if (!found.ok()) return found.status();
  const Topology& graph = **found;
  if (maxindex < static_cast<int>(graph.index.size()) || maxedges < static_cast<int>(graph.edges.size()))
    return fail(MPI_ERR_ARG, "room for %d nodes and %d edges, the graph has %zu and %zu", maxindex, maxedges,
                graph.index.size(), graph.edges.size());
  std::copy(graph.index.begin(), graph.index.end(), index);
  std::copy(graph.edges.begin(), graph.edges.end(), edges);
  return kOk;
}

Status graph_neighbors_count(Communicator& comm, int rank, int* nneighbors) {
  Result<Neighbours> found = neighbours_of(comm, rank);
  if (!found.ok()) return found.status();
  *nneighbors = found->count;
  return kOk;
}

Status graph_neighbors(Communicator& comm, int rank, int maxneighbors, int* neighbors) {
  Result<Neighbours> found = neighbours_of(comm, rank);
  if (!found.ok()) return found.status();
  if (maxneighbors < found->count)
    return fail(MPI_ERR_ARG, "argument `maxneighbors` is %d, rank %d has %d neighbours", maxneighbors, rank,
                found->count);
  std::copy(found->first, found->first + found->count, neighbors);
  return kOk;
}

}  // namespace entry
}  // namespace vicinity::world
