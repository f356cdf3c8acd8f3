// SPDX-License-Identifier: BSD-3-Clause
// Intercommunicators (MPI 5.0, 7.6): two groups that get to know each other through their leaders.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "coll/coll.h"
#include "entry_world.h"
#include "object/datatype.h"
#include "object/pool.h"
#include "p2p/p2p.h"
#include "peer/meeting.h"
#include "world/bridge.h"
#include "world/construct.h"
#include "world/context.h"
#include "world/encounter.h"
#include "world/instance.h"
#include "world/introduce.h"

namespace vicinity::world {
namespace {

Status check_leader(int leader, int size, const char* name) {
  if (leader < 0 || leader >= size)
    return fail(MPI_ERR_RANK, "argument `%s` is %d, the group has %d processes", name, leader, size);
  return kOk;
}

// On which side the lower of the two leaders is: for both sides the same answer, seen from two sides.
bool is_low(const Communicator& peer_comm, int remote_leader) {
  return peer_comm.inter() ? peer_comm.low_group : peer_comm.rank < remote_leader;
}

bool has_guest(const Group& group) {
  return std::any_of(group.procs.begin(), group.procs.end(), peer::is_guest);
}

// Some of these processes may never have met, although their leaders have.
Status meet_over(const Introduction& mine, Communicator& comm, int leader, Communicator** made) {
  std::optional<CommBridge> bridge;
  if (mine.bridge) bridge.emplace(*mine.bridge, mine.remote_leader, mine.tag);
  Result<Communicator*> met = encounter(comm, leader, bridge ? &*bridge : nullptr, kOk);
  if (!met.ok()) return met.status();
  *made = *met;
  return kOk;
}

}  // namespace

namespace entry {

Status intercomm_create(Communicator& local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader,
                        int tag, Communicator** newintercomm) {
  if (local_comm.inter()) return fail(MPI_ERR_COMM, "argument `local_comm` is an intercommunicator");
  VICINITY_TRY(check_leader(local_leader, local_comm.size(), "local_leader"));
  Introduction mine{.tag = group_tag(tag), .remote_leader = remote_leader};
  // `peer_comm` and `remote_leader` mean something at the leader only (7.6.2).
  if (local_comm.rank == local_leader) {
    mine.bridge = object::lookup<Communicator>(peer_comm);
    if (!mine.bridge) return fail(MPI_ERR_COMM, "argument `peer_comm` is no communicator");
    VICINITY_TRY(check_leader(remote_leader, mine.bridge->peers().size(), "remote_leader"));
    mine.low = is_low(*mine.bridge, remote_leader);
    mine.foreign = peer::is_guest(mine.bridge->proc(remote_leader)) || has_guest(*local_comm.group);
  }
  Participants who = everyone(local_comm);
  Result<Acquaintance> other = introduce(who, local_leader, *local_comm.group, mine);
  if (!other.ok()) return other.status();
  if (other->foreign) return meet_over(mine, local_comm, local_leader, newintercomm);
  return join(who, local_leader, mine, *other, object::retain(local_comm.group), &local_comm, newintercomm);
}

Status intercomm_merge(Communicator& intercomm, int high, Communicator** newintracomm) {
  if (!intercomm.inter()) return fail(MPI_ERR_COMM, "argument `intercomm` is no intercommunicator");
  // Each side tells the other where it wants to be, along with the search for the context.
  const int64_t wish = high ? 1 : 0;
  ContextSearch search(everyone(intercomm), 1, false, intercomm.low_group ? wish : -1,
                       intercomm.low_group ? -1 : wish);
  Result<uint32_t> context = agree(search);
  if (!context.ok()) return context.status();
  const int64_t low_wish = search.extra(0), high_wish = search.extra(1);
  // Equal wishes leave the order to us.
  const bool low_first = low_wish <= high_wish;
  const bool own_first = low_first == intercomm.low_group;
  std::vector<Proc> procs = own_first ? intercomm.group->procs : intercomm.remote->procs;
  const std::vector<Proc>& rest = own_first ? intercomm.remote->procs : intercomm.group->procs;
  procs.insert(procs.end(), rest.begin(), rest.end());
  Group* group = object::make_group(std::move(procs), instance().self());
  if (!group) return fail(MPI_ERR_NO_MEM, "no memory for a group");
  *newintracomm = assemble(Parts{.context = *context, .group = group, .parent = &intercomm});
  return *newintracomm ? kOk : fail(MPI_ERR_NO_MEM, "no memory for a communicator");
}

}  // namespace entry
}  // namespace vicinity::world
