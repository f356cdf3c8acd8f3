// SPDX-License-Identifier: BSD-3-Clause
// The backings heap, memfd and file.
#include "region/backing.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "base/log.h"
#include "base/param.h"

namespace vicinity::region {
namespace {

using base::fail;
using base::Result;
using base::Status;

base::Param<std::string> region_dir{
    "VICINITY_REGION_DIR", "region", "/dev/shm", nullptr,
    "Directory for the region's file, where the region cannot be a memfd. It must be in memory (tmpfs)."};

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

// Maps `bytes` of `fd`, which the mapping owns from now on.
Result<Mapping> map(Descriptor& fd, uint64_t bytes, Properties properties, const char* backing) {
  void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd.get(), 0);
  if (base == MAP_FAILED)
    return fail(base::kNoMemory, "cannot map %" PRIu64 " bytes of shared memory (%s): %s", bytes, backing,
                strerror(errno));
  return Mapping(base, bytes, fd.release(), properties, backing);
}

// 0: its creator has not got that far.
Result<uint64_t> size_of(int fd, const char* what) {
  struct stat info;
  if (fstat(fd, &info) != 0) return fail(base::kOther, "cannot stat %s: %s", what, strerror(errno));
  if (info.st_size == 0) return fail(base::kOther, "%s is still empty", what);
  return static_cast<uint64_t>(info.st_size);
}

}  // namespace

Mapping::~Mapping() {
  if (base_ && owns_) munmap(base_, bytes_);
  if (fd_ >= 0) close(fd_);
}

void Mapping::close_descriptor() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

Result<Mapping> Heap::create(uint64_t bytes, const Offer&) {
  void* base =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED)
    return fail(base::kNoMemory, "cannot map %" PRIu64 " bytes: %s", bytes, strerror(errno));
  return Mapping(base, bytes, -1, properties(), name());
}

Result<Mapping> Heap::open(const Offer&) {
  return fail(base::kUnsupported, "heap memory cannot be opened by another process");
}

Result<int> Memfd::reserve() {
  const int fd = memfd_create("vicinity", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return fail(base::kOther, "memfd_create: %s", strerror(errno));
  return fd;
}

Result<Mapping> Memfd::create(uint64_t bytes, const Offer& offer) {
  Descriptor fd(offer.fd);
  if (ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0)
    return fail(base::kNoMemory, "cannot give a memfd %" PRIu64 " bytes: %s", bytes, strerror(errno));
  // Nobody can shrink it under our feet, so no access ends in SIGBUS.
  (void)fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  return map(fd, bytes, properties(), name());
}

Result<Mapping> Memfd::open(const Offer& offer) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", offer.pid, offer.fd);
  // The process behind the pid may be another one than meant: look at what it is before opening it.
  struct stat info;
  if (stat(path, &info) != 0) return fail(base::kOther, "cannot stat %s: %s", path, strerror(errno));
  if (!S_ISREG(info.st_mode)) return fail(base::kOther, "%s is not a memfd", path);
  Descriptor fd(::open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK));
  if (fd.get() < 0) return fail(base::kOther, "cannot open %s: %s", path, strerror(errno));
  Result<uint64_t> bytes = size_of(fd.get(), path);
  if (!bytes.ok()) return bytes.status();
  return map(fd, *bytes, properties(), name());
}

const std::string& File::directory() { return region_dir.get(); }

Result<Mapping> File::create(uint64_t bytes, const Offer& offer) {
  const char* path = offer.path.c_str();
  Descriptor fd(::open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (fd.get() < 0)
    return fail(base::kOther,
                "cannot create the region's file %s: %s; set VICINITY_REGION_DIR to a directory "
                "in memory that all local ranks can write to",
                path, strerror(errno));
  // Held until we die or the file is unlinked: sweep() takes away what nobody holds.
  (void)flock(fd.get(), LOCK_EX | LOCK_NB);
  // Reserves every page now. Without it a full file system would kill us later, at a touch.
  const int error = posix_fallocate(fd.get(), 0, static_cast<off_t>(bytes));
  if (error != 0) {
    ::unlink(path);
    return fail(
        base::kNoMemory,
        "%s: no room for the region of %" PRIu64
        " KiB: %s; enlarge it (docker run "
        "--shm-size=..., mount -o remount,size=...), set VICINITY_REGION_DIR to a larger one, or make "
        "the region smaller (VICINITY_RING_LINES, VICINITY_RING_BUFFERS)",
        path, bytes >> 10, strerror(error));
  }
  Result<Mapping> mapping = map(fd, bytes, properties(), name());
  if (!mapping.ok()) ::unlink(path);
  return mapping;
}

Result<Mapping> File::open(const Offer& offer) {
  const char* path = offer.path.c_str();
  Descriptor fd(::open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (fd.get() < 0) return fail(base::kOther, "cannot open the region's file %s: %s", path, strerror(errno));
  Result<uint64_t> bytes = size_of(fd.get(), path);
  if (!bytes.ok()) return bytes.status();
  return map(fd, *bytes, properties(), name());
}

void File::unlink(const Offer& offer) { ::unlink(offer.path.c_str()); }

void File::sweep(const std::string& directory) {
  char prefix[48];
  const int length = std::snprintf(prefix, sizeof prefix, "vicinity-region-%u-", getuid());
  DIR* dir = opendir(directory.c_str());
  if (!dir) return;
  while (const dirent* entry = readdir(dir)) {
    if (std::strncmp(entry->d_name, prefix, static_cast<size_t>(length)) != 0) continue;
    Descriptor fd(openat(dirfd(dir), entry->d_name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    struct stat info;
    if (fd.get() < 0 || fstat(fd.get(), &info) != 0) continue;
    // Its creator may be about to lock it; it does that before it gives it a size.
    if (info.st_size == 0 && time(nullptr) - info.st_mtime < 60) continue;
    if (flock(fd.get(), LOCK_EX | LOCK_NB) != 0) continue;
    VICINITY_LOG(kInfo, "removing %s/%s, left behind by a job that died", directory.c_str(), entry->d_name);
    unlinkat(dirfd(dir), entry->d_name, 0);
  }
  closedir(dir);
}

}  // namespace vicinity::region
