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
// entirely, whatever its depth, when others want it, and always while it yields or sleeps. Of several
// waiting threads one polls, the others sleep until something has happened. With lower thread levels
// the lock does nothing.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.h"
#include "base/list.h"

namespace vicinity::base {

class Poller {
 public:
  virtual int poll() = 0;  // returns how many events it handled; must not block

 protected:
  ~Poller() = default;
};

// A poller may add and remove pollers, itself too.
void add_poller(Poller* poller);
void remove_poller(Poller* poller);  // nothing happens if it was not added
int progress();                      // every poller once; returns the number of events
// For calls that may not wait (MPI_Test, MPI_Iprobe): progress(), once. A program that does nothing but such
// calls gives its core away now and then if ranks outnumber cores. The engine lock is given up meanwhile.
void look();

// How to sleep and be woken, given by the channel that has shared memory (nullptr: timed sleep only).
class Sleeper {
 public:
  // Announces to peers that this process is about to sleep; after it, everything is polled once more.
  virtual void arm() = 0;
  virtual void disarm() = 0;
  // Sleeps until a peer wakes us or `timeout_us` passed.
  virtual void sleep(int timeout_us) = 0;
  virtual void wake_self() = 0;  // ends the sleep of another thread of this process
  // Tells peers whether this process has given its core away.
  virtual void tell_away(bool away) = 0;
  // Has that process, as far as can be seen? False does not promise that it runs.
  virtual bool is_away(uint32_t process) = 0;

 protected:
  ~Sleeper() = default;
};
void set_sleeper(Sleeper* sleeper);

// Told once at start: do the ranks of this host outnumber the cores they may use?
void set_oversubscribed(bool oversubscribed);
bool crowded();                           // they do, as told or as noticed
void set_threads_multiple(bool multiple);  // before any second thread enters

// With the engine lock held, in the condition of a wait: is another thread waiting as well?
bool others_wait();

namespace detail {
extern bool multiple;
}
inline bool threads_multiple() { return detail::multiple; }

// A mutex that is recursive for its owner. It lets threads overtake each other, which is fast;
// fairness towards those who wait is the business of give_way() and release_all().
class EngineLock {
 public:
  void lock() {
    if (detail::multiple) [[unlikely]]
      lock_really();
  }
  void unlock() {
    if (detail::multiple) [[unlikely]]
      unlock_really();
  }

  // For wait_until().
  bool wanted() const { return wanting_.load(std::memory_order_relaxed) != 0; }
  uint32_t release_all();  // returns the depth
  void acquire_again(uint32_t depth);
  void give_way();  // lets at least one of those who want it have it
  void forget();    // the lock will be no more: gives it up if it is ours

 private:
  void lock_really();
  void unlock_really();
  void acquire();
  void release();

  std::atomic<uint32_t> word_{0};     // 0 free, 1 held, 2 held and somebody sleeps (futex)
  std::atomic<uint32_t> wanting_{0};  // threads in acquire()
  std::atomic<uint32_t> takings_{0};  // how often it was taken by those who had to wait
  std::atomic<const void*> owner_{nullptr};
  uint32_t depth_ = 0;  // of the owner
};
extern EngineLock engine_lock;

// Of a wait: no process in particular must act, or more than one.
inline constexpr uint32_t kNobody = UINT32_MAX;

namespace detail {

// How one wait goes on after polls that found nothing: spin -> yield -> sleep. When crowded it yields at
// once, unless the one that must act seems to run on another core: then it glances.
class Waiter {
 public:
  explicit Waiter(uint32_t whom = kNobody) : whom_(whom) { begin(); }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;
  ~Waiter() {
    if (phase_ != Phase::kSpin) [[unlikely]]
      end();
  }
  // After every progress(), with the number of its events, while the condition does not hold.
  void round(int events) {
    if (events > 0) {
      again();
    } else if (--budget_ == 0) [[unlikely]] {
      idle();
    }
  }

 private:
  enum class Phase : uint8_t { kSpin, kGlance, kYield, kArmed };

  void begin();
  void again();
  void end();
  void idle();
  void spun();
  void glance();
  void yield();
  void sleep();
  void disarm();

  const uint32_t whom_;
  uint32_t budget_;  // polls until idle()
  Phase phase_;
  bool armed_ = false;
  int yields_ = 0;
  int sleep_us_;
  Sleeper* sleeper_armed_ = nullptr;
  int64_t began_ = 0;  // ns; 0: the clock has not been read yet
  int64_t glanced_ = 0;  // ns: since when it glances; 0: it does not
};

// The same among several threads.
class SharedWaiter {
 public:
  explicit SharedWaiter(uint32_t whom) : waiter_(whom) {}
  SharedWaiter(const SharedWaiter&) = delete;
  SharedWaiter& operator=(const SharedWaiter&) = delete;
  ~SharedWaiter();
  // The condition does not hold: poll, or wait for the one who polls. The lock is held before and after.
  void round();

 private:
  void poll();
  void stand_by();

  struct Hold {
    Hold() { engine_lock.lock(); }
    ~Hold() { engine_lock.unlock(); }
  } hold_;  // first: the waiter lives under the lock
  Waiter waiter_;
  bool polling_ = false;  // this wait has taken the role of the poller
};

}  // namespace detail

// `whom`: the one process, as peer/ numbers them, that must act before the condition can hold.
template <class Condition>
inline void wait_until(Condition&& done, uint32_t whom = kNobody) {
  if (threads_multiple()) [[unlikely]] {
    detail::SharedWaiter waiter(whom);
    while (!done()) waiter.round();
    return;
  }
  if (done()) return;
  detail::Waiter waiter(whom);
  for (;;) {
    const int events = progress();
    if (done()) return;
    waiter.round(events);
  }
}

}  // namespace vicinity::base
