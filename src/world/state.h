// SPDX-License-Identifier: BSD-3-Clause
// Is the library running? What every door asks first.
#pragma once

namespace vicinity::world {

enum class State : int {
  kBefore,   // neither MPI_Init nor a session yet, or the last session ended without MPI_Init
  kRunning,  // between MPI_Init and MPI_Finalize, or while a session is open
  kAfter,    // MPI_Finalize was called, no session is open
};

// Written by Init, Finalize and the session calls only.
extern State state;

}  // namespace vicinity::world
