// SPDX-License-Identifier: BSD-3-Clause
// Blocking receives that wait before their message is sent, of every size class; what could overtake them.
#include "check.h"

enum { kMost = 1 << 20 };
static unsigned char *out, *in;

static void prepare(int bytes, int seed) {
  for (int i = 0; i < bytes; i++) out[i] = (unsigned char)(i * 7 + seed + i / 251);
}
static int arrived(int bytes, int seed) {
  for (int i = 0; i < bytes; i++)
    if (in[i] != (unsigned char)(i * 7 + seed + i / 251)) return 0;
  return in[bytes] == 0xee;
}

// Rank 0 sends and waits for an answer, so that rank 1 usually waits in MPI_Recv already.
static void sizes(void) {
  static const int kSizes[] = {0,     1,     44,    45,    48,    49,     104,    2047,   2048,  2049, 8191,
                               8193,  32767, 32769, 65535, 65536, 65537,  98304,  131073, 300001, kMost};
  for (int s = 0; s < 21; s++)
    for (int round = 0; round < 3; round++) {
      const int bytes = kSizes[s];
      if (rank == 0) {
        prepare(bytes, round);
        OK((round == 2 ? MPI_Ssend : MPI_Send)(out, bytes, MPI_BYTE, 1, s, MPI_COMM_WORLD));
        OK(MPI_Recv(in, 1, MPI_BYTE, 1, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      } else if (rank == 1) {
        MPI_Status status;
        int count = -1;
        memset(in, 0xee, kMost + 1);
        OK(MPI_Recv(in, kMost, MPI_BYTE, 0, round == 1 ? MPI_ANY_TAG : s, MPI_COMM_WORLD, &status));
        OK(MPI_Get_count(&status, MPI_BYTE, &count));
        EQUAL(count, bytes);
        EQUAL(status.MPI_SOURCE, 0);
        EQUAL(status.MPI_TAG, s);
        CHECK(arrived(bytes, round));
        OK(MPI_Send(in, 1, MPI_BYTE, 0, 99, MPI_COMM_WORLD));
      }
    }
}

// A receive that was posted earlier takes the first message although a blocking one waits as well.
static void earlier_first(void) {
  int first = 0, second = 0;
  for (int wild = 0; wild < 2; wild++) {
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) {
      for (int value = 1; value <= 2; value++) OK(MPI_Send(&value, 1, MPI_INT, 1, 5, MPI_COMM_WORLD));
    } else if (rank == 1) {
      MPI_Request request;
      OK(MPI_Irecv(&first, 1, MPI_INT, wild ? MPI_ANY_SOURCE : 0, 5, MPI_COMM_WORLD, &request));
      OK(MPI_Recv(&second, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
      EQUAL(first, 1);
      EQUAL(second, 2);
    }
  }
}

// Messages with another tag, of another communicator, or from others are kept in order for later.
static void others_wait(void) {
  MPI_Comm other;
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &other));
  if (rank == 0) {
    for (int i = 1; i <= 3; i++) OK(MPI_Send(&i, 1, MPI_INT, 1, 7, MPI_COMM_WORLD));
    for (int i = 4; i <= 5; i++) OK(MPI_Send(&i, 1, MPI_INT, 1, 8, other));
    int last = 6;
    OK(MPI_Send(&last, 1, MPI_INT, 1, 8, MPI_COMM_WORLD));
  } else if (rank == 1) {
    int value = 0;
    OK(MPI_Recv(&value, 1, MPI_INT, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    EQUAL(value, 6);
    for (int i = 1; i <= 3; i++) {
      OK(MPI_Recv(&value, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      EQUAL(value, i);
    }
    for (int i = 4; i <= 5; i++) {
      OK(MPI_Recv(&value, 1, MPI_INT, 0, 8, other, MPI_STATUS_IGNORE));
      EQUAL(value, i);
    }
  }
  OK(MPI_Comm_free(&other));
}

// A message that is too long, small or announced, fails its receive and nothing else.
static void too_long(void) {
  for (int large = 0; large < 2; large++) {
    const int bytes = large ? 200000 : 3000;
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) {
      prepare(bytes, 1);
      OK(MPI_Send(out, bytes, MPI_BYTE, 1, 9, MPI_COMM_WORLD));
      OK(MPI_Send(out, 10, MPI_BYTE, 1, 9, MPI_COMM_WORLD));
    } else if (rank == 1) {
      memset(in, 0xee, kMost + 1);
      FAILS(MPI_ERR_TRUNCATE, MPI_Recv(in, 100, MPI_BYTE, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      CHECK(in[100] == 0xee);
      memset(in, 0xee, kMost + 1);
      OK(MPI_Recv(in, 100, MPI_BYTE, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      CHECK(arrived(10, 1));
    }
  }
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  out = malloc(kMost + 1), in = malloc(kMost + 1);
  sizes();
  earlier_first();
  others_wait();
  too_long();
  OK(MPI_Barrier(MPI_COMM_WORLD));
  free(out);
  free(in);
  return finish();
}
