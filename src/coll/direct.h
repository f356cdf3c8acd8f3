// SPDX-License-Identifier: BSD-3-Clause
// The direct path: small and medium blocking collectives of ranks that all share one region.
//
// In a call, a rank shows its part on its own board (region/board.h) and reads the parts of the others
// from theirs. No schedule, no message, no copy in between. A part of up to 48 bytes is in the line that
// says that it is there; up to 4 KiB in a small slot, up to 64 KiB in a large one. What is longer moves in
// slices through halves of all large slots, a call each, or in pieces through all of them in one call. Slices
// are long because each of them waits for everybody: where ranks share cores, that is a change of processes.
//
// Invariants:
//   The line of call q is number q mod 128. It is written when all members have begun call q - 127 at least,
//   because then nobody reads call q - 128 any more; slots likewise. `safe_` is the oldest call that some
//   member may be in, as far as we know; who has seen the lines of all members in call q knows that it is q.
//   What others wrote is compared (sequence, signature, length) or copied; no length or index is taken from
//   them.
//
// This is the leaf of hierarchical collectives to come: it knows members of one region and nothing else.
#pragma once

#include <sched.h>

#include <cstring>
#include <memory>

#include "base/list.h"
#include "base/progress.h"
#include "channel/copy.h"
#include "channel/ring/line.h"
#include "coll/algorithms.h"
#include "coll/state.h"
#include "region/board.h"

namespace vicinity::coll {

using channel::ring::Line;

constexpr int kMostMembers = 64;

// One call: what is compared with what others show.
struct Turn {
  Kind kind = Kind::kNone;
  uint32_t number = 0;
  uint32_t tag = 0;
  uint64_t sequence = 0;
};

class Direct {
 public:
  struct Member {
    std::byte* board;  // read only, but for our own
    channel::ring::Bell bell;
    region::Presence* presence() const { return reinterpret_cast<region::Presence*>(board); }
    uint64_t* units() const { return &reinterpret_cast<region::Flow*>(board + region::kBoardFlow)->units; }
    Line* line(uint32_t number) const {
      return reinterpret_cast<Line*>(board + region::kBoardFirstLine) + number % region::kBoardLines;
    }
  };

  // `members` in the order of ranks; `life` is what they have agreed on; `number` the claim's board.
  Direct(Communicator& comm, std::unique_ptr<Member[]> members, uint32_t life, uint32_t number, bool fence);
  Direct(const Direct&) = delete;
  Direct& operator=(const Direct&) = delete;

  // Most bytes of one call of this kind; 0: none. Equal on all members.
  uint64_t limit(Kind kind) const { return limit_[static_cast<size_t>(kind)]; }
  uint32_t life() const { return life_; }
  uint32_t board() const { return board_; }
  const Member& member(int rank) const { return members_[static_cast<size_t>(rank)]; }
  int size() const { return size_; }

  // The collectives. Arguments have been checked, MPI_IN_PLACE is resolved as in algorithms.h.
  Status barrier();
  Status bcast(const Typed& data, int root);
  Status gather(const Typed& mine, const Blocks& all, int root);
  Status scatter(const Blocks& all, const Typed& mine, int root);
  Status allgather(Kind kind, const Typed& mine, const Blocks& all);
  Status alltoall(const Blocks& send, const Blocks& recv);  // the same base: in place
  Status gatherv(const Typed& mine, const Blocks& all, int root, Status own);
  Status scatterv(const Blocks& all, const Typed& mine, int root);
  Status alltoallv(Kind kind, const Blocks& send, const Blocks& recv, bool in_place);
  Status reduce(const Reduction& r, const Op& op, int root);
  // Longer vectors than a slot are cut, which needs elements that are small everywhere.
  static bool can_combine(const Reduction& r, const Op& op) {
    return op.predefined() || r.input().bytes() <= region::kLargeSlotBytes;
  }
  Status allreduce(const Reduction& r, const Op& op);
  Status reduce_scatter(Kind kind, const Reduction& r, const Pieces& pieces, const Op& op);
  Status scan(Kind kind, const Reduction& r, const Op& op);
  // This rank cannot take part in the call, the others shall know.
  Status refuse(Kind kind, int root, Status why);

