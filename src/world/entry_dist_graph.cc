// SPDX-License-Identifier: BSD-3-Clause
// Distributed graph topologies (MPI 5.0, 8.5.4): each process knows its own neighbours only.
#include <algorithm>
#include <new>
#include <vector>

#include "coll/coll.h"
#include "entry_world.h"
#include "object/datatype.h"
#include "object/op.h"
#include "object/pool.h"
#include "p2p/p2p.h"
#include "world/context.h"
#include "world/environment.h"
#include "world/instance.h"
#include "world/split.h"
#include "world/topology.h"

namespace vicinity::world {
namespace {

struct Edge {
  int source, destination, weight;
};

Status check_neighbours(const Communicator& comm, int count, const int* ranks, const char* name) {
  if (count < 0) return fail(MPI_ERR_ARG, "the number of %s is %d", name, count);
  for (int i = 0; i < count; ++i)
    if (ranks[i] < 0 || ranks[i] >= comm.size())
      return fail(MPI_ERR_ARG, "%s[%d] is %d, the communicator has %d processes", name, i, ranks[i],
                  comm.size());
  return kOk;
}

Status check_weights(int count, const int* weights, const char* name) {
  if (weights == MPI_UNWEIGHTED || weights == MPI_WEIGHTS_EMPTY) return kOk;
  if (!weights && count > 0) return fail(MPI_ERR_ARG, "argument `%s` is a null pointer", name);
  for (int i = 0; i < count; ++i)
    if (weights[i] < 0) return fail(MPI_ERR_ARG, "%s[%d] is %d", name, i, weights[i]);
  return kOk;
}

bool has_weights(const int* weights) { return weights != MPI_UNWEIGHTED; }

void add_all(std::vector<int>& list, const int* values, int count, bool real) {
  if (real && values && values != MPI_WEIGHTS_EMPTY)
    list.assign(values, values + count);
  else
    list.assign(static_cast<size_t>(count), 1);
}

Status attach(Communicator& comm, Topology* graph, const Info* info, Communicator** out) {
  Group* group = object::make_group(comm.group->procs, instance().self());
  if (!group || !graph) return fail(MPI_ERR_NO_MEM, "no memory for a topology");
  Result<Communicator*> made = construct(comm, group, nullptr);
  if (!made.ok()) return made.status();
  (*made)->topology = graph;
  accept_hints((*made)->hints, info);
  *out = *made;
  return kOk;
}

// Every process learns how many edges others have for it: one count per process, summed by all.
Result<int> expected(Communicator& comm, const std::vector<int>& messages) {
  std::vector<int> total(messages.size());
  object::Datatype& type = object::builtin(MPI_INT);
  VICINITY_TRY(coll::allreduce(messages.data(), total.data(), comm.size(), type,
                               *object::lookup<object::Op>(MPI_SUM), comm));
  return total[static_cast<size_t>(comm.rank)];
}

// Sends each edge to its two ends; every process collects the edges that touch it. One message per pair of
// processes, whose length the receiver learns from a message before it.
Result<std::vector<Edge>> deliver(Communicator& comm, const std::vector<std::vector<Edge>>& outgoing) {
  std::vector<int> messages(outgoing.size());
  for (size_t i = 0; i < outgoing.size(); ++i) messages[i] = outgoing[i].empty() ? 0 : 1;
  Result<int> incoming = expected(comm, messages);
  if (!incoming.ok()) return incoming.status();

  object::Datatype& type = object::builtin(MPI_INT);
  const int tag = static_cast<int>(comm.agreements++ & object::kTagUpperBound);
  std::vector<int> counts(outgoing.size());
  std::vector<object::Request*> requests;
  const auto send = [&](const void* data, MPI_Count count, size_t to) {
    object::Request* request = nullptr;
    Status status = p2p::isend(data, count, type, static_cast<int>(to), tag, comm, object::Lane::kControl,
                               p2p::Mode::kStandard, &request);
    if (status.ok()) requests.push_back(request);
    return status;
  };
  for (size_t to = 0; to < outgoing.size(); ++to) {
    if (outgoing[to].empty()) continue;
    counts[to] = static_cast<int>(outgoing[to].size());
    VICINITY_TRY(send(&counts[to], 1, to));
    VICINITY_TRY(send(outgoing[to].data(), MPI_Count{3} * counts[to], to));
  }
  std::vector<Edge> edges;
  for (int i = 0; i < *incoming; ++i) {
    int count = 0;
    MPI_Status from;
    // The order of senders is open, so take lengths and lists of one sender together.
    VICINITY_TRY(p2p::recv(&count, 1, type, MPI_ANY_SOURCE, tag, comm, object::Lane::kControl, &from));
    const size_t old = edges.size();
    edges.resize(old + static_cast<size_t>(count));
    VICINITY_TRY(p2p::recv(edges.data() + old, MPI_Count{3} * count, type, from.MPI_SOURCE, tag, comm,
                           object::Lane::kControl));
  }
  for (object::Request* request : requests) VICINITY_TRY(p2p::finish(request));
  // Any order would do; sorted, it is the same in every run.
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
    return std::tie(a.source, a.destination, a.weight) < std::tie(b.source, b.destination, b.weight);
  });
  return edges;
}

}  // namespace

