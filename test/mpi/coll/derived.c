// SPDX-License-Identifier: BSD-3-Clause
// Collectives on non-contiguous types, and on types that differ between the ranks with the same signature.
#include "forms.h"

enum { kElements = 3000 };

int main(int argc, char** argv) {
  begin(&argc, &argv);
  choose_form(argc, argv);
  MPI_Datatype odd, column, resized;
  int *in = malloc(2 * kElements * sizeof(int)), *out = malloc(2 * kElements * size * sizeof(int));
  OK(MPI_Type_vector(kElements, 1, 2, MPI_INT, &column));
  OK(MPI_Type_commit(&column));
  OK(MPI_Type_create_resized(column, 0, 2 * kElements * sizeof(int), &resized));
  OK(MPI_Type_commit(&resized));
  OK(MPI_Type_contiguous(3, MPI_INT, &odd));
  OK(MPI_Type_commit(&odd));
  for (int i = 0; i < 2 * kElements; i++) in[i] = rank == 0 ? i * 5 : -1;
  // The root sends contiguous ints in threes; others receive into every second place.
  if (rank % 2 == 0)
    OK(MPI_Bcast(in, kElements / 3, odd, 0, MPI_COMM_WORLD));
  else
    OK(MPI_Bcast(in, 1, column, 0, MPI_COMM_WORLD));
  for (int i = 0; i < kElements; i++) EQUAL(in[rank % 2 ? 2 * i : i], i * 5);
  if (rank % 2) EQUAL(in[1], -1);
  for (int i = 0; i < 2 * kElements; i++) in[i] = rank * 100000 + i;
  memset(out, 0xff, 2 * kElements * size * sizeof(int));
  OK(MPI_Allgather(in, kElements, MPI_INT, out, 1, resized, MPI_COMM_WORLD));
  for (int r = 0; r < size; r++)
    for (int i = 0; i < kElements; i++) {
      EQUAL(out[r * 2 * kElements + 2 * i], r * 100000 + i);
      EQUAL(out[r * 2 * kElements + 2 * i + 1], -1);
    }
  memset(out, 0xff, 2 * kElements * size * sizeof(int));
  OK(MPI_Gather(in, 1, column, out, kElements / 3, odd, size - 1, MPI_COMM_WORLD));
  for (int r = 0; rank == size - 1 && r < size; r++)
    for (int i = 0; i < kElements; i += 7) EQUAL(out[r * kElements + i], r * 100000 + 2 * i);
  // Alltoallw: a transpose, block (r, s) from rows to columns.
  int *counts = malloc(size * 3 * sizeof(int)), *from = counts + size, *to = from + size;
  MPI_Datatype *rows = malloc(2 * size * sizeof *rows), *columns = rows + size, strided;
  OK(MPI_Type_vector(4, 1, size, MPI_INT, &strided));
  OK(MPI_Type_commit(&strided));
  for (int r = 0; r < size; r++) {
    counts[r] = 1, from[r] = r * 4 * sizeof(int), to[r] = r * sizeof(int);
    OK(MPI_Type_contiguous(4, MPI_INT, &rows[r]));
    OK(MPI_Type_commit(&rows[r]));
    columns[r] = strided;
    for (int i = 0; i < 4; i++) in[r * 4 + i] = rank * 1000 + r * 10 + i;
  }
  OK(MPI_Alltoallw(in, counts, from, rows, out, counts, to, columns, MPI_COMM_WORLD));
  for (int r = 0; r < size; r++)
    for (int i = 0; i < 4; i++) EQUAL(out[i * size + r], r * 1000 + rank * 10 + i);
  for (int r = 0; r < size; r++) OK(MPI_Type_free(&rows[r]));
  OK(MPI_Type_free(&strided));
  // A type may be freed while the standard still needs it: the last use counts.
  OK(MPI_Type_free(&column));
  OK(MPI_Type_free(&resized));
  OK(MPI_Type_free(&odd));
  free(counts), free(rows), free(in), free(out);
  return finish();
}
