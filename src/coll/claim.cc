// SPDX-License-Identifier: BSD-3-Clause
// The boards of this process, and the agreement on one.
#include "coll/claim.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/param.h"
#include "coll/choice.h"
#include "coll/coll.h"
#include "peer/peer.h"

namespace vicinity::coll {

namespace {

base::Param<bool> coll_direct{
    "VICINITY_COLL_DIRECT", "coll", true,
    "Whether small blocking collectives of ranks that share memory use it directly. All ranks must agree."};

constexpr uint32_t kAskAgain = 64;  // calls until a communicator without a board asks for one again

// What this process knows of one of its boards; guarded by the engine lock.
struct Place {
  bool used = false;
  uint32_t life = 0;                             // of the newest use
  std::vector<const region::Presence*> leaving;  // of whom it is not known that they have left
};
std::array<Place, region::kMostBoards> places;
uint32_t newest_life = 0;  // the largest that this process has seen
bool agreeing = false;     // on some communicator, by another thread

bool all_in_region(const Communicator& comm) {
  for (object::Proc proc : comm.group->procs)
    if (peer::section_of(proc) == peer::kNoSection) return false;
  return true;
}

std::byte* board_of(const peer::Shared& shared, object::Proc proc, uint32_t number) {
  return shared.mapping.at<std::byte>(shared.geometry.board(peer::section_of(proc), number),
                                      region::kBoardBytes);
}

// Nobody reads or writes it any more.
bool is_free(Place& place) {
  if (place.used) return false;
  while (!place.leaving.empty()) {
    // SYNC POINT LEFT (acquire): its last read of our board is over.
    if (__atomic_load_n(&place.leaving.back()->left, __ATOMIC_ACQUIRE) < place.life) return false;
    place.leaving.pop_back();
  }
  return true;
}

// An earlier life counted in it; now it stands before the calls to come. The others see this before they can
// be in the next life.
void clear_units(std::byte* board, uint32_t next_call) {
  auto* flow = reinterpret_cast<region::Flow*>(board + region::kBoardFlow);
  __atomic_store_n(&flow->units, uint64_t{next_call - 1} << 32, __ATOMIC_RELEASE);
}

// The lowest board that is free with all members, kMostBoards if there is none; and a life that is new to
// all of them. Members may know different regions, so each says whether it sees all the others in its own.
struct Agreement {
  bool together = false;
  uint32_t number = region::kMostBoards;
  uint32_t life = 0;
};

struct Votes {
  int32_t used[region::kMostBoards];
  int32_t life;
  int32_t apart;
};
constexpr MPI_Count kVotes = sizeof(Votes) / sizeof(int32_t);

void vote(const Communicator& comm, Votes* votes) {
  const peer::Shared* shared = peer::shared();
  votes->life = static_cast<int32_t>(newest_life);
  votes->apart = !shared || shared->geometry.boards == 0 || !all_in_region(comm);
  const uint32_t boards = votes->apart ? 0 : shared->geometry.boards;
  for (uint32_t i = 0; i < region::kMostBoards; ++i) {
    votes->used[i] = i >= boards || agreeing || !is_free(places[i]);
    if (votes->used[i] == 0) clear_units(board_of(*shared, peer::self(), i), comm.coll->sequence);
  }
}

Agreement agree(Communicator& comm) {
  Votes mine, all;
  vote(comm, &mine);
  const bool first = !agreeing;
  agreeing = true;
  const Status status =
      allreduce(&mine, &all, kVotes, object::builtin(MPI_INT32_T),
                *object::HandleTraits<Op>::predefined(reinterpret_cast<uintptr_t>(MPI_MAX)), comm);
  if (first) agreeing = false;
  Agreement result;
  if (!status.ok()) return result;
  result.together = all.apart == 0;
  result.life = static_cast<uint32_t>(all.life) + 1;
  newest_life = std::max(newest_life, result.life);
  for (uint32_t i = region::kMostBoards; i-- > 0;)
    if (all.used[i] == 0) result.number = i;
  return result;
}

Direct* take(Communicator& comm, const peer::Shared& shared, uint32_t number, uint32_t life) {
  std::unique_ptr<Direct::Member[]> members(new Direct::Member[static_cast<size_t>(comm.size())]);
  for (int rank = 0; rank < comm.size(); ++rank) {
    const object::Proc proc = comm.proc(rank);
    members[static_cast<size_t>(rank)] = {board_of(shared, proc, number), peer::bell(proc)};
  }
  Place& place = places[number];
  place.used = true;
  place.life = life;
  return new Direct(comm, std::move(members), life, number, shared.fence);
}

}  // namespace

// Who comes to the agreement must be the same for all members: it depends on nothing that only one may know.
Direct* claim_board(Communicator& comm, Kind kind, uint64_t bytes) {
  if (comm.inter() || comm.size() < 2 || comm.size() > kMostMembers || !coll_direct.get()) return nullptr;
  if (bytes - 1 >= direct_limit(kind, comm.size())) return nullptr;
  CommState& state = state_of(comm);
  if (state.never_direct || static_cast<int32_t>(state.sequence - state.ask_again) < 0) return nullptr;
  const Agreement agreement = agree(comm);
  state.never_direct = !agreement.together;
  state.ask_again = state.sequence + kAskAgain;
  if (!agreement.together || agreement.number == region::kMostBoards) return nullptr;
  return state.direct = take(comm, *peer::shared(), agreement.number, agreement.life);
}

void release_board(CommState& state) {
  Direct* direct = std::exchange(state.direct, nullptr);
  if (!direct) return;
  Place& place = places[direct->board()];
  place.used = false;
  for (int rank = 0; rank < direct->size(); ++rank) place.leaving.push_back(direct->member(rank).presence());
  direct->leave();
  delete direct;
}

}  // namespace vicinity::coll
