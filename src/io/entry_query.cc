// SPDX-License-Identifier: BSD-3-Clause
// Sizes, views, pointers, hints, consistency (MPI 5.0, 14.2 to 14.6).
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "coll/coll.h"
#include "entry_io.h"
#include "io/file.h"
#include "object/datatype_create.h"
#include "object/op.h"

namespace vicinity::io {
namespace {

Status not_sequential(const File& file) {
  if (!(file.amode & MPI_MODE_SEQUENTIAL)) return kOk;
  return fail(MPI_ERR_UNSUPPORTED_OPERATION, "this file was opened with MPI_MODE_SEQUENTIAL");
}

Status writable(const File& file) {
  if (!(file.amode & MPI_MODE_RDONLY)) return kOk;
  return fail(MPI_ERR_READ_ONLY, "this file was opened with MPI_MODE_RDONLY");
}

Status size_of(const File& file, int64_t* size) {
  struct stat facts {};
  if (fstat(file.fd, &facts) != 0) return system_error(errno, "asking the size of", file.name);
  *size = facts.st_size;
  return kOk;
}

// All processes must have given the same number.
Status same(File& file, MPI_Offset value, const char* argument) {
  MPI_Offset range[2] = {value, -value}, all[2] = {0, 0};
  VICINITY_TRY(coll::allreduce(range, all, 2, object::builtin(MPI_OFFSET),
                               *object::lookup<object::Op>(MPI_MAX), *file.comm));
  if (all[0] == -all[1]) return kOk;
  return fail(MPI_ERR_NOT_SAME, "argument `%s` is %lld here and different in another process", argument,
              (long long)value);
}

// Where a seek leads, in bytes of the stream.
Status target(const File& file, int64_t from, MPI_Offset offset, int whence, int64_t* to) {
  const View& view = file.view;
  int64_t base = 0;
  if (whence == MPI_SEEK_CUR) {
    base = from;
  } else if (whence == MPI_SEEK_END) {
    VICINITY_TRY(size_of(file, &base));
    base = stream_before(view, base);
    base = (base + view.etype_bytes - 1) / view.etype_bytes * view.etype_bytes;
  } else if (whence != MPI_SEEK_SET) {
    return fail(MPI_ERR_ARG, "argument `whence` is %d, which is none of MPI_SEEK_SET, CUR and END", whence);
  }
  if (__builtin_mul_overflow(offset, view.etype_bytes, to) || __builtin_add_overflow(*to, base, to) ||
      *to < 0)
    return fail(MPI_ERR_ARG, "argument `offset` is %lld, which leads before the start of the view or too far",
                (long long)offset);
  return kOk;
}

// A predefined type as it is, of others a copy that the user frees.
Status shown(Datatype& type, Datatype** out) {
  *out = &type;
  if (type.permanent) return kOk;
  auto copy = object::type_dup(type);
  VICINITY_TRY(copy.status());
  *out = *copy;
  return kOk;
}

// A root's work in a collective call, and its result everywhere.
template <class Work>
Status at_root(File& file, Work&& work) {
  Status status = file.comm->rank == 0 ? work() : kOk;
  int code = status.code();
  VICINITY_TRY(coll::bcast(&code, 1, object::builtin(MPI_INT), 0, *file.comm));
  if (!status.ok() || code == 0) return status;
  return fail(code, "it failed in rank 0 of the file's communicator");
}

// The parts of MPI_File_set_view that can fail in one process alone.
Status check_view(File& file, MPI_Offset disp, Datatype& etype, Datatype& filetype, const char* datarep,
                  View* view) {
  const Representation* rep = find_datarep(datarep);
  if (!rep)
    return fail(
        MPI_ERR_UNSUPPORTED_DATAREP,
        "argument `datarep` is \"%s\"; there are native, internal, external32, and what was registered",
        datarep);
  if (file.split.begun) return fail(MPI_ERR_OTHER, "%s is still under way on this file", file.split.begun);
  if (disp == MPI_DISPLACEMENT_CURRENT) {
    if (!(file.amode & MPI_MODE_SEQUENTIAL))
      return fail(MPI_ERR_ARG, "MPI_DISPLACEMENT_CURRENT is for files opened with MPI_MODE_SEQUENTIAL");
    int64_t shared = 0, offset = 0;
    VICINITY_TRY(file.shared.fetch_add(0, &shared));
    if (!find_offset(file.view, shared, &offset)) return fail(MPI_ERR_ARG, "the current position is too far");
    disp = offset;
  }
  return make_view(disp, etype, filetype, *rep, view);
}

// Small runs with gaps between them, into which those of others may fit.
int interleaving(const View& view) { return !view.contiguous && view.orderly && !view.empty(); }

// What the processes learn of each other when they set a view: the largest of each. Programs change views as
// often as they write (HDF5 twice for each write), so this is one reduction, and mostly all there is.
struct Common {
  MPI_Offset code = MPI_SUCCESS;
  MPI_Offset etype_bytes = 0, minus_etype_bytes = 0;
  MPI_Offset interleaves = 0;
  MPI_Offset new_hints = 0;     // rank 0 says so
  MPI_Offset pointer_used = 0;  // the shared one, which else is zero and has no file
};
static_assert(sizeof(Common) == 6 * sizeof(MPI_Offset));

// Collective; the same success or failure everywhere. `own`: whether `view` is one.
Status find_common(File& file, Status own, const View& view, const object::Info* info, Common* common) {
  Common mine;
  mine.code = own.code();
  if (own.ok()) {
    mine.etype_bytes = view.etype_bytes;
    mine.minus_etype_bytes = -view.etype_bytes;
    mine.interleaves = interleaving(view);
  }
  mine.new_hints = file.comm->rank == 0 && wished_hints(file, info) != file.hints;
  mine.pointer_used = file.shared.used();
  VICINITY_TRY(coll::allreduce(&mine, common, 6, object::builtin(MPI_OFFSET),
                               *object::lookup<object::Op>(MPI_MAX), *file.comm));
  if (!own.ok()) return own;
  if (common->code != MPI_SUCCESS)
    return fail(static_cast<int>(common->code), "setting the view failed in another process");
  if (common->etype_bytes == -common->minus_etype_bytes) return kOk;
  return fail(MPI_ERR_NOT_SAME, "argument `etype` is of %lld bytes here and of others in another process",
              (long long)view.etype_bytes);
}

}  // namespace

namespace entry {

#define VICINITY_FILE(file, fh)        \
  auto file##_found = file_of(fh);     \
  VICINITY_TRY(file##_found.status()); \
  [[maybe_unused]] File& file = **file##_found

Status file_set_size(MPI_File fh, MPI_Offset size) {
  VICINITY_FILE(file, fh);
  if (size < 0) return fail(MPI_ERR_ARG, "argument `size` is %lld, it must not be negative", (long long)size);
  VICINITY_TRY(writable(file));
  VICINITY_TRY(same(file, size, "size"));
  return at_root(
      file, [&] { return ftruncate(file.fd, size) == 0 ? kOk : system_error(errno, "resizing", file.name); });
}

Status file_preallocate(MPI_File fh, MPI_Offset size) {
  VICINITY_FILE(file, fh);
  if (size < 0) return fail(MPI_ERR_ARG, "argument `size` is %lld, it must not be negative", (long long)size);
  VICINITY_TRY(writable(file));
  VICINITY_TRY(same(file, size, "size"));
  return at_root(file, [&] {
    int error = 0;
    do error = size > 0 ? posix_fallocate(file.fd, 0, size) : 0;
    while (error == EINTR);
    return error == 0 ? kOk : system_error(error, "reserving space for", file.name);
  });
}

Status file_get_size(MPI_File fh, MPI_Offset* size) {
  VICINITY_FILE(file, fh);
  int64_t bytes = 0;
  VICINITY_TRY(size_of(file, &bytes));
  *size = bytes;
  return kOk;
}

Status file_get_group(MPI_File fh, object::Group** group) {
  VICINITY_FILE(file, fh);
  *group = object::retain(file.comm->group);
  return kOk;
}

Status file_get_amode(MPI_File fh, int* amode) {
  VICINITY_FILE(file, fh);
  *amode = file.amode;
  return kOk;
}

Status file_set_info(MPI_File fh, object::Info* info) {
  VICINITY_FILE(file, fh);
  return set_hints(file, info);
}

Status file_get_info(MPI_File fh, object::Info** info_used) {
  VICINITY_FILE(file, fh);
  *info_used = object::copy_info(nullptr);
  if (!*info_used) return fail(MPI_ERR_NO_MEM, "no memory for an info object");
  (*info_used)->set("filename", file.name.c_str());
  show_hints(file.hints, static_cast<int>(file.aggregators.size()), *info_used);
  return kOk;
}

Status file_set_view(MPI_File fh, MPI_Offset disp, object::Datatype& etype, object::Datatype& filetype,
                     const char* datarep, object::Info* info) {
  VICINITY_FILE(file, fh);
  View view;
  Status status = check_view(file, disp, etype, filetype, datarep, &view);
  Common common;
  status = find_common(file, status, view, info, &common);
  if (!status.ok()) {
    drop_view(view);
    return status;
  }
  drop_view(file.view);
  file.view = view;
  file.position = 0;
  file.interleaves = common.interleaves != 0;
  if (common.new_hints != 0) VICINITY_TRY(set_hints(file, info));
  // Everybody has agreed by now, so nobody uses the pointers of the old view.
  return common.pointer_used ? at_root(file, [&] { return file.shared.set(0); }) : kOk;
}

Status file_get_view(MPI_File fh, MPI_Offset* disp, object::Datatype** etype, object::Datatype** filetype,
                     char* datarep) {
  VICINITY_FILE(file, fh);
  VICINITY_TRY(shown(*file.view.etype, etype));
  VICINITY_TRY(shown(*file.view.filetype, filetype));
  *disp = file.view.disp;
  snprintf(datarep, MPI_MAX_DATAREP_STRING, "%s", file.view.rep->name.c_str());
  return kOk;
}

Status file_seek(MPI_File fh, MPI_Offset offset, int whence) {
  VICINITY_FILE(file, fh);
  VICINITY_TRY(not_sequential(file));
  return target(file, file.position, offset, whence, &file.position);
}

Status file_get_position(MPI_File fh, MPI_Offset* offset) {
  VICINITY_FILE(file, fh);
  VICINITY_TRY(not_sequential(file));
  *offset = file.position / file.view.etype_bytes;
  return kOk;
}

Status file_seek_shared(MPI_File fh, MPI_Offset offset, int whence) {
  VICINITY_FILE(file, fh);
  VICINITY_TRY(not_sequential(file));
  VICINITY_TRY(same(file, offset, "offset"));
  VICINITY_TRY(same(file, whence, "whence"));
  return at_root(file, [&] {
    int64_t now = 0, to = 0;
    VICINITY_TRY(file.shared.fetch_add(0, &now));
    VICINITY_TRY(target(file, now, offset, whence, &to));
    return file.shared.set(to);
  });
}

Status file_get_position_shared(MPI_File fh, MPI_Offset* offset) {
  VICINITY_FILE(file, fh);
  int64_t now = 0;
  VICINITY_TRY(file.shared.fetch_add(0, &now));
  *offset = now / file.view.etype_bytes;
  return kOk;
}

Status file_get_byte_offset(MPI_File fh, MPI_Offset offset, MPI_Offset* disp) {
  VICINITY_FILE(file, fh);
  VICINITY_TRY(not_sequential(file));
  if (offset < 0)
    return fail(MPI_ERR_ARG, "argument `offset` is %lld, it must not be negative", (long long)offset);
  int64_t stream = 0;
  if (__builtin_mul_overflow(offset, file.view.etype_bytes, &stream) || !find_offset(file.view, stream, disp))
    return fail(MPI_ERR_ARG, "argument `offset` is %lld, which is too far", (long long)offset);
  return kOk;
}

Status file_get_type_extent(MPI_File fh, object::Datatype& datatype, MPI_Count* extent) {
  VICINITY_FILE(file, fh);
  auto there = type_in_file(*file.view.rep, datatype);
  VICINITY_TRY(there.status());
  *extent = (*there)->extent;
  object::release(*there);
  return kOk;
}

Status file_set_atomicity(MPI_File fh, int flag) {
  VICINITY_FILE(file, fh);
  VICINITY_TRY(same(file, flag != 0, "flag"));
  file.atomic = flag != 0;
  return coll::barrier(*file.comm);
}

Status file_get_atomicity(MPI_File fh, int* flag) {
  VICINITY_FILE(file, fh);
  *flag = file.atomic;
  return kOk;
}

Status file_sync(MPI_File fh) {
  VICINITY_FILE(file, fh);
  const bool done = (file.amode & MPI_MODE_RDONLY) || fsync(file.fd) == 0 || errno == EINVAL;
  return agree(*file.comm, done ? kOk : system_error(errno, "syncing", file.name), "syncing the file");
}

}  // namespace entry
}  // namespace vicinity::io
