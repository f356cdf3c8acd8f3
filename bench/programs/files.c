// SPDX-License-Identifier: BSD-3-Clause
// Collective writing and reading of views that interleave the ranks: each has every size-th piece of a file.
//
//   files FOLDER [MIB]     prints "write PIECE MB/s" and "read PIECE MB/s", the median of five
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kTimes = 5 };

static int rank, size;

static void stop(const char* what) {
  fprintf(stderr, "files: %s failed\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static int by_value(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double once(const char* name, int piece, char* memory, int bytes, int writing) {
  MPI_File file;
  MPI_Datatype block, pieces;
  MPI_Status status;
  int got;
  MPI_Type_contiguous(piece, MPI_BYTE, &block);
  MPI_Type_create_resized(block, 0, (MPI_Aint)piece * size, &pieces);
  MPI_Type_commit(&pieces);
  const int mode = MPI_MODE_RDWR | MPI_MODE_CREATE;
  if (MPI_File_open(MPI_COMM_WORLD, name, mode, MPI_INFO_NULL, &file)) stop("open");
  MPI_File_set_view(file, (MPI_Offset)piece * rank, MPI_BYTE, pieces, "native", MPI_INFO_NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  const int code = writing ? MPI_File_write_all(file, memory, bytes, MPI_BYTE, &status)
                           : MPI_File_read_all(file, memory, bytes, MPI_BYTE, &status);
  MPI_Barrier(MPI_COMM_WORLD);
  const double seconds = MPI_Wtime() - begin;
  MPI_Get_count(&status, MPI_BYTE, &got);
  if (code || got != bytes) stop(writing ? "write" : "read");
  MPI_File_close(&file);
  MPI_Type_free(&pieces);
  MPI_Type_free(&block);
  return (double)bytes * size / seconds / 1e6;
}

int main(int argc, char** argv) {
  const int sizes[] = {8, 64, 512, 4096, 32768, 262144};
  char name[4096];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int total = (argc > 2 ? atoi(argv[2]) : 16) << 20;
  snprintf(name, sizeof name, "%s/vicinity-bench-files", argc > 1 ? argv[1] : "/tmp");
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    const int piece = sizes[i], bytes = total / size / piece * piece;
    char* memory = malloc((size_t)bytes);
    double speed[2][kTimes];
    if (!memory) stop("malloc");
    for (int t = 0; t < kTimes; ++t) {
      memset(memory, rank + 1, (size_t)bytes);
      speed[0][t] = once(name, piece, memory, bytes, 1);
      memset(memory, 0, (size_t)bytes);
      speed[1][t] = once(name, piece, memory, bytes, 0);
      for (int at = 0; at < bytes; ++at)
        if (memory[at] != (char)(rank + 1)) stop("comparing");
    }
    for (int reading = 0; reading < 2; ++reading) {
      qsort(speed[reading], kTimes, sizeof(double), by_value);
      if (rank == 0) printf("%s %d %.0f\n", reading ? "read" : "write", piece, speed[reading][kTimes / 2]);
    }
    free(memory);
  }
  if (rank == 0) MPI_File_delete(name, MPI_INFO_NULL);
  MPI_Finalize();
  return 0;
}
