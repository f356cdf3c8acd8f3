// SPDX-License-Identifier: BSD-3-Clause
// Every send mode, blocking and not, at sizes on both sides of each protocol's limit; checks data and status.
#include "check.h"

enum { kModes = 8, kMost = 300000 };
static const int kSizes[] = {0, 1, 7, 48, 63, 64, 65, 500, 2048, 8191, 8192, 16384, 65537, kMost};
static const char* kNames[] = {"send", "ssend", "bsend", "rsend", "isend", "issend", "ibsend", "irsend"};

static int send_by(int mode, const void* data, int bytes, int to, int tag) {
  MPI_Request request = MPI_REQUEST_NULL;
  int code = MPI_ERR_OTHER;
  if (mode == 0) return MPI_Send(data, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD);
  if (mode == 1) return MPI_Ssend(data, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD);
  if (mode == 2) return MPI_Bsend(data, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD);
  if (mode == 3) return MPI_Rsend(data, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD);
  if (mode == 4) code = MPI_Isend(data, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD, &request);
  if (mode == 5) code = MPI_Issend(data, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD, &request);
  if (mode == 6) code = MPI_Ibsend(data, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD, &request);
  if (mode == 7) code = MPI_Irsend(data, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD, &request);
  return code != MPI_SUCCESS ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void one(int mode, int bytes, unsigned char* data, int ready) {
  int tag = mode * 100 + 7, count = -1;
  if (rank == 0) {
    fill(data, bytes, mode + bytes);
    if (ready) OK(MPI_Recv(NULL, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(send_by(mode, data, bytes, 1, tag));
    CHECK(wrong(data, bytes, mode + bytes) == 0);  // the sender's data is untouched
  } else if (rank == 1) {
    MPI_Status status;
    MPI_Request request;
    memset(data, 0xee, bytes + 8);
    if (ready) {
      OK(MPI_Irecv(data, kMost, MPI_BYTE, 0, tag, MPI_COMM_WORLD, &request));
      OK(MPI_Send(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD));
      OK(MPI_Wait(&request, &status));
    } else {
      OK(MPI_Recv(data, kMost, MPI_BYTE, 0, tag, MPI_COMM_WORLD, &status));
    }
    OK(MPI_Get_count(&status, MPI_BYTE, &count));
    if (count != bytes || status.MPI_SOURCE != 0 || status.MPI_TAG != tag || wrong(data, bytes, mode + bytes))
      printf("mode %s, %d bytes, count %d, wrong %zu\n", kNames[mode], bytes, count,
             wrong(data, bytes, mode + bytes));
    EQUAL(count, bytes);
    EQUAL(status.MPI_SOURCE, 0);
    EQUAL(status.MPI_TAG, tag);
    EQUAL(wrong(data, bytes, mode + bytes), 0);
    for (int i = 0; i < 8; i++) EQUAL(data[bytes + i], 0xee);  // nothing beyond the message is written
  }
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  unsigned char* data = malloc(kMost + 64);
  int room = 4 * (kMost + MPI_BSEND_OVERHEAD), detached = 0;
  void *space = malloc(room), *back = NULL;
  OK(MPI_Buffer_attach(space, room));
  for (int mode = 0; mode < kModes; mode++)
    for (size_t i = 0; i < sizeof kSizes / sizeof *kSizes; i++)
      for (int ready = (mode == 3 || mode == 7); ready < 2; ready++) one(mode, kSizes[i], data, ready);
  OK(MPI_Buffer_detach(&back, &detached));
  CHECK(back == space);
  EQUAL(detached, room);
  free(space);
  free(data);
  return finish();
}
