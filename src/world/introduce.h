// SPDX-License-Identifier: BSD-3-Clause
// How two groups become an intercommunicator: the leaders tell each other their groups, each tells its own
// group, and then all agree on a context.
#pragma once

#include <vector>

#include "object/communicator.h"
#include "world/context.h"

namespace vicinity::world {

using object::Group;
using object::Proc;

// What the leader brings. On other members only the defaults.
struct Introduction {
  Communicator* bridge = nullptr;  // in which the leaders know each other
  int tag = 0;                     // on its control lane
  int remote_leader = 0;           // in bridge->peers()
  bool low = false;                // this side goes first when sides differ
};

// What everyone knows after it.
struct Acquaintance {
  std::vector<Proc> procs;
  bool low = false;
};

Result<Acquaintance> introduce(const Participants& who, int leader, const Group& own,
                               const Introduction& mine);

// The agreement and the construction; takes over the reference to `own`. `parent` may be nullptr.
Status join(Participants who, int leader, const Introduction& mine, const Acquaintance& other, Group* own,
            Communicator* parent, Communicator** out);

}  // namespace vicinity::world
