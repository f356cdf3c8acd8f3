// SPDX-License-Identifier: BSD-3-Clause
// Blocking collectives over all ranks, root 0. x is the bytes of one block: what one rank contributes to a
// gather, receives from a scatter or a reduce_scatter, sends to each in an alltoall. The time is that of the
// slowest rank.
#include <stdlib.h>
#include <string.h>

#include "measure.h"

#define WORLD MPI_COMM_WORLD

// Numbers whose sums are exact, of which a block of x bytes has x / 8, or x / 4 floats where 8 does not
// divide x.
static int doubles(int x) { return x % 8 == 0; }
static MPI_Datatype number(int x) { return doubles(x) ? MPI_DOUBLE : MPI_FLOAT; }
static int numbers(int x) { return x / (doubles(x) ? 8 : 4); }
static void set_numbers(int x, int count) {
  for (int i = 0; i < count; i++)
    if (doubles(x))
      ((double*)out)[i] = i % 16 + rank + 1;
    else
      ((float*)out)[i] = (float)(i % 16 + rank + 1);
}
// How many of `in` are not the sum over `ranks` ranks from 0 on; element 0 is the contribution's element
// `first`.
static long wrong_sums(int x, int first, int ranks) {
  long wrong = 0;
  for (int i = 0; i < numbers(x); i++) {
    const double sum = ranks * ((first + i) % 16) + ranks * (ranks + 1) / 2;
    wrong += (doubles(x) ? ((double*)in)[i] : (double)((float*)in)[i]) != sum;
  }
  return wrong;
}

static void prepare_none(int x) { (void)x; }
static long check_none(int x) { return (void)x, 0; }
static void prepare_bcast(int x) { fill(out, x, rank == 0 ? 3 : 4); }
static long check_bcast(int x) { return wrong_bytes(out, x, 3); }
static void prepare_sum(int x) { set_numbers(x, numbers(x)), clear_in(x); }
static long check_sum(int x) { return wrong_sums(x, 0, size); }
static long check_sum_at_root(int x) { return rank == 0 ? check_sum(x) : 0; }
static long check_scan(int x) { return wrong_sums(x, 0, rank + 1); }
static long check_exscan(int x) { return rank > 0 ? wrong_sums(x, 0, rank) : 0; }
static void prepare_blocks_of_sums(int x) { set_numbers(x, numbers(x) * size), clear_in(x); }
static long check_block_of_sums(int x) { return wrong_sums(x, rank * numbers(x), size); }
static void prepare_own(int x) { fill(out, x, rank), clear_in((long)x * size); }
static long check_all(int x) {
  long wrong = 0;
  for (int i = 0; i < size; i++) wrong += wrong_bytes(in + (long)i * x, x, i);
  return wrong;
}
static long check_all_at_root(int x) { return rank == 0 ? check_all(x) : 0; }
static void prepare_scatter(int x) {
  for (int i = 0; i < size; i++) fill(out + (long)i * x, x, i);
  clear_in(x);
}
static long check_scatter(int x) { return wrong_bytes(in, x, rank); }
static void prepare_alltoall(int x) {
  for (int i = 0; i < size; i++) fill(out + (long)i * x, x, rank * size + i);
  clear_in((long)x * size);
}
static long check_alltoall(int x) {
  long wrong = 0;
  for (int i = 0; i < size; i++) wrong += wrong_bytes(in + (long)i * x, x, i * size + rank);
  return wrong;
}

static void barrier(int x) { (void)x, MPI_Barrier(WORLD); }
static void bcast(int x) { MPI_Bcast(out, x, MPI_BYTE, 0, WORLD); }
static void reduce(int x) { MPI_Reduce(out, in, numbers(x), number(x), MPI_SUM, 0, WORLD); }
static void allreduce(int x) { MPI_Allreduce(out, in, numbers(x), number(x), MPI_SUM, WORLD); }
static void scan(int x) { MPI_Scan(out, in, numbers(x), number(x), MPI_SUM, WORLD); }
static void exscan(int x) { MPI_Exscan(out, in, numbers(x), number(x), MPI_SUM, WORLD); }
static void reduce_scatter_block(int x) {
  MPI_Reduce_scatter_block(out, in, numbers(x), number(x), MPI_SUM, WORLD);
}
static void gather(int x) { MPI_Gather(out, x, MPI_BYTE, in, x, MPI_BYTE, 0, WORLD); }
static void scatter(int x) { MPI_Scatter(out, x, MPI_BYTE, in, x, MPI_BYTE, 0, WORLD); }
static void allgather(int x) { MPI_Allgather(out, x, MPI_BYTE, in, x, MPI_BYTE, WORLD); }
static void alltoall(int x) { MPI_Alltoall(out, x, MPI_BYTE, in, x, MPI_BYTE, WORLD); }

