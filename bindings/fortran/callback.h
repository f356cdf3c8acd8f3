// SPDX-License-Identifier: BSD-3-Clause
// Fortran procedures as callbacks (MPI 5.0, 19.3.5): their types, and the C functions that call them.
#pragma once

#include <mpi.h>

extern "C" {
// Tells the library that what is registered next comes from Fortran (src/object/language.h).
void vicinity_from_fortran(int yes);

using vicinity_copy = void(int* owner, int* keyval, MPI_Aint* extra, MPI_Aint* in, MPI_Aint* out, int* flag,
                           int* ierror);
using vicinity_delete = void(int* owner, int* keyval, MPI_Aint* value, MPI_Aint* extra, int* ierror);
using vicinity_old_copy = void(int* owner, int* keyval, int* extra, int* in, int* out, int* flag,
                               int* ierror);
using vicinity_old_delete = void(int* owner, int* keyval, int* value, int* extra, int* ierror);
using vicinity_query = void(MPI_Aint* extra, int* status, int* ierror);
using vicinity_free = void(MPI_Aint* extra, int* ierror);
using vicinity_cancel = void(MPI_Aint* extra, int* complete, int* ierror);
using vicinity_extent = void(int* datatype, MPI_Aint* extent, MPI_Aint* extra, int* ierror);
using vicinity_convert = void(void* user, int* datatype, int* count, void* file, MPI_Offset* position,
                              MPI_Aint* extra, int* ierror);
using vicinity_convert_c = void(void* user, int* datatype, MPI_Count* count, void* file, MPI_Offset* position,
                                MPI_Aint* extra, int* ierror);
}

namespace vicinity::fortran {

class FromFortran {
 public:
  FromFortran() { vicinity_from_fortran(1); }
  ~FromFortran() { vicinity_from_fortran(0); }
  FromFortran(const FromFortran&) = delete;
  FromFortran& operator=(const FromFortran&) = delete;
};

}  // namespace vicinity::fortran

// The other names of pmpi_NAME_: without `p`, and what mpi_f08 calls.
#define VICINITY_ALIAS(name, target) extern "C" decltype(target) name __attribute__((weak, alias(#target)));
#define VICINITY_OLD_NAMES(name) VICINITY_ALIAS(mpi_##name##_, pmpi_##name##_)
#define VICINITY_NAMES(name)                        \
  VICINITY_OLD_NAMES(name)                          \
  VICINITY_ALIAS(mpi_##name##_f08_, pmpi_##name##_) \
  VICINITY_ALIAS(pmpi_##name##_f08_, pmpi_##name##_)
