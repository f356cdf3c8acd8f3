// SPDX-License-Identifier: BSD-3-Clause
// What others ask of our part of a window, by messages.
#pragma once

#include "rma/accumulate.h"
#include "rma/window.h"

namespace vicinity::rma {

// nullptr, or what no correct peer sends. `body` is aligned for a Run.
const char* on_access(Peer& peer, uint32_t id, const char* body, size_t bytes);

// Combines `count` elements at `at`, in the part of `target`, the way that fits. False: the accumulate lock
// could not be had, because a process died with it or stands still.
bool combine(const Peer& target, const Fold& fold, char* at, const char* in, char* old, size_t count);
bool swap(const Peer& target, char* at, const char* compare, const char* desired, char* old, size_t bytes);

}  // namespace vicinity::rma
