// SPDX-License-Identifier: BSD-3-Clause
// How this process sleeps: in all regions' parks at once, on the network's descriptor, or both.
//
// In several regions of one kernel we wait for several futexes at once (futex_waitv, Linux 5.16; before that
// sleeps are naps). A futex and a descriptor cannot be waited for at once, so where there are both a helper
// thread watches the descriptor while we sleep, and wakes us as a peer in the region would. It touches
// nothing of UCX.
//
// The descriptor may ring all the time although there is nothing to be had: while a connection is being
// made, until the other side answers. Who then polls and sleeps in turns takes the core that the other
// side needs. So after some such rings every other sleep is blind: it heeds only its time.
#pragma once

#include <pthread.h>

#include <atomic>
#include <vector>

#include "base/progress.h"

namespace vicinity::channel::ring {
class Port;
}
namespace vicinity::channel::ucx {
class Network;
}

namespace vicinity::peer {

class Liveness;

class WatchfulSleeper final : public base::Sleeper {
 public:
  WatchfulSleeper() = default;
  WatchfulSleeper(const WatchfulSleeper&) = delete;
  WatchfulSleeper& operator=(const WatchfulSleeper&) = delete;
  ~WatchfulSleeper();

  // Once at the start, and again whenever regions or the network have come or gone, also while another thread
  // sleeps: it goes on in those that were there when it armed. `network` may be nullptr. Before each sleep
  // there is a look at who is still alive.
  void open(Liveness* liveness, std::vector<channel::ring::Port*> ports, channel::ucx::Network* network);
  // Called when nobody sleeps: what has been left out of the newest open() may be destroyed.
  void (*safe)() = nullptr;

  void arm() override;
  void disarm() override;
  void sleep(int timeout_us) override;
  void wake_self() override;
  void tell_away(bool away) override;
  bool is_away(uint32_t process) override;

 private:
  static void* watch(void* self);
  void watch_network();
  void judge_ring();
  void wait_in_regions(int timeout_us);
  void end_helper();

  Liveness* liveness_ = nullptr;
  std::vector<channel::ring::Port*> ports_;          // as of the newest open()
  std::vector<channel::ring::Port*> armed_;          // of the sleep that has been announced
  std::vector<channel::ring::Port*> wakeable_;       // those of them in which we can be woken
  channel::ucx::Network* newest_network_ = nullptr;  // as of the newest open()
  channel::ucx::Network* network_ = nullptr;         // of the sleep that has been announced
  bool network_armed_ = false;
  bool blind_ = false;       // this sleep
  uint32_t fruitless_ = 0;   // rings after which the network had nothing
  uint64_t progressed_ = 0;  // Network::progressed() at the last arm()
  std::atomic<bool> rang_{false};
  channel::ring::Port* helped_ = nullptr;  // in whose region the helper wakes us
  int bell_ = -1;  // eventfd: ends the sleep of another thread of ours, and the helper
  // The helper.
  bool started_ = false;
  pthread_t thread_{};
  std::atomic<uint32_t> watching_{0};  // 1: it watches; futex
  std::atomic<bool> ending_{false};
};

}  // namespace vicinity::peer
