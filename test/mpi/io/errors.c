// SPDX-License-Identifier: BSD-3-Clause
// Errors of files, the same on all processes, and their handlers (MPI 5.0, 14.2, 14.7).
#include <unistd.h>

#include "check.h"

static int handled;

static void note(MPI_File* file, int* code, ...) {
  CHECK(*file != MPI_FILE_NULL);
  handled = class_of(*code);
}

static void no_space(void) {
  MPI_File file;
  char bytes[8] = {0};
  if (access("/dev/full", W_OK) != 0) return;
  OK(MPI_File_open(MPI_COMM_WORLD, "/dev/full", MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
  FAILS(MPI_ERR_NO_SPACE, MPI_File_write(file, bytes, 8, MPI_CHAR, MPI_STATUS_IGNORE));
  FAILS(MPI_ERR_NO_SPACE, MPI_File_write_all(file, bytes, 8, MPI_CHAR, MPI_STATUS_IGNORE));
  OK(MPI_File_close(&file));
}

// A file keeps the handler that MPI_FILE_NULL had when it was opened (14.7).
static void later_handler(const char* name) {
  MPI_File file;
  MPI_Errhandler handler, found;
  OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
  OK(MPI_File_create_errhandler(note, &handler));
  OK(MPI_File_set_errhandler(MPI_FILE_NULL, handler));
  OK(MPI_File_get_errhandler(file, &found));
  CHECK(found == MPI_ERRORS_RETURN);
  FAILS(MPI_ERR_COUNT, MPI_File_read(file, &found, -1, MPI_INT, MPI_STATUS_IGNORE));
  EQUAL(handled, 0);
  OK(MPI_File_close(&file));
  OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
  OK(MPI_Errhandler_free(&handler));
  if (rank == 0) OK(MPI_File_delete(name, MPI_INFO_NULL));
  MPI_Barrier(MPI_COMM_WORLD);
}

// How many hosts the ranks are on, by their names.
static int hosts(void) {
  enum { kMost = 16 };
  char names[kMost][MPI_MAX_PROCESSOR_NAME] = {""}, name[MPI_MAX_PROCESSOR_NAME] = "";
  int length, different = 0;
  CHECK(size <= kMost);
  OK(MPI_Get_processor_name(name, &length));
  OK(MPI_Allgather(name, sizeof name, MPI_CHAR, names, sizeof name, MPI_CHAR, MPI_COMM_WORLD));
  for (int i = 0; i < size; i++) {
    int before = 0;
    while (strcmp(names[before], names[i]) != 0) before++;
    different += before == i;
  }
  return different;
}

// What is understood is told again, as all have it; the rest is not.
static void hints(const char* name) {
  MPI_File file;
  MPI_Info info, used;
  char text[64];
  int flag;
  OK(MPI_Info_create(&info));
  OK(MPI_Info_set(info, "cb_buffer_size", rank == 0 ? "65536" : "131072"));
  OK(MPI_Info_set(info, "striping_factor", "4"));
  OK(MPI_Info_set(info, "cb_nodes", "many"));
  OK(MPI_Info_set(info, "access_style", "sequential"));
  const int mode = MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE;
  OK(MPI_File_open(MPI_COMM_WORLD, name, mode, info, &file));
  OK(MPI_File_get_info(file, &used));
  OK(MPI_Info_get(used, "cb_buffer_size", 63, text, &flag));
  CHECK(flag && strcmp(text, "65536") == 0);
  OK(MPI_Info_get(used, "cb_nodes", 63, text, &flag));
  CHECK(flag && atoi(text) == hosts());
  OK(MPI_Info_get(used, "access_style", 63, text, &flag));
  CHECK(flag && strcmp(text, "sequential") == 0);
  OK(MPI_Info_get(used, "striping_factor", 63, text, &flag));
  CHECK(!flag);
  OK(MPI_Info_free(&used));
  OK(MPI_Info_free(&info));
  OK(MPI_File_close(&file));
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  char name[256];
  int pid = (int)getpid(), amode = 0, flag = 0, value = 0;
  MPI_Bcast(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD);
  snprintf(name, sizeof name, "/tmp/vicinity-test-io-errors-%d", pid);
  MPI_File file = MPI_FILE_NULL;
  MPI_Comm comm = MPI_COMM_WORLD;

  FAILS(MPI_ERR_NO_SUCH_FILE, MPI_File_open(comm, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
  FAILS(MPI_ERR_AMODE, MPI_File_open(comm, name, MPI_MODE_RDONLY | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
  FAILS(MPI_ERR_AMODE, MPI_File_open(comm, name, MPI_MODE_RDONLY | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
  FAILS(MPI_ERR_NO_SUCH_FILE, MPI_File_delete("/tmp/vicinity-no-such-file", MPI_INFO_NULL));
  FAILS(MPI_ERR_FILE, MPI_File_get_amode(MPI_FILE_NULL, &amode));
  FAILS(MPI_ERR_BAD_FILE, MPI_File_open(comm, "/tmp", MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
  FAILS(MPI_ERR_AMODE, MPI_File_open(comm, name, MPI_MODE_RDONLY | 1 << 30, MPI_INFO_NULL, &file));
  no_space();
  later_handler(name);
  hints(name);
  if (size > 1) {
    const int mode = MPI_MODE_CREATE | (rank == 0 ? MPI_MODE_RDWR : MPI_MODE_WRONLY);
    FAILS(MPI_ERR_NOT_SAME, MPI_File_open(comm, name, mode, MPI_INFO_NULL, &file));
  }

  OK(MPI_File_open(comm, name, MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_EXCL, MPI_INFO_NULL, &file));
  OK(MPI_File_get_amode(file, &amode));
  EQUAL(amode, MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_EXCL);
  FAILS(MPI_ERR_ACCESS, MPI_File_read(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  FAILS(MPI_ERR_ARG, MPI_File_seek(file, -1, MPI_SEEK_SET));
  FAILS(MPI_ERR_UNSUPPORTED_DATAREP, MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "roman", MPI_INFO_NULL));
  OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  FAILS(MPI_ERR_IO, MPI_File_write(file, &value, 1, MPI_BYTE, MPI_STATUS_IGNORE));
  OK(MPI_File_get_atomicity(file, &flag));
  EQUAL(flag, 0);
  FAILS(MPI_ERR_TYPE, MPI_File_write(file, &value, 1, MPI_DATATYPE_NULL, MPI_STATUS_IGNORE));

  MPI_Errhandler handler;
  OK(MPI_File_create_errhandler(note, &handler));
  OK(MPI_File_set_errhandler(file, handler));
  FAILS(MPI_ERR_COUNT, MPI_File_write(file, &value, -1, MPI_INT, MPI_STATUS_IGNORE));
  EQUAL(handled, MPI_ERR_COUNT);
  OK(MPI_Errhandler_free(&handler));
  OK(MPI_File_close(&file));

  FAILS(MPI_ERR_FILE_EXISTS,
        MPI_File_open(comm, name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL, MPI_INFO_NULL, &file));
  OK(MPI_File_open(comm, name, MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
  FAILS(MPI_ERR_READ_ONLY, MPI_File_write(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  OK(MPI_File_close(&file));
  MPI_Barrier(comm);
  CHECK(access(name, F_OK) != 0);
  return finish();
}