  // This rank is in call `number`, and takes this way or messages.
  void note(uint32_t number, uint32_t tag, bool this_way) {
    region::Presence* own = members_[static_cast<size_t>(rank_)].presence();
    __atomic_store_n(&own->doing, uint64_t{tag} | uint64_t{this_way} << 32, __ATOMIC_RELAXED);
    if (base::crowded()) __atomic_store_n(&own->cpu, static_cast<uint32_t>(sched_getcpu()), __ATOMIC_RELAXED);
    // SYNC POINT BEGUN (release): all reads of earlier calls are over.
    __atomic_store_n(&own->begun, sequence_of(number), __ATOMIC_RELEASE);
  }
  // This rank reads no board any more.
  void leave() const;
  // For calls that go by messages: a failure when a member is known to be in another collective.
  Status suspect_all(uint32_t tag) const;

 private:
  friend class Doubt;
  enum class Space : uint8_t { kLine, kSmall, kLarge, kHalf };

  static Space space_of(uint64_t bytes) {
    if (bytes <= channel::ring::kFirstPayload) return Space::kLine;
    return bytes <= region::kSmallSlotBytes ? Space::kSmall : Space::kLarge;
  }
  static uint32_t depth_of(Space space) {
    return space == Space::kLine    ? region::kBoardLines
           : space == Space::kSmall ? region::kSmallSlots
           : space == Space::kLarge ? region::kLargeSlots
                                    : kHalves;
  }
  uint64_t sequence_of(uint32_t number) const { return uint64_t{life_} << 32 | number; }
  Turn begin(Kind kind, int root = kNoRoot, const Op* op = nullptr) {
    Turn turn{kind, state_.sequence++, 0, 0};
    turn.tag = static_cast<uint32_t>(make_tag(kind, agreement(root, op), turn.number));
    turn.sequence = sequence_of(turn.number);
    note(turn.number, turn.tag, true);
    return turn;
  }
  Status give_up(const Turn& turn, Status why);

  // Where the part of `rank` in this call is.
  std::byte* part(int rank, const Turn& turn, Space space) const {
    const Member& m = member(rank);
    if (space == Space::kLine) return m.line(turn.number)->payload;
    if (space == Space::kSmall)
      return m.board + region::kBoardSmall + turn.number % region::kSmallSlots * region::kSmallSlotBytes;
    if (space == Space::kLarge)
      return m.board + region::kBoardLarge + turn.number % region::kLargeSlots * region::kLargeSlotBytes;
    return m.board + region::kBoardLarge + turn.number % kHalves * kHalfBytes;
  }
  // Our own, when nobody reads any more what it held.
  Status room(const Turn& turn, Space space) {
    if (turn.number - safe_ < depth_of(space) && space < Space::kLarge) [[likely]]
      return object::kOk;
    return make_room(turn, space);
  }
  Status make_room(const Turn& turn, Space space);
  // The same for all large slots.
  Status room_for_pieces(const Turn& turn);
  Status wait_until_near(const Turn& turn, uint32_t depth);
  uint32_t lag(int rank, const Turn& turn) const;
  // Ranks outnumber cores: has nobody on our core anything to do? `shown` as in wait(), from rank `first` on.
  template <class Shown>
  bool core_is_ours(const Turn& turn, int first, int last, Shown&& shown) const;
  // Says that our part is there. `bytes`: what the others compare with what they expect.
  void show(const Turn& turn, uint64_t bytes) {
    channel::ring::publish(member(rank_).line(turn.number), turn.tag | bytes << 32, turn.sequence);
    ring_bells(0, size_);
  }
  void ring_bells(int first, int last) const;

  bool shown(int rank, const Turn& turn) const {
    return channel::ring::read_control(member(rank).line(turn.number)) == turn.sequence;
  }
  // Waits until each of the ranks first..last-1 but this one has `shown(rank)`.
  template <class Shown>
  Status wait(const Turn& turn, int first, int last, Shown&& shown);
  Status wait_for_parts(const Turn& turn, int first, int last) {
    return wait(turn, first, last, [&](int rank) { return shown(rank, turn); });
  }
  // All parts have been seen: everybody has begun this call.
  void all_seen(const Turn& turn) { safe_ = turn.number; }
  // What a line can tell of a length.
  static uint64_t told(uint64_t bytes) { return bytes < UINT32_MAX ? bytes : UINT32_MAX; }
  // The line of `rank` has arrived: is it from the same call, and are there so many bytes?
  Status check(const Turn& turn, int rank, uint64_t bytes) const {
    const uint64_t signature = __atomic_load_n(&member(rank).line(turn.number)->address, __ATOMIC_RELAXED);
    if (signature == (turn.tag | bytes << 32)) [[likely]]
      return object::kOk;
    return differs(turn, rank, signature, bytes);
  }
  Status check_all(const Turn& turn, int first, int last, uint64_t bytes) const {
    for (int rank = first; rank < last; ++rank)
      if (rank != rank_) VICINITY_TRY(check(turn, rank, bytes));
    return object::kOk;
  }
  Status differs(const Turn& turn, int rank, uint64_t signature, uint64_t bytes) const;
  Status meet(const Turn& turn);

