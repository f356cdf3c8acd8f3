// SPDX-License-Identifier: BSD-3-Clause
// Views: checked when they are set, so that no later access can leave the range of a file offset.
#include <sys/uio.h>

#include <algorithm>
#include <cstring>

#include "io/file.h"
#include "object/datatype_create.h"

namespace vicinity::io {
namespace {

Status check_types(MPI_Offset disp, const Datatype& etype, const Datatype& filetype) {
  if (disp < 0) return fail(MPI_ERR_ARG, "argument `disp` is %lld, it must not be negative", (long long)disp);
  if (!etype.committed || !filetype.committed)
    return fail(MPI_ERR_TYPE, "the etype and the filetype of a view must be committed");
  if (etype.size <= 0) return fail(MPI_ERR_ARG, "argument `etype` holds no data");
  if (filetype.size <= 0 || filetype.size % etype.size != 0)
    return fail(MPI_ERR_ARG,
                "argument `filetype` has %lld bytes, which is not a multiple of the etype's %lld",
                (long long)filetype.size, (long long)etype.size);
  if (filetype.extent <= 0 || filetype.true_lb < 0)
    return fail(MPI_ERR_ARG, "argument `filetype` reaches before its start, or has no extent");
  return kOk;
}

bool gapless(const Datatype& type) { return type.dense && type.extent == type.size; }

}  // namespace

void plain_view(View& view) {
  view = View();
  view.etype = view.filetype = &object::builtin(MPI_BYTE);
}

void drop_view(View& view) {
  if (view.etype) object::release(view.etype);
  if (view.filetype) object::release(view.filetype);
  view.etype = view.filetype = nullptr;
}

Status make_view(MPI_Offset disp, Datatype& etype, Datatype& filetype, const char* datarep, View* view) {
  VICINITY_TRY(check_types(disp, etype, filetype));
  if (!known_datarep(datarep))
    return fail(MPI_ERR_UNSUPPORTED_DATAREP,
                "argument `datarep` is \"%s\"; there are native, internal, external32", datarep);
  View made;
  made.disp = disp;
  made.datarep = datarep;
  made.external = strcmp(datarep, "external32") == 0;
  made.etype_bytes = made.external ? object::external_bytes(etype) : etype.size;
  made.contiguous = gapless(filetype);
  if (made.external && !made.contiguous && object::external_bytes(filetype) != filetype.size)
    return fail(MPI_ERR_UNSUPPORTED_DATAREP,
                "a filetype with gaps whose elements have another size in external32 is not supported");
  made.etype = object::retain(&etype);
  made.filetype = object::retain(&filetype);
  *view = std::move(made);
  return kOk;
}

int64_t offset_of(const View& view, int64_t stream) {
  if (view.contiguous) return view.disp + view.filetype->true_lb + stream;
  const int64_t tile = stream / view.filetype->size;
  object::PackCursor cursor(nullptr, 1, *view.filetype);
  cursor.seek(static_cast<uint64_t>(stream % view.filetype->size));
  iovec piece{};
  cursor.pieces(&piece, 1, 1);
  return view.disp + tile * view.filetype->extent +
         static_cast<int64_t>(reinterpret_cast<uintptr_t>(piece.iov_base));
}

int64_t stream_before(const View& view, int64_t file_bytes) {
  const Datatype& type = *view.filetype;
  int64_t left = file_bytes - view.disp;
  if (left <= 0) return 0;
  if (view.contiguous) return std::max<int64_t>(left - type.true_lb, 0);
  const int64_t tile = left / type.extent;
  left -= tile * type.extent;
  int64_t inside = 0;
  object::PackCursor cursor(nullptr, 1, type);
  iovec piece{};
  while (cursor.pieces(&piece, 1, SIZE_MAX / 2)) {
    const auto begin = static_cast<int64_t>(reinterpret_cast<uintptr_t>(piece.iov_base));
    const auto bytes = static_cast<int64_t>(piece.iov_len);
    inside += std::clamp<int64_t>(left - begin, 0, bytes);
  }
  return tile * type.size + inside;
}

}  // namespace vicinity::io
