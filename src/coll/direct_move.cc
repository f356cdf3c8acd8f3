// SPDX-License-Identifier: BSD-3-Clause
// The direct path: collectives that move data.
#include <algorithm>
#include <memory>
#include <new>

#include "coll/direct.h"

namespace vicinity::coll {

namespace {

// Above so many ranks, reading everybody costs more than asking one who has read everybody.
constexpr int kMostReadAll = 16;

// Of a broadcast that fits into a slot.
constexpr uint64_t kShortPiece = 8 << 10;

// Where each rank's block goes on.
using Cursors = std::unique_ptr<object::PackCursor[]>;

Cursors cursors_of(const Blocks& blocks, int ranks) {
  Cursors cursors(new (std::nothrow) object::PackCursor[static_cast<size_t>(ranks)]);
  for (int rank = 0; rank < ranks && cursors; ++rank) {
    const Typed block = blocks[rank];
    cursors[static_cast<size_t>(rank)].reset(block.at, block.count, *block.type);
  }
  return cursors;
}

Status no_memory(int ranks) {
  return object::fail(MPI_ERR_NO_MEM, "no memory for the positions in the blocks of %d ranks", ranks);
}

// The next slice for each rank but ours, one after the other.
void pack_slices(const Cursors& out, int own, int ranks, std::byte* to, uint64_t slice) {
  for (int rank = 0; rank < ranks; ++rank)
    if (rank != own) out[static_cast<size_t>(rank)].pack(to + slice * static_cast<uint64_t>(rank), slice);
}

}  // namespace

// Everybody shows an empty part and waits for those of the others.
Status Direct::meet(const Turn& turn) {
  VICINITY_TRY(room(turn, Space::kLine));
  if (size_ <= kMostReadAll) {
    show(turn, 0);
    VICINITY_TRY(wait_for_parts(turn, 0, size_));
    all_seen(turn);
    return check_all(turn, 0, size_, 0);
  }
  if (rank_ != 0) {
    show(turn, 0);
    VICINITY_TRY(wait_for_parts(turn, 0, 1));
    all_seen(turn);  // rank 0 has seen them
    return check(turn, 0, 0);
  }
  VICINITY_TRY(wait_for_parts(turn, 0, size_));
  all_seen(turn);
  VICINITY_TRY(check_all(turn, 0, size_, 0));
  show(turn, 0);
  return object::kOk;
}

Status Direct::barrier() {
  const Turn turn = begin(Kind::kBarrier);
  const Status status = meet(turn);
  return status.ok() ? status : give_up(turn, status);
}

Status Direct::bcast(const Typed& data, int root) {
  const Turn turn = begin(Kind::kBcast, root);
  const uint64_t bytes = data.bytes();
  const Space space = space_of(bytes);
  if (space == Space::kLarge) {
    const Status status = bcast_large(turn, data, root);
    return status.ok() ? status : give_up(turn, status);
  }
  Status status;
  if (rank_ == root) {
    if (status = room(turn, space); status.ok()) {
      put(part(rank_, turn, space), data);
      show(turn, bytes);
    }
  } else {
    status = wait_for_parts(turn, root, root + 1);
    if (status.ok()) status = check(turn, root, bytes);
    if (status.ok()) get(part(root, turn, space), data);
  }
  return status.ok() ? status : give_up(turn, status);
}

// The root fills pieces, and the readers read them while it fills the next. What is longer than a slot goes
// round through kPieces places, so the root can be that far ahead of the slowest reader.
Status Direct::bcast_large(const Turn& turn, const Typed& data, int root) {
  const uint64_t bytes = data.bytes();
  const bool round = bytes > region::kLargeSlotBytes;
  const uint64_t most = round ? kPieceBytes : kShortPiece;
  std::byte* const area = member(root).board + region::kBoardLarge;
  const auto place = [&](uint32_t index) {
    return round ? area + index % kPieces * kPieceBytes : part(root, turn, Space::kLarge) + index * most;
  };
  object::PackCursor cursor(data.at, data.count, *data.type);
  if (rank_ == root) {
    VICINITY_TRY(round ? room_for_pieces(turn) : room(turn, Space::kLarge));
    show(turn, bytes);
  } else {
    VICINITY_TRY(wait_for_parts(turn, root, root + 1));
    VICINITY_TRY(check(turn, root, bytes));
  }
  uint32_t index = 0;
  for (uint64_t done = 0; done < bytes; done += most, ++index) {
    const auto now = static_cast<size_t>(std::min(bytes - done, most));
    if (rank_ == root) {
      if (round && index >= kPieces) VICINITY_TRY(wait_for_units(turn, 0, size_, index - kPieces + 1));
      cursor.pack(place(index), now);
    } else {
      VICINITY_TRY(wait_for_units(turn, root, root + 1, index + 1));
      cursor.unpack(place(index), now);
    }
    if (round || rank_ == root) pass(turn, index + 1);
  }
  return object::kOk;
}

// The root reads one half while the others fill the other.
Status Direct::gather_slices(const Typed& mine, const Blocks& all, int root) {
  if (rank_ != root) {
    object::PackCursor out(mine.at, mine.count, *mine.type);
    return in_slices(Kind::kGather, root, nullptr, mine.bytes(), kHalfBytes, [&](const Turn& turn, uint64_t) {
      VICINITY_TRY(room(turn, Space::kHalf));
      out.pack(part(rank_, turn, Space::kHalf), kHalfBytes);
      show(turn, mine.bytes());
      return object::kOk;
    });
  }
  const Cursors in = cursors_of(all, size_);
  if (!in) return refuse(Kind::kGather, root, no_memory(size_));
  const uint64_t block = all.bytes(0);
  copy_own(mine, all[rank_]);
  return in_slices(Kind::kGather, root, nullptr, block, kHalfBytes, [&](const Turn& turn, uint64_t) {
    for (int step = 1; step < size_; ++step) {
      const int rank = (rank_ + step) % size_;
      VICINITY_TRY(wait_for_parts(turn, rank, rank + 1));
      VICINITY_TRY(check(turn, rank, block));
      in[static_cast<size_t>(rank)].unpack(part(rank, turn, Space::kHalf), kHalfBytes);
    }
    all_seen(turn);
    return object::kOk;
  });
}

Status Direct::gather(const Typed& mine, const Blocks& all, int root) {
  const uint64_t block = rank_ == root ? all.bytes(0) : mine.bytes();
  if (block > region::kLargeSlotBytes) return gather_slices(mine, all, root);
  const Turn turn = begin(Kind::kGather, root);
  Status status;
  if (rank_ != root) {
    const uint64_t bytes = mine.bytes();
    const Space space = space_of(bytes);
    if (status = room(turn, space); status.ok()) {
      put(part(rank_, turn, space), mine);
      show(turn, bytes);
    }
    return status.ok() ? status : give_up(turn, status);
  }
  const Space space = space_of(all.bytes(0));
  status = wait_for_parts(turn, 0, size_);
  if (status.ok()) {
    all_seen(turn);
    status = check_all(turn, 0, size_, all.bytes(0));
  }
  if (!status.ok()) return give_up(turn, status);
  for (int rank = 0; rank < size_; ++rank) {
    if (rank == rank_) {
      copy_own(mine, all[rank]);
    } else {
      get(part(rank, turn, space), all[rank]);
    }
  }
  return status;
}

Status Direct::scatter_slices(const Blocks& all, const Typed& mine, int root) {
  const uint64_t slice = slice_for_each();
  if (rank_ != root) {
    object::PackCursor in(mine.at, mine.count, *mine.type);
    return in_slices(Kind::kScatter, root, nullptr, mine.bytes(), slice, [&](const Turn& turn, uint64_t) {
      VICINITY_TRY(wait_for_parts(turn, root, root + 1));
      VICINITY_TRY(check(turn, root, mine.bytes()));
      in.unpack(part(root, turn, Space::kHalf) + slice * static_cast<uint64_t>(rank_), slice);
      return object::kOk;
    });
  }
  const Cursors out = cursors_of(all, size_);
  if (!out) return refuse(Kind::kScatter, root, no_memory(size_));
  const uint64_t block = all.bytes(0);
  VICINITY_TRY(in_slices(Kind::kScatter, root, nullptr, block, slice, [&](const Turn& turn, uint64_t) {
    VICINITY_TRY(room(turn, Space::kHalf));
    pack_slices(out, rank_, size_, part(rank_, turn, Space::kHalf), slice);
    show(turn, block);
    return object::kOk;
  }));
  copy_own(all[rank_], mine);
  return object::kOk;
}

Status Direct::scatter(const Blocks& all, const Typed& mine, int root) {
  const uint64_t block = rank_ == root ? all.bytes(0) : mine.bytes();
  if (block * static_cast<uint64_t>(size_) > region::kLargeSlotBytes) return scatter_slices(all, mine, root);
  const Turn turn = begin(Kind::kScatter, root);
  const Space space = space_of(block * static_cast<uint64_t>(size_));
  Status status;
  if (rank_ == root) {
    if (status = room(turn, space); !status.ok()) return give_up(turn, status);
    std::byte* own = part(rank_, turn, space);
    for (int rank = 0; rank < size_; ++rank)
      if (rank != rank_) put(own + block * static_cast<uint64_t>(rank), all[rank]);
    show(turn, block);
    copy_own(all[rank_], mine);
    return status;
  }
  status = wait_for_parts(turn, root, root + 1);
  if (status.ok()) status = check(turn, root, block);
  if (!status.ok()) return give_up(turn, status);
  get(part(root, turn, space) + block * static_cast<uint64_t>(rank_), mine);
  return status;
}

Status Direct::allgather(Kind kind, const Typed& mine, const Blocks& all) {
  if (all.largest(size_) > region::kLargeSlotBytes) return allgather_slices(kind, mine, all);
  const Turn turn = begin(kind);
  const Space own = space_of(mine.bytes());
  Status status = room(turn, own);
  if (status.ok()) {
    put(part(rank_, turn, own), mine);
    show(turn, mine.bytes());
    if (mine.bytes() > 0) copy_own(mine, all[rank_]);
    status = wait_for_parts(turn, 0, size_);
  }
  for (int rank = 0; rank < size_ && status.ok(); ++rank) {
    if (rank == rank_) continue;
    const uint64_t bytes = all.bytes(rank);
    status = check(turn, rank, bytes);
    if (status.ok() && bytes > 0) get(part(rank, turn, space_of(bytes)), all[rank]);
  }
  if (!status.ok()) return give_up(turn, status);
  all_seen(turn);
  return status;
}

// The halves take turns, so that a rank fills one while others still read the other. Each line tells the
// length of the whole.
Status Direct::allgather_slices(Kind kind, const Typed& mine, const Blocks& all) {
  const Cursors in = cursors_of(all, size_);
  if (!in) return refuse(kind, kNoRoot, no_memory(size_));
  object::PackCursor out(mine.at, mine.count, *mine.type);
  if (mine.bytes() > 0) copy_own(mine, all[rank_]);
  return in_slices(kind, kNoRoot, nullptr, all.largest(size_), kHalfBytes, [&](const Turn& turn, uint64_t) {
    VICINITY_TRY(room(turn, Space::kHalf));
    out.pack(part(rank_, turn, Space::kHalf), kHalfBytes);
    show(turn, mine.bytes());
    for (int step = 1; step < size_; ++step) {
      const int rank = (rank_ + step) % size_;
      VICINITY_TRY(wait_for_parts(turn, rank, rank + 1));
      VICINITY_TRY(check(turn, rank, all.bytes(rank)));
      in[static_cast<size_t>(rank)].unpack(part(rank, turn, Space::kHalf), kHalfBytes);
    }
    all_seen(turn);
    return object::kOk;
  });
}

// As above; a half holds as much for each rank.
Status Direct::alltoall_slices(const Blocks& send, const Blocks& recv) {
  const Cursors out = cursors_of(send, size_), in = cursors_of(recv, size_);
  if (!out || !in) return refuse(Kind::kAlltoall, kNoRoot, no_memory(size_));
  copy_own(send[rank_], recv[rank_]);
  const uint64_t block = recv.bytes(0), slice = slice_for_each();
  return in_slices(Kind::kAlltoall, kNoRoot, nullptr, block, slice, [&](const Turn& turn, uint64_t) {
    VICINITY_TRY(room(turn, Space::kHalf));
    pack_slices(out, rank_, size_, part(rank_, turn, Space::kHalf), slice);
    show(turn, block);
    for (int step = 1; step < size_; ++step) {
      const int rank = (rank_ + step) % size_;
      VICINITY_TRY(wait_for_parts(turn, rank, rank + 1));
      VICINITY_TRY(check(turn, rank, block));
      in[static_cast<size_t>(rank)].unpack(
          part(rank, turn, Space::kHalf) + slice * static_cast<uint64_t>(rank_), slice);
    }
    all_seen(turn);
    return object::kOk;
  });
}

Status Direct::alltoall(const Blocks& send, const Blocks& recv) {
  const uint64_t block = recv.bytes(0);
  if (block * static_cast<uint64_t>(size_) > region::kLargeSlotBytes) return alltoall_slices(send, recv);
  const Turn turn = begin(Kind::kAlltoall);
  const Space space = space_of(block * static_cast<uint64_t>(size_));
  Status status = room(turn, space);
  if (status.ok()) {
    std::byte* own = part(rank_, turn, space);
    for (int rank = 0; rank < size_; ++rank)
      if (rank != rank_) put(own + block * static_cast<uint64_t>(rank), send[rank]);
    show(turn, block);
    copy_own(send[rank_], recv[rank_]);
    status = wait_for_parts(turn, 0, size_);
  }
  if (status.ok()) status = check_all(turn, 0, size_, block);
  if (!status.ok()) return give_up(turn, status);
  all_seen(turn);
  for (int rank = 0; rank < size_; ++rank)
    if (rank != rank_) get(part(rank, turn, space) + block * static_cast<uint64_t>(rank_), recv[rank]);
  return status;
}

}  // namespace vicinity::coll
