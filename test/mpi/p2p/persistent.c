// SPDX-License-Identifier: BSD-3-Clause
// Persistent requests of every mode: started many times, complete into inactive, freed once.
#include "check.h"

enum { kModes = 4, kCount = 20000 };

int main(int argc, char** argv) {
  begin(&argc, &argv);
  static int out[kModes][kCount], in[kModes][kCount];
  MPI_Request requests[2 * kModes];
  MPI_Status statuses[2 * kModes];
  int right = (rank + 1) % size, left = (rank + size - 1) % size,
      room = 2 * (sizeof out[0] + MPI_BSEND_OVERHEAD);
  void* space = malloc(room);
  OK(MPI_Buffer_attach(space, room));
  OK(MPI_Send_init(out[0], kCount, MPI_INT, right, 0, MPI_COMM_WORLD, &requests[kModes + 0]));
  OK(MPI_Ssend_init(out[1], kCount, MPI_INT, right, 1, MPI_COMM_WORLD, &requests[kModes + 1]));
  OK(MPI_Bsend_init(out[2], 100, MPI_INT, right, 2, MPI_COMM_WORLD, &requests[kModes + 2]));
  OK(MPI_Rsend_init(out[3], 7, MPI_INT, right, 3, MPI_COMM_WORLD, &requests[kModes + 3]));
  for (int i = 0; i < kModes; i++)
    OK(MPI_Recv_init(in[i], kCount, MPI_INT, i == 1 ? MPI_ANY_SOURCE : left, i, MPI_COMM_WORLD,
                     &requests[i]));
  // An inactive request completes at once with an empty status.
  int flag = 0, index = 5, count = -1;
  OK(MPI_Test(&requests[0], &flag, &statuses[0]));
  EQUAL(flag, 1);
  EQUAL(statuses[0].MPI_SOURCE, MPI_ANY_SOURCE);
  EQUAL(statuses[0].MPI_TAG, MPI_ANY_TAG);
  OK(MPI_Waitany(kModes, requests, &index, &statuses[0]));
  EQUAL(index, MPI_UNDEFINED);
  for (int round = 0; round < 10; round++) {
    for (int i = 0; i < kModes; i++)
      for (int k = 0; k < kCount; k++) out[i][k] = rank * 1000003 + round * 1009 + i * 101 + k, in[i][k] = -1;
    OK(MPI_Startall(kModes, requests));
    OK(MPI_Barrier(MPI_COMM_WORLD));  // receives are posted: ready sends are right
    for (int i = 0; i < kModes; i++) OK(MPI_Start(&requests[kModes + i]));
    OK(MPI_Waitall(2 * kModes, requests, statuses));
    for (int i = 0; i < kModes; i++) {
      int wanted = i == 2 ? 100 : i == 3 ? 7 : kCount;
      OK(MPI_Get_count(&statuses[i], MPI_INT, &count));
      EQUAL(count, wanted);
      EQUAL(statuses[i].MPI_SOURCE, left);
      EQUAL(in[i][wanted - 1], left * 1000003 + round * 1009 + i * 101 + wanted - 1);
      EQUAL(in[i][0], left * 1000003 + round * 1009 + i * 101);
      CHECK(requests[i] != MPI_REQUEST_NULL);
    }
  }
  for (int i = 0; i < 2 * kModes; i++) {
    OK(MPI_Request_free(&requests[i]));
    CHECK(requests[i] == MPI_REQUEST_NULL);
  }
  void* back;
  OK(MPI_Buffer_detach(&back, &room));
  free(space);
  return finish();
}
