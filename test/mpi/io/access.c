// SPDX-License-Identifier: BSD-3-Clause
// Reading and writing with every pointer, with views that interleave the processes, and at the end of a file
// (MPI 5.0, 14.3 and 14.4).
#include <unistd.h>

#include "check.h"

enum { kBlock = 5, kTimes = 40 };

static char name[256];
static MPI_File file;

static void open_new(void) {
  OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
  OK(MPI_File_set_size(file, 0));
}

static void close_file(void) {
  OK(MPI_File_close(&file));
  CHECK(file == MPI_FILE_NULL);
}

// Each process sees every size-th block of kBlock ints; together they fill the file.
static void interleaved(void) {
  MPI_Datatype filetype;
  MPI_Status status;
  MPI_Offset offset;
  int values[kBlock * kTimes], again[kBlock * kTimes], count;
  open_new();
  OK(MPI_Type_vector(1, kBlock, kBlock, MPI_INT, &filetype));
  MPI_Datatype spaced;
  OK(MPI_Type_create_resized(filetype, 0, (MPI_Aint)sizeof(int) * kBlock * size, &spaced));
  OK(MPI_Type_commit(&spaced));
  const MPI_Offset mine = (MPI_Offset)sizeof(int) * kBlock * rank;
  OK(MPI_File_set_view(file, mine, MPI_INT, spaced, "native", MPI_INFO_NULL));
  for (int i = 0; i < kBlock * kTimes; ++i) values[i] = 1000 * rank + i;
  OK(MPI_File_write_all(file, values, kBlock * kTimes, MPI_INT, &status));
  OK(MPI_Get_count(&status, MPI_INT, &count));
  EQUAL(count, kBlock * kTimes);
  OK(MPI_File_get_position(file, &offset));
  EQUAL(offset, kBlock * kTimes);
  OK(MPI_File_get_byte_offset(file, kBlock, &offset));
  EQUAL(offset, (long long)sizeof(int) * kBlock * (rank + size));
  OK(MPI_File_seek(file, 3, MPI_SEEK_SET));
  memset(again, 0, sizeof again);
  OK(MPI_File_read(file, again, 10, MPI_INT, &status));
  for (int i = 0; i < 10; ++i) EQUAL(again[i], 1000 * rank + 3 + i);
  OK(MPI_File_sync(file));
  OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  for (int block = 0; block < kTimes * size; ++block) {
    OK(MPI_File_read_at(file, block * kBlock, again, kBlock, MPI_INT, MPI_STATUS_IGNORE));
    EQUAL(again[1], 1000 * (block % size) + block / size * kBlock + 1);
  }
  // The end of the file cuts a read short, and puts MPI_SEEK_END where it belongs.
  OK(MPI_File_read_at(file, kTimes * size * kBlock - 2, again, 10, MPI_INT, &status));
  OK(MPI_Get_count(&status, MPI_INT, &count));
  EQUAL(count, 2);
  OK(MPI_File_seek(file, -1, MPI_SEEK_END));
  OK(MPI_File_get_position(file, &offset));
  EQUAL(offset, kTimes * size * kBlock - 1);
  OK(MPI_Type_free(&spaced));
  OK(MPI_Type_free(&filetype));
  close_file();
}

