// SPDX-License-Identifier: BSD-3-Clause
// The pollers, and how one waiting thread passes its time.
//
// Numbers that shaped this (one VM, two cores): a yield costs 330 ns, being woken from a futex some
// microseconds, one poll of everything 5 to 20 ns. With more ranks than cores, spinning is what hurts:
// 8 bytes of allreduce take 3 us when everybody yields at once and 20 us after 1000 spins.
#include "base/progress.h"

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/param.h"
#include "base/waiting.h"
#include "base/wake.h"

namespace vicinity::base {
namespace {

Param<int64_t> spin_us{
    "VICINITY_SPIN_US",
    "base",
    100,
    0,
    1000000,
    "How long a wait polls without a pause before it begins to yield, in microseconds, when there "
    "is a core for every rank."};
Param<int64_t> yield_us{
    "VICINITY_YIELD_US",
    "base",
    1000,
    0,
    1000000,
    "How long a wait yields before it sleeps, in microseconds, when there is a core for every "
    "rank. With more ranks than cores it is some tens of yields."};

constexpr uint32_t kPollsPerLook = 256;  // polls between two looks at the clock
constexpr int kMostYields = 40;          // before a sleep, when crowded
constexpr int kShortestSleep = 1000;     // us; a sleep always ends by itself: wakes are an optimisation
constexpr int kLongestSleep = 10000;
constexpr int kShortestNap = 50;  // us; without a sleeper nobody can wake us
constexpr int kLongestNap = 1000;

constexpr int kMostPollers = 64;
Poller* pollers[kMostPollers];
int poller_count = 0;

std::atomic<Sleeper*> sleeper{nullptr};
bool oversubscribed = false;

// What yields tell about who else wants our core:
//   quiet   nobody
//   short   somebody who soon gave it back, as waiting ranks do: ranks outnumber cores although nobody told
//   us,
//           and it is best to yield at once
//   long    somebody who computes for a whole slice (some ms). The next yield will be as long; better to
//           spin while the slice is ours, and then to sleep: who is woken runs soon. (Linux 6.18, 4 ranks
//           beside 2 busy loops on 2 cores: an allreduce took 5 to 12 ms when each wait yielded once; it
//           takes 1 ms.)
int crowding = 0;            // by short yields; falls slowly
int patience = kMostYields;  // yields before a sleep, if crowded; fewer after long ones. 0: never any
constexpr int kCrowded = 8, kMostCrowding = 32;
constexpr int64_t kQuietYield = 2'000, kLongYield = 300'000;  // ns

bool is_crowded() { return oversubscribed || crowding >= kCrowded; }

// The last glance saw an answer: if a yield takes a slice now, two others talk in it, and do not compute.
bool in_talk = false;

void note_yield(int64_t took) {
  static uint32_t quiet = 0;
  if (took > kLongYield) {
    if (std::exchange(in_talk, false)) return;
    crowding = std::max(0, crowding - 4);
    patience = patience / 2;
  } else if (took > kQuietYield) {
    crowding = std::min(crowding + 1, kMostCrowding);
    patience = std::min(patience + 1, kMostYields);
  } else if (++quiet % 32 == 0 || patience == 0) {
    crowding = std::max(0, crowding - 1);
    patience = std::min(patience + 1, kMostYields);
  }
}

// Without patience a wait sleeps at once; one in some yields all the same, to notice when that is over.
constexpr uint32_t kWaitsPerYield = 32;

bool yield_pays() {
  static uint32_t waits = 0;
  return patience > 0 || ++waits % kWaitsPerYield == 0;
}

// A crowded rank that waits for one process glances before it yields, if that one seems to run on another
// core just now: its answer takes a tenth of the time of a change of processes. Two that both do so keep
// talking until their slices end. If it runs but has other things to do, glances are in vain; then one wait
// in some tries again.
// Who comes back after a long absence glances whether the other is there or not: where two pairs share two
// cores, the other core is with a partner of one who has just been displaced here, and changes soon.
int hope = 8;  // rises with glances that saw something, falls with those in vain
constexpr int kMostHope = 16, kInVain = 4;
constexpr int64_t kGlance = 60'000;       // ns; a partner may have some 100 KiB to copy before it answers
constexpr uint32_t kPollsPerGlance = 4;   // between two looks at the clock
constexpr uint32_t kWaitsPerTrial = 32;   // while there is no hope
constexpr int64_t kLongAbsence = 50'000;  // ns; longer than a round of ranks that all yield
constexpr int64_t kLinger = 10'000;       // ns; some changes of processes on the other core
int64_t linger_until = 0;

bool glance_pays() {
  static uint32_t waits = 0;
  return hope > 0 || ++waits % kWaitsPerTrial == 0;
}

// Two pairs may also take turns against each other: each finds its partner away, and gives the core to one
// whose partner has just gone. One wait in some lingers, until that is rare.
constexpr int64_t kLongLinger = 40'000;  // ns; a burst of the other pair's
constexpr int64_t kOftenLingers = 8, kSeldomLingers = 1024;
int64_t waits_per_linger = kOftenLingers;
bool lingers = false;

bool begin_linger(int64_t now) {
  if (now / 64 % waits_per_linger != 0) return false;
  linger_until = now + kLongLinger;
  return lingers = true;
}

void end_linger(bool good) {
  if (!std::exchange(lingers, false)) return;
  waits_per_linger = good ? kOftenLingers : std::min(2 * waits_per_linger, kSeldomLingers);
}

void note_glance(bool good) {
  end_linger(good);
  hope = good ? std::min(hope + 1, kMostHope) : std::max(hope - kInVain, 0);
  in_talk = good;
}

// While it lives, peers see that they need not wait for us.
class Absence {
 public:
  Absence() : told_(is_crowded() ? sleeper.load() : nullptr) {
    if (told_) told_->tell_away(true);
  }
  Absence(const Absence&) = delete;
  Absence& operator=(const Absence&) = delete;
  ~Absence() {
    if (told_) told_->tell_away(false);
  }

