// SPDX-License-Identifier: BSD-3-Clause
// Which launcher started this process? Decided from the environment alone, in this order:
//   PMI_FD or PMI_PORT   PMI: ours and Hydra speak version 1, Slurm version 2
//   PMIX_NAMESPACE       PMIx
//   otherwise            alone
// PMI comes first, because an mpiexec inside a Slurm or PRRTE job inherits the PMIx variables of the
// job around it (ours removes them).
#include <cstdlib>
#include <cstring>

#include "base/log.h"
#include "wireup/kvs.h"
#include "wireup/launcher_params.h"

namespace vicinity::wireup {
namespace {

using base::fail;
using base::kOther;
using base::Result;
using base::Status;

Result<int> number_of(const char* name) {
  const char* text = std::getenv(name);
  if (!text) return fail(kOther, "the launcher set PMI_FD but not %s", name);
  auto number = parse_number(text);
  if (!number.ok()) return fail(kOther, "%s=%.40s is not a number", name, text);
  return number;
}

Status read_rank_and_size(Identity& identity) {
  const char* rank_name = std::getenv("PMI_RANK") ? "PMI_RANK" : "PMI_ID";
  auto rank = number_of(rank_name);
  if (!rank.ok()) return rank.status();
  auto size = number_of("PMI_SIZE");
  if (!size.ok()) return size.status();
  if (*size < 1 || *rank < 0 || *rank >= *size)
    return fail(kOther, "%s=%d and PMI_SIZE=%d do not fit together", rank_name, *rank, *size);
  identity.rank = *rank;
  identity.size = *size;
  return base::kOk;
}

bool slurm_serves_pmi2() {
  // Slurm's step daemon names the job in PMI_JOBID; Hydra and our mpiexec do not.
  return std::getenv("PMI_JOBID") && std::getenv("SLURM_STEP_ID") && !std::getenv("HYDI_CONTROL_FD");
}

const char* pmi_launcher(bool version2) {
  if (std::getenv("VICINITY_MPIEXEC")) return "vicinity";
  const bool slurm = std::getenv("SLURM_STEP_ID") && std::getenv("PMI_JOBID");
  if (version2) return slurm ? "slurm-pmi2" : "pmi2";
  return slurm ? "slurm-pmi1" : "hydra";
}

Result<std::unique_ptr<Wireup>> open_fd(const char* text, bool version2) {
  auto fd = parse_number(text);
  if (!fd.ok() || *fd < 0) return fail(kOther, "PMI_FD=%.40s is not a descriptor", text);
  Identity identity;
  VICINITY_TRY(read_rank_and_size(identity));
  identity.launcher = pmi_launcher(version2);
  if (const char* job = std::getenv("PMI_JOBID")) identity.job = job;
  return version2 ? open_pmi2(*fd, identity) : open_pmi1(*fd, identity, nullptr);
}

Result<std::unique_ptr<Wireup>> open_port(const char* address) {
  const char* id = std::getenv("PMI_ID");
  if (!id) return fail(kOther, "the launcher set PMI_PORT=%.100s but not PMI_ID", address);
  auto fd = connect_port(address);
  if (!fd.ok()) return fd.status();
  Identity identity;
  identity.launcher = pmi_launcher(false);
  return open_pmi1(*fd, identity, id);
}

// srun without --mpi starts processes that cannot find each other; each would believe to be alone.
void warn_of_lonely_crowd() {
  const char* tasks = std::getenv("SLURM_STEP_NUM_TASKS");
  if (tasks && std::strtol(tasks, nullptr, 10) > 1 && std::getenv("SLURM_PROCID") &&
      std::strcmp(std::getenv("SLURM_PROCID"), "0") == 0)
    VICINITY_LOG(kWarn,
                 "srun started %.10s processes but offers no way for them to meet, so that each is a job of "
                 "its own; use srun --mpi=pmi2 or srun --mpi=pmix",
                 tasks);
}

}  // namespace

Result<std::unique_ptr<Wireup>> open() {
  const std::string& choice = param_wireup.get();
  const char* fd = std::getenv("PMI_FD");
  const char* port = std::getenv("PMI_PORT");
  if (choice == "alone") return open_alone();
  if (choice == "pmix" || (choice == "auto" && !fd && !port && std::getenv("PMIX_NAMESPACE"))) {
    Identity identity;
    identity.launcher = std::getenv("SLURM_STEP_ID") && !std::getenv("PRTE_LAUNCHED") ? "slurm-pmix" : "pmix";
    return open_pmix(identity);
  }
  if (fd) return open_fd(fd, choice == "pmi2" || (choice == "auto" && slurm_serves_pmi2()));
  if (port) return open_port(port);
  if (choice != "auto")
    return fail(kOther, "VICINITY_WIREUP=%s, but no launcher of that kind started this process",
                choice.c_str());
  warn_of_lonely_crowd();
  return open_alone();
}

}  // namespace vicinity::wireup
