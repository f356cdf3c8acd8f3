// SPDX-License-Identifier: BSD-3-Clause
// Both sides are walked run by run, and each run of the file is one vectored system call for as many pieces
// of memory as fit. Reads of many small runs fetch what lies between them as well.
#include "io/transfer.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace vicinity::io {
namespace {

constexpr size_t kPieces = 64;
constexpr int64_t kFarthest = int64_t{1} << 62;
// Reading through a buffer (sieving) pays for runs shorter than kShort of which at least one byte in kSparse
// is wanted.
constexpr int64_t kShort = 4096, kSparse = 8;
constexpr int64_t kSieve = int64_t{512} << 10;

// Locks what an access touches, when the file is in atomic mode (14.6.1).
class Range {
 public:
  Range(const Place& place, bool writing, int64_t first, int64_t bytes) : fd_(place.atomic ? place.fd : -1) {
    int64_t begin = 0, last = 0;
    if (fd_ < 0 || bytes <= 0 || !find_offset(*place.view, first, &begin) ||
        !find_offset(*place.view, first + bytes - 1, &last))
      return;
    lock_.l_type = writing ? F_WRLCK : F_RDLCK;
    lock_.l_whence = SEEK_SET;
    lock_.l_start = place.view->orderly ? begin : 0;
    lock_.l_len = place.view->orderly ? last - begin + 1 : kFarthest;
    int answer;
    do answer = fcntl(fd_, F_OFD_SETLKW, &lock_);
    while (answer != 0 && errno == EINTR);
    if (answer != 0) error_ = errno;
    held_ = answer == 0;
  }
  ~Range() {
    if (!held_) return;
    lock_.l_type = F_UNLCK;
    fcntl(fd_, F_OFD_SETLK, &lock_);
  }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
  int error() const { return error_; }

 private:
  int fd_, error_ = 0;
  bool held_ = false;
  struct flock lock_ {};
};

Status too_far(const View& view) {
  return fail(MPI_ERR_ARG, view.empty() ? "the filetype of the view has no bytes, so nothing can be accessed"
                                        : "the access reaches beyond the largest offset of a file");
}

// One run of the file; fewer bytes in `*done` at the end of the file.
Status move_run(const Place& place, bool writing, int64_t offset, int64_t run, object::PackCursor& memory,
                int64_t* done) {
  iovec pieces[kPieces];
  *done = 0;
  while (*done < run) {
    const size_t count = memory.pieces(pieces, kPieces, static_cast<size_t>(run - *done));
    int64_t wanted = 0;
    for (size_t i = 0; i < count; ++i) wanted += static_cast<int64_t>(pieces[i].iov_len);
    const int64_t moved = move_pieces(place.fd, writing, pieces, count, offset + *done);
    if (moved < 0) return system_error(errno, writing ? "writing" : "reading", *place.name);
    *done += moved;
    if (moved < wanted) return kOk;
  }
  return kOk;
}

Status move_runs(const Place& place, bool writing, int64_t stream, object::PackCursor& memory, int64_t total,
                 int64_t* done) {
  FileRuns runs(*place.view, stream);
  while (*done < total) {
    int64_t offset = 0, run = 0, moved = 0;
    if (!runs.next(total - *done, &offset, &run)) return too_far(*place.view);
    VICINITY_TRY(move_run(place, writing, offset, run, memory, &moved));
    *done += moved;
    if (moved < run) return kOk;  // the end of the file
  }
  return kOk;
}

bool worth_sieving(const Place& place, int64_t total) {
  const View& view = *place.view;
  return !view.contiguous && view.orderly && view.run_bytes < kShort && total > view.run_bytes &&
         view.layout->extent / kSparse <= view.layout->size;
}

// A window of the file in memory that moves forward with the runs.
Status sieve(const Place& place, int64_t stream, object::PackCursor& memory, int64_t total, int64_t* done) {
  Bytes buffer;
  int64_t last = 0;
  if (!find_offset(*place.view, stream + total - 1, &last)) return too_far(*place.view);
  if (!buffer.reserve(kSieve)) return move_runs(place, false, stream, memory, total, done);
  FileRuns runs(*place.view, stream);
  int64_t begin = 0, end = 0;  // of the window
  while (*done < total) {
    int64_t offset = 0, run = 0;
    if (!runs.next(total - *done, &offset, &run)) return too_far(*place.view);
    while (run > 0) {
      if (offset >= end) {
        begin = end = offset;
        iovec piece{buffer.data(), static_cast<size_t>(std::min(kSieve, last + 1 - begin))};
        const int64_t got = move_pieces(place.fd, false, &piece, 1, begin);
        if (got < 0) return system_error(errno, "reading", *place.name);
        if (got == 0) return kOk;  // the end of the file
        end += got;
      }
      const int64_t some = std::min(run, end - offset);
      memory.unpack(buffer.data() + (offset - begin), static_cast<size_t>(some));
      *done += some;
      offset += some;
      run -= some;
    }
  }
  return kOk;
}

}  // namespace

