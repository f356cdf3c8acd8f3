// SPDX-License-Identifier: BSD-3-Clause
// A rank that waits long in a collective tells the others which, while its way to them is full of messages.
// That must leave nothing behind for which MPI_Finalize waits.
#include <unistd.h>

#include "check.h"

enum { kMessages = 2000 };

int main(int argc, char** argv) {
  begin(&argc, &argv);
  static char data[kMessages][100];
  static MPI_Request requests[kMessages];
  if (rank == 0) {
    for (int to = 1; to < size; to++) {
      for (int i = 0; i < kMessages; i++)
        OK(MPI_Isend(data[i], sizeof data[i], MPI_CHAR, to, i, MPI_COMM_WORLD, &requests[i]));
      OK(MPI_Barrier(MPI_COMM_WORLD));
      OK(MPI_Waitall(kMessages, requests, MPI_STATUSES_IGNORE));
    }
  } else {
    for (int to = 1; to < size; to++) {
      if (rank == to) {
        usleep(700 * 1000);
        for (int i = 0; i < kMessages; i++)
          OK(MPI_Recv(data[i], sizeof data[i], MPI_CHAR, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      }
      OK(MPI_Barrier(MPI_COMM_WORLD));
    }
  }
  return finish();
}
