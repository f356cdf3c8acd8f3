// SPDX-License-Identifier: BSD-3-Clause
// Spawned processes (MPI 5.0, 11.8): the root asks the launcher for them, they find a port of the root's in
// their environment, and both sides meet as in accept and connect.
#include <algorithm>
#include <cstdio>
#include <optional>

#include "base/clock.h"
#include "base/param.h"
#include "entry_world.h"
#include "object/info.h"
#include "p2p/p2p.h"
#include "world/bridge.h"
#include "world/encounter.h"
#include "world/instance.h"

namespace vicinity::world {
namespace {

using wireup::SpawnCommand;

base::Param<int64_t> spawn_timeout_s{
    "VICINITY_SPAWN_TIMEOUT_S",
    "world",
    120,
    1,
    86400,
    "How many seconds after their start spawned processes have to call MPI_Init, before MPI_Comm_spawn fails "
    "with MPI_ERR_SPAWN."};

// A failure under this class, with the words that it had.
Status as_spawn_failure(Status status) {
  if (status.ok() || status.code() == MPI_ERR_SPAWN) return status;
  const std::string words = base::failure_text(status.code());
  return fail(MPI_ERR_SPAWN, "%s", words.c_str());
}

Status describe(const char* command, char** argv, int maxprocs, const Info* info, SpawnCommand* out) {
  if (!command || !*command) return fail(MPI_ERR_ARG, "argument `command` is empty");
  if (maxprocs < 1) return fail(MPI_ERR_ARG, "argument `maxprocs` is %d; allowed: 1 and more", maxprocs);
  out->processes = maxprocs;
  out->argv.emplace_back(command);
  for (char** word = argv; word && *word; ++word) out->argv.emplace_back(*word);
  if (info) out->info = info->pairs;
  return kOk;
}

// Do all those live who are to meet the new processes, and, as far as the launcher knows, these?
class Expectation {
 public:
  Expectation(const Communicator& comm, const std::string& port) : comm_(comm), port_(port) {}
  Status operator()() {
    VICINITY_TRY(p2p::all_alive(comm_));
    const int64_t now = base::now_ns();
    if (now < ask_at_ns_) return kOk;
    ask_at_ns_ = now + 200'000'000;
    return as_spawn_failure(instance().wireup->spawned(port_));
  }

