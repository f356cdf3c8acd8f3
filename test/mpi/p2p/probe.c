// SPDX-License-Identifier: BSD-3-Clause
// Probe and matched probe: count before receiving, a matched message is out of reach of other receives.
#include "check.h"

int main(int argc, char** argv) {
  begin(&argc, &argv);
  static char data[200000], copies[4][sizeof data];
  MPI_Message message;
  MPI_Status status;
  MPI_Request request;
  int flag = -1, count = -1;
  // MPI_PROC_NULL has a message at once, without content.
  OK(MPI_Iprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &flag, &status));
  EQUAL(flag, 1);
  EQUAL(status.MPI_SOURCE, MPI_PROC_NULL);
  EQUAL(status.MPI_TAG, MPI_ANY_TAG);
  OK(MPI_Mprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &message, &status));
  CHECK(message == MPI_MESSAGE_NO_PROC);
  OK(MPI_Mrecv(data, 1, MPI_BYTE, &message, &status));
  CHECK(message == MPI_MESSAGE_NULL);
  OK(MPI_Get_count(&status, MPI_BYTE, &count));
  EQUAL(count, 0);
  OK(MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &flag, &status));
  EQUAL(flag, 0);
  OK(MPI_Improbe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &flag, &message, &status));
  EQUAL(flag, 0);
  CHECK(message == MPI_MESSAGE_NULL);
  OK(MPI_Barrier(MPI_COMM_WORLD));
  for (int round = 0; round < 2; round++) {
    int bytes = round ? (int)sizeof data : 100;
    if (rank == 0) {
      MPI_Request sends[4];
      for (int i = 0; i < 4; i++) {
        fill(copies[i], bytes, i);
        OK(MPI_Isend(copies[i], bytes - i, MPI_BYTE, 1, 5, MPI_COMM_WORLD, &sends[i]));
      }
      OK(MPI_Waitall(4, sends, MPI_STATUSES_IGNORE));
    } else if (rank == 1) {
      OK(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
      OK(MPI_Get_count(&status, MPI_BYTE, &count));
      EQUAL(count, bytes);
      EQUAL(status.MPI_TAG, 5);
      OK(MPI_Mprobe(0, 5, MPI_COMM_WORLD, &message, &status));                   // takes the first
      OK(MPI_Recv(data, sizeof data, MPI_BYTE, 0, 5, MPI_COMM_WORLD, &status));  // so this is the second
      OK(MPI_Get_count(&status, MPI_BYTE, &count));
      EQUAL(count, bytes - 1);
      EQUAL(wrong(data, count, 1), 0);
      OK(MPI_Mrecv(data, sizeof data, MPI_BYTE, &message, &status));
      CHECK(message == MPI_MESSAGE_NULL);
      OK(MPI_Get_count(&status, MPI_BYTE, &count));
      EQUAL(count, bytes);
      EQUAL(wrong(data, count, 0), 0);
      do OK(MPI_Improbe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &flag, &message, &status));
      while (!flag);
      EQUAL(status.MPI_SOURCE, 0);
      OK(MPI_Imrecv(data, sizeof data, MPI_BYTE, &message, &request));
      OK(MPI_Wait(&request, &status));
      OK(MPI_Get_count(&status, MPI_BYTE, &count));
      EQUAL(count, bytes - 2);
      EQUAL(wrong(data, count, 2), 0);
      OK(MPI_Mprobe(0, 5, MPI_COMM_WORLD, &message, &status));
      FAILS(MPI_ERR_TRUNCATE, MPI_Mrecv(data, 10, MPI_BYTE, &message, &status));
    }
  }
  return finish();
}
