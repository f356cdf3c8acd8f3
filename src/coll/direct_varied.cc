// SPDX-License-Identifier: BSD-3-Clause
// The direct path: collectives in which each pair of ranks has a length of its own.
//
// No rank knows the lengths of all, so none of them says where anything is: a block's place follows from what
// its writer chose for all of its blocks and from who reads it. The writer tells the length of each block,
// the reader compares it with what it expects. Longer blocks than a board takes are announced there and go by
// messages, which both sides know from the length.
//
// Where a rank has a block for each of the others, its line begins with the space (one byte) that they are
// in. In the line that is followed by a length of one byte for each reader and equal shares of the rest. In a
// slot or half the lengths have four bytes and the shares begin at whole cache lines (those of less than one
// at multiples of eight bytes). Readers are counted from the writer on.
#include <algorithm>

#include "coll/direct.h"
#include "coll/mismatch.h"

namespace vicinity::coll {

namespace {

// Longer ones are as fast by messages, which copy them once.
constexpr uint64_t kLongestShown = 96 << 10;
constexpr uint64_t kLongestGathered = region::kLargeSlotBytes;

// In a set of ranks.
uint64_t bit(int rank) { return uint64_t{1} << rank; }
static_assert(kMostMembers <= 64);

}  // namespace

// The blocks of one writer for `readers` ranks.
struct Direct::Deal {
  Space space;
  uint64_t first = 0, share = 0;  // from the beginning of the line's payload, or of the slot

