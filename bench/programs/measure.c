// SPDX-License-Identifier: BSD-3-Clause
// Measures one MPI and checks every result. `vicinity bench` compiles it for each and starts it.
//
//   measure MILLISECONDS DEADLINE single|multiple [PART[/METRIC+METRIC...]:SIZE,SIZE,...]...
// Parts: point, onesided, collective, turns, nonblocking, queues (sizes are depths), start (no sizes). Rank 0
// prints "metric TAB x TAB value TAB unit"; "!library", "!wrong", "!late" or "!missing" stand in front of
// what the library says of itself, is wrong, was left out after DEADLINE seconds, or is not there. Each
// figure repeats its operation for about the given time, at least a few times if that is not too long; all
// ranks use the count that rank 0 chose. Exit code 3 if a result was wrong.
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kMostSizes = 24, kMostParts = 8 };
int rank, size;
char *out, *in;
static double budget = 0.02, deadline = 600;
static double began;
static long wrong_in_all;

double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double seconds_per_run(void) { return budget; }

static char pattern(long i, int seed) { return (char)(seed * 37 + i * 7 + (i >> 8) * 13 + 1); }

void fill(char* buffer, long bytes, int seed) {
  for (long i = 0; i < bytes; i++) buffer[i] = pattern(i, seed);
}

long wrong_bytes(const char* buffer, long bytes, int seed) {
  long wrong = 0;
  for (long i = 0; i < bytes; i++) wrong += buffer[i] != pattern(i, seed);
  return wrong;
}

void clear_in(long bytes) { memset(in, 0x5a, (size_t)bytes); }

int in_flight(int bytes) { return bytes > 65536 ? 4 : bytes > 4096 ? 16 : 64; }

double longest(double seconds) {
  double most = 0;
  MPI_Allreduce(&seconds, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return most;
}

static double seconds_each(void (*run)(int x), int x, int count) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = now();
  for (int i = 0; i < count; i++) run(x);
  return longest((now() - start) / count);
}

