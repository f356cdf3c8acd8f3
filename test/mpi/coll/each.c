// SPDX-License-Identifier: BSD-3-Clause
// Every blocking collective on one intracommunicator, each root, sizes from 0 to large; results checked.
#include "forms.h"

static MPI_Comm comm;
static int *in, *out, *counts, *places;
#define VALUE(from, i) ((from) * 1009 + (i) * 3 + 1)

static void rooted(int root, int n) {
  int sum = size * (size - 1) / 2;
  for (int i = 0; i < n; i++) in[i] = rank == root ? VALUE(root, i) : -1;
  OK(MPI_Bcast(in, n, MPI_INT, root, comm));
  for (int i = 0; i < n; i++)
    if (in[i] != VALUE(root, i)) {
      EQUAL(in[i], VALUE(root, i));
      break;
    }
  for (int i = 0; i < n; i++) in[i] = VALUE(rank, i);
  OK(MPI_Reduce(in, out, n, MPI_INT, MPI_SUM, root, comm));
  for (int i = 0; rank == root && i < n; i++)
    if (out[i] != sum * 1009 + size * (i * 3 + 1)) {
      EQUAL(out[i], sum * 1009 + size * (i * 3 + 1));
      break;
    }
  OK(MPI_Gather(in, n, MPI_INT, out, n, MPI_INT, root, comm));
  for (int r = 0; rank == root && r < size; r++)
    for (int i = 0; i < n; i += 1 + n / 50) EQUAL(out[r * n + i], VALUE(r, i));
  for (int i = 0; i < n * size; i++) out[i] = VALUE(i / n, i % n + 5);
  for (int i = 0; i < n; i++) in[i] = -1;
  OK(MPI_Scatter(out, n, MPI_INT, in, n, MPI_INT, root, comm));
  for (int i = 0; i < n; i += 1 + n / 50) EQUAL(in[i], VALUE(rank, i + 5));
}

static void vectors(int root, int n) {  // rank r contributes n + r elements, with a hole after each block
  int total = 0;
  for (int r = 0; r < size; r++) counts[r] = n ? n + r : r % 2, places[r] = total, total += counts[r] + 1;
  int mine = counts[rank];
  for (int i = 0; i < mine; i++) in[i] = VALUE(rank, i);
  for (int i = 0; i < total; i++) out[i] = -1;
  OK(MPI_Gatherv(in, mine, MPI_INT, out, counts, places, MPI_INT, root, comm));
  for (int pass = 0; pass < 2; pass++) {
    if (pass == 1) {
      for (int i = 0; i < total; i++) out[i] = -1;
      OK(MPI_Allgatherv(in, mine, MPI_INT, out, counts, places, MPI_INT, comm));
    } else if (rank != root) {
      continue;
    }
    for (int r = 0; r < size; r++) {
      if (counts[r]) EQUAL(out[places[r]], VALUE(r, 0));
      if (counts[r]) EQUAL(out[places[r] + counts[r] - 1], VALUE(r, counts[r] - 1));
      EQUAL(out[places[r] + counts[r]], -1);
    }
  }
  for (int i = 0; i < total; i++) out[i] = i;
  memset(in, 0xff, (mine + 1) * sizeof(int));
  OK(MPI_Scatterv(out, counts, places, MPI_INT, in, mine, MPI_INT, root, comm));
  for (int i = 0; i < mine; i++) EQUAL(in[i], places[rank] + i);
  EQUAL(in[mine], -1);
}

