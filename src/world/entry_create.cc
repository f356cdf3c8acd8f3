// SPDX-License-Identifier: BSD-3-Clause
// Constructors of intracommunicators, and those that serve both kinds (MPI 5.0, 7.4.2).
#include <string>
#include <utility>

#include "entry_world.h"
#include "object/pool.h"
#include "peer/peer.h"
#include "world/construct.h"
#include "world/context.h"
#include "world/hardware.h"
#include "world/instance.h"
#include "world/session.h"
#include "world/split.h"

namespace vicinity::world {
namespace {

Status give(Result<Communicator*> made, Communicator** out) {
  if (!made.ok()) return made.status();
  *out = *made;
  return kOk;
}

Status check_subset(const Group& group, const Group& of) {
  for (Proc proc : group.procs)
    if (of.rank_of(proc) == MPI_UNDEFINED)
      return fail(MPI_ERR_GROUP, "argument `group` has a process that the communicator has not");
  return kOk;
}

// The processes of `comm` with which this one shares memory (at finer levels: and the kernel, since the
// numbers of packages and cores mean nothing elsewhere), named by the place of the first of them; in an
// intercommunicator the lower group goes first, so that both sides name them alike.
int host_color(const Communicator& comm, Level level = Level::kHost) {
  int place = 0;
  const auto find = [&place, level](const Group& group) {
    for (Proc proc : group.procs) {
      if (proc == peer::self()) return true;
      if (peer::co_resident(proc) && (level == Level::kHost || peer::same_kernel(proc))) return true;
      ++place;
    }
    return false;
  };
  const Group* groups[] = {comm.group, comm.remote};
  if (comm.inter() && !comm.low_group) std::swap(groups[0], groups[1]);
  for (const Group* group : groups)
    if (group && find(*group)) break;
  return place;
}

// The finest first level below `comm` that divides it; a host that all share does not.
Result<Communicator*> split_unguided(Communicator& comm, int key, bool takes_part, Info* info) {
  Result<Communicator*> result = static_cast<Communicator*>(nullptr);
  for (int level = 0; level < kLevels; ++level) {
    const auto kind = static_cast<Level>(level);
    const int part = takes_part ? confined_to(kind) : -1;
    Result<Communicator*> hosts = split(comm, takes_part ? host_color(comm, kind) : MPI_UNDEFINED, key);
    if (!hosts.ok()) return hosts;
    Communicator* piece = *hosts;
    if (piece && kind > Level::kMachine) {
      Result<Communicator*> parts = split(*piece, part < 0 ? MPI_UNDEFINED : part, key);
      object::release(piece);
      if (!parts.ok()) return parts;
      piece = *parts;
    }
    // All have to decide alike whether this level divides: it does if any process is left out or apart.
    Ballot vote{piece && piece->size() == comm.size() ? 0 : 1, piece ? 1 : 0, 0, 0};
    const Participants who = everyone(comm);
    Maximum maximum(who);
    maximum.start(vote);
    VICINITY_TRY(run(maximum));
    if (maximum.value()[0] == 1 && maximum.value()[1] == 1) {
      if (piece && info && !info->predefined()) info->set("mpi_hw_resource_type", level_name(kind));
      return piece;
    }
    if (piece) object::release(piece);
  }
  return result;
}

Result<Communicator*> split_at(Communicator& comm, Level level, int key) {
  Result<Communicator*> host = split(comm, host_color(comm, level), key);
  if (!host.ok() || level <= Level::kMachine) return host;
  const int part = confined_to(level);
  Result<Communicator*> result = split(**host, part < 0 ? MPI_UNDEFINED : part, key);
  object::release(*host);
  return result;
}

Result<Communicator*> split_guided(Communicator& comm, int key, const Info* info, bool psets_too) {
  const std::string* type = info ? info->find("mpi_hw_resource_type") : nullptr;
  Level level;
  if (type && level_named(*type, &level)) return split_at(comm, level, key);
  const std::string* pset = info && psets_too ? info->find("mpi_pset_name") : nullptr;
  if (!type && pset) {
    Result<Group*> group = pset_group(pset->c_str());
    int color = MPI_UNDEFINED;
    if (group.ok()) {
      // A set that holds only some of the members (mpi://SELF, say) is named by its first one here.
      for (int rank = comm.size() - 1; rank >= 0; --rank)
        if ((*group)->rank_of(comm.group->procs[static_cast<size_t>(rank)]) != MPI_UNDEFINED) color = rank;
      object::release(*group);
    }
    return split(comm, color, key);
  }
  // MPI 5.0, 7.4.2: a type that cannot be served gives MPI_COMM_NULL.
  return split(comm, MPI_UNDEFINED, key);
}

}  // namespace

namespace entry {

Status comm_split(Communicator& comm, int color, int key, Communicator** newcomm) {
  if (color < 0 && color != MPI_UNDEFINED)
    return fail(MPI_ERR_ARG, "argument `color` is %d; allowed: 0 and more, or MPI_UNDEFINED", color);
  return give(split(comm, color, key), newcomm);
}

Status comm_split_type(Communicator& comm, int split_type, int key, Info* info, Communicator** newcomm) {
  // All processes give the same type or MPI_UNDEFINED, so those who take part find out which it is.
  const Participants who = everyone(comm);
  Maximum maximum(who);
  maximum.start({split_type, 0, 0, 0});
  const bool takes_part = split_type != MPI_UNDEFINED;
  VICINITY_TRY(run(maximum));
  const int type = static_cast<int>(maximum.value()[0]);
  if (takes_part && type != split_type)
    return fail(MPI_ERR_ARG, "argument `split_type` is %d here and %d elsewhere", split_type, type);
  const auto hidden = [&] { return split(comm, MPI_UNDEFINED, key); };
  switch (type) {
    case MPI_COMM_TYPE_SHARED:
      return give(takes_part ? split(comm, host_color(comm), key) : hidden(), newcomm);
    case MPI_COMM_TYPE_HW_UNGUIDED:
      return give(split_unguided(comm, key, takes_part, info), newcomm);
    case MPI_COMM_TYPE_HW_GUIDED:
    case MPI_COMM_TYPE_RESOURCE_GUIDED:
      return give(
          takes_part ? split_guided(comm, key, info, type == MPI_COMM_TYPE_RESOURCE_GUIDED) : hidden(),
          newcomm);
    case MPI_UNDEFINED:
      return kOk;
    default:
      return fail(MPI_ERR_ARG, "argument `split_type` is %d, which is no split type", type);
  }
}

Status comm_create(Communicator& comm, Group& group, Communicator** newcomm) {
  VICINITY_TRY(check_subset(group, *comm.group));
  const bool member = group.rank != MPI_UNDEFINED;
  // Between groups, each side learns the other's choice as it does in a split with two colours.
  if (comm.inter()) return give(split(comm, member ? 0 : MPI_UNDEFINED, member ? group.rank : 0), newcomm);
  Group* mine = member ? object::make_group(group.procs, instance().self()) : nullptr;
  if (member && !mine) return fail(MPI_ERR_NO_MEM, "no memory for a group");
  return give(construct(comm, mine, nullptr), newcomm);
}

Status comm_create_group(Communicator& comm, Group& group, int tag, Communicator** newcomm) {
  if (comm.inter()) return fail(MPI_ERR_COMM, "MPI_Comm_create_group takes intracommunicators only");
  VICINITY_TRY(check_subset(group, *comm.group));
  if (group.rank == MPI_UNDEFINED) return kOk;
  std::vector<int> ranks;
  ranks.reserve(group.procs.size());
  for (Proc proc : group.procs) ranks.push_back(comm.group->rank_of(proc));
  ContextSearch search(some(comm, std::move(ranks), group.rank, group_tag(tag)), 1, false);
  Result<uint32_t> context = agree(search);
  if (!context.ok()) return context.status();
  Group* mine = object::make_group(group.procs, instance().self());
  if (!mine) return fail(MPI_ERR_NO_MEM, "no memory for a group");
  *newcomm = assemble(Parts{.context = *context, .group = mine, .parent = &comm});
  return *newcomm ? kOk : fail(MPI_ERR_NO_MEM, "no memory for a communicator");
}

}  // namespace entry
}  // namespace vicinity::world
