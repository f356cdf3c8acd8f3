// SPDX-License-Identifier: BSD-3-Clause
// The control block of one target: what origins that share memory with it change by themselves. It lies in
// the window's shared memory, or in the target's own when nobody shares it; then only the target uses it, on
// behalf of those who ask by messages.
//
// The lock is one word: 0 free; low 31 bits: how many hold it shared; bit 31: somebody wants it alone, so
// nobody gets it shared any more; high half: 1 + rank of the one who holds it alone.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vicinity::rma {

struct Control {
  uint64_t lock;
  uint32_t waiting;     // how many wait for the lock: they may sleep
  uint32_t unused0[13];
  uint32_t accumulate;  // 0, or 1 + rank of the one who is combining elements
  uint32_t unused1[15];
};
static_assert(sizeof(Control) == 128 && offsetof(Control, accumulate) == 64);

// How the members that map each other's parts of a window combine elements there (combine.h). One for all of
// them, at the beginning of the window's shared memory.
struct Pact {
  uint32_t wanted;  // 1: somebody would like all to take accumulate locks
  uint32_t unused0[15];
  uint32_t agreed;  // how many take them for every accumulate from now on
  uint32_t unused1[15];
};
static_assert(sizeof(Pact) == 128 && offsetof(Pact, agreed) == 64);

inline constexpr uint64_t kWantedAlone = uint64_t{1} << 31;

bool try_shared(Control& control);
bool try_alone(Control& control, int rank);
void release_shared(Control& control);
void release_alone(Control& control);
// Whoever gives up trying to have it alone; others who want it say so again.
void want_no_more(Control& control);
// Rank of the one who holds it alone, or -1.
int lone_holder(const Control& control);
bool held_shared(const Control& control);

inline bool try_accumulate(Control& control, int rank) {
  uint32_t nobody = 0;
  return __atomic_compare_exchange_n(&control.accumulate, &nobody, static_cast<uint32_t>(rank) + 1, false,
                                     __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}
// From a holder that is dead.
inline bool inherit_accumulate(Control& control, uint32_t holder, int rank) {
  return __atomic_compare_exchange_n(&control.accumulate, &holder, static_cast<uint32_t>(rank) + 1, false,
                                     __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}
inline void end_accumulate(Control& control) {
  __atomic_store_n(&control.accumulate, uint32_t{0}, __ATOMIC_RELEASE);
}

}  // namespace vicinity::rma
