// SPDX-License-Identifier: BSD-3-Clause
// The command line of mpiexec.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "launch/environment.h"
#include "launch/hostfile.h"

namespace vicinity::launch {

// One program of the command line (MPMD: several, separated by `:`).
struct Segment {
  int ranks = 0;  // 0: not given
  std::vector<Host> hosts;
  std::string directory;
  std::string path;
  EnvironmentOptions environment;
  std::vector<std::string> argv;
};

inline constexpr int kStdinAll = -1, kStdinNone = -2;

struct Options {
  std::vector<Segment> segments;
  EnvironmentOptions environment;  // for all programs
  int ranks_per_host = 0;          // -ppn
  std::string bind_to, map_by;
  int stdin_rank = 0;
  bool label = false;
  std::string output_pattern, error_pattern;
  double timeout_s = 0;
  std::string launcher;  // "": VICINITY_LAUNCHER
  int universe_size = 0;
  bool verbose = false;
  bool recovery = false;  // the job goes on when a process dies
  bool help = false;
  bool version = false;
};

// Pure, but for host files, which are read.
base::Result<Options> parse_options(const std::vector<std::string>& words);
std::string help_text();

}  // namespace vicinity::launch
