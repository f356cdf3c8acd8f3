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
  bool foreign = false;            // processes of other jobs take part, as far as this side knows
};

// What everyone knows after it.
struct Acquaintance {
  std::vector<Proc> procs;
  bool low = false;
  bool foreign = false;  // numbers of processes mean nothing to the other side: encounter() is what helps
};

// A broadcast from the leader along a binomial tree over the participants, on the control lane. All know how
// many words it is.
Status spread(const Participants& who, int leader, std::vector<int64_t>& words);

Result<Acquaintance> introduce(const Participants& who, int leader, const Group& own,
                               const Introduction& mine);

// The agreement and the construction; takes over the reference to `own`. `parent` may be nullptr.
Status join(Participants who, int leader, const Introduction& mine, const Acquaintance& other, Group* own,
            Communicator* parent, Communicator** out);

}  // namespace vicinity::world