 private:
  const Communicator& comm_;
  const std::string port_;
  int64_t ask_at_ns_ = base::now_ns() + 200'000'000;
};

// The root's part: a socket to rank 0 of the new processes.
Result<int> start_and_await(const Communicator& comm, const std::vector<SpawnCommand>& commands) {
  if (!instance().wireup)
    return fail(MPI_ERR_SPAWN, "the launcher has been told that this process has ended");
  Result<std::string> port = open_port();
  if (!port.ok()) return as_spawn_failure(port.status());
  Status status = instance().wireup->spawn(commands, *port);
  Result<int> fd = -1;
  if (!status.ok()) fd = as_spawn_failure(status);
  if (status.ok()) fd = accept_at(*port, spawn_timeout_s.get() * 1000, Expectation(comm, *port));
  if (status.ok() && !fd.ok() && fd.status().code() == MPI_ERR_PORT)
    fd = fail(MPI_ERR_SPAWN,
              "the spawned processes have not called MPI_Init in %lld s (VICINITY_SPAWN_TIMEOUT_S)",
              static_cast<long long>(spawn_timeout_s.get()));
  (void)close_port(*port);
  return fd;
}

struct Outcome {
  int* codes;  // nullptr: ignored
  int count;
  void fill(int code) const {
    for (int i = 0; codes && i < count; ++i) codes[i] = code;
  }
};

Status spawn(const std::vector<SpawnCommand>& commands, Status described, int root, Communicator& comm,
             const Outcome& outcome, Communicator** intercomm) {
  Result<int> fd = -1;
  if (described.ok()) described = p2p::all_alive(comm);
  if (comm.rank == root) fd = described.ok() ? start_and_await(comm, commands) : Result<int>(described);
  std::optional<SocketBridge> bridge;
  if (comm.rank == root && fd.ok()) bridge.emplace(fd.value(), SocketBridge::Owner::kWe);
  Result<Communicator*> made = encounter(comm, root, bridge ? &*bridge : nullptr, fd.status());
  if (made.ok()) {
    *intercomm = *made;
    outcome.fill(MPI_SUCCESS);
    return kOk;
  }
  outcome.fill(MPI_ERR_SPAWN);
  return made.status();
}

Status check_place(const Communicator& comm, int root) {
  if (comm.inter()) return fail(MPI_ERR_COMM, "argument `comm` is an intercommunicator");
  if (root < 0 || root >= comm.size())
    return fail(MPI_ERR_ROOT, "argument `root` is %d, the communicator has %d ranks", root, comm.size());
  return kOk;
}

Result<std::vector<SpawnCommand>> describe_all(int count, char** commands, char*** argvs, const int* maxprocs,
                                               const MPI_Info* infos) {
  std::vector<SpawnCommand> all;
  if (count < 1) return fail(MPI_ERR_COUNT, "argument `count` is %d; allowed: 1 and more", count);
  if (!commands) return fail(MPI_ERR_ARG, "argument `array_of_commands` is a null pointer");
  if (!maxprocs) return fail(MPI_ERR_ARG, "argument `array_of_maxprocs` is a null pointer");
  for (int i = 0; i < count; ++i) {
    const Info* info = nullptr;
    if (infos && infos[i] != MPI_INFO_NULL) {
      info = object::lookup<Info>(infos[i]);
      if (!info) return fail(MPI_ERR_INFO, "argument `array_of_info[%d]` is no info object", i);
    }
    SpawnCommand command;
    VICINITY_TRY(describe(commands[i], argvs ? argvs[i] : nullptr, maxprocs[i], info, &command));
    all.push_back(std::move(command));
  }
  return all;
}

}  // namespace

Status meet_parent() {
  Instance& all = instance();
  const std::string port = all.wireup->parent_port();
  if (port.empty()) return kOk;
  Communicator& world = *object::predefined_communicators[0];
  Result<int> fd = -1;
  const auto hope = [&world] { return p2p::all_alive(world); };
  if (world.rank == 0) fd = connect_to(port, spawn_timeout_s.get() * 1000, hope);
  std::optional<SocketBridge> bridge;
  if (world.rank == 0 && fd.ok()) bridge.emplace(fd.value(), SocketBridge::Owner::kWe);
  Result<Communicator*> made = encounter(world, 0, bridge ? &*bridge : nullptr, fd.status());
  if (!made.ok()) return made.status();
  all.wireup->tell_arrived();
  all.parent = *made;
  std::snprintf(all.parent->name, sizeof all.parent->name, "MPI_COMM_PARENT");
  return kOk;
}

namespace entry {

Status comm_spawn(const char* command, char** argv, int maxprocs, Info* info, int root, Communicator& comm,
                  Communicator** intercomm, int* array_of_errcodes) {
  VICINITY_TRY(check_place(comm, root));
  std::vector<SpawnCommand> commands(1);
  Status described = kOk;
  if (comm.rank == root) described = describe(command, argv, maxprocs, info, &commands[0]);
  return spawn(commands, described, root, comm, {array_of_errcodes, maxprocs}, intercomm);
}

Status comm_spawn_multiple(int count, char** array_of_commands, char*** array_of_argv,
                           const int* array_of_maxprocs, const MPI_Info* array_of_info, int root,
                           Communicator& comm, Communicator** intercomm, int* array_of_errcodes) {
  VICINITY_TRY(check_place(comm, root));
  Result<std::vector<SpawnCommand>> commands = std::vector<SpawnCommand>{};
  if (comm.rank == root)
    commands = describe_all(count, array_of_commands, array_of_argv, array_of_maxprocs, array_of_info);
  // How many codes there are is known at the root alone, unless the others have passed the numbers too.
  Outcome outcome{array_of_errcodes, 0};
  for (int i = 0; array_of_maxprocs && i < count; ++i) outcome.count += std::max(array_of_maxprocs[i], 0);
  return spawn(*commands, commands.status(), root, comm, outcome, intercomm);
}

}  // namespace entry
}  // namespace vicinity::world