// Agrees on a count and measures after a barrier. What takes far longer than the budget is measured once. The
// first few runs touch memory for the first time, so the estimate comes from as many as take a while.
double repeat(void (*run)(int x), int x) {
  int count = 1;
  double each = seconds_each(run, x, count);
  if (each > 4 * budget) return each;
  while (each * count < budget / 8 && count < 10000) {
    count *= 8;
    each = seconds_each(run, x, count);
  }
  const double fits = each > 0 ? budget / each : 200000;
  count = fits > 200000 ? 200000 : fits < 3 ? 3 : (int)fits;
  MPI_Bcast(&count, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return seconds_each(run, x, count);
}

void report(const char* metric, int x, double value, const char* unit) {
  if (rank == 0) printf("%s\t%d\t%.6g\t%s\n", metric, x, value, unit);
}

static const char* only;  // metrics of the part that are wanted, with + between them; NULL: all

static int wanted(const char* metric) {
  const size_t length = strlen(metric);
  for (const char* at = only; at; at = strchr(at, '+') ? strchr(at, '+') + 1 : NULL)
    if (strncmp(at, metric, length) == 0 && (at[length] == '+' || at[length] == 0)) return 1;
  return only == NULL;
}

int in_time(const char* metric, int x) {
  if (!wanted(metric)) return 0;
  int late = now() - began > deadline;
  MPI_Bcast(&late, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (late && rank == 0) printf("!late\t%s\t%d\n", metric, x);
  return !late;
}

int prepared_and_right(const Figure* figure, int x) {
  if (figure->prepare) figure->prepare(x);
  MPI_Barrier(MPI_COMM_WORLD);
  figure->run(x);
  MPI_Barrier(MPI_COMM_WORLD);
  long wrong = figure->check ? figure->check(x) : 0, all = 0;
  MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (all && rank == 0) printf("!wrong\t%s\t%d\t%ld\n", figure->metric, x, all);
  wrong_in_all += all;
  return all == 0;
}

void measure(const Figure* figure, int x) {
  if (!in_time(figure->metric, x) || !prepared_and_right(figure, x)) return;
  const double seconds = repeat(figure->run, x);
  if (!prepared_and_right(figure, x)) return;
  report(figure->metric, x, figure->value ? figure->value(seconds, x) : seconds * 1e6, figure->unit);
}

typedef struct {
  const char *name, *only;
  int sizes[kMostSizes], count, most;
} Part;

// Reads "name:size,size,..." (or a name alone); 0 for text that is none.
static int read_part(char* text, Part* part) {
  char* colon = strchr(text, ':');
  part->name = text;
  if (!colon) return strcmp(text, "start") == 0;
  *colon = 0;
  char* slash = strchr(part->name, '/');
  if (slash) *slash = 0, part->only = slash + 1;
  text = colon + 1;
  while (part->count < kMostSizes) {
    char* end;
    const long x = strtol(text, &end, 10);
    if (end == text || x < 1 || x > 64 << 20) return 0;
    part->sizes[part->count++] = (int)x;
    if (x > part->most) part->most = (int)x;
    if (*end == 0) return 1;
    if (*end != ',') return 0;
    text = end + 1;
  }
  return 0;
}

static int run_part(const Part* part) {
  static const struct {
    const char* name;
    void (*run)(const int* sizes, int count);
    int needs_two;
  } kParts[] = {{"point", point, 1}, {"onesided", onesided, 1},       {"collective", collective, 0},
                {"turns", turns, 0}, {"nonblocking", nonblocking, 0}, {"queues", queues, 1}};
  for (int i = 0; i < (int)(sizeof kParts / sizeof *kParts); i++)
    if (strcmp(part->name, kParts[i].name) == 0) {
      if (kParts[i].needs_two && size < 2) return 0;
      only = part->only;
      kParts[i].run(part->sizes, part->count);
      return 1;
    }
  return strcmp(part->name, "start") == 0;
}

// Bytes of a buffer that is enough for all parts; 0 if there is nothing to send.
static size_t buffer_bytes(const Part* parts, int count) {
  size_t most = 0;
  for (int i = 0; i < count; i++)
    if (parts[i].most) {
      const int blocks = in_flight(parts[i].most) > size ? in_flight(parts[i].most) : size;
      const size_t bytes = strcmp(parts[i].name, "queues") == 0 ? 8 * (size_t)parts[i].most
                                                                : (size_t)parts[i].most * (size_t)blocks;
      const size_t small = (size_t)64 * 4096;  // more of the smaller ones are in flight
      most = bytes > most ? bytes : most;
      most = small > most ? small : most;
    }
  return most > (size_t)1 << 20 || most == 0 ? most : (size_t)1 << 20;
}

static void tell_library(void) {  // which one it really is: "!library TAB its own words"
  char words[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(words, &length);
  for (int i = 0; i < length; i++)
    if ((unsigned char)words[i] < ' ') words[i] = i + 1 < length ? ' ' : 0;
  if (rank == 0) printf("!library\t%s\n", words);
}

static int start_mpi(int* argc, char*** argv, const char* level) {
  if (strcmp(level, "multiple") != 0) return MPI_Init(argc, argv);
  int provided;
  MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (provided == MPI_THREAD_MULTIPLE) return MPI_SUCCESS;
  if (rank == 0) printf("!missing\tthread_multiple\t0\n");
  MPI_Finalize();
  exit(0);
}

int main(int argc, char** argv) {
  static Part parts[kMostParts];
  const int count = argc - 4;
  int good = count >= 0 && count <= kMostParts;
  for (int i = 0; i < count && good; i++) good = read_part(argv[4 + i], &parts[i]);
  if (!good) {
    fprintf(stderr, "usage: measure MILLISECONDS DEADLINE single|multiple [PART:SIZE,...]...\n");
    return 2;
  }
  budget = strtod(argv[1], NULL) * 1e-3;
  deadline = strtod(argv[2], NULL);
  began = now();
  start_mpi(&argc, &argv, argv[3]);
  const double started = now() - began;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  tell_library();
  const int starts = count > 0 && strcmp(parts[0].name, "start") == 0;
  if (starts) memory();
  const size_t bytes = buffer_bytes(parts, count);
  out = malloc(bytes + 1), in = malloc(bytes + 1);
  memset(out, 1, bytes);
  memset(in, 1, bytes);
  for (int i = 0; i < count; i++)
    if (!run_part(&parts[i]) && rank == 0) printf("!missing\t%s\t%d\n", parts[i].name, size);
  free(out);
  free(in);
  const double before = now();
  MPI_Finalize();
  if (starts) report("init_finalize", size, (started + now() - before) * 1e3, "ms");
  return wrong_in_all ? 3 : 0;
}