namespace entry {

Status dist_graph_create_adjacent(Communicator& comm, int indegree, const int* sources,
                                  const int* sourceweights, int outdegree, const int* destinations,
                                  const int* destweights, Info* info, int, Communicator** comm_dist_graph) {
  if (comm.inter()) return fail(MPI_ERR_COMM, "topologies are for intracommunicators");
  VICINITY_TRY(check_neighbours(comm, indegree, sources, "sources"));
  VICINITY_TRY(check_neighbours(comm, outdegree, destinations, "destinations"));
  VICINITY_TRY(check_weights(indegree, sourceweights, "sourceweights"));
  VICINITY_TRY(check_weights(outdegree, destweights, "destweights"));
  auto* graph = new (std::nothrow) Topology;
  if (graph) {
    graph->kind = MPI_DIST_GRAPH;
    graph->weighted = has_weights(sourceweights) && has_weights(destweights);
    graph->sources.assign(sources, sources + indegree);
    graph->destinations.assign(destinations, destinations + outdegree);
    add_all(graph->source_weights, sourceweights, indegree, graph->weighted);
    add_all(graph->destination_weights, destweights, outdegree, graph->weighted);
  }
  return attach(comm, graph, info, comm_dist_graph);
}

Status dist_graph_create(Communicator& comm, int n, const int* sources, const int* degrees,
                         const int* destinations, const int* weights, Info* info, int,
                         Communicator** comm_dist_graph) {
  if (comm.inter()) return fail(MPI_ERR_COMM, "topologies are for intracommunicators");
  VICINITY_TRY(check_neighbours(comm, n, sources, "sources"));
  int total = 0;
  for (int i = 0; i < n; ++i) {
    if (degrees[i] < 0) return fail(MPI_ERR_ARG, "degrees[%d] is %d", i, degrees[i]);
    total += degrees[i];
  }
  VICINITY_TRY(check_neighbours(comm, total, destinations, "destinations"));
  VICINITY_TRY(check_weights(total, weights, "weights"));
  const bool weighted = has_weights(weights);
  std::vector<std::vector<Edge>> outgoing(static_cast<size_t>(comm.size()));
  for (int i = 0, at = 0; i < n; ++i) {
    for (int end = at + degrees[i]; at < end; ++at) {
      const int weight = weighted && weights != MPI_WEIGHTS_EMPTY ? weights[at] : 1;
      const Edge edge{sources[i], destinations[at], weight};
      outgoing[static_cast<size_t>(edge.source)].push_back(edge);
      // A loop has one end only; it is told apart from its copy by the receiver.
      if (edge.destination != edge.source) outgoing[static_cast<size_t>(edge.destination)].push_back(edge);
    }
  }
  Result<std::vector<Edge>> edges = deliver(comm, outgoing);
  if (!edges.ok()) return edges.status();
  auto* graph = new (std::nothrow) Topology;
  if (!graph) return fail(MPI_ERR_NO_MEM, "no memory for a topology");
  graph->kind = MPI_DIST_GRAPH;
  graph->weighted = weighted;
  for (const Edge& edge : *edges) {
    if (edge.destination == comm.rank) {
      graph->sources.push_back(edge.source);
      graph->source_weights.push_back(edge.weight);
    }
    if (edge.source == comm.rank) {
      graph->destinations.push_back(edge.destination);
      graph->destination_weights.push_back(edge.weight);
    }
  }
  return attach(comm, graph, info, comm_dist_graph);
}

Status dist_graph_neighbors_count(Communicator& comm, int* indegree, int* outdegree, int* weighted) {
  Result<Topology*> graph = topology_of(comm, MPI_DIST_GRAPH);
  if (!graph.ok()) return graph.status();
  *indegree = static_cast<int>((*graph)->sources.size());
  *outdegree = static_cast<int>((*graph)->destinations.size());
  *weighted = (*graph)->weighted;
  return kOk;
}

Status dist_graph_neighbors(Communicator& comm, int maxindegree, int* sources, int* sourceweights,
                            int maxoutdegree, int* destinations, int* destweights) {
  Result<Topology*> found = topology_of(comm, MPI_DIST_GRAPH);
  if (!found.ok()) return found.status();
  const Topology& graph = **found;
  if (maxindegree < 0 || maxoutdegree < 0)
    return fail(MPI_ERR_ARG, "room for %d sources and %d destinations", maxindegree, maxoutdegree);
  // Unlike for the other topologies, too little room gets the first few (8.5.5).
  const auto give = [&](const std::vector<int>& from, int room, int* to) {
    if (to && to != MPI_UNWEIGHTED && to != MPI_WEIGHTS_EMPTY)
      std::copy_n(from.begin(), std::min(from.size(), static_cast<size_t>(room)), to);
  };
  give(graph.sources, maxindegree, sources);
  give(graph.destinations, maxoutdegree, destinations);
  if (!graph.weighted) return kOk;
  give(graph.source_weights, maxindegree, sourceweights);
  give(graph.destination_weights, maxoutdegree, destweights);
  return kOk;
}

}  // namespace entry
}  // namespace vicinity::world
