// SPDX-License-Identifier: BSD-3-Clause
// A message longer than the receive: MPI_ERR_TRUNCATE, nothing written beyond, and life goes on.
#include "check.h"

static void one(int sent, int room, int early) {
  unsigned char* data = malloc(sent + 64);
  if (rank == 0) {
    fill(data, sent, 5);
    if (early) OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Send(data, sent, MPI_BYTE, 1, 4, MPI_COMM_WORLD));
    if (!early) OK(MPI_Barrier(MPI_COMM_WORLD));
    int value = 77;
    OK(MPI_Send(&value, 1, MPI_INT, 1, 4, MPI_COMM_WORLD));
  } else if (rank == 1) {
    MPI_Request request;
    int value = 0;
    memset(data, 0xcc, sent + 64);
    if (early) {
      OK(MPI_Irecv(data, room, MPI_BYTE, 0, 4, MPI_COMM_WORLD, &request));
      OK(MPI_Barrier(MPI_COMM_WORLD));
    } else {
      if (sent <= 1000) OK(MPI_Barrier(MPI_COMM_WORLD));
      OK(MPI_Irecv(data, room, MPI_BYTE, 0, 4, MPI_COMM_WORLD, &request));
    }
    FAILS(MPI_ERR_TRUNCATE, MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(request == MPI_REQUEST_NULL);
    if (!early && sent > 1000) OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = room; i < sent + 64; i++)
      if (data[i] != 0xcc) {
        EQUAL(data[i], 0xcc);
        break;
      }
    OK(MPI_Recv(&value, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    EQUAL(value, 77);
  }
  free(data);
}

static void in_waitall(void) {
  int value[4] = {1, 2, 3, 4};
  if (rank == 0) {
    for (int i = 0; i < 3; i++) OK(MPI_Send(value, i == 1 ? 4 : 1, MPI_INT, 1, i, MPI_COMM_WORLD));
  } else if (rank == 1) {
    MPI_Request requests[3];
    MPI_Status statuses[3];
    for (int i = 0; i < 3; i++) OK(MPI_Irecv(&value[i], 1, MPI_INT, 0, i, MPI_COMM_WORLD, &requests[i]));
    int code = MPI_Waitall(3, requests, statuses);
    EQUAL(class_of(code), MPI_ERR_IN_STATUS);
    EQUAL(class_of(statuses[1].MPI_ERROR), MPI_ERR_TRUNCATE);
    CHECK(statuses[0].MPI_ERROR == MPI_SUCCESS || statuses[0].MPI_ERROR == MPI_ERR_PENDING);
  }
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  for (int early = 0; early < 2; early++) {
    one(8, 4, early);
    one(8, 0, early);
    one(1000, 999, early);
    one(100000, 50000, early);
    one(3000000, 17, early);
  }
  in_waitall();
  return finish();
}
