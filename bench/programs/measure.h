// SPDX-License-Identifier: BSD-3-Clause
// What the parts of `measure` share: buffers, patterns, and how one figure is taken and checked.
#pragma once

#include <mpi.h>

extern int rank, size;  // in MPI_COMM_WORLD
extern char *out, *in;  // as large as the largest figure needs

// One figure for one x (bytes, or what the part says). `run` is repeated and timed. Before the timing and
// after it `prepare` fills the buffers, `run` runs once and `check` counts what is wrong on this rank.
typedef struct {
  const char *metric, *unit;
  void (*prepare)(int x);
  void (*run)(int x);
  long (*check)(int x);
  double (*value)(double seconds, int x);  // from seconds for one run to the figure; NULL: microseconds
} Figure;

double now(void);
double longest(double seconds);  // of all ranks

// Takes the figure and reports it; nothing at all once the deadline has passed.
void measure(const Figure* figure, int x);

// The pieces of measure(), for figures that need more. prepared_and_right() reports what is wrong; repeat()
// is the time of one run: the longest of all ranks.
int in_time(const char* metric, int x);  // and wanted
int prepared_and_right(const Figure* figure, int x);
double repeat(void (*run)(int x), int x);
void report(const char* metric, int x, double value, const char* unit);

void fill(char* buffer, long bytes, int seed);
long wrong_bytes(const char* buffer, long bytes, int seed);
void clear_in(long bytes);  // to what no pattern is, mostly

// Messages in flight in a window, by their size.
int in_flight(int bytes);

// The parts: what they do with `count` sizes.
void point(const int* sizes, int count);
void onesided(const int* sizes, int count);
void collective(const int* sizes, int count);
void turns(const int* sizes, int count);
void nonblocking(const int* sizes, int count);
void queues(const int* depths, int count);
void memory(void);
double seconds_per_run(void);  // that a figure may take

const Figure* collective_figure(const char* metric);
