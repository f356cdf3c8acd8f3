// SPDX-License-Identifier: BSD-3-Clause
// Predefined types: sizes and names; MPI_Type_match_size; Fortran parameterised types; names of one's own.
#include <stdbool.h>

#include "check.h"

static void predefined(void) {
  const struct {
    MPI_Datatype type;
    int bytes;
    const char* name;
  } kTypes[] = {{MPI_CHAR, 1, "MPI_CHAR"},
                {MPI_SHORT, 2, "MPI_SHORT"},
                {MPI_INT, 4, "MPI_INT"},
                {MPI_LONG, 8, "MPI_LONG"},
                {MPI_UNSIGNED, 4, "MPI_UNSIGNED"},
                {MPI_FLOAT, 4, "MPI_FLOAT"},
                {MPI_DOUBLE, 8, "MPI_DOUBLE"},
                {MPI_LONG_DOUBLE, sizeof(long double), "MPI_LONG_DOUBLE"},
                {MPI_BYTE, 1, "MPI_BYTE"},
                {MPI_PACKED, 1, "MPI_PACKED"},
                {MPI_INT8_T, 1, "MPI_INT8_T"},
                {MPI_UINT64_T, 8, "MPI_UINT64_T"},
                {MPI_AINT, sizeof(MPI_Aint), "MPI_AINT"},
                {MPI_COUNT, sizeof(MPI_Count), "MPI_COUNT"},
                {MPI_OFFSET, sizeof(MPI_Offset), "MPI_OFFSET"},
                {MPI_C_BOOL, sizeof(bool), "MPI_C_BOOL"},
                {MPI_C_DOUBLE_COMPLEX, 16, "MPI_C_DOUBLE_COMPLEX"},
                {MPI_WCHAR, sizeof(int), "MPI_WCHAR"},
                {MPI_FLOAT_INT, 8, "MPI_FLOAT_INT"},
                {MPI_DOUBLE_INT, 12, "MPI_DOUBLE_INT"},
                {MPI_LONG_INT, 12, "MPI_LONG_INT"},
                {MPI_SHORT_INT, 6, "MPI_SHORT_INT"},
                {MPI_2INT, 8, "MPI_2INT"},
                {MPI_REAL4, 4, "MPI_REAL4"},
                {MPI_REAL8, 8, "MPI_REAL8"},
                {MPI_INTEGER8, 8, "MPI_INTEGER8"},
                {MPI_COMPLEX16, 16, "MPI_COMPLEX16"}};
  for (size_t i = 0; i < sizeof kTypes / sizeof *kTypes; i++) {
    int bytes = -1, length = 0;
    char name[MPI_MAX_OBJECT_NAME] = "";
    OK(MPI_Type_size(kTypes[i].type, &bytes));
    if (bytes != kTypes[i].bytes) printf("%s\n", kTypes[i].name);
    EQUAL(bytes, kTypes[i].bytes);
    OK(MPI_Type_get_name(kTypes[i].type, name, &length));
    if (strcmp(name, kTypes[i].name)) printf("got '%s' for %s\n", name, kTypes[i].name);
    CHECK(strcmp(name, kTypes[i].name) == 0);
    EQUAL(length, strlen(name));
  }
}

static void matched(void) {
  MPI_Aint lower, extent;
  OK(MPI_Type_get_extent(MPI_DOUBLE_INT, &lower, &extent));
  EQUAL(extent, 16);
  MPI_Datatype t, u;
  OK(MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 4, &t));
  int bytes = 0;
  OK(MPI_Type_size(t, &bytes));
  EQUAL(bytes, 4);
  OK(MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &t));
  OK(MPI_Type_size(t, &bytes));
  EQUAL(bytes, 8);
  CHECK(MPI_Type_match_size(MPI_TYPECLASS_REAL, 3, &t) != MPI_SUCCESS);
  OK(MPI_Type_create_f90_real(15, 300, &t));
  OK(MPI_Type_create_f90_real(15, 300, &u));
  CHECK(t == u);  // the same type for the same parameters
  OK(MPI_Type_size(t, &bytes));
  EQUAL(bytes, 8);
  int i, a, n, combiner, ints[2];
  OK(MPI_Type_get_envelope(t, &i, &a, &n, &combiner));
  EQUAL(combiner, MPI_COMBINER_F90_REAL);
  OK(MPI_Type_get_contents(t, 2, 0, 0, ints, NULL, NULL));
  EQUAL(ints[0] * 1000 + ints[1], 15300);
  OK(MPI_Type_create_f90_integer(9, &t));
  OK(MPI_Type_size(t, &bytes));
  EQUAL(bytes, 4);
  OK(MPI_Type_create_f90_complex(6, 30, &t));
  OK(MPI_Type_size(t, &bytes));
  EQUAL(bytes, 8);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  predefined();
  matched();
  MPI_Datatype t, u;
  char name[MPI_MAX_OBJECT_NAME] = "x";
  int length = 9;
  OK(MPI_Type_contiguous(2, MPI_INT, &t));
  OK(MPI_Type_get_name(t, name, &length));
  CHECK(name[0] == 0 && length == 0);
  OK(MPI_Type_set_name(t, "two"));
  OK(MPI_Type_get_name(t, name, &length));
  CHECK(strcmp(name, "two") == 0 && length == 3);
  MPI_Count size_bytes;
  OK(MPI_Type_get_value_index(MPI_FLOAT, MPI_INT, &u));
  CHECK(u == MPI_FLOAT_INT);
  OK(MPI_Type_size_c(u, &size_bytes));
  EQUAL(size_bytes, 8);
  OK(MPI_Type_get_value_index(MPI_CHAR, MPI_CHAR, &u));
  OK(MPI_Type_free(&t));
  return finish();
}
