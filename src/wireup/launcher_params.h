// SPDX-License-Identifier: BSD-3-Clause
// Parameters of starting jobs. They are declared in the library too, because a job's processes inherit
// what was meant for mpiexec, and a name that the library does not know gets a warning.
#pragma once

#include "base/param.h"

namespace vicinity::wireup {

extern base::Param<std::string> param_wireup;       // which protocol: VICINITY_WIREUP
extern base::Param<std::string> param_mpiexec;      // set by our mpiexec: VICINITY_MPIEXEC
extern base::Param<std::string> param_parent_port;  // VICINITY_PARENT_PORT
extern base::Param<std::string> param_launcher;     // how remote hosts are reached: VICINITY_LAUNCHER
extern base::Param<int64_t> param_start_timeout_s;  // VICINITY_START_TIMEOUT_S
extern base::Param<int64_t> param_grace_ms;         // VICINITY_KILL_GRACE_MS
extern base::Param<bool> param_claim_cpus;          // VICINITY_CLAIM_CPUS
extern base::Param<bool> param_recovery;            // does the job outlive a process: VICINITY_RECOVERY

}  // namespace vicinity::wireup
