// SPDX-License-Identifier: BSD-3-Clause
// The hosts of the Slurm allocation around us, from its variables alone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "launch/options.h"

namespace vicinity::launch {

// "n[1-3,07],login" -> n1 n2 n3 n07 login, as `scontrol show hostnames` prints.
base::Result<std::vector<std::string>> expand_node_list(std::string_view list);
// "4(x2),1" -> 4 4 1.
base::Result<std::vector<int>> expand_counts(std::string_view text);

// Inside of an allocation, when the command line names no host: its nodes are the hosts, with as many slots
// as Slurm has planned tasks there (else processors), and srun reaches them unless another way was chosen.
base::Status adopt_allocation(Options& options);

}  // namespace vicinity::launch
