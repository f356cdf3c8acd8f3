// SPDX-License-Identifier: BSD-3-Clause
// MPI_Comm_split (MPI 5.0, 7.4.2), on which MPI_Comm_split_type, MPI_Cart_sub and the creation of
// intercommunicators from parts rest.
#include "world/split.h"

#include <algorithm>
#include <vector>

#include "coll/coll.h"
#include "object/datatype.h"
#include "object/pool.h"
#include "p2p/p2p.h"
#include "world/construct.h"
#include "world/context.h"
#include "world/instance.h"

namespace vicinity::world {
namespace {

struct Choice {
  int color, key;
};
static_assert(sizeof(Choice) == 2 * sizeof(int), "choices travel as pairs of MPI_INT");

// Everybody's choice of an intracommunicator, by rank.
Result<std::vector<Choice>> gather(Communicator& comm, Choice mine) {
  std::vector<Choice> all(static_cast<size_t>(comm.size()));
  object::Datatype& type = object::builtin(MPI_INT);
  VICINITY_TRY(coll::allgather(&mine, 2, type, all.data(), 2, type, comm));
  return all;
}

// The choices of the remote group: the leaders swap, then tell their groups.
Result<std::vector<Choice>> gather_remote(Communicator& inter, const std::vector<Choice>& own) {
  std::vector<Choice> all(static_cast<size_t>(inter.remote->size()));
  object::Datatype& type = object::builtin(MPI_INT);
  const MPI_Count remote_count = MPI_Count{2} * static_cast<MPI_Count>(all.size());
  const int tag = static_cast<int>(inter.agreements++ & object::kTagUpperBound);
  if (inter.rank == 0)
    VICINITY_TRY(p2p::sendrecv(own.data(), MPI_Count{2} * static_cast<MPI_Count>(own.size()), type, 0, tag,
                               all.data(), remote_count, type, 0, tag, inter, object::Lane::kControl));
  else
    static_cast<void>(tag);
  VICINITY_TRY(coll::bcast(all.data(), remote_count, type, 0, *inter.local));
  return all;
}

// The members of `group` that chose `color`, by key and then by rank.
std::vector<Proc> members(const Group& group, const std::vector<Choice>& choices, int color) {
  std::vector<std::pair<int, int>> chosen;  // key, rank
  for (int rank = 0; rank < group.size(); ++rank)
    if (choices[static_cast<size_t>(rank)].color == color)
      chosen.emplace_back(choices[static_cast<size_t>(rank)].key, rank);
  std::sort(chosen.begin(), chosen.end());
  std::vector<Proc> procs;
  procs.reserve(chosen.size());
  for (const auto& [key, rank] : chosen) procs.push_back(group.procs[static_cast<size_t>(rank)]);
  return procs;
}

}  // namespace

Result<Communicator*> construct(Communicator& comm, Group* group, Group* remote) {
  ContextSearch search(everyone(comm), comm.inter() ? 2 : 1, false);
  Result<uint32_t> context = agree(search);
  if (!context.ok() || !group) {
    if (group) object::release(group);
    if (remote) object::release(remote);
    if (!context.ok()) return context.status();
    return static_cast<Communicator*>(nullptr);
  }
  Communicator* made = assemble(Parts{
      .context = *context, .group = group, .remote = remote, .low_group = comm.low_group, .parent = &comm});
  if (!made) return fail(MPI_ERR_NO_MEM, "no memory for a communicator");
  return made;
}

Result<Communicator*> split(Communicator& comm, int color, int key) {
  Communicator& home = comm.inter() ? *comm.local : comm;
  Result<std::vector<Choice>> own = gather(home, {color, key});
  if (!own.ok()) return own.status();
  std::vector<Choice> far;
  if (comm.inter()) {
    Result<std::vector<Choice>> others = gather_remote(comm, *own);
    if (!others.ok()) return others.status();
    far = std::move(*others);
  }
  Group *group = nullptr, *remote = nullptr;
  if (color != MPI_UNDEFINED) {
    group = object::make_group(members(*comm.group, *own, color), instance().self());
    if (!group) return fail(MPI_ERR_NO_MEM, "no memory for a group");
    group->session = comm.group->session;
    if (comm.inter()) {
      std::vector<Proc> procs = members(*comm.remote, far, color);
      if (!procs.empty()) remote = object::make_group(std::move(procs), instance().self());
      // A colour that nobody chose on the other side makes no intercommunicator (7.4.2).
      if (!remote) {
        object::release(group);
        group = nullptr;
      }
    }
  }
  return construct(comm, group, remote);
}

}  // namespace vicinity::world
