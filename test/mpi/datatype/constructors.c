// SPDX-License-Identifier: BSD-3-Clause
// Every constructor: size, bounds, true bounds, and the order in which it packs, against a map written by
// hand.
#include <stddef.h>

#include "check.h"

// Packs one element of `type` over an array where int i holds i, and compares with the expected ints.
static void expect(MPI_Datatype type, int line, int n, const int* ints, MPI_Aint lower, MPI_Aint extent,
                   MPI_Aint true_lower, MPI_Aint true_extent) {
  int data[256], got[256], bytes = 0, size_now = -1;
  MPI_Aint l, e;
  OK(MPI_Type_commit(&type));
  OK(MPI_Type_size(type, &size_now));
  if (size_now != n * (int)sizeof(int)) printf("from line %d\n", line);
  EQUAL(size_now, n * sizeof(int));
  OK(MPI_Type_get_extent(type, &l, &e));
  if (l != lower || e != extent) printf("from line %d\n", line);
  EQUAL(l, lower);
  EQUAL(e, extent);
  OK(MPI_Type_get_true_extent(type, &l, &e));
  EQUAL(l, true_lower);
  EQUAL(e, true_extent);
  for (int i = 0; i < 256; i++) data[i] = i - 64, got[i] = -999;
  OK(MPI_Pack(data + 64, 1, type, got, sizeof got, &bytes, MPI_COMM_SELF));
  EQUAL(bytes, n * sizeof(int));
  for (int i = 0; i < n; i++) {
    if (got[i] != ints[i]) printf("from line %d, element %d\n", line, i);
    EQUAL(got[i], ints[i]);
  }
  // Unpacking restores exactly these places.
  for (int i = 0; i < 256; i++) data[i] = -1;
  int at = 0, touched = 0;
  OK(MPI_Unpack(got, bytes, &at, data + 64, 1, type, MPI_COMM_SELF));
  for (int i = 0; i < n; i++) EQUAL(data[64 + ints[i]], ints[i]);
  for (int i = 0; i < 256; i++) touched += data[i] != -1 || (i == 63 && data[i] == -1);
  if (n && ints[0] >= 0) EQUAL(touched, n + 1);
  OK(MPI_Type_free(&type));
  CHECK(type == MPI_DATATYPE_NULL);
}
#define EXPECT(type, n, lb, ex, tlb, tex, ...) \
  expect(type, __LINE__, n, (int[]){__VA_ARGS__}, lb, ex, tlb, tex)

static void simple(void) {
  MPI_Datatype t, u;
  OK(MPI_Type_contiguous(3, MPI_INT, &t));
  EXPECT(t, 3, 0, 12, 0, 12, 0, 1, 2);
  OK(MPI_Type_contiguous(0, MPI_INT, &t));
  EXPECT(t, 0, 0, 0, 0, 0, 0);
  OK(MPI_Type_vector(3, 2, 4, MPI_INT, &t));
  EXPECT(t, 6, 0, 40, 0, 40, 0, 1, 4, 5, 8, 9);
  OK(MPI_Type_vector(3, 1, -2, MPI_INT, &t));  // negative stride
  EXPECT(t, 3, -16, 20, -16, 20, 0, -2, -4);
  OK(MPI_Type_create_hvector(2, 2, 12, MPI_INT, &t));
  EXPECT(t, 4, 0, 20, 0, 20, 0, 1, 3, 4);
  OK(MPI_Type_indexed(3, (int[]){2, 0, 1}, (int[]){5, 1, 2}, MPI_INT, &t));
  EXPECT(t, 3, 8, 20, 8, 20, 5, 6, 2);
  OK(MPI_Type_create_hindexed(2, (int[]){1, 2}, (MPI_Aint[]){8, 0}, MPI_INT, &t));
  EXPECT(t, 3, 0, 12, 0, 12, 2, 0, 1);
  OK(MPI_Type_create_indexed_block(2, 2, (int[]){3, 0}, MPI_INT, &t));
  EXPECT(t, 4, 0, 20, 0, 20, 3, 4, 0, 1);
  OK(MPI_Type_create_hindexed_block(2, 1, (MPI_Aint[]){4, 16}, MPI_INT, &t));
  EXPECT(t, 2, 4, 16, 4, 16, 1, 4);
  OK(MPI_Type_create_resized(MPI_INT, -4, 16, &t));
  EXPECT(t, 1, -4, 16, 0, 4, 0);
  OK(MPI_Type_create_resized(MPI_INT, 0, 12, &u));
  OK(MPI_Type_contiguous(3, u, &t));  // stride 3
  OK(MPI_Type_free(&u));              // the outer type keeps what it needs
  EXPECT(t, 3, 0, 36, 0, 28, 0, 3, 6);
  OK(MPI_Type_create_struct(2, (int[]){1, 2}, (MPI_Aint[]){4, 20}, (MPI_Datatype[]){MPI_INT, MPI_INT}, &t));
  EXPECT(t, 3, 4, 24, 4, 24, 1, 5, 6);
  OK(MPI_Type_dup(MPI_INT, &t));
  EXPECT(t, 1, 0, 4, 0, 4, 0);
}

