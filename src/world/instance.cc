// SPDX-License-Identifier: BSD-3-Clause
// Opening, connecting and closing the library. The order inside open() and connect() matters: parameters
// before anything that reads one, the sink before the channels that hand messages to it.
#include "world/instance.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <numeric>

#include "base/log.h"
#include "base/param.h"
#include "base/progress.h"
#include "fault/survivors.h"
#include "io/file.h"
#include "object/pool.h"
#include "p2p/p2p.h"
#include "peer/peer.h"
#include "world/construct.h"
#include "world/context.h"
#include "world/environment.h"
#include "world/progress_thread.h"
#include "world/state.h"

namespace vicinity::world {
namespace {

pid_t opened_by = 0;

// A process that used only sessions, or that ended MPI_Finalize's work before, leaves quietly at exit. If MPI
// still runs this is a death, but what has been sent before it arrives; not if there are threads, which may
// be anywhere in MPI. In a child of the program nothing is ours.
void close_at_exit() {
  if (getpid() != opened_by) return;
  stop_progress_thread();
  if (!runs()) {
    static_cast<void>(close());
  } else if (!base::threads_multiple()) {
    peer::push_out();
  }
}

Communicator* make_bootstrap() {
  std::vector<Proc> all(peer::process_count());
  std::iota(all.begin(), all.end(), 0u);
  Group* group = object::make_group(std::move(all), peer::self());
  if (!group) return nullptr;
  return assemble(Parts{.context = kBootstrapContext, .group = group});
}

}  // namespace

Instance& instance() {
  static auto* made = new Instance;  // survives static destructors
  return *made;
}

const std::string& this_host() {
  static const std::string name = [] {
    char text[256] = "";
    gethostname(text, sizeof text - 1);
    return std::string(text);
  }();
  return name;
}

Status load_parameters() {
  static bool loaded = false;
  if (loaded) return kOk;
  VICINITY_TRY(base::params_load());
  loaded = true;
  return kOk;
}

Status open() {
  Instance& all = instance();
  if (all.wireup || all.connected) return kOk;
  VICINITY_TRY(load_parameters());
  Result<std::unique_ptr<wireup::Wireup>> wireup = wireup::open();
  if (!wireup.ok()) return wireup.status();
  all.wireup = std::move(*wireup);
  all.identity = all.wireup->identity();
  base::log_open(all.identity.rank, this_host().c_str());
  fill_environment_info();
  opened_by = getpid();
  static bool registered = false;
  if (!registered) registered = std::atexit(close_at_exit) == 0;
  return kOk;
}

Status connect() {
  Instance& all = instance();
  if (all.connected) return kOk;
  VICINITY_TRY(open());
  VICINITY_TRY(p2p::start());
  fault::start();
  VICINITY_TRY(peer::start(*all.wireup, p2p::sink()));
  object::communicator_cleanup = &take_down;
  io::private_copy = &plain_copy;
  all.bootstrap = make_bootstrap();
  if (!all.bootstrap) return fail(MPI_ERR_NO_MEM, "no memory for the first communicator");
  all.connected = true;
  return kOk;
}

Status close() {
  Instance& all = instance();
  if (!all.wireup) return kOk;
  std::unique_ptr<wireup::Wireup> wireup = std::move(all.wireup);
  if (all.connected) peer::farewell();
  return wireup->close();
}

void enter() {
  ++instance().users;
  if (!runs()) state = State::kRunning;
}

void leave() {
  Instance& all = instance();
  if (--all.users > 0) return;
  state = all.world_ended ? State::kAfter : State::kBefore;
  if (!all.world_ended) return;
  if (Status status = close(); !status.ok())
    VICINITY_LOG(kWarn, "the launcher did not take our farewell: %s", base::failure_text(status.code()));
}

void grant_threads(int level) {
  if (level == MPI_THREAD_MULTIPLE || wants_progress_thread()) base::set_threads_multiple(true);
}

void end_job(int exit_code, const char* message) {
  std::fflush(stdout);
  std::fflush(stderr);
  if (instance().wireup) instance().wireup->abort(exit_code, message);
  // Before MPI_Init or after MPI_Finalize there is nobody to tell.
  VICINITY_LOG(kError, "%s", message);
  std::_Exit(exit_code & 0xff ? exit_code & 0xff : 1);
}

}  // namespace vicinity::world
