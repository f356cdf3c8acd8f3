// SPDX-License-Identifier: BSD-3-Clause
// The channels that the user allows (VICINITY_CHANNELS), as bits of the card: a pair uses what both allow.
#pragma once

#include <cstdint>

#include "base/status.h"

namespace vicinity::peer {

inline constexpr uint32_t kAllowSelf = 1, kAllowRing = 2, kAllowCma = 4, kAllowUcx = 8;
inline constexpr uint32_t kStandby = 16;  // not a channel: it wants the network beside shared memory

// An unknown name is an error that names it.
base::Status allowed_channels(uint32_t* out);

// VICINITY_SUSPEND: no messages through shared memory now.
bool suspended();
void suspended_changed();  // the coordinator's: it was written while the job runs

}  // namespace vicinity::peer
