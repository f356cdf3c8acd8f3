// SPDX-License-Identifier: BSD-3-Clause
// Messages between two ranks on one communicator never overtake, whatever their sizes and tags.
#include "check.h"

enum { kCount = 600, kMost = 200000 };

static int bytes_of(int i) {  // small, medium and large in an irregular order
  static const int kSizes[] = {4, 4, 40000, 16, 100, 4, kMost, 4, 9000, 64, 4, 70000, 8};
  return kSizes[i % 13];
}

static void all_at_once(void) {
  MPI_Request* requests = malloc(kCount * sizeof *requests);
  char** data = malloc(kCount * sizeof *data);
  int peer = rank ^ 1;
  for (int i = 0; i < kCount; i++) {
    data[i] = calloc(1, bytes_of(i));
    if (rank % 2 == 0) {
      memcpy(data[i], &i, sizeof i);
      data[i][bytes_of(i) - 1] ^= 0x5a;
      OK(MPI_Isend(data[i], bytes_of(i), MPI_BYTE, peer, i % 3, MPI_COMM_WORLD, &requests[i]));
    } else {
      OK(MPI_Irecv(data[i], bytes_of(i), MPI_BYTE, peer, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[i]));
    }
  }
  for (int i = kCount - 1; i >= 0; i--) {
    MPI_Status status;
    OK(MPI_Wait(&requests[i], &status));
    if (rank % 2 == 1) {
      int got;
      EQUAL(status.MPI_TAG, i % 3);
      data[i][bytes_of(i) - 1] ^= 0x5a;
      memcpy(&got, data[i], sizeof got);
      EQUAL(got, i);
    }
    free(data[i]);
  }
  free(data);
  free(requests);
}

// All messages arrive before the first receive; tag 1 is received first, then the others in order.
static void unexpected(void) {
  int peer = rank ^ 1, value;
  if (rank % 2 == 0) {
    for (int i = 0; i < 3000; i++) OK(MPI_Send(&i, 1, MPI_INT, peer, i % 3, MPI_COMM_WORLD));
    OK(MPI_Ssend(NULL, 0, MPI_INT, peer, 9, MPI_COMM_WORLD));
  } else {
    OK(MPI_Recv(NULL, 0, MPI_INT, peer, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int tag = 2; tag >= 0; tag--)
      for (int i = tag; i < 3000; i += 3) {
        OK(MPI_Recv(&value, 1, MPI_INT, peer,
                    tag == 1   ? MPI_ANY_TAG
                    : tag == 2 ? 2
                               : 0,
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        if (tag == 1) {  // any tag: what is left is 0, 1, 3, 4, 6, ... in the order sent
          int nth = i / 3 * 2;
          EQUAL(value, nth / 2 * 3);
          OK(MPI_Recv(&value, 1, MPI_INT, peer, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
          EQUAL(value, nth / 2 * 3 + 1);
        } else if (tag == 2) {
          EQUAL(value, i);
        }
        if (tag == 1 && i + 3 >= 3000) return;
      }
  }
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  all_at_once();
  OK(MPI_Barrier(MPI_COMM_WORLD));
  unexpected();
  return finish();
}