 private:
  Sleeper* const told_;
};

// Looks in a row that found nothing. One that comes long after the one before does not count: the program
// has computed meanwhile, and does not just wait in its own way.
struct Looks {
  int64_t last = 0;  // ns; while crowded
  uint32_t fruitless = 0;
};
Looks looks;
constexpr int64_t kComputed = 20'000;       // ns between two looks
constexpr uint32_t kPatientLooks = 4;       // then each fruitless look yields, when crowded
constexpr uint32_t kLooksPerYield = 1024;   // when not, only to notice that it has become so

// Returns the time after it; `before` is the time now.
int64_t yield_core(int64_t before) {
  {
    const Absence absence;  // tells while the lock is held
    detail::LockPause pause(false);
    sched_yield();
  }
  const int64_t after = now_ns();
  note_yield(after - before);
  if (after - before > kLongAbsence) linger_until = after + kLinger;
  return after;
}

void fruitless_look() {
  ++looks.fruitless;
  if (!is_crowded()) {
    if (looks.fruitless % kLooksPerYield == 0) yield_core(now_ns());
    return;
  }
  const int64_t now = now_ns();
  if (now - looks.last > kComputed) looks.fruitless = 0;
  looks.last = now;
  if (looks.fruitless >= kPatientLooks) looks.last = yield_core(now);
}

}  // namespace

namespace detail {
bool multiple = false;
}

void add_poller(Poller* poller) {
  if (poller_count == kMostPollers) {
    VICINITY_LOG(kError, "more than %d pollers", kMostPollers);
    return;
  }
  pollers[poller_count++] = poller;
}

void remove_poller(Poller* poller) {
  Poller** end = pollers + poller_count;
  Poller** at = std::find(pollers, end, poller);
  if (at == end) return;
  std::copy(at + 1, end, at);
  --poller_count;
}

int progress() {
  int events = 0;
  for (int i = 0; i < poller_count; ++i) events += pollers[i]->poll();
  return events;
}

bool crowded() { return is_crowded(); }

void look() {
  if (progress() != 0) {
    looks.fruitless = 0;
  } else {
    fruitless_look();
  }
}

namespace detail {
void wake_sleeper() { wake(); }
}  // namespace detail

void wake() {
  if (Sleeper* one = sleeper.load()) one->wake_self();
}

void set_sleeper(Sleeper* s) { sleeper = s; }
void set_oversubscribed(bool value) {
  oversubscribed = value;
  crowding = 0;
  patience = kMostYields;
}

namespace detail {

void Waiter::begin() {
  phase_ = is_crowded() ? Phase::kGlance : Phase::kSpin;
  budget_ = phase_ == Phase::kSpin ? kPollsPerLook : 1;
  sleep_us_ = sleeper ? kShortestSleep : kShortestNap;
}

// Something came, though not what we wait for: more will follow.
void Waiter::again() {
  if (phase_ != Phase::kSpin) end();
  yields_ = 0;
  began_ = 0;
  begin();
}

void Waiter::end() {
  if (armed_) disarm();
  if (glanced_ != 0) note_glance(true);
  glanced_ = 0;
}

void Waiter::idle() {
  budget_ = 1;
  switch (phase_) {
    case Phase::kSpin:
      return spun();
    case Phase::kGlance:
      return glance();
    case Phase::kYield:
      return yield();
    case Phase::kArmed:
      return sleep();
  }
}

void Waiter::spun() {
  const int64_t now = now_ns();
  if (began_ == 0) began_ = now;
  if (now - began_ < spin_us.get() * 1000 && !is_crowded()) {
    budget_ = kPollsPerLook;
  } else {
    phase_ = Phase::kYield;
  }
}

void Waiter::glance() {
  Sleeper* const s = sleeper;
  if (whom_ == kNobody || !s || (glanced_ == 0 && !glance_pays())) return yield();
  const int64_t now = now_ns();
  if (s->is_away(whom_) && now > linger_until && (glanced_ != 0 || !begin_linger(now))) {
    end_linger(false);
    glanced_ = 0;
    return yield();
  }
  if (glanced_ == 0) glanced_ = now;
  if (now - glanced_ < kGlance) {
    budget_ = kPollsPerGlance;
    return;
  }
  note_glance(false);
  glanced_ = 0;
  yield();
}

void Waiter::yield() {
  const int64_t before = now_ns();
  const int64_t after = yield_pays() ? yield_core(before) : before;
  if (began_ == 0) began_ = before;
  ++yields_;
  const bool enough = is_crowded() || patience == 0
                          ? yields_ >= patience
                          : after - began_ > (spin_us.get() + yield_us.get()) * 1000;
  if (!enough) {
    phase_ = is_crowded() ? Phase::kGlance : Phase::kYield;
    return;
  }
  // Announce the sleep; the caller's next poll is the last look before it.
  phase_ = Phase::kArmed;
  sleeper_armed_ = sleeper;
  if (sleeper_armed_) sleeper_armed_->arm();
  armed_ = true;
}

void Waiter::sleep() {
  {
    const Absence absence;  // tells while the lock is held
    LockPause pause(true);
    if (Sleeper* s = sleeper_armed_) {
      s->sleep(sleep_us_);
    } else {
      const timespec nap{0, sleep_us_ * 1000L};
      nanosleep(&nap, nullptr);
    }
  }
  disarm();
  sleep_us_ = std::min(2 * sleep_us_, sleeper ? kLongestSleep : kLongestNap);
  // One poll, a few yields in case an answer follows a message of others, then asleep again.
  phase_ = Phase::kYield;
  yields_ = is_crowded() ? std::max(0, patience - 4) : 0;
  if (!is_crowded()) began_ = now_ns() - (spin_us.get() + yield_us.get() / 2) * 1000;
}

void Waiter::disarm() {
  armed_ = false;
  if (sleeper_armed_ && sleeper_armed_ == sleeper) sleeper_armed_->disarm();
}

}  // namespace detail
}  // namespace vicinity::base
