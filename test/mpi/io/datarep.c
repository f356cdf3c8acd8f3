// SPDX-License-Identifier: BSD-3-Clause
// Data representations (MPI 5.0, 14.5): the program's own, whose elements have another size in the file, and
// external32 where its sizes differ from ours.
#include <unistd.h>

#include "check.h"

static char name[256];
static int calls[2], state = 7;

static int is_int(MPI_Datatype type) { return type == MPI_INT; }

// An int is stored as eight bytes in hexadecimal, all others as they are.
static int extent_of(MPI_Datatype type, MPI_Aint* extent, void* extra) {
  MPI_Aint lb;
  CHECK(extra == &state);
  if (is_int(type)) {
    *extent = 8;
    return MPI_SUCCESS;
  }
  return MPI_Type_get_extent(type, &lb, extent);
}

// `type` is n ints, perhaps with gaps between them.
static int* element(void* buf, MPI_Datatype type, MPI_Offset i) {
  MPI_Aint lb, extent;
  int bytes;
  MPI_Type_size(type, &bytes);
  MPI_Type_get_extent(type, &lb, &extent);
  const MPI_Offset each = bytes / (int)sizeof(int);
  return (int*)((char*)buf + i / each * extent) + i % each;
}

static int write_hex(void* user, MPI_Datatype type, int count, void* file, MPI_Offset position, void* extra) {
  char text[9];
  CHECK(extra == &state);
  ++calls[1];
  for (int i = 0; i < count; ++i) {
    snprintf(text, sizeof text, "%08x", (unsigned)*element(user, type, position + i));
    memcpy((char*)file + 8 * i, text, 8);
  }
  return MPI_SUCCESS;
}

static int read_hex(void* user, MPI_Datatype type, int count, void* file, MPI_Offset position, void* extra) {
  char text[9] = "";
  CHECK(extra == &state);
  ++calls[0];
  for (int i = 0; i < count; ++i) {
    memcpy(text, (char*)file + 8 * i, 8);
    *element(user, type, position + i) = (int)strtoul(text, NULL, 16);
  }
  return MPI_SUCCESS;
}

static int refuse(void* user, MPI_Datatype type, int count, void* file, MPI_Offset position, void* extra) {
  (void)user, (void)type, (void)count, (void)file, (void)position, (void)extra;
  return MPI_ERR_OTHER;
}

static MPI_File open_new(void) {
  MPI_File file;
  OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
  OK(MPI_File_set_size(file, 0));
  return file;
}

// Each process sees every size-th int.
static void hex(void) {
  enum { kCount = 50 };
  int values[kCount], spread[2 * kCount], again[kCount + 5], count;
  MPI_Datatype one, column, spaced;
  MPI_Offset offset;
  MPI_Aint extent;
  MPI_Status status;
  char text[17] = "", wanted[17];
  MPI_Request request;
  MPI_File file = open_new();
  OK(MPI_Type_indexed(1, (int[]){1}, &rank, MPI_INT, &one));
  OK(MPI_Type_create_subarray(1, &size, (int[]){1}, &rank, MPI_ORDER_C, MPI_INT, &column));
  OK(MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &spaced));
  OK(MPI_Type_commit(&column));
  OK(MPI_Type_commit(&spaced));
  OK(MPI_File_set_view(file, 0, MPI_INT, column, "hexadecimal", MPI_INFO_NULL));
  OK(MPI_File_get_type_extent(file, MPI_INT, &extent));
  EQUAL(extent, 8);
  OK(MPI_File_get_byte_offset(file, 3, &offset));
  EQUAL(offset, 8 * (3 * size + rank));
  for (int i = 0; i < kCount; ++i) values[i] = spread[2 * i] = 1000 * rank + i;
  OK(MPI_File_write_at_all(file, 0, values, kCount / 2, MPI_INT, &status));
  OK(MPI_Get_count(&status, MPI_INT, &count));
  EQUAL(count, kCount / 2);
  OK(MPI_File_iwrite_at(file, kCount / 2, spread + kCount / 2 * 2, kCount / 2, spaced, &request));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_File_read_at_all(file, 0, again, kCount + 5, MPI_INT, &status));  // the file ends before
  OK(MPI_Get_count(&status, MPI_INT, &count));
  EQUAL(count, kCount);
  CHECK(memcmp(values, again, sizeof values) == 0);
  CHECK(calls[0] > 0 && calls[1] > 0);
  memset(again, 0, sizeof again);
  OK(MPI_File_iread_at_all(file, 2, again, kCount - 2, MPI_INT, &request));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK(memcmp(values + 2, again, sizeof(int) * (kCount - 2)) == 0);
  OK(MPI_File_set_view(file, 0, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL));
  OK(MPI_File_read_at(file, 8 * (4 * size + rank), text, 8, MPI_CHAR, MPI_STATUS_IGNORE));
  snprintf(wanted, sizeof wanted, "%08x", (unsigned)values[4]);
  CHECK(strcmp(text, wanted) == 0);
  // A type with displacements in bytes means nothing where an int has another size.
  MPI_Datatype bytes;
  OK(MPI_Type_create_hvector(2, 1, 12, MPI_INT, &bytes));
  OK(MPI_Type_commit(&bytes));
  FAILS(MPI_ERR_UNSUPPORTED_DATAREP,
        MPI_File_set_view(file, 0, MPI_INT, bytes, "hexadecimal", MPI_INFO_NULL));
  OK(MPI_Type_free(&bytes));
  OK(MPI_Type_free(&one));
  OK(MPI_Type_free(&column));
  OK(MPI_Type_free(&spaced));
  OK(MPI_File_close(&file));
}

