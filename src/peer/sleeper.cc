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
#include <cerrno>
#include <climits>
#include <iterator>
#include <utility>

#include "base/log.h"
#include "channel/ring/port.h"
#include "channel/ucx/network.h"
#include "peer/liveness.h"
#include "peer/peer.h"

namespace vicinity::peer {
namespace {

constexpr int kBlindSleep = 200;   // us; nobody tells us of the network
constexpr uint32_t kPatience = 4;  // fruitless rings before every other sleep is blind

void futex(std::atomic<uint32_t>& word, int what, uint32_t value) {
  syscall(SYS_futex, &word, what, value, nullptr, nullptr, 0);
}

void nap(int us) {
  const timespec time{us / 1000000, us % 1000000 * 1000L};
  nanosleep(&time, nullptr);
}

bool can_be_woken(const channel::ring::Port* port) { return port->wakeable(); }

}  // namespace

void WatchfulSleeper::open(Liveness* liveness, std::vector<channel::ring::Port*> ports,
                           channel::ucx::Network* network) {
  liveness_ = liveness;
  ports_ = std::move(ports);
  newest_network_ = network;
  if (network && bell_ < 0) bell_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  const auto first = std::find_if(ports_.begin(), ports_.end(), can_be_woken);
  channel::ring::Port* helped = first == ports_.end() ? nullptr : *first;
  if (helped != helped_) end_helper();
  helped_ = helped;
}

WatchfulSleeper::~WatchfulSleeper() {
  end_helper();
  if (bell_ >= 0) close(bell_);
}

void WatchfulSleeper::end_helper() {
  if (!started_) return;
  ending_.store(true, std::memory_order_release);
  watching_.store(1, std::memory_order_release);
  futex(watching_, FUTEX_WAKE_PRIVATE, INT_MAX);
  eventfd_write(bell_, 1);
  pthread_join(thread_, nullptr);
  ending_.store(false, std::memory_order_relaxed);
  watching_.store(0, std::memory_order_relaxed);
  started_ = false;
}

void WatchfulSleeper::arm() {
  if (safe) safe();
  liveness_->look();
  armed_ = ports_;
  network_ = newest_network_;
  wakeable_.clear();
  std::copy_if(armed_.begin(), armed_.end(), std::back_inserter(wakeable_), can_be_woken);
  for (channel::ring::Port* port : armed_) port->arm();
  if (!network_) return;
  judge_ring();
  network_armed_ = network_->arm();
  if (network_armed_ && !wakeable_.empty() && !blind_) watch_network();
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
  for (channel::ring::Port* port : armed_) port->disarm();
}

// Who sends into a port in which we cannot be woken finds us after a nap.
void WatchfulSleeper::sleep(int timeout_us) {
  const int nap_us = std::max(50, timeout_us / 20);
  if (armed_.size() > wakeable_.size()) timeout_us = nap_us;
  if (network_ && (network_->descriptor() < 0 || blind_)) {
    timeout_us = std::min(timeout_us, kBlindSleep << std::min(fruitless_ / kPatience, 4u));
    if (wakeable_.empty()) return nap(timeout_us);
  } else if (network_ && !network_armed_) {  // something is there already
    rang_.store(true, std::memory_order_relaxed);
    return;
  }
  if (!wakeable_.empty()) return wait_in_regions(timeout_us);
  if (!network_) return nap(timeout_us);
  pollfd events[2] = {{network_->descriptor(), POLLIN, 0}, {bell_, POLLIN, 0}};
  const timespec timeout{timeout_us / 1000000, timeout_us % 1000000 * 1000L};
  ppoll(events, 2, &timeout, nullptr);
  if (events[0].revents) rang_.store(true, std::memory_order_relaxed);
  eventfd_t rings;
  if (events[1].revents) eventfd_read(bell_, &rings);
}

void WatchfulSleeper::wait_in_regions(int timeout_us) {
  static bool at_once = true;  // the kernel can
  const size_t many = std::min<size_t>(wakeable_.size(), FUTEX_WAITV_MAX);
  if (many == 1) return wakeable_[0]->sleep(timeout_us);
  if (!at_once) return wakeable_[0]->sleep(std::max(50, timeout_us / 20));
  if (many < wakeable_.size()) timeout_us = std::max(50, timeout_us / 20);
  futex_waitv words[FUTEX_WAITV_MAX];
  for (size_t i = 0; i < many; ++i) words[i] = wakeable_[i]->wake_word();
  timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_nsec += timeout_us * 1000L;
  until.tv_sec += until.tv_nsec / 1'000'000'000;
  until.tv_nsec %= 1'000'000'000;
  if (syscall(SYS_futex_waitv, words, many, 0, &until, CLOCK_MONOTONIC) < 0 && errno == ENOSYS)
    at_once = false;
}

void WatchfulSleeper::wake_self() {
  if (!wakeable_.empty()) return wakeable_[0]->wake_self();
  if (bell_ >= 0) eventfd_write(bell_, 1);
}

void WatchfulSleeper::tell_away(bool away) {
  for (channel::ring::Port* port : ports_) port->tell_away(away);
}

bool WatchfulSleeper::is_away(uint32_t process) { return peer::is_away(process); }

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
    self->helped_->wake_self();
  }
}

}  // namespace vicinity::peer
