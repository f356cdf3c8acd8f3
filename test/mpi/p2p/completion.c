// SPDX-License-Identifier: BSD-3-Clause
// All the forms of wait and test: empty sets, null and inactive requests, indices, statuses, get_status.
#include "check.h"

static void empty_sets(void) {
  MPI_Request none[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status status, statuses[3];
  int flag = 0, index = 3, count = 7, indices[3];
  OK(MPI_Wait(&none[0], &status));
  EQUAL(status.MPI_SOURCE, MPI_ANY_SOURCE);
  EQUAL(status.MPI_TAG, MPI_ANY_TAG);
  OK(MPI_Get_count(&status, MPI_INT, &count));
  EQUAL(count, 0);
  OK(MPI_Test(&none[0], &flag, &status));
  EQUAL(flag, 1);
  OK(MPI_Waitall(3, none, statuses));
  OK(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE));
  OK(MPI_Waitany(3, none, &index, &status));
  EQUAL(index, MPI_UNDEFINED);
  flag = 0, index = 3;
  OK(MPI_Testany(3, none, &index, &flag, &status));
  EQUAL(flag, 1);
  EQUAL(index, MPI_UNDEFINED);
  OK(MPI_Waitsome(3, none, &count, indices, statuses));
  EQUAL(count, MPI_UNDEFINED);
  OK(MPI_Testsome(0, NULL, &count, NULL, MPI_STATUSES_IGNORE));
  EQUAL(count, MPI_UNDEFINED);
  flag = 0;
  OK(MPI_Testall(3, none, &flag, statuses));
  EQUAL(flag, 1);
  OK(MPI_Request_get_status(MPI_REQUEST_NULL, &flag, &status));
  EQUAL(flag, 1);
}

static void some(void) {
  enum { kCount = 5 };
  MPI_Request requests[kCount];
  MPI_Status statuses[kCount];
  int value[kCount] = {0}, indices[kCount], count = 0, flag = 0, index = -1;
  if (rank == 0) {
    for (int i = 0; i < kCount; i++) OK(MPI_Irecv(&value[i], 1, MPI_INT, 1, i, MPI_COMM_WORLD, &requests[i]));
    OK(MPI_Testany(kCount, requests, &index, &flag, &statuses[0]));
    EQUAL(flag, 0);
    EQUAL(index, MPI_UNDEFINED);
    OK(MPI_Testall(kCount, requests, &flag, statuses));
    EQUAL(flag, 0);
    OK(MPI_Testsome(kCount, requests, &count, indices, statuses));
    EQUAL(count, 0);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Waitany(kCount, requests, &index, &statuses[0]));  // only 3 is sent first
    EQUAL(index, 3);
    EQUAL(statuses[0].MPI_TAG, 3);
    CHECK(requests[3] == MPI_REQUEST_NULL);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    int seen = 0;
    while (seen < kCount - 1) {
      OK(MPI_Waitsome(kCount, requests, &count, indices, statuses));
      CHECK(count > 0);
      for (int i = 0; i < count; i++) {
        EQUAL(statuses[i].MPI_TAG, indices[i]);
        CHECK(indices[i] != 3);
        CHECK(requests[indices[i]] == MPI_REQUEST_NULL);
      }
      seen += count;
    }
    for (int i = 0; i < kCount; i++) EQUAL(value[i], 100 + i);
  } else {
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int k = 0; rank == 1 && k < kCount; k++) {
      int i = (k + 3) % kCount, number = 100 + i;
      OK(MPI_Send(&number, 1, MPI_INT, 0, i, MPI_COMM_WORLD));
      if (k == 0) OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    if (rank > 1) OK(MPI_Barrier(MPI_COMM_WORLD));
  }
}

static void get_status(void) {
  MPI_Request request;
  MPI_Status status;
  int in = 0, out = 42, flag = 0, count = 0;
  OK(MPI_Irecv(&in, 1, MPI_INT, rank, 6, MPI_COMM_WORLD, &request));
  OK(MPI_Request_get_status(request, &flag, &status));
  EQUAL(flag, 0);
  OK(MPI_Send(&out, 1, MPI_INT, rank, 6, MPI_COMM_WORLD));
  while (!flag) OK(MPI_Request_get_status(request, &flag, &status));
  CHECK(request != MPI_REQUEST_NULL);  // it does not free
  EQUAL(status.MPI_TAG, 6);
  OK(MPI_Wait(&request, &status));
  OK(MPI_Get_count(&status, MPI_INT, &count));
  EQUAL(count, 1);
  EQUAL(in, 42);
}

// A request freed while active: the transfer still happens.
static void freed(void) {
  static char big[400000];
  MPI_Request request;
  int peer = rank ^ 1;
  if (peer >= size) return;
  fill(big, sizeof big, 3);
  if (rank % 2 == 0) {
    OK(MPI_Isend(big, sizeof big, MPI_BYTE, peer, 8, MPI_COMM_WORLD, &request));
    OK(MPI_Request_free(&request));
    CHECK(request == MPI_REQUEST_NULL);
    OK(MPI_Recv(NULL, 0, MPI_BYTE, peer, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  } else {
    memset(big, 0, sizeof big);
    OK(MPI_Recv(big, sizeof big, MPI_BYTE, peer, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    EQUAL(wrong(big, sizeof big, 3), 0);
    OK(MPI_Send(NULL, 0, MPI_BYTE, peer, 9, MPI_COMM_WORLD));
  }
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  empty_sets();
  some();
  get_status();
  freed();
  return finish();
}
