// SPDX-License-Identifier: BSD-3-Clause
// Get_count and Get_elements for whole, partial and odd receptions; Status_set_*; large counts.
#include "check.h"

static void partial(void) {
  MPI_Datatype pair;  // int and double
  MPI_Status status;
  struct {
    int i;
    double d;
  } data[4] = {{1, 1.5}, {2, 2.5}}, got[4];
  OK(MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 8}, (MPI_Datatype[]){MPI_INT, MPI_DOUBLE},
                            &pair));
  OK(MPI_Type_commit(&pair));
  const struct {
    int sent, count, elements;
  } kCases[] = {{0, 0, 0}, {1, MPI_UNDEFINED, 1}, {2, 1, 2}, {3, MPI_UNDEFINED, 3}, {4, 2, 4}};
  for (size_t c = 0; c < 5; c++) {  // send the first few basic elements only
    MPI_Datatype part;
    int lengths[4] = {1, 1, 1, 1}, count = -5, elements = -5;
    MPI_Aint places[4] = {0, 8, 16, 24};
    MPI_Datatype types[4] = {MPI_INT, MPI_DOUBLE, MPI_INT, MPI_DOUBLE};
    OK(MPI_Type_create_struct(kCases[c].sent, lengths, places, types, &part));
    OK(MPI_Type_commit(&part));
    OK(MPI_Sendrecv(data, 1, part, rank, 0, got, 4, pair, rank, 0, MPI_COMM_WORLD, &status));
    OK(MPI_Get_count(&status, pair, &count));
    EQUAL(count, kCases[c].count);
    OK(MPI_Get_elements(&status, pair, &elements));
    EQUAL(elements, kCases[c].elements);
    MPI_Count large = -1;
    OK(MPI_Get_elements_c(&status, pair, &large));
    EQUAL(large, kCases[c].elements);
    OK(MPI_Get_elements_x(&status, pair, &large));
    EQUAL(large, kCases[c].elements);
    OK(MPI_Type_free(&part));
  }
  int count = -1;
  OK(MPI_Get_count(&status, MPI_CHAR, &count));
  EQUAL(count, 24);
  OK(MPI_Type_free(&pair));
}

static void set_status(void) {
  MPI_Status status;
  MPI_Datatype huge;
  int count = 0, flag = -1, value = 0;
  MPI_Count large = 0;
  memset(&status, 0, sizeof status);
  OK(MPI_Status_set_elements(&status, MPI_INT, 7));
  OK(MPI_Get_count(&status, MPI_INT, &count));
  EQUAL(count, 7);
  OK(MPI_Status_set_elements_c(&status, MPI_INT, (MPI_Count)5 << 32));
  OK(MPI_Get_count(&status, MPI_INT, &count));
  EQUAL(count, MPI_UNDEFINED);  // does not fit
  OK(MPI_Get_count_c(&status, MPI_INT, &large));
  EQUAL(large, (MPI_Count)5 << 32);
  OK(MPI_Status_set_cancelled(&status, 1));
  OK(MPI_Test_cancelled(&status, &flag));
  EQUAL(flag, 1);
  OK(MPI_Status_set_cancelled(&status, 0));
  OK(MPI_Status_set_source(&status, 3));
  OK(MPI_Status_set_tag(&status, 4));
  OK(MPI_Status_set_error(&status, MPI_ERR_OTHER));
  OK(MPI_Status_get_source(&status, &value));
  EQUAL(value, 3);
  OK(MPI_Status_get_tag(&status, &value));
  EQUAL(value, 4);
  OK(MPI_Status_get_error(&status, &value));
  EQUAL(value, MPI_ERR_OTHER);
  OK(MPI_Get_count_c(&status, MPI_INT, &large));
  EQUAL(large, (MPI_Count)5 << 32);
  OK(MPI_Type_contiguous_c((MPI_Count)1 << 40, MPI_INT, &huge));
  OK(MPI_Type_size(huge, &count));
  EQUAL(count, MPI_UNDEFINED);
  OK(MPI_Type_size_c(huge, &large));
  EQUAL(large, (MPI_Count)1 << 42);
  MPI_Aint lower, extent;
  OK(MPI_Type_get_extent(huge, &lower, &extent));
  EQUAL(extent, (MPI_Aint)1 << 42);
  OK(MPI_Type_free(&huge));
}

// A message of 2^31 + 9 elements of no size at all, and a type that repeats one int: count without memory.
static void large_messages(void) {
  MPI_Status status;
  MPI_Datatype nothing, same;
  MPI_Count count = -1, many = ((MPI_Count)1 << 31) + 9;
  OK(MPI_Type_contiguous(0, MPI_INT, &nothing));
  OK(MPI_Type_commit(&nothing));
  OK(MPI_Sendrecv_c(NULL, many, nothing, rank, 0, NULL, many, nothing, rank, 0, MPI_COMM_WORLD, &status));
  OK(MPI_Get_elements_c(&status, nothing, &count));
  EQUAL(count, 0);
  OK(MPI_Type_free(&nothing));
  int value = 42, *got = calloc(1 << 20, sizeof(int));
  OK(MPI_Type_create_hvector(1 << 20, 1, 0, MPI_INT, &same));  // the same int a million times
  OK(MPI_Type_commit(&same));
  OK(MPI_Sendrecv(&value, 1, same, rank, 0, got, 1 << 20, MPI_INT, rank, 0, MPI_COMM_WORLD, &status));
  OK(MPI_Get_count_c(&status, MPI_INT, &count));
  EQUAL(count, 1 << 20);
  EQUAL(got[(1 << 20) - 1], 42);
  free(got);
  OK(MPI_Type_free(&same));
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  partial();
  set_status();
  large_messages();
  return finish();
}
