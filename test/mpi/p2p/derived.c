// SPDX-License-Identifier: BSD-3-Clause
// Non-contiguous data, small to large, in every pairing of layouts on the two sides.
#include "check.h"

enum { kLayouts = 4, kMost = 1 << 20 };

// Element i of a layout lives at position(layout, i) (in ints); each carries n ints of payload.
static long position(int layout, long i) {
  if (layout == 0) return i;                  // contiguous
  if (layout == 1) return i * 2;              // vector with gaps
  if (layout == 2) return i / 3 * 5 + i % 3;  // blocks of three
  return (i & ~7l) + 7 - (i & 7);             // runs of eight backwards
}

static MPI_Datatype build(int layout, int n) {
  MPI_Datatype type, block;
  if (layout == 0) OK(MPI_Type_contiguous(n, MPI_INT, &type));
  if (layout == 1) OK(MPI_Type_vector(n, 1, 2, MPI_INT, &type));
  if (layout == 2) {
    int* lengths = malloc((n / 3 + 1) * sizeof(int));
    int* places = malloc((n / 3 + 1) * sizeof(int));
    int blocks = 0;
    for (int i = 0; i < n; i += 3, blocks++)
      lengths[blocks] = n - i < 3 ? n - i : 3, places[blocks] = i / 3 * 5;
    OK(MPI_Type_indexed(blocks, lengths, places, MPI_INT, &type));
    free(lengths);
    free(places);
  }
  if (layout == 3) {
    int places[8] = {7, 6, 5, 4, 3, 2, 1, 0};
    OK(MPI_Type_create_indexed_block(8, 1, places, MPI_INT, &block));
    OK(MPI_Type_contiguous(n / 8, block, &type));
    OK(MPI_Type_free(&block));
  }
  OK(MPI_Type_commit(&type));
  return type;
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  const int counts[] = {8, 64, 1000, 8000, 80000, 400000};
  int* data = malloc(2 * kMost * sizeof *data);
  for (int c = 0; c < 6; c++)
    for (int from = 0; from < kLayouts; from++)
      for (int to = 0; to < kLayouts; to++) {
        int n = counts[c], bad = 0, count = -1;
        MPI_Datatype type = build(rank == 0 ? from : to, n);
        MPI_Status status;
        for (long i = 0; i < 2 * kMost; i++) data[i] = -1;
        if (rank == 0) {
          for (int i = 0; i < n; i++) data[position(from, i)] = i * 3 + c;
          OK(MPI_Send(data, 1, type, 1, 0, MPI_COMM_WORLD));
        } else if (rank == 1) {
          OK(MPI_Recv(data, 1, type, 0, 0, MPI_COMM_WORLD, &status));
          OK(MPI_Get_count(&status, type, &count));
          EQUAL(count, 1);
          OK(MPI_Get_elements(&status, type, &count));
          EQUAL(count, n);
          for (int i = 0; i < n; i++) bad += data[position(to, i)] != i * 3 + c;
          EQUAL(bad, 0);
          long written = 0;
          for (long i = 0; i < 2 * kMost; i++) written += data[i] != -1;
          EQUAL(written, n);  // gaps stay as they were
        }
        OK(MPI_Type_free(&type));
      }
  free(data);
  return finish();
}
