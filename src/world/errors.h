// SPDX-License-Identifier: BSD-3-Clause
// Error handlers that belong to no living object.
#pragma once

#include "object/errhandler.h"

namespace vicinity::world {

// Of MPI_COMM_WORLD and MPI_COMM_SELF at first, and of failures before MPI_Init.
object::Errhandler& initial_handler();

}  // namespace vicinity::world
