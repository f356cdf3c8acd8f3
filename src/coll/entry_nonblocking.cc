// SPDX-License-Identifier: BSD-3-Clause
// MPI 5.0, 6.12: nonblocking collectives.
#include "coll/calls.h"
#include "entry_coll.h"

namespace vicinity::coll::entry {

using object::CountArray;

Status ibarrier(Communicator& comm, MPI_Request* request) {
  return call::barrier({Form::kNonblocking, request}, comm);
}

Status ibcast(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, Communicator& comm,
              MPI_Request* request) {
  return call::bcast({Form::kNonblocking, request}, buffer, count, datatype, root, comm);
}

Status igather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
               MPI_Count recvcount, MPI_Datatype recvtype, int root, Communicator& comm,
               MPI_Request* request) {
  return call::gather({Form::kNonblocking, request}, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                      recvtype, root, comm);
}

Status igatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                CountArray recvcounts, CountArray displs, MPI_Datatype recvtype, int root, Communicator& comm,
                MPI_Request* request) {
  return call::gatherv({Form::kNonblocking, request}, sendbuf, sendcount, sendtype, recvbuf, recvcounts,
                       displs, recvtype, root, comm);
}

Status iscatter(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                MPI_Count recvcount, MPI_Datatype recvtype, int root, Communicator& comm,
                MPI_Request* request) {
  return call::scatter({Form::kNonblocking, request}, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                       recvtype, root, comm);
}

Status iscatterv(const void* sendbuf, CountArray sendcounts, CountArray displs, MPI_Datatype sendtype,
                 void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, Communicator& comm,
                 MPI_Request* request) {
  return call::scatterv({Form::kNonblocking, request}, sendbuf, sendcounts, displs, sendtype, recvbuf,
                        recvcount, recvtype, root, comm);
}

Status iallgather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                  MPI_Count recvcount, MPI_Datatype recvtype, Communicator& comm, MPI_Request* request) {
  return call::allgather({Form::kNonblocking, request}, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                         recvtype, comm);
}

Status iallgatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                   CountArray recvcounts, CountArray displs, MPI_Datatype recvtype, Communicator& comm,
                   MPI_Request* request) {
  return call::allgatherv({Form::kNonblocking, request}, sendbuf, sendcount, sendtype, recvbuf, recvcounts,
                          displs, recvtype, comm);
}

Status ialltoall(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                 MPI_Count recvcount, MPI_Datatype recvtype, Communicator& comm, MPI_Request* request) {
  return call::alltoall({Form::kNonblocking, request}, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                        recvtype, comm);
}

Status ialltoallv(const void* sendbuf, CountArray sendcounts, CountArray sdispls, MPI_Datatype sendtype,
                  void* recvbuf, CountArray recvcounts, CountArray rdispls, MPI_Datatype recvtype,
                  Communicator& comm, MPI_Request* request) {
  return call::alltoallv({Form::kNonblocking, request}, sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                         recvcounts, rdispls, recvtype, comm);
}

Status ialltoallw(const void* sendbuf, CountArray sendcounts, CountArray sdispls,
                  const MPI_Datatype* sendtypes, void* recvbuf, CountArray recvcounts, CountArray rdispls,
                  const MPI_Datatype* recvtypes, Communicator& comm, MPI_Request* request) {
  return call::alltoallw({Form::kNonblocking, request}, sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
                         recvcounts, rdispls, recvtypes, comm);
}

Status iallreduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, Op& op,
                  Communicator& comm, MPI_Request* request) {
  return call::allreduce({Form::kNonblocking, request}, sendbuf, recvbuf, count, datatype, op, comm);
}

Status ireduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, Op& op, int root,
               Communicator& comm, MPI_Request* request) {
  return call::reduce({Form::kNonblocking, request}, sendbuf, recvbuf, count, datatype, op, root, comm);
}

Status ireduce_scatter(const void* sendbuf, void* recvbuf, CountArray recvcounts, MPI_Datatype datatype,
                       Op& op, Communicator& comm, MPI_Request* request) {
  return call::reduce_scatter({Form::kNonblocking, request}, sendbuf, recvbuf, recvcounts, datatype, op,
                              comm);
}

Status ireduce_scatter_block(const void* sendbuf, void* recvbuf, MPI_Count recvcount, MPI_Datatype datatype,
                             Op& op, Communicator& comm, MPI_Request* request) {
  return call::reduce_scatter_block({Form::kNonblocking, request}, sendbuf, recvbuf, recvcount, datatype, op,
                                    comm);
}

Status iscan(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, Op& op,
             Communicator& comm, MPI_Request* request) {
  return call::scan({Form::kNonblocking, request}, sendbuf, recvbuf, count, datatype, op, comm);
}

Status iexscan(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, Op& op,
               Communicator& comm, MPI_Request* request) {
  return call::exscan({Form::kNonblocking, request}, sendbuf, recvbuf, count, datatype, op, comm);
}

}  // namespace vicinity::coll::entry
