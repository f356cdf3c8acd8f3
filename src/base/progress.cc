// SPDX-License-Identifier: BSD-3-Clause
// The progress loop, the adaptive wait, and the engine lock.
#include "base/progress.h"

#include <sched.h>
#include <time.h>

#include <mutex>

#include "base/clock.h"

namespace vicinity::base {
namespace {

List<Poller, &Poller::link> pollers;
Sleeper* sleeper = nullptr;
bool oversubscribed = false;
bool multiple = false;

}  // namespace

EngineLock engine_lock;

void add_poller(Poller* poller) { pollers.push_back(poller); }
void remove_poller(Poller* poller) { pollers.remove(poller); }

int progress() {
  int events = 0;
  for (Poller* poller = pollers.front(); poller; poller = pollers.after(poller)) events += poller->poll();
  return events;
}

void set_sleeper(Sleeper* s) { sleeper = s; }
void set_oversubscribed(bool value) { oversubscribed = value; }
void set_threads_multiple(bool value) { multiple = value; }
bool threads_multiple() { return multiple; }

void EngineLock::lock() {}
void EngineLock::unlock() {}

namespace detail {

void idle(uint32_t& round) {
  ++round;
  if (oversubscribed || round % 64 == 0) {
    sched_yield();
  } else {
    cpu_relax();
  }
}

}  // namespace detail
}  // namespace vicinity::base
