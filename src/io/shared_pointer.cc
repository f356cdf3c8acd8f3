// SPDX-License-Identifier: BSD-3-Clause
// The shared file pointer (MPI 5.0, 14.4.4): eight bytes in a file beside the data, under a lock of the
// kernel.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "io/file.h"

namespace vicinity::io {
namespace {

class Locked {
 public:
  explicit Locked(int fd) : fd_(fd) { good_ = apply(F_WRLCK, F_OFD_SETLKW); }
  ~Locked() { apply(F_UNLCK, F_OFD_SETLK); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
  bool good() const { return good_; }

 private:
  bool apply(short type, int command) {
    struct flock lock {};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    int answer;
    do answer = fcntl(fd_, command, &lock);
    while (answer != 0 && errno == EINTR);
    return answer == 0;
  }
  int fd_;
  bool good_;
};

}  // namespace

Status SharedPointer::open() {
  if (fd_ >= 0) return kOk;
  fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  return fd_ >= 0 ? kOk : system_error(errno, "making the shared file pointer", path_);
}

Status SharedPointer::fetch_add(int64_t bytes, int64_t* before) {
  VICINITY_TRY(open());
  const Locked lock(fd_);
  if (!lock.good()) return system_error(errno, "locking", path_);
  int64_t value = 0;
  if (pread(fd_, &value, sizeof value, 0) < 0) return system_error(errno, "reading", path_);
  *before = value;
  value += bytes;
  if (bytes != 0 && pwrite(fd_, &value, sizeof value, 0) != sizeof value)
    return system_error(errno, "writing", path_);
  return kOk;
}

Status SharedPointer::set(int64_t bytes) {
  int64_t before = 0;
  VICINITY_TRY(fetch_add(0, &before));
  return fetch_add(bytes - before, &before);
}

void SharedPointer::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

}  // namespace vicinity::io