static void shared(void) {
  int value = rank, values[64], seen[64] = {0};
  MPI_Offset offset;
  open_new();
  OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  OK(MPI_File_write_ordered(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  OK(MPI_File_write_shared(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_File_get_position_shared(file, &offset));
  EQUAL(offset, 2 * size);
  OK(MPI_File_read_at_all(file, 0, values, 2 * size, MPI_INT, MPI_STATUS_IGNORE));
  for (int i = 0; i < size; ++i) {
    EQUAL(values[i], i);  // in the order of ranks
    ++seen[values[size + i] % 64];
  }
  for (int i = 0; i < size; ++i) EQUAL(seen[i], 1);
  OK(MPI_File_seek_shared(file, size, MPI_SEEK_SET));
  OK(MPI_File_read_ordered_begin(file, &value, 1, MPI_INT));
  FAILS(MPI_ERR_OTHER, MPI_File_read_all_end(file, &value, MPI_STATUS_IGNORE));
  OK(MPI_File_read_ordered_end(file, &value, MPI_STATUS_IGNORE));
  EQUAL(value, values[size + rank]);
  close_file();
}

// Views may change for every access. The shared pointer is zero then, whoever had moved it.
static void views(void) {
  int value = rank;
  MPI_Offset offset;
  MPI_Info info, used;
  char text[64];
  int flag;
  open_new();
  for (int mover = 0; mover < size; ++mover) {
    if (rank == mover) OK(MPI_File_write_shared(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_set_view(file, 4 * mover, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    OK(MPI_File_get_position_shared(file, &offset));
    EQUAL(offset, 0);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  // Hints come with a view too, as rank 0 has them.
  OK(MPI_Info_create(&info));
  OK(MPI_Info_set(info, "cb_buffer_size", rank == 0 ? "65536" : "131072"));
  OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", rank == 0 ? info : MPI_INFO_NULL));
  OK(MPI_File_get_info(file, &used));
  OK(MPI_Info_get(used, "cb_buffer_size", 63, text, &flag));
  CHECK(flag && strcmp(text, "65536") == 0);
  OK(MPI_Info_free(&used));
  OK(MPI_Info_free(&info));
  // What is wrong in one process fails in all, and the view stays.
  const int last = rank == size - 1;
  FAILS(MPI_ERR_UNSUPPORTED_DATAREP,
        MPI_File_set_view(file, 8, MPI_INT, MPI_INT, last ? "wrong" : "native", MPI_INFO_NULL));
  if (size > 1) {
    MPI_Datatype etype = last ? MPI_DOUBLE : MPI_INT;
    FAILS(MPI_ERR_NOT_SAME, MPI_File_set_view(file, 8, etype, etype, "native", MPI_INFO_NULL));
  }
  OK(MPI_File_get_byte_offset(file, 0, &offset));
  EQUAL(offset, 0);
  close_file();
}

// A process that has nothing to write may say so with a filetype of no bytes.
static void nothing_seen(void) {
  const int count = rank == 0 ? 0 : 4;
  const MPI_Aint place = 100 + 4 * rank;
  int value = rank, got = -1;
  MPI_Datatype filetype;
  MPI_Status status;
  open_new();
  OK(MPI_Type_create_hindexed(1, &count, &place, MPI_BYTE, &filetype));
  OK(MPI_Type_commit(&filetype));
  OK(MPI_File_set_view(file, 0, MPI_BYTE, filetype, "native", MPI_INFO_NULL));
  OK(MPI_File_write_at_all(file, 0, &value, count, MPI_BYTE, MPI_STATUS_IGNORE));
  OK(MPI_File_sync(file));
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_File_read_at_all(file, 0, &got, count, MPI_BYTE, &status));
  EQUAL(got, rank == 0 ? -1 : rank);
  if (rank == 0) FAILS(MPI_ERR_ARG, MPI_File_write_at(file, 0, &value, 1, MPI_BYTE, MPI_STATUS_IGNORE));
  OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  OK(MPI_File_read_at_all(file, 100 + 4 * (size - 1), &got, size > 1 ? 4 : 0, MPI_BYTE, MPI_STATUS_IGNORE));
  EQUAL(got, size > 1 ? size - 1 : -1);
  OK(MPI_Type_free(&filetype));
  close_file();
}

static void nonblocking(void) {
  double out[4] = {rank, 1, 2, 3}, in[4] = {0};
  MPI_Request requests[2];
  MPI_Status status;
  int count;
  open_new();
  OK(MPI_File_set_atomicity(file, 1));
  OK(MPI_File_iwrite_at(file, (MPI_Offset)sizeof out * rank, out, 4, MPI_DOUBLE, &requests[0]));
  OK(MPI_Wait(&requests[0], &status));
  OK(MPI_Get_count(&status, MPI_DOUBLE, &count));
  EQUAL(count, 4);
  OK(MPI_File_iread_at_all(file, (MPI_Offset)sizeof out * rank, in, 4, MPI_DOUBLE, &requests[1]));
  OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  CHECK(memcmp(in, out, sizeof in) == 0);
  close_file();
}

static void external(void) {
  int value = 0x01020304, back = 0;
  unsigned char bytes[4];
  open_new();
  OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL));
  OK(MPI_File_write_at(file, rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  OK(MPI_File_read_at(file, rank, &back, 1, MPI_INT, MPI_STATUS_IGNORE));
  EQUAL(back, value);
  OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  OK(MPI_File_read_at(file, 4 * rank, bytes, 4, MPI_BYTE, MPI_STATUS_IGNORE));
  for (int i = 0; i < 4; ++i) EQUAL(bytes[i], i + 1);  // big-endian
  close_file();
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  int pid = (int)getpid();
  MPI_Bcast(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD);
  snprintf(name, sizeof name, "/tmp/vicinity-test-io-%d", pid);
  interleaved();
  shared();
  views();
  nothing_seen();
  nonblocking();
  external();
  if (rank == 0) OK(MPI_File_delete(name, MPI_INFO_NULL));
  return finish();
}
