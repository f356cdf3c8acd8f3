// SPDX-License-Identifier: BSD-3-Clause
// Gives a failure to the right error handler (MPI 5.0, 9.3). What a door calls last.
//
// The text is that of the newest fail() of this thread. Each returns the code that the door returns, if the
// handler lets it return at all.
#pragma once

#include "object/communicator.h"
#include "object/window.h"

namespace vicinity::world {

// `comm` nullptr: the failure belongs to no object; MPI_COMM_SELF's handler takes it, or the initial one when
// the world model is not running. `function` is "MPI_Send".
int raise(const char* function, base::Status status, object::Communicator* comm);
int raise_window(const char* function, base::Status status, object::Window& window);
// An invalid or null session: as for no object.
int raise_session(const char* function, base::Status status, MPI_Session session);
// Files: their own handler; at first that of MPI_FILE_NULL, MPI_ERRORS_RETURN unless changed (MPI 5.0, 14.7).
int raise_file(const char* function, base::Status status, MPI_File file);

}  // namespace vicinity::world
