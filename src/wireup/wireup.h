// SPDX-License-Identifier: BSD-3-Clause
// Wire-up: who are we, how many, and the exchange of cards.
//
// open() finds out which launcher started us, from the environment alone, and speaks its protocol:
// PMI-1 (our mpiexec, Hydra), PMI-2 (srun --mpi=pmi2), PMIx (srun --mpi=pmix, prterun; library
// loaded at run time), or none (a job of one process). Values are binary-safe for the caller; each
// protocol encodes and splits them as it must.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "wireup/spawn.h"

namespace vicinity::wireup {

struct Identity {
  int rank = 0;
  int size = 1;
  int appnum = -1;         // MPMD: which program of the command line; -1 unknown
  int universe_size = -1;  // -1 unknown
  std::string job;         // the launcher's name of the job, unique while it runs
  std::string launcher;    // "alone", "vicinity", "hydra", "slurm-pmi2", "pmix", ...
};

class Wireup {
 public:
  virtual ~Wireup() = default;
  const Identity& identity() const { return identity_; }

  // Publishes this process's value under `key` (visible to all after the next fence()). A key is letters,
  // digits, '-' and '_', some 40 at most, and is put once: launchers refuse a second value.
  virtual base::Status put(std::string_view key, std::string_view value) = 0;
  // Waits for every process of the job; after it, everything put before is visible.
  virtual base::Status fence() = 0;
  // The value that `rank` put under `key`.
  virtual base::Result<std::string> get(int rank, std::string_view key) = 0;
  // Asks the launcher to end the whole job with this exit code. The message is shown once, by the
  // launcher where it can, else here. Does not return.
  [[noreturn]] virtual void abort(int exit_code, const char* message) = 0;
  // Starts processes as a job of its own, which finds `port` in its parent_port(). Returns when they have
  // been started, or says why they cannot be.
  virtual base::Status spawn(const std::vector<SpawnCommand>&, const std::string& /* port */) {
    return base::fail(
        base::kOther,
        "the launcher of this job (%s) starts no processes for a program that runs; start it with "
        "the mpiexec of Vicinity MPI",
        identity_.launcher.c_str());
  }
  // The port of those who have spawned this job; "": nobody has.
  virtual std::string parent_port() { return ""; }
  // How many processes of other jobs this one is connected with: while there are any, our death is theirs.
  // Launchers that do not ask are not told.
  virtual void tell_guests(size_t) {}
  // We, who have been spawned, have met those who have spawned us.
  virtual void tell_arrived() {}
  // Fails when the launcher has ended those who were spawned with this port before they have arrived. One
  // question to the launcher.
  virtual base::Status spawned(const std::string& /* port */) { return base::kOk; }
  // Tells the launcher that this process ends well. No call after it.
  virtual base::Status close() = 0;
  // A descriptor that becomes readable when the launcher has news (end of job), or -1.
  virtual int descriptor() const { return -1; }
  // Fails when the launcher is gone, so that this process should end. One system call: whoever waits
  // for long calls it rarely (a few times a second).
  virtual base::Status check() { return base::kOk; }
  // The ranks that the launcher knows to have died, in no order; empty where it cannot say. One question to
  // the launcher.
  virtual std::vector<int> dead() { return {}; }

 protected:
  Identity identity_;
};

// Once per process: launchers take a process's second start for an error.
base::Result<std::unique_ptr<Wireup>> open();

}  // namespace vicinity::wireup
