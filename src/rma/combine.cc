// SPDX-License-Identifier: BSD-3-Clause
// Which way elements are combined, and the accumulate lock.
#include "rma/combine.h"

#include <sched.h>

#include <algorithm>
#include <mutex>

#include "base/clock.h"

namespace vicinity::rma {
namespace {

constexpr size_t kMany = 8;  // words; for fewer the lock does not pay
constexpr int kSpins = 200;  // while the holder is probably at work
constexpr int kYieldsPerLook = 64;
constexpr int64_t kPatience = 5'000'000'000;  // ns with a holder that neither works nor dies

bool alone(const Peer& target) {
  return (target.held == Held::kAlone || !target.window->pact) && !base::threads_multiple();
}

// Whoever has died with the lock leaves it to us: what it was combining is undefined, all else is not.
bool inherit(Window& window, Control& control, From from) {
  std::lock_guard hold(base::engine_lock);
  if (from == From::kEntry) base::look();
  const uint32_t holder = __atomic_load_n(&control.accumulate, __ATOMIC_RELAXED);
  if (holder == 0 || holder > static_cast<uint32_t>(window.count)) return false;
  return is_gone(window.peer(static_cast<int>(holder) - 1)) &&
         inherit_accumulate(control, holder, window.rank);
}

[[gnu::noinline]] bool wait_for_turn(Window& window, Control& control, From from) {
  for (int i = 0; i < kSpins; ++i) {
    base::cpu_relax();
    if (__atomic_load_n(&control.accumulate, __ATOMIC_RELAXED) == 0 && try_accumulate(control, window.rank))
      return true;
  }
  base::Patience patience(kPatience);
  for (int round = 1; !try_accumulate(control, window.rank); ++round) {
    sched_yield();  // it may have lost its core
    if (round % kYieldsPerLook != 0) continue;
    if (inherit(window, control, from)) return true;
    if (patience.over()) return false;
  }
  return true;
}

inline bool take_turn(const Peer& target, From from) {
  Window& window = *target.window;
  note_stores(window);
  if (try_accumulate(*target.control, window.rank)) [[likely]]
    return true;
  return wait_for_turn(window, *target.control, from);
}

// Whether this many words go in turn.
inline bool words_in_turn(Window& window, size_t stretch, size_t count) {
  if (goes_in_turn(window)) return true;
  if (std::min(count, stretch) < kMany) return false;
  __atomic_store_n(&window.pact->wanted, 1u, __ATOMIC_RELAXED);
  return go_in_turn(window);
}

bool everybody_in_turn(Window& window) {
  if (window.all_in_turn.load(std::memory_order_relaxed)) [[likely]]
    return true;
  // SYNC POINT PACT (acquire): pairs with go_in_turn().
  if (__atomic_load_n(&window.pact->agreed, __ATOMIC_ACQUIRE) < window.sharers) return false;
  window.all_in_turn.store(true, std::memory_order_relaxed);
  return true;
}

}  // namespace

bool go_in_turn(Window& window) {
  // SYNC POINT PACT (release): what we did without the lock was done before.
  if (!window.in_turn.exchange(true)) __atomic_fetch_add(&window.pact->agreed, 1u, __ATOMIC_SEQ_CST);
  return true;
}

bool combine_word(const Peer& target, const Fold& fold, char* at, const char* in, char* old, From from) {
  Window& window = *target.window;
  if (alone(target)) {
    note_stores(window);
    fold_word_plainly(fold, at, in, old);
  } else if (!goes_in_turn(window)) {
    fold_word_atomically(fold, at, in, old);
  } else {
    if (!take_turn(target, from)) return false;
    (everybody_in_turn(window) ? fold_word_plainly : fold_word_atomically)(fold, at, in, old);
    end_accumulate(*target.control);
  }
  return true;
}

bool combine_many(const Peer& target, const Fold& fold, char* at, const char* in, char* old, size_t count,
                  From from) {
  Window& window = *target.window;
  if (alone(target)) {
    note_stores(window);
    fold_plainly(fold, at, in, old, count);
    return true;
  }
  const bool words = by_processor(fold, at);
  const size_t stretch = std::max<size_t>(1, window.stretch / fold.extent);
  if (words && !words_in_turn(window, stretch, count)) {
    fold_atomically(fold, at, in, old, count);
    return true;
  }
  while (count != 0) {
    const size_t here = std::min(count, stretch), bytes = here * fold.packed;
    if (!take_turn(target, from)) return false;
    (words && !everybody_in_turn(window) ? fold_atomically : fold_plainly)(fold, at, in, old, here);
    end_accumulate(*target.control);
    count -= here;
    at += here * fold.extent;
    if (in) in += bytes;
    if (old) old += bytes;
  }
  return true;
}

bool swap(const Peer& target, char* at, const char* compare, const char* desired, char* old, size_t bytes,
          From from) {
  Window& window = *target.window;
  if (alone(target)) {
    note_stores(window);
    swap_plainly(at, compare, desired, old, bytes);
    return true;
  }
  const bool word = bytes <= 8 && reinterpret_cast<uintptr_t>(at) % bytes == 0;
  if (word && !goes_in_turn(window)) {
    swap_atomically(at, compare, desired, old, bytes);
    return true;
  }
  if (!take_turn(target, from)) return false;
  (word && !everybody_in_turn(window) ? swap_atomically : swap_plainly)(at, compare, desired, old, bytes);
  end_accumulate(*target.control);
  return true;
}

}  // namespace vicinity::rma
