// SPDX-License-Identifier: BSD-3-Clause
// Pairs that change between shared memory and network while messages flow: order, contents, nothing twice.
// VICINITY_SUSPEND is an MPI_T control variable that may be written at any time, by each rank for itself; run
// it with VICINITY_STANDBY=yes. (Under another MPI there is no such variable, and nothing changes.)
#include "../check.h"

static MPI_T_cvar_handle suspend = MPI_T_CVAR_HANDLE_NULL;
static unsigned dice = 1;

static unsigned roll(unsigned sides) {
  dice = dice * 1103515245u + 12345u;
  return (dice >> 16) % sides;
}

static void set(int yes) {
  if (suspend != MPI_T_CVAR_HANDLE_NULL) OK(MPI_T_cvar_write(suspend, &yes));
}

static void find_variable(void) {
  int provided, index, count;
  OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
  if (MPI_T_cvar_get_index("VICINITY_SUSPEND", &index) != MPI_SUCCESS) return;
  OK(MPI_T_cvar_handle_alloc(index, NULL, &suspend, &count));
}

static unsigned char byte_at(int round, int from, int at) {
  return (unsigned char)(round * 31 + from * 7 + at + (at >> 8));
}

// Sizes of every way that a message can take: a line, a frame, a buffer, a rendezvous.
static int bytes_of(int round) {
  static const int sizes[] = {0, 8, 48, 400, 3000, 20000, 40000, 200000};
  return sizes[round % 8] + round % 5;
}

static void write_bytes(unsigned char* data, int bytes, int round, int from) {
  for (int i = 0; i < bytes; ++i) data[i] = byte_at(round, from, i);
}

static void expect_bytes(const unsigned char* data, int bytes, int round, int from) {
  int wrong = 0;
  for (int i = 0; i < bytes; ++i) wrong += data[i] != byte_at(round, from, i);
  EQUAL(wrong, 0);
}

static void ping_pong(unsigned char* data, int rounds) {
  if (rank > 1) return;
  for (int round = 0; round < rounds && failures == 0; ++round) {
    if (roll(8) == 0) set((int)roll(2));
    const int bytes = bytes_of(round);
    MPI_Status status;
    for (int turn = 0; turn < 2; ++turn) {
      if (turn == rank) {
        write_bytes(data, bytes, round, rank);
        OK(MPI_Send(data, bytes, MPI_BYTE, 1 - rank, round, MPI_COMM_WORLD));
      } else {
        OK(MPI_Recv(data, 1 << 20, MPI_BYTE, 1 - rank, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
        int count;
        MPI_Get_count(&status, MPI_BYTE, &count);
        EQUAL(status.MPI_TAG, round);
        EQUAL(count, bytes);
        expect_bytes(data, bytes, round, 1 - rank);
      }
    }
  }
}

// A window of messages under way in both directions, so that a change meets full queues; some are not one run
// of bytes, some synchronous.
static void flood(unsigned char* data, int rounds) {
  enum { kWindow = 12, kRoom = 210000 };
  unsigned char* in = malloc((size_t)kWindow * kRoom);
  MPI_Request requests[2 * kWindow];
  MPI_Datatype pairs;
  OK(MPI_Type_vector(kRoom / 2, 1, 2, MPI_BYTE, &pairs));
  OK(MPI_Type_commit(&pairs));
  for (int round = 0; round < rounds && failures == 0; ++round) {
    const int to = (rank + 1) % size, from = (rank + size - 1) % size;
    for (int i = 0; i < kWindow; ++i)
      OK(MPI_Irecv(in + i * kRoom, kRoom, MPI_BYTE, from, i, MPI_COMM_WORLD, &requests[i]));
    if (roll(2)) set((int)roll(2));
    for (int i = 0; i < kWindow; ++i) {
      const int bytes = bytes_of(round + i);
      unsigned char* out = data + i * kRoom;
      write_bytes(out, bytes, round + i, rank);
      if (i % 5 == 4) {
        OK(MPI_Issend(out, bytes, MPI_BYTE, to, i, MPI_COMM_WORLD, &requests[kWindow + i]));
      } else {
        OK(MPI_Isend(out, bytes, MPI_BYTE, to, i, MPI_COMM_WORLD, &requests[kWindow + i]));
      }
    }
    if (roll(2)) set((int)roll(2));
    OK(MPI_Waitall(2 * kWindow, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < kWindow; ++i) expect_bytes(in + i * kRoom, bytes_of(round + i), round + i, from);
    if (round % 4 == 0) {  // half of the bytes, gathered and scattered
      write_bytes(data, kRoom, round, rank);
      OK(MPI_Irecv(in, 1, pairs, from, 99, MPI_COMM_WORLD, &requests[0]));
      OK(MPI_Isend(data, 1, pairs, to, 99, MPI_COMM_WORLD, &requests[1]));
      set((int)roll(2));
      OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
      int wrong = 0;
      for (int i = 0; i < kRoom; i += 2) wrong += in[i] != byte_at(round, from, i);
      EQUAL(wrong, 0);
    }
  }
  OK(MPI_Type_free(&pairs));
  free(in);
}

static void all_to_all(int rounds) {
  enum { kMost = 20000 };
  unsigned char* out = malloc((size_t)size * kMost);
  unsigned char* in = malloc((size_t)size * kMost);
  for (int round = 0; round < rounds && failures == 0; ++round) {
    const int each = (round * 977) % kMost;
    for (int to = 0; to < size; ++to) write_bytes(out + to * each, each, round + to, rank);
    if (roll(2)) set((int)roll(2));
    OK(MPI_Alltoall(out, each, MPI_BYTE, in, each, MPI_BYTE, MPI_COMM_WORLD));
    for (int from = 0; from < size; ++from) expect_bytes(in + from * each, each, round + rank, from);
  }
  free(out);
  free(in);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  const int scale = argc > 1 ? atoi(argv[1]) : 1;
  dice = 77u * (unsigned)(rank + 1);
  find_variable();
  unsigned char* data = malloc(12 * 210000);
  ping_pong(data, 400 * scale);
  flood(data, 30 * scale);
  all_to_all(60 * scale);
  set(0);
  OK(MPI_Barrier(MPI_COMM_WORLD));
  free(data);
  return finish();
}
