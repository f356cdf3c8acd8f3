// SPDX-License-Identifier: BSD-3-Clause
// MPI 5.0, 6.3 to 6.8: the collectives that move data, in whatever form they are called.
#include "coll/arguments.h"
#include "coll/build.h"
#include "coll/calls.h"
#include "coll/claim.h"

namespace vicinity::coll::call {

namespace {

// Does this rank have the root's arguments? Does it have the others'?
bool is_root(const Communicator& comm, int root) {
  return comm.inter() ? root == MPI_ROOT : root == comm.rank;
}
bool takes_part(const Communicator& comm, int root) { return !comm.inter() || root != MPI_PROC_NULL; }
bool is_leaf(const Communicator& comm, int root) { return comm.inter() ? root >= 0 : root != comm.rank; }

Status run_gather(const How& how, Kind kind, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                  const Blocks& all, int root, Communicator& comm) {
  Typed mine;
  Status own;
  if (!comm.inter() && is_root(comm, root) && sendbuf == MPI_IN_PLACE) {
    mine = all[root];
  } else if (!comm.inter() || is_leaf(comm, root)) {
    Result<Typed> sent = one_buffer(sendbuf, sendcount, sendtype, kSendNames);
    if (!sent.ok()) return sent.status();
    mine = *sent;
    if (!comm.inter() && is_root(comm, root)) {
      VICINITY_TRY(check_alias(mine, all[root]));
      own = check_own(mine, all[root]);
    }
  }
  if (kind == Kind::kGather && !comm.inter()) {
    const uint64_t block = is_root(comm, root) ? all.bytes(root) : mine.bytes();
    if (Direct* direct = direct_way(how, comm, kind, block))
      return own.ok() ? direct->gather(mine, all, root) : direct->refuse(kind, root, own);
  }
  if (kind == Kind::kGatherv && !comm.inter())
    if (Direct* direct = direct_way(how, comm, kind, 1)) return direct->gatherv(mine, all, root, own);
  Call call(how, comm, kind, root);
  if (!own.ok()) call.plan().fail(own);
  build_gather(call.plan(), mine, all, root);
  return call.run();
}

Status run_scatter(const How& how, Kind kind, const Blocks& all, void* recvbuf, MPI_Count recvcount,
                   MPI_Datatype recvtype, int root, Communicator& comm) {
  Typed mine;
  Status own;
  if (!comm.inter() && is_root(comm, root) && recvbuf == MPI_IN_PLACE) {
    mine = all[root];
  } else if (!comm.inter() || is_leaf(comm, root)) {
    Result<Typed> received = one_buffer(recvbuf, recvcount, recvtype, kRecvNames);
    if (!received.ok()) return received.status();
    mine = *received;
    if (!comm.inter() && is_root(comm, root)) {
      VICINITY_TRY(check_alias(all[root], mine));
      own = check_own(all[root], mine);
    }
  }
  if (kind == Kind::kScatter && !comm.inter()) {
    const uint64_t block = is_root(comm, root) ? all.bytes(root) : mine.bytes();
    if (Direct* direct = direct_way(how, comm, kind, block * static_cast<uint64_t>(comm.size())))
      return own.ok() ? direct->scatter(all, mine, root) : direct->refuse(kind, root, own);
  }
  if (kind == Kind::kScatterv && !comm.inter())
    if (Direct* direct = direct_way(how, comm, kind, 1))
      return own.ok() ? direct->scatterv(all, mine, root) : direct->refuse(kind, root, own);
  Call call(how, comm, kind, root);
  if (!own.ok()) call.plan().fail(own);
  build_scatter(call.plan(), all, mine, root);
  return call.run();
}

Status run_allgather(const How& how, Kind kind, const void* sendbuf, MPI_Count sendcount,
                     MPI_Datatype sendtype, const Blocks& all, Communicator& comm) {
  Typed mine;
  Status own;
  if (!comm.inter() && sendbuf == MPI_IN_PLACE) {
    mine = all[comm.rank];
  } else {
    Result<Typed> sent = one_buffer(sendbuf, sendcount, sendtype, kSendNames);
    if (!sent.ok()) return sent.status();
    mine = *sent;
    if (!comm.inter()) {
      VICINITY_TRY(check_alias(mine, all[comm.rank]));
      own = check_own(mine, all[comm.rank]);
    }
  }
  if (!comm.inter())
    if (Direct* direct = direct_way(how, comm, kind, all.largest(comm.size())))
      return own.ok() ? direct->allgather(kind, mine, all) : direct->refuse(kind, kNoRoot, own);
  Call call(how, comm, kind);
  if (!own.ok()) call.plan().fail(own);
  build_allgather(call.plan(), mine, all);
  return call.run();
}

// `send` is looked at unless `in_place`.
Status run_alltoall(const How& how, Kind kind, bool in_place, const Blocks& send, const Blocks& recv,
                    Communicator& comm) {
  Status own;
  if (!in_place && !comm.inter()) {
    VICINITY_TRY(check_alias(send[comm.rank], recv[comm.rank]));
    own = check_own(send[comm.rank], recv[comm.rank]);
  }
  if (kind == Kind::kAlltoall && !comm.inter())
    if (Direct* direct = direct_way(how, comm, kind, recv.bytes(0) * static_cast<uint64_t>(comm.size())))
      return own.ok() ? direct->alltoall(in_place ? recv : send, recv) : direct->refuse(kind, kNoRoot, own);
  if (kind != Kind::kAlltoall && !comm.inter())
    if (Direct* direct = direct_way(how, comm, kind, 1))
      return own.ok() ? direct->alltoallv(kind, in_place ? recv : send, recv, in_place)
                      : direct->refuse(kind, kNoRoot, own);
  Call call(how, comm, kind);
  if (!own.ok()) call.plan().fail(own);
  build_alltoall(call.plan(), in_place ? packed_copy(call.plan(), recv, comm.size()) : send, recv);
  return call.run();
}

bool alltoall_in_place(const void* sendbuf, const Communicator& comm) {
  return sendbuf == MPI_IN_PLACE && !comm.inter();
}

}  // namespace

Status barrier(const How& how, Communicator& comm) {
  if (Direct* direct = direct_way(how, comm, Kind::kBarrier, 1)) return direct->barrier();
  Call call(how, comm, Kind::kBarrier);
  build_barrier(call.plan());
  return call.run();
}

Status bcast(const How& how, void* buffer, MPI_Count count, MPI_Datatype datatype, int root,
             Communicator& comm) {
  VICINITY_TRY(check_root(comm, root));
  Typed data{nullptr, 0, &object::builtin(MPI_BYTE)};
  if (takes_part(comm, root)) {
    Result<Typed> given = one_buffer(buffer, count, datatype, {"buffer", "count", "datatype"});
    if (!given.ok()) return given.status();
    data = *given;
  }
  if (Direct* direct = comm.inter() ? nullptr : direct_way(how, comm, Kind::kBcast, data.bytes()))
    return direct->bcast(data, root);
  Call call(how, comm, Kind::kBcast, root);
  build_bcast(call.plan(), data, root);
  return call.run();
}

Status gather(const How& how, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
              MPI_Count recvcount, MPI_Datatype recvtype, int root, Communicator& comm) {
  VICINITY_TRY(check_root(comm, root));
  Result<Blocks> all = Blocks();
  if (is_root(comm, root)) all = equal_blocks(recvbuf, recvcount, recvtype, comm.peers().size(), kRecvNames);
  if (!all.ok()) return all.status();
  return run_gather(how, Kind::kGather, sendbuf, sendcount, sendtype, *all, root, comm);
}

Status gatherv(const How& how, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
               CountArray recvcounts, CountArray displs, MPI_Datatype recvtype, int root,
               Communicator& comm) {
  VICINITY_TRY(check_root(comm, root));
  Result<Blocks> all = Blocks();
  if (is_root(comm, root))
    all = varied_blocks(recvbuf, recvcounts, displs, recvtype, comm.peers().size(), kRecvNamesV);
  if (!all.ok()) return all.status();
  return run_gather(how, Kind::kGatherv, sendbuf, sendcount, sendtype, *all, root, comm);
}

Status scatter(const How& how, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
               MPI_Count recvcount, MPI_Datatype recvtype, int root, Communicator& comm) {
  VICINITY_TRY(check_root(comm, root));
  Result<Blocks> all = Blocks();
  if (is_root(comm, root)) all = equal_blocks(sendbuf, sendcount, sendtype, comm.peers().size(), kSendNames);
  if (!all.ok()) return all.status();
  return run_scatter(how, Kind::kScatter, *all, recvbuf, recvcount, recvtype, root, comm);
}

Status scatterv(const How& how, const void* sendbuf, CountArray sendcounts, CountArray displs,
                MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                Communicator& comm) {
  VICINITY_TRY(check_root(comm, root));
  Result<Blocks> all = Blocks();
  if (is_root(comm, root))
    all = varied_blocks(sendbuf, sendcounts, displs, sendtype, comm.peers().size(), kSendNamesV);
  if (!all.ok()) return all.status();
  return run_scatter(how, Kind::kScatterv, *all, recvbuf, recvcount, recvtype, root, comm);
}

Status allgather(const How& how, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                 void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, Communicator& comm) {
  Result<Blocks> all = equal_blocks(recvbuf, recvcount, recvtype, comm.peers().size(), kRecvNames);
  if (!all.ok()) return all.status();
  return run_allgather(how, Kind::kAllgather, sendbuf, sendcount, sendtype, *all, comm);
}

Status allgatherv(const How& how, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                  void* recvbuf, CountArray recvcounts, CountArray displs, MPI_Datatype recvtype,
                  Communicator& comm) {
  Result<Blocks> all = varied_blocks(recvbuf, recvcounts, displs, recvtype, comm.peers().size(), kRecvNamesV);
  if (!all.ok()) return all.status();
  return run_allgather(how, Kind::kAllgatherv, sendbuf, sendcount, sendtype, *all, comm);
}

Status alltoall(const How& how, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, Communicator& comm) {
  const int ranks = comm.peers().size();
  Result<Blocks> recv = equal_blocks(recvbuf, recvcount, recvtype, ranks, kRecvNames);
  if (!recv.ok()) return recv.status();
  const bool in_place = alltoall_in_place(sendbuf, comm);
  Result<Blocks> send = Blocks();
  if (!in_place) send = equal_blocks(sendbuf, sendcount, sendtype, ranks, kSendNames);
  if (!send.ok()) return send.status();
  return run_alltoall(how, Kind::kAlltoall, in_place, *send, *recv, comm);
}

Status alltoallv(const How& how, const void* sendbuf, CountArray sendcounts, CountArray sdispls,
                 MPI_Datatype sendtype, void* recvbuf, CountArray recvcounts, CountArray rdispls,
                 MPI_Datatype recvtype, Communicator& comm) {
  const int ranks = comm.peers().size();
  Result<Blocks> recv = varied_blocks(recvbuf, recvcounts, rdispls, recvtype, ranks, kRecvNamesAll);
  if (!recv.ok()) return recv.status();
  const bool in_place = alltoall_in_place(sendbuf, comm);
  Result<Blocks> send = Blocks();
  if (!in_place) send = varied_blocks(sendbuf, sendcounts, sdispls, sendtype, ranks, kSendNamesAll);
  if (!send.ok()) return send.status();
  return run_alltoall(how, Kind::kAlltoallv, in_place, *send, *recv, comm);
}

Status alltoallw(const How& how, const void* sendbuf, CountArray sendcounts, CountArray sdispls,
                 const MPI_Datatype* sendtypes, void* recvbuf, CountArray recvcounts, CountArray rdispls,
                 const MPI_Datatype* recvtypes, Communicator& comm) {
  const int ranks = comm.peers().size();
  Result<Blocks> recv = mixed_blocks(recvbuf, recvcounts, rdispls, recvtypes, ranks, kRecvNamesW);
  if (!recv.ok()) return recv.status();
  const bool in_place = alltoall_in_place(sendbuf, comm);
  Result<Blocks> send = Blocks();
  if (!in_place) send = mixed_blocks(sendbuf, sendcounts, sdispls, sendtypes, ranks, kSendNamesW);
  if (!send.ok()) return send.status();
  return run_alltoall(how, Kind::kAlltoallw, in_place, *send, *recv, comm);
}

}  // namespace vicinity::coll::call
