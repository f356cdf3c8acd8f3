// SPDX-License-Identifier: BSD-3-Clause
// Which language is calling (MPI 5.0, 19.3.5, 19.3.7): the Fortran bindings say so around the calls for which
// it matters. Functions that Fortran registers get integer handles, and its attributes are integers.
#pragma once

namespace vicinity::object {

extern thread_local bool from_fortran;

}  // namespace vicinity::object
