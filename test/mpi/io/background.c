// SPDX-License-Identifier: BSD-3-Clause
// Nonblocking accesses that go on in the background (MPI 5.0, 14.4): many at once, freed before their end,
// failing at MPI_Wait with the file's error handler.
#include <unistd.h>

#include "check.h"

enum { kBytes = 1 << 18, kRequests = 8 };

static char name[256];
static unsigned char out[kRequests][kBytes], in[kRequests][kBytes];
static int handled;

static void note(MPI_File* file, int* code, ...) {
  CHECK(*file != MPI_FILE_NULL);
  handled = class_of(*code);
}

static MPI_File open_new(void) {
  MPI_File file;
  OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
  OK(MPI_File_set_size(file, 0));
  return file;
}

static void many(void) {
  MPI_Request requests[kRequests];
  MPI_Status statuses[kRequests];
  MPI_Offset offset;
  int count, flag = 0;
  MPI_File file = open_new();
  const MPI_Offset mine = (MPI_Offset)rank * kRequests * kBytes;
  for (int i = 0; i < kRequests; ++i) {
    fill(out[i], kBytes, (unsigned)(rank * kRequests + i));
    OK(MPI_File_iwrite_at(file, mine + (MPI_Offset)i * kBytes, out[i], kBytes, MPI_BYTE, &requests[i]));
  }
  OK(MPI_Waitall(kRequests, requests, statuses));
  for (int i = 0; i < kRequests; ++i) {
    OK(MPI_Get_count(&statuses[i], MPI_BYTE, &count));
    EQUAL(count, kBytes);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_File_seek(file, mine, MPI_SEEK_SET));
  for (int i = 0; i < kRequests; ++i) {
    OK(MPI_File_iread(file, in[i], kBytes, MPI_BYTE, &requests[i]));
    OK(MPI_File_get_position(file, &offset));  // beyond what was asked for, at once
    EQUAL(offset, mine + (MPI_Offset)(i + 1) * kBytes);
  }
  for (int i = 0; i < kRequests; ++i)
    for (flag = 0; !flag;) OK(MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE));
  for (int i = 0; i < kRequests; ++i) CHECK(memcmp(out[i], in[i], kBytes) == 0);
  OK(MPI_File_close(&file));
}

// The view and the type of an access are those of its begin; a request may be freed.
static void freed(void) {
  MPI_Datatype spaced, memory;
  MPI_Request request;
  MPI_Status status;
  int count;
  MPI_File file = open_new();
  OK(MPI_Type_create_resized(MPI_BYTE, 0, size, &spaced));
  OK(MPI_Type_commit(&spaced));
  OK(MPI_Type_contiguous(kBytes, MPI_BYTE, &memory));
  OK(MPI_Type_commit(&memory));
  OK(MPI_File_set_view(file, rank, MPI_BYTE, spaced, "native", MPI_INFO_NULL));
  OK(MPI_File_iwrite_at_all(file, 0, out[0], 1, memory, &request));
  OK(MPI_Type_free(&memory));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  OK(MPI_File_iwrite_at(file, kBytes, out[1], kBytes / 2, MPI_BYTE, &request));
  OK(MPI_Request_free(&request));
  OK(MPI_File_set_view(file, rank, MPI_BYTE, spaced, "native", MPI_INFO_NULL));
  OK(MPI_Type_free(&spaced));
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_File_iread_at(file, 0, in[0], kBytes, MPI_BYTE, &request));
  OK(MPI_Wait(&request, &status));
  OK(MPI_Get_count(&status, MPI_BYTE, &count));
  EQUAL(count, kBytes);
  CHECK(memcmp(in[0], out[0], kBytes) == 0);
  OK(MPI_File_close(&file));  // waits for what was freed
  OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
  MPI_Offset bytes;
  OK(MPI_File_get_size(file, &bytes));
  EQUAL(bytes, (MPI_Offset)size * (kBytes + kBytes / 2));
  OK(MPI_File_iread_at(file, bytes - 100000, in[0], kBytes, MPI_BYTE, &request));  // cut by the end
  OK(MPI_Wait(&request, &status));
  OK(MPI_Get_count(&status, MPI_BYTE, &count));
  EQUAL(count, 100000);
  OK(MPI_File_close(&file));
}

static void failing(void) {
  MPI_File file;
  MPI_Request request;
  MPI_Errhandler handler;
  if (access("/dev/full", W_OK) != 0) return;
  OK(MPI_File_open(MPI_COMM_SELF, "/dev/full", MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
  OK(MPI_File_iwrite_at(file, 0, out[0], kBytes, MPI_BYTE, &request));
  FAILS(MPI_ERR_NO_SPACE, MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK(request == MPI_REQUEST_NULL);
  OK(MPI_File_create_errhandler(note, &handler));
  OK(MPI_File_set_errhandler(file, handler));
  OK(MPI_Errhandler_free(&handler));
  OK(MPI_File_iwrite_at(file, 0, out[0], kBytes, MPI_BYTE, &request));
  FAILS(MPI_ERR_NO_SPACE, MPI_Wait(&request, MPI_STATUS_IGNORE));
  EQUAL(handled, MPI_ERR_NO_SPACE);
  OK(MPI_File_close(&file));
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  int pid = (int)getpid();
  MPI_Bcast(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD);
  snprintf(name, sizeof name, "/tmp/vicinity-test-io-background-%d", pid);
  many();
  freed();
  failing();
  if (rank == 0) OK(MPI_File_delete(name, MPI_INFO_NULL));
  return finish();
}
