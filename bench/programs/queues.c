// SPDX-License-Identifier: BSD-3-Clause
// Deep queues between ranks 0 and 1; x is the depth, the figure the time for one of the messages.
//   unexpected: that many messages of 8 bytes have come, each with its own tag, when the last is received
//   first. posted: that many receives wait, each with its own tag, when the message for the last one comes
//   first.
#include <stdio.h>
#include <stdlib.h>

#include "measure.h"

enum { kMostDepth = 30000 };  // tags up to 32767 are sure to be there
static MPI_Request* requests;
static long wrong;

static double unexpected(int depth) {  // seconds for one, on rank 1
  long long word = 0;
  if (rank == 0)
    for (int tag = 0; tag <= depth; tag++) {  // the last says that all are there
      word = 5 * (long long)tag + 1;
      MPI_Send(&word, 1, MPI_LONG_LONG, 1, tag, MPI_COMM_WORLD);
    }
  if (rank != 1) return 0;
  MPI_Recv(&word, 1, MPI_LONG_LONG, 0, depth, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const double start = now();
  for (int tag = depth - 1; tag >= 0; tag--) {
    MPI_Recv(&word, 1, MPI_LONG_LONG, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    wrong += word != 5 * (long long)tag + 1;
  }
  return (now() - start) / depth;
}

static double posted(int depth) {
  long long word = 0, *words = (long long*)in;
  if (rank == 0) {
    MPI_Recv(&word, 1, MPI_LONG_LONG, 1, depth, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int tag = depth - 1; tag >= 0; tag--) {
      word = 3 * (long long)tag + 2;
      MPI_Send(&word, 1, MPI_LONG_LONG, 1, tag, MPI_COMM_WORLD);
    }
  }
  if (rank != 1) return 0;
  for (int tag = 0; tag < depth; tag++)
    MPI_Irecv(&words[tag], 1, MPI_LONG_LONG, 0, tag, MPI_COMM_WORLD, &requests[tag]);
  const double start = now();
  MPI_Send(&word, 1, MPI_LONG_LONG, 0, depth, MPI_COMM_WORLD);
  MPI_Waitall(depth, requests, MPI_STATUSES_IGNORE);
  const double each = (now() - start) / depth;
  for (int tag = 0; tag < depth; tag++) wrong += words[tag] != 3 * (long long)tag + 2;
  return each;
}

static void measure_depth(const char* metric, double (*run)(int depth), int depth) {
  if (!in_time(metric, depth)) return;
  const double first = longest(run(depth));
  double most = first > 0 ? seconds_per_run() / (first * depth) : 1;
  int count = most > 100 ? 100 : most < 1 ? 1 : (int)most;
  MPI_Bcast(&count, 1, MPI_INT, 0, MPI_COMM_WORLD);
  double sum = 0;
  for (int i = 0; i < count; i++) {
    MPI_Barrier(MPI_COMM_WORLD);
    sum += run(depth);
  }
  long all = 0;
  MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  sum = longest(sum / count);
  if (all == 0)
    report(metric, depth, sum * 1e6, "us");
  else if (rank == 0)
    printf("!wrong\t%s\t%d\t%ld\n", metric, depth, all);
}

void queues(const int* depths, int count) {
  requests = malloc(kMostDepth * sizeof *requests);
  for (int i = 0; i < count; i++) {
    if (depths[i] > kMostDepth) {
      if (rank == 0) printf("!missing\tunexpected\t%d\n", depths[i]);
      continue;
    }
    measure_depth("unexpected", unexpected, depths[i]);
    measure_depth("posted", posted, depths[i]);
  }
  free(requests);
}
