// SPDX-License-Identifier: BSD-3-Clause
// Moving bytes between memory and a file: both sides are walked run by run, and each run of the file is one
// vectored system call for as many pieces of memory as fit.
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "io/file.h"
#include "object/datatype_create.h"

namespace vicinity::io {
namespace {

constexpr size_t kPieces = 64;
constexpr int64_t kLargest = int64_t{1} << 62;

// The runs of the stream from a position on, as offsets in the file. The datatype walker does not care that
// its "addresses" are none.
class FileRuns {
 public:
  FileRuns(const View& view, int64_t stream) : view_(view), stream_(stream) {
    if (view.contiguous) return;
    const Datatype& type = *view.filetype;
    const int64_t tiles = std::min((kLargest - view.disp) / type.extent, kLargest / type.size);
    cursor_.reset(reinterpret_cast<void*>(view.disp), tiles, type);
    cursor_.seek(static_cast<uint64_t>(stream));
  }
  // The next run, at most `most` bytes long; false at the end of what offsets can express.
  bool next(int64_t most, int64_t* offset, int64_t* bytes) {
    if (view_.contiguous) {
      *offset = view_.disp + view_.filetype->true_lb + stream_;
      *bytes = most;
      stream_ += most;
      return *offset <= kLargest - most;
    }
    iovec piece{};
    if (!cursor_.pieces(&piece, 1, static_cast<size_t>(most))) return false;
    *offset = static_cast<int64_t>(reinterpret_cast<uintptr_t>(piece.iov_base));
    *bytes = static_cast<int64_t>(piece.iov_len);
    return true;
  }

 private:
  const View& view_;
  int64_t stream_;
  object::PackCursor cursor_;
};

// Locks what an access touches, when the file is in atomic mode (14.6.1). Between processes only: threads
// hold the engine's lock.
class Range {
 public:
  Range(const File& file, bool writing, int64_t first, int64_t bytes) : fd_(file.atomic ? file.fd : -1) {
    if (fd_ < 0 || bytes <= 0) return;
    lock_.l_type = writing ? F_WRLCK : F_RDLCK;
    lock_.l_whence = SEEK_SET;
    lock_.l_start = offset_of(file.view, first);
    lock_.l_len = offset_of(file.view, first + bytes - 1) - lock_.l_start + 1;
    while (fcntl(fd_, F_OFD_SETLKW, &lock_) != 0 && errno == EINTR) {
    }
  }
  ~Range() {
    if (fd_ < 0 || lock_.l_len == 0) return;
    lock_.l_type = F_UNLCK;
    fcntl(fd_, F_OFD_SETLK, &lock_);
  }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;

 private:
  int fd_;
  struct flock lock_ {};
};

// All of `pieces` at `offset`; fewer bytes only at the end of the file. -1: errno says why.
int64_t whole(int fd, bool writing, iovec* pieces, size_t count, int64_t offset) {
  int64_t done = 0;
  while (count > 0) {
    const auto n = static_cast<int>(count);
    const ssize_t moved =
        writing ? pwritev(fd, pieces, n, offset + done) : preadv(fd, pieces, n, offset + done);
    if (moved < 0 && errno == EINTR) continue;
    if (moved < 0) return -1;
    if (moved == 0) break;
    done += moved;
    auto left = static_cast<size_t>(moved);
    while (count > 0 && left >= pieces->iov_len) {
      left -= pieces->iov_len;
      ++pieces;
      --count;
    }
    if (count == 0) break;
    pieces->iov_base = static_cast<char*>(pieces->iov_base) + left;
    pieces->iov_len -= left;
  }
  return done;
}

// `total` bytes of the memory that `memory` walks.
Status move(File& file, bool writing, int64_t stream, object::PackCursor& memory, int64_t total,
            int64_t* done) {
  const Range range(file, writing, stream, total);
  FileRuns runs(file.view, stream);
  iovec pieces[kPieces];
  while (*done < total) {
    int64_t offset = 0, run = 0;
    if (!runs.next(total - *done, &offset, &run))
      return fail(MPI_ERR_ARG, "the access reaches beyond the largest offset of a file");
    while (run > 0) {
      const size_t count = memory.pieces(pieces, kPieces, static_cast<size_t>(run));
      int64_t wanted = 0;
      for (size_t i = 0; i < count; ++i) wanted += static_cast<int64_t>(pieces[i].iov_len);
      const int64_t moved = whole(file.fd, writing, pieces, count, offset);
      if (moved < 0) return system_error(errno, writing ? "writing" : "reading", file.name);
      *done += moved;
      if (moved < wanted) return kOk;  // the end of the file
      offset += moved;
      run -= moved;
    }
  }
  return kOk;
}

Status move_native(File& file, bool writing, int64_t stream, const Buffer& buffer, int64_t* done) {
  object::PackCursor memory(buffer.address, buffer.count, *buffer.type);
  return move(file, writing, stream, memory, static_cast<int64_t>(memory.total()), done);
}

// Through a copy in the representation of the file.
Status write_external(File& file, int64_t stream, const Buffer& buffer, int64_t* done) {
  std::vector<char> copy(static_cast<size_t>(file_bytes(file, buffer)));
  VICINITY_TRY(object::pack_external(buffer.address, buffer.count, *buffer.type, copy.data()));
  object::PackCursor memory(copy.data(), static_cast<MPI_Count>(copy.size()), object::builtin(MPI_BYTE));
  return move(file, true, stream, memory, static_cast<int64_t>(copy.size()), done);
}

Status read_external(File& file, int64_t stream, const Buffer& buffer, int64_t* done) {
  std::vector<char> copy(static_cast<size_t>(file_bytes(file, buffer)));
  object::PackCursor memory(copy.data(), static_cast<MPI_Count>(copy.size()), object::builtin(MPI_BYTE));
  VICINITY_TRY(move(file, false, stream, memory, static_cast<int64_t>(copy.size()), done));
  const MPI_Count one = object::external_bytes(*buffer.type);
  const MPI_Count there = one > 0 ? *done / one : 0;  // whole elements before the end of the file
  return object::unpack_external(copy.data(), buffer.address, there, *buffer.type);
}

}  // namespace

int64_t file_bytes(const File& file, const Buffer& buffer) {
  return buffer.count * (file.view.external ? object::external_bytes(*buffer.type) : buffer.type->size);
}

Status read_at(File& file, int64_t stream, const Buffer& buffer, int64_t* done) {
  *done = 0;
  if (buffer.count == 0 || buffer.type->size == 0) return kOk;
  return file.view.external ? read_external(file, stream, buffer, done)
                            : move_native(file, false, stream, buffer, done);
}

Status write_at(File& file, int64_t stream, const Buffer& buffer, int64_t* done) {
  *done = 0;
  if (buffer.count == 0 || buffer.type->size == 0) return kOk;
  return file.view.external ? write_external(file, stream, buffer, done)
                            : move_native(file, true, stream, buffer, done);
}

}  // namespace vicinity::io