static void functions(void) {
  int value = 5, back = 0;
  MPI_File file = open_new();
  FAILS(MPI_ERR_DUP_DATAREP, MPI_Register_datarep("hexadecimal", read_hex, write_hex, extent_of, &state));
  FAILS(MPI_ERR_DUP_DATAREP, MPI_Register_datarep("external32", read_hex, write_hex, extent_of, &state));
  FAILS(MPI_ERR_UNSUPPORTED_DATAREP, MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "no such", MPI_INFO_NULL));
  // Without functions the data is as it is in memory.
  OK(MPI_Register_datarep("plain", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent_of, &state));
  OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "plain", MPI_INFO_NULL));
  OK(MPI_File_write_at(file, rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  OK(MPI_File_read_at(file, rank, &back, 1, MPI_INT, MPI_STATUS_IGNORE));
  EQUAL(back, 5);
  OK(MPI_Register_datarep("refusing", refuse, refuse, extent_of, &state));
  OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "refusing", MPI_INFO_NULL));
  FAILS(MPI_ERR_CONVERSION, MPI_File_write_at(file, rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  OK(MPI_File_close(&file));
}

// A long has four bytes in external32, so that the gaps of a filetype are others too.
static void external(void) {
  enum { kCount = 20 };
  long values[kCount], again[kCount + 3];
  unsigned char bytes[4];
  int count;
  MPI_Datatype column;
  MPI_Status status;
  MPI_Request request;
  MPI_File file = open_new();
  OK(MPI_Type_create_subarray(1, &size, (int[]){1}, &rank, MPI_ORDER_FORTRAN, MPI_LONG, &column));
  OK(MPI_Type_commit(&column));
  OK(MPI_File_set_view(file, 0, MPI_LONG, column, "external32", MPI_INFO_NULL));
  for (int i = 0; i < kCount; ++i) values[i] = -(1000 * rank + i);
  OK(MPI_File_iwrite_all(file, values, kCount, MPI_LONG, &request));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_File_read_at_all(file, 0, again, kCount + 3, MPI_LONG, &status));
  OK(MPI_Get_count(&status, MPI_LONG, &count));
  EQUAL(count, kCount);
  CHECK(memcmp(again, values, sizeof values) == 0);
  values[0] = 1L << 40;
  FAILS(MPI_ERR_CONVERSION, MPI_File_write_at(file, 0, values, 1, MPI_LONG, MPI_STATUS_IGNORE));
  OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  OK(MPI_File_read_at(file, 4 * (5 * size + rank), bytes, 4, MPI_BYTE, MPI_STATUS_IGNORE));
  const int value = (int)((unsigned)bytes[0] << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3]);
  EQUAL(value, values[5]);
  OK(MPI_Type_free(&column));
  OK(MPI_File_close(&file));
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  int pid = (int)getpid();
  MPI_Bcast(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD);
  snprintf(name, sizeof name, "/tmp/vicinity-test-io-datarep-%d", pid);
  OK(MPI_Register_datarep("hexadecimal", read_hex, write_hex, extent_of, &state));
  hex();
  functions();
  external();
  if (rank == 0) OK(MPI_File_delete(name, MPI_INFO_NULL));
  return finish();
}
