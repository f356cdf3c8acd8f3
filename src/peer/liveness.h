// SPDX-License-Identifier: BSD-3-Clause
// Watches over the processes that share our kernel: a pidfd each, looked at a few times a second.
//
// Normally the launcher ends the job when a rank dies. This finds it also without one, and sooner.
#pragma once

#include <poll.h>

#include <cstdint>
#include <vector>

#include "base/progress.h"
#include "channel/channel.h"

namespace vicinity::peer {

class Liveness final : public base::Poller {
 public:
  Liveness() = default;
  Liveness(const Liveness&) = delete;
  Liveness& operator=(const Liveness&) = delete;
  ~Liveness();

  // `pid` must mean in our pid namespace what it means in the peer's. 0, or why it cannot be watched: ESRCH
  // when it is gone already.
  int watch(channel::Proc proc, int pid);
  void unwatch(channel::Proc proc);
  // Called once for each that ends.
  void (*died)(channel::Proc proc) = nullptr;
  // Called as often as the lives are looked at.
  void (*also)() = nullptr;

  int poll() override {
    if (++polls_ % 256 != 0) [[likely]]
      return 0;  // one increment in the usual case, no clock
    return look();
  }
  // Looks at everybody if the last time is long enough ago.
  int look();

 private:
  void remove(size_t index);
  static constexpr int64_t kInterval = 200'000'000;  // ns

  std::vector<pollfd> descriptors_;
  std::vector<channel::Proc> procs_;
  int64_t last_ = 0;
  uint32_t polls_ = 0;
};

}  // namespace vicinity::peer
