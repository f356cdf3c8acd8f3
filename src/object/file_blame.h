// SPDX-License-Identifier: BSD-3-Clause
// As blame() in error.h, for files: whose handler takes the error of a request when the door names none.
// object/ does not know files, only their handles.
#pragma once

#include <mpi.h>

namespace vicinity::object {

void blame(MPI_File file);
MPI_File blamed_file();  // MPI_FILE_NULL: none

}  // namespace vicinity::object