// For the variants with a count for each rank; set before they run.
static int *counts, *places, *item_counts;
static MPI_Datatype* types;
static void set_counts(int x) {
  for (int i = 0; i < size; i++)
    counts[i] = x, places[i] = x * i, item_counts[i] = numbers(x), types[i] = MPI_BYTE;
}
static void prepare_own_v(int x) { set_counts(x), prepare_own(x); }
static void prepare_scatter_v(int x) { set_counts(x), prepare_scatter(x); }
static void prepare_alltoall_v(int x) { set_counts(x), prepare_alltoall(x); }
static void prepare_blocks_v(int x) { set_counts(x), prepare_blocks_of_sums(x); }
static void reduce_scatter(int x) { MPI_Reduce_scatter(out, in, item_counts, number(x), MPI_SUM, WORLD); }
static void gatherv(int x) { MPI_Gatherv(out, x, MPI_BYTE, in, counts, places, MPI_BYTE, 0, WORLD); }
static void scatterv(int x) { MPI_Scatterv(out, counts, places, MPI_BYTE, in, x, MPI_BYTE, 0, WORLD); }
static void allgatherv(int x) { MPI_Allgatherv(out, x, MPI_BYTE, in, counts, places, MPI_BYTE, WORLD); }
static void alltoallv(int x) {
  (void)x;
  MPI_Alltoallv(out, counts, places, MPI_BYTE, in, counts, places, MPI_BYTE, WORLD);
}
static void alltoallw(int x) {
  (void)x;
  MPI_Alltoallw(out, counts, places, types, in, counts, places, types, WORLD);
}

static const Figure kFigures[] = {
    {"barrier", "us", prepare_none, barrier, check_none, 0},
    {"bcast", "us", prepare_bcast, bcast, check_bcast, 0},
    {"reduce", "us", prepare_sum, reduce, check_sum_at_root, 0},
    {"allreduce", "us", prepare_sum, allreduce, check_sum, 0},
    {"gather", "us", prepare_own, gather, check_all_at_root, 0},
    {"scatter", "us", prepare_scatter, scatter, check_scatter, 0},
    {"allgather", "us", prepare_own, allgather, check_all, 0},
    {"alltoall", "us", prepare_alltoall, alltoall, check_alltoall, 0},
    {"reduce_scatter", "us", prepare_blocks_v, reduce_scatter, check_block_of_sums, 0},
    {"reduce_scatter_block", "us", prepare_blocks_of_sums, reduce_scatter_block, check_block_of_sums, 0},
    {"scan", "us", prepare_sum, scan, check_scan, 0},
    {"exscan", "us", prepare_sum, exscan, check_exscan, 0},
    {"gatherv", "us", prepare_own_v, gatherv, check_all_at_root, 0},
    {"scatterv", "us", prepare_scatter_v, scatterv, check_scatter, 0},
    {"allgatherv", "us", prepare_own_v, allgatherv, check_all, 0},
    {"alltoallv", "us", prepare_alltoall_v, alltoallv, check_alltoall, 0},
    {"alltoallw", "us", prepare_alltoall_v, alltoallw, check_alltoall, 0},
};
enum { kCount = sizeof kFigures / sizeof *kFigures };

const Figure* collective_figure(const char* metric) {
  for (int i = 0; i < kCount; i++)
    if (strcmp(kFigures[i].metric, metric) == 0) return &kFigures[i];
  return NULL;
}

static int of_numbers(const Figure* figure) {
  return strstr(figure->metric, "reduce") || strstr(figure->metric, "scan");
}

void collective(const int* sizes, int count) {
  counts = calloc((size_t)size, sizeof *counts), places = calloc((size_t)size, sizeof *places);
  item_counts = calloc((size_t)size, sizeof *item_counts), types = calloc((size_t)size, sizeof *types);
  measure(&kFigures[0], 0);
  for (int i = 0; i < count; i++)  // small ones of all first: what is late does without large ones
    for (int o = 1; o < kCount; o++)
      if (!of_numbers(&kFigures[o]) || sizes[i] % 4 == 0) measure(&kFigures[o], sizes[i]);
  free(counts), free(places), free(item_counts), free(types);
}
