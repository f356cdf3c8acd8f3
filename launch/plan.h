// SPDX-License-Identifier: BSD-3-Clause
// Which rank runs which program on which host.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "launch/options.h"

namespace vicinity::launch {

struct PlannedRank {
  int host = 0;  // index into Plan::hosts
  int app = 0;   // index into the segments
};

struct Plan {
  std::vector<std::string> hosts;  // those that have ranks, in the order of their first rank
  std::vector<PlannedRank> ranks;
  int universe_size = 0;
};

base::Result<Plan> make_plan(const Options& options);

// Hydra's PMI_process_mapping: "(vector,(host,hosts,ranks)...)" says in blocks where ranks are.
std::string process_mapping(const Plan& plan);

}  // namespace vicinity::launch
