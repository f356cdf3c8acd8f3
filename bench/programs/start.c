// SPDX-License-Identifier: BSD-3-Clause
// Resident memory of a rank: after MPI_Init, and after each pair of ranks has exchanged a message. x is the
// number of ranks, the figure the mean of all ranks. PSS counts a page that n processes share as the n-th
// part of it.
#include <stdio.h>
#include <string.h>

#include "measure.h"

static double megabytes_of(const char* file, const char* key) {
  char line[256];
  double kilobytes = -1;
  FILE* text = fopen(file, "r");
  if (!text) return -1;
  while (kilobytes < 0 && fgets(line, sizeof line, text))
    if (strncmp(line, key, strlen(key)) == 0) sscanf(line + strlen(key), "%lf", &kilobytes);
  fclose(text);
  return kilobytes / 1024;
}

static void report_mean(const char* metric, double mine) {
  double sum = 0, least = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(&mine, &least, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  if (least >= 0)
    report(metric, size, sum / size, "MB");
  else if (rank == 0)
    printf("!missing\t%s\t%d\n", metric, size);
}

void memory(void) {
  report_mean("rss_init", megabytes_of("/proc/self/status", "VmRSS:"));
  for (int step = 1; step < size; step++) {
    int sent = rank, received = -1;
    const int to = (rank + step) % size, from = (rank - step + size) % size;
    MPI_Sendrecv(&sent, 1, MPI_INT, to, 1, &received, 1, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (received != from) printf("!wrong\tmemory\t%d\t1\n", size);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const double rss = megabytes_of("/proc/self/status", "VmRSS:");
  const double pss = megabytes_of("/proc/self/smaps_rollup", "Pss:");
  report_mean("rss", rss);
  report_mean("pss", pss);
}
