// SPDX-License-Identifier: BSD-3-Clause
// Info keys of windows (MPI 5.0, 12.2.1 and 12.2.7).
#pragma once

#include "rma/window.h"

namespace vicinity::rma {

// MPI_ERR_INFO_VALUE for an alignment that is no power of two. Other bad values are ignored: they are hints.
Status check_window_hints(const Info* info);
// 0: any.
uint64_t wanted_alignment(const Info* info);
bool wants_parts_apart(const Info* info);

// Takes over what is known and makes sense. `made`: the window exists, so some keys are too late.
void accept_hints(Window& window, const Info* info);

}  // namespace vicinity::rma
