// SPDX-License-Identifier: BSD-3-Clause
// MPI_File_open, close, delete (MPI 5.0, 14.2): collective, so that all processes succeed or all fail.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <random>
#include <utility>

#include "base/progress.h"
#include "coll/coll.h"
#include "entry_io.h"
#include "io/file.h"
#include "object/op.h"
#include "object/pool.h"

namespace vicinity::io {

base::Result<Communicator*> (*private_copy)(Communicator& comm) = nullptr;

namespace {
object::Errhandler* on_open = nullptr;  // of MPI_FILE_NULL; nullptr: MPI_ERRORS_RETURN
}

object::Errhandler& default_errhandler() {
  return on_open ? *on_open : *object::lookup<object::Errhandler>(MPI_ERRORS_RETURN);
}

void set_default_errhandler(object::Errhandler& handler) {
  object::Errhandler* old = on_open;
  on_open = object::retain(&handler);
  if (old) object::release(old);
}

void File::finish(File* file) {
  drop_view(file->view);
  if (file->fd >= 0) ::close(file->fd);
  file->shared.close();
  if (file->errhandler) object::release(file->errhandler);
  if (file->comm) object::release(file->comm);
  object::destroy(file);
}

base::Result<File*> file_of(MPI_File handle) {
  File* file = object::lookup<File>(handle);
  if (!file) return fail(MPI_ERR_FILE, "argument `fh` is no open file");
  return file;
}

// Those to whom nothing has happened get words for what happened to another.
Status agree(Communicator& comm, Status own, const char* what) {
  int mine = own.code(), worst = 0;
  VICINITY_TRY(coll::allreduce(&mine, &worst, 1, object::builtin(MPI_INT),
                               *object::lookup<object::Op>(MPI_MAX), comm));
  if (worst == 0) return kOk;
  if (!own.ok()) return own;
  return fail(worst, "%s failed in another process", what);
}

namespace {

constexpr int kAccess = MPI_MODE_RDONLY | MPI_MODE_WRONLY | MPI_MODE_RDWR;
constexpr int kKnown = kAccess | MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_DELETE_ON_CLOSE |
                       MPI_MODE_UNIQUE_OPEN | MPI_MODE_SEQUENTIAL | MPI_MODE_APPEND;

Status check_amode(int amode) {
  const int access = amode & kAccess;
  if (access != MPI_MODE_RDONLY && access != MPI_MODE_WRONLY && access != MPI_MODE_RDWR)
    return fail(MPI_ERR_AMODE, "argument `amode` is %d: exactly one of RDONLY, WRONLY and RDWR must be in it",
                amode);
  if (amode & ~kKnown) return fail(MPI_ERR_AMODE, "argument `amode` is %d, which has unknown bits", amode);
  if (access == MPI_MODE_RDONLY && (amode & (MPI_MODE_CREATE | MPI_MODE_EXCL)))
    return fail(MPI_ERR_AMODE, "argument `amode` asks to create a file that is only read");
  if (access == MPI_MODE_RDWR && (amode & MPI_MODE_SEQUENTIAL))
    return fail(MPI_ERR_AMODE, "argument `amode` has RDWR and SEQUENTIAL, which exclude each other");
  return kOk;
}

Status same_amode(Communicator& comm, int amode) {
  int range[2] = {amode, -amode}, all[2] = {0, 0};
  VICINITY_TRY(
      coll::allreduce(range, all, 2, object::builtin(MPI_INT), *object::lookup<object::Op>(MPI_MAX), comm));
  if (all[0] == -all[1]) return kOk;
  return fail(MPI_ERR_NOT_SAME, "argument `amode` is %d here and different in another process", amode);
}

Status open_descriptor(File& file, bool creating, unsigned permissions) {
  const int access = file.amode & kAccess;
  int flags = O_CLOEXEC | (access == MPI_MODE_RDONLY   ? O_RDONLY
                           : access == MPI_MODE_WRONLY ? O_WRONLY
                                                       : O_RDWR);
  if (creating && (file.amode & MPI_MODE_CREATE)) flags |= O_CREAT;
  if (creating && (file.amode & MPI_MODE_EXCL)) flags |= O_EXCL;
  file.fd = ::open(file.name.c_str(), flags, permissions);
  struct stat facts {};
  if (file.fd < 0 || fstat(file.fd, &facts) != 0) return system_error(errno, "opening", file.name);
  return S_ISDIR(facts.st_mode) ? system_error(EISDIR, "opening", file.name) : kOk;
}

// Where the shared pointer would be: beside the file if one may write there, else in /tmp. Rank 0 decides.
Status place_pointer(File& file) {
  char path[4096] = "";
  if (file.comm->rank == 0) {
    const size_t slash = file.name.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : file.name.substr(0, slash + 1);
    std::random_device random;
    const bool here = access(folder.c_str(), W_OK) == 0;
    snprintf(path, sizeof path, "%s/.vicinity-pointer-%08x%08x", here ? folder.c_str() : "/tmp", random(),
             random());
  }
  VICINITY_TRY(coll::bcast(path, sizeof path, object::builtin(MPI_CHAR), 0, *file.comm));
  path[sizeof path - 1] = 0;
  file.shared.place(path);
  return kOk;
}

// Rank 0 first, because only one process may create.
Status open_together(File& file, const object::Info* info) {
  const bool first = file.comm->rank == 0;
  Status status = first ? open_descriptor(file, true, permissions(info, 0666)) : kOk;
  VICINITY_TRY(agree(*file.comm, status, "opening the file"));
  if (!first) status = open_descriptor(file, false, 0);
  VICINITY_TRY(agree(*file.comm, status, "opening the file"));
  VICINITY_TRY(place_pointer(file));
  VICINITY_TRY(set_hints(file, info));
  if (file.amode & MPI_MODE_APPEND) {
    const off_t end = lseek(file.fd, 0, SEEK_END);
    if (end > 0) file.position = end;
    status = first && end > 0 ? file.shared.set(end) : kOk;
    VICINITY_TRY(agree(*file.comm, status, "setting the shared file pointer"));
  }
  return kOk;
}

Status open_on(Communicator& comm, const char* filename, int amode, const object::Info* info, MPI_File* fh) {
  File* file = object::make<File>();
  if (!file) {
    object::release(&comm);
    return fail(MPI_ERR_NO_MEM, "no memory for a file");
  }
  file->name = filename;
  file->amode = amode;
  file->comm = &comm;
  file->errhandler = object::retain(&default_errhandler());
  file->view = plain_view();
  const Status status = open_together(*file, info);
  if (!status.ok()) {
    object::release(file);
    return status;
  }
  *fh = object::handle_of(*file);
  return kOk;
}

}  // namespace

namespace entry {

Status file_open(object::Communicator& comm, const char* filename, int amode, object::Info* info,
                 MPI_File* fh) {
  if (comm.inter()) return fail(MPI_ERR_COMM, "a file is opened on an intracommunicator");
  VICINITY_TRY(agree(comm, check_amode(amode), "checking `amode`"));
  VICINITY_TRY(same_amode(comm, amode));
  auto copy = private_copy(comm);
  VICINITY_TRY(copy.status());
  return open_on(**copy, filename, amode, info, fh);
}

Status file_close(MPI_File* fh) {
  auto file = file_of(*fh);
  VICINITY_TRY(file.status());
  if ((*file)->split.begun)
    return fail(MPI_ERR_OTHER, "%s has begun and not ended on this file", (*file)->split.begun);
  File& open = **file;
  Communicator& comm = *open.comm;
  base::wait_until([&] { return open.pending == 0; });
  VICINITY_TRY(coll::barrier(comm));  // nobody uses it any more
  Status status = kOk;
  if (comm.rank == 0) {
    ::unlink(open.shared.path().c_str());
    const bool away = open.amode & MPI_MODE_DELETE_ON_CLOSE;
    if (away && ::unlink(open.name.c_str()) != 0) status = system_error(errno, "deleting", open.name);
  }
  // Errors that a network file system has kept to itself come out here.
  const bool closed = ::close(std::exchange(open.fd, -1)) == 0 || errno == EINTR;
  if (status.ok() && !closed) status = system_error(errno, "closing", open.name);
  status = agree(comm, status, "closing the file");
  object::release(&open);
  *fh = MPI_FILE_NULL;
  return status;
}

Status file_delete(const char* filename, object::Info*) {
  return ::unlink(filename) == 0 ? kOk : system_error(errno, "deleting", filename);
}

}  // namespace entry
}  // namespace vicinity::io
