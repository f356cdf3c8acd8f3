// SPDX-License-Identifier: BSD-3-Clause
// Hierarchical collectives: among the leaders of the parts of a division, and inside each part. What crosses
// from one part to another goes from leader to leader, once; a part may be divided again.
//
// They only compose: inside a part and among leaders build_...() chooses as everywhere (build.h).
#include <vector>

#include "coll/build.h"
#include "coll/division.h"

namespace vicinity::coll {

namespace {

Typed nothing() { return as_bytes(nullptr, 0); }

// Rank 0 hears of all others; and they of it.
void arrive(Plan& plan) {
  if (plan.division) {
    Level level(plan, 0);
    arrive(level.inside);
    if (level.leaders) arrive(*level.leaders);
  } else if (plan.rank == 0) {
    for (int peer = 1; peer < plan.size; ++peer) plan.recv(nothing(), peer);
    plan.wait_all();
  } else {
    plan.send(nothing(), 0);
  }
}
void release(Plan& plan) {
  if (!plan.division) return bcast_binomial(plan, nothing(), 0);
  Level level(plan, 0);
  if (level.leaders) {
    release(*level.leaders);
    plan.wait_received();
  }
  release(level.inside);
}

// The blocks of all ranks as bytes in one run, part after part, so that the blocks of a part are one piece.
// `all` tells the sizes; where it is such a run itself, it is used as it is.
class Sorted {
 public:
  enum class Room { kNone, kPart, kAll };  // memory for nothing, for our part's blocks, for all

  Sorted(Plan& plan, const Level& level, const Blocks& all, Room room)
      : plan_(plan), division_(level.division), all_(all) {
    if (room == Room::kAll) place(all.total(plan.size));
    MPI_Count at = 0;
    for (size_t part = 0; part < division_.parts.size(); ++part) {
      const std::vector<int>& ranks = division_.parts[part].ranks;
      MPI_Count bytes = 0;
      for (int rank : ranks) bytes += static_cast<MPI_Count>(all.bytes(rank));
      if (static_cast<int>(part) == level.part) take_own(ranks, at, bytes, room);
      if (part > 0 && bytes != part_bytes_[0]) equal_ = false;
      part_at_.push_back(at);
      part_bytes_.push_back(bytes);
      at += bytes;
    }
  }

  const Typed& run() const { return run_; }
  const Typed& own() const { return own_; }  // the blocks of our part together
  // Each of them, by the rank in the part.
  Blocks members() const {
    Datatype& byte = object::builtin(MPI_BYTE);
    if (all_.uniform()) return Blocks(own_.at, static_cast<MPI_Count>(all_.bytes(0)), byte);
    return Blocks(own_.at, CountArray(own_bytes_.data()), CountArray(own_at_.data()), byte);
  }
  // One for each part.
  Blocks parts() const {
    Datatype& byte = object::builtin(MPI_BYTE);
    if (equal_) return Blocks(run_.at, part_bytes_[0], byte);
    return Blocks(run_.at, CountArray(part_bytes_.data()), CountArray(part_at_.data()), byte);
  }
  // What rank `rank` gives or gets, which may be its own block in `all`.
  Typed mine(const Typed& given, int rank) const {
    return user_s_ && given.at == all_[rank].at ? members()[division_.index[static_cast<size_t>(rank)]]
                                                : given;
  }
  void from_user() const {
    if (!user_s_) each([&](int rank, const Typed& block) { plan_.copy(all_[rank], block); });
  }
  void to_user() const {
    if (!user_s_) each([&](int rank, const Typed& block) { plan_.copy(block, all_[rank]); });
  }

 private:
  void place(uint64_t total) {
    user_s_ = division_.in_order && all_.uniform() && all_.type(0).dense;
    run_ = user_s_ ? run_of(all_.range(0, plan_.size)) : plan_.packed(total);
  }
  void take_own(const std::vector<int>& ranks, MPI_Count at, MPI_Count bytes, Room room) {
    own_ = room == Room::kAll    ? run_.part(at, bytes)
           : room == Room::kPart ? plan_.packed(static_cast<uint64_t>(bytes))
                                 : as_bytes(nullptr, static_cast<uint64_t>(bytes));
    if (all_.uniform()) return;
    MPI_Count sum = 0;
    for (int rank : ranks) {
      own_at_.push_back(sum);
      own_bytes_.push_back(static_cast<MPI_Count>(all_.bytes(rank)));
      sum += own_bytes_.back();
    }
  }
  template <class Act>
  void each(Act&& act) const {
    MPI_Count at = 0;
    for (const Division::Part& part : division_.parts)
      for (int rank : part.ranks) {
        const auto bytes = static_cast<MPI_Count>(all_.bytes(rank));
        act(rank, run_.part(at, bytes));
        at += bytes;
      }
  }

