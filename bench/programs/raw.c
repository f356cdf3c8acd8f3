// SPDX-License-Identifier: BSD-3-Clause
// The floor: two processes on two cores bounce one cache line. Prints the time one way, in microseconds.
#define _GNU_SOURCE
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void pin(int nth) {  // to the nth core that this process may use
  cpu_set_t allowed, one;
  sched_getaffinity(0, sizeof allowed, &allowed);
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
    if (CPU_ISSET(cpu, &allowed) && nth-- == 0) {
      CPU_ZERO(&one);
      CPU_SET(cpu, &one);
      sched_setaffinity(0, sizeof one, &one);
      return;
    }
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Bounces the line for so long, on a busy machine a little longer; returns seconds for a bounce and back.
static double bounce(atomic_long* line, long* turn, double seconds) {
  const double start = now();
  long trips = 0;
  double passed = 0;
  while (passed < seconds) {
    for (int i = 0; i < 16; i++, *turn += 2) {
      atomic_store_explicit(line, *turn + 1, memory_order_release);
      while (atomic_load_explicit(line, memory_order_acquire) != *turn + 2) continue;
    }
    trips += 16;
    passed = now() - start;
  }
  return passed / (double)trips;
}

int main(void) {
  enum { kEnd = -1 };
  atomic_long* line = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (line == MAP_FAILED) return 1;
  const pid_t child = fork();
  if (child < 0) return 1;
  pin(child == 0);
  if (child == 0) {
    for (long i = 0;; i += 2) {
      long seen;
      while ((seen = atomic_load_explicit(line, memory_order_acquire)) != i + 1)
        if (seen == kEnd) _exit(0);
      atomic_store_explicit(line, i + 2, memory_order_release);
    }
  }
  long turn = 0;
  bounce(line, &turn, 0.02);  // wakes both cores up
  const double each = bounce(line, &turn, 0.02);
  atomic_store_explicit(line, kEnd, memory_order_release);
  waitpid(child, NULL, 0);
  printf("raw\t8\t%.6g\tus\n", each / 2 * 1e6);
  return 0;
}
