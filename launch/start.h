// SPDX-License-Identifier: BSD-3-Clause
// What a proxy has to know about the job and about its ranks: the payload of a kStart frame.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "launch/frame.h"
#include "wireup/spawn.h"

namespace vicinity::launch {

inline constexpr const char* kHello = "vicinity proxy 1";

struct App {
  std::vector<std::string> argv;
  std::vector<std::string> environment;  // NAME=VALUE
  std::string directory;                 // "": where the proxy is
  std::string path;                      // folders to search for the program before PATH
};

struct LocalRank {
  int rank = 0;
  int app = 0;
  bool has_stdin = false;
};

struct Start {
  std::string job;
  std::string host;     // as the user named it
  std::string mapping;  // PMI_process_mapping
  int size = 0;
  int universe_size = 0;
  std::string bind_to;  // "" default, or a choice of -bind-to
  std::string map_by;
  bool keep_environment = false;  // other host: its own environment stays below the one sent
  bool claim_cpus = true;
  bool verbose = false;
  wireup::Pairs preput;  // values that ranks find in the store; a job that was spawned has some
  bool recovery = false;
  std::vector<App> apps;
  std::vector<LocalRank> ranks;

  std::string encode() const;  // a whole frame
  static base::Result<Start> decode(std::string_view payload);
};

// What a rank asks for when its program spawns others.
struct SpawnRequest {
  int rank = 0;
  std::vector<wireup::SpawnCommand> commands;
  wireup::Pairs preput;

  std::string encode() const;  // a whole frame
  static base::Result<SpawnRequest> decode(std::string_view payload);
};

}  // namespace vicinity::launch
