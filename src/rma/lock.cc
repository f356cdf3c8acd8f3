// SPDX-License-Identifier: BSD-3-Clause
// The lock word of a target.
#include "rma/lock.h"

namespace vicinity::rma {

bool try_shared(Control& control) {
  uint64_t seen = __atomic_load_n(&control.lock, __ATOMIC_RELAXED);
  while (seen < kWantedAlone) {  // nobody has it alone or wants it so
    if (__atomic_compare_exchange_n(&control.lock, &seen, seen + 1, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
      return true;
  }
  return false;
}

bool try_alone(Control& control, int rank) {
  uint64_t seen = __atomic_load_n(&control.lock, __ATOMIC_RELAXED);
  const uint64_t mine = (static_cast<uint64_t>(rank) + 1) << 32;
  while ((seen & ~kWantedAlone) == 0) {
    if (__atomic_compare_exchange_n(&control.lock, &seen, mine, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
      return true;
  }
  if (!(seen & kWantedAlone)) __atomic_fetch_or(&control.lock, kWantedAlone, __ATOMIC_SEQ_CST);
  return false;
}

void release_shared(Control& control) { __atomic_fetch_sub(&control.lock, uint64_t{1}, __ATOMIC_SEQ_CST); }

void release_alone(Control& control) {
  __atomic_fetch_and(&control.lock, uint64_t{UINT32_MAX}, __ATOMIC_SEQ_CST);
}

void want_no_more(Control& control) { __atomic_fetch_and(&control.lock, ~kWantedAlone, __ATOMIC_SEQ_CST); }

int lone_holder(const Control& control) {
  return static_cast<int>(__atomic_load_n(&control.lock, __ATOMIC_RELAXED) >> 32) - 1;
}

bool held_shared(const Control& control) {
  return (__atomic_load_n(&control.lock, __ATOMIC_RELAXED) & (kWantedAlone - 1)) != 0;
}

}  // namespace vicinity::rma
