// SPDX-License-Identifier: BSD-3-Clause
// The one variable that every door reads.
#include "world/state.h"

namespace vicinity::world {

std::atomic<State> state = State::kBefore;

}  // namespace vicinity::world
