// SPDX-License-Identifier: BSD-3-Clause
// Output of the ranks on its way to mpiexec's own: whole lines, so that those of several ranks never mix.
// A line without an end (a prompt) is shown when its rank has been silent for a moment or has ended.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "launch/process.h"

namespace vicinity::launch {

// Where lines end up: one of mpiexec's own streams. Pure but for write_some().
class Sink {
 public:
  explicit Sink(int fd) : fd_(fd) {}
  // `source` names who writes; `text` is whole lines, or with `partial` the beginning of one.
  void add(int source, std::string_view label, std::string_view text, bool partial);
  int fd() const { return fd_; }
  const std::string& waiting() const { return waiting_; }
  bool write_some();  // one write(2); false when the stream is broken
  void write_all();

 private:
  int fd_;
  int open_line_of_ = -1;  // whose unfinished line is the last thing written
  std::string waiting_;
};

class Output {
 public:
  struct Settings {
    bool label = false;
    std::string output_pattern, error_pattern;
  };
  Output(const Settings& settings, int ranks);
  base::Status open_files();
  // Processes that were spawned, numbered after all others; their lines are labelled `job:rank`.
  void add(int ranks, int job);

  void take(int rank, int stream, std::string_view text, int64_t now_ns);
  void rank_ended(int rank);
  void show_idle(int64_t now_ns);  // lines that have waited long enough for their end
  int64_t next_show_ns() const;    // when show_idle() has something to do; 0: nothing waits
  // Above this much unwritten, nobody's output is read any more.
  bool congested() const { return out_.waiting().size() + error_.waiting().size() > (1u << 20); }
  Sink& sink(int stream) { return stream == 1 ? out_ : error_; }
  void finish();

 private:
  struct Source {
    std::string label;  // without brackets
    std::string partial;
    int64_t since_ns = 0;
    Descriptor file;
  };
  Source& source(int rank, int stream) {
    return sources_[static_cast<size_t>(rank) * 2 + static_cast<size_t>(stream - 1)];
  }
  base::Status open_file(size_t index);
  std::string label(int rank);
  void show_partial(int rank, int stream);

  Settings settings_;
  std::vector<Source> sources_;
  size_t partials_ = 0;  // how many sources hold an unfinished line
  Sink out_{1}, error_{2};
};

}  // namespace vicinity::launch
