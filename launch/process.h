// SPDX-License-Identifier: BSD-3-Clause
// Starting and ending processes.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "launch/start.h"

namespace vicinity::launch {

// A descriptor that is closed when its owner goes.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    reset(other.release());
    return *this;
  }
  ~Descriptor() { reset(); }
  int get() const { return fd_; }
  bool open() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void reset(int fd = -1);

 private:
  int fd_ = -1;
};

struct Child {
  pid_t pid = -1;
  Descriptor pmi, input, output, error;  // our ends; not blocking
};

struct ChildPlan {
  const App* app = nullptr;
  std::vector<std::string> environment;  // complete, but for PMI_FD
  bool has_stdin = false;
  bool bind = false;
  cpu_set_t cpus{};
};

// Starts one rank: in a process group of its own, killed by the kernel when this process ends. Fails,
// with words that name the program, when it cannot be executed; the class is then the exit
// code: kNotFound or kNotExecutable.
inline constexpr int kNotFound = 127, kNotExecutable = 126;
base::Result<Child> start_child(const ChildPlan& plan);

// SIGKILL for every process that descends from this one. Returns how many were alive: call it, and reap,
// until there is none.
int kill_descendants();
inline constexpr int kKillPasses = 200, kKillPauseUs = 2000;

// Ignores SIGPIPE, becomes the parent of orphaned descendants, and blocks the signals of `set` for signalfd.
Descriptor open_signals(const std::vector<int>& signals);
void undo_signals_in_child();

std::string signal_name(int signal);  // "SIGKILL"

}  // namespace vicinity::launch
