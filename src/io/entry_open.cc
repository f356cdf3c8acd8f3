// SPDX-License-Identifier: BSD-3-Clause
// MPI_File_open, close, delete (MPI 5.0, 14.2): collective, so that all processes succeed or all fail.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <random>

#include "coll/coll.h"
#include "entry_io.h"
#include "io/file.h"
#include "object/op.h"
#include "object/pool.h"

namespace vicinity::io {

base::Result<Communicator*> (*private_copy)(Communicator& comm) = nullptr;

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
    case ENAMETOOLONG:
    case EISDIR:
    case ENOTDIR:
      error = MPI_ERR_BAD_FILE;
      break;
    case ETXTBSY:
      error = MPI_ERR_FILE_IN_USE;
      break;
    default:
      break;
  }
  return fail(error, "%s %s: %s", doing, name.c_str(), strerror(number));
}

void File::finish(File* file) {
  drop_view(file->view);
  if (file->fd >= 0) ::close(file->fd);
  file->shared.close();
  if (file->hints) object::release(file->hints);
  if (file->errhandler) object::release(file->errhandler);
  if (file->comm) object::release(file->comm);
  object::destroy(file);
}

base::Result<File*> file_of(MPI_File handle) {
  File* file = object::lookup<File>(handle);
  if (!file) return fail(MPI_ERR_FILE, "argument `fh` is no open file");
  return file;
}

namespace {

constexpr int kAccess = MPI_MODE_RDONLY | MPI_MODE_WRONLY | MPI_MODE_RDWR;

Status check_amode(int amode) {
  const int access = amode & kAccess;
  if (access != MPI_MODE_RDONLY && access != MPI_MODE_WRONLY && access != MPI_MODE_RDWR)
    return fail(MPI_ERR_AMODE, "argument `amode` is %d: exactly one of RDONLY, WRONLY and RDWR must be in it",
                amode);
  if (access == MPI_MODE_RDONLY && (amode & (MPI_MODE_CREATE | MPI_MODE_EXCL)))
    return fail(MPI_ERR_AMODE, "argument `amode` asks to create a file that is only read");
  if (access == MPI_MODE_RDWR && (amode & MPI_MODE_SEQUENTIAL))
    return fail(MPI_ERR_AMODE, "argument `amode` has RDWR and SEQUENTIAL, which exclude each other");
  return kOk;
}

// The same failure everywhere: the one of the lowest class number wins, those without get words for it.
Status agree(Communicator& comm, Status own, const char* what) {
  int mine = own.code(), worst = 0;
  VICINITY_TRY(coll::allreduce(&mine, &worst, 1, object::builtin(MPI_INT),
                               *object::lookup<object::Op>(MPI_MAX), comm));
  if (worst == 0) return kOk;
  if (!own.ok()) return own;
  return fail(worst, "%s failed in another process", what);
}

Status same_amode(Communicator& comm, int amode) {
  int range[2] = {amode, -amode}, all[2] = {0, 0};
  VICINITY_TRY(
      coll::allreduce(range, all, 2, object::builtin(MPI_INT), *object::lookup<object::Op>(MPI_MAX), comm));
  if (all[0] == -all[1]) return kOk;
  return fail(MPI_ERR_NOT_SAME, "argument `amode` is %d here and different in another process", amode);
}

Status open_descriptor(File& file, bool creating) {
  const int access = file.amode & kAccess;
  int flags = O_CLOEXEC | (access == MPI_MODE_RDONLY   ? O_RDONLY
                           : access == MPI_MODE_WRONLY ? O_WRONLY
                                                       : O_RDWR);
  if (creating && (file.amode & MPI_MODE_CREATE)) flags |= O_CREAT;
  if (creating && (file.amode & MPI_MODE_EXCL)) flags |= O_EXCL;
  file.fd = ::open(file.name.c_str(), flags, 0666);
  return file.fd >= 0 ? kOk : system_error(errno, "opening", file.name);
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
Status open_together(File& file) {
  const bool first = file.comm->rank == 0;
  Status status = first ? open_descriptor(file, true) : kOk;
  VICINITY_TRY(agree(*file.comm, status, "opening the file"));
  if (!first) status = open_descriptor(file, false);
  VICINITY_TRY(agree(*file.comm, status, "opening the file"));
  VICINITY_TRY(place_pointer(file));
  if (file.amode & MPI_MODE_APPEND) {
    const off_t end = lseek(file.fd, 0, SEEK_END);
    if (end > 0) file.position = end;
    if (first && end > 0) VICINITY_TRY(file.shared.set(end));
    VICINITY_TRY(coll::barrier(*file.comm));
  }
  return kOk;
}

Status open_on(Communicator& comm, const char* filename, int amode, const object::Info* info, MPI_File* fh) {
  File* file = object::make<File>();
  if (!file) return fail(MPI_ERR_NO_MEM, "no memory for a file");
  file->name = filename;
  file->amode = amode;
  file->comm = &comm;
  file->hints = object::copy_info(info);
  plain_view(file->view);
  const Status status = open_together(*file);
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
  Communicator& comm = *(*file)->comm;
  VICINITY_TRY(coll::barrier(comm));
  Status status = kOk;
  if (comm.rank == 0) {
    ::unlink((*file)->shared.path().c_str());
    const bool away = (*file)->amode & MPI_MODE_DELETE_ON_CLOSE;
    if (away && ::unlink((*file)->name.c_str()) != 0) status = system_error(errno, "deleting", (*file)->name);
  }
  object::release(*file);
  *fh = MPI_FILE_NULL;
  return status;
}

Status file_delete(const char* filename, object::Info*) {
  return ::unlink(filename) == 0 ? kOk : system_error(errno, "deleting", filename);
}

}  // namespace entry
}  // namespace vicinity::io
