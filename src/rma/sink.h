// SPDX-License-Identifier: BSD-3-Clause
// Where the messages of windows arrive, and the poller that moves what waits.
#pragma once

#include "rma/window.h"

namespace vicinity::rma {

// A window is found by its context from enroll() to dismiss().
void enroll(Window& window);
void dismiss(Window& window);

// Wakes members that wait for a lock of ours, or that we held.
void nudge_all(Window& window);
// Our lock may be free: those who asked for it by messages get it, in order.
int grant_locks(Window& window);

}  // namespace vicinity::rma
