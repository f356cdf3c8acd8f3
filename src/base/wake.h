// SPDX-License-Identifier: BSD-3-Clause
// For threads of the library's own, which do not hold the engine lock.
#pragma once

namespace vicinity::base {

// A poller will find something: ends the sleep of the thread that polls, if one does. An optimisation, as all
// wakes are: a sleep ends by itself.
void wake();

}  // namespace vicinity::base
