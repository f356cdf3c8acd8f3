// SPDX-License-Identifier: BSD-3-Clause
// MPI 5.0, 6.3 to 6.11: blocking collectives.
#include "coll/calls.h"
#include "entry_coll.h"

namespace vicinity::coll::entry {

using object::CountArray;

Status barrier(Communicator& comm) { return call::barrier({}, comm); }

Status bcast(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, Communicator& comm) {
  return call::bcast({}, buffer, count, datatype, root, comm);
}

Status gather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
              MPI_Count recvcount, MPI_Datatype recvtype, int root, Communicator& comm) {
  return call::gather({}, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

Status gatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
               CountArray recvcounts, CountArray displs, MPI_Datatype recvtype, int root,
               Communicator& comm) {
  return call::gatherv({}, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm);
}

Status scatter(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
               MPI_Count recvcount, MPI_Datatype recvtype, int root, Communicator& comm) {
  return call::scatter({}, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

Status scatterv(const void* sendbuf, CountArray sendcounts, CountArray displs, MPI_Datatype sendtype,
                void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, Communicator& comm) {
  return call::scatterv({}, sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

Status allgather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                 MPI_Count recvcount, MPI_Datatype recvtype, Communicator& comm) {
  return call::allgather({}, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

Status allgatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                  CountArray recvcounts, CountArray displs, MPI_Datatype recvtype, Communicator& comm) {
  return call::allgatherv({}, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm);
}

Status alltoall(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                MPI_Count recvcount, MPI_Datatype recvtype, Communicator& comm) {
  return call::alltoall({}, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

Status alltoallv(const void* sendbuf, CountArray sendcounts, CountArray sdispls, MPI_Datatype sendtype,
                 void* recvbuf, CountArray recvcounts, CountArray rdispls, MPI_Datatype recvtype,
                 Communicator& comm) {
  return call::alltoallv({}, sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
                         comm);
}

Status alltoallw(const void* sendbuf, CountArray sendcounts, CountArray sdispls,
                 const MPI_Datatype* sendtypes, void* recvbuf, CountArray recvcounts, CountArray rdispls,
                 const MPI_Datatype* recvtypes, Communicator& comm) {
  return call::alltoallw({}, sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes,
                         comm);
}

Status allreduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, Op& op,
                 Communicator& comm) {
  return call::allreduce({}, sendbuf, recvbuf, count, datatype, op, comm);
}

Status reduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, Op& op, int root,
              Communicator& comm) {
  return call::reduce({}, sendbuf, recvbuf, count, datatype, op, root, comm);
}

Status reduce_scatter(const void* sendbuf, void* recvbuf, CountArray recvcounts, MPI_Datatype datatype,
                      Op& op, Communicator& comm) {
  return call::reduce_scatter({}, sendbuf, recvbuf, recvcounts, datatype, op, comm);
}

Status reduce_scatter_block(const void* sendbuf, void* recvbuf, MPI_Count recvcount, MPI_Datatype datatype,
                            Op& op, Communicator& comm) {
  return call::reduce_scatter_block({}, sendbuf, recvbuf, recvcount, datatype, op, comm);
}

Status scan(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, Op& op,
            Communicator& comm) {
  return call::scan({}, sendbuf, recvbuf, count, datatype, op, comm);
}

Status exscan(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, Op& op,
              Communicator& comm) {
  return call::exscan({}, sendbuf, recvbuf, count, datatype, op, comm);
}

}  // namespace vicinity::coll::entry
