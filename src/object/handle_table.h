// SPDX-License-Identifier: BSD-3-Clause
// Handles as integers (MPI_Comm_toint and its siblings; MPI 5.0, 20.4): predefined constants are their
// own integers, every other handle gets the next number from kFirstAddress on at its first conversion.
//
// Entries are never removed. Objects' memory is used again for the same class only, so an old number
// whose address has come back to life names the new object, as the address itself would.
#pragma once

#include <cstdint>

namespace vicinity::object {

int handle_to_int(uintptr_t handle);
uintptr_t handle_from_int(int number);  // 0 for a number that was never given out

}  // namespace vicinity::object
