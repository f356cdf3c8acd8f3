// SPDX-License-Identifier: BSD-3-Clause
// A typed range of a window, checked against its bounds, and cut into runs for a message.
#pragma once

#include <vector>

#include "rma/window.h"

namespace vicinity::rma {

// Where (disp, count, type) lies in a peer's part: the address to hand to a cursor, relative to its beginning
// (dynamic: absolute). MPI_ERR_RMA_RANGE, MPI_ERR_DISP when outside; `bytes` is the data.
struct Range {
  int64_t at = 0;
  uint64_t bytes = 0;
};
Status check_range(const Peer& peer, MPI_Aint disp, MPI_Count count, const Datatype& type, Range* range);

// In a dynamic window, for ourselves: MPI_ERR_RMA_RANGE unless the range is attached.
Status check_attached(const Peer& peer, const Range& range, MPI_Count count, const Datatype& type);

// MPI_ERR_TRUNCATE unless both sides have the same number of bytes.
Status check_amounts(MPI_Count count, const Datatype& type, uint64_t target_bytes, const char* side);

// The next runs of `target`, in units of `step` bytes, so that runs and, if `with_data`, the data fit into
// `room` bytes, and no more than `most` bytes of data. Returns the bytes of data.
uint64_t take_runs(object::PackCursor& target, uint32_t step, bool split, size_t room, bool with_data,
                   uint64_t most, std::vector<Run>& runs);

// Bytes of all runs together; false when that overflows or a run is nonsense.
bool total_of(const Run* runs, uint32_t count, uint64_t* bytes);
// The first run that is not inside our part, or nullptr.
// `beyond`: bytes behind each piece that belong to it.
const Run* outside(const Window& window, const Run* runs, uint32_t count, uint64_t beyond);

}  // namespace vicinity::rma