  Deal(Space space, int readers) : space(space) {
    const auto n = static_cast<uint64_t>(readers);
    if (space == Space::kLine) {
      first = 1 + n;
      share = first < channel::ring::kFirstPayload ? (channel::ring::kFirstPayload - first) / n : 0;
      return;
    }
    first = (n * sizeof(uint32_t) + 63) / 64 * 64;
    share = (bytes_of(space) - first) / n;
    share = share < 64 ? share / 8 * 8 : share / 64 * 64;
  }
  static uint64_t bytes_of(Space space) {
    return space == Space::kSmall   ? region::kSmallSlotBytes
           : space == Space::kLarge ? region::kLargeSlotBytes
                                    : uint64_t{kHalfBytes};
  }
  std::byte* place(std::byte* base, int reader) const {
    return base + first + share * static_cast<uint64_t>(reader);
  }
  void tell(std::byte* base, int reader, uint64_t bytes) const {
    const auto index = static_cast<size_t>(reader);
    if (space == Space::kLine) {
      base[1 + index] = static_cast<std::byte>(bytes);
    } else {
      __atomic_store_n(reinterpret_cast<uint32_t*>(base) + index, static_cast<uint32_t>(told(bytes)),
                       __ATOMIC_RELAXED);
    }
  }
  uint64_t length(const std::byte* base, int reader) const {
    const auto index = static_cast<size_t>(reader);
    if (space == Space::kLine) return static_cast<uint64_t>(base[1 + index]);
    return __atomic_load_n(reinterpret_cast<const uint32_t*>(base) + index, __ATOMIC_RELAXED);
  }
};

uint64_t Direct::longest_shown() const {
  return std::min(kLongestShown, Deal(Space::kHalf, size_ - 1).share);
}

// The least space with room for the longest block that is shown. A block that is not has its length told, for
// which a line has no room.
Direct::Deal Direct::deal_for(const Blocks& blocks) const {
  const uint64_t longest = longest_shown();
  uint64_t most = 0;
  bool announced = false;
  for (int rank = 0; rank < size_; ++rank) {
    if (rank == rank_) continue;
    const uint64_t bytes = blocks.bytes(rank);
    announced |= bytes > longest;
    if (bytes <= longest) most = std::max(most, bytes);
  }
  for (const Space space : {Space::kLine, Space::kSmall, Space::kLarge}) {
    const Deal deal(space, size_ - 1);
    if (most <= deal.share && deal.share > 0 && !(announced && space == Space::kLine)) return deal;
  }
  return Deal(Space::kHalf, size_ - 1);
}

// Shows a block to each of the others; `*rest` gets the ranks whose block goes by a message.
Status Direct::deal_out(const Turn& turn, const Blocks& blocks, uint64_t* rest) {
  const uint64_t longest = longest_shown();
  const Deal deal = deal_for(blocks);
  VICINITY_TRY(room(turn, deal.space));
  std::byte* const base = part(rank_, turn, deal.space);
  for (int reader = 0; reader < size_ - 1; ++reader) {
    const int rank = (rank_ + 1 + reader) % size_;
    const Typed block = blocks[rank];
    const uint64_t bytes = block.bytes();
    deal.tell(base, reader, bytes);
    if (bytes > longest) {
      *rest |= bit(rank);
    } else if (bytes > 0) {
      put(deal.place(base, reader), block);
    }
  }
  member(rank_).line(turn.number)->payload[0] = static_cast<std::byte>(deal.space);
  show(turn, 0);
  return object::kOk;
}

// Takes our block of `rank`, whose line has arrived; or adds it to `*rest`.
Status Direct::take_dealt(const Turn& turn, int rank, const Typed& mine, uint64_t* rest) {
  VICINITY_TRY(check(turn, rank, 0));
  const auto space = static_cast<Space>(member(rank).line(turn.number)->payload[0]);
  if (space > Space::kHalf)
    return object::fail(MPI_ERR_INTERN, "rank %d shows its part of %s in a place that is none (%u)", rank,
                        mpi_name(turn.kind).text, static_cast<unsigned>(space));
  const Deal deal(space, size_ - 1);
  const int reader = (rank_ - rank - 1 + size_) % size_;
  std::byte* const base = part(rank, turn, space);
  const uint64_t length = deal.length(base, reader), bytes = mine.bytes();
  if (length > longest_shown()) {
    *rest |= bit(rank);  // too long for us, perhaps: the message will tell
    return object::kOk;
  }
  if (length != bytes || length > deal.share)
    return wrong_size(mpi_name(turn.kind), Side::kOwn, rank, length, bytes);
  if (bytes > 0) get(deal.place(base, reader), mine);
  return object::kOk;
}

// What goes by messages in a call of the direct path. After a failure they are empty, so that nobody waits
// for them.
template <class Build>
Status Direct::send_rest(const Turn& turn, Status status, Build&& build) {
  Call call(comm_, turn.kind, static_cast<int>(turn.tag));
  if (!status.ok()) call.plan().fail(give_up(turn, status));
  build(call.plan());
  return call.run();
}

// The block of `rank`, whose line has arrived.
Status Direct::take_gathered(const Turn& turn, int rank, const Typed& block, uint64_t* rest) {
  const Line* line = member(rank).line(turn.number);
  const uint64_t signature = __atomic_load_n(&line->address, __ATOMIC_RELAXED), bytes = block.bytes();
  if (static_cast<uint32_t>(signature) != turn.tag) return differs(turn, rank, signature, bytes);
  if (signature >> 32 > kLongestGathered) {
    *rest |= bit(rank);  // longer than our block, perhaps: the message will tell
  } else if (signature >> 32 != bytes) {
    return differs(turn, rank, signature, bytes);
  } else if (bytes > 0) {
    get(part(rank, turn, space_of(bytes)), block);
  }
  return object::kOk;
}

Status Direct::show_gathered(const Turn& turn, const Typed& mine, int root) {
  const uint64_t bytes = mine.bytes();
  const bool shown = bytes <= kLongestGathered;
  const Space space = shown ? space_of(bytes) : Space::kLine;
  if (Status status = room(turn, space); !status.ok()) return give_up(turn, status);
  if (shown && bytes > 0) put(part(rank_, turn, space), mine);
  show(turn, told(bytes));
  return shown ? object::kOk : send_rest(turn, object::kOk, [&](Plan& plan) { plan.send(mine, root); });
}

// `own`: whether the root's own block fits. The others know nothing of it.
Status Direct::gatherv(const Typed& mine, const Blocks& all, int root, Status own) {
  const Turn turn = begin(Kind::kGatherv, root);
  if (rank_ != root) return show_gathered(turn, mine, root);
  if (own.ok()) copy_own(mine, all[rank_]);
  uint64_t rest = 0;
  Status result = own;
  for (int step = 1; step < size_; ++step) {
    const int rank = (rank_ + step) % size_;
    if (Status status = wait_for_parts(turn, rank, rank + 1); !status.ok()) return give_up(turn, status);
    const Status status = take_gathered(turn, rank, all[rank], &rest);
    if (result.ok()) result = status;
  }
  all_seen(turn);
  if (rest == 0) return result.ok() ? result : give_up(turn, result);
  return send_rest(turn, result, [&](Plan& plan) {
    for (int rank = 0; rank < size_; ++rank)
      if (rest & bit(rank)) plan.recv(all[rank], rank);
  });
}

Status Direct::scatterv(const Blocks& all, const Typed& mine, int root) {
  const Turn turn = begin(Kind::kScatterv, root);
  uint64_t rest = 0;
  Status status;
  if (rank_ == root) {
    if (status = deal_out(turn, all, &rest); !status.ok()) return give_up(turn, status);
    copy_own(all[rank_], mine);
    if (rest == 0) return status;
    return send_rest(turn, status, [&](Plan& plan) {
      for (int step = 1; step < size_; ++step)
        if (const int rank = (rank_ + step) % size_; rest & bit(rank)) plan.send(all[rank], rank);
    });
  }
  status = wait_for_parts(turn, root, root + 1);
  if (status.ok()) status = take_dealt(turn, root, mine, &rest);
  if (rest != 0) return send_rest(turn, status, [&](Plan& plan) { plan.recv(mine, root); });
  return status.ok() ? status : give_up(turn, status);
}

Status Direct::alltoallv(Kind kind, const Blocks& send, const Blocks& recv, bool in_place) {
  const Turn turn = begin(kind);
  uint64_t to = 0, from = 0;
  if (Status status = deal_out(turn, send, &to); !status.ok()) return give_up(turn, status);
  if (!in_place) copy_own(send[rank_], recv[rank_]);
  Status result;
  for (int step = 1; step < size_; ++step) {
    const int rank = (rank_ + step) % size_;
    if (Status status = wait_for_parts(turn, rank, rank + 1); !status.ok()) return give_up(turn, status);
    const Status status = take_dealt(turn, rank, recv[rank], &from);
    if (result.ok()) result = status;
  }
  all_seen(turn);
  if ((to | from) == 0) return result.ok() ? result : give_up(turn, result);
  return send_rest(turn, result, [&](Plan& plan) { exchange_rest(plan, send, to, recv, from, in_place); });
}

// In place, what we send is copied before anything can arrive.
void Direct::exchange_rest(Plan& plan, const Blocks& send, uint64_t to, const Blocks& recv, uint64_t from,
                           bool in_place) {
  const auto ranks = [&](uint64_t wanted, auto&& visit) {
    for (int step = 1; step < size_; ++step)
      if (const int rank = (rank_ + step) % size_; wanted & bit(rank)) visit(rank);
  };
  if (in_place)
    ranks(to, [&](int rank) {
      const Typed copy = plan.packed(send.bytes(rank));
      plan.copy(send[rank], copy);
      plan.send(copy, rank);
    });
  ranks(from, [&](int rank) { plan.recv(recv[rank], rank); });
  if (!in_place) ranks(to, [&](int rank) { plan.send(send[rank], rank); });
}

}  // namespace vicinity::coll
