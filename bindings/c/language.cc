// SPDX-License-Identifier: BSD-3-Clause
// The one symbol beside MPI's: libvicinity_fortran.so announces calls that register its functions or
// attributes.
#include "object/language.h"

#pragma GCC visibility push(default)
extern "C" void vicinity_from_fortran(int yes) { vicinity::object::from_fortran = yes != 0; }
#pragma GCC visibility pop
