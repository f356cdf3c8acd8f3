// SPDX-License-Identifier: BSD-3-Clause
// A view (MPI 5.0, 14.3): which bytes of the file a process sees, and in what order.
//
// Positions are counted in bytes of the view's stream: the data bytes of the filetype as they are in the
// file, repeated from `disp` on, one after the other. Etypes are only a unit of what users say. A view is
// checked when it is set; what uses it relies on offsets that cannot overflow.
#pragma once

#include <cstdint>

#include "io/datarep.h"
#include "object/datatype.h"

namespace vicinity::io {

struct View {
  int64_t disp = 0;
  Datatype* etype = nullptr;     // held, as the user gave it
  Datatype* filetype = nullptr;  // held, as the user gave it
  Datatype* layout = nullptr;    // held: the filetype with elements as large as they are in the file
  const Representation* rep = nullptr;
  int64_t etype_bytes = 1;  // of an etype in the file
  int64_t run_bytes = 0;    // of a run of the layout, on average
  bool contiguous = true;   // stream position and file offset differ by a constant
  bool orderly = true;      // offsets rise with the stream, and no byte is there twice
  // A filetype without data, as of a process that takes part and has nothing: no byte of the file is seen.
  bool empty() const { return layout->size == 0; }
};

// The default view: bytes from the start.
View plain_view();
void drop_view(View& view);
View copy_view(const View& view);  // with references of its own
Status make_view(MPI_Offset disp, Datatype& etype, Datatype& filetype, const Representation& rep, View* view);
// Where a byte of the stream lies in the file; false: beyond what offsets can express.
bool find_offset(const View& view, int64_t stream, int64_t* offset);
// How many data bytes of the stream lie before a file offset (MPI_SEEK_END). Exact for orderly views.
int64_t stream_before(const View& view, int64_t file_bytes);

// The runs of the stream from a position on, as offsets in the file.
class FileRuns {
 public:
  FileRuns(const View& view, int64_t stream);
  // The next run, at most `most` bytes long; false at the end of what offsets can express.
  bool next(int64_t most, int64_t* offset, int64_t* bytes);

 private:
  const View* view_;
  int64_t stream_;
  object::PackCursor cursor_;
};

}  // namespace vicinity::io
