// SPDX-License-Identifier: BSD-3-Clause
// Lists of runs of a file as they travel between processes: groups of equally long runs at equal distances,
// so that a regular pattern is a few numbers. Runs of a list rise and do not overlap.
#pragma once

#include <cstdint>

#include "io/view.h"
#include "object/growing.h"

namespace vicinity::io {

// `times` runs of `bytes`, each `gap` after the end of the one before (the first: after the start of the
// window).
struct RunGroup {
  int64_t gap, bytes, times;
};
static_assert(sizeof(RunGroup) == 24, "groups travel as bytes");

// A part of the file: [begin, end).
struct Window {
  int64_t begin = 0, end = 0;
  bool empty() const { return begin >= end; }
};

class RunList {
 public:
  void clear(int64_t begin) {
    groups_.clear();
    end_ = begin;
    bytes_ = 0;
  }
  // REQUIRES: `offset` is not before the end of the last run.
  void add(int64_t offset, int64_t bytes);
  bool failed() const { return groups_.failed(); }
  int64_t bytes() const { return bytes_; }
  const RunGroup* groups() const { return groups_.begin(); }
  size_t size() const { return groups_.size(); }

 private:
  object::Growing<RunGroup> groups_;
  int64_t end_ = 0, bytes_ = 0;
};

// Do these groups, of whoever, stay within the window, and hold `bytes` in all?
bool valid(const RunGroup* groups, size_t count, Window window, int64_t bytes);

// Calls each(offset, bytes) for each run. REQUIRES: valid().
template <class Each>
void for_each_run(const RunGroup* groups, size_t count, int64_t begin, Each&& each) {
  for (size_t i = 0; i < count; ++i) {
    const RunGroup group = groups[i];
    for (int64_t n = 0; n < group.times; ++n) {
      begin += group.gap;
      each(begin, group.bytes);
      begin += group.bytes;
    }
  }
}

// The runs of an orderly view from one position of its stream to another, window by window.
class WindowRuns {
 public:
  WindowRuns(const View& view, int64_t stream, int64_t end) : runs_(view, stream), left_(end - stream) {}
  // What lies before window.end and has not been told yet. False: offsets end here.
  bool list(Window window, RunList* runs);

 private:
  FileRuns runs_;
  int64_t left_;                      // of the stream, not yet fetched
  int64_t offset_ = 0, pending_ = 0;  // a run that goes on beyond the last window
};

}  // namespace vicinity::io
