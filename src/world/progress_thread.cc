// SPDX-License-Identifier: BSD-3-Clause
// One thread that waits, as any call that waits does: it polls, and sleeps when nothing happens until a peer
// wakes it. While the program itself waits in MPI it stands aside.
#include "world/progress_thread.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <atomic>
#include <cstring>

#include "base/log.h"
#include "base/param.h"
#include "base/progress.h"
#include "world/instance.h"

namespace vicinity::world {
namespace {

base::Param<bool> progress_thread{
    "VICINITY_PROGRESS_THREAD", "base", false,
    "Keep a thread that moves messages and nonblocking collectives on while the program computes outside "
    "MPI. "
    "It costs processor time whenever there is something to do, and every call becomes a little slower."};

constexpr long kAside_ns = 200'000;

pthread_t thread;
bool running = false;
std::atomic<bool> stopping{false};

void nap() {
  const timespec time{0, kAside_ns};
  nanosleep(&time, nullptr);
}

void* run(void*) {
  const auto stop = [] { return stopping.load(std::memory_order_relaxed); };
  while (!stop()) {
    base::engine_lock.lock();
    base::wait_until([&] { return stop() || base::others_wait(); });
    base::engine_lock.unlock();
    if (!stop()) nap();
  }
  return nullptr;
}

}  // namespace

bool wants_progress_thread() { return progress_thread.get(); }

void start_progress_thread() {
  if (running || !wants_progress_thread() || !instance().connected) return;
  stopping.store(false, std::memory_order_relaxed);
  // Signals are for the program's own threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error = pthread_create(&thread, nullptr, run, nullptr);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  running = error == 0;
  if (!running)
    VICINITY_LOG(kWarn,
                 "VICINITY_PROGRESS_THREAD: no thread can be started (%s); progress is made in calls only",
                 std::strerror(error));
}

void stop_progress_thread() {
  if (!running) return;
  stopping.store(true, std::memory_order_relaxed);
  pthread_join(thread, nullptr);  // it looks at least every 10 ms
  running = false;
}

WithoutProgressThread::~WithoutProgressThread() {
  if (instance().users > 0) start_progress_thread();
}

}  // namespace vicinity::world
