// SPDX-License-Identifier: BSD-3-Clause
// Every collective on an intercommunicator whose two sides differ in size.
#include "forms.h"

static MPI_Comm inter;
static int side, mine, others, local;
static int in[4096], out[4096], counts[64], places[64];
#define VALUE(side, from, i) ((side) * 50021 + (from) * 1009 + (i) * 3 + 1)

static int root_argument(int root_side, int root) {  // the root is rank `root` of side `root_side`
  if (side != root_side) return root;
  return local == root ? MPI_ROOT : MPI_PROC_NULL;
}

static void rooted(int root_side, int root, int n) {
  int arg = root_argument(root_side, root), is_root = arg == MPI_ROOT, leaf = side != root_side;
  for (int i = 0; i < n; i++) in[i] = is_root ? VALUE(0, root, i) : -1;
  OK(MPI_Bcast(in, n, MPI_INT, arg, inter));
  for (int i = 0; leaf && i < n; i++) EQUAL(in[i], VALUE(0, root, i));
  for (int i = 0; i < n; i++) in[i] = VALUE(side, local, i);
  OK(MPI_Gather(in, n, MPI_INT, out, n, MPI_INT, arg, inter));
  for (int i = 0; is_root && i < n * others; i++) EQUAL(out[i], VALUE(!side, i / n, i % n));
  for (int i = 0; i < n * others; i++) out[i] = VALUE(side, i / n, i % n);
  OK(MPI_Scatter(out, n, MPI_INT, in, n, MPI_INT, arg, inter));
  for (int i = 0; leaf && i < n; i++) EQUAL(in[i], VALUE(!side, local, i));
  for (int i = 0; i < n; i++) in[i] = VALUE(side, local, i);
  OK(MPI_Reduce(in, out, n, MPI_INT, MPI_SUM, arg, inter));
  for (int i = 0; is_root && i < n; i++)
    EQUAL(out[i], others * ((!side) * 50021 + i * 3 + 1) + others * (others - 1) / 2 * 1009);
  int total = 0, width = leaf ? mine : others;
  for (int r = 0; r < width; r++) counts[r] = r + 1, places[r] = total, total += r + 2;
  for (int i = 0; i < local + 1; i++) in[i] = VALUE(side, local, i);
  for (int i = 0; i < total; i++) out[i] = -1;
  OK(MPI_Gatherv(in, local + 1, MPI_INT, out, counts, places, MPI_INT, arg, inter));
  for (int r = 0; is_root && r < others; r++) {
    EQUAL(out[places[r] + r], VALUE(!side, r, r));
    EQUAL(out[places[r] + r + 1], -1);
  }
  for (int i = 0; i < total; i++) out[i] = i;
  OK(MPI_Scatterv(out, counts, places, MPI_INT, in, local + 1, MPI_INT, arg, inter));
  for (int i = 0; leaf && i <= local; i++) EQUAL(in[i], places[local] + i);
}

static void unrooted(int n) {
  for (int i = 0; i < n; i++) in[i] = VALUE(side, local, i);
  OK(MPI_Allgather(in, n, MPI_INT, out, n, MPI_INT, inter));
  for (int i = 0; i < n * others; i++) EQUAL(out[i], VALUE(!side, i / n, i % n));
  OK(MPI_Allreduce(in, out, n, MPI_INT, MPI_SUM, inter));
  for (int i = 0; i < n; i++)
    EQUAL(out[i], others * ((!side) * 50021 + i * 3 + 1) + others * (others - 1) / 2 * 1009);
  for (int i = 0; i < n * others; i++) in[i] = VALUE(side, local, i);
  OK(MPI_Alltoall(in, n, MPI_INT, out, n, MPI_INT, inter));
  for (int i = 0; i < n * others; i++) EQUAL(out[i], VALUE(!side, i / n, local * n + i % n));
  int total = 0;
  for (int r = 0; r < others; r++) counts[r] = r + 1, places[r] = total, total += r + 2;
  for (int i = 0; i <= local; i++) in[i] = VALUE(side, local, i);
  OK(MPI_Allgatherv(in, local + 1, MPI_INT, out, counts, places, MPI_INT, inter));
  for (int r = 0; r < others; r++) EQUAL(out[places[r] + r], VALUE(!side, r, r));
  // Each side scatters what it gets from the other: both reduce the same total, mine * others * n.
  int each = others * n, sum = others * (others - 1) / 2;
  for (int i = 0; i < mine * each; i++) in[i] = VALUE(side, local, i);
  OK(MPI_Reduce_scatter_block(in, out, each, MPI_INT, MPI_SUM, inter));
  for (int i = 0; i < each; i++)
    EQUAL(out[i], others * ((!side) * 50021 + (local * each + i) * 3 + 1) + sum * 1009);
  OK(MPI_Barrier(inter));
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  choose_form(argc, argv);
  MPI_Comm half;
  side = rank >= (size + 1) / 3 && rank > 0;  // 1 + 1, 1 + 2, 1 + 3, 2 + 3, ...
  OK(MPI_Comm_split(MPI_COMM_WORLD, side, 0, &half));
  OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, side ? 0 : ((size + 1) / 3 ? (size + 1) / 3 : 1), 12,
                          &inter));
  OK(MPI_Comm_size(half, &mine));
  OK(MPI_Comm_rank(half, &local));
  OK(MPI_Comm_remote_size(inter, &others));
  EQUAL(mine + others, size);
  const int kSizes[] = {0, 1, 5, 60};
  for (int c = 0; c < 4; c++) {
    for (int s = 0; s < 2; s++)
      for (int root = 0; root < (s == side ? mine : others); root++) rooted(s, root, kSizes[c]);
    unrooted(kSizes[c]);
  }
  OK(MPI_Comm_free(&inter));
  OK(MPI_Comm_free(&half));
  return finish();
}
