// SPDX-License-Identifier: BSD-3-Clause
// The private words of MPI_Status.
#include "object/request.h"

#include <cstring>

namespace vicinity::object {

void set_bytes(MPI_Status& status, MPI_Count bytes) {
  std::memcpy(&status.MPI_internal[0], &bytes, sizeof bytes);
}

MPI_Count get_bytes(const MPI_Status& status) {
  MPI_Count bytes = 0;
  std::memcpy(&bytes, &status.MPI_internal[0], sizeof bytes);
  return bytes;
}

// No request is predefined: MPI_REQUEST_NULL is handled before any lookup.
Request* HandleTraits<Request>::predefined(uintptr_t) { return nullptr; }

}  // namespace vicinity::object