  Plan& plan_;
  const Division& division_;
  const Blocks& all_;
  bool user_s_ = false;  // the run is the user's buffer
  bool equal_ = true;    // all parts have equally many bytes
  Typed run_, own_;
  std::vector<MPI_Count> part_at_, part_bytes_, own_at_, own_bytes_;  // alive while steps are made of them
};

Sorted::Room room_of(const Plan& plan, const Level& level, int root) {
  return plan.rank == root ? Sorted::Room::kAll : level.leaders ? Sorted::Room::kPart : Sorted::Room::kNone;
}

// Gather and scatter where every rank knows the sizes of all blocks; the memory of `all` is the root's.
void gather_known(Plan& plan, const Typed& mine, const Blocks& all, int root) {
  if (!plan.division) return gather_linear(plan, mine, all, root);
  Level level(plan, root);
  const Sorted sorted(plan, level, all, room_of(plan, level, root));
  gather_known(level.inside, plan.rank == root ? sorted.mine(mine, root) : mine, sorted.members(),
               level.leader);
  if (!level.leaders) return;
  if (plan.rank != root) plan.wait_all();
  gather_linear(*level.leaders, sorted.own(), sorted.parts(), level.root_part);
  if (plan.rank != root) return;
  plan.wait_all();
  sorted.to_user();
}

// What each rank of a uniform gather or scatter knows: the sizes, and the root where the blocks are.
Blocks known(const Plan& plan, const Typed& mine, const Blocks& all, int root) {
  if (plan.rank == root) return all;
  return Blocks(nullptr, static_cast<MPI_Count>(mine.bytes()), object::builtin(MPI_BYTE));
}

}  // namespace

void scatter_known(Plan& plan, const Blocks& all, const Typed& mine, int root) {
  if (!plan.division) return scatter_linear(plan, all, mine, root);
  Level level(plan, root);
  const Sorted sorted(plan, level, all, room_of(plan, level, root));
  if (plan.rank == root) sorted.from_user();
  if (level.leaders) {
    scatter_linear(*level.leaders, sorted.parts(), sorted.own(), level.root_part);
    if (plan.rank != root) plan.wait_received();
  }
  // The root's own block may be where it belongs (MPI_IN_PLACE).
  const bool there = plan.rank == root && mine.at == all[root].at;
  scatter_known(level.inside, sorted.members(), there ? mine.part(0, 0) : mine, level.leader);
}

void barrier_levels(Plan& plan) {
  Level level(plan, 0);
  arrive(level.inside);
  if (level.leaders) {
    build_barrier(*level.leaders);
    plan.wait_all();
  }
  release(level.inside);
}

void bcast_levels(Plan& plan, const Typed& data, int root) {
  Level level(plan, root);
  if (level.leaders) {
    build_bcast(*level.leaders, data, level.root_part);
    plan.wait_received();
  }
  build_bcast(level.inside, data, level.leader);
}

void gather_levels(Plan& plan, const Typed& mine, const Blocks& all, int root) {
  gather_known(plan, mine, known(plan, mine, all, root), root);
}

void scatter_levels(Plan& plan, const Blocks& all, const Typed& mine, int root) {
  scatter_known(plan, known(plan, mine, all, root), mine, root);
}

void allgather_levels(Plan& plan, const Typed& mine, const Blocks& all) {
  Level level(plan, 0);
  const Sorted sorted(plan, level, all, Sorted::Room::kAll);
  gather_known(level.inside, sorted.mine(mine, plan.rank), sorted.members(), level.leader);
  plan.wait_all();
  if (level.leaders) {
    build_allgather(*level.leaders, sorted.own(), sorted.parts());
    plan.wait_received();
  }
  build_bcast(level.inside, sorted.run(), level.leader);
  plan.wait_all();
  sorted.to_user();
}

}  // namespace vicinity::coll