  // How far pieces of a call are.
  void pass(const Turn& turn, uint32_t units) { pass(turn, units, 0, size_); }
  // Ranks first..last-1 may wait for it.
  void pass(const Turn& turn, uint32_t units, int first, int last) {
    __atomic_store_n(member(rank_).units(), uint64_t{turn.number} << 32 | units, __ATOMIC_RELEASE);
    ring_bells(first, last);
  }
  // Whoever has gone on to a later call has passed all of this one.
  bool passed(int rank, const Turn& turn, uint32_t units) const {
    const uint64_t word = __atomic_load_n(member(rank).units(), __ATOMIC_ACQUIRE);
    const auto ahead = static_cast<int32_t>(static_cast<uint32_t>(word >> 32) - turn.number);
    return ahead > 0 || (ahead == 0 && static_cast<uint32_t>(word) >= units);
  }
  Status wait_for_units(const Turn& turn, int first, int last, uint32_t units) {
    return wait(turn, first, last, [&](int rank) { return passed(rank, turn, units); });
  }
  Status bcast_large(const Turn& turn, const Typed& data, int root);
  // A call for each slice of `most` bytes.
  template <class Move>
  Status in_slices(Kind kind, int root, const Op* op, uint64_t most, uint64_t slice, Move&& move) {
    for (uint64_t done = 0; done < most; done += slice) {
      const Turn turn = begin(kind, root, op);
      const Status status = move(turn, done);
      if (!status.ok()) return give_up(turn, status);
    }
    return object::kOk;
  }
  uint64_t slice_for_each() const { return kHalfBytes / static_cast<uint64_t>(size_) / 64 * 64; }
  Status gather_slices(const Typed& mine, const Blocks& all, int root);
  Status scatter_slices(const Blocks& all, const Typed& mine, int root);
  Status allgather_slices(Kind kind, const Typed& mine, const Blocks& all);
  Status alltoall_slices(const Blocks& send, const Blocks& recv);

  struct Deal;
  uint64_t longest_shown() const;
  Deal deal_for(const Blocks& blocks) const;
  Status deal_out(const Turn& turn, const Blocks& blocks, uint64_t* rest);
  Status take_dealt(const Turn& turn, int rank, const Typed& mine, uint64_t* rest);
  Status take_gathered(const Turn& turn, int rank, const Typed& block, uint64_t* rest);
  Status show_gathered(const Turn& turn, const Typed& mine, int root);
  template <class Build>
  Status send_rest(const Turn& turn, Status status, Build&& build);
  void exchange_rest(Plan& plan, const Blocks& send, uint64_t to, const Blocks& recv, uint64_t from,
                     bool in_place);

  struct Folding;
  Status fold(const Folding& f, int low, int high, const Typed& out) const;
  Status show_input(const Turn& turn, Space space, const Reduction& r);
  Status fold_range(const Turn& turn, const Reduction& r, const Op& op, int low, int high);
  Status fold_halves(const Turn& turn, const Reduction& r, const Op& op);
  Status fold_slices(const Turn& turn, Space space, const Reduction& r, const Op& op);
  Status combine_large(const Turn& turn, const Reduction& r, const Op& op, int root);
  Status scan_long(const Turn& turn, const Reduction& r, const Op& op);
  struct ScanArea;
  Status make_room_for_scan(const Turn& turn, uint32_t pieces, ScanArea* area);
  Status reduce_scatter_slices(Kind kind, const Reduction& r, const Pieces& pieces, const Op& op);

  // So much of a result is combined at a time, in the nearest cache.
  static constexpr MPI_Count kFoldBytes = 8 << 10;
  static constexpr uint32_t kAreaBytes = region::kLargeSlots * region::kLargeSlotBytes;
  static constexpr uint32_t kHalves = 2, kHalfBytes = kAreaBytes / kHalves;
  static constexpr uint32_t kPieces = 16, kPieceBytes = kAreaBytes / kPieces;
  static constexpr uint32_t kLongPieces = 4;  // three at least: combine_large

