// SPDX-License-Identifier: BSD-3-Clause
// Exchange of groups between leaders, and its spread. Processes are named by their index in the process
// table, which all processes of one job number alike.
#include "world/introduce.h"

#include "object/datatype.h"
#include "object/pool.h"
#include "p2p/p2p.h"
#include "world/construct.h"
#include "world/instance.h"

namespace vicinity::world {
namespace {

using object::Lane;

Status swap(const Introduction& mine, const std::vector<int64_t>& out, std::vector<int64_t>& in) {
  object::Datatype& type = object::builtin(MPI_INT64_T);
  return p2p::sendrecv(out.data(), static_cast<MPI_Count>(out.size()), type, mine.remote_leader, mine.tag,
                       in.data(), static_cast<MPI_Count>(in.size()), type, mine.remote_leader, mine.tag,
                       *mine.bridge, Lane::kControl);
}

// What a leader tells its group instead when it cannot reach the other one.
constexpr int64_t kNobody = -1;
Status nobody_there() { return fail(MPI_ERR_PROC_ABORTED, "the leader of the other group is gone"); }

}  // namespace

Status spread(const Participants& who, int leader, std::vector<int64_t>& words) {
  object::Datatype& type = object::builtin(MPI_INT64_T);
  const int size = who.size();
  const int relative = (who.position - leader + size) % size;
  const auto rank = [&](int from_leader) {
    const int position = (from_leader + leader) % size;
    return who.ranks.empty() ? position : who.ranks[static_cast<size_t>(position)];
  };
  int mask = 1;
  for (; mask < size; mask <<= 1) {
    if (!(relative & mask)) continue;
    VICINITY_TRY(p2p::recv(words.data(), static_cast<MPI_Count>(words.size()), type, rank(relative - mask),
                           who.tag, *who.via, Lane::kControl));
    break;
  }
  for (mask >>= 1; mask > 0; mask >>= 1)
    if (relative + mask < size)
      VICINITY_TRY(p2p::send(words.data(), static_cast<MPI_Count>(words.size()), type, rank(relative + mask),
                             who.tag, *who.via, Lane::kControl));
  return base::kOk;
}

Result<Acquaintance> introduce(const Participants& who, int leader, const Group& own,
                               const Introduction& mine) {
  // First sizes and sides, then the lists.
  constexpr int64_t kLow = 1, kForeign = 2;
  std::vector<int64_t> header(2);
  const int64_t foreign = mine.foreign ? kForeign : 0;
  if (mine.bridge) {
    if (!swap(mine, {own.size(), (mine.low ? kLow : 0) | foreign}, header).ok()) header[0] = kNobody;
    header[1] = (mine.low ? kLow : 0) | foreign | (header[1] & kForeign);
  }
  VICINITY_TRY(spread(who, leader, header));
  if (header[0] == kNobody) return nobody_there();
  Acquaintance other;
  other.low = (header[1] & kLow) != 0;
  other.foreign = (header[1] & kForeign) != 0;
  if (other.foreign) return other;
  std::vector<int64_t> list(static_cast<size_t>(header[0]));
  if (mine.bridge && !swap(mine, {own.procs.begin(), own.procs.end()}, list).ok()) list[0] = kNobody;
  VICINITY_TRY(spread(who, leader, list));
  if (list[0] == kNobody) return nobody_there();
  other.procs.assign(list.begin(), list.end());
  return other;
}

Status join(Participants who, int leader, const Introduction& mine, const Acquaintance& other, Group* own,
            Communicator* parent, Communicator** out) {
  for (Proc proc : other.procs) {
    if (own->rank_of(proc) == MPI_UNDEFINED) continue;
    object::release(own);
    return fail(MPI_ERR_GROUP, "the two groups of an intercommunicator share a process");
  }
  // Every participant of a bridged agreement takes the second step, so each has to know of the bridge; only
  // the leader uses it.
  who.bridge = mine.bridge ? mine.bridge : who.via;
  who.leader = leader;
  who.remote_leader = mine.remote_leader;
  who.bridge_tag = mine.tag;
  ContextSearch search(std::move(who), 2, false);
  Result<uint32_t> context = agree(search);
  if (!context.ok()) {
    object::release(own);
    return context.status();
  }
  Group* remote = object::make_group(other.procs, instance().self());
  if (!remote) {
    object::release(own);
    return fail(MPI_ERR_NO_MEM, "no memory for a group");
  }
  *out = assemble(
      Parts{.context = *context, .group = own, .remote = remote, .low_group = other.low, .parent = parent});
  return *out ? kOk : fail(MPI_ERR_NO_MEM, "no memory for a communicator");
}

}  // namespace vicinity::world
