// SPDX-License-Identifier: BSD-3-Clause
// MPI 5.0, 8.6 to 8.8: neighbourhood collectives, blocking, nonblocking and persistent.
#include "coll/calls.h"
#include "entry_coll.h"

namespace vicinity::coll::entry {

using object::CountArray;
using object::Info;

Status neighbor_allgather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                          MPI_Count recvcount, MPI_Datatype recvtype, Communicator& comm) {
  return call::neighbor_allgather({}, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

Status neighbor_allgatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                           CountArray recvcounts, CountArray displs, MPI_Datatype recvtype,
                           Communicator& comm) {
  return call::neighbor_allgatherv({}, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                                   comm);
}

Status neighbor_alltoall(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                         MPI_Count recvcount, MPI_Datatype recvtype, Communicator& comm) {
  return call::neighbor_alltoall({}, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

Status neighbor_alltoallv(const void* sendbuf, CountArray sendcounts, CountArray sdispls,
                          MPI_Datatype sendtype, void* recvbuf, CountArray recvcounts, CountArray rdispls,
                          MPI_Datatype recvtype, Communicator& comm) {
  return call::neighbor_alltoallv({}, sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                                  recvtype, comm);
}

Status neighbor_alltoallw(const void* sendbuf, CountArray sendcounts, const MPI_Aint* sdispls,
                          const MPI_Datatype* sendtypes, void* recvbuf, CountArray recvcounts,
                          const MPI_Aint* rdispls, const MPI_Datatype* recvtypes, Communicator& comm) {
  return call::neighbor_alltoallw({}, sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                                  recvtypes, comm);
}

Status ineighbor_allgather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                           MPI_Count recvcount, MPI_Datatype recvtype, Communicator& comm,
                           MPI_Request* request) {
  return call::neighbor_allgather({Form::kNonblocking, request}, sendbuf, sendcount, sendtype, recvbuf,
                                  recvcount, recvtype, comm);
}

Status ineighbor_allgatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                            CountArray recvcounts, CountArray displs, MPI_Datatype recvtype,
                            Communicator& comm, MPI_Request* request) {
  return call::neighbor_allgatherv({Form::kNonblocking, request}, sendbuf, sendcount, sendtype, recvbuf,
                                   recvcounts, displs, recvtype, comm);
}

Status ineighbor_alltoall(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                          MPI_Count recvcount, MPI_Datatype recvtype, Communicator& comm,
                          MPI_Request* request) {
  return call::neighbor_alltoall({Form::kNonblocking, request}, sendbuf, sendcount, sendtype, recvbuf,
                                 recvcount, recvtype, comm);
}

Status ineighbor_alltoallv(const void* sendbuf, CountArray sendcounts, CountArray sdispls,
                           MPI_Datatype sendtype, void* recvbuf, CountArray recvcounts, CountArray rdispls,
                           MPI_Datatype recvtype, Communicator& comm, MPI_Request* request) {
  return call::neighbor_alltoallv({Form::kNonblocking, request}, sendbuf, sendcounts, sdispls, sendtype,
                                  recvbuf, recvcounts, rdispls, recvtype, comm);
}

Status ineighbor_alltoallw(const void* sendbuf, CountArray sendcounts, const MPI_Aint* sdispls,
                           const MPI_Datatype* sendtypes, void* recvbuf, CountArray recvcounts,
                           const MPI_Aint* rdispls, const MPI_Datatype* recvtypes, Communicator& comm,
                           MPI_Request* request) {
  return call::neighbor_alltoallw({Form::kNonblocking, request}, sendbuf, sendcounts, sdispls, sendtypes,
                                  recvbuf, recvcounts, rdispls, recvtypes, comm);
}

Status neighbor_allgather_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                               MPI_Count recvcount, MPI_Datatype recvtype, Communicator& comm, Info*,
                               MPI_Request* request) {
  return call::neighbor_allgather({Form::kPersistent, request}, sendbuf, sendcount, sendtype, recvbuf,
                                  recvcount, recvtype, comm);
}

Status neighbor_allgatherv_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                void* recvbuf, CountArray recvcounts, CountArray displs,
                                MPI_Datatype recvtype, Communicator& comm, Info*, MPI_Request* request) {
  return call::neighbor_allgatherv({Form::kPersistent, request}, sendbuf, sendcount, sendtype, recvbuf,
                                   recvcounts, displs, recvtype, comm);
}

Status neighbor_alltoall_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                              MPI_Count recvcount, MPI_Datatype recvtype, Communicator& comm, Info*,
                              MPI_Request* request) {
  return call::neighbor_alltoall({Form::kPersistent, request}, sendbuf, sendcount, sendtype, recvbuf,
                                 recvcount, recvtype, comm);
}

Status neighbor_alltoallv_init(const void* sendbuf, CountArray sendcounts, CountArray sdispls,
                               MPI_Datatype sendtype, void* recvbuf, CountArray recvcounts,
                               CountArray rdispls, MPI_Datatype recvtype, Communicator& comm, Info*,
                               MPI_Request* request) {
  return call::neighbor_alltoallv({Form::kPersistent, request}, sendbuf, sendcounts, sdispls, sendtype,
                                  recvbuf, recvcounts, rdispls, recvtype, comm);
}

Status neighbor_alltoallw_init(const void* sendbuf, CountArray sendcounts, const MPI_Aint* sdispls,
                               const MPI_Datatype* sendtypes, void* recvbuf, CountArray recvcounts,
                               const MPI_Aint* rdispls, const MPI_Datatype* recvtypes, Communicator& comm,
                               Info*, MPI_Request* request) {
  return call::neighbor_alltoallw({Form::kPersistent, request}, sendbuf, sendcounts, sdispls, sendtypes,
                                  recvbuf, recvcounts, rdispls, recvtypes, comm);
}

}  // namespace vicinity::coll::entry
