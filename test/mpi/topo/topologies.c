// SPDX-License-Identifier: BSD-3-Clause
// Cartesian, graph and distributed graph topologies: every query, sub-grids, shifts, neighbours.
#include "check.h"

static void cartesian(void) {
  MPI_Comm cart, sub;
  int dims[2] = {0, 0}, periods[2] = {1, 0}, got_dims[2], got_periods[2], coords[2], n, r, from, to, status;
  OK(MPI_Dims_create(size, 2, dims));
  EQUAL(dims[0] * dims[1], size);
  CHECK(dims[0] >= dims[1]);
  OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart));
  OK(MPI_Topo_test(cart, &status));
  EQUAL(status, MPI_CART);
  OK(MPI_Cartdim_get(cart, &n));
  EQUAL(n, 2);
  OK(MPI_Cart_get(cart, 2, got_dims, got_periods, coords));
  EQUAL(got_dims[0], dims[0]);
  EQUAL(got_periods[0] * 2 + got_periods[1], 2);
  EQUAL(coords[0] * dims[1] + coords[1], rank);  // row-major
  OK(MPI_Cart_rank(cart, coords, &r));
  EQUAL(r, rank);
  OK(MPI_Cart_shift(cart, 0, 1, &from, &to));  // periodic
  EQUAL(to, (coords[0] + 1) % dims[0] * dims[1] + coords[1]);
  EQUAL(from, (coords[0] + dims[0] - 1) % dims[0] * dims[1] + coords[1]);
  OK(MPI_Cart_shift(cart, 1, 1, &from, &to));  // not
  EQUAL(to, coords[1] + 1 < dims[1] ? rank + 1 : MPI_PROC_NULL);
  EQUAL(from, coords[1] > 0 ? rank - 1 : MPI_PROC_NULL);
  int wrapped[2] = {coords[0] + 3 * dims[0], coords[1]}, beyond[2] = {0, dims[1]};
  OK(MPI_Cart_rank(cart, wrapped, &r));
  EQUAL(r, rank);
  CHECK(MPI_Cart_rank(cart, beyond, &r) != MPI_SUCCESS);
  OK(MPI_Cart_sub(cart, (int[]){0, 1}, &sub));
  OK(MPI_Comm_size(sub, &n));
  EQUAL(n, dims[1]);
  OK(MPI_Comm_rank(sub, &r));
  EQUAL(r, coords[1]);
  OK(MPI_Cartdim_get(sub, &n));
  EQUAL(n, 1);
  OK(MPI_Comm_free(&sub));
  OK(MPI_Comm_dup(cart, &sub));  // the topology is duplicated too
  OK(MPI_Topo_test(sub, &status));
  EQUAL(status, MPI_CART);
  OK(MPI_Comm_free(&sub));
  OK(MPI_Comm_free(&cart));
  int one[1] = {1};
  OK(MPI_Cart_create(MPI_COMM_WORLD, 1, one, periods, 1, &cart));  // smaller than the communicator
  if (rank == 0)
    OK(MPI_Comm_free(&cart));
  else
    CHECK(cart == MPI_COMM_NULL);
  OK(MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, &r));
  OK(MPI_Topo_test(MPI_COMM_WORLD, &status));
  EQUAL(status, MPI_UNDEFINED);
}

static void dims(void) {
  const struct {
    int n, d, fixed[3], want[3];
  } kCases[] = {{6, 2, {0, 0}, {3, 2}},        {7, 2, {0, 0}, {7, 1}}, {6, 3, {0, 3, 0}, {2, 3, 1}},
                {24, 3, {0, 0, 0}, {4, 3, 2}}, {1, 1, {0}, {1}},       {16, 2, {0, 0}, {4, 4}},
                {64, 3, {0, 0, 0}, {4, 4, 4}}};
  for (size_t c = 0; c < sizeof kCases / sizeof *kCases; c++) {
    int d[3];
    memcpy(d, kCases[c].fixed, sizeof d);
    OK(MPI_Dims_create(kCases[c].n, kCases[c].d, d));
    for (int i = 0; i < kCases[c].d; i++) EQUAL(d[i], kCases[c].want[i]);
  }
  int impossible[2] = {4, 0};
  CHECK(MPI_Dims_create(7, 2, impossible) != MPI_SUCCESS);
}

static void graph(void) {  // a ring, as the old interface
  MPI_Comm comm;
  int *index = malloc(3 * size * sizeof(int)), *edges = index + size, n, e, status, neighbours[2];
  for (int i = 0; i < size; i++) {
    index[i] = 2 * (i + 1);
    edges[2 * i] = (i + size - 1) % size, edges[2 * i + 1] = (i + 1) % size;
  }
  OK(MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &comm));
  OK(MPI_Topo_test(comm, &status));
  EQUAL(status, MPI_GRAPH);
  OK(MPI_Graphdims_get(comm, &n, &e));
  EQUAL(n, size);
  EQUAL(e, 2 * size);
  OK(MPI_Graph_neighbors_count(comm, rank, &n));
  EQUAL(n, 2);
  OK(MPI_Graph_neighbors(comm, rank, 2, neighbours));
  EQUAL(neighbours[0], (rank + size - 1) % size);
  int* got = malloc(3 * size * sizeof(int));
  OK(MPI_Graph_get(comm, size, 2 * size, got, got + size));
  EQUAL(memcmp(got, index, 3 * size * sizeof(int)), 0);
  OK(MPI_Graph_map(MPI_COMM_WORLD, size, index, edges, &n));
  free(index), free(got);
  OK(MPI_Comm_free(&comm));
}

static void distributed(void) {
  MPI_Comm comm;
  int right = (rank + 1) % size, left = (rank + size - 1) % size, in, out, weighted, status;
  int sources[4], targets[4], sw[4], tw[4];
  int from_two[2] = {left, rank}, to_two[2] = {right, rank}, weights[2] = {5, 9};
  OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, from_two, weights, 2, to_two, weights, MPI_INFO_NULL,
                                    0, &comm));
  OK(MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted));
  EQUAL(in * 10 + out, 22);
  CHECK(weighted);
  OK(MPI_Dist_graph_neighbors(comm, 2, sources, sw, 2, targets, tw));
  EQUAL(sources[0], left);
  EQUAL(targets[0], right);
  EQUAL(tw[1], 9);
  OK(MPI_Comm_free(&comm));
  // Every edge is declared by rank 0 alone.
  int n = rank == 0 ? size : 0, *from = malloc(3 * size * sizeof(int)), *degrees = from + size,
      *to = degrees + size;
  for (int i = 0; i < size; i++) from[i] = i, degrees[i] = 1, to[i] = (i + 1) % size;
  OK(MPI_Dist_graph_create(MPI_COMM_WORLD, n, from, degrees, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm));
  free(from);
  OK(MPI_Topo_test(comm, &status));
  EQUAL(status, MPI_DIST_GRAPH);
  OK(MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted));
  EQUAL(in * 10 + out, 11);
  CHECK(!weighted);
  OK(MPI_Dist_graph_neighbors(comm, 1, sources, MPI_UNWEIGHTED, 1, targets, MPI_UNWEIGHTED));
  EQUAL(sources[0], left);
  EQUAL(targets[0], right);
  OK(MPI_Comm_free(&comm));
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  cartesian();
  dims();
  graph();
  distributed();
  return finish();
}
