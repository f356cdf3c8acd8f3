// SPDX-License-Identifier: BSD-3-Clause
// Partitioned communication: different partition counts on the two sides, any order of readiness, reuse.
#include "check.h"

enum { kInts = 24000 };

static void one(int parts_out, int parts_in, int how) {
  int *data = calloc(kInts, sizeof(int)), flag = 0;
  MPI_Request request;
  if (rank == 0) {
    int n = kInts / parts_out;
    OK(MPI_Psend_init(data, parts_out, n, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    for (int round = 0; round < 3; round++) {
      OK(MPI_Start(&request));
      for (int i = 0; i < kInts; i++) data[i] = i + round * 7;
      if (how == 0) {
        for (int p = parts_out - 1; p >= 0; p--) OK(MPI_Pready(p, request));
      } else if (how == 1) {
        OK(MPI_Pready_range(0, parts_out / 2, request));
        if (parts_out / 2 + 1 < parts_out) OK(MPI_Pready_range(parts_out / 2 + 1, parts_out - 1, request));
      } else {
        int* list = malloc(parts_out * sizeof(int));
        for (int p = 0; p < parts_out; p++) list[p] = (p + 1) % parts_out;
        OK(MPI_Pready_list(parts_out, list, request));
        free(list);
      }
      OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    OK(MPI_Request_free(&request));
  } else if (rank == 1) {
    int n = kInts / parts_in;
    OK(MPI_Precv_init(data, parts_in, n, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    for (int round = 0; round < 3; round++) {
      for (int i = 0; i < kInts; i++) data[i] = -1;
      OK(MPI_Start(&request));
      for (int p = 0; p < parts_in; p++) {
        for (flag = 0; !flag;) OK(MPI_Parrived(request, p, &flag));
        EQUAL(data[p * n], p * n + round * 7);
        EQUAL(data[p * n + n - 1], p * n + n - 1 + round * 7);
      }
      OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    OK(MPI_Request_free(&request));
  }
  free(data);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  const int parts[] = {1, 2, 8, 24, 100};
  for (int i = 0; i < 5; i++)
    for (int j = 0; j < 5; j++) one(parts[i], parts[j], (i + j) % 3);
  OK(MPI_Barrier(MPI_COMM_WORLD));
  return finish();
}
