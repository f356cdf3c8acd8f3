// SPDX-License-Identifier: BSD-3-Clause
// What every test program shares: checks that count and name their failures, and a common end.
//
//   int main(int argc, char** argv) {
//     begin(&argc, &argv);              // MPI_Init; rank and size; errors return
//     CHECK(1 + 1 == 2);                // on failure prints file:line, the rank and the text
//     OK(MPI_Barrier(MPI_COMM_WORLD));  // must succeed
//     FAILS(MPI_ERR_RANK, MPI_Send(...));  // must fail with this class
//     return finish();                  // MPI_Finalize; rank 0 prints "ok" if it had no failure
//   }
#pragma once
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures, rank, size;

static inline void failed(const char* file, int line, const char* text, const char* more) {
  if (++failures <= 10) printf("%s:%d: rank %d: %s%s\n", file, line, rank, text, more);
}

static inline const char* class_name(int code) {
  static _Thread_local char text[MPI_MAX_ERROR_STRING + 32];
  char words[MPI_MAX_ERROR_STRING] = "";
  int length = 0, class = -1;
  if (code == MPI_SUCCESS) return " returned success";
  MPI_Error_class(code, &class);
  MPI_Error_string(code, words, &length);
  snprintf(text, sizeof text, " returned class %d: %s", class, words);
  return text;
}

static inline int class_of(int code) {
  int class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
  return class;
}

#define CHECK(condition)                                                       \
  do {                                                                         \
    if (!(condition)) failed(__FILE__, __LINE__, "CHECK(" #condition ")", ""); \
  } while (0)

#define EQUAL(value, wanted)                                                 \
  do {                                                                       \
    long long value_ = (long long)(value), wanted_ = (long long)(wanted);    \
    char more_[96];                                                          \
    snprintf(more_, sizeof more_, " is %lld, wanted %lld", value_, wanted_); \
    if (value_ != wanted_) failed(__FILE__, __LINE__, #value, more_);        \
  } while (0)

#define OK(call)                                                                    \
  do {                                                                              \
    int code_ = (call);                                                             \
    if (code_ != MPI_SUCCESS) failed(__FILE__, __LINE__, #call, class_name(code_)); \
  } while (0)

#define FAILS(class, call)                                                                \
  do {                                                                                    \
    int code_ = (call);                                                                   \
    if (class_of(code_) != (class))                                                       \
      failed(__FILE__, __LINE__, #call " must fail with " #class ";", class_name(code_)); \
  } while (0)

static inline void begin(int* argc, char*** argv) {
  if (MPI_Init(argc, argv) != MPI_SUCCESS) exit(2);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  setvbuf(stdout, NULL, _IOLBF, 0);
}

static inline int finish(void) {
  if (MPI_Finalize() != MPI_SUCCESS) failed(__FILE__, __LINE__, "MPI_Finalize", " failed");
  if (rank == 0 && failures == 0) printf("ok\n");
  return failures != 0;
}

// Whether all ranks of comm share memory. Those of several hosts do not, nor any where the network is forced.
static inline int share_memory(MPI_Comm comm) {
  MPI_Comm near;
  int ranks, here, all;
  MPI_Comm_size(comm, &ranks);
  OK(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near));
  MPI_Comm_size(near, &here);
  MPI_Comm_free(&near);
  OK(MPI_Allreduce(&here, &all, 1, MPI_INT, MPI_MIN, comm));
  return all == ranks;
}

// A cheap reproducible pattern: byte i of message `seed`.
static inline unsigned char pattern(unsigned seed, size_t i) {
  return (unsigned char)((i * 131u + (i >> 8) * 7u + seed * 29u) & 0xffu);
}
static inline void fill(void* buffer, size_t bytes, unsigned seed) {
  for (size_t i = 0; i < bytes; i++) ((unsigned char*)buffer)[i] = pattern(seed, i);
}
static inline size_t wrong(const void* buffer, size_t bytes, unsigned seed) {
  size_t count = 0;
  for (size_t i = 0; i < bytes; i++) count += ((const unsigned char*)buffer)[i] != pattern(seed, i);
  return count;
}
