// SPDX-License-Identifier: BSD-3-Clause
// The collectives of MPI 5.0, chapters 6 and 8, each in all its forms: what MPI_Bcast, MPI_Ibcast and
// MPI_Bcast_init have in common is call::bcast. Arguments are checked, MPI_IN_PLACE is resolved, the schedule
// is built, and `how` says what becomes of it. The entries of the doors are in entry_*.cc.
#pragma once

#include "coll/state.h"
#include "object/communicator.h"

namespace vicinity::coll::call {

using object::CountArray;

Status barrier(const How& how, Communicator& comm);
Status bcast(const How& how, void* buffer, MPI_Count count, MPI_Datatype datatype, int root,
             Communicator& comm);
Status gather(const How& how, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
              MPI_Count recvcount, MPI_Datatype recvtype, int root, Communicator& comm);
Status gatherv(const How& how, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
               CountArray recvcounts, CountArray displs, MPI_Datatype recvtype, int root, Communicator& comm);
Status scatter(const How& how, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
               MPI_Count recvcount, MPI_Datatype recvtype, int root, Communicator& comm);
Status scatterv(const How& how, const void* sendbuf, CountArray sendcounts, CountArray displs,
                MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                Communicator& comm);
Status allgather(const How& how, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                 void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, Communicator& comm);
Status allgatherv(const How& how, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                  void* recvbuf, CountArray recvcounts, CountArray displs, MPI_Datatype recvtype,
                  Communicator& comm);
Status alltoall(const How& how, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, Communicator& comm);
Status alltoallv(const How& how, const void* sendbuf, CountArray sendcounts, CountArray sdispls,
                 MPI_Datatype sendtype, void* recvbuf, CountArray recvcounts, CountArray rdispls,
                 MPI_Datatype recvtype, Communicator& comm);
Status alltoallw(const How& how, const void* sendbuf, CountArray sendcounts, CountArray sdispls,
                 const MPI_Datatype* sendtypes, void* recvbuf, CountArray recvcounts, CountArray rdispls,
                 const MPI_Datatype* recvtypes, Communicator& comm);
Status allreduce(const How& how, const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                 Op& op, Communicator& comm);
Status reduce(const How& how, const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
              Op& op, int root, Communicator& comm);
Status reduce_scatter(const How& how, const void* sendbuf, void* recvbuf, CountArray recvcounts,
                      MPI_Datatype datatype, Op& op, Communicator& comm);
Status reduce_scatter_block(const How& how, const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                            MPI_Datatype datatype, Op& op, Communicator& comm);
Status scan(const How& how, const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
            Op& op, Communicator& comm);
Status exscan(const How& how, const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
              Op& op, Communicator& comm);
Status neighbor_allgather(const How& how, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                          void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, Communicator& comm);
Status neighbor_allgatherv(const How& how, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                           void* recvbuf, CountArray recvcounts, CountArray displs, MPI_Datatype recvtype,
                           Communicator& comm);
Status neighbor_alltoall(const How& how, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                         void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, Communicator& comm);
Status neighbor_alltoallv(const How& how, const void* sendbuf, CountArray sendcounts, CountArray sdispls,
                          MPI_Datatype sendtype, void* recvbuf, CountArray recvcounts, CountArray rdispls,
                          MPI_Datatype recvtype, Communicator& comm);
Status neighbor_alltoallw(const How& how, const void* sendbuf, CountArray sendcounts, const MPI_Aint* sdispls,
                          const MPI_Datatype* sendtypes, void* recvbuf, CountArray recvcounts,
                          const MPI_Aint* rdispls, const MPI_Datatype* recvtypes, Communicator& comm);

}  // namespace vicinity::coll::call
