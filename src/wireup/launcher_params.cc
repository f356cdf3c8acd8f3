// SPDX-License-Identifier: BSD-3-Clause
// Declared once for the library, mpiexec and `vicinity params`.
#include "wireup/launcher_params.h"

namespace vicinity::wireup {

base::Param<std::string> param_wireup{
    "VICINITY_WIREUP", "wireup", "auto", "auto|alone|pmi1|pmi2|pmix",
    "How a process meets the others of its job. auto: whatever launcher its environment tells of; the "
    "others insist on one protocol, or on being alone."};

base::Param<std::string> param_mpiexec{
    "VICINITY_MPIEXEC", "wireup", "", nullptr,
    "Set by mpiexec in the environment of the processes it starts, to its version; not for users."};

base::Param<std::string> param_parent_port{"VICINITY_PARENT_PORT", "wireup", "", nullptr,
                                           "Set in the environment of processes that are spawned through "
                                           "PMIx: where those are who have spawned them; "
                                           "not for users."};

base::Param<std::string> param_launcher{"VICINITY_LAUNCHER", "launch", "ssh", nullptr,
                                        "How mpiexec reaches other hosts: ssh, srun (the default inside of "
                                        "a Slurm allocation), or a command that is called as `COMMAND host "
                                        "program arguments...`. Same as the option -launcher-exec."};

base::Param<int64_t> param_start_timeout_s{
    "VICINITY_START_TIMEOUT_S",
    "launch",
    60,
    1,
    86400,
    "How many seconds a host has to answer, before mpiexec gives the job up. ssh gives up a connection after "
    "a sixth of it."};

base::Param<int64_t> param_grace_ms{"VICINITY_KILL_GRACE_MS",
                                    "launch",
                                    400,
                                    0,
                                    60000,
                                    "When a job has to end early: milliseconds between SIGTERM and SIGKILL."};

base::Param<bool> param_claim_cpus{
    "VICINITY_CLAIM_CPUS", "launch", true,
    "Should mpiexec keep its cores apart from those of other jobs on the same host? It holds locks on "
    "files in /dev/shm/vicinity-cpus."};

base::Param<bool> param_recovery{
    "VICINITY_RECOVERY", "wireup", false,
    "Does the job go on when one of its processes dies? mpiexec -enable-recovery sets it. Under another "
    "launcher set it for all processes, with the option of that launcher that leaves the others alone."};

}  // namespace vicinity::wireup
