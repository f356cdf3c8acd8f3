// SPDX-License-Identifier: BSD-3-Clause
// Collective buffering in two phases: the pieces of all processes, small and interleaved in the file, are
// brought together by a few of them, the aggregators, which read and write large parts at once.
#pragma once

#include "io/file.h"

namespace vicinity::io {

// Is it worth to ask the others? The same answer everywhere.
bool may_buffer(const File& file, bool writing);

// Collective: moves the bytes of all processes, by aggregators or each for itself, as all of them agree on.
// `own`: what has failed here already; then there is nothing to move. `*done` as in move_bytes().
Status move_together(File& file, bool writing, Status own, int64_t stream, const Buffer& raw, int64_t* done);

}  // namespace vicinity::io
