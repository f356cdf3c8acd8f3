// SPDX-License-Identifier: BSD-3-Clause
// The one progress loop and the one way to wait.
//
// Whoever can make something happen (a channel, the schedule engine, the launcher's socket)
// registers a poller. progress() runs them all once. wait_until() runs progress until a condition
// holds and adapts how: it spins briefly, then yields, then sleeps and is woken. No other loop in the
// library may wait.
//
// Threads: with MPI_THREAD_MULTIPLE every door holds `engine_lock` (recursive for its owner, so that
// user callbacks may call MPI). progress() and pollers run with it held; wait_until() gives it up
// entirely, whatever its depth, between polls and while asleep. With lower thread levels
// the lock does nothing.
#pragma once

#include <cstdint>

#include "base/list.h"

namespace vicinity::base {

class Poller {
 public:
  Link link;
  virtual int poll() = 0;  // returns how many events it handled; must not block
 protected:
  ~Poller() = default;
};

void add_poller(Poller* poller);
void remove_poller(Poller* poller);
int progress();  // every poller once; returns the number of events

// How to sleep and be woken, given by the channel that has shared memory (nullptr: timed sleep only).
class Sleeper {
 public:
  // Announces to peers that this process is about to sleep; after it, everything is polled once more.
  virtual void arm() = 0;
  virtual void disarm() = 0;
  // Sleeps until a peer wakes us or `timeout_us` passed.
  virtual void sleep(int timeout_us) = 0;
  virtual void wake_self() = 0;  // ends the sleep of another thread of this process

 protected:
  ~Sleeper() = default;
};
void set_sleeper(Sleeper* sleeper);

// Told once by world/: do the ranks of this host outnumber the cores they may use?
void set_oversubscribed(bool oversubscribed);
void set_threads_multiple(bool multiple);  // before any second thread enters
bool threads_multiple();

class EngineLock {
 public:
  void lock();    // no-op unless threads_multiple()
  void unlock();
};
extern EngineLock engine_lock;

namespace detail {
// One round of waiting after a poll that found nothing. Keeps its state in `round`.
void idle(uint32_t& round);
}  // namespace detail

template <class Condition>
inline void wait_until(Condition&& done) {
  uint32_t round = 0;
  while (!done()) {
    if (progress() > 0) {
      round = 0;
      continue;
    }
    if (done()) return;
    detail::idle(round);
  }
}

}  // namespace vicinity::base
