// SPDX-License-Identifier: BSD-3-Clause
// Revocation without any death: whatever waits ends, other communicators do not notice.
#include <mpi-ext.h>
#include <unistd.h>

#include "check.h"

enum { kBig = 1 << 20 };
static char big[kBig];

static void interrupted(MPI_Comm comm, int how) {
  MPI_Request request[2];
  int flag = 0;
  switch (how) {
    case 0:
      FAILS(MPIX_ERR_REVOKED, MPI_Recv(big, kBig, MPI_CHAR, 0, 1, comm, MPI_STATUS_IGNORE));
      break;
    case 1:
      FAILS(MPIX_ERR_REVOKED, MPI_Recv(big, kBig, MPI_CHAR, MPI_ANY_SOURCE, 1, comm, MPI_STATUS_IGNORE));
      break;
    case 2:
      FAILS(MPIX_ERR_REVOKED, MPI_Ssend(big, 1, MPI_CHAR, 0, 1, comm));
      break;
    case 3:
      FAILS(MPIX_ERR_REVOKED, MPI_Send(big, kBig, MPI_CHAR, 0, 1, comm));
      break;
    case 4:
      FAILS(MPIX_ERR_REVOKED, MPI_Probe(0, 1, comm, MPI_STATUS_IGNORE));
      break;
    case 5:
      FAILS(MPIX_ERR_REVOKED, MPI_Barrier(comm));
      break;
    case 6:
      FAILS(MPIX_ERR_REVOKED, MPI_Allreduce(MPI_IN_PLACE, big, kBig, MPI_BYTE, MPI_BOR, comm));
      break;
    default:
      OK(MPI_Irecv(big, 1, MPI_CHAR, 0, 1, comm, &request[0]));
      OK(MPI_Ibarrier(comm, &request[1]));
      FAILS(MPI_ERR_IN_STATUS, MPI_Waitall(2, request, MPI_STATUSES_IGNORE));
  }
  OK(MPIX_Comm_is_revoked(comm, &flag));
  EQUAL(flag, 1);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  MPI_Comm other, comm, half;
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &other));
  MPI_Request quiet;
  int value = -1;
  OK(MPI_Irecv(&value, 1, MPI_INT, (rank + 1) % size, 9, other, &quiet));
  for (int how = 0; how < 8; ++how) {
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Barrier(comm));
    OK(MPI_Barrier(other));  // nobody is in the barrier before any more
    if (rank == 0) {
      usleep(50000);
      OK(MPIX_Comm_revoke(comm));
      OK(MPIX_Comm_revoke(comm));  // once more changes nothing
    } else {
      interrupted(comm, how);
    }
    FAILS(MPIX_ERR_REVOKED, MPI_Comm_dup(comm, &half));
    FAILS(MPIX_ERR_REVOKED, MPI_Comm_split(comm, 0, 0, &half));
    int members = 0;
    MPI_Group group;
    OK(MPI_Comm_size(comm, &members));
    EQUAL(members, size);
    OK(MPI_Comm_group(comm, &group));
    OK(MPI_Group_free(&group));
    OK(MPIX_Comm_shrink(comm, &half));
    OK(MPI_Barrier(half));
    OK(MPI_Comm_free(&half));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Barrier(other));
  }
  OK(MPI_Send(&rank, 1, MPI_INT, (rank + size - 1) % size, 9, other));
  OK(MPI_Wait(&quiet, MPI_STATUS_IGNORE));
  EQUAL(value, (rank + 1) % size);
  OK(MPI_Comm_free(&other));
  // The world itself: what the library does at the end does not need it.
  if (rank == size - 1) OK(MPIX_Comm_revoke(MPI_COMM_WORLD));
  int is = 0;
  while (!is) OK(MPIX_Comm_is_revoked(MPI_COMM_WORLD, &is));
  FAILS(MPIX_ERR_REVOKED, MPI_Barrier(MPI_COMM_WORLD));
  return finish();
}
