// SPDX-License-Identifier: BSD-3-Clause
// Measures one MPI: point-to-point or one-sided between ranks 0 and 1, or collectives over all ranks.
//
//   measure point|collective|onesided|init [milliseconds per figure [size,size,...]]
// Rank 0 prints "metric TAB bytes TAB value TAB unit". Each figure repeats its operation for about the given
// time, at least a few times if that is not too long; all ranks use the count that rank 0 chose.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kWindow = 64, kMostSizes = 16 };
static int sizes[kMostSizes], count_of_sizes;
static int rank, size;
static double budget = 0.02;
static char *out, *in;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef void (*Operation)(int bytes);

static double seconds_each(Operation operation, int bytes, int count) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = now();
  for (int i = 0; i < count; i++) operation(bytes);
  return (now() - start) / count;
}

// Seconds for one operation: warms up, agrees on a count, measures after a barrier. What takes far longer
// than the budget is measured once.
static double repeat(Operation operation, int bytes) {
  operation(bytes);
  int count = seconds_each(operation, bytes, 1) > 4 * budget ? 1 : 3;
  MPI_Bcast(&count, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (count > 1) {
    const double each = seconds_each(operation, bytes, count);
    const double fits = each > 0 ? budget / each : 200000;
    count = fits > 200000 ? 200000 : fits < 3 ? 3 : (int)fits;
    MPI_Bcast(&count, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  return seconds_each(operation, bytes, count);
}

static void report(const char* metric, int bytes, double value, const char* unit) {
  if (rank == 0) printf("%s\t%d\t%.6g\t%s\n", metric, bytes, value, unit);
}

static void ping_pong(int bytes) {
  if (rank == 0) {
    MPI_Send(out, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    MPI_Recv(in, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (rank == 1) {
    MPI_Recv(in, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(out, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
  }
}

static void window(int bytes, int messages) {  // many in flight, one short answer
  MPI_Request requests[kWindow];
  if (rank == 0) {
    for (int i = 0; i < messages; i++) MPI_Isend(out, bytes, MPI_BYTE, 1, 2, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall(messages, requests, MPI_STATUSES_IGNORE);
    MPI_Recv(in, 1, MPI_BYTE, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (rank == 1) {
    for (int i = 0; i < messages; i++) MPI_Irecv(in, bytes, MPI_BYTE, 0, 2, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall(messages, requests, MPI_STATUSES_IGNORE);
    MPI_Send(out, 1, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
  }
}
static int in_flight(int bytes) { return bytes > 65536 ? 8 : kWindow; }
static void stream(int bytes) { window(bytes, in_flight(bytes)); }

static void barrier(int bytes) {
  (void)bytes;
  MPI_Barrier(MPI_COMM_WORLD);
}
static void bcast(int bytes) { MPI_Bcast(out, bytes, MPI_BYTE, 0, MPI_COMM_WORLD); }
static void allreduce(int bytes) {
  const int doubles = bytes % (int)sizeof(double) == 0;
  const int count = bytes / (int)(doubles ? sizeof(double) : sizeof(float));
  MPI_Allreduce(out, in, count, doubles ? MPI_DOUBLE : MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}
static void allgather(int bytes) { MPI_Allgather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD); }
static void alltoall(int bytes) { MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD); }

// One-sided, in a window of MPI_Win_allocate that rank 0 has locked at rank 1. Rank 1 waits in a barrier.
static MPI_Win shared_window;
static void put_flush(int bytes) {
  if (rank != 0) return;
  MPI_Put(out, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, shared_window);
  MPI_Win_flush(1, shared_window);
}
static void get_flush(int bytes) {
  if (rank != 0) return;
  MPI_Get(in, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, shared_window);
  MPI_Win_flush(1, shared_window);
}
static void fetch_add(int bytes) {
  (void)bytes;
  if (rank != 0) return;
  MPI_Fetch_and_op(out, in, MPI_LONG_LONG, 1, 0, MPI_SUM, shared_window);
  MPI_Win_flush(1, shared_window);
}
static void swap(int bytes) {
  (void)bytes;
  if (rank != 0) return;
  MPI_Compare_and_swap(out, out, in, MPI_LONG_LONG, 1, 0, shared_window);
  MPI_Win_flush(1, shared_window);
}

static void onesided(void) {
  static const int kSizes[] = {8, 1024, 65536};
  void* base;
  MPI_Win_allocate(1 << 20, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &shared_window);
  memset(base, 0, 1 << 20);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, shared_window);
  for (int i = 0; i < 3; i++) report("put", kSizes[i], repeat(put_flush, kSizes[i]) * 1e6, "us");
  for (int i = 0; i < 3; i++) report("get", kSizes[i], repeat(get_flush, kSizes[i]) * 1e6, "us");
  report("fetch_op", 8, repeat(fetch_add, 8) * 1e6, "us");
  report("swap", 8, repeat(swap, 8) * 1e6, "us");
  if (rank == 0) MPI_Win_unlock(1, shared_window);
  MPI_Win_free(&shared_window);
}

static void point(void) {
  for (int i = 0; i < count_of_sizes; i++)
    report("latency", sizes[i], repeat(ping_pong, sizes[i]) / 2 * 1e6, "us");
  for (int i = 0; i < count_of_sizes; i++) {
    double each = repeat(stream, sizes[i]) / in_flight(sizes[i]);
    report("bandwidth", sizes[i], sizes[i] / each * 1e-6, "MB/s");
    if (sizes[i] == 8) report("rate", 8, 1e-6 / each, "M/s");
  }
}

static void collective(void) {
  report("barrier", 0, repeat(barrier, 0) * 1e6, "us");
  static const struct {
    const char* name;
    Operation run;
  } kOperations[] = {
      {"bcast", bcast}, {"allreduce", allreduce}, {"allgather", allgather}, {"alltoall", alltoall}};
  for (int o = 0; o < 4; o++)
    for (int i = 0; i < count_of_sizes; i++)
      report(kOperations[o].name, sizes[i], repeat(kOperations[o].run, sizes[i]) * 1e6, "us");
}

// Fills `sizes` from text; returns the largest, or 0 for text that is no list.
static int read_sizes(const char* text) {
  int most = 0;
  while (count_of_sizes < kMostSizes) {
    char* end;
    const long bytes = strtol(text, &end, 10);
    if (end == text || bytes < 1 || bytes > 64 << 20) return 0;
    sizes[count_of_sizes++] = (int)bytes;
    if (bytes > most) most = (int)bytes;
    if (*end == 0) return most;
    if (*end != ',') return 0;
    text = end + 1;
  }
  return 0;
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "point";
  if (argc > 2) budget = atof(argv[2]) * 1e-3;
  const char* own = strcmp(what, "point") == 0
                        ? "1,8,64,256,1024,4096,16384,65536,262144,1048576,4194304"
                        : "8,64,1024,16384,65536,1048576";
  const int most = read_sizes(argc > 3 ? argv[3] : own);
  if (most == 0) {
    fprintf(stderr, "measure: `%s` is no list of up to %d sizes from 1 to 64 MiB\n", argv[3], kMostSizes);
    return 2;
  }
  double start = now();
  MPI_Init(&argc, &argv);
  double started = now() - start;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const size_t bytes = (size_t)most * (size_t)size;
  out = malloc(bytes), in = malloc(bytes);
  memset(out, 1, bytes);
  memset(in, 1, bytes);
  report("init", 0, started * 1e3, "ms");
  if (strcmp(what, "point") == 0) point();
  if (strcmp(what, "collective") == 0) collective();
  if (strcmp(what, "onesided") == 0) onesided();
  free(out);
  free(in);
  MPI_Finalize();
  return 0;
}
