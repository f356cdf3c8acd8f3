// SPDX-License-Identifier: BSD-3-Clause
// MPI_IN_PLACE wherever the standard allows it, with every root.
#include "forms.h"

enum { kMost = 3000 };
#define VALUE(from, i) ((from) * 1009 + (i) * 3 + 1)
static int *data, *copy;

static void rooted(int root, int n) {
  MPI_Comm w = MPI_COMM_WORLD;
  int sum = size * (size - 1) / 2;
  for (int i = 0; i < n; i++) data[i] = VALUE(rank, i);
  if (rank == root)
    OK(MPI_Reduce(MPI_IN_PLACE, data, n, MPI_INT, MPI_SUM, root, w));
  else
    OK(MPI_Reduce(data, NULL, n, MPI_INT, MPI_SUM, root, w));
  for (int i = 0; rank == root && i < n; i++) EQUAL(data[i], sum * 1009 + size * (i * 3 + 1));
  for (int i = 0; i < n; i++) data[rank * n + i] = VALUE(rank, i);
  if (rank == root)
    OK(MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, n, MPI_INT, root, w));
  else
    OK(MPI_Gather(data + rank * n, n, MPI_INT, NULL, 0, MPI_DATATYPE_NULL, root, w));
  for (int i = 0; rank == root && i < n * size; i++) EQUAL(data[i], VALUE(i / n, i % n));
  for (int i = 0; i < n * size; i++) data[i] = rank == root ? VALUE(i / n, i % n) : -1;
  if (rank == root)
    OK(MPI_Scatter(data, n, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, root, w));
  else
    OK(MPI_Scatter(NULL, 0, MPI_DATATYPE_NULL, data + rank * n, n, MPI_INT, root, w));
  for (int i = 0; i < n; i++) EQUAL(data[rank * n + i], VALUE(rank, i));
}

static void unrooted(int n) {
  MPI_Comm w = MPI_COMM_WORLD;
  int sum = size * (size - 1) / 2, below = rank * (rank + 1) / 2;
  for (int i = 0; i < n * size; i++) data[i] = i / (n ? n : 1) == rank ? VALUE(rank, i % n) : -1;
  OK(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, n, MPI_INT, w));
  for (int i = 0; i < n * size; i++) EQUAL(data[i], VALUE(i / n, i % n));
  for (int i = 0; i < n; i++) data[i] = VALUE(rank, i);
  OK(MPI_Allreduce(MPI_IN_PLACE, data, n, MPI_INT, MPI_SUM, w));
  for (int i = 0; i < n; i++) EQUAL(data[i], sum * 1009 + size * (i * 3 + 1));
  for (int i = 0; i < n; i++) data[i] = VALUE(rank, i);
  OK(MPI_Scan(MPI_IN_PLACE, data, n, MPI_INT, MPI_SUM, w));
  for (int i = 0; i < n; i++) EQUAL(data[i], below * 1009 + (rank + 1) * (i * 3 + 1));
  for (int i = 0; i < n; i++) data[i] = VALUE(rank, i);
  OK(MPI_Exscan(MPI_IN_PLACE, data, n, MPI_INT, MPI_SUM, w));
  for (int i = 0; rank && i < n; i++) EQUAL(data[i], (below - rank) * 1009 + rank * (i * 3 + 1));
  for (int i = 0; i < n * size; i++) data[i] = VALUE(rank, i);
  OK(MPI_Reduce_scatter_block(MPI_IN_PLACE, data, n, MPI_INT, MPI_SUM, w));
  for (int i = 0; i < n; i++) EQUAL(data[i], sum * 1009 + size * ((rank * n + i) * 3 + 1));
  for (int i = 0; i < n * size; i++) data[i] = VALUE(rank, i);
  int* counts = malloc(2 * size * sizeof(int));
  int* places = counts + size;
  for (int r = 0; r < size; r++) counts[r] = n, places[r] = r * n;
  OK(MPI_Reduce_scatter(MPI_IN_PLACE, data, counts, MPI_INT, MPI_SUM, w));
  for (int i = 0; i < n; i++) EQUAL(data[i], sum * 1009 + size * ((rank * n + i) * 3 + 1));
  for (int i = 0; i < n * size; i++) data[i] = VALUE(rank, i);
  OK(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, n, MPI_INT, w));
  for (int i = 0; i < n * size; i++) EQUAL(data[i], VALUE(i / n, rank * n + i % n));
  // Pairs exchange different counts: rank a and b both send (a + b) % 3 + 1 elements.
  int total = 0;
  for (int r = 0; r < size; r++) counts[r] = (rank + r) % 3 + 1, places[r] = total, total += counts[r];
  for (int r = 0; r < size; r++)
    for (int i = 0; i < counts[r]; i++) copy[places[r] + i] = VALUE(rank, r * 100 + i);
  OK(MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, copy, counts, places, MPI_INT, w));
  for (int r = 0; r < size; r++)
    for (int i = 0; i < counts[r]; i++) EQUAL(copy[places[r] + i], VALUE(r, rank * 100 + i));
  free(counts);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  choose_form(argc, argv);
  data = malloc(kMost * size * sizeof(int)), copy = malloc((kMost + 8) * size * sizeof(int));
  const int kSizes[] = {1, 7, 300, kMost};
  for (int c = 0; c < 4; c++) {
    for (int root = 0; root < size; root++) rooted(root, kSizes[c]);
    unrooted(kSizes[c]);
  }
  free(data), free(copy);
  return finish();
}
