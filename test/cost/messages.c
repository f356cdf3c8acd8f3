// SPDX-License-Identifier: BSD-3-Clause
// Two ranks exchange small messages, each when nothing else can happen: run under callgrind, which counts the
// instructions of the calls alone. The ranks take turns through a file that both have mapped, outside of MPI,
// so that a message is there before its receive begins, and a send finds an empty ring.
//
//   messages FILE single|multiple
// Dumps a count for each case, named "RANK CASE", of kTimes calls.
#include <fcntl.h>
#include <mpi.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <valgrind/callgrind.h>

enum { kWarm = 64, kTimes = 64 };
static int rank;
static long long word;
static double words[128];
static MPI_Request request;
static atomic_long* turn;  // how many steps are done: even ones are rank 0's, odd ones rank 1's
static long steps;

static void send_word(void) { MPI_Send(&word, 1, MPI_LONG_LONG, 1, 5, MPI_COMM_WORLD); }
static void receive_word(void) { MPI_Recv(&word, 1, MPI_LONG_LONG, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }
static void send_words(void) { MPI_Send(words, 128, MPI_DOUBLE, 1, 6, MPI_COMM_WORLD); }
static void receive_words(void) { MPI_Recv(words, 128, MPI_DOUBLE, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }
static void start_send(void) {
  MPI_Isend(&word, 1, MPI_LONG_LONG, 1, 7, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void start_receive(void) {
  MPI_Irecv(&word, 1, MPI_LONG_LONG, 0, 7, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

// Rank 0 sends, then rank 1 receives; only the calls are collected.
static int count(const char* name, void (*send)(void), void (*receive)(void)) {
  char label[64];
  snprintf(label, sizeof label, "%d %s", rank, name);
  for (int i = 0; i < kWarm + kTimes; i++, steps += 2) {
    while (atomic_load(turn) != steps + rank) sched_yield();
    word = rank == 0 ? i : -1;
    if (i >= kWarm) CALLGRIND_TOGGLE_COLLECT;
    (rank == 0 ? send : receive)();
    if (i >= kWarm) CALLGRIND_TOGGLE_COLLECT;
    if (send != send_words && word != i) return printf("%s: %lld came, not %d\n", label, word, i);
    atomic_store(turn, steps + rank + 1);
  }
  CALLGRIND_DUMP_STATS_AT(label);
  return 0;
}

int main(int argc, char** argv) {
  int provided;
  if (argc != 3) return 2;
  const int level = strcmp(argv[2], "multiple") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, level, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int file = open(argv[1], O_RDWR);
  turn = mmap(NULL, sizeof *turn, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (provided != level || file < 0 || turn == MAP_FAILED) return 3;
  CALLGRIND_ZERO_STATS;
  int wrong = count("blocking 8", send_word, receive_word);
  wrong = wrong || count("blocking 1024", send_words, receive_words);
  wrong = wrong || count("nonblocking 8", start_send, start_receive);
  if (wrong) MPI_Abort(MPI_COMM_WORLD, 4);
  MPI_Finalize();
  return 0;
}
