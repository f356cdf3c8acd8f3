// SPDX-License-Identifier: BSD-3-Clause
// A request to start processes, as MPI_Comm_spawn_multiple describes them.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace vicinity::wireup {

using Pairs = std::vector<std::pair<std::string, std::string>>;

struct SpawnCommand {
  int processes = 1;
  std::vector<std::string> argv;  // the program first
  Pairs info;                     // what the user says: wdir, path, host, ...
};

// The key under which spawned processes find the port of those who have spawned them.
inline constexpr const char* kParentPort = "PARENT_ROOT_PORT_NAME";
// The key under which who has spawned processes with this port finds why they will never come.
std::string spawn_failure_key(const std::string& port);

}  // namespace vicinity::wireup