static void all_to_all(int n) {
  for (int r = 0; r < size; r++)
    for (int i = 0; i < n; i++) in[r * n + i] = VALUE(rank, r * 17 + i), out[r * n + i] = -1;
  OK(MPI_Alltoall(in, n, MPI_INT, out, n, MPI_INT, comm));
  for (int r = 0; r < size; r++)
    for (int i = 0; i < n; i += 1 + n / 50) EQUAL(out[r * n + i], VALUE(r, rank * 17 + i));
  OK(MPI_Allgather(in, n, MPI_INT, out, n, MPI_INT, comm));
  for (int r = 0; r < size; r++)
    for (int i = 0; i < n; i += 1 + n / 50) EQUAL(out[r * n + i], VALUE(r, i));
  // v: rank r sends to s (r + s) % 3 * n elements; w: the same with displacements in bytes
  int *sc = malloc(4 * size * sizeof(int)), *sp = sc + size, *rc = sp + size, *rp = rc + size, st = 0, rt = 0;
  MPI_Datatype* types = malloc(size * sizeof *types);
  for (int r = 0; r < size; r++) {
    sc[r] = rc[r] = (rank + r) % 3 * n;
    sp[r] = st, st += sc[r];
    rp[r] = rt, rt += rc[r];
    types[r] = MPI_INT;
  }
  for (int pass = 0; pass < 2; pass++) {
    for (int r = 0; r < size; r++)
      for (int i = 0; i < sc[r]; i++) in[(pass ? sp[r] / 4 : sp[r]) + i] = VALUE(rank, r * 31 + i);
    for (int i = 0; i < rt; i++) out[i] = -1;
    if (pass == 0)
      OK(MPI_Alltoallv(in, sc, sp, MPI_INT, out, rc, rp, MPI_INT, comm));
    else
      OK(MPI_Alltoallw(in, sc, sp, types, out, rc, rp, types, comm));
    for (int r = 0; r < size; r++)
      for (int i = 0; i < rc[r]; i += 1 + n / 50)
        EQUAL(out[(pass ? rp[r] / 4 : rp[r]) + i], VALUE(r, rank * 31 + i));
    for (int r = 0; pass == 0 && r < size; r++) sp[r] *= 4, rp[r] *= 4;
  }
  free(types);
  free(sc);
}

static void reductions(int n) {
  int sum = size * (size - 1) / 2;
  for (int i = 0; i < n * size; i++) in[i] = VALUE(rank, i), out[i] = -1;
  OK(MPI_Allreduce(in, out, n, MPI_INT, MPI_SUM, comm));
  for (int i = 0; i < n; i++)
    if (out[i] != sum * 1009 + size * (i * 3 + 1)) {
      EQUAL(out[i], sum * 1009 + size * (i * 3 + 1));
      break;
    }
  OK(MPI_Reduce_scatter_block(in, out, n, MPI_INT, MPI_SUM, comm));
  for (int i = 0; i < n; i += 1 + n / 50) EQUAL(out[i], sum * 1009 + size * ((rank * n + i) * 3 + 1));
  int total = 0;
  for (int r = 0; r < size; r++) counts[r] = r % 2 ? n : n / 2, places[r] = total, total += counts[r];
  OK(MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, comm));
  for (int i = 0; i < counts[rank]; i += 1 + n / 50)
    EQUAL(out[i], sum * 1009 + size * ((places[rank] + i) * 3 + 1));
  OK(MPI_Scan(in, out, n, MPI_INT, MPI_SUM, comm));
  int below = rank * (rank + 1) / 2;
  for (int i = 0; i < n; i += 1 + n / 50) EQUAL(out[i], below * 1009 + (rank + 1) * (i * 3 + 1));
  for (int i = 0; i < n; i++) out[i] = -7;
  OK(MPI_Exscan(in, out, n, MPI_INT, MPI_SUM, comm));
  below -= rank;
  for (int i = 0; i < n; i += 1 + n / 50)
    if (rank) EQUAL(out[i], below * 1009 + rank * (i * 3 + 1));
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  choose_form(argc, argv);
  const int kSizes[] = {0, 1, 3, 16, 500, 2050, 20000, 150000};
  int most = 150000 + 20;
  in = malloc(most * size * 2 * sizeof(int)), out = malloc(most * size * 2 * sizeof(int));
  counts = malloc(2 * size * sizeof(int)), places = counts + size;
  for (int c = 0; c < 8; c++) {
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    for (int root = 0; root < size; root++) {
      if (c > 5 && root != size - 1) continue;
      rooted(root, kSizes[c]);
      vectors(root, kSizes[c]);
      OK(MPI_Barrier(comm));
    }
    all_to_all(kSizes[c]);
    reductions(kSizes[c]);
    OK(MPI_Comm_free(&comm));
  }
  free(in), free(out), free(counts);
  return finish();
}
