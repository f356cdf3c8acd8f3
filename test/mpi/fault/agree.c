// SPDX-License-Identifier: BSD-3-Clause
// Agreement and shrinking where nobody dies: of one process, of many, between two groups; with requests too.
#include <mpi-ext.h>

#include "check.h"

static void check(MPI_Comm comm) {
  MPI_Comm copy, left, later;
  MPI_Request request;
  MPI_Group gone;
  int inter, members, others = 0, count, flag, left_size, remote = 0;
  OK(MPI_Comm_dup(comm, &copy));
  OK(MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN));
  OK(MPI_Comm_test_inter(copy, &inter));
  OK(MPI_Comm_size(copy, &members));
  if (inter) OK(MPI_Comm_remote_size(copy, &others));
  OK(MPIX_Comm_get_failed(copy, &gone));
  OK(MPI_Group_size(gone, &count));
  EQUAL(count, 0);
  OK(MPI_Group_free(&gone));
  OK(MPIX_Comm_ack_failed(copy, members, &count));
  EQUAL(count, 0);
  for (int i = -1; i < 5; i++) {
    flag = i;
    OK(MPIX_Comm_agree(copy, &flag));
    EQUAL(flag, i);
    OK(MPIX_Comm_iagree(copy, &flag, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    EQUAL(flag, i);
  }
  // Two at a time; what each gives counts.
  int mine = rank == 0 ? 11 : 13, second = 7;
  MPI_Request both[2];
  OK(MPIX_Comm_iagree(copy, &mine, &both[0]));
  OK(MPIX_Comm_iagree(copy, &second, &both[1]));
  OK(MPI_Waitall(2, both, MPI_STATUSES_IGNORE));
  if (!inter) EQUAL(mine, members > 1 ? 9 : rank == 0 ? 11 : 13);
  EQUAL(second, 7);
  OK(MPIX_Comm_shrink(copy, &left));
  OK(MPIX_Comm_ishrink(copy, &later, &request));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  for (int i = 0; i < 2; i++) {
    MPI_Comm* made = i ? &later : &left;
    OK(MPI_Comm_size(*made, &left_size));
    EQUAL(left_size, members);
    if (inter) OK(MPI_Comm_remote_size(*made, &remote));
    EQUAL(remote, others);
    OK(MPI_Barrier(*made));
    OK(MPI_Comm_free(made));
  }
  OK(MPIX_Comm_revoke(copy));
  FAILS(MPIX_ERR_REVOKED, MPI_Barrier(copy));
  OK(MPIX_Comm_shrink(copy, &left));
  OK(MPI_Barrier(left));
  OK(MPI_Comm_free(&left));
  OK(MPI_Comm_free(&copy));
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  check(MPI_COMM_SELF);
  check(MPI_COMM_WORLD);
  if (size > 1) {
    MPI_Comm half, inter;
    const int upper = rank >= size / 2;
    OK(MPI_Comm_split(MPI_COMM_WORLD, upper, 0, &half));
    OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, upper ? 0 : size / 2, 5, &inter));
    check(inter);
    OK(MPI_Comm_free(&half));
    OK(MPI_Comm_free(&inter));
  }
  return finish();
}
