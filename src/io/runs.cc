// SPDX-License-Identifier: BSD-3-Clause
// Making lists of runs, and checking those of others.
#include "io/runs.h"

#include <algorithm>

namespace vicinity::io {

void RunList::add(int64_t offset, int64_t bytes) {
  const int64_t gap = offset - end_;
  end_ = offset + bytes;
  bytes_ += bytes;
  if (!groups_.empty()) {
    RunGroup& last = groups_.back();
    if (gap == 0 && last.times == 1) {
      last.bytes += bytes;
      return;
    }
    if (last.gap == gap && last.bytes == bytes) {
      ++last.times;
      return;
    }
  }
  groups_.push_back({gap, bytes, 1});
}

bool valid(const RunGroup* groups, size_t count, Window window, int64_t bytes) {
  int64_t at = window.begin, sum = 0;
  for (size_t i = 0; i < count; ++i) {
    const RunGroup group = groups[i];
    int64_t step = 0, all = 0;
    if (group.gap < 0 || group.bytes <= 0 || group.times <= 0) return false;
    if (__builtin_add_overflow(group.gap, group.bytes, &step)) return false;
    if (__builtin_mul_overflow(step, group.times, &all) || all > window.end - at) return false;
    at += all;
    sum += group.bytes * group.times;
  }
  return sum == bytes;
}

bool WindowRuns::list(Window window, RunList* runs) {
  runs->clear(window.begin);
  for (;;) {
    if (pending_ == 0) {
      if (left_ == 0) return true;
      if (!runs_.next(left_, &offset_, &pending_)) return false;
      left_ -= pending_;
    }
    if (offset_ >= window.end) return true;
    const int64_t some = std::min(pending_, window.end - offset_);
    runs->add(offset_, some);
    offset_ += some;
    pending_ -= some;
  }
}

}  // namespace vicinity::io
