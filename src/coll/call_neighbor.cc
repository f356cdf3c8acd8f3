// SPDX-License-Identifier: BSD-3-Clause
// MPI 5.0, 8.6 to 8.8: neighbourhood collectives, in whatever form they are called. Each is one exchange with
// the neighbours that the topology names, in the order of their blocks.
#include "coll/arguments.h"
#include "coll/calls.h"
#include "object/topology.h"

namespace vicinity::coll::call {

namespace {

using object::Topology;

Result<Topology*> topology_of(Communicator& comm) {
  if (!comm.topology)
    return object::fail(MPI_ERR_TOPOLOGY, "argument `comm` has no topology, so there are no neighbours");
  VICINITY_TRY(comm.topology->meet_neighbours(comm.rank));
  return comm.topology;
}

int indegree(const Topology& topology) { return static_cast<int>(topology.sources.size()); }
int outdegree(const Topology& topology) { return static_cast<int>(topology.destinations.size()); }

// `block_for(i)` goes to neighbour i. Where two ranks are neighbours more than once, messages match in the
// order in which both start them: the k-th edge to a rank is its k-th edge from here. A grid is different
// (8.6): what is sent in one direction arrives from the other, so receives start with the opposite block.
template <class BlockFor>
Status exchange(const How& how, Kind kind, const Topology& topology, BlockFor&& block_for, const Blocks& recv,
                Communicator& comm) {
  Call call(how, comm, kind);
  Plan& plan = call.plan();
  const int swap = topology.kind == MPI_CART ? 1 : 0;
  for (int i = 0; i < indegree(topology); ++i) {
    const int block = i ^ swap, source = topology.sources[static_cast<size_t>(block)];
    if (source != MPI_PROC_NULL && recv.bytes(block) > 0) plan.recv(recv[block], source);
  }
  for (int i = 0; i < outdegree(topology); ++i) {
    const int destination = topology.destinations[static_cast<size_t>(i)];
    const Typed block = block_for(i);
    if (destination != MPI_PROC_NULL && block.bytes() > 0) plan.send(block, destination);
  }
  return call.run();
}

// Without neighbours a buffer may be anything.
MPI_Count meant(MPI_Count count, int degree) { return degree == 0 && count > 0 ? 0 : count; }

Status gather_all(const How& how, Kind kind, const Topology& topology, const void* sendbuf,
                  MPI_Count sendcount, MPI_Datatype sendtype, const Blocks& recv, Communicator& comm) {
  const MPI_Count count = meant(sendcount, outdegree(topology));
  Result<Typed> mine = one_buffer(sendbuf, count, sendtype, kSendNames);
  if (!mine.ok()) return mine.status();
  return exchange(how, kind, topology, [&](int) { return *mine; }, recv, comm);
}

Status all_to_all(const How& how, Kind kind, const Topology& topology, const Blocks& send, const Blocks& recv,
                  Communicator& comm) {
  return exchange(how, kind, topology, [&](int i) { return send[i]; }, recv, comm);
}

}  // namespace

Status neighbor_allgather(const How& how, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                          void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, Communicator& comm) {
  Result<Topology*> topology = topology_of(comm);
  if (!topology.ok()) return topology.status();
  const int sources = indegree(**topology);
  Result<Blocks> recv = equal_blocks(recvbuf, meant(recvcount, sources), recvtype, sources, kRecvNames);
  if (!recv.ok()) return recv.status();
  return gather_all(how, Kind::kNeighborAllgather, **topology, sendbuf, sendcount, sendtype, *recv, comm);
}

Status neighbor_allgatherv(const How& how, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                           void* recvbuf, CountArray recvcounts, CountArray displs, MPI_Datatype recvtype,
                           Communicator& comm) {
  Result<Topology*> topology = topology_of(comm);
  if (!topology.ok()) return topology.status();
  Result<Blocks> recv =
      varied_blocks(recvbuf, recvcounts, displs, recvtype, indegree(**topology), kRecvNamesV);
  if (!recv.ok()) return recv.status();
  return gather_all(how, Kind::kNeighborAllgatherv, **topology, sendbuf, sendcount, sendtype, *recv, comm);
}

Status neighbor_alltoall(const How& how, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                         void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, Communicator& comm) {
  Result<Topology*> topology = topology_of(comm);
  if (!topology.ok()) return topology.status();
  const int sources = indegree(**topology), targets = outdegree(**topology);
  Result<Blocks> send = equal_blocks(sendbuf, meant(sendcount, targets), sendtype, targets, kSendNames);
  if (!send.ok()) return send.status();
  Result<Blocks> recv = equal_blocks(recvbuf, meant(recvcount, sources), recvtype, sources, kRecvNames);
  if (!recv.ok()) return recv.status();
  return all_to_all(how, Kind::kNeighborAlltoall, **topology, *send, *recv, comm);
}

Status neighbor_alltoallv(const How& how, const void* sendbuf, CountArray sendcounts, CountArray sdispls,
                          MPI_Datatype sendtype, void* recvbuf, CountArray recvcounts, CountArray rdispls,
                          MPI_Datatype recvtype, Communicator& comm) {
  Result<Topology*> topology = topology_of(comm);
  if (!topology.ok()) return topology.status();
  const int sources = indegree(**topology), targets = outdegree(**topology);
  Result<Blocks> send = varied_blocks(sendbuf, sendcounts, sdispls, sendtype, targets, kSendNamesAll);
  if (!send.ok()) return send.status();
  Result<Blocks> recv = varied_blocks(recvbuf, recvcounts, rdispls, recvtype, sources, kRecvNamesAll);
  if (!recv.ok()) return recv.status();
  return all_to_all(how, Kind::kNeighborAlltoallv, **topology, *send, *recv, comm);
}

Status neighbor_alltoallw(const How& how, const void* sendbuf, CountArray sendcounts, const MPI_Aint* sdispls,
                          const MPI_Datatype* sendtypes, void* recvbuf, CountArray recvcounts,
                          const MPI_Aint* rdispls, const MPI_Datatype* recvtypes, Communicator& comm) {
  Result<Topology*> topology = topology_of(comm);
  if (!topology.ok()) return topology.status();
  const int sources = indegree(**topology), targets = outdegree(**topology);
  Result<Blocks> send = mixed_blocks(sendbuf, sendcounts, sdispls, sendtypes, targets, kSendNamesW);
  if (!send.ok()) return send.status();
  Result<Blocks> recv = mixed_blocks(recvbuf, recvcounts, rdispls, recvtypes, sources, kRecvNamesW);
  if (!recv.ok()) return recv.status();
  return all_to_all(how, Kind::kNeighborAlltoallw, **topology, *send, *recv, comm);
}

}  // namespace vicinity::coll::call
