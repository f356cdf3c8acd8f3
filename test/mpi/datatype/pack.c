// SPDX-License-Identifier: BSD-3-Clause
// Pack and unpack in steps, external32 bytes against golden ones, sizes, and transfer as MPI_PACKED.
#include "check.h"

static void external32(void) {
  static const unsigned char kGolden[] = {
      0x01, 0x02, 0x03, 0x04, 0x40, 0x09, 0x21, 0xfb, 0x54, 0x44,
      0x2d, 0x18, 0xff, 0xfe, 0x00, 0x00, 0x00, 0x07, 0x41};  // a long has 4 bytes there
  struct {
    int i;
    double d;
    short s;
    long l;
    char c;
  } in = {0x01020304, 3.141592653589793, -2, 7, 'A'}, out = {0};
  unsigned char bytes[64];
  MPI_Aint at = 0, size_now = 0;
  memset(bytes, 0xaa, sizeof bytes);
  OK(MPI_Pack_external("external32", &in.i, 1, MPI_INT, bytes, sizeof bytes, &at));
  EQUAL(at, 4);
  OK(MPI_Pack_external("external32", &in.d, 1, MPI_DOUBLE, bytes, sizeof bytes, &at));
  OK(MPI_Pack_external("external32", &in.s, 1, MPI_SHORT, bytes, sizeof bytes, &at));
  OK(MPI_Pack_external("external32", &in.l, 1, MPI_LONG, bytes, sizeof bytes, &at));
  OK(MPI_Pack_external("external32", &in.c, 1, MPI_CHAR, bytes, sizeof bytes, &at));
  EQUAL(at, sizeof kGolden);
  for (size_t i = 0; i < sizeof kGolden; i++) EQUAL(bytes[i], kGolden[i]);
  EQUAL(bytes[sizeof kGolden], 0xaa);
  at = 0;
  OK(MPI_Unpack_external("external32", bytes, sizeof kGolden, &at, &out.i, 1, MPI_INT));
  OK(MPI_Unpack_external("external32", bytes, sizeof kGolden, &at, &out.d, 1, MPI_DOUBLE));
  OK(MPI_Unpack_external("external32", bytes, sizeof kGolden, &at, &out.s, 1, MPI_SHORT));
  OK(MPI_Unpack_external("external32", bytes, sizeof kGolden, &at, &out.l, 1, MPI_LONG));
  OK(MPI_Unpack_external("external32", bytes, sizeof kGolden, &at, &out.c, 1, MPI_CHAR));
  CHECK(out.i == in.i && out.d == in.d && out.s == in.s && out.l == in.l && out.c == in.c);
  OK(MPI_Pack_external_size("external32", 3, MPI_LONG_LONG, &size_now));
  EQUAL(size_now, 24);
  MPI_Datatype vector;
  int data[6] = {1, -1, 2, -1, 3, -1}, back[6] = {0};
  OK(MPI_Type_vector(3, 1, 2, MPI_INT, &vector));
  OK(MPI_Type_commit(&vector));
  at = 0;
  OK(MPI_Pack_external("external32", data, 1, vector, bytes, sizeof bytes, &at));
  EQUAL(at, 12);
  EQUAL(bytes[11], 3);
  at = 0;
  OK(MPI_Unpack_external("external32", bytes, 12, &at, back, 1, vector));
  EQUAL(back[0] + back[2] * 10 + back[4] * 100 + back[1], 321);
  OK(MPI_Type_free(&vector));
}

static void packed_message(void) {
  char buffer[200], narrow[64];
  int at = 0, n = 5, numbers[5] = {1, 2, 3, 4, 5}, got[5] = {0}, needed = 0, m = 0;
  double x = 2.5, y = 0;
  OK(MPI_Pack_size(5, MPI_INT, MPI_COMM_WORLD, &needed));
  CHECK(needed >= 20);
  OK(MPI_Pack(&n, 1, MPI_INT, buffer, sizeof buffer, &at, MPI_COMM_WORLD));
  OK(MPI_Pack(numbers, n, MPI_INT, buffer, sizeof buffer, &at, MPI_COMM_WORLD));
  OK(MPI_Pack(&x, 1, MPI_DOUBLE, buffer, sizeof buffer, &at, MPI_COMM_WORLD));
  int total = at, small = 0;
  CHECK(MPI_Pack(numbers, n, MPI_INT, narrow, 10, &small, MPI_COMM_WORLD) != MPI_SUCCESS);  // no room
  MPI_Status status;
  OK(MPI_Sendrecv_replace(buffer, total, MPI_PACKED, (rank + 1) % size, 0, (rank + size - 1) % size, 0,
                          MPI_COMM_WORLD, &status));
  OK(MPI_Get_count(&status, MPI_PACKED, &m));
  EQUAL(m, total);
  at = 0;
  OK(MPI_Unpack(buffer, total, &at, &m, 1, MPI_INT, MPI_COMM_WORLD));
  EQUAL(m, 5);
  OK(MPI_Unpack(buffer, total, &at, got, m, MPI_INT, MPI_COMM_WORLD));
  OK(MPI_Unpack(buffer, total, &at, &y, 1, MPI_DOUBLE, MPI_COMM_WORLD));
  EQUAL(memcmp(numbers, got, sizeof got), 0);
  CHECK(y == 2.5);
  EQUAL(at, total);
  // Packed on one side, typed on the other.
  if (size > 1 && rank == 0) {
    at = 0;
    OK(MPI_Pack(numbers, 5, MPI_INT, buffer, sizeof buffer, &at, MPI_COMM_WORLD));
    OK(MPI_Send(buffer, at, MPI_PACKED, 1, 1, MPI_COMM_WORLD));
  } else if (rank == 1) {
    memset(got, 0, sizeof got);
    OK(MPI_Recv(got, 5, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    EQUAL(memcmp(numbers, got, sizeof got), 0);
  }
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  external32();
  packed_message();
  return finish();
}
