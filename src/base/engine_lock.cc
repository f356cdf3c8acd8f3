// SPDX-License-Identifier: BSD-3-Clause
// The engine lock, and waiting when several threads do.
//
// Of the threads in wait_until() one is the poller, the others stand by. Invariant: a thread that stands by
// has read `epoch` with the lock held, after its condition was false; whoever holds the lock and may
// have made somebody's condition true counts `epoch` up before letting the lock go. So nothing goes
// unnoticed. The poller itself may sleep without the lock (`parked`): it is woken in the same way.
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <climits>

#include "base/progress.h"
#include "base/waiting.h"

namespace vicinity::base {

EngineLock engine_lock;

namespace {

// Guarded by the engine lock:
const void* poller = nullptr;  // thread that polls for all
uint32_t standing = 0;         // threads that stand by
bool parked = false;           // the poller has given up the lock to sleep

std::atomic<uint32_t> epoch{0};     // counted up with the lock held
std::atomic<uint32_t> sleeping{0};  // threads in, or on the way to, a futex wait on epoch

constexpr int kLockSpins = 200;
constexpr int kStandBySpins = 400, kStandByYields = 20;

thread_local char thread_mark;
const void* this_thread() { return &thread_mark; }

// Private futexes: only threads of this process use them.
void futex_wait(std::atomic<uint32_t>& word, uint32_t seen, const timespec* timeout) {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, timeout, nullptr, 0);
}
void futex_wake(std::atomic<uint32_t>& word, int count) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

// With the lock held: something happened that others may be waiting for.
void announce() {
  if (parked) {
    parked = false;
    detail::wake_sleeper();
  }
  if (standing == 0) return;
  // SYNC POINT EPOCH: counted, then `sleeping` read; the others count `sleeping`, then the kernel compares
  // the epoch. Sequentially consistent, so at least one sees the other.
  epoch.fetch_add(1, std::memory_order_seq_cst);
  if (sleeping.load(std::memory_order_seq_cst) != 0) futex_wake(epoch, INT_MAX);
}

}  // namespace

void EngineLock::acquire() {
  uint32_t expected = 0;
  // SYNC POINT LOCK (acquire): pairs with release().
  if (word_.compare_exchange_strong(expected, 1, std::memory_order_acquire, std::memory_order_relaxed))
    return;
  wanting_.fetch_add(1, std::memory_order_relaxed);
  bool taken = false;
  for (int spins = 0; spins < kLockSpins && !taken; ++spins) {
    expected = 0;
    taken = word_.load(std::memory_order_relaxed) == 0 &&
            word_.compare_exchange_strong(expected, 1, std::memory_order_acquire, std::memory_order_relaxed);
    if (!taken) cpu_relax();
  }
  // From here on we take it only as 2: there may be other sleepers, whom our release() must wake.
  while (!taken && word_.exchange(2, std::memory_order_acquire) != 0) futex_wait(word_, 2, nullptr);
  wanting_.fetch_sub(1, std::memory_order_relaxed);
  takings_.fetch_add(1, std::memory_order_relaxed);
}

void EngineLock::release() {
  // SYNC POINT LOCK (release).
  if (word_.exchange(0, std::memory_order_release) == 2) futex_wake(word_, 1);
}

void EngineLock::lock_really() {
  const void* me = this_thread();
  if (owner_.load(std::memory_order_relaxed) != me) {
    acquire();
    owner_.store(me, std::memory_order_relaxed);
  }
  ++depth_;
}

void EngineLock::unlock_really() {
  // A door may have been entered before the lock was real (MPI_Init_thread): nothing to give up then.
  if (owner_.load(std::memory_order_relaxed) != this_thread()) return;
  if (--depth_ != 0) return;
  if (parked || standing != 0) announce();
  owner_.store(nullptr, std::memory_order_relaxed);
  release();
}

uint32_t EngineLock::release_all() {
  const uint32_t depth = depth_;
  depth_ = 0;
  owner_.store(nullptr, std::memory_order_relaxed);
  release();
  return depth;
}

void EngineLock::acquire_again(uint32_t depth) {
  acquire();
  owner_.store(this_thread(), std::memory_order_relaxed);
  depth_ = depth;
}

void EngineLock::give_way() {
  const uint32_t before = takings_.load(std::memory_order_relaxed);
  const uint32_t depth = release_all();
  for (int look = 1; look <= 1000 && wanted() && takings_.load(std::memory_order_relaxed) == before; ++look) {
    cpu_relax();
    if (look % 100 == 0) sched_yield();  // it may need our core to take it
  }
  acquire_again(depth);
}

void EngineLock::forget() {
  if (owner_.load(std::memory_order_relaxed) == this_thread()) release_all();
}

bool others_wait() { return standing != 0 || (poller != nullptr && poller != this_thread()); }

void set_threads_multiple(bool value) {
  if (detail::multiple && !value) engine_lock.forget();  // the door that we are in will not unlock it
  detail::multiple = value;
}

namespace detail {

LockPause::LockPause(bool sleeps) : depth_(0), active_(multiple) {
  if (!active_) return;
  if (sleeps) parked = true;
  depth_ = engine_lock.release_all();
}

LockPause::~LockPause() {
  if (!active_) return;
  engine_lock.acquire_again(depth_);
  parked = false;
}

SharedWaiter::~SharedWaiter() {
  if (!polling_) return;
  poller = nullptr;
  announce();  // somebody else has to poll now
}

void SharedWaiter::round() {
  if (poller == nullptr) {
    poller = this_thread();
    polling_ = true;
  }
  if (poller == this_thread()) {  // also when a callback inside our own polling waits
    poll();
  } else {
    stand_by();
  }
}

void SharedWaiter::poll() {
  const int events = progress();
  if (events > 0) announce();
  waiter_.round(events);
  if (engine_lock.wanted()) engine_lock.give_way();
}

void SharedWaiter::stand_by() {
  const uint32_t seen = epoch.load(std::memory_order_relaxed);
  ++standing;
  const uint32_t depth = engine_lock.release_all();
  const auto changed = [&] { return epoch.load(std::memory_order_acquire) != seen; };
  for (int look = 0; look < kStandBySpins && !changed(); ++look) cpu_relax();
  for (int look = 0; look < kStandByYields && !changed(); ++look) sched_yield();
  if (!changed()) {
    sleeping.fetch_add(1, std::memory_order_seq_cst);  // SYNC POINT EPOCH
    const timespec longest{0, 5'000'000};
    futex_wait(epoch, seen, &longest);
    sleeping.fetch_sub(1, std::memory_order_relaxed);
  }
  engine_lock.acquire_again(depth);
  --standing;
}

}  // namespace detail
}  // namespace vicinity::base
