// SPDX-License-Identifier: BSD-3-Clause
// Combining elements where others may do so at the same time, each of them as a whole (MPI 5.0, 12.7.1).
//
// An atomic instruction for each element needs no lock and is best for counters; for many elements it is ten
// times as slow as a plain loop under the accumulate lock of the target (Control::accumulate). The two must
// not meet. So a window goes through three stages, which all who map its parts agree on in their Pact:
//
//   1  Words go by instructions, without the lock; all else goes plainly, under the lock.
//   2  Somebody has many words to combine and sets Pact::wanted. Everybody who sees that, at an accumulate or
//      in progress, goes `in_turn` from then on: takes the lock for every accumulate. It counts itself in
//      Pact::agreed. Others may still be in stage 1, so words go by instructions, though under the lock.
//   3  All are counted, so all take the lock, and who has it goes plainly.
//
// Nobody goes back. A process with several threads goes in turn from the beginning: one of them could count
// it in while another is in the middle of stage 1. Nobody waits for anything with the lock, and it is given
// back after a stretch of memory, so it is held for microseconds.
//
// Only one process works in memory that nobody else maps; then it needs no lock, unless it has threads. So it
// is with a lock of MPI_Win_lock that excludes others.
#pragma once

#include "rma/accumulate.h"
#include "rma/window.h"

namespace vicinity::rma {

// Who calls: an entry, which may look whether the holder of a lock has died, or progress, which is at it.
enum class From : bool { kEntry, kProgress };

// Joins those who go in turn. Always true.
bool go_in_turn(Window& window);
inline bool goes_in_turn(Window& window) {
  if (window.in_turn.load(std::memory_order_relaxed)) return true;
  // Relaxed: to see it late only means to join late.
  if (!__atomic_load_n(&window.pact->wanted, __ATOMIC_RELAXED) && !base::threads_multiple()) [[likely]]
    return false;
  return go_in_turn(window);
}

// Combines `count` elements at `at`, in the part of `target`, the way that fits. False: the accumulate lock
// could not be had, because a process stands still with it.
bool combine_word(const Peer& target, const Fold& fold, char* at, const char* in, char* old, From from);
bool combine_many(const Peer& target, const Fold& fold, char* at, const char* in, char* old, size_t count,
                  From from);
inline bool combine(const Peer& target, const Fold& fold, char* at, const char* in, char* old, size_t count,
                    From from) {
  if (count == 1 && by_processor(fold, at)) return combine_word(target, fold, at, in, old, from);
  return combine_many(target, fold, at, in, old, count, from);
}
bool swap(const Peer& target, char* at, const char* compare, const char* desired, char* old, size_t bytes,
          From from);

}  // namespace vicinity::rma