static void nested(void) {
  MPI_Datatype row, t, u;
  OK(MPI_Type_vector(2, 1, 2, MPI_INT, &row));  // 0, 2; extent 12
  OK(MPI_Type_create_resized(row, 0, 16, &u));
  OK(MPI_Type_vector(2, 2, 3, u, &t));
  EXPECT(t, 8, 0, 80, 0, 76, 0, 2, 4, 6, 12, 14, 16, 18);
  OK(MPI_Type_create_struct(3, (int[]){1, 1, 2}, (MPI_Aint[]){0, 32, 12},
                            (MPI_Datatype[]){row, MPI_INT, MPI_INT}, &t));
  EXPECT(t, 5, 0, 36, 0, 36, 0, 2, 8, 3, 4);
  OK(MPI_Type_free(&row));
  OK(MPI_Type_free(&u));
  struct Padded {
    double d;
    char c;
  };
  MPI_Aint l, e;
  OK(MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, offsetof(struct Padded, c)},
                            (MPI_Datatype[]){MPI_DOUBLE, MPI_CHAR}, &t));
  OK(MPI_Type_get_extent(t, &l, &e));
  EQUAL(e, sizeof(struct Padded));  // rounded up to the alignment, as a C compiler does
  OK(MPI_Type_get_true_extent(t, &l, &e));
  EQUAL(e, 9);
  OK(MPI_Type_free(&t));
}

static void arrays(void) {
  MPI_Datatype t;
  OK(MPI_Type_create_subarray(2, (int[]){4, 5}, (int[]){2, 3}, (int[]){1, 2}, MPI_ORDER_C, MPI_INT, &t));
  EXPECT(t, 6, 0, 80, 28, 32, 7, 8, 9, 12, 13, 14);
  OK(MPI_Type_create_subarray(2, (int[]){5, 4}, (int[]){3, 2}, (int[]){2, 1}, MPI_ORDER_FORTRAN, MPI_INT,
                              &t));
  EXPECT(t, 6, 0, 80, 28, 32, 7, 8, 9, 12, 13, 14);
  // 2 by 2 processes over a 4 by 6 array: block in rows, cyclic(2) in columns; process 1 = (0, 1).
  OK(MPI_Type_create_darray(4, 1, 2, (int[]){4, 6}, (int[]){MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC},
                            (int[]){MPI_DISTRIBUTE_DFLT_DARG, 2}, (int[]){2, 2}, MPI_ORDER_C, MPI_INT, &t));
  EXPECT(t, 4, 0, 96, 8, 32, 2, 3, 8, 9);
  OK(MPI_Type_create_darray(2, 1, 1, (int[]){7}, (int[]){MPI_DISTRIBUTE_CYCLIC},
                            (int[]){MPI_DISTRIBUTE_DFLT_DARG}, (int[]){2}, MPI_ORDER_C, MPI_INT, &t));
  EXPECT(t, 3, 0, 28, 4, 20, 1, 3, 5);
  OK(MPI_Type_create_darray(2, 0, 2, (int[]){3, 4}, (int[]){MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK},
                            (int[]){MPI_DISTRIBUTE_DFLT_DARG, 3}, (int[]){1, 2}, MPI_ORDER_C, MPI_INT, &t));
  EXPECT(t, 9, 0, 48, 0, 44, 0, 1, 2, 4, 5, 6, 8, 9, 10);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  simple();
  nested();
  arrays();
  return finish();
}
