// SPDX-License-Identifier: BSD-3-Clause
// Is the library running? What every door asks first.
#pragma once

#include <atomic>

namespace vicinity::world {

enum class State : int {
  kBefore,   // neither MPI_Init nor a session yet, or the last session ended without MPI_Init
  kRunning,  // between MPI_Init and MPI_Finalize, or while a session is open
  kNews,     // the same, and there is something that only the beginning of a call may do
  kAfter,    // MPI_Finalize was called, no session is open
};

// Written by Init, Finalize, the session calls, and by those who have or have had news; under the engine
// lock, which not every door holds.
extern std::atomic<State> state;
inline bool runs() {
  const State now = state.load(std::memory_order_relaxed);
  return now == State::kRunning || now == State::kNews;
}
// From the door of a call, when there is news: callbacks of tools that may call MPI
// (world/tool/entry_event.cc).
void attend_to_news();

}  // namespace vicinity::world
