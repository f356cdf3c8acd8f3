// SPDX-License-Identifier: BSD-3-Clause
// Arming, sleeping, and the helper thread.
#include "peer/sleeper.h"

#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <utility>

#include "base/log.h"
#include "channel/ring/port.h"
#include "channel/ucx/network.h"
#include "peer/liveness.h"

namespace vicinity::peer {
namespace {

constexpr int kBlindSleep = 200;      // us; nobody tells us of the network
constexpr uint32_t kPatience = 4;     // fruitless rings before every other sleep is blind

void futex(std::atomic<uint32_t>& word, int what, uint32_t value) {
  syscall(SYS_futex, &word, what, value, nullptr, nullptr, 0);
}

void nap(int us) {
  const timespec time{us / 1000000, us % 1000000 * 1000L};
  nanosleep(&time, nullptr);
}

}  // namespace

void WatchfulSleeper::open(Liveness* liveness, std::vector<channel::ring::Port*> ports,
                           channel::ring::Port* wakeable, channel::ucx::Network* network) {
  liveness_ = liveness;
  ports_ = std::move(ports);
  wakeable_ = wakeable;
  network_ = network;
  if (network) bell_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

WatchfulSleeper::~WatchfulSleeper() {
  if (started_) {
    ending_.store(true, std::memory_order_release);
    watching_.store(1, std::memory_order_release);
    futex(watching_, FUTEX_WAKE_PRIVATE, INT_MAX);
    eventfd_write(bell_, 1);
    pthread_join(thread_, nullptr);
  }
  if (bell_ >= 0) close(bell_);
}

void WatchfulSleeper::arm() {
  liveness_->look();
  for (channel::ring::Port* port : ports_) port->arm();
  if (!network_) return;
  judge_ring();
  network_armed_ = network_->arm();
  if (network_armed_ && wakeable_ && !blind_) watch_network();
}

// Was it for something that we woke?
void WatchfulSleeper::judge_ring() {
  const uint64_t now = network_->progressed();
  if (now != std::exchange(progressed_, now)) {
    fruitless_ = 0;
  } else if (rang_.load(std::memory_order_relaxed)) {
    ++fruitless_;
  }
  rang_.store(false, std::memory_order_relaxed);
  blind_ = fruitless_ >= kPatience && !blind_;
}

void WatchfulSleeper::disarm() {
  for (channel::ring::Port* port : ports_) port->disarm();
}

// Who sends into a port in which we cannot be woken finds us after a nap.
void WatchfulSleeper::sleep(int timeout_us) {
  if (ports_.size() > (wakeable_ ? 1 : 0)) timeout_us = std::max(50, timeout_us / 20);
  if (network_ && (network_->descriptor() < 0 || blind_)) {
    timeout_us = std::min(timeout_us, kBlindSleep << std::min(fruitless_ / kPatience, 4u));
    if (!wakeable_) return nap(timeout_us);
  } else if (network_ && !network_armed_) {  // something is there already
    rang_.store(true, std::memory_order_relaxed);
    return;
  }
  if (wakeable_) return wakeable_->sleep(timeout_us);
  if (!network_) return nap(timeout_us);
  pollfd events[2] = {{network_->descriptor(), POLLIN, 0}, {bell_, POLLIN, 0}};
  const timespec timeout{timeout_us / 1000000, timeout_us % 1000000 * 1000L};
  ppoll(events, 2, &timeout, nullptr);
  if (events[0].revents) rang_.store(true, std::memory_order_relaxed);
  eventfd_t rings;
  if (events[1].revents) eventfd_read(bell_, &rings);
}

void WatchfulSleeper::wake_self() {
  if (wakeable_) return wakeable_->wake_self();
  if (bell_ >= 0) eventfd_write(bell_, 1);
}

// The helper watches from now on, until something comes.
void WatchfulSleeper::watch_network() {
  if (!started_) {
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);  // the program's signals are for the program's threads
    started_ = pthread_create(&thread_, nullptr, watch, this) == 0;
    pthread_sigmask(SIG_SETMASK, &old, nullptr);
    if (!started_) {
      VICINITY_LOG(kInfo, "no thread to watch the network: sleeps are short");
      network_armed_ = false;
      return;
    }
  }
  // SYNC POINT WATCH (release): pairs with the helper's acquire; it reads only what was set before it began.
  if (watching_.exchange(1, std::memory_order_release) == 0) futex(watching_, FUTEX_WAKE_PRIVATE, 1);
}

void* WatchfulSleeper::watch(void* arg) {
  auto* self = static_cast<WatchfulSleeper*>(arg);
  pollfd events[2] = {{self->network_->descriptor(), POLLIN, 0}, {self->bell_, POLLIN, 0}};
  for (;;) {
    while (self->watching_.load(std::memory_order_acquire) == 0)  // SYNC POINT WATCH (acquire)
      futex(self->watching_, FUTEX_WAIT_PRIVATE, 0);
    if (self->ending_.load(std::memory_order_acquire)) return nullptr;
    ::poll(events, 2, -1);
    if (self->ending_.load(std::memory_order_acquire)) return nullptr;
    self->rang_.store(true, std::memory_order_relaxed);
    self->watching_.store(0, std::memory_order_release);
    self->wakeable_->wake_self();
  }
}

}  // namespace vicinity::peer
