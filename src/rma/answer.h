// SPDX-License-Identifier: BSD-3-Clause
// What others ask of our part of a window, by messages.
#pragma once

#include "rma/window.h"

namespace vicinity::rma {

// nullptr, or what no correct peer sends. `body` is aligned for a Run.
const char* on_access(Peer& peer, uint32_t id, const char* body, size_t bytes);

}  // namespace vicinity::rma
