// SPDX-License-Identifier: BSD-3-Clause
// Buffered sends: the buffers of the process, of a communicator, automatic ones; overflow; flush.
#include "check.h"

static void overflow(void) {
  static char data[1000], space[500 + MPI_BSEND_OVERHEAD];
  void* back;
  int bytes;
  FAILS(MPI_ERR_BUFFER, MPI_Bsend(data, 10, MPI_BYTE, rank, 1, MPI_COMM_WORLD));  // nothing attached
  OK(MPI_Buffer_attach(space, sizeof space));
  CHECK(MPI_Buffer_attach(space, sizeof space) != MPI_SUCCESS);  // already one
  FAILS(MPI_ERR_BUFFER, MPI_Bsend(data, 1000, MPI_BYTE, rank, 1, MPI_COMM_WORLD));
  OK(MPI_Bsend(data, 500, MPI_BYTE, rank, 1, MPI_COMM_WORLD));
  OK(MPI_Recv(data, 500, MPI_BYTE, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  OK(MPI_Buffer_detach(&back, &bytes));
  CHECK(back == space);
}

// Space comes back when messages leave: many more messages than fit at once.
static void reuse(MPI_Comm comm) {
  int peer = rank ^ 1;
  if (peer >= size) return;
  for (int i = 0; i < 300; i++) {
    int got = -1;
    OK(MPI_Bsend(&i, 1, MPI_INT, peer, 2, comm));
    OK(MPI_Recv(&got, 1, MPI_INT, peer, 2, comm, MPI_STATUS_IGNORE));
    EQUAL(got, i);
  }
}

static void on_communicator(void) {
  MPI_Comm comm;
  static char space[4 * (sizeof(int) + MPI_BSEND_OVERHEAD)];
  void* back;
  int bytes;
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  OK(MPI_Comm_attach_buffer(comm, space, sizeof space));
  reuse(comm);
  OK(MPI_Comm_flush_buffer(comm));
  MPI_Request request;
  OK(MPI_Comm_iflush_buffer(comm, &request));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  OK(MPI_Comm_detach_buffer(comm, &back, &bytes));
  CHECK(back == space);
  EQUAL(bytes, sizeof space);
  OK(MPI_Comm_free(&comm));
}

static void automatic(void) {
  static char data[100000];
  void* back;
  int bytes, got = 0;
  OK(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0));
  for (int i = 0; i < 20; i++) {
    fill(data, sizeof data, i);
    OK(MPI_Bsend(data, sizeof data, MPI_BYTE, rank, i, MPI_COMM_WORLD));
  }
  for (int i = 19; i >= 0; i--) {
    OK(MPI_Recv(data, sizeof data, MPI_BYTE, rank, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    got += wrong(data, sizeof data, i) == 0;
  }
  EQUAL(got, 20);
  OK(MPI_Buffer_flush());
  OK(MPI_Buffer_detach(&back, &bytes));
  CHECK(back == MPI_BUFFER_AUTOMATIC);
  EQUAL(bytes, 0);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  overflow();
  static char space[8 * (sizeof(int) + MPI_BSEND_OVERHEAD)];
  void* back;
  int bytes;
  OK(MPI_Buffer_attach(space, sizeof space));
  reuse(MPI_COMM_WORLD);
  OK(MPI_Buffer_detach(&back, &bytes));
  on_communicator();
  automatic();
  return finish();
}