  Communicator& comm_;
  CommState& state_;
  const std::unique_ptr<Member[]> members_;
  const int rank_, size_;
  const uint32_t life_, board_;
  const bool fence_;
  const uint32_t first_;  // the first call of this life
  uint32_t safe_;
  // Our newest calls that used a half or all large slots, and one or all of them.
  uint32_t wide_, narrow_;
  uint32_t scan_ = 0, scan_pieces_ = 0;  // our newest call that used them for a long scan
  uint64_t limit_[kKinds];
};

// A wait that goes on: now and then it asks whether it makes sense. With several threads it also lets the
// thread that polls look for the others (Attention in direct.cc).
class Doubt {
 public:
  Doubt(const Direct& direct, const Turn& turn, bool (*ready)(void*), void* self);
  ~Doubt();
  Doubt(const Doubt&) = delete;
  Doubt& operator=(const Doubt&) = delete;
  uint32_t looks() const { return looks_; }
  bool may_spin() const { return spins_ > 0; }
  bool spin();  // looks for a while; true when that for which we wait has come
  // True when waiting for `rank` is in vain; status() says why.
  bool grows(int rank) {
    status_ = p2p_alive();
    if (!status_.ok()) [[unlikely]]
      return true;
    return ++polls_ % 8 == 0 && time_to_suspect(rank);
  }
  Status status() const { return status_; }
  void dispel() { status_ = Status(); }

  base::Link link;
  bool noticed = false;
  bool ready() const { return ready_(self_); }

 private:
  Status p2p_alive() const;
  bool time_to_suspect(int rank);
  const Direct& direct_;
  const Turn& turn_;
  bool (*const ready_)(void*);
  void* const self_;
  uint32_t looks_;
  uint32_t polls_ = 0;
  int spins_ = 0;  // that this wait may still do
  int64_t look_at_ns_ = 0;
  Status status_;
};

// Who is behind us on our core, or has to show something yet, needs the core. If all there wait like us for
// somebody elsewhere, giving it away would only cost a change of processes, and another to get it back.
template <class Shown>
bool Direct::core_is_ours(const Turn& turn, int first, int last, Shown&& shown) const {
  const uint32_t here = member(rank_).presence()->cpu;
  for (int rank = 0; rank < size_; ++rank) {
    if (rank == rank_ || __atomic_load_n(&member(rank).presence()->cpu, __ATOMIC_RELAXED) != here) continue;
    if (lag(rank, turn) > 0 || (rank >= first && rank < last && !shown(rank))) return false;
  }
  return true;
}

template <class Shown>
Status Direct::wait(const Turn& turn, int first, int last, Shown&& shown) {
  int at = first;
  auto all = [&] {
    while (at < last && (at == rank_ || shown(at))) ++at;
    return at == last;
  };
  if (all()) return object::kOk;
  using All = decltype(all);
  Doubt doubt(*this, turn, [](void* self) { return (*static_cast<All*>(self))(); }, &all);
  base::wait_until([&] {
    for (uint32_t look = doubt.looks(); look != 0; --look)
      if (all()) return true;
    if (doubt.may_spin() && core_is_ours(turn, at, last, shown) && doubt.spin()) return true;
    if (!doubt.grows(at)) [[likely]]
      return false;
    if (all()) doubt.dispel();  // it has come meanwhile
    return true;
  });
  return doubt.status();
}

// Bytes of (count, type) in one run, in and out of a board.
inline void put(std::byte* to, const Typed& from) {
  const auto bytes = static_cast<size_t>(from.bytes());
  if (!from.type->dense) [[unlikely]]
    return object::pack(from.at, from.count, *from.type, to);
  const void* data = object::data_start(from.at, *from.type);
  if (bytes <= 64) return channel::copy_small(to, data, bytes);
  std::memcpy(to, data, bytes);
}
inline void get(const std::byte* from, const Typed& to) {
  const auto bytes = static_cast<size_t>(to.bytes());
  if (!to.type->dense) [[unlikely]]
    return object::unpack(from, to.at, to.count, *to.type);
  void* data = object::data_start(to.at, *to.type);
  if (bytes <= 64) return channel::copy_small(data, from, bytes);
  std::memcpy(data, from, bytes);
}

// A rank's own block, which has one length on both sides.
inline void copy_own(const Typed& from, const Typed& to) {
  if (from.at == to.at && from.type == to.type) return;
  if (from.type->dense && to.type->dense) [[likely]]
    return put(static_cast<std::byte*>(object::data_start(to.at, *to.type)), from);
  object::copy_typed(from.at, from.count, *from.type, to.at, to.count, *to.type);
}

}  // namespace vicinity::coll
