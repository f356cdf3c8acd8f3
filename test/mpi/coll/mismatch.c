// SPDX-License-Identifier: BSD-3-Clause
// Ranks call different collectives: one of them says so, and the job ends. The argument picks the case.
#include <string.h>
#include <unistd.h>

#include "check.h"

// Nothing is wrong here: ranks that wait for very long, with messages of other calls lying about.
static void correct(int rank) {
  enum { kCalls = 8 };
  int in[kCalls] = {0}, out[kCalls], sum;
  MPI_Request requests[kCalls], later[2];
  for (int i = 0; i < 2; i++)
    MPI_Allreduce_init(in + i, out + i, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, later + i);
  for (int round = 0; round < 2; round++) {
    MPI_Startall(2, later);
    for (int i = 2; i < kCalls; i++) {
      if (rank == 1 && i == 4) usleep(900000);
      MPI_Iallreduce(in + i, out + i, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[i]);
    }
    if (rank == 0) usleep(300000);
    MPI_Allreduce(in, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 1) usleep(900000);
    MPI_Allreduce(in, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Waitall(kCalls - 2, requests + 2, MPI_STATUSES_IGNORE);
    MPI_Waitall(2, later, MPI_STATUSES_IGNORE);
  }
  for (int i = 0; i < 2; i++) MPI_Request_free(later + i);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size, in[64] = {0}, out[64];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* which = argc > 1 ? argv[1] : "";
  MPI_Barrier(MPI_COMM_WORLD);
  if (!strcmp(which, "kind")) {  // the last rank sends, the others wait for what it does not send
    if (rank == size - 1) MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    else MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  } else if (!strcmp(which, "silent")) {  // all wait, nobody has sent
    if (rank == 0) MPI_Gather(in, 1, MPI_INT, out, 1, MPI_INT, 0, MPI_COMM_WORLD);
    else MPI_Scatter(in, 1, MPI_INT, out, 1, MPI_INT, 0, MPI_COMM_WORLD);
  } else if (!strcmp(which, "root")) {
    MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, rank == 0 ? 0 : 1, MPI_COMM_WORLD);
  } else if (!strcmp(which, "count")) {
    MPI_Bcast(in, rank == 0 ? 1 : 2, MPI_INT, 0, MPI_COMM_WORLD);
  } else if (!strcmp(which, "form")) {  // MPI_Barrier does not match MPI_Ibarrier (6.12)
    MPI_Request request;
    if (rank == 0) MPI_Barrier(MPI_COMM_WORLD);
    else MPI_Ibarrier(MPI_COMM_WORLD, &request), MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (!strcmp(which, "ikind")) {  // as "kind", nonblocking
    MPI_Request request;
    if (rank == size - 1) MPI_Ireduce(in, out, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD, &request);
    else MPI_Iallreduce(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (!strcmp(which, "later")) {  // with a nonblocking one under way everywhere, as "kind"
    MPI_Request request;
    MPI_Iallreduce(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    if (rank == size - 1) MPI_Reduce(in, out + 1, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    else MPI_Allreduce(in, out + 1, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (!strcmp(which, "none")) {
    correct(rank);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  if (rank == 0) puts("ok");
  return 0;
}
