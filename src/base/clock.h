// SPDX-License-Identifier: BSD-3-Clause
// Time. now_ns() is CLOCK_MONOTONIC through the vDSO: about 20 ns, no system call.
#pragma once

#include <time.h>

#include <algorithm>
#include <cstdint>

namespace vicinity::base {

inline int64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return int64_t{t.tv_sec} * 1000000000 + t.tv_nsec;
}

// For how long to look for what may never come. Only time in which one looks again and again counts: where
// the whole machine has stood still for a minute, nobody has waited for anybody.
class Patience {
 public:
  explicit Patience(int64_t ns, int64_t now = now_ns()) : left_(ns), looked_(now) {}
  // To be asked at every look.
  bool over(int64_t now = now_ns()) {
    left_ -= std::min(now - looked_, kRarest);
    looked_ = now;
    return left_ <= 0;
  }

 private:
  static constexpr int64_t kRarest = 1'000'000'000;  // from look to look
  int64_t left_, looked_;
};

inline void cpu_relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace vicinity::base
