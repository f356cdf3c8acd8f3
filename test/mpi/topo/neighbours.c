// SPDX-License-Identifier: BSD-3-Clause
// Neighbourhood collectives (MPI 5.0, 8.6 to 8.8) on grids, graphs and distributed graphs: order of blocks,
// edges that are there twice, edges to oneself, borders.
#include "coll/forms.h"

enum { kMost = 8, kBig = 40000 };

// What a neighbourhood is: whose block lands where. from[i] gives this rank's block i; it is that rank's
// block number block[i].
struct Around {
  MPI_Comm comm;
  int in, out, from[kMost], block[kMost];
};

#define VALUE(whose, block, i) ((whose) * 1000 + (block) * 100 + (i) + 1)

static void check_block(const int* got, const struct Around* a, int i, int whole, int n) {
  for (int k = 0; k < n; k += 1 + n / 7) {
    const int block = whole ? 0 : a->block[i];
    EQUAL(got[k], a->from[i] == MPI_PROC_NULL ? -1 : VALUE(a->from[i], block, k));
  }
}

static void exchange(const struct Around* a, int n) {
  const size_t room = (kMost + 1) * 2 * n * sizeof(int);
  int *out = malloc(room), *in = malloc(room);
  int counts[kMost], backwards[kMost], rcounts[kMost];
  MPI_Aint places[kMost], rplaces[kMost];
  MPI_Datatype types[kMost];
  const size_t bytes = kMost * 2 * n * sizeof(int);
  for (int b = 0; b < a->out; b++)
    for (int k = 0; k < n; k++) out[b * n + k] = VALUE(rank, b, k);
  memset(in, 0xff, bytes);
  OK(MPI_Neighbor_allgather(out, n, MPI_INT, in, n, MPI_INT, a->comm));
  for (int i = 0; i < a->in; i++) check_block(in + i * n, a, i, 1, n);
  memset(in, 0xff, bytes);
  OK(MPI_Neighbor_alltoall(out, n, MPI_INT, in, n, MPI_INT, a->comm));
  for (int i = 0; i < a->in; i++) check_block(in + i * n, a, i, 0, n);
  // v: the last block comes first, and lengths differ; what a rank sends depends on its block only
  for (int i = 0; i < a->in; i++) rcounts[i] = n, backwards[i] = (a->in - 1 - i) * (n + 1);
  memset(in, 0xff, bytes);
  OK(MPI_Neighbor_allgatherv(out, n, MPI_INT, in, rcounts, backwards, MPI_INT, a->comm));
  for (int i = 0; i < a->in; i++) check_block(in + backwards[i], a, i, 1, n);
  for (int i = 0; i < a->in; i++) {
    rcounts[i] = a->block[i] ? n / a->block[i] : 0;
    if (a->from[i] == MPI_PROC_NULL) rcounts[i] = n;
  }
  int starts[kMost];
  for (int b = 0; b < a->out; b++) counts[b] = b ? n / b : 0, starts[b] = b * n;
  memset(in, 0xff, bytes);
  OK(MPI_Neighbor_alltoallv(out, counts, starts, MPI_INT, in, rcounts, backwards, MPI_INT, a->comm));
  for (int i = 0; i < a->in; i++) check_block(in + backwards[i], a, i, 0, rcounts[i]);
  for (int i = 0; i < kMost; i++) types[i] = i % 2 ? MPI_INT : MPI_UNSIGNED;
  for (int b = 0; b < a->out; b++) places[b] = starts[b] * (MPI_Aint)sizeof(int);
  for (int i = 0; i < a->in; i++) rplaces[i] = backwards[i] * (MPI_Aint)sizeof(int);
  memset(in, 0xff, bytes);
  OK(MPI_Neighbor_alltoallw(out, counts, places, types, in, rcounts, rplaces, types, a->comm));
  for (int i = 0; i < a->in; i++) check_block(in + backwards[i], a, i, 0, rcounts[i]);
  free(in), free(out);
}

