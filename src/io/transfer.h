// SPDX-License-Identifier: BSD-3-Clause
// Moving bytes between memory and a file. Nothing here knows of communicators or of the engine: it runs in
// the thread that reads and writes in the background as well.
#pragma once

#include <sys/uio.h>

#include <cstdlib>
#include <string>

#include "io/view.h"

namespace vicinity::io {

// What users give: `count` elements of `type` at `address`.
struct Buffer {
  void* address;
  MPI_Count count;
  Datatype* type;
};

// Memory of bytes that are written before they are read.
class Bytes {
 public:
  Bytes() = default;
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  ~Bytes() { std::free(data_); }
  // At least this much; what was there is gone. False: there is no memory.
  bool reserve(size_t bytes);
  char* data() { return data_; }

 private:
  char* data_ = nullptr;
  size_t room_ = 0;
};

// A file as far as an access needs it.
struct Place {
  int fd;
  bool atomic;
  const View* view;
  const std::string* name;
};

// The bytes of a user's buffer as they are in the file: the buffer itself, or a converted copy.
class Staging {
 public:
  // Bytes that `buffer` takes in the file.
  static Status measure(const View& view, bool writing, const Buffer& buffer, int64_t* bytes);
  Status open(const View& view, bool writing, const Buffer& user);
  const Buffer& raw() const { return raw_; }
  int64_t bytes() const { return bytes_; }
  // `done` bytes were moved; `*memory` is how many bytes of the user's buffer that is.
  Status close(const View& view, int64_t done, int64_t* memory);

 private:
  Buffer user_{}, raw_{};
  int64_t bytes_ = 0;
  bool writing_ = false, converting_ = false;
  Bytes copy_;
};

// Moves all of `raw` at `stream`; `*done` is the number of bytes that were moved, fewer at the end of the
// file.
Status move_bytes(const Place& place, bool writing, int64_t stream, const Buffer& raw, int64_t* done);

// All of these pieces of memory at `offset`, whatever the system call leaves undone. The number of bytes,
// fewer only at the end of the file; -1: errno says why. Changes `pieces`.
int64_t move_pieces(int fd, bool writing, iovec* pieces, size_t count, int64_t offset);

// What the system said of a file, as a class of MPI (14.7).
Status system_error(int number, const char* doing, const std::string& name);

}  // namespace vicinity::io
