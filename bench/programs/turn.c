// SPDX-License-Identifier: BSD-3-Clause
// Blocking collectives with a root, which all ranks are in turn, so that nobody runs ahead: what a broadcast
// or a reduction takes until its result is there, where a stream of them from one root hides that.
#include "measure.h"

static int calls;
static int last_root(void) { return (calls + size - 1) % size; }
static int turn(void) { return calls++ % size; }

static void prepare_bcast(int x) { fill(out, x, rank == calls % size ? 3 : 4); }
static long check_bcast(int x) { return wrong_bytes(out, x, 3); }
static void bcast(int x) { MPI_Bcast(out, x, MPI_BYTE, turn(), MPI_COMM_WORLD); }

static void prepare_reduce(int x) {
  for (int i = 0; i < x / 4; i++) ((int*)out)[i] = i + rank;
  clear_in(x);
}
static long check_reduce(int x) {
  long wrong = 0;
  for (int i = 0; i < x / 4 && rank == last_root(); i++)
    wrong += ((int*)in)[i] != i * size + size * (size - 1) / 2;
  return wrong;
}
static void reduce(int x) { MPI_Reduce(out, in, x / 4, MPI_INT, MPI_SUM, turn(), MPI_COMM_WORLD); }

static void prepare_gather(int x) { fill(out, x, rank), clear_in((long)x * size); }
static long check_gather(int x) {
  long wrong = 0;
  for (int i = 0; i < size && rank == last_root(); i++) wrong += wrong_bytes(in + (long)i * x, x, i);
  return wrong;
}
static void gather(int x) { MPI_Gather(out, x, MPI_BYTE, in, x, MPI_BYTE, turn(), MPI_COMM_WORLD); }

static void prepare_scatter(int x) {
  for (int i = 0; i < size; i++) fill(out + (long)i * x, x, i);
  clear_in(x);
}
static long check_scatter(int x) { return wrong_bytes(in, x, rank); }
static void scatter(int x) { MPI_Scatter(out, x, MPI_BYTE, in, x, MPI_BYTE, turn(), MPI_COMM_WORLD); }

void turns(const int* sizes, int count) {
  static const Figure kFigures[] = {{"bcast/turn", "us", prepare_bcast, bcast, check_bcast, 0},
                                    {"reduce/turn", "us", prepare_reduce, reduce, check_reduce, 0},
                                    {"gather/turn", "us", prepare_gather, gather, check_gather, 0},
                                    {"scatter/turn", "us", prepare_scatter, scatter, check_scatter, 0}};
  for (int i = 0; i < 2 * size; i++) bcast(1);  // every root connects
  for (int o = 0; o < 4; o++)
    for (int i = 0; i < count; i++)
      if (sizes[i] % 4 == 0) measure(&kFigures[o], sizes[i]);
}
