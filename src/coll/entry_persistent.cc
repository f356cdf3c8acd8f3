// SPDX-License-Identifier: BSD-3-Clause
// MPI 5.0, 6.13: persistent collectives. No hints are known, so the info argument changes nothing.
#include "coll/calls.h"
#include "entry_coll.h"

namespace vicinity::coll::entry {

using object::CountArray;
using object::Info;

Status barrier_init(Communicator& comm, Info*, MPI_Request* request) {
  return call::barrier({Form::kPersistent, request}, comm);
}

Status bcast_init(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, Communicator& comm, Info*,
                  MPI_Request* request) {
  return call::bcast({Form::kPersistent, request}, buffer, count, datatype, root, comm);
}

Status gather_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, int root, Communicator& comm, Info*,
                   MPI_Request* request) {
  return call::gather({Form::kPersistent, request}, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                      recvtype, root, comm);
}

Status gatherv_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                    CountArray recvcounts, CountArray displs, MPI_Datatype recvtype, int root,
                    Communicator& comm, Info*, MPI_Request* request) {
  return call::gatherv({Form::kPersistent, request}, sendbuf, sendcount, sendtype, recvbuf, recvcounts,
                       displs, recvtype, root, comm);
}

Status scatter_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                    MPI_Count recvcount, MPI_Datatype recvtype, int root, Communicator& comm, Info*,
                    MPI_Request* request) {
  return call::scatter({Form::kPersistent, request}, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                       recvtype, root, comm);
}

Status scatterv_init(const void* sendbuf, CountArray sendcounts, CountArray displs, MPI_Datatype sendtype,
                     void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, Communicator& comm,
                     Info*, MPI_Request* request) {
  return call::scatterv({Form::kPersistent, request}, sendbuf, sendcounts, displs, sendtype, recvbuf,
                        recvcount, recvtype, root, comm);
}

Status allgather_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                      MPI_Count recvcount, MPI_Datatype recvtype, Communicator& comm, Info*,
                      MPI_Request* request) {
  return call::allgather({Form::kPersistent, request}, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                         recvtype, comm);
}

Status allgatherv_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                       CountArray recvcounts, CountArray displs, MPI_Datatype recvtype, Communicator& comm,
                       Info*, MPI_Request* request) {
  return call::allgatherv({Form::kPersistent, request}, sendbuf, sendcount, sendtype, recvbuf, recvcounts,
                          displs, recvtype, comm);
}

Status alltoall_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, Communicator& comm, Info*,
                     MPI_Request* request) {
  return call::alltoall({Form::kPersistent, request}, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                        recvtype, comm);
}

Status alltoallv_init(const void* sendbuf, CountArray sendcounts, CountArray sdispls, MPI_Datatype sendtype,
                      void* recvbuf, CountArray recvcounts, CountArray rdispls, MPI_Datatype recvtype,
                      Communicator& comm, Info*, MPI_Request* request) {
  return call::alltoallv({Form::kPersistent, request}, sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                         recvcounts, rdispls, recvtype, comm);
}

Status alltoallw_init(const void* sendbuf, CountArray sendcounts, CountArray sdispls,
                      const MPI_Datatype* sendtypes, void* recvbuf, CountArray recvcounts, CountArray rdispls,
                      const MPI_Datatype* recvtypes, Communicator& comm, Info*, MPI_Request* request) {
  return call::alltoallw({Form::kPersistent, request}, sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
                         recvcounts, rdispls, recvtypes, comm);
}

Status allreduce_init(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, Op& op,
                      Communicator& comm, Info*, MPI_Request* request) {
  return call::allreduce({Form::kPersistent, request}, sendbuf, recvbuf, count, datatype, op, comm);
}

Status reduce_init(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, Op& op,
                   int root, Communicator& comm, Info*, MPI_Request* request) {
  return call::reduce({Form::kPersistent, request}, sendbuf, recvbuf, count, datatype, op, root, comm);
}

Status reduce_scatter_init(const void* sendbuf, void* recvbuf, CountArray recvcounts, MPI_Datatype datatype,
                           Op& op, Communicator& comm, Info*, MPI_Request* request) {
  return call::reduce_scatter({Form::kPersistent, request}, sendbuf, recvbuf, recvcounts, datatype, op, comm);
}

Status reduce_scatter_block_init(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                                 MPI_Datatype datatype, Op& op, Communicator& comm, Info*,
                                 MPI_Request* request) {
  return call::reduce_scatter_block({Form::kPersistent, request}, sendbuf, recvbuf, recvcount, datatype, op,
                                    comm);
}

Status scan_init(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, Op& op,
                 Communicator& comm, Info*, MPI_Request* request) {
  return call::scan({Form::kPersistent, request}, sendbuf, recvbuf, count, datatype, op, comm);
}

Status exscan_init(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, Op& op,
                   Communicator& comm, Info*, MPI_Request* request) {
  return call::exscan({Form::kPersistent, request}, sendbuf, recvbuf, count, datatype, op, comm);
}

}  // namespace vicinity::coll::entry
