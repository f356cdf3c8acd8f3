// SPDX-License-Identifier: BSD-3-Clause
// MPI_Type_get_envelope and MPI_Type_get_contents give back what each constructor was given.
#include "check.h"

static void expect(MPI_Datatype type, int combiner, int ni, const int* ints, int na, const MPI_Aint* aints,
                   int nt, MPI_Datatype base) {
  int i, a, t, c, got_i[32];
  MPI_Aint got_a[32];
  MPI_Datatype got_t[8];
  OK(MPI_Type_get_envelope(type, &i, &a, &t, &c));
  EQUAL(c, combiner);
  EQUAL(i, ni);
  EQUAL(a, na);
  EQUAL(t, nt);
  if (i != ni || a != na || t != nt || combiner == MPI_COMBINER_NAMED) return;
  OK(MPI_Type_get_contents(type, i, a, t, got_i, got_a, got_t));
  for (int k = 0; k < ni; k++) EQUAL(got_i[k], ints[k]);
  for (int k = 0; k < na; k++) EQUAL(got_a[k], aints[k]);
  for (int k = 0; k < nt; k++) CHECK(got_t[k] == base);
}
#define INTS(...) \
  (int[]) { __VA_ARGS__ }
#define AINTS(...) \
  (MPI_Aint[]) { __VA_ARGS__ }

int main(int argc, char** argv) {
  begin(&argc, &argv);
  MPI_Datatype t, inner, got;
  expect(MPI_INT, MPI_COMBINER_NAMED, 0, NULL, 0, NULL, 0, MPI_DATATYPE_NULL);
  OK(MPI_Type_dup(MPI_INT, &t));
  expect(t, MPI_COMBINER_DUP, 0, NULL, 0, NULL, 1, MPI_INT);
  OK(MPI_Type_free(&t));
  OK(MPI_Type_contiguous(5, MPI_DOUBLE, &t));
  expect(t, MPI_COMBINER_CONTIGUOUS, 1, INTS(5), 0, NULL, 1, MPI_DOUBLE);
  OK(MPI_Type_free(&t));
  OK(MPI_Type_vector(3, 2, 7, MPI_CHAR, &t));
  expect(t, MPI_COMBINER_VECTOR, 3, INTS(3, 2, 7), 0, NULL, 1, MPI_CHAR);
  OK(MPI_Type_free(&t));
  OK(MPI_Type_create_hvector(3, 2, 70, MPI_CHAR, &t));
  expect(t, MPI_COMBINER_HVECTOR, 2, INTS(3, 2), 1, AINTS(70), 1, MPI_CHAR);
  OK(MPI_Type_free(&t));
  OK(MPI_Type_indexed(2, INTS(1, 3), INTS(4, 9), MPI_INT, &t));
  expect(t, MPI_COMBINER_INDEXED, 5, INTS(2, 1, 3, 4, 9), 0, NULL, 1, MPI_INT);
  OK(MPI_Type_free(&t));
  OK(MPI_Type_create_hindexed(2, INTS(1, 3), AINTS(4, 90), MPI_INT, &t));
  expect(t, MPI_COMBINER_HINDEXED, 3, INTS(2, 1, 3), 2, AINTS(4, 90), 1, MPI_INT);
  OK(MPI_Type_free(&t));
  OK(MPI_Type_create_indexed_block(3, 2, INTS(9, 5, 0), MPI_INT, &t));
  expect(t, MPI_COMBINER_INDEXED_BLOCK, 5, INTS(3, 2, 9, 5, 0), 0, NULL, 1, MPI_INT);
  OK(MPI_Type_free(&t));
  OK(MPI_Type_create_hindexed_block(2, 2, AINTS(90, 0), MPI_INT, &t));
  expect(t, MPI_COMBINER_HINDEXED_BLOCK, 2, INTS(2, 2), 2, AINTS(90, 0), 1, MPI_INT);
  OK(MPI_Type_free(&t));
  OK(MPI_Type_create_struct(2, INTS(1, 2), AINTS(0, 16), (MPI_Datatype[]){MPI_INT, MPI_INT}, &t));
  expect(t, MPI_COMBINER_STRUCT, 3, INTS(2, 1, 2), 2, AINTS(0, 16), 2, MPI_INT);
  OK(MPI_Type_free(&t));
  OK(MPI_Type_create_resized(MPI_INT, -8, 64, &t));
  expect(t, MPI_COMBINER_RESIZED, 0, NULL, 2, AINTS(-8, 64), 1, MPI_INT);
  OK(MPI_Type_free(&t));
  OK(MPI_Type_create_subarray(2, INTS(4, 5), INTS(2, 3), INTS(1, 2), MPI_ORDER_C, MPI_INT, &t));
  expect(t, MPI_COMBINER_SUBARRAY, 8, INTS(2, 4, 5, 2, 3, 1, 2, MPI_ORDER_C), 0, NULL, 1, MPI_INT);
  OK(MPI_Type_free(&t));
  OK(MPI_Type_create_darray(4, 1, 2, INTS(4, 6), INTS(MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC),
                            INTS(MPI_DISTRIBUTE_DFLT_DARG, 2), INTS(2, 2), MPI_ORDER_C, MPI_INT, &t));
  expect(t, MPI_COMBINER_DARRAY, 12,
         INTS(4, 1, 2, 4, 6, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_DFLT_DARG, 2, 2, 2,
              MPI_ORDER_C),
         0, NULL, 1, MPI_INT);
  OK(MPI_Type_free(&t));
  // A derived inner type comes back as a new handle that is ours to free; the original may be gone.
  int i, a, n, c, count;
  OK(MPI_Type_vector(2, 1, 3, MPI_SHORT, &inner));
  OK(MPI_Type_contiguous(4, inner, &t));
  OK(MPI_Type_free(&inner));
  OK(MPI_Type_get_envelope(t, &i, &a, &n, &c));
  OK(MPI_Type_get_contents(t, i, a, n, &count, NULL, &got));
  EQUAL(count, 4);
  expect(got, MPI_COMBINER_VECTOR, 3, INTS(2, 1, 3), 0, NULL, 1, MPI_SHORT);
  OK(MPI_Type_free(&got));
  OK(MPI_Type_free(&t));
  MPI_Count ci, ca, cc, ct;
  OK(MPI_Type_contiguous_c((MPI_Count)3 << 33, MPI_CHAR, &t));
  OK(MPI_Type_get_envelope_c(t, &ci, &ca, &cc, &ct, &c));
  EQUAL(c, MPI_COMBINER_CONTIGUOUS);
  EQUAL(ci * 1000 + ca * 100 + cc * 10 + ct, 11);
  MPI_Count large = 0;
  OK(MPI_Type_get_contents_c(t, 0, 0, 1, 1, NULL, NULL, &large, &got));
  EQUAL(large, (MPI_Count)3 << 33);
  CHECK(MPI_Type_get_envelope(t, &i, &a, &n, &c) != MPI_SUCCESS);  // does not fit the int form
  OK(MPI_Type_free(&t));
  return finish();
}
