// SPDX-License-Identifier: BSD-3-Clause
// What survivors of a failure do together besides MPIX_ functions.
#pragma once

#include "object/communicator.h"

namespace vicinity::world {

// The last meeting of all members, some perhaps dead: returns when no living one needs another any more.
object::Status meet_survivors(object::Communicator& all);

}  // namespace vicinity::world
