// SPDX-License-Identifier: BSD-3-Clause
// Nonblocking operations, alone and while the program computes. The metric is the operation and its wait; its
// overlap says how much of that time was hidden behind a computation of the same length which makes no MPI
// call: 100 % if the three together take as long as the computation alone.
#include <stdio.h>
#include <string.h>

#include "measure.h"

#define WORLD MPI_COMM_WORLD

static MPI_Request pending[2];
static long units;  // of computation beside each operation
static double sink;

static void ibarrier(int x) { (void)x, MPI_Ibarrier(WORLD, pending); }
static void ibcast(int x) { MPI_Ibcast(out, x, MPI_BYTE, 0, WORLD, pending); }
static void ireduce(int x) { MPI_Ireduce(out, in, x / 8, MPI_DOUBLE, MPI_SUM, 0, WORLD, pending); }
static void iallreduce(int x) { MPI_Iallreduce(out, in, x / 8, MPI_DOUBLE, MPI_SUM, WORLD, pending); }
static void igather(int x) { MPI_Igather(out, x, MPI_BYTE, in, x, MPI_BYTE, 0, WORLD, pending); }
static void iscatter(int x) { MPI_Iscatter(out, x, MPI_BYTE, in, x, MPI_BYTE, 0, WORLD, pending); }
static void iallgather(int x) { MPI_Iallgather(out, x, MPI_BYTE, in, x, MPI_BYTE, WORLD, pending); }
static void ialltoall(int x) { MPI_Ialltoall(out, x, MPI_BYTE, in, x, MPI_BYTE, WORLD, pending); }
static void ireduce_scatter_block(int x) {
  MPI_Ireduce_scatter_block(out, in, x / 8, MPI_DOUBLE, MPI_SUM, WORLD, pending);
}
static void iscan(int x) { MPI_Iscan(out, in, x / 8, MPI_DOUBLE, MPI_SUM, WORLD, pending); }

// Point to point: a message from each rank to the next.
static int after(void) { return (rank + 1) % size; }
static int before(void) { return (rank + size - 1) % size; }
static void exchange(int x) {
  MPI_Irecv(in, x, MPI_BYTE, before(), 4, WORLD, &pending[0]);
  MPI_Isend(out, x, MPI_BYTE, after(), 4, WORLD, &pending[1]);
}
static void prepare_exchange(int x) { fill(out, x, rank), clear_in(x); }
static long check_exchange(int x) { return wrong_bytes(in, x, before()); }

static void compute(long count) {  // a chain of multiplications, which no compiler shortens
  double value = sink + 1.0;
  for (long i = 0; i < count; i++) value = value * 1.0000001 + 1e-9;
  sink = value > 1e6 ? 0 : value;
}

static void (*start)(int x);
static void wait(void) { MPI_Waitall(2, pending, MPI_STATUSES_IGNORE); }
static void alone(int x) { start(x), wait(); }
static void beside(int x) { start(x), compute(units), wait(); }
static void computing(int x) { (void)x, compute(units); }

static double seconds_of_a_unit(void) {
  enum { kUnits = 200000 };
  compute(kUnits);
  const double begin = now();
  compute(kUnits);
  return (now() - begin) / kUnits;
}

static void measure_overlap(const char* metric, void (*which)(int x), const Figure* checks, int x) {
  char name[64];
  const Figure figure = {metric, "us", checks->prepare, alone, checks->check, 0};
  start = which;
  pending[0] = pending[1] = MPI_REQUEST_NULL;
  if (!in_time(metric, x) || !prepared_and_right(&figure, x)) return;
  const double pure = repeat(alone, x);
  units = (long)(pure / seconds_of_a_unit()) + 1;
  MPI_Bcast(&units, 1, MPI_LONG, 0, WORLD);
  const double computation = repeat(computing, x);
  const double together = repeat(beside, x);
  if (!prepared_and_right(&figure, x)) return;
  const double hidden = 100 * (pure + computation - together) / (pure < computation ? pure : computation);
  report(metric, x, pure * 1e6, "us");
  snprintf(name, sizeof name, "%s_overlap", metric);
  report(name, x, hidden < 0 ? 0 : hidden > 100 ? 100 : hidden, "%");
}

void nonblocking(const int* sizes, int count) {
  static const Figure kExchange = {"exchange", "us", prepare_exchange, exchange, check_exchange, 0};
  static const struct {
    const char* metric;
    void (*start)(int x);
    const char* like;  // the collective that fills and checks the same buffers
  } kOperations[] = {{"ibcast", ibcast, "bcast"},
                     {"ireduce", ireduce, "reduce"},
                     {"iallreduce", iallreduce, "allreduce"},
                     {"igather", igather, "gather"},
                     {"iscatter", iscatter, "scatter"},
                     {"iallgather", iallgather, "allgather"},
                     {"ialltoall", ialltoall, "alltoall"},
                     {"ireduce_scatter_block", ireduce_scatter_block, "reduce_scatter_block"},
                     {"iscan", iscan, "scan"}};
  measure_overlap("ibarrier", ibarrier, collective_figure("barrier"), 0);
  for (int i = 0; i < count; i++) {
    measure_overlap("exchange", exchange, &kExchange, sizes[i]);
    for (int o = 0; o < (int)(sizeof kOperations / sizeof *kOperations) && sizes[i] % 8 == 0; o++)
      measure_overlap(kOperations[o].metric, kOperations[o].start, collective_figure(kOperations[o].like),
                      sizes[i]);
  }
}
