// SPDX-License-Identifier: BSD-3-Clause
// The request forms in every flavour: buffers may be used again when the request is complete.
#include "rma/windows.h"

enum { kMany = 50, kInts = 3000 };

int main(int argc, char** argv) {
  begin(&argc, &argv);
  static int out[kMany][kInts], in[kMany][kInts], ones[kInts], old[kInts];
  MPI_Request requests[kMany];
  for (int i = 0; i < kInts; i++) ones[i] = 1;
  for (int flavor = 0; flavor < kFlavors; flavor++) {
    if (!possible(flavor, MPI_COMM_WORLD)) continue;
    Window w = open_window(flavor, kMany * kInts * 4, 4, MPI_COMM_WORLD);
    const int to = (rank + 1) % size, from = (rank + size - 1) % size;
    int bad = 0;
    OK(MPI_Win_lock_all(0, w.win));
    for (int i = 0; i < kMany; i++) {
      for (int k = 0; k < kInts; k++) out[i][k] = rank + 10 * i + k;
      OK(MPI_Rput(out[i], kInts, MPI_INT, to, at(&w, to, i * kInts * 4), kInts, MPI_INT, w.win,
                  &requests[i]));
    }
    OK(MPI_Waitall(kMany, requests, MPI_STATUSES_IGNORE));
    memset(out, 0xff, sizeof out);
    OK(MPI_Win_flush(to, w.win));
    for (int i = 0; i < kMany; i++)
      OK(MPI_Rget(in[i], kInts, MPI_INT, to, at(&w, to, i * kInts * 4), kInts, MPI_INT, w.win, &requests[i]));
    OK(MPI_Waitall(kMany, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < kMany; i++)
      for (int k = 0; k < kInts; k++) bad += in[i][k] != rank + 10 * i + k;
    EQUAL(bad, 0);
    OK(MPI_Raccumulate(ones, kInts, MPI_INT, to, at(&w, to, 0), kInts, MPI_INT, MPI_SUM, w.win,
                       &requests[0]));
    OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    OK(MPI_Rget_accumulate(ones, kInts, MPI_INT, old, kInts, MPI_INT, to, at(&w, to, 0), kInts, MPI_INT,
                           MPI_SUM, w.win, &requests[0]));
    OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    for (int k = 0; k < kInts; k++) bad += old[k] != rank + k + 1;
    // A request that is freed at once goes on.
    OK(MPI_Rput(ones, 1, MPI_INT, to, at(&w, to, 4 * kInts), 1, MPI_INT, w.win, &requests[0]));
    OK(MPI_Request_free(&requests[0]));
    OK(MPI_Win_unlock_all(w.win));
    MPI_Barrier(MPI_COMM_WORLD);
    const int* here = w.base;
    for (int k = 0; k < kInts; k++) bad += here[k] != from + k + 2;
    EQUAL(bad, 0);
    EQUAL(here[kInts], 1);
    close_window(&w);
  }
  return finish();
}