static void each_size(const struct Around* a) {
  MPI_Comm twin;
  struct Around b = *a;
  exchange(a, 1);
  exchange(a, 300);
  exchange(a, kBig);
  OK(MPI_Comm_dup(a->comm, &twin));  // has the same neighbours
  b.comm = twin;
  exchange(&b, 3);
  OK(MPI_Comm_free(&twin));
}

static void grid(int ndims, int* dims, const int* periods) {
  struct Around a = {.in = 2 * ndims, .out = 2 * ndims};
  OK(MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &a.comm));
  for (int d = 0; d < ndims; d++) {  // what is sent in one direction arrives from the other
    OK(MPI_Cart_shift(a.comm, d, 1, &a.from[2 * d], &a.from[2 * d + 1]));
    a.block[2 * d] = 2 * d + 1, a.block[2 * d + 1] = 2 * d;
  }
  each_size(&a);
  OK(MPI_Comm_free(&a.comm));
}

static void graph(void) {
  int *index = malloc(3 * size * sizeof(int)), *edges = index + size;
  struct Around a = {.in = 2, .out = 2};
  for (int i = 0; i < size; i++) {
    index[i] = 2 * i + 2;
    edges[2 * i] = (i + size - 1) % size, edges[2 * i + 1] = (i + 1) % size;
  }
  OK(MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &a.comm));
  for (int i = 0; i < 2; i++) a.from[i] = edges[2 * rank + i], a.block[i] = size > 2 ? 1 - i : i;
  each_size(&a);
  OK(MPI_Comm_free(&a.comm));
  if (size > 1) {  // there, but not back
    int in[4], out[4] = {0};
    for (int i = 0; i < size; i++) index[i] = 1;
    edges[0] = 1;
    OK(MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &a.comm));
    FAILS(MPI_ERR_TOPOLOGY, MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, a.comm));
    OK(MPI_Comm_free(&a.comm));
  }
  free(index);
}

static void distributed(void) {
  int left = (rank + size - 1) % size, right = (rank + 1) % size;
  int to[4] = {right, right, rank, left};
  struct Around a = {.in = 4, .out = 4, .from = {left, left, rank, right}, .block = {0, 1, 2, 3}};
  OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 4, a.from, MPI_UNWEIGHTED, 4, to, MPI_UNWEIGHTED,
                                    MPI_INFO_NULL, 0, &a.comm));
  each_size(&a);
  OK(MPI_Comm_free(&a.comm));
  // A star: all send to rank 0, which sends to nobody; most have no sources.
  struct Around star = {.in = rank == 0 ? (size < kMost ? size : kMost) : 0, .out = rank < kMost};
  for (int i = 0; i < star.in; i++) star.from[i] = star.in - 1 - i, star.block[i] = 0;
  OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, star.in, star.from, MPI_UNWEIGHTED, star.out, (int[]){0},
                                    MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &star.comm));
  exchange(&star, 5);
  if (star.in + star.out == 0) OK(MPI_Neighbor_alltoall(NULL, 5, MPI_INT, NULL, 5, MPI_INT, star.comm));
  OK(MPI_Comm_free(&star.comm));
}

static void mistakes(void) {
  int in[4], out[4] = {0}, one = 1;
  MPI_Comm cart;
  FAILS(MPI_ERR_TOPOLOGY, MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD));
  OK(MPI_Cart_create(MPI_COMM_SELF, 1, &one, &one, 0, &cart));
  FAILS(MPI_ERR_BUFFER, MPI_Neighbor_allgather(MPI_IN_PLACE, 1, MPI_INT, in, 1, MPI_INT, cart));
  FAILS(MPI_ERR_COUNT, MPI_Neighbor_alltoall(out, -1, MPI_INT, in, 1, MPI_INT, cart));
  FAILS(MPI_ERR_TYPE, MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_DATATYPE_NULL, cart));
  OK(MPI_Comm_free(&cart));
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  choose_form(argc, argv);
  int dims[3] = {0, 0, 1};
  OK(MPI_Dims_create(size, 2, dims));
  grid(2, dims, (int[]){1, 0});
  grid(2, dims, (int[]){1, 1});
  grid(3, dims, (int[]){0, 1, 1});
  grid(1, &size, (int[]){0});
  graph();
  distributed();
  mistakes();
  return finish();
}
