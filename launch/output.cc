// SPDX-License-Identifier: BSD-3-Clause
// Lines are put together here and written in pieces that a pipe takes without blocking.
#include "launch/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace vicinity::launch {
namespace {

constexpr int64_t kIdleNs = 200'000'000;
constexpr size_t kPartialLimit = 64 * 1024;  // a "line" longer than this is passed on in pieces
// A pipe or terminal that poll() calls writable takes this much without blocking.
constexpr size_t kWriteBytes = 4096;

std::string file_name(const std::string& pattern, const std::string& rank) {
  const size_t at = pattern.find("%r");
  if (at == std::string::npos) return pattern + "." + rank;
  return pattern.substr(0, at) + rank + pattern.substr(at + 2);
}

void write_file(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t done = write(fd, text.data(), text.size());
    if (done < 0 && errno != EINTR) return;
    if (done > 0) text.remove_prefix(static_cast<size_t>(done));
  }
}

}  // namespace

void Sink::add(int source, std::string_view label, std::string_view text, bool partial) {
  if (open_line_of_ >= 0 && open_line_of_ != source) waiting_ += '\n';
  bool at_start = open_line_of_ != source;
  while (!text.empty()) {
    if (at_start) waiting_ += label;
    const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    waiting_ += text.substr(0, end);
    text.remove_prefix(end);
    at_start = true;
  }
  open_line_of_ = partial ? source : -1;
}

bool Sink::write_some() {
  const ssize_t done = write(fd_, waiting_.data(), std::min(waiting_.size(), kWriteBytes));
  if (done < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (done < 0) {
    waiting_.clear();
    return false;
  }
  waiting_.erase(0, static_cast<size_t>(done));
  return true;
}

void Sink::write_all() {
  while (!waiting_.empty()) {
    pollfd room{fd_, POLLOUT, 0};
    poll(&room, 1, 1000);
    if (!write_some()) return;
  }
}

Output::Output(const Settings& settings, int ranks)
    : settings_(settings), sources_(static_cast<size_t>(ranks) * 2) {
  for (size_t i = 0; i < sources_.size(); ++i) sources_[i].label = std::to_string(i / 2);
}

base::Status Output::open_file(size_t index) {
  Source& from = sources_[index];
  const std::string& pattern = index % 2 ? settings_.error_pattern : settings_.output_pattern;
  if (pattern.empty()) return base::kOk;
  const std::string name = file_name(pattern, from.label);
  from.file.reset(open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (from.file.open()) return base::kOk;
  return base::fail(base::kArgument, "cannot write output file `%s`: %s", name.c_str(), strerror(errno));
}

base::Status Output::open_files() {
  for (size_t i = 0; i < sources_.size(); ++i)
    if (base::Status status = open_file(i); !status.ok()) return status;
  return base::kOk;
}

void Output::add(int ranks, int job) {
  for (int rank = 0; rank < ranks; ++rank)
    for (int stream = 0; stream < 2; ++stream) {
      sources_.emplace_back();
      sources_.back().label = std::to_string(job) + ":" + std::to_string(rank);
      // What cannot be written to a file is shown.
      if (!open_file(sources_.size() - 1).ok()) base::forget_failure();
    }
}

std::string Output::label(int rank) { return settings_.label ? "[" + source(rank, 1).label + "] " : ""; }

void Output::take(int rank, int stream, std::string_view text, int64_t now_ns) {
  Source& from = source(rank, stream);
  if (from.file.open()) return write_file(from.file.get(), text);
  const int key = rank * 2 + stream;
  const std::string label = this->label(rank);
  // With one process nothing can mix, so nothing waits.
  if (sources_.size() == 2 && !settings_.label)
    return sink(stream).add(key, label, text, text.back() != '\n');
  if (const size_t end = text.rfind('\n'); end != text.npos) {
    if (!from.partial.empty()) --partials_;
    from.partial += text.substr(0, end + 1);
    sink(stream).add(key, label, from.partial, false);
    from.partial.clear();
    text.remove_prefix(end + 1);
  }
  if (text.empty()) return;
  if (from.partial.empty()) ++partials_;
  from.partial += text;
  from.since_ns = now_ns;
  if (from.partial.size() > kPartialLimit) show_partial(rank, stream);
}

void Output::show_partial(int rank, int stream) {
  Source& from = source(rank, stream);
  if (from.partial.empty()) return;
  sink(stream).add(rank * 2 + stream, label(rank), from.partial, true);
  from.partial.clear();
  --partials_;
}

void Output::rank_ended(int rank) {
  show_partial(rank, 1);
  show_partial(rank, 2);
}

void Output::show_idle(int64_t now_ns) {
  if (partials_ == 0) return;
  for (size_t i = 0; i < sources_.size(); ++i)
    if (!sources_[i].partial.empty() && now_ns - sources_[i].since_ns >= kIdleNs)
      show_partial(static_cast<int>(i / 2), static_cast<int>(i % 2) + 1);
}

int64_t Output::next_show_ns() const {
  if (partials_ == 0) return 0;
  int64_t first = INT64_MAX;
  for (const Source& from : sources_)
    if (!from.partial.empty()) first = std::min(first, from.since_ns + kIdleNs);
  return first;
}

void Output::finish() {
  for (size_t i = 0; i < sources_.size(); ++i)
    show_partial(static_cast<int>(i / 2), static_cast<int>(i % 2) + 1);
  out_.write_all();
  error_.write_all();
}

}  // namespace vicinity::launch
