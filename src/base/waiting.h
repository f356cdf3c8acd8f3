// SPDX-License-Identifier: BSD-3-Clause
// Between progress.cc and engine_lock.cc only.
#pragma once

#include <cstdint>

namespace vicinity::base::detail {

// Ends the sleep of the thread that polls. The engine lock is held.
void wake_sleeper();

// The engine lock is given up for the life of this object, if it is real. `sleeps`: whoever unlocks it
// meanwhile must wake us.
class LockPause {
 public:
  explicit LockPause(bool sleeps);
  LockPause(const LockPause&) = delete;
  LockPause& operator=(const LockPause&) = delete;
  ~LockPause();

 private:
  uint32_t depth_;
  bool active_;
};

}  // namespace vicinity::base::detail
