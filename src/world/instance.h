// SPDX-License-Identifier: BSD-3-Clause
// The running library: what MPI_Init and every session share (MPI 5.0, 11.2 and 11.3).
//
// Three steps, each done once and only when needed:
//   open()     local: parameters, who are we, log. Enough for psets and groups.
//   connect()  collective over the job: channels to all peers, p2p, the bootstrap communicator.
//   close()    tells the launcher that we end well, after the last use, or at exit.
//
// Once connected the channels stay until the process ends, so that sessions can come and go, also after
// MPI_Finalize, without every process of the job taking part each time.
#pragma once

#include <pthread.h>

#include <memory>
#include <string>

#include "object/communicator.h"
#include "wireup/wireup.h"

namespace vicinity::world {

using base::fail;
using base::kOk;
using base::Result;
using base::Status;
using object::Communicator;
using object::Group;
using object::Info;
using object::Proc;

struct Instance {
  std::unique_ptr<wireup::Wireup> wireup;  // nullptr before open() and after close()
  wireup::Identity identity;
  bool connected = false;
  Communicator* bootstrap = nullptr;  // all processes of the table, for traffic without a parent
  Communicator* parent = nullptr;     // to those who have spawned us, until it is freed
  int users = 0;                      // the world model counts one, each session one
  bool world_begun = false;           // MPI_Init was called
  bool world_ended = false;           // MPI_Finalize was called
  int thread_level = 0;               // of the world model
  pthread_t main_thread{};
  // This process in the table. Known before the table is: processes of the start are numbered by rank.
  Proc self() const { return static_cast<Proc>(identity.rank); }
};

Instance& instance();

// Reads the parameters from the environment, once: what a tool sets before MPI_Init has to stay.
Status load_parameters();
Status open();
Status connect();
Status close();

// Counts a user in or out and keeps `state` right. The last one out closes, if the world model has ended.
void enter();
void leave();

// How many threads may enter from now on; never narrows what was granted before.
void grant_threads(int level);

// Ends the whole job and prints `message`, or lets the launcher print it.
[[noreturn]] void end_job(int exit_code, const char* message);

const std::string& this_host();

}  // namespace vicinity::world
