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

int main(void) {
  enum { kRounds = 200000 };
  atomic_long* line = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (line == MAP_FAILED) return 1;
  pid_t child = fork();
  pin(child == 0);
  if (child == 0) {
    for (long i = 0; i < 2 * kRounds; i++) {
      while (atomic_load_explicit(line, memory_order_acquire) != 2 * i + 1) continue;
      atomic_store_explicit(line, 2 * i + 2, memory_order_release);
    }
    _exit(0);
  }
  double start = 0;
  for (long i = 0; i < 2 * kRounds; i++) {
    if (i == kRounds) start = now();  // the first half wakes both cores up
    atomic_store_explicit(line, 2 * i + 1, memory_order_release);
    while (atomic_load_explicit(line, memory_order_acquire) != 2 * i + 2) continue;
  }
  printf("raw\t8\t%.6g\tus\n", (now() - start) / kRounds / 2 * 1e6);
  waitpid(child, NULL, 0);
  return 0;
}
