// SPDX-License-Identifier: BSD-3-Clause
// Error handlers that belong to no living object.
#pragma once

#include "object/errhandler.h"

namespace vicinity::world {

// Of MPI_COMM_WORLD and MPI_COMM_SELF at first, and of failures before MPI_Init.
object::Errhandler& initial_handler();

// Of MPI_FILE_NULL: what files get when they are opened (MPI 5.0, 14.7).
object::Errhandler& default_file_handler();
void set_default_file_handler(object::Errhandler& handler);

}  // namespace vicinity::world
