// SPDX-License-Identifier: BSD-3-Clause
// Views: checked when they are set, so that no later access can leave the range of a file offset.
#include "io/view.h"

#include <sys/uio.h>

#include <algorithm>

namespace vicinity::io {
namespace {

constexpr int64_t kLargest = int64_t{1} << 62;
// Filetypes of more runs than this are not looked at whole; what needs to know their shape is not done then.
constexpr int64_t kMostRuns = int64_t{1} << 22;

Status check_types(MPI_Offset disp, const Datatype& etype, const Datatype& filetype) {
  if (disp < 0) return fail(MPI_ERR_ARG, "argument `disp` is %lld, it must not be negative", (long long)disp);
  if (!etype.committed || !filetype.committed)
    return fail(MPI_ERR_TYPE, "the etype and the filetype of a view must be committed");
  if (etype.size <= 0) return fail(MPI_ERR_ARG, "argument `etype` holds no data");
  if (filetype.size == 0) return kOk;
  if (filetype.size % etype.size != 0)
    return fail(MPI_ERR_ARG,
                "argument `filetype` has %lld bytes, which is not a multiple of the etype's %lld",
                (long long)filetype.size, (long long)etype.size);
  if (filetype.extent <= 0 || filetype.true_lb < 0)
    return fail(MPI_ERR_ARG, "argument `filetype` reaches before its start, or has no extent");
  if (disp > kLargest - filetype.true_lb - filetype.true_extent)
    return fail(MPI_ERR_ARG, "argument `disp` is %lld, which is too far", (long long)disp);
  return kOk;
}

int64_t address(const iovec& piece) {
  return static_cast<int64_t>(reinterpret_cast<uintptr_t>(piece.iov_base));
}

// Looks at each run of the layout once.
void examine(View& view) {
  const Datatype& type = *view.layout;
  view.contiguous = type.dense && type.extent == type.size && !view.empty();
  view.run_bytes = type.size;
  if (view.contiguous || view.empty()) return;
  object::PackCursor cursor(nullptr, 1, type);
  iovec piece{};
  int64_t runs = 0, end = type.true_lb;
  view.orderly = true;
  while (view.orderly && cursor.pieces(&piece, 1, SIZE_MAX / 2)) {
    view.orderly = address(piece) >= end && ++runs < kMostRuns;
    end = address(piece) + static_cast<int64_t>(piece.iov_len);
  }
  view.orderly = view.orderly && end - type.true_lb <= type.extent;
  view.run_bytes = type.size / std::max<int64_t>(runs, 1);
}

}  // namespace

View plain_view() {
  View view;
  view.etype = view.filetype = view.layout = &object::builtin(MPI_BYTE);
  view.rep = &native();
  view.run_bytes = 1;
  return view;
}

void drop_view(View& view) {
  for (Datatype* type : {view.etype, view.filetype, view.layout})
    if (type) object::release(type);
  view.etype = view.filetype = view.layout = nullptr;
}

View copy_view(const View& view) {
  for (Datatype* type : {view.etype, view.filetype, view.layout}) object::retain(type);
  return view;
}

Status make_view(MPI_Offset disp, Datatype& etype, Datatype& filetype, const Representation& rep,
                 View* view) {
  VICINITY_TRY(check_types(disp, etype, filetype));
  View made;
  made.disp = disp;
  made.rep = &rep;
  VICINITY_TRY(bytes_in_file(rep, etype, &made.etype_bytes));
  auto layout = type_in_file(rep, filetype);
  VICINITY_TRY(layout.status());
  made.layout = *layout;
  made.etype = object::retain(&etype);
  made.filetype = object::retain(&filetype);
  examine(made);
  *view = made;
  return kOk;
}

bool find_offset(const View& view, int64_t stream, int64_t* offset) {
  int64_t bytes = 0;
  return stream < kLargest && FileRuns(view, stream).next(1, offset, &bytes);
}

int64_t stream_before(const View& view, int64_t file_bytes) {
  const Datatype& type = *view.layout;
  int64_t left = file_bytes - view.disp - type.true_lb;
  if (left <= 0 || view.empty()) return 0;
  if (view.contiguous) return left;
  const int64_t tile = left / type.extent;
  left -= tile * type.extent;
  int64_t inside = 0;
  object::PackCursor cursor(nullptr, 1, type);
  iovec piece{};
  while (cursor.pieces(&piece, 1, SIZE_MAX / 2)) {
    const int64_t begin = address(piece) - type.true_lb;
    if (view.orderly && begin >= left) break;
    inside += std::clamp<int64_t>(left - begin, 0, static_cast<int64_t>(piece.iov_len));
  }
  return tile * type.size + inside;
}

FileRuns::FileRuns(const View& view, int64_t stream) : view_(&view), stream_(stream) {
  if (view.contiguous) return;
  const Datatype& type = *view.layout;
  cursor_.reset(nullptr, 0, type);
  if (view.empty()) return;
  const int64_t room = kLargest - view.disp - type.true_lb - type.true_extent;
  const int64_t tiles = std::min(room / type.extent + 1, kLargest / type.size);
  // The walker does not care that its "addresses" are none.
  if (stream >= tiles * type.size) return;
  cursor_.reset(reinterpret_cast<void*>(view.disp), tiles, type);
  cursor_.seek(static_cast<uint64_t>(stream));
}

bool FileRuns::next(int64_t most, int64_t* offset, int64_t* bytes) {
  if (view_->contiguous) {
    *offset = view_->disp + view_->layout->true_lb + stream_;
    *bytes = most;
    stream_ += most;
    return *offset <= kLargest - most;
  }
  iovec piece{};
  if (!cursor_.pieces(&piece, 1, static_cast<size_t>(most))) return false;
  *offset = address(piece);
  *bytes = static_cast<int64_t>(piece.iov_len);
  return true;
}

}  // namespace vicinity::io