bool Bytes::reserve(size_t bytes) {
  if (bytes <= room_ && data_) return true;
  std::free(data_);
  data_ = static_cast<char*>(std::malloc(std::max<size_t>(bytes, 1)));
  room_ = data_ ? bytes : 0;
  return data_ != nullptr;
}

int64_t move_pieces(int fd, bool writing, iovec* pieces, size_t count, int64_t offset) {
  int64_t done = 0;
  while (count > 0) {
    const auto n = static_cast<int>(count);
    const ssize_t moved =
        writing ? pwritev(fd, pieces, n, offset + done) : preadv(fd, pieces, n, offset + done);
    if (moved < 0 && errno == EINTR) continue;
    if (moved < 0) return -1;
    if (moved == 0 && writing) {
      errno = ENOSPC;
      return -1;
    }
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

Status Staging::measure(const View& view, bool writing, const Buffer& buffer, int64_t* bytes) {
  int64_t one = buffer.type->size;
  if (view.rep->converts(writing)) VICINITY_TRY(bytes_in_file(*view.rep, *buffer.type, &one));
  if (!__builtin_mul_overflow(buffer.count, one, bytes)) return kOk;
  return fail(MPI_ERR_COUNT, "argument `count` is %lld: so many elements of %lld bytes are beyond any file",
              (long long)buffer.count, (long long)one);
}

Status Staging::open(const View& view, bool writing, const Buffer& user) {
  VICINITY_TRY(measure(view, writing, user, &bytes_));
  user_ = raw_ = user;
  writing_ = writing;
  converting_ = view.rep->converts(writing);
  if (!converting_ || bytes_ == 0) return kOk;
  if (!copy_.reserve(static_cast<size_t>(bytes_)))
    return fail(MPI_ERR_NO_MEM, "no memory for a converted copy of %lld bytes", (long long)bytes_);
  raw_ = {copy_.data(), bytes_, &object::builtin(MPI_BYTE)};
  return writing ? to_file(*view.rep, user.address, user.count, *user.type, copy_.data()) : kOk;
}

Status Staging::close(const View& view, int64_t done, int64_t* memory) {
  *memory = done;
  if (!converting_) return kOk;
  *memory = 0;
  if (done == 0) return kOk;
  if (!writing_)
    return from_file(*view.rep, copy_.data(), done, user_.address, user_.count, *user_.type, memory);
  if (done == bytes_) *memory = user_.count * user_.type->size;
  return kOk;
}

Status move_bytes(const Place& place, bool writing, int64_t stream, const Buffer& raw, int64_t* done) {
  *done = 0;
  object::PackCursor memory(raw.address, raw.count, *raw.type);
  const auto total = static_cast<int64_t>(memory.total());
  if (total == 0) return kOk;
  if (stream > kFarthest - total) return too_far(*place.view);
  const Range range(place, writing, stream, total);
  if (range.error() != 0) return system_error(range.error(), "locking", *place.name);
  if (!writing && worth_sieving(place, total)) return sieve(place, stream, memory, total, done);
  return move_runs(place, writing, stream, memory, total, done);
}

Status system_error(int number, const char* doing, const std::string& name) {
  int error = MPI_ERR_IO;
  switch (number) {
    case ENOENT:
      error = MPI_ERR_NO_SUCH_FILE;
      break;
    case EACCES:
    case EPERM:
      error = MPI_ERR_ACCESS;
      break;
    case EEXIST:
      error = MPI_ERR_FILE_EXISTS;
      break;
    case EROFS:
      error = MPI_ERR_READ_ONLY;
      break;
    case ENOSPC:
      error = MPI_ERR_NO_SPACE;
      break;
    case EDQUOT:
      error = MPI_ERR_QUOTA;
      break;
    case EFBIG:
      error = MPI_ERR_QUOTA;
      break;
    case ENAMETOOLONG:
    case EISDIR:
    case ENOTDIR:
    case ELOOP:
      error = MPI_ERR_BAD_FILE;
      break;
    case ETXTBSY:
    case EBUSY:
      error = MPI_ERR_FILE_IN_USE;
      break;
    default:
      break;
  }
  return fail(error, "%s %s: %s", doing, name.c_str(), strerror(number));
}

}  // namespace vicinity::io
